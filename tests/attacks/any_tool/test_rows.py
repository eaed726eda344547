"""Rows are aligned whatever their texts hold, in bounded memory."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mondegreen.attacks.any_tool.rows import MASKED, MOVED, REPLACED, Given, read_rows
from mondegreen.attacks.any_tool.spans import Annotation
from mondegreen.attacks.any_tool.survivors import Shares, Survivors

ODD = st.text(alphabet="aB1 '.\n*[]<>X_é\U0001f431\ud800\0\u200d", max_size=40)


@given(ODD, ODD)
def test_any_two_texts_are_aligned(original, release):
    (row,) = read_rows([Given(1, original, release)])
    assert len(row.words) == len(row.target) == len(row.fate) == len(row.classes)
    for place, fate in zip(row.target, row.fate, strict=True):
        if fate in (REPLACED, MASKED):
            assert row.released.is_mask[place] == (fate == MASKED)
    (same,) = read_rows([Given(1, original, original)])
    assert set(same.fate) <= {0}


def test_an_annotation_is_left_only_with_all_its_words():
    text, spans = "Ann Lee is in Oslo", [Annotation(0, 7, "P"), Annotation(14, 18, "G")]
    for release, left in (
        (text, 2),
        ("Ann [X] is in Oslo", 1),
        ("[NAME] is in Oslo", 1),
        ("In Oslo is Ann Lee", 2),  # moved
        ("ANN LEE is in [PLACE]", 1),  # another case hides nothing
        ("", 0),
    ):
        (row,) = read_rows([Given(1, text, release, spans)])
        assert row.left_count() == left, release


def test_an_ordinary_word_elsewhere_is_no_leak():
    (row,) = read_rows([Given(1, "the cat and the dog", "*** cat and *** the")])
    assert row.fate[0] > MOVED


@pytest.mark.slow("many texts")
def test_counts_of_many_texts_take_the_memory_of_some():
    survivors = Survivors("sensitive words")
    rows = list(
        read_rows(Given(i, "Ann is in Oslo", "Ann is in *") for i in range(500))
    )
    for row in rows:
        survivors.add(row)
    tracemalloc.start()
    for _ in range(40):
        for row in rows:
            survivors.add(row)
    grown = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert grown < 200_000
    found = survivors.attack(None)
    assert (found.value, found.n) == (0.5, 2 * 500 * 41)
    assert len(found.details["riskiest_rows"]) == 20


def test_joined_texts_keep_their_sums_and_nearly_their_interval():
    rng = np.random.default_rng(0)
    hits = rng.random(5000) < 0.3
    few, many = Shares(), Shares()
    for hit in hits[:2000]:
        few.add(float(hit), 1.0)
    for hit in hits:
        many.add(float(hit), 1.0)
    assert many.total == 5000
    assert many.value == hits.mean()
    low, high = many.ends()
    spread = 2 * 1.96 * np.sqrt(0.21 / 5000)
    assert 0.8 * spread < high - low < 1.3 * spread
    assert few.total == 2000


@pytest.mark.parametrize(
    ("unit", "other", "is_left", "is_partly"),
    [
        ("Chidi Okonkwo", "Chidi Okonkwo", True, True),
        ("Chidi Okonkwo", "Mr. Okonkwo", False, True),
        ("diabetes", "diabetes", True, True),
        ("40213", "40213", True, True),
        ("c.okonkwo@example.org", "c.okonkwo@example.org", True, True),
        ("Chidi Okonkwo", "a doctor", False, False),
        ("will", "will", False, False),  # an ordinary word tells nothing by itself
        ("7", "7", False, False),
    ],
)
def test_a_unit_that_also_stands_where_nobody_annotated_it_is_left(
    unit, other, is_left, is_partly
):
    """A tool that masks the annotated place alone leaves the other one."""
    text = f"It is {unit} here. Then {other} was there, too."
    spans = [Annotation(6, 6 + len(unit), "X")]
    release = text.replace(unit, "[X]", 1)
    (row,) = read_rows([Given(1, text, release, spans)])
    (only,) = row.units
    assert (row.is_left(only), row.is_partly_left(only)) == (is_left, is_partly)
