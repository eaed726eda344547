"""Readers of sentences: against all sentences there are, at both ends, as targets."""

import itertools

import numpy as np
import pytest
from tests.attacks import small

import mondegreen as mg
from mondegreen.attacks.adversary import Adversary, read, success_against, within
from mondegreen.attacks.attack import Attack
from mondegreen.attacks.outputs import compute_outputs
from mondegreen.attacks.pairs import Pairs, build_pairs
from mondegreen.attacks.reader import (
    Knowledge,
    SentenceReader,
    add_way,
    learning_reader,
    reader,
)
from mondegreen.attacks.worst_words import worst_words
from mondegreen.calibration.evaluate import Evaluator, Setting
from mondegreen.calibration.plan import Plan
from mondegreen.calibration.score_bounds import Effort
from mondegreen.calibration.targets import parse_target
from mondegreen.decode.channel import build_channel
from mondegreen.errors import ConfigurationError, LanguageError
from mondegreen.language.build import build_language
from mondegreen.mechanisms.selection.tree import Tree
from mondegreen.text.lookup import Lookup

SIZE = small.SIZE


def chained(count, length=6, seed=0):
    """Texts in which the next word is mostly that after the last one."""
    rng, texts = np.random.default_rng(seed), []
    for _ in range(count):
        ids = [int(rng.integers(SIZE))]
        while len(ids) < length:
            ids.append((ids[-1] + (1 if rng.random() < 0.8 else 5)) % SIZE)
        texts.append(" ".join(small.WORDS[i] for i in ids) + ".")
    return texts


@pytest.fixture(scope="module")
def language():
    return build_language([chained(600)], small.space())


@pytest.fixture(scope="module")
def pairs():
    return build_pairs(chained(150, seed=9), Lookup(small.space()))


def test_a_reader_guesses_the_likeliest_word_of_all_sentences():
    points = np.random.default_rng(0).normal(size=(5, 3))
    space = mg.Space.from_arrays("five", ["ba", "be", "bi", "bo", "bu"], points)
    texts = ["ba be bi.", "be bi bo bu.", "bo bu ba be bi.", "bu bu ba.", "unheard ba."]
    model = build_language([texts * 9], space)
    state = mg.mechanism("exponential", epsilon=1.5).prepare(space)
    law = np.exp(state.log_prob(np.arange(6, dtype=np.int32)))
    found = SentenceReader(build_channel(state, model.frequencies(), 24), model)
    ends = np.array([False, False, True])
    for released in itertools.product(range(5), repeat=3):
        sentences = np.array(list(itertools.product(range(6), repeat=3)), np.int32)
        words = model.sentence_log_probs(sentences.ravel(), np.tile(ends, 6**3))
        joint = np.exp(words) * law[sentences, released].prod(axis=1)
        guesses = found.guesses(np.array(released, dtype=np.int32), ends)
        for place in range(3):
            beliefs = np.bincount(sentences[:, place], joint, 6)
            # Scores are rounded to a thousandth of a nat.
            assert beliefs[guesses[place]] > 0.99 * beliefs.max()


@pytest.mark.slow("attacks")
def test_a_reader_recovers_more_than_who_sees_single_words(language, pairs):
    state = small.tree_state([0.2, 0.3, 0.2, 0.3])
    found = read(state, pairs, language, np.random.default_rng(0))
    alone = found.details["readers"]["how frequent words are"]
    assert found.value > alone + 0.2
    assert found.low <= found.value <= found.high
    again = read(state, pairs, language, np.random.default_rng(0))
    assert again.value == found.value


def test_a_limit_on_the_reader_counts_who_learns_from_the_release():
    weak = Attack("reader", "reads", 0.2, 0.15, 0.25, 0.1, 90, details={"readers": {}})
    strong = Attack("learning_reader", "learns", 0.6, 0.5, 0.7, 0.1, 90)
    found = add_way(weak, strong)
    assert (found.name, found.value) == ("reader", 0.2)
    assert found.say_excess(0.5) == "is 0.6 by learning from the release"
    said = found.say_excess(0.65)
    assert said == "is 0.6 and may be up to 0.7 by learning from the release"
    assert found.say_excess(0.7) is None
    assert weak.say_excess(0.5) is None


def test_without_noise_a_reader_succeeds_and_without_information_is_at_chance(
    language, pairs
):
    clear = read(small.tree_state(small.EXACT), pairs, language, rng_of())
    assert clear.value > 0.99
    blind = read(small.tree_state(small.NOTHING), pairs, language, rng_of())
    assert abs(blind.value - blind.chance) < 0.05


def rng_of(seed=0):
    return np.random.default_rng(seed)


def test_knowledge_of_other_words_is_refused(language):
    other = mg.Space.from_arrays("other", ["x", "y"], [[0, 0], [1, 1]])
    state = mg.mechanism("exponential", epsilon=1.0).prepare(other)
    with pytest.raises(LanguageError, match="words of space"):
        Knowledge.of_language(state, language)


