"""Ids of records: one form, and none twice where that is asked for."""

from __future__ import annotations

import enum
import sys

import numpy as np
import pytest

from mondegreen.errors import ConfigurationError, DataError, InvalidParameterError
from mondegreen.sampling.records import BatchNumbers, SeenIds, record_id, record_ids


class Kind(enum.IntEnum):
    """An integer that prints as something else."""

    ONE = 1


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((7, "7"), (-7, "-7"), (0, "0"), ("7", "7"), ("007", "007")),
        *((np.uint64(2**63), str(2**63)), (np.str_("a"), "a"), (Kind.ONE, "1")),
        *((2**100, str(2**100)), ("\ud800", "\ud800")),
    ],
)
def test_strings_stay_and_integers_are_decimal(value, expected):
    assert record_id(value) == expected


@pytest.mark.parametrize(
    "value", [7.0, True, np.True_, None, b"7", 7j, np.float32(7), (7,), object()]
)
def test_others_are_refused_by_their_type(value):
    with pytest.raises(InvalidParameterError, match="a string or an integer"):
        record_id(value)


def test_an_empty_id_names_no_record():
    with pytest.raises(InvalidParameterError, match="not empty"):
        record_id("")


def test_there_are_as_many_ids_as_texts():
    for values in ([], [1], [1, 2, 3], "ab"):
        with pytest.raises(InvalidParameterError, match="ids"):
            record_ids(values, 2)
    assert record_ids(iter([1, "2"]), 2) == ["1", "2"]
    assert record_ids(None, 2) is None


def test_an_id_that_was_seen_is_refused_by_its_number():
    seen = SeenIds()
    seen.add(record_ids([1, 2], 2))
    with pytest.raises(DataError, match="record 5 ") as caught:
        seen.add(["3", "secret", "secret"])
    assert "secret" not in str(caught.value)
    with pytest.raises(ConfigurationError, match="needs ids"):
        seen.add(None)


def test_an_id_that_was_seen_takes_about_110_bytes():
    seen = SeenIds()
    seen.add([f"a long id of some record, number {i}" for i in range(100_000)])
    size = sys.getsizeof(seen._digests) + sum(map(sys.getsizeof, seen._digests))
    assert size / 100_000 < 115


@pytest.mark.parametrize("number", [-1, 1.0, True, "1"])
def test_a_number_of_a_batch_is_a_whole_number(number):
    with pytest.raises(InvalidParameterError, match="number"):
        BatchNumbers().next(number)
