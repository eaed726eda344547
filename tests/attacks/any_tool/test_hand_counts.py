"""Survivors and reader agree with counts that are made by spans, without alignment."""

import pytest

from benchmarks.measure.hand_counts import (
    NAMES,
    TEXTS,
    count_recovered,
    count_survivors,
    find_data,
    read_annotated,
)


@pytest.fixture(params=NAMES)
def name(request):
    if not find_data(request.param).exists():
        pytest.skip("needs ../shared/data/private_text")
    return request.param


def test_survivors_agree_with_a_count_by_spans(name):
    assert sum(1 for _ in read_annotated(name)) == TEXTS
    found = count_survivors(name)
    assert 0.2 * found.units < found.by_hand < 0.3 * found.units
    assert abs(found.counted - found.by_hand) <= 0.01 * found.units, found


@pytest.mark.slow("seconds")
def test_the_reader_agrees_with_a_count_of_its_guesses(name):
    found = count_recovered(name)
    assert found.by_hand < found.units
    assert abs(found.counted - found.by_hand) <= 0.01 * found.units, found
