"""The evidence of sentences: its page from results, and instruments that measure."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

pytest.importorskip("scipy")

import mondegreen as mg
from benchmarks.measure.sentences import sentence_judges as judges
from benchmarks.measure.sentences import sentence_laws as laws
from benchmarks.measure.sentences.sentence_texts import Corpus
from benchmarks.pages import sentences_claims as claims
from benchmarks.pages import sentences_page as page
from benchmarks.pages import sentences_rows as stored
from benchmarks.pages.page import DOCS
from benchmarks.pages.reading_sentences import SENTENCES
from mondegreen.attacks.outputs import compute_outputs
from mondegreen.language.build import build_language
from mondegreen.report.charts import picture


def told(drawn: bytes) -> list[str]:
    """Return every text of a drawing, with what its markers tell."""
    return [each.text for each in ET.fromstring(drawn).iter() if each.text]


@pytest.mark.slow("draws")
def test_plots_are_those_of_the_results_and_on_the_page() -> None:
    text = (DOCS / page.PAGE).read_text(encoding="utf-8")
    for name, chart in page.charts().items():
        drawn = picture(chart, for_page=True)
        assert told((page.ASSETS / name).read_bytes()) == told(drawn)
        assert f"(../assets/{name})" in text


def test_the_page_is_short_enough_to_be_read() -> None:
    text = (DOCS / page.PAGE).read_text(encoding="utf-8")
    words = [word for word in text.split() if any(c.isalnum() for c in word)]
    assert len(words) <= 3000


def test_every_sentence_that_is_read_was_released() -> None:
    found = [row["sentence"] for row in stored.samples()["sentences"]]
    assert found == [x for some in SENTENCES.values() for x in some]


def row(reader: float, accuracy: float, mechanism: str = "tree") -> dict[str, object]:
    text = {"accuracy": accuracy, "cosine": 0.5}
    return {
        "data": "news",
        "mechanism": mechanism,
        "setting": reader,
        "reader": reader,
        "raw": {"accuracy": accuracy - 0.1, "cosine": 0.5},
        "kind": text,
    }


def test_a_lead_holds_only_where_the_tree_is_never_behind() -> None:
    ahead = {"a": row(0.2, 0.8), "b": row(0.45, 0.9)}
    other = {"c": row(0.2, 0.7, "tem"), "d": row(0.45, 0.8, "tem")}
    low, high = claims.lead({"rows": ahead | other}, "news", "accuracy") or (0, 0)
    assert (low, high) == (pytest.approx(0.1), pytest.approx(0.1))
    other["d"] = row(0.45, 0.91, "tem")
    low, high = claims.lead({"rows": ahead | other}, "news", "accuracy") or (0, 0)
    assert (low, high) == (pytest.approx(-0.01), pytest.approx(0.1))
    assert claims.lead({"rows": ahead}, "news", "accuracy") is None
    raw = {key: {**each, "raw": each["kind"]} for key, each in other.items()}
    best = stored.best_other({"rows": ahead | raw}, "news", 0.45, "accuracy")
    assert best == (0.91, "`tem`, raw")
    assert stored.best_other({"rows": ahead | raw}, "news", 0.5, "accuracy") is None


def corpus(texts: list[list[int]]) -> Corpus:
    ids = np.array([word for text in texts for word in text], dtype=np.int32)
    bounds = np.cumsum([0, *map(len, texts)])
    ends = np.zeros(len(ids), dtype=bool)
    ends[bounds[1:] - 1] = True
    return Corpus(ids, ends, bounds, np.arange(len(texts)))


def test_unknown_words_are_context_and_no_part_of_perplexity() -> None:
    space = mg.Space.from_arrays("line", ["cold", "is", "it"], [[0], [1], [3]])
    judge = build_language([["it is cold. it is cold."]], space)
    known = judges.perplexity(
        judge, np.array([2, 1, 0]), np.array([False, False, True])
    )
    assert known == pytest.approx(
        np.exp(-judge.chain_log_probs(np.array([2, 1, 0]), [0, 0, 1])[:3].mean())
    )
    ids, ends = np.array([2, 3, 0]), np.array([False, False, True])
    scores = judge.chain_log_probs(ids, ends.tolist())
    assert judges.perplexity(judge, ids, ends) == pytest.approx(
        np.exp(-scores[[0, 2]].mean())
    )


def test_a_share_has_an_interval_of_texts_and_not_of_words() -> None:
    texts = corpus([[0] * 50, [1] * 50])
    hits = np.repeat([0.0, 1.0], 50)
    assert judges.by_text(hits, texts) == (0.5, 0.0, 1.0)
    assert judges.by_text(np.ones(100), texts) == (1.0, 1.0, 1.0)


SPACE = mg.Space.from_arrays(
    "plane", [f"w{i}" for i in range(60)], np.random.default_rng(4).normal(size=(60, 3))
)


def test_releases_without_noise_are_linked_and_noise_hides_them() -> None:
    rng = np.random.default_rng(5)
    texts = corpus(rng.integers(60, size=(40, 6)).tolist())
    sure = mg.mechanism("exponential", epsilon=300.0).prepare(SPACE)
    assert judges.linked(sure, texts, texts.ids) == pytest.approx(1.0)
    blind = mg.mechanism("exponential", epsilon=1e-6).prepare(SPACE)
    drawn = blind.sample(texts.ids, rng)
    assert judges.linked(blind, texts, drawn) < 0.2


def test_a_law_that_was_surveyed_tells_what_it_tells_exactly(
    monkeypatch, tmp_path
) -> None:
    monkeypatch.setenv("MONDEGREEN_HOME", str(tmp_path))
    rng = np.random.default_rng(6)
    priors = rng.dirichlet(np.ones(61), size=2)
    state = mg.mechanism("exponential", epsilon=4.0).prepare(SPACE)
    laws.survey({"exponential|4": state}, priors.mean(axis=0), priors)
    found = laws.stored("exponential|4")
    assert found is not None
    for at, prior in enumerate(priors):
        (exact,) = compute_outputs(state, [prior])
        near = found.outputs(prior, at)
        assert near.success == pytest.approx(exact.success, rel=1e-5)
        assert near.total == pytest.approx(exact.total, rel=1e-5)
        assert near.noise == pytest.approx(exact.noise, rel=1e-5)
        channel = laws.channel_for(state, found, prior)
        assert (channel.candidates[:, 0] == exact.guess).mean() > 0.99
