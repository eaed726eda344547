"""PrivateText under the contract of all adapters."""

from __future__ import annotations

import json
import os

import pytest

pytest.importorskip("sklearn")
import pandas as pd

from contract.adapters import Adapter, AdapterContract, Refused
from mondegreen.integrations.sklearn import PrivateText

pytestmark = pytest.mark.filterwarnings(
    "ignore::mondegreen.integrations.sklearn.RepeatedReleaseWarning"
)
VARIABLE = "MONDEGREEN_CONTRACT_KEY"


def estimator(job, id_column=None):
    variable = None
    if job.key_path is not None:
        # The keys of the suite are of any length: this one is what 64 digits can say.
        key = job.key_path.read_bytes()[:32]
        job.key_path.write_bytes(key)
        os.environ[VARIABLE] = key.hex()
        variable = VARIABLE
    return PrivateText(spec=job.spec, key_env=variable, id_column=id_column)


def by_frame(records, job):
    names = {job.column: job.logical or job.column}
    if job.id_column is not None:
        names[job.id_column] = job.id_column
    if absent := {n for n in names for record in records if n not in record}:
        raise Refused(f"no column {absent}")
    columns = {to: [r[of] for r in records] for of, to in names.items()}
    frame = pd.DataFrame(columns, dtype=object)
    (released,) = estimator(job, job.id_column).fit_transform(frame).items()
    return [None if pd.isna(text) else text for text in released[1]]


def by_list(records, job):
    return estimator(job).fit_transform([record["text"] for record in records])


def promises(records, job):
    frame = pd.DataFrame({"text": [record["text"] for record in records]})
    return json.loads(estimator(job).fit_transform(frame).attrs["mondegreen"])


PLAIN = frozenset({"lists", "paths", "unique"})


@pytest.mark.parametrize(
    "adapter",
    [
        pytest.param(Adapter("frame", by_frame, promises, PLAIN), id="frame"),
        pytest.param(
            Adapter("list", by_list, lacks=PLAIN | {"ids", "names"}), id="list"
        ),
    ],
)
class TestSklearn(AdapterContract):
    """Frames of one column, or of ids and texts; and lists."""
