"""What the page on decoders claims is what its result file holds."""

from __future__ import annotations

import pytest

from benchmarks.measure import decoders

RESULT = decoders.stored()


@pytest.mark.parametrize("part", decoders.SIZES)
def test_fast_search_finds_the_words_of_exact_search(part: str) -> None:
    found = RESULT["rates"][part]
    assert {entry["epsilon"] for entry in found} == set(decoders.EPSILONS)
    assert min(entry["fast"]["agreement"] for entry in found) >= 0.999


@pytest.mark.parametrize("part", decoders.SIZES)
def test_fast_search_is_kept_because_it_is_twice_as_fast(part: str) -> None:
    assert min(entry["fast"]["ratio"] for entry in RESULT["rates"][part]) >= 2


@pytest.mark.parametrize("part", decoders.SIZES)
def test_every_mechanism_was_measured_against_its_search(part: str) -> None:
    found = {entry["mechanism"] for entry in RESULT["shares"][part]}
    assert found == set(decoders.MECHANISMS)
