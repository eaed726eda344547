"""The decoder against all sentences there are, and against what it must not see."""

import dataclasses
import itertools
import threading

import numpy as np
import pytest
from tests.decode.conftest import WORDS

from mondegreen.decode import book as book_module
from mondegreen.decode.book import Book
from mondegreen.decode.decoder import Decoder
from mondegreen.decode.lattice import Lattice
from mondegreen.decode.released import Released
from mondegreen.decode.tables import STEP, Tables, round_to_steps
from mondegreen.errors import InvalidParameterError

ALL = WORDS + 1


def released(*sentences):
    ids = np.concatenate([np.array(each, dtype=np.int32) for each in sentences])
    ends = np.zeros(len(ids), dtype=bool)
    ends[np.cumsum([len(each) for each in sentences]) - 1] = True
    return Released(ids, ends)


def scores(language, law, outputs, words=WORDS):
    """ln Q(x) P(y | x) of every sentence x, by the model's own look-up."""
    found = {}
    for inputs in itertools.product(range(words), repeat=len(outputs)):
        ids = np.array(inputs, dtype=np.int32)
        ends = np.arange(1, len(ids) + 1) == len(ids)
        channel = np.log(law[ids, list(outputs)]).sum()
        found[inputs] = language.sentence_log_probs(ids, ends)[0] + channel
    return found


@pytest.mark.slow("all sentences", but=("outputs0", "outputs1", "outputs2"))
@pytest.mark.parametrize(
    "outputs", [(0,), (3, 1), (5, 0, 2), (1, 1, 4, 0), (2, 5, 5, 3)]
)
def test_the_sentence_is_the_best_of_all(language, law, channel, outputs):
    found = Decoder(channel, language).sentence(released(outputs))
    everything = scores(language, law, outputs)
    rounding = 4 * len(outputs) / STEP
    assert everything[tuple(found.tolist())] >= max(everything.values()) - rounding


@pytest.mark.slow("all sentences", but=("outputs0", "outputs1", "outputs2"))
@pytest.mark.parametrize("outputs", [(0,), (3, 1), (5, 0, 2), (1, 1, 4, 0)])
def test_posteriors_are_sums_over_all_sentences(language, law, channel, outputs):
    decoder = Decoder(channel, language, beam=ALL)
    ids, shares = decoder.marginals(released(outputs))
    everything = scores(language, law, outputs, words=ALL)  # the unknown word too
    weights = np.exp(np.array(list(everything.values())))
    weights /= weights.sum()
    for place in range(len(outputs)):
        own = np.array([inputs[place] for inputs in everything])
        expected = np.bincount(own, weights, ALL)
        assert np.bincount(ids[place], shares[place], ALL) == pytest.approx(
            expected, abs=5e-3
        )


def test_a_draw_has_the_law_of_the_posterior(language, law, channel):
    outputs, runs = (5, 0, 2), 4000
    decoder = Decoder(channel, language, beam=ALL)
    many = released(*[outputs] * runs)
    drawn = decoder.draw(many, np.random.default_rng(3)).reshape(runs, 3)
    everything = scores(language, law, outputs)
    keys = list(everything)
    weights = np.exp(np.array([everything[key] for key in keys]))
    weights /= weights.sum()
    code = {key: number for number, key in enumerate(keys)}
    counts = np.bincount(
        [code[tuple(row)] for row in drawn.tolist()], minlength=len(keys)
    )
    assert 0.5 * np.abs(counts / runs - weights).sum() < 0.06  # total variation


def test_single_words_are_read_by_prior_times_law(language, law, channel):
    from mondegreen.mechanisms.channel import rank

    prior = language.frequencies()
    observation = np.arange(WORDS, dtype=np.int32)
    candidates = np.tile(np.arange(ALL, dtype=np.int32), (WORDS, 1))
    own = rank(observation, candidates, law.T.copy(), prior, ALL, "exact")
    found = Decoder(own, language).words(released(range(WORDS)))
    assert found.tolist() == (prior[:-1, None] * law[:-1]).argmax(axis=0).tolist()


@pytest.mark.slow("many sentences")
def test_a_sentence_is_read_alike_whatever_stands_beside_it(language, channel):
    rng = np.random.default_rng(4)
    decoder = Decoder(channel, language, beam=4)
    sentences = [rng.integers(0, WORDS, n) for n in rng.integers(1, 40, 300)]
    together = decoder.sentence(released(*sentences))
    alone = [decoder.sentence(released(each)) for each in sentences]
    assert together.tolist() == np.concatenate(alone).tolist()
    assert together.tolist() == decoder.sentence(released(*sentences)).tolist()


def test_outputs_that_tell_the_same_are_read_the_same(language, channel):
    decoder = Decoder(channel, language)
    assert (
        decoder.sentence(released([4, 0, 4])).tolist()
        == decoder.sentence(released([5, 0, 5])).tolist()
    )


