"""Known rows that have something in common with a row vote for its words."""

import numpy as np

from mondegreen.attacks.related_rows import Beside, RelatedRows, add_signs


def learn(known, words):
    known.learn({text: {0: False} for text in range(len(words))})
    return known


def test_a_text_does_not_vote_for_itself():
    """Each word is there once, with a value of its own: nothing is learnt."""
    words = [np.array([row]) for row in range(60)]
    beside = [Beside(row + 1, {"id": row // 2}) for row in range(60)]
    known = RelatedRows(beside, [np.array([0])] * 60, words, [[0]] * 60)
    assert not learn(known, words).has_votes
    # Two texts of one row are no two rows.
    same = [np.array([row // 2]) for row in range(60)]
    beside = [Beside(row // 2 + 1, {"id": row // 2}) for row in range(60)]
    known = RelatedRows(beside, [np.array([0])] * 60, same, [[0]] * 60)
    assert not learn(known, same).has_votes


def test_a_name_that_few_rows_have_is_not_printed():
    words = [np.array([row // 8]) for row in range(80)]
    beside = [
        Beside(10 * row + 100 * (row % 7), {"Ann" if row < 39 else "b": row // 8})
        for row in range(80)
    ]
    known = learn(RelatedRows(beside, [np.array([0])] * 80, words, [[0]] * 80), words)
    found = known.copy(Beside(5000, {"Ann": 2}), np.array([0]), [0])
    assert found[0].word == 2
    assert found[0].column == "several columns"


def test_the_other_texts_of_a_row_are_beside_a_text():
    beside = [Beside(1, {}), Beside(1, {}), Beside(2, {})]
    found = add_signs(beside, [[1, 2], [3], [4]])
    assert [set(each.signs) for each in found] == [{3}, {1, 2}, set()]
