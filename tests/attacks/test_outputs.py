"""What outputs tell, against tables of the law; and attacks that are sums of it."""

import numpy as np
import pytest
from tests.attacks import small

import mondegreen as mg
from mondegreen.attacks.bayes import learn_guesses, single_word
from mondegreen.attacks.categories import categories, category_sets
from mondegreen.attacks.information import mutual_information
from mondegreen.attacks.outputs import compute_outputs
from mondegreen.attacks.worst_words import content_words, worst_words
from mondegreen.calibration.guess import vulnerability
from mondegreen.scores.risk import bayes_risk, frequency_prior, uniform_prior

SETS = [np.array([1, 4, 9], dtype=np.int32), np.array([20, 21], dtype=np.int32)]


@pytest.fixture(params=small.states().items(), ids=lambda pair: pair[0])
def state(request):
    return request.param[1]


def test_outputs_are_those_of_the_table(state):
    law, priors = small.law_of(state), [small.prior_of(), small.prior_of(7)]
    for prior, found in zip(priors, compute_outputs(state, priors, SETS), strict=True):
        joint = prior[:, None] * law
        np.testing.assert_allclose(found.best, joint.max(axis=0), rtol=1e-9)
        best = joint[found.guess, np.arange(small.SIZE)]
        np.testing.assert_allclose(best, joint.max(axis=0), rtol=1e-9)
        np.testing.assert_allclose(found.total, joint.sum(axis=0), rtol=1e-9)
        for members, mass in zip(SETS, found.of_sets, strict=True):
            np.testing.assert_allclose(mass, joint[members].sum(axis=0), rtol=1e-9)
        assert found.noise == pytest.approx(-(joint * np.log(law)).sum())
        assert found.success == pytest.approx(1 - bayes_risk(law, prior))
        right = np.array(
            [law[word, found.guess == word].sum() for word in range(small.SIZE + 1)]
        )
        np.testing.assert_allclose(found.compute_recovered(), right, rtol=1e-9)


def test_a_tree_tells_what_calibration_says():
    state, prior = small.states()["tree"], small.prior_of()
    (found,) = compute_outputs(state, [prior])
    assert found.success == pytest.approx(vulnerability(state.law, prior))


def test_mutual_information_is_that_of_the_table(state):
    prior, law = small.prior_of(), small.law_of(state)
    joint = prior[:, None] * law
    (found,) = compute_outputs(state, [prior])
    expected = (joint * np.log(joint / np.outer(prior, joint.sum(axis=0)))).sum()
    attack = mutual_information(found, found, 10)
    assert attack.value == pytest.approx(expected)
    assert attack.details["entropy"] == pytest.approx(-(prior * np.log(prior)).sum())


def test_total_variation_is_that_of_the_table(state):
    prior, law = small.prior_of(), small.law_of(state)
    sets = dict(zip("ab", SETS, strict=True))
    (found,) = compute_outputs(state, [prior], list(sets.values()))
    attack = categories(found, sets, np.arange(small.SIZE))
    tvs = {}
    for name, members in sets.items():
        inside = np.isin(np.arange(small.SIZE + 1), members)
        first, second = (
            prior[some] @ law[some] / prior[some].sum() for some in (inside, ~inside)
        )
        tvs[name] = np.abs(first - second).sum() / 2
        told = attack.details["sets"][name]
        assert told["tv"] == pytest.approx(tvs[name])
        beliefs = prior[inside] @ law[inside] / (prior @ law)
        assert told["largest_belief"] == pytest.approx(beliefs.max())
        assert told["prior"] == pytest.approx(prior[inside].sum())
    assert attack.value == pytest.approx(max(tvs.values()))
    assert max(tvs, key=tvs.get) == attack.adversary[-1]


def public(state, prior=None, sets=()):
    prior = small.prior_of() if prior is None else prior
    return compute_outputs(state, [prior], sets)[0]


def test_without_noise_every_attack_on_a_word_succeeds():
    pairs = small.pairs()
    prior = frequency_prior(pairs.frequencies(small.SIZE + 1), 0.01)
    told = public(small.tree_state(small.EXACT), prior, SETS)
    assert single_word(pairs, told, told, "all").value > 0.9999
    assert worst_words(pairs, small.space(), told).value > 0.9999
    sets = dict(zip("ab", SETS, strict=True))
    assert categories(told, sets, pairs.inputs).value > 0.9999
    found = mutual_information(told, told, 1)
    assert found.value == pytest.approx(found.details["entropy"], rel=1e-4)


def test_without_information_every_attack_on_a_word_is_at_chance():
    pairs = small.pairs()
    prior = frequency_prior(pairs.frequencies(small.SIZE + 1), 0.01)
    told = public(small.tree_state(small.NOTHING), prior, SETS)
    alone = single_word(pairs, told, told, "all")
    assert alone.value == pytest.approx(alone.chance)
    worst = worst_words(pairs, small.space(), told)
    assert worst.value == pytest.approx(worst.chance)
    sets = dict(zip("ab", SETS, strict=True))
    assert categories(told, sets, pairs.inputs).value == pytest.approx(0, abs=1e-12)
    assert mutual_information(told, told, 1).value == pytest.approx(0, abs=1e-9)


def test_the_single_word_is_what_draws_show():
    state, pairs = small.states()["exponential"], small.pairs(400)
    told = public(state)
    found = single_word(pairs, told, told, "all")
    drawn = pairs.sample(state, np.random.default_rng(0))
    hits = (told.guess[drawn.outputs] == drawn.inputs).mean()
    assert abs(hits - found.value) < 0.03
    assert found.low <= found.value <= found.high


def test_guesses_that_are_learned_are_nearly_as_good_as_the_best():
    state = mg.mechanism("laplace", epsilon=3.0).prepare(small.space())
    closed = small.states()["tree"]
    prior, law = small.prior_of(), small.law_of(closed)
    guess = learn_guesses(closed, prior, np.random.default_rng(0))
    right = (prior[guess] * law[guess, np.arange(small.SIZE)]).sum()
    assert right > 0.999 * public(closed).success
    assert learn_guesses(state, prior, np.random.default_rng(0)).shape == (24,)


def test_a_word_that_owns_its_group_is_the_worst():
    counts = np.ones(small.SIZE + 1)
    counts[4] = 300.0
    told = public(small.tree_state(), frequency_prior(counts, 0.0))
    found = worst_words(small.pairs(), small.space(), told)
    assert found.details["words"][0][0] == small.WORDS[4]
    assert found.value == pytest.approx(told.compute_recovered()[4])
    quiet = worst_words(small.pairs(), small.space(), told, named=False)
    assert quiet.details["words"] == []


def test_function_words_are_no_content():
    space = mg.Space.from_arrays("s", ["the", "london", "of"], [[0], [1], [2]])
    assert content_words(space).tolist() == [False, True, False]


def test_lists_hold_words_of_their_kind():
    space = mg.load_space()
    sets = category_sets(space)
    for name, word in [
        ("illness", "cancer"),
        ("city", "london"),
        ("religion", "muslim"),
        ("sexuality", "gay"),
    ]:
        assert space.index[word] in sets[name]
    assert space.index["table"] not in np.concatenate(list(sets.values()))


def test_what_nobody_expects_is_left_out():
    prior = uniform_prior(small.SIZE)
    prior[20:22] = 0.0
    sets = dict(zip("ab", SETS, strict=True))
    told = public(small.states()["tree"], prior / prior.sum(), SETS)
    assert list(categories(told, sets, np.array([1])).details["sets"]) == ["a"]
