"""What a model learns from released words, and what it must not."""

import itertools

import numpy as np
import pytest
from tests.attacks import small
from tests.decode.conftest import WORDS
from tests.decode.test_decoder import released, scores

from mondegreen.attacks.pairs import build_pairs
from mondegreen.attacks.reader import Knowledge, learning_reader, reader
from mondegreen.decode.adapt import Adapter
from mondegreen.decode.decoder import Decoder
from mondegreen.decode.released import Released
from mondegreen.errors import LanguageError
from mondegreen.language.build import build_language, release_words
from mondegreen.text.lookup import Lookup

ALL = WORDS + 1


def texts(count, step, seed):
    """Texts in which the next word is mostly so many words further on."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(count):
        ids = [int(rng.integers(small.SIZE))]
        while len(ids) < 7:
            further = step if rng.random() < 0.85 else int(rng.integers(small.SIZE))
            ids.append((ids[-1] + further) % small.SIZE)
        found.append(" ".join(small.WORDS[i] for i in ids) + ".")
    return found


@pytest.fixture(scope="module")
def public():
    return build_language([texts(400, 4, 1)], small.space())


@pytest.fixture(scope="module")
def private():
    return build_pairs(texts(500, 7, 2), Lookup(small.space()))


def attacked(chances, public, private):
    state = small.tree_state(chances)
    drawn = private.sample(state, np.random.default_rng(3))
    knowledge = Knowledge.of_language(state, public)
    plain = reader(drawn, knowledge.readers, knowledge.prior)
    return plain, learning_reader(drawn, knowledge)


@pytest.mark.slow("all sentences", but=("outputs0", "outputs1", "outputs2"))
@pytest.mark.parametrize("outputs", [(0,), (3, 1), (5, 0, 2), (1, 1, 4, 0)])
def test_the_likelihood_is_the_sum_over_all_sentences(language, law, channel, outputs):
    everything = scores(language, law, outputs, words=ALL)
    expected = np.log(np.exp(list(everything.values())).sum()) / len(outputs)
    decoder = Decoder(channel, language, beam=ALL)
    found = decoder.log_likelihood(released(outputs))
    assert found == pytest.approx(expected, abs=5e-3)
    twice = decoder.log_likelihood(released(outputs, outputs))
    assert twice == pytest.approx(found, abs=1e-5)
    assert (
        decoder.log_likelihood(Released(np.zeros(0, np.int32), np.zeros(0, bool))) == 0
    )


def test_likelihoods_of_sentences_of_any_length_add_up(language, channel):
    decoder = Decoder(channel, language, beam=ALL)
    sentences = [(1, 2), (0,), (3, 3, 1, 0, 2), (4, 1), (2, 5, 0)]
    single = [len(s) * decoder.log_likelihood(released(s)) for s in sentences]
    together = decoder.log_likelihood(released(*sentences))
    assert together == pytest.approx(sum(single) / 13, abs=1e-5)


@pytest.mark.slow("learns a model")
def test_who_learns_from_a_release_recovers_more(public, private):
    plain, learned = attacked([0.5, 0.2, 0.1, 0.2], public, private)
    assert learned.value > plain.value + 0.03
    assert learned.low <= learned.value <= learned.high
    assert learned.chance < plain.value - 0.1
    assert learned.details["weight_of_public_model"] < 1
    assert "3,500 released words" in learned.adversary


@pytest.mark.slow("learns two models")
def test_without_noise_it_recovers_all_and_without_information_nothing(public, private):
    _, clear = attacked(small.EXACT, public, private)
    assert clear.value > 0.99
    _, blind = attacked(small.NOTHING, public, private)
    assert abs(blind.value - blind.chance) < 0.05
    assert blind.value < 0.15


def test_it_learns_from_released_words_alone(public, private):
    state = small.tree_state([0.5, 0.2, 0.1, 0.2])
    drawn = private.sample(state, np.random.default_rng(3))
    words = Released(drawn.outputs, drawn.ends)
    found = Adapter(state, public).adapt(words)
    again = Adapter(state, public).adapt(words)
    assert found.model.digest == again.model.digest != public.digest
    before, after = found.likelihoods
    assert after > before
    about = found.model.about
    assert about.releases == (
        "a release of 3,150 words by tree (epsilon 40, level_probabilities "
        "[0.5, 0.2, 0.1, 0.2]), as they were guessed",
    )
    assert not public.about.releases
    weight, digest = about.mixed[0].split(" of ")
    assert (float(weight), digest) == (found.weight, public.digest)


@pytest.mark.parametrize("count", [0, 2, 5])
def test_of_next_to_nothing_nothing_is_learned(public, private, count):
    state = small.tree_state()
    words = Released(private.inputs[: 7 * count], private.ends[: 7 * count])
    found = Adapter(state, public).adapt(words)
    assert (found.model, found.weight) == (public, 1.0)
    kept = Released(np.full(99, -1, np.int32), np.arange(99) % 9 == 8)
    assert Adapter(state, public).adapt(kept).model is public


def test_what_was_guessed_twice_leaves_no_pair(public):
    state = small.tree_state(small.EXACT)
    once = [" ".join(small.WORDS[i] for i in row) for row in ((0, 9, 3), (5, 2, 8))]
    fill = " ".join(small.WORDS[i] for i in (1, 5, 9))
    for times, is_known in ((2, False), (4, True)):
        rows = [*once * times, *[fill] * 60]
        words = release_words([rows], small.space())
        model = Adapter(state, public).adapt(Released(*words)).model
        starts, seconds = model.pair_starts, model.pair_words
        pairs = {
            (first, int(second))
            for first in range(small.SIZE)
            for second in seconds[starts[first] : starts[first + 1]]
        }
        mine = {
            pair for row in ((0, 9, 3), (5, 2, 8)) for pair in itertools.pairwise(row)
        }
        public_ones = {
            (first, int(second))
            for first in range(small.SIZE)
            for second in public.pair_words[
                public.pair_starts[first] : public.pair_starts[first + 1]
            ]
        }
        assert bool(mine & pairs - public_ones) == is_known


def test_words_of_no_space_are_no_release():
    space = small.space()
    words, ends = release_words([["Bag beg. Dag", None], ["beg's bag"]], space)
    assert words.tolist() == [
        space.index[w] for w in ("bag", "beg", "dag", "beg", "bag")
    ]
    assert ends.tolist() == [False, True, True, False, True]
    with pytest.raises(LanguageError, match="never an original"):
        release_words([["bag and Mandelbrot"]], space)
    for nothing in ([[None, ""]], []):
        with pytest.raises(LanguageError, match="no words"):
            release_words(nothing, space)
    few = [["bag " * 199 + "Oslo"]]
    assert release_words(few, space)[0].tolist()[-1] == -1