@pytest.mark.slow("an attack")
def test_an_adversary_measures_what_is_asked(language, pairs):
    state = small.tree_state()
    both = Adversary(pairs, language).scores(state, 10, 0, 0.95)
    assert both.keys() == {"reader", "worst_word"}
    knowledge = Knowledge.of_language(state, language)
    (told,) = compute_outputs(state, [knowledge.prior])
    assert both["worst_word"][0] == worst_words(pairs, small.space(), told).value
    laplace = mg.mechanism("laplace", epsilon=9.0).prepare(small.space())
    assert Adversary(pairs, language).scores(laplace, 10, 0, 0.95).keys() == {"reader"}
    one = Adversary(pairs, language, ["worst_word"])
    assert one.scores(state, 10, 0, 0.95).keys() == {"worst_word"}
    assert one.digest != Adversary(pairs, language).digest
    quick = Adversary(pairs, language, ["reader"], at_once=True)
    assert quick.scores(state, 10, 0, 0.95).keys() == {"reader"}
    slow = mg.mechanism("exponential", epsilon=2.0).prepare(small.space())
    assert not quick.scores(slow, 10, 0, 0.95)
    assert one.digest != Adversary(pairs.every(2), language, ["worst_word"]).digest


def test_surer_intervals_are_wider():
    found = Attack("reader", "", 0.5, 0.4, 0.6, 0.1, 10)
    near, far = within(found, 0.95), within(found, 0.99)
    assert near == pytest.approx((0.4, 0.6), abs=1e-4)
    assert far[0] < near[0] < near[1] < far[1]


@pytest.mark.slow("a search with some twenty measurements")
@pytest.mark.parametrize("wanted", [0.35, 0.6])
def test_a_target_of_a_reader_holds_where_it_is_measured_anew(
    language, pairs, wanted, tmp_path, monkeypatch
):
    monkeypatch.setenv("MONDEGREEN_HOME", str(tmp_path))
    space, effort = small.space(), Effort(96, 24, 64, 2000)
    priors = {"sample": small.prior_of()}
    evaluator = Evaluator(
        space, priors, adversary=Adversary(pairs, language, ["reader"]), effort=effort
    )
    targets = [parse_target(f"reader={wanted}")]
    plan = Plan(evaluator, [Setting("exponential")], targets, "sample", print, print)
    (row,) = plan.rows()
    _, high = row.chosen.scores["reader"]
    assert high <= wanted
    state = mg.mechanism("exponential", epsilon=row.chosen.epsilon).prepare(space)
    found = [read(state, pairs, language, rng_of(100 + i)).value for i in range(5)]
    assert wanted - 0.15 < np.mean(found) <= wanted


@pytest.mark.slow("a search")
def test_the_success_of_a_guess_is_found_for_a_reader(language, pairs):
    def prepared(success):
        stay = 1 - success
        return Tree(
            40.0, level_probabilities=(success, 0.0, 0.0, stay or 1e-12)
        ).prepare(small.space())

    found = success_against(0.5, prepared, pairs, language, 0.05)
    own = [read(prepared(found), pairs, language, rng_of(i)).value for i in range(5)]
    assert np.mean(own) == pytest.approx(0.5, abs=0.05)
    with pytest.raises(ConfigurationError, match="whatever comes out"):
        success_against(0.01, prepared, pairs, language, 0.05)


def test_some_texts_are_taken_from_all_over(pairs):
    part = pairs.some(300)
    assert isinstance(part, Pairs)
    assert 250 <= len(part.inputs) <= 350
    halves = pairs.every(2), pairs.every(2, 1)
    assert sum(half.texts for half in halves) == pairs.texts
    assert sum(len(half.inputs) for half in halves) == len(pairs.inputs)
    first = slice(pairs.starts[1], pairs.starts[2])
    np.testing.assert_array_equal(
        halves[1].inputs[: halves[1].counts[0]], pairs.inputs[first]
    )


def test_what_a_reader_gets_right_of_other_texts_is_its_chance():
    class Stubborn:
        def guesses(self, released, ends):
            return np.full(len(released), 3, dtype=np.int32)

    inputs = np.full(50, 3, dtype=np.int32)
    outputs = np.arange(50, dtype=np.int32) % small.SIZE
    ends = np.ones(50, dtype=bool)
    numbers = np.zeros(50, dtype=np.int64)
    pairs = Pairs(inputs, np.arange(51), ends, numbers, outputs)
    prior = np.full(small.SIZE + 1, 1 / (small.SIZE + 1))
    found = reader(pairs, {"nothing": Stubborn()}, prior)
    assert found.value == found.chance == 1.0


def test_a_law_that_is_not_closed_is_drawn_once_for_both_readers(
    language, pairs, tmp_path, monkeypatch
):
    monkeypatch.setenv("MONDEGREEN_HOME", str(tmp_path))
    state = mg.mechanism("laplace", epsilon=9.0).prepare(small.space())
    knowledge = Knowledge.of_language(state, language)
    drawn = pairs.sample(state, rng_of())
    assert learning_reader(drawn, knowledge) is not None
    assert len([*(tmp_path / "channels").iterdir()]) == 1
