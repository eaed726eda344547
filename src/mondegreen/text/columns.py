"""Text inside Arrow columns: plain, as dictionary, in lists, structs, maps; and ids.

A map is seen as a list of entries. The value of an entry holds the text. Keys stay.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from mondegreen.errors import DataError, InvalidParameterError

_MOST_BYTES = (1 << 31) - 1  # of the texts in one array of strings
_FIELD_ID = b"PARQUET:field_id"
# Text is looked for in the first three only.
_LISTS = (
    (types.is_list, pa.list_),
    (types.is_large_list, pa.large_list),
    (types.is_list_view, pa.list_view),
    (types.is_large_list_view, pa.large_list_view),
)
_BUILT = {
    pa.lib.Type_LIST: (pa.ListArray, pa.int32()),
    pa.lib.Type_LARGE_LIST: (pa.LargeListArray, pa.int64()),
    pa.lib.Type_LIST_VIEW: (pa.ListViewArray, pa.int32()),
    pa.lib.Type_LARGE_LIST_VIEW: (pa.LargeListViewArray, pa.int64()),
}
"""The array of each kind of list, and the type of its offsets."""

Steps = tuple[int, ...]
"""Index of a column, then of a field in each struct; lists and maps take no step."""

_LONGEST_ID = 1000
"""Longer ids keep their form: NFC takes time quadratic in a run of marks."""

_VALUE = 1  # of the two fields of an entry


def bare(field: pa.Field) -> pa.Field:
    """Make the field without metadata, its own and of all fields inside.

    Types that Arrow knows keep their parameters, and fields the numbers by which
    table formats find them.
    """
    number = (field.metadata or {}).get(_FIELD_ID, b"")
    kept = {_FIELD_ID: number} if number.isdigit() else None
    return pa.field(field.name, _bare(field.type), field.nullable, kept)


def _bare(kind: pa.DataType) -> pa.DataType:
    if types.is_struct(kind):
        return pa.struct([bare(kind.field(i)) for i in range(kind.num_fields)])
    if types.is_map(kind):
        key, item = bare(kind.key_field), bare(kind.item_field)
        return pa.map_(key, item, keys_sorted=kind.keys_sorted)
    if types.is_fixed_size_list(kind):
        return pa.list_(bare(kind.value_field), kind.list_size)
    if is_any_list(kind):
        return _make_list_type(bare(kind.value_field), kind)
    return kind


def _plain(kind: pa.DataType) -> pa.DataType:
    """What a dictionary holds; any other type as it is."""
    return kind.value_type if types.is_dictionary(kind) else kind


def is_text(kind: pa.DataType) -> bool:
    """Whether a value of this type is a string, however it is stored."""
    strings = types.is_string, types.is_large_string, types.is_string_view
    return any(is_kind(_plain(kind)) for is_kind in strings)


def is_any_list(kind: pa.DataType) -> bool:
    """Whether a value is a list of any length."""
    return any(is_kind(kind) for is_kind, _ in _LISTS)


def is_list(kind: pa.DataType) -> bool:
    """Whether a value is a list in which text is looked for."""
    return any(is_kind(kind) for is_kind, _ in _LISTS[:3])


def is_id(kind: pa.DataType) -> bool:
    """Whether a value of this type can name a record: a string or an integer."""
    return is_text(kind) or bool(types.is_integer(_plain(kind)))


def find_paths(fields: Sequence[pa.Field], path: str) -> list[Steps]:
    """List every way to read a dotted path; names may themselves hold dots."""
    found: list[Steps] = []
    for index, field in enumerate(fields):
        if field.name == path:
            found.append((index,))
        kind = field.type
        while is_list(kind) or types.is_map(kind):
            kind = kind.item_type if types.is_map(kind) else kind.value_type
        if types.is_struct(kind) and path.startswith(field.name + "."):
            rest = path[len(field.name) + 1 :]
            inner = [kind.field(i) for i in range(kind.num_fields)]
            found += [(index, *steps) for steps in find_paths(inner, rest)]
    return found


def view_type(kind: pa.DataType, steps: Steps) -> pa.DataType | None:
    """Tell the type of the text as ``view`` shows it; None where there is no text."""
    if types.is_map(kind):
        return view_type(_entries_type(kind), (_VALUE, *steps))
    if is_list(kind):
        inner = view_type(kind.value_type, steps)
        return pa.list_(pa.string()) if inner == pa.string() else None
    if steps:
        return view_type(kind.field(steps[0]).type, steps[1:])
    return pa.string() if is_text(kind) else None


def view(array: pa.Array, steps: Steps = ()) -> pa.Array:
    """View the text as ``string``, or ``list<string>`` where it lies in lists."""
    if types.is_map(array.type):
        return view(as_entries(array), (_VALUE, *steps))
    if is_list(array.type):
        inner = view(array.flatten(), steps)
        return lists(array, inner, pa.list_(inner.type))
    if steps:
        return view(pc.struct_field(array, [steps[0]]), steps[1:])
    return array.cast(pa.string())


def read_text(text: pa.Array) -> list[str | None]:
    """Read strings, and check that they are UTF-8: Arrow does not."""
    try:
        return text.to_pylist()  # type: ignore[no-any-return]
    except UnicodeDecodeError:
        pass  # it holds the record, and is not passed on
    raise DataError("a text is not valid UTF-8")


def make_strings(texts: Sequence[str | None]) -> pa.Array:
    """Make an array of strings; half a surrogate pair raises a UnicodeEncodeError.

    ``pa.array`` asks whether it got something of pandas, and loads pandas for that,
    where it is installed: a quarter of a second in each process.

    >>> make_strings(["é", None]).to_pylist()
    ['é', None]
    """
    data = [b"" if text is None else text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, data)], dtype=np.int64)
    if ends[-1] > _MOST_BYTES:
        return pa.array(texts, pa.string())  # several arrays
    is_there = np.array([text is not None for text in texts], dtype=np.bool_)
    valid = None if is_there.all() else np.packbits(is_there, bitorder="little")
    buffers = ends.astype(np.int32), b"".join(data), valid
    made = (None if each is None else pa.py_buffer(each) for each in buffers)
    return pa.StringArray.from_buffers(len(data), *made)


def read_ids(array: pa.Array) -> list[str]:
    """Read the ids of records, integers in decimal; each row must have one."""
    allowed = "a string or an integer as the identifier in every row"
    if not is_id(array.type):
        hint = ""
        if types.is_floating(array.type):
            hint = "; a data frame makes floats of integers where one is missing"
        raise InvalidParameterError("ids", str(array.type), allowed + hint)
    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if array.null_count:
        raise InvalidParameterError("ids", "a null", allowed)
    records = [str(record) for record in read_text(array)]
    if "" in records:
        raise InvalidParameterError("ids", "an empty one", allowed)
    return records


def unify_id(record: str) -> str:
    """Write an id as it is counted: without blanks around it, and in NFC.

    Keyed noise takes ids as they are: two spellings of an id have two draws, and these
    count for one record.

    >>> unify_id(" 7"), unify_id("Jose\u0301") == "Jos\u00e9"
    ('7', True)
    """
    if record.isascii() or len(record) > _LONGEST_ID:
        return record.strip()
    return unicodedata.normalize("NFC", record.strip())


def places(text: pa.Array) -> list[int]:
    """Count, for each item of lists, how many texts precede it in its list.

    Nulls are no texts: an absent key and a null are told apart by some formats only.
    """
    is_text_there = np.asarray(text.flatten().is_valid())
    lengths = list_lengths(text)
    before = np.cumsum(is_text_there) - is_text_there
    starts = np.cumsum(lengths) - lengths
    first = np.append(before, is_text_there.sum())[starts]
    found: list[int] = (before - np.repeat(first, lengths)).tolist()
    return found


def rebuild(array: pa.Array, steps: Steps, text: pa.Array | None) -> pa.Array:
    """Make the column with its text replaced; by nulls if ``text`` is None.

    A row of ``text`` that is null where the list in ``array`` is not makes the whole
    list null: such a row has been refused, and keeps nothing.
    """
    if types.is_map(array.type):
        entries = rebuild(as_entries(array), (_VALUE, *steps), text)
        return make_map(entries, array.type)
    if is_list(array.type):
        if text is not None:
            refused = pc.and_not(text.is_null(), array.is_null())
            if refused.true_count:
                array = pc.if_else(refused, pa.scalar(None, array.type), array)
            text = text.flatten()
        inner = rebuild(array.flatten(), steps, text)
        return lists(array, inner, array.type)
    if not steps:
        if text is None:
            return pa.nulls(len(array), array.type)
        return restore(text, array.type)
    fields = [array.type.field(i) for i in range(array.type.num_fields)]
    # `field` ignores the nulls of the struct itself, `struct_field` brings them in
    children = [pc.struct_field(array, [i]) for i in range(len(fields))]
    child = children[steps[0]] = rebuild(children[steps[0]], steps[1:], text)
    fields[steps[0]] = fields[steps[0]].with_type(child.type)
    return pa.StructArray.from_arrays(children, fields=fields, mask=array.is_null())


def restore(text: pa.Array, kind: pa.DataType) -> pa.Array:
    """Give ``string`` or ``list<string>`` the type of its column.

    A dictionary that has no room for the released texts gets 32 bits for each.
    """
    if is_list(kind):
        return lists(text, restore(text.flatten(), kind.value_type), kind)
    if not types.is_dictionary(kind):
        return text.cast(kind)
    coded = text.cast(kind.value_type).dictionary_encode()
    largest = np.iinfo(str(kind.index_type)).max  # Arrow and NumPy name them alike
    if len(coded.dictionary) - 1 > largest:
        kind = pa.dictionary(pa.int32(), kind.value_type, ordered=kind.ordered)
    return coded.cast(kind)


def widen(field: pa.Field, steps: Steps) -> pa.Field:
    """Make the field with room in its dictionary for more distinct texts.

    A category column may count its texts in 8 bits, and a release holds others.
    """
    kind = field.type
    if types.is_map(kind):
        item = widen(kind.item_field, steps)
        kind = pa.map_(kind.key_field, item, keys_sorted=kind.keys_sorted)
    elif is_list(kind):
        kind = _make_list_type(widen(kind.value_field, steps), kind)
    elif steps:
        fields = [kind.field(i) for i in range(kind.num_fields)]
        fields[steps[0]] = widen(fields[steps[0]], steps[1:])
        kind = pa.struct(fields)
    elif types.is_dictionary(kind):
        kind = pa.dictionary(pa.int32(), kind.value_type, ordered=kind.ordered)
    return field.with_type(kind)


def has_more_than_text(kind: pa.DataType, steps: Steps) -> bool:
    """Whether a column holds, besides its text, fields or keys around it."""
    while is_list(kind):
        kind = kind.value_type
    return bool(steps) or bool(types.is_map(kind))


def _entries_type(kind: pa.DataType) -> pa.DataType:
    """Make the type of a map as a list of its entries."""
    entry = pa.struct([kind.key_field, kind.item_field])
    return pa.list_(pa.field("entries", entry, nullable=False))


def as_entries(array: pa.MapArray) -> pa.Array:
    """View a map as lists of its entries."""
    return array.cast(_entries_type(array.type))


def make_map(entries: pa.Array, kind: pa.DataType) -> pa.Array:
    """Make a map of lists of entries; the type of its values is theirs."""
    pairs = entries.flatten()
    keys, items = (pc.struct_field(pairs, [place]) for place in (0, _VALUE))
    item = kind.item_field.with_type(items.type)
    kind = pa.map_(kind.key_field, item, keys_sorted=kind.keys_sorted)
    offsets = np.concatenate([[0], np.cumsum(list_lengths(entries))])
    mask = pc.is_null(entries)
    offsets = pa.array(offsets, pa.int32())
    return pa.MapArray.from_arrays(offsets, keys, items, type=kind, mask=mask)


def lists(like: pa.Array, values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Make lists as long as those of ``like``, null where they are null."""
    lengths = list_lengths(like)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    kind = _make_list_type(kind.value_field.with_type(values.type), kind)
    mask = pc.is_null(like)
    build, width = _BUILT[kind.id]
    if build in (pa.ListViewArray, pa.LargeListViewArray):
        starts, sizes = (pa.array(part, width) for part in (offsets[:-1], lengths))
        return build.from_arrays(starts, sizes, values, type=kind, mask=mask)
    return build.from_arrays(pa.array(offsets, width), values, type=kind, mask=mask)


def list_lengths(like: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How many items each list has, 0 where it is null."""
    lengths = np.asarray(pc.fill_null(pc.list_value_length(like), 0))
    return lengths.astype(np.int64)


def _make_list_type(field: pa.Field, kind: pa.DataType) -> pa.DataType:
    return next(build for is_kind, build in _LISTS if is_kind(kind))(field)
