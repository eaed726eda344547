"""The experiments of the Vickrey paper, on made-up words whose ends are known."""

import itertools

import numpy as np
import pytest

pytest.importorskip("torch")

import mondegreen as mg
from mondegreen.errors import InvalidParameterError
from mondegreen.mechanisms import mechanism
from mondegreen.scores.held_out import measure_held_out_errors, table_of_runs
from mondegreen_experiments.bench import Labelled
from mondegreen_experiments.choices import Choices
from mondegreen_experiments.measures import neighbours
from mondegreen_experiments.measures.neighbours import SETTINGS, Choice, Neighbours
from mondegreen_experiments.measures.selection import printed_selection
from mondegreen_experiments.papers import recipe_named
from mondegreen_experiments.papers.vickrey import claims, lexicon, selection, utility

SIZE = 60


class MadeUp:
    """Words of opinion far from each other; texts whose class their words tell."""

    choices = Choices()

    def __init__(self, folder=None):
        vectors = np.random.default_rng(0).normal(size=(SIZE, 6)).astype(np.float32)
        self.words = [f"w{i}" for i in range(SIZE)]
        self.made = mg.Space.from_arrays("made-up", self.words, vectors)
        self.folder = folder
        if folder is not None:
            (folder / "opinion_lexicon").mkdir()
            for name, first in (("positive", 0), ("negative", 1)):
                lines = ["; a comment", *self.words[first::2], "elsewhere"]
                path = folder / "opinion_lexicon" / f"{name}-words.txt"
                path.write_text("\n".join(lines) + "\n")

    def path(self, name):
        return self.folder / name

    def space(self, name):
        return self.made

    def vectors(self, name):
        return self.made.words, self.made.vectors

    def labelled(self, name, split, space="glove-300", most=0):
        rng = np.random.default_rng([len(name), *map(ord, split)])
        labels = rng.integers(0, 2, most)
        words = [rng.integers(0, SIZE, 12) // 2 * 2 + label for label in labels]
        return Labelled([each.astype(np.int32) for each in words], labels)


@pytest.fixture
def bench(tmp_path):
    return MadeUp(tmp_path)


def near(bench, epsilon, runs=400, noise="Laplace", k=5):
    inputs = np.tile(np.arange(SIZE, dtype=np.int32), runs)
    rng = np.random.default_rng(3)
    return Neighbours.of(bench.made, noise, epsilon, inputs, rng, k=k)


@pytest.mark.parametrize("law", sorted(SETTINGS))
def test_one_search_has_the_law_of_each_mechanism(bench, law):
    noise, choice = SETTINGS[law]
    found = near(bench, 4.0, noise=noise)
    words, chances = found.chances(choice)
    assert chances.sum(axis=1) == pytest.approx(1)
    state = choice.mechanism(noise, 4.0).prepare(bench.made)
    outputs = state.sample(found.inputs, np.random.default_rng(4))
    drawn = found.released(choice, np.random.default_rng(5))
    every = np.arange(SIZE)
    expected = np.bincount(words.ravel(), chances.ravel(), SIZE) / len(outputs)
    stays = float(found.alike(choice, every).mean())
    for sample in (outputs, drawn):
        assert (sample == found.inputs).mean() == pytest.approx(stays, abs=0.015)
        shares = np.bincount(sample, minlength=SIZE) / len(sample)
        assert np.abs(shares - expected).max() < 0.005


@pytest.mark.parametrize("noise", ["Laplace", "Mahalanobis"])
def test_noise_is_shared_by_epsilons_and_neighbours_are_the_nearest(bench, noise):
    inputs = np.tile(np.arange(SIZE, dtype=np.int32)[::-1], 3)
    rng = np.random.default_rng(2)
    found = Neighbours.at_each(bench.made, noise, (2.0, 9.0), inputs, rng, k=3)
    made = SETTINGS["Laplace" if noise == "Laplace" else noise][1].mechanism(noise, 1.0)
    order = np.argsort(inputs, kind="stable")
    drawn = np.empty((len(inputs), bench.made.dim))
    drawn[order] = made.prepare(bench.made).draw_noise(
        np.random.default_rng(2), drawn.shape
    )
    for epsilon, near in found.items():
        points = bench.made.vectors[inputs] + drawn / epsilon
        gaps = np.linalg.norm(points[:, None] - bench.made.vectors[None], axis=2)
        assert (near.words == np.argsort(gaps, axis=1)[:, :3]).all()
        assert near.distances == pytest.approx(np.sort(gaps, axis=1)[:, :3])
        assert (near.inputs == inputs).all()


@pytest.mark.parametrize("law", ["Laplace", "t=0.5", "t=0.5 on Mahalanobis"])
def test_shared_noise_has_the_law_of_its_own_at_each_epsilon(bench, law):
    noise, choice = SETTINGS[law]
    inputs = np.tile(np.arange(SIZE, dtype=np.int32), 400)
    rng = np.random.default_rng(8)
    shared = Neighbours.at_each(bench.made, noise, (1.0, 4.0), inputs, rng)
    everyone = np.arange(SIZE)
    for epsilon, found in shared.items():
        own = near(bench, epsilon, noise=noise)
        both = [float(each.alike(choice, everyone).mean()) for each in (found, own)]
        assert both[0] == pytest.approx(both[1], abs=0.015)
        assert found.errors(choice) == pytest.approx(own.errors(choice), abs=0.02)


def test_the_printed_form_is_not_the_sound_one_and_promises_nothing(bench):
    found = near(bench, 4.0)
    every = np.arange(SIZE)
    printed = found.alike(SETTINGS["printed, t=0.5"][1], every)
    assert (printed == 0).all()
    assert found.alike(SETTINGS["t=0.5"][1], every).mean() > 0.1
    made = SETTINGS["printed, t=0.5"][1].mechanism("Laplace", 4.0)
    assert not made.prepare(bench.made).guarantee.is_proved


def test_a_prior_weighs_the_inputs(bench):
    found, choice = near(bench, 1e-3), Choice(0.5)
    prior = np.full(SIZE, 0.1 / (SIZE - 1))
    prior[7] = 0.9
    assert found.errors(choice)[1] > 0.9
    assert found.errors(choice, prior)[1] == pytest.approx(0.1, abs=0.03)


def test_errors_are_those_of_the_outputs_that_are_drawn(bench):
    found, choice = near(bench, 5.0), Choice(0.5)
    drawn = found.released(choice, np.random.default_rng(1))
    halves = np.array_split(np.arange(len(drawn)), 2)
    tables = [
        table_of_runs(found.inputs[h], drawn[h], np.ones(len(h)), SIZE) for h in halves
    ]
    assert found.errors(choice) == pytest.approx(
        measure_held_out_errors(*tables), abs=0.02
    )


def test_an_adversary_learns_of_every_word_that_he_is_asked(bench):
    with pytest.raises(InvalidParameterError, match="both halves"):
        near(bench, 5.0, runs=1).errors(Choice(0.5))


def point(recipe, **changed):
    return {**recipe.points["quick"][0], **changed}


def test_words_of_opinion_stay_at_large_epsilon_and_are_lost_near_zero(bench):
    assert lexicon.opinions(bench, "glove-300")[0].vocab_size == SIZE
    stays, lost, second = (
        lexicon.measure(bench, point(lexicon.RECIPE, law=law, epsilon=e, runs=40), 0)
        for law, e in (("Laplace", 1e4), ("Laplace", 1e-3), ("t=1", 1e4))
    )
    assert (stays["e_m"], stays["e_bayes"], stays["l_m"]) == (0, 0, 0)
    assert stays["n_w"] == 1
    assert lost["e_m"] > 0.95
    assert lost["e_bayes"] > 0.9
    assert lost["l_m"] == pytest.approx(0.5, abs=0.1)
    assert second["n_w"] == 0
    half = point(lexicon.RECIPE, law="t=0.5", epsilon=1e6, runs=2)
    assert lexicon.measure(bench, half, 0)["n_w"] > 0.99  # t = 1 alone has a floor
    assert second["e_bayes"] < 0.6  # the neighbour that is always taken tells
    assert stays["promise"] == "10000 per unit"
    printed = point(lexicon.RECIPE, law="printed, t=0.5", epsilon=1e-3)
    assert lexicon.measure(bench, printed, 0)["promise"] == "infinite loss"


def test_laws_that_share_their_noise_are_searched_once(bench, monkeypatch):
    calls, true = [], neighbours.nearest_words
    monkeypatch.setattr(
        neighbours, "nearest_words", lambda *a: calls.append(1) or true(*a)
    )
    for law in ("Laplace", "t=0.5", "neighbor 3", "printed, t=0.5"):
        lexicon.measure(bench, point(lexicon.RECIPE, law=law, epsilon=3.5, runs=2), 0)
    assert len(calls) == 1


def test_the_printed_loop_takes_one_epsilon_and_may_not_end():
    asked = []

    def loss(t, epsilon):
        asked.append(epsilon)
        return 0.3 * t + 1 / epsilon

    def error(t, epsilon):
        return t

    ts = (0.0, 0.25, 0.5)
    assert printed_selection(loss, error, 0.21, ts, (1, 99)) == (0.25, 8)
    assert max(asked) == 8
    with_floor = lambda t, epsilon: 0.3  # noqa: E731
    assert printed_selection(with_floor, error, 0.2, ts, (1, 99)) is None


def test_the_safe_choice_fits_and_the_printed_form_does_not_end(bench):
    sizes = {"looks": 20, "checks": 60, "budget": 0.25}
    safe, sound, printed = (
        selection.measure(bench, point(selection.RECIPE, by=by, **sizes), 0)
        for by in ("safe", "printed, of the sound form", "printed, of the printed form")
    )
    assert safe["ended"] == safe["fits"] == sound["ended"] == 1
    assert safe["l_m"] <= 0.25
    assert safe["e_m"] >= sound["e_m"] - 0.02
    assert printed["ended"] == 0  # without noise it loses 0.4 here
    assert printed["l_m"] > 0.25


SMALL = {
    "train": 160,
    "valid": 40,
    "test": 160,
    "words": 12,
    "vocabulary": SIZE,
    "inputs": SIZE,
    "runs": 20,
}


@pytest.mark.parametrize("model", ["bag", "bilstm"])
def test_a_classifier_loses_nothing_without_noise_and_all_near_zero(model):
    bench = MadeUp()
    none, clear, lost = (
        utility.measure(
            bench,
            {"data": "tweets", "model": model, "law": law, "epsilon": e, **SMALL},
            0,
        )
        for law, e in (("none", 0), ("Laplace", 1e4), ("Laplace", 1e-3))
    )
    assert none["loss"] < 0.1
    assert clear == none
    assert (clear["e_m"], clear["unchanged"]) == (0, 1)
    assert 0.35 < lost["loss"] < 0.65
    assert lost["e_m"] > 0.9
    assert lost["e_bayes"] > 0.9
    assert 0.4 < none["chance"] <= 0.5


def test_noise_is_drawn_once_for_all_that_shares_it(monkeypatch):
    bench, calls, true = MadeUp(), [], Neighbours.at_each
    monkeypatch.setattr(
        Neighbours, "at_each", lambda *a, **k: calls.append(a[2]) or true(*a, **k)
    )
    monkeypatch.setattr(utility, "_loss", lambda *a: 0.0)
    sizes = {**SMALL, "epsilons": "3 6"}
    found = {
        (data, law, epsilon): utility.measure(
            bench,
            {"data": data, "model": "bag", "law": law, "epsilon": epsilon, **sizes},
            0,
        )
        for data in ("tweets", "films too")
        for law in ("Laplace", "t=0.5", "t=1")
        for epsilon in (3, 6)
    }
    assert calls == [(3.0, 6.0)] * 3  # of the words of each data set, and of all words
    for data in ("tweets", "films too"):
        assert found[data, "Laplace", 3]["e_m"] > found[data, "Laplace", 6]["e_m"]
    alone = {"data": "tweets", "model": "bag", "law": "Laplace", "epsilon": 3, **SMALL}
    assert utility.measure(bench, alone, 0)["e_m"] == pytest.approx(
        found["tweets", "Laplace", 3]["e_m"], abs=0.05
    )
    assert calls[3:] == [(3.0,)] * 2


def test_runs_that_share_noise_follow_each_other():
    recipe = utility.RECIPE
    assert recipe.by_seed
    for scale, points in recipe.points.items():
        asked = [
            SETTINGS[p["law"]][0] + str(p.get("epsilons", p["epsilon"]))
            for p in points
            if p["law"] != "none"
        ]
        groups = [name for name, _ in itertools.groupby(asked)]
        assert len(groups) == len(set(groups)), scale
    full = recipe.points["full"]
    assert {p["runs"] * recipe.seeds["full"] for p in full} == {100}


def test_words_beyond_the_vocabulary_are_one_unknown_word():
    bench = MadeUp()
    few = {"data": "tweets", "model": "bag", "epsilon": 3, **SMALL, "vocabulary": 30}
    texts = utility._texts(bench, few)
    assert max(each.flat.max() for each in texts.values()) == 30
    found = utility.measure(bench, {**few, "law": "t=0.5"}, 0)
    assert found["unchanged"] < 0.5  # the unknown word is no output
    prior = utility._prior(texts["train"].flat, {**few, "inputs": 10})
    assert prior.sum() == pytest.approx(1)
    assert len(prior) == 30
    counts = np.bincount(texts["train"].flat, minlength=31)[:30]
    assert np.count_nonzero(prior) >= 10  # with those as frequent as the tenth
    assert counts[prior > 0].min() > counts[prior == 0].max()


@pytest.mark.parametrize(
    "name", ["vickrey-lexicon", "vickrey-selection", "vickrey-utility"]
)
def test_each_point_is_known_and_each_published_number_has_a_point(name):
    recipe = recipe_named(name)
    assert recipe.name == name
    for scale, points in recipe.points.items():
        assert len({str(sorted(p.items())) for p in points}) == len(points), scale
        known = {str(p["law"]) for p in points if "law" in p} - {"none"}
        assert known <= set(SETTINGS)
    every = [*recipe.points["quick"], *recipe.points["full"]]
    assert all(dict(each.point) in every for each in recipe.published)
    assert all(each.untold for each in recipe.published)


def table_of(values):
    """Points of the lexicon by law and epsilon."""
    names = ("e_m", "e_bayes", "l_m", "n_w")
    return [
        (
            {"law": law, "vectors": "glove-300", "epsilon": epsilon},
            dict(zip(names, found, strict=False)),
        )
        for (law, epsilon), found in values.items()
    ]


def test_the_claims_can_fail():
    order = claims.ordered(("Laplace", "t=0.5"))
    good = {("Laplace", 5): [0.5], ("t=0.5", 5): [0.8]}
    assert order(table_of(good)) > 0
    assert order(table_of({**good, ("t=0.5", 5): [0.3]})) < 0
    falling = {("Laplace", 5): [0.9], ("Laplace", 9): [0.1]}
    assert claims.falls("e_m")(table_of(falling)) > 0
    assert claims.falls("e_m")(table_of({**falling, ("Laplace", 9): [0.95]})) < 0
    losses = {("t=0.25", 9): 0.01, ("t=1", 9): 0.05}
    printed = {(f"printed, {law}", e): x for (law, e), x in losses.items()}
    both = {k: [0, 0, v] for k, v in {**losses, **printed}.items()}
    assert claims._not_as_printed(table_of(both)) < 0
    both["printed, t=0.25", 9] = [0, 0, 0.04]
    assert claims._not_as_printed(table_of(both)) > 0
    laws = ("Laplace", *(f"neighbor {k}" for k in (2, 3, 4, 5)))
    for values, holds in (([0, 5, 7, 8, 8.5], True), ([0, 1, 7, 8, 9], False)):
        rows = zip(laws, values, strict=True)
        table = table_of({(law, 9): [x / 10] for law, x in rows})
        assert (claims.less_and_less(laws)(table) >= 0) is holds


def test_half_the_loss_is_that_of_laplace_at_the_same_error():
    laplace = {("Laplace", 5): [0.9, 0.9, 0.4], ("Laplace", 9): [0.1, 0.1, 0.0]}
    gain = claims.half_the_loss("e_m", "l_m")
    assert gain(table_of({**laplace, ("t=0.5", 9): [0.5, 0.5, 0.05]})) > 0
    assert gain(table_of({**laplace, ("t=0.5", 9): [0.5, 0.5, 0.15]})) < 0
    # What is lost without noise does not count.
    noisy = {**laplace, ("none", 0): [0.0, 0.0, 0.1]}
    assert gain(table_of({**noisy, ("t=0.5", 9): [0.5, 0.5, 0.11]})) > 0
    assert gain(table_of({**noisy, ("t=0.5", 9): [0.5, 0.5, 0.19]})) < 0


def test_more_is_saved_where_the_best_t_is_farther_below_laplace():
    def part(data, model, loss):
        rows = [
            ("none", 0, 0.0, 0.1),
            ("Laplace", 5, 0.8, 0.5),
            ("t=0.5", 9, 0.4, loss),
        ]
        return [
            (
                {"data": data, "model": model, "law": law, "epsilon": e},
                {"e_m": x, "loss": y},
            )
            for law, e, x, y in rows
        ]

    more = claims.more_saved("films", "tweets")
    films, tweets = part("films", "bilstm", 0.15), part("tweets", "bilstm", 0.25)
    other = part("tweets", "bag", 0.0)  # not measured on films
    assert more([*films, *tweets, *other]) == pytest.approx(0.1)
    assert claims.more_saved("tweets", "films")([*films, *tweets]) < 0
    assert more([*films, *tweets, *other, *part("films", "bag", 0.2)]) < 0


def test_a_test_on_each_part_fails_where_one_part_does():
    parts = [({"data": d, "law": "x"}, {"y": y}) for d, y in (("a", 1), ("b", 2))]
    below = claims.each(lambda table: 1.5 - max(m["y"] for _, m in table), "data")
    assert below(parts[:1]) == 0.5
    assert below(parts) == -0.5


def test_mahalanobis_noise_is_that_of_the_mechanism(bench):
    made = SETTINGS["Mahalanobis"][1].mechanism("Mahalanobis", 4.0)
    state = made.prepare(bench.made)
    other = mechanism("mahalanobis", epsilon=4.0, lambda_=0.2).prepare(bench.made)
    ids = np.repeat(np.arange(SIZE, dtype=np.int32), 200)
    shares = [
        (each.sample(ids, np.random.default_rng(0)) == ids).mean()
        for each in (state, other)
    ]
    assert shares[0] == pytest.approx(shares[1], abs=0.02)
