"""A column of a dataset of Hugging Face: mondegreen[datasets]."""

import csv
from pathlib import Path

from datasets import Dataset

import mondegreen as mg
from mondegreen.integrations.datasets import privatize

with Path(__file__).with_name("reviews.csv").open(newline="") as file:
    reviews = Dataset.from_list(list(csv.DictReader(file)))

p = mg.Privatizer(mg.mechanism("urr", epsilon=12.0))
safe = privatize(reviews, "review", p)
for row in safe.select(range(3)):
    print(row["id"], row["review"])
print(safe.info.description[:60], "...")
