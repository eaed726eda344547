import itertools

import numpy as np
import pytest
from corpora import SIZE, SPACE, WORDS, counted, flat, sentences

from mondegreen.errors import LanguageError
from mondegreen.language.mix import best_weight, mix, mix_tables
from mondegreen.language.ngrams import NGrams
from mondegreen.space.space import Space

GRID = np.array(list(itertools.product(range(SIZE), repeat=3))).T


def backwards(corpus):
    return [sentence[::-1] for sentence in corpus]


FIRST = NGrams.from_counts(counted(sentences(1)), SPACE, least=2, sources=["a", "b"])
SECOND = NGrams.from_counts(counted(backwards(sentences(2))), SPACE, sources=["b"])
HELD = sentences(3, 300) + backwards(sentences(4, 100))


def sums(tables):
    return np.exp(tables.log_prob(*GRID)).reshape(-1, SIZE).sum(1)


def test_the_weight_is_the_likeliest_one():
    rng = np.random.default_rng(0)
    first, second = rng.random(500), rng.random(500)
    found = best_weight(first, second)
    grid = np.linspace(0.001, 0.999, 999)
    scores = [np.log(w * first + (1 - w) * second).sum() for w in grid]
    assert found == pytest.approx(grid[int(np.argmax(scores))], abs=2e-3)


def test_a_model_that_knows_nothing_of_the_text_has_hardly_a_share():
    assert mix(FIRST, SECOND, *flat(sentences(5))).weight > 0.9
    assert mix(SECOND, FIRST, *flat(sentences(5))).weight < 0.1


def test_a_mixture_is_better_than_both_where_the_text_is_of_both_kinds():
    found = mix(FIRST, SECOND, *flat(HELD))
    first, second, both = found.perplexities
    assert both < 0.9 * min(first, second)
    assert both == found.model.perplexity(*flat(HELD))
    unseen = flat(sentences(6, 300) + backwards(sentences(7, 100)))
    mine = found.model.perplexity(*unseen)
    assert mine < 0.9 * min(each.perplexity(*unseen) for each in (FIRST, SECOND))


def test_a_mixture_has_the_mixed_probability_of_what_it_keeps_and_sums_to_one():
    tables = mix_tables(FIRST, SECOND, 0.3)
    assert np.abs(sums(tables) - 1).max() < 1e-9
    pairs = np.repeat(np.arange(SIZE), np.diff(tables.pair_starts))
    owners = np.repeat(np.arange(len(pairs)), np.diff(tables.triple_starts))
    kept = pairs[owners], tables.pair_words[owners], tables.triple_words
    one, other = (np.exp(model.log_prob(*kept)) for model in (FIRST, SECOND))
    found = np.exp(tables.triple_log)
    gaps = np.log(found / (0.3 * one + 0.7 * other))
    # Each model sums to 1 but nearly, and what lies below its back-off is lifted to it.
    shorter = tables.log_backoff(*kept[:2]) + tables.pair_log_prob(*kept[1:])
    lifted = tables.triple_log < shorter + 1e-9
    assert np.abs(gaps[~lifted]).max() < 0.05
    assert gaps[lifted].min() > -0.05
    assert 0 < lifted.mean() < 0.2


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_a_share_of_all_gives_that_model_back(weight):
    model = FIRST if weight else SECOND
    gaps = mix_tables(FIRST, SECOND, weight).log_prob(*GRID) - model.log_prob(*GRID)
    assert np.abs(gaps).max() < 0.06  # that model sums to 1 but nearly


def test_a_mixture_says_what_it_was_made_of():
    found = mix(FIRST, SECOND, *flat(HELD))
    about = found.model.about
    assert about.words == FIRST.about.words + SECOND.about.words
    assert (about.least, about.sources) == (1, ("a", "b"))
    shares = [each.split(" of ") for each in about.mixed]
    assert [digest for _, digest in shares] == [FIRST.digest, SECOND.digest]
    assert float(shares[0][0]) == pytest.approx(found.weight, abs=1e-3)
    assert float(shares[1][0]) == pytest.approx(1 - found.weight, abs=1e-3)


def test_what_cannot_be_mixed_is_refused():
    other = Space.from_arrays("other", WORDS[::-1], np.arange(12.0)[:, None])
    foreign = NGrams.from_counts(counted(sentences(1)), other)
    with pytest.raises(LanguageError, match="two spaces"):
        mix(FIRST, foreign, *flat(HELD))
    with pytest.raises(LanguageError, match="no words"):
        mix(FIRST, SECOND, np.zeros(0, np.int32), [])
