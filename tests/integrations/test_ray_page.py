"""The page on Ray Data: its code runs, and keyed releases repeat."""

import re
from pathlib import Path

import pytest

import mondegreen as mg

ray = pytest.importorskip("ray")
pytest.importorskip("ray.data")

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "libraries" / "ray.md"
KEY = bytes(range(9, 41))
ROWS = [{"id": i, "text": f"I met Ann in Oslo, {i} times."} for i in range(400)]
pytestmark = [
    pytest.mark.slow("starts Ray"),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def code():
    """What the page defines, with a local cluster to run it on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELEASE_SECRET", KEY.hex())
        patch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
        found = {}
        exec("\n".join(blocks), found)
        yield found
        ray.shutdown()


def texts(dataset):
    return {row["id"]: row["text"] for row in dataset.take_all()}


def test_keyed_rows_are_equal_on_two_consumptions_and_in_the_library(code):
    released = code["privatized"](ray.data.from_items(ROWS, override_num_blocks=4))
    one, two = texts(released), texts(released)
    assert len(one) == 400
    assert sum(one[i] == two[i] for i in one) == 400
    keyed = mg.Privatizer.from_dict(code["spec"], mg.KeyedNoise(KEY))
    assert one == {row["id"]: keyed(row["text"], id=row["id"]).text for row in ROWS}


def test_fresh_noise_is_another_on_every_consumption(code):
    spec = code["spec"]

    class Fresh:
        def __init__(self):
            self.privatizer = mg.Privatizer.from_dict(spec)

        def __call__(self, table):
            (batch,) = table.combine_chunks().to_batches()
            import pyarrow as pa

            return pa.Table.from_batches([self.privatizer.arrow(batch, ["text"])])

    given = ray.data.from_items(ROWS, override_num_blocks=4)
    released = given.map_batches(Fresh, batch_format="pyarrow", concurrency=2)
    one, two = texts(released), texts(released)
    assert sum(one[i] != two[i] for i in one) > 390


def test_the_page_names_no_key():
    assert not re.search(r"\b[0-9a-f]{32,}\b", PAGE.read_text("utf-8"))
