"""Two files, row by row: every format, and files that do not belong together."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mondegreen.cli.score import text_pairs
from mondegreen.errors import SourceError
from mondegreen.io.open import open_source

CANARY = "zyxwoldemorth"


def pairs(first, second, columns=("text",)):
    with (
        open_source(first, columns=columns) as mine,
        open_source(second, columns=columns) as theirs,
    ):
        chunks = list(text_pairs(mine, theirs))
    texts = [text for originals, _ in chunks for text in originals]
    return texts, [text for _, releases in chunks for text in releases]


def test_batches_of_different_sizes_are_paired_by_row(tmp_path):
    texts = [f"word {i}" for i in range(3000)]
    for name, rows in (("a", 7), ("b", 1111)):
        table = pa.table({"text": texts})
        pq.write_table(table, tmp_path / f"{name}.parquet", row_group_size=rows)
    first, second = pairs(tmp_path / "a.parquet", tmp_path / "b.parquet")
    assert first == second == texts


def test_lists_and_several_columns_give_one_pair_for_each_text(tmp_path):
    mine = pa.table({"a": [["x", None], None], "b": ["y", "z"]})
    theirs = pa.table({"a": [["X", None], None], "b": [None, "Z"]})
    pq.write_table(mine, tmp_path / "a.parquet")
    pq.write_table(theirs, tmp_path / "b.parquet")
    found = pairs(tmp_path / "a.parquet", tmp_path / "b.parquet", ("a", "b"))
    assert found == (["x", None, "y", None, "z"], ["X", None, None, None, "Z"])


@pytest.mark.parametrize("released", [["x"], ["x", "y", "[end]"]])
def test_a_list_of_another_length_is_refused(tmp_path, released):
    """As withheld texts, untouched originals would pass every limit."""
    pq.write_table(pa.table({"text": [["z"], ["x", "y"]]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"text": [["z"], released]}), tmp_path / "b.parquet")
    with pytest.raises(SourceError, match=r"row 2.* original has 2"):
        pairs(tmp_path / "a.parquet", tmp_path / "b.parquet")


@pytest.mark.parametrize("released", [[], None])
def test_a_list_that_is_empty_or_missing_is_withheld(tmp_path, released):
    kind = pa.list_(pa.string())
    for name, rows in (("a", [["x", "y"]]), ("b", [released])):
        table = pa.table({"text": pa.array(rows, kind)})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    found = pairs(tmp_path / "a.parquet", tmp_path / "b.parquet")
    assert found == (["x", "y"], [None, None])


@pytest.mark.parametrize("mine", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("theirs", ["csv", "jsonl", "parquet"])
def test_files_of_any_two_formats_are_paired(tmp_path, mine, theirs):
    (tmp_path / "a.csv").write_text("text\nx\ny\n")
    (tmp_path / "a.jsonl").write_text('{"text": "x"}\n{"text": "y"}\n')
    pq.write_table(pa.table({"text": ["x", "y"]}), tmp_path / "a.parquet")
    found = pairs(tmp_path / f"a.{mine}", tmp_path / f"a.{theirs}")
    assert found == (["x", "y"], ["x", "y"])


@pytest.mark.parametrize("shorter", ["a", "b"])
def test_files_of_different_length_are_refused_without_their_text(tmp_path, shorter):
    for name in "ab":
        rows = 2 if name == shorter else 3
        (tmp_path / f"{name}.txt").write_text(f"{CANARY}\n" * rows)
    with pytest.raises(
        SourceError, match=f"{shorter}.txt.* ends after 2 rows"
    ) as error:
        pairs(tmp_path / "a.txt", tmp_path / "b.txt")
    assert CANARY not in str(error.value)


def test_a_text_in_place_of_a_null_is_refused(tmp_path):
    pq.write_table(pa.table({"text": ["x", None]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"text": ["x", CANARY]}), tmp_path / "b.parquet")
    with pytest.raises(SourceError, match="row 2") as error:
        pairs(tmp_path / "a.parquet", tmp_path / "b.parquet")
    assert CANARY not in str(error.value)


@pytest.mark.parametrize("blank", ["", " "])
def test_a_text_where_the_original_has_none_is_refused(tmp_path, blank):
    for name, text in (("a", blank), ("b", "raw text")):
        table = pa.table({"text": ["x", text]})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    with pytest.raises(SourceError, match=r"row 2.* where the original has none"):
        pairs(tmp_path / "a.parquet", tmp_path / "b.parquet")
    assert pairs(tmp_path / "b.parquet", tmp_path / "a.parquet")[1] == ["x", blank]
