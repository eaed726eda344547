"""The evidence for the word tree: pages from results, and instruments that measure."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import product

import numpy as np
import pytest

pytest.importorskip("scipy")


from benchmarks.measure.trees import context_attack
from benchmarks.measure.trees.word_model import WordModel
from benchmarks.pages import reading_page
from benchmarks.pages import tree_evidence_page as evidence
from benchmarks.pages import tree_evidence_rows as stored
from benchmarks.pages.page import DOCS
from benchmarks.pages.reading_sentences import SENTENCES
from mondegreen.report.charts import picture


def told(drawn: bytes) -> list[str]:
    """Return every text of a drawing, with what its markers tell."""
    return [each.text for each in ET.fromstring(drawn).iter() if each.text]


@pytest.mark.slow("draws")
def test_plots_are_those_of_the_results_and_on_the_page() -> None:
    page = (DOCS / evidence.PAGE).read_text(encoding="utf-8")
    for name, chart in evidence.charts().items():
        drawn = picture(chart, for_page=True)
        assert told((evidence.ASSETS / name).read_bytes()) == told(drawn)
        assert f"(../assets/{name})" in page


def test_every_row_of_the_tree_is_of_one_tree() -> None:
    found = stored.load()
    rows = [*found["rows"].values(), *found["context"].values()]
    trees = {row["tree"] for row in rows if row["mechanism"].startswith("tree")}
    assert trees == {found["tree"]}


def test_every_sentence_that_is_read_was_released() -> None:
    sentences = reading_page.stored()["sentences"]
    assert sentences == [x for some in SENTENCES.values() for x in some]


def test_between_settings_numbers_are_interpolated_and_never_beyond() -> None:
    rows = [
        {"mechanism": "tree", "data": "d", "attack": a, "accuracy": b}
        for a, b in ((0.1, 0.5), (0.3, 0.7))
    ]
    assert stored.at({}, rows, 0.2, "accuracy") == pytest.approx(0.6)
    assert stored.at({}, rows, 0.31, "accuracy") is None
    assert stored.at({}, [], 0.2, "accuracy") is None


TEXT = np.array([0, 1, 0, 1, 2, 1, 0, 3], dtype=np.int32)
ENDS = np.array([0, 5, 8])


def test_a_word_model_is_a_law_after_every_context() -> None:
    model = WordModel(TEXT, ENDS, 3)
    words = np.arange(4)
    assert model.unigrams.sum() == pytest.approx(1)
    for before in range(5):
        law = model.pair(np.full(4, before), words)
        assert law.sum() == pytest.approx(1)
        assert (law > 0).all()
    # 0 was followed by 1 twice, by 3 once; two kinds: (2 + 2 q) / (3 + 2).
    expected = (2 + 2 * model.unigrams[1]) / 5
    assert model.pair(np.array([0]), np.array([1]))[0] == pytest.approx(expected)


def test_perplexity_is_low_for_what_was_read_and_high_for_its_reverse() -> None:
    text = np.tile(np.array([0, 1, 2, 3, 4, 5], dtype=np.int32), 50)
    ends = np.array([0, len(text)])
    model = WordModel(text, ends, 6)
    assert model.perplexity(text, ends, known=True) < 1.5
    assert model.perplexity(text[::-1], ends, known=True) > 6


class _Law:
    """A law as a table, the unknown word last."""

    def __init__(self, table: np.ndarray) -> None:
        self._table = table

    def log_prob(self, ids: np.ndarray) -> np.ndarray:
        return np.log(self._table[ids])


def test_decoding_in_context_is_the_posterior_of_every_place(monkeypatch) -> None:
    monkeypatch.setattr(context_attack, "CANDIDATES", 4)
    rng = np.random.default_rng(3)
    model = WordModel(TEXT, ENDS, 3)
    law = rng.dirichlet(np.ones(3), size=4)
    ends = np.array([0, 3, 5])
    released = np.array([2, 0, 1, 1, 0])
    marginals = np.zeros((5, 4))
    for begin, end in ((0, 3), (3, 5)):
        for inputs in product(range(4), repeat=end - begin):
            before = np.array([4, *inputs[:-1]])
            chance = model.pair(before, np.array(inputs)).prod()
            chance *= law[inputs, released[begin:end]].prod()
            marginals[np.arange(begin, end), inputs] += chance
    free = (model.unigrams[:, None] * law).argmax(axis=0)[released]
    found = context_attack.guesses(_Law(law), model, ends, released)
    assert found[0].tolist() == free.tolist()
    assert found[1].tolist() == marginals.argmax(axis=1).tolist()


def test_context_gives_away_what_one_word_does_not() -> None:
    # Words come in pairs that are told apart by the word before alone.
    text = np.tile(np.array([0, 2, 1, 3], dtype=np.int32), 100)
    ends = np.array([0, len(text)])
    model = WordModel(text, ends, 60)
    law = np.full((61, 60), 1e-9)
    law[:, 0] = 1.0  # the output of 2 and of 3
    law[0], law[1] = 1e-9, 1e-9
    law[0, 4], law[1, 5] = 1.0, 1.0
    released = np.where(text == 0, 4, np.where(text == 1, 5, 0))
    free, informed = context_attack.guesses(_Law(law), model, ends, released)
    assert (free == text).mean() == pytest.approx(0.75)
    assert (informed == text).mean() == pytest.approx(1.0)
