"""Dictionaries hold only values that a row has, at any depth, and keep their type."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mondegreen.errors import DataError
from mondegreen.text.dictionaries import compact, compact_chunks

CANARY = "zyxwoldemorth"
STATUS = pa.dictionary(pa.int8(), pa.string(), ordered=True)


def nested(kind):
    """Values of a kind that holds dictionaries, from one value of them."""
    types = pa.types
    if types.is_struct(kind):
        return lambda value: {each.name: nested(each.type)(value) for each in kind}
    if types.is_map(kind):
        return lambda value: [(value, value)]
    if types.is_dictionary(kind):
        return lambda value: value
    return lambda value: [nested(kind.value_type)(value)] * 2


KINDS = [
    STATUS,
    pa.dictionary(pa.uint32(), pa.large_string()),
    pa.list_(STATUS),
    pa.large_list(STATUS),
    pa.list_view(STATUS),
    pa.large_list_view(STATUS),
    pa.list_(STATUS, 2),
    pa.map_(STATUS, STATUS),
    pa.struct([pa.field("a", STATUS, nullable=False), ("b", pa.list_(STATUS))]),
    pa.list_(pa.struct([("a", pa.map_(STATUS, STATUS)), ("b", STATUS)])),
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_values_of_no_row_are_removed_at_any_depth(kind):
    make = nested(kind)
    rows = [make(CANARY), make("open"), None, make("shut"), make(CANARY)]
    given = pa.array(rows, kind).slice(1, 3)
    for array in (given, given[:0], given.slice(1, 1), given.slice(1)):
        made = compact(array)
        made.validate(full=True)
        assert made.type == kind
        assert made.to_pylist() == array.to_pylist()
        assert CANARY not in str(made)


def test_a_value_below_a_null_is_of_no_row():
    inner = pa.array([CANARY, "open"]).dictionary_encode()
    mask = pa.array([True, False])
    fields = [pa.field("a", inner.type, nullable=False)]
    given = pa.StructArray.from_arrays([inner], fields=fields, mask=mask)
    made = compact(given)
    assert made.field(0).dictionary.to_pylist() == ["open"]
    assert made.to_pylist() == [None, {"a": "open"}]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"s": made}), sink)  # takes no null where none may be
    assert CANARY.encode() not in sink.getvalue().to_pybytes()


def test_a_dictionary_in_a_union_is_refused():
    inner = pa.array([CANARY]).dictionary_encode()
    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [inner])
    with pytest.raises(DataError, match="Drop the column") as found:
        compact(union)
    assert CANARY not in str(found.value)


def test_chunks_share_a_dictionary_in_its_order():
    every = pa.DictionaryArray.from_arrays(
        pa.array([0, 3, 1, 2], pa.int8()),
        ["low", "middle", "high", CANARY],
        ordered=True,
    )
    given = pa.chunked_array([every.slice(0, 1), every.slice(3), every.slice(2, 1)])
    made = compact_chunks(given)
    assert made.type == given.type
    assert made.to_pylist() == ["low", "high", "middle"]
    dictionaries = [each.dictionary.to_pylist() for each in made.chunks]
    assert dictionaries == [["low", "middle", "high"]]
    assert compact_chunks(given[:0]).to_pylist() == []
