"""A column of a data frame of pandas, polars or Arrow: mondegreen[frames]."""

from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow.csv

import mondegreen as mg
from mondegreen import frames

reviews = Path(__file__).with_name("reviews.csv")
p = mg.Privatizer(mg.mechanism("urr", epsilon=12.0))

safe = frames.privatize(pd.read_csv(reviews), ["review"], p)
print(safe.head(3).to_string())

# The same through accessors, which an explicit call adds.
frames.register("pandas", "polars")
print(pl.read_csv(reviews).mondegreen.privatize(["review"], p).head(3))

# An Arrow table carries its guarantee in the metadata of the schema.
table = frames.privatize(pyarrow.csv.read_csv(reviews), ["review"], p)
print(table.schema.metadata[b"mondegreen"][:60], "...")
