"""What privatizes does not load pandas, which takes a quarter of a second."""

import subprocess
import sys

import pyarrow as pa
import pytest

from mondegreen.text.columns import make_strings

TEXTS = ["Anna lives in Bönn.", None, "", "a" * 300]


def test_strings_are_made_as_arrow_makes_them(monkeypatch):
    for texts in ([], [None], TEXTS, ["a", "b"]):
        made, expected = make_strings(texts), pa.array(texts, pa.string())
        made.validate(full=True)
        assert made.equals(expected)
        assert made.null_count == expected.null_count
    with pytest.raises(UnicodeEncodeError):
        make_strings(["\ud800"])
    # What does not fit in one array is left to Arrow.
    monkeypatch.setattr("mondegreen.text.columns._MOST_BYTES", 8)
    assert make_strings(TEXTS).to_pylist() == TEXTS


def test_a_batch_is_privatized_without_pandas():
    code = (
        "import sys, pyarrow as pa, mondegreen as mg\n"
        "p = mg.Privatizer(mg.mechanism('urr', epsilon=12.0))\n"
        "text = pa.StringArray.from_buffers(1, *map(pa.py_buffer, "
        "(b'\\0\\0\\0\\0\\2\\0\\0\\0', b'hi')))\n"
        "batch = pa.RecordBatch.from_arrays([text], names=['text'])\n"
        "p.arrow_with_count(batch, ['text'])\n"
        "print('pandas' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
