"""The loss of each text of a run: largest and median, by row and by id."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mondegreen.scores import text_loss
from mondegreen.scores.text_loss import TextLosses

BATCHES = st.lists(
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abcdé")), max_size=9),
    max_size=6,
)


def expected(words):
    words = [n for n in words if n]
    if not words:
        return None
    return {"largest": 2.0 * max(words), "median": 2.0 * float(np.median(words))}


@pytest.mark.slow("all rows")
@given(batches=BATCHES, pending=st.sampled_from([0, 3, 1 << 20]))
def test_it_is_what_all_rows_together_give(batches, pending):
    losses, sums = TextLosses(), {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_loss, "_PENDING", pending)
        for batch in batches:
            counts = np.array([n for n, _ in batch], dtype=np.int64)
            losses.add(counts, [name for _, name in batch])
            for n, name in batch:
                sums[name] = sums.get(name, 0) + n
        found = losses.to_dict(2.0)
    assert found["per_word"] == 2.0
    assert found["per_row"] == expected([n for batch in batches for n, _ in batch])
    assert found["per_id"] == expected(sums.values())


def test_without_ids_there_is_no_loss_by_id():
    losses = TextLosses()
    losses.add(np.array([3, 1]))
    assert losses.to_dict(1.0)["per_id"] is None


def test_memory_grows_with_the_ids_and_not_with_the_rows(monkeypatch):
    monkeypatch.setattr(text_loss, "_PENDING", 100)
    losses = TextLosses()
    for _ in range(50):
        losses.add(np.ones(90, dtype=np.int64), [str(i % 7) for i in range(90)])
    held = sum(len(keys) for keys, _ in losses._records._parts)
    assert held <= 7 + 2 * 100
    assert sum(losses._rows.values()) == 50 * 90
    assert len(losses._rows) == 1


def test_it_shows_no_id():
    losses = TextLosses()
    losses.add(np.array([3]), ["zyxwoldemorth"])
    assert "zyxwoldemorth" not in repr(vars(losses)) + repr(vars(losses._records))