def test_codes_stay_and_cut_sentences(language, channel):
    decoder = Decoder(channel, language)
    found = decoder.sentence(Released(np.array([3, 1, -1, 2, 0]), np.zeros(5, bool)))
    assert found[2] == -1
    assert found[:2].tolist() == decoder.sentence(released([3, 1])).tolist()
    assert found[3:].tolist() == decoder.sentence(released([2, 0])).tolist()
    assert decoder.words(released([-1, -3])).tolist() == [-1, -3]


def test_nothing_and_a_text_without_an_end(language, channel):
    decoder = Decoder(channel, language)
    none = Released(np.zeros(0, np.int32), np.zeros(0, bool))
    assert len(decoder.sentence(none)) == len(decoder.words(none)) == 0
    ids = np.random.default_rng(5).integers(0, WORDS, 10_007).astype(np.int32)
    endless = Released(ids, np.zeros(len(ids), bool))
    _, lengths = endless.sentences()
    assert lengths.sum() == len(ids)
    assert lengths.max() == 100
    found = decoder.sentence(endless)
    assert found.min() >= 0
    assert found.max() < WORDS  # the unknown word is never printed


def test_words_that_may_not_be_read_are_not(language, channel):
    allowed = np.ones(ALL, dtype=bool)
    allowed[[0, WORDS]] = False
    decoder = Decoder(channel, language, printable=allowed)
    ids = np.random.default_rng(6).integers(0, WORDS, 400)
    assert 0 not in decoder.sentence(released(*np.split(ids, 40)))
    assert 0 not in decoder.words(released(ids))


def test_a_word_that_stands_for_none_that_may_be_read_stays(language, channel):
    only = dataclasses.replace(channel, log_law=channel.log_law.copy())
    only.log_law[2, :WORDS] = -np.inf  # nothing but the unknown word
    decoder = Decoder(only, language)
    seen = released([2, 2, 0], [2])
    rng = np.random.default_rng(8)
    for found in (decoder.words(seen), decoder.sentence(seen), decoder.draw(seen, rng)):
        assert found[[0, 1, 3]].tolist() == [2, 2, 2]


def test_there_is_no_room_for_an_input():
    assert [field.name for field in dataclasses.fields(Released)] == ["ids", "ends"]
    with pytest.raises(InvalidParameterError):
        Released(np.zeros(3, np.int32), np.zeros(2, bool))


@pytest.mark.parametrize("room", [1, 3, 100])
def test_pairs_that_come_again_are_looked_up_once_while_there_is_room(
    language, channel, monkeypatch, room
):
    one = 4 * channel.candidates.shape[1] ** 2  # bytes for a pair of observations
    monkeypatch.setattr(book_module, "_KEPT_BYTES", room * one)
    looked_up, look_up = [], Tables.pair_scores

    def counted(self, left, right):
        looked_up.append(len(left))
        return look_up(self, left, right)

    monkeypatch.setattr(Tables, "pair_scores", counted)
    book = Book(channel, language)
    pairs = np.array([(0, 1), (1, 2), (2, 3), (3, 4), (0, 1), (4, 0)]).T
    first = [book.scores(*pairs[:, :2]), book.scores(*pairs), book.scores(*pairs)]
    kept = [min(room, 2), min(room, 5)]
    assert looked_up == [n for n in (2, 5 - kept[0], 5 - kept[1]) if n]
    np.testing.assert_array_equal(first[1], first[2])
    np.testing.assert_array_equal(first[0], first[1][:2])
    np.testing.assert_array_equal(first[1], Book(channel, language).scores(*pairs))


def test_a_reader_does_not_wait_while_another_keeps_its_pairs(language, channel):
    book, pair = Book(channel, language), (np.array([0]), np.array([1]))
    found = []
    with book._lock:
        reader = threading.Thread(target=lambda: found.append(book.scores(*pair)))
        reader.start()
        reader.join(20)
        assert not reader.is_alive()
    np.testing.assert_array_equal(found[0], book.scores(*pair))


def test_sums_of_scores_are_exact():
    logs = round_to_steps(np.log(np.random.default_rng(7).random((300, 200))))
    forwards = np.cumsum(logs, axis=0, dtype=np.float32)[-1]
    backwards = np.cumsum(logs[::-1], axis=0, dtype=np.float32)[-1]
    assert (forwards == backwards).all()


def test_candidates_are_kept_by_the_best_sentence_through_them(language, law, channel):
    outputs = [3, 1, 4, 0]
    book = Book(channel, language)
    seen = channel.observation[outputs]
    lattice = Lattice.of(book, book.law, np.array([len(outputs)]), seen)
    value = lattice._best_through()
    end = language.boundary
    best = np.full((len(outputs), ALL), -np.inf)
    for inputs in itertools.product(range(ALL), repeat=len(outputs)):
        chain = np.array([end, *inputs, end])
        pairs = language.pair_log_prob(chain[:-1], chain[1:]).sum()
        score = pairs + np.log(law[list(inputs), outputs]).sum()
        for place, word in enumerate(inputs):
            best[place, word] = max(best[place, word], score)
    assert value[1:-1] == pytest.approx(best, abs=0.02)
    kept = lattice.prune(3)
    for place in range(len(outputs)):
        expected = set(np.argsort(-best[place])[:3].tolist())
        assert set(kept.words[place + 1].tolist()) == expected
