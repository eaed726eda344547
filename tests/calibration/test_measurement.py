"""Measurements: closed forms, coverage of intervals, and the cache."""

import json
import math

import numpy as np
import pytest

import mondegreen as mg
from mondegreen.calibration import evaluate
from mondegreen.calibration.evaluate import Evaluator
from mondegreen.calibration.monte_carlo import monte_carlo
from mondegreen.calibration.score_bounds import Effort, Question, ScoreBounds, get_kept
from mondegreen.calibration.subsample import blind_loss, subsample
from mondegreen.scores.law import law_scores
from mondegreen.scores.risk import frequency_prior, uniform_prior

SMALL = Effort(rows=64, words=64, runs=16, draws=2_000)
EXPERIMENTS = 24
MISSES = 10
"""A share of 10 % gives more misses of 24 with a chance below 1e-5."""


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("MONDEGREEN_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def two():
    return mg.Space.from_arrays("ab", ["a", "b"], [[0.0], [3.0]])


@pytest.fixture(scope="module")
def cloud():
    vectors = np.random.default_rng(0).normal(size=(200, 3))
    return mg.Space.from_arrays("cloud", [f"w{i}" for i in range(200)], vectors)


def measure(mechanisms, space, priors, *, certify=True, progress=None, **options):
    evaluator = Evaluator(space, priors, **options)
    progress = progress or (lambda share: None)
    return evaluator.measure(mechanisms, certify=certify, progress=progress)


def priors_of(space):
    counts = np.arange(space.vocab_size + 1)[::-1]
    return {
        "uniform": uniform_prior(space.vocab_size),
        "sample": frequency_prior(counts),
    }


@pytest.mark.parametrize("off", [1 / 200, 0.1, 0.7, 1.3, 1.9, 2.5, 9.0, 200.0])
def test_the_transition_is_found_from_either_side(two, monkeypatch, off):
    asked = []

    def is_far(self, setting, epsilon):
        asked.append(epsilon)
        return epsilon < 5.0

    monkeypatch.setattr(Evaluator, "_is_far", is_far)
    monkeypatch.setattr(Evaluator, "_typical", lambda self, setting: 5.0 * off)
    found = Evaluator(two, priors_of(two)).transition(None)
    # Between two that differ by a factor of 2, halved five times, in the middle.
    assert abs(math.log(found / 5.0)) <= math.log(2) / 64 * (1 + 1e-9)
    assert len(asked) == 6 + math.ceil(abs(math.log2(off)))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_two_words_have_the_closed_form(two, epsilon):
    prior = np.array([0.8, 0.2])
    mechanism = mg.mechanism("exponential", epsilon=epsilon)
    priors = {"uniform": np.array([0.5, 0.5]), "sample": prior}
    (found,) = measure([mechanism], two, priors)
    rate = mechanism.prepare(two).law.rate
    stay = 1 / (1 + math.exp(-rate * 3))
    scores = found.scores
    assert found.is_exact
    assert all(low == high for low, high in scores.values())
    for name in ("n_w_mean", "n_w_95", "n_w_max", "n_w_uniform", "n_w_sample"):
        assert scores[name][0] == pytest.approx(stay)
    assert scores["bayes_risk_uniform"][0] == pytest.approx(1 - stay)
    # he guesses a for a; for b whichever is the more likely
    risk = 0.2 * (1 - stay) + min(0.8 * (1 - stay), 0.2 * stay)
    assert scores["bayes_risk_sample"][0] == pytest.approx(risk)
    assert scores["prior_risk_sample"][0] == pytest.approx(0.2)
    assert scores["utility_loss_sample"][0] == pytest.approx(3 * (1 - stay))
    assert scores["utility_loss_share_sample"][0] == pytest.approx(2 * (1 - stay))
    assert scores["distance_mean"][0] == pytest.approx(3 * (1 - stay))
    support = 1 if 1 - stay <= 0.05 else 2
    assert scores["s_w_min"] == (support, support)
    assert scores["certified_epsilon"][0] <= epsilon
    assert scores["worst_loss"][0] == pytest.approx(
        two.geometry.diameter * scores["certified_epsilon"][0]
    )
    assert found.n_w == pytest.approx([stay] * 101)
    assert [word for word, _ in found.worst] == ["a", "b"]


def test_a_record_survives_json(cloud):
    settings = [
        mg.mechanism("vickrey", epsilon=3.0, t=0.25),
        mg.mechanism("tem", epsilon=3.0),
    ]
    for found in measure(settings, cloud, priors_of(cloud), effort=SMALL):
        text = json.dumps(found.to_dict(), allow_nan=False)
        assert ScoreBounds.from_dict(json.loads(text)) == found


def test_parameters_leave_epsilon_out(cloud):
    setting = mg.mechanism("vickrey", epsilon=3.0, t=0.25)
    (found,) = measure([setting], cloud, priors_of(cloud), effort=SMALL)
    assert found.parameters == {"t": 0.25}
    assert (found.mechanism, found.epsilon) == ("vickrey", 3.0)


@pytest.mark.parametrize(
    "name", [c.name for c in mg.mechanisms() if c.is_private and c.space_metrics]
)
def test_every_mechanism_can_be_measured(name):
    from mondegreen.space.binarize import with_codes

    rng = np.random.default_rng(0)
    metric = "poincare" if name == "hyperbolic" else "euclidean"
    points = rng.uniform(-0.5, 0.5, size=(40, 2))
    space = mg.Space.from_arrays(
        "s", [f"w{i}" for i in range(40)], points, metric=metric
    )
    if name == "brr":
        space = with_codes(space, bits=8, method="hyperplane")
    epsilon = 40.0 if name == "tight" else 6.0
    setting = mg.mechanism(name, epsilon=epsilon)
    (found,) = measure([setting], space, priors_of(space), effort=SMALL, quick=True)
    for low, high in found.scores.values():
        assert low <= high
    assert len(found.n_w) == 101
    assert found.scores["certified_epsilon"][1] <= epsilon


# What a whole vocabulary says, and what some of it says with an interval.


def truth_of(state, space, priors):
    (law,) = law_scores([state], priors, eta=0.05)
    values = {
        "n_w_mean": law.stay.mean(),
        "n_w_max": law.stay.max(),
        "n_w_95": np.quantile(law.stay, 0.95, method="higher"),
        "n_w_50": np.quantile(law.stay, 0.5, method="higher"),
        "s_w_mean": law.support[:-1].mean(),
        "s_w_min": law.support[:-1].min(),
        "s_w_05": np.quantile(law.support[:-1], 0.05, method="lower"),
        "s_w_50": np.quantile(law.support[:-1], 0.5, method="lower"),
    }
    for name, risk in law.risks.items():
        values[f"n_w_{name}"] = risk.n_w
        values[f"bayes_risk_{name}"] = risk.bayes_risk
        values[f"inference_error_{name}"] = risk.inference_error
        values[f"utility_loss_{name}"] = risk.utility_loss
        values[f"prior_risk_{name}"] = risk.prior_risk
    return values


@pytest.mark.parametrize("epsilon", [1.0, 4.0, 12.0])
@pytest.mark.parametrize("how", ["rows", "runs", "runs of all"])
@pytest.mark.slow("measures settings many times")
def test_intervals_cover_what_all_inputs_say(cloud, epsilon, how):
    state = mg.mechanism("exponential", epsilon=epsilon).prepare(cloud)
    priors = priors_of(cloud)
    truth = truth_of(state, cloud, priors)
    missed = dict.fromkeys(truth, 0)
    effort = Effort(100, 200 if how == "runs of all" else 100, 16, 1_000)
    for seed in range(EXPERIMENTS):
        asked = Question(priors, effort, seed, confidence=0.9)
        if how == "rows":
            (found,) = subsample([state], asked)
        else:
            found = monte_carlo(state, asked)
        for name, value in truth.items():
            if name in found.scores:
                low, high = found.scores[name]
                missed[name] += not low - 1e-9 <= value <= high + 1e-9
    assert max(missed.values()) <= MISSES, missed


def test_the_genie_bound_is_no_trivial_one(cloud):
    state = mg.mechanism("exponential", epsilon=4.0).prepare(cloud)
    priors = priors_of(cloud)
    effort = Effort(4_000, 1, 2, 2)
    (found,) = subsample([state], Question(priors, effort))
    low, high = found.scores["bayes_risk_uniform"]
    truth = truth_of(state, cloud, priors)["bayes_risk_uniform"]
    assert truth - 0.05 < low <= truth <= high


def test_a_weaker_mechanism_does_not_pass_for_a_stronger_one(cloud):
    """The twin: intervals of twice the epsilon exclude the scores of the first."""
    state = mg.mechanism("exponential", epsilon=8.0).prepare(cloud)
    priors = priors_of(cloud)
    weak = mg.mechanism("exponential", epsilon=4.0).prepare(cloud)
    truth = truth_of(weak, cloud, priors)
    found = monte_carlo(state, Question(priors, Effort(1, 200, 256, 20_000)))
    for name in ("n_w_mean", "n_w_95", "n_w_uniform"):
        assert found.scores[name][0] > truth[name]
    assert found.scores["bayes_risk_uniform"][1] < truth["bayes_risk_uniform"]


def test_the_loss_of_a_random_word_is_its_mean_distance(cloud):
    prior = priors_of(cloud)["sample"]
    points = cloud.points(np.arange(201, dtype=np.int32))
    gaps = np.linalg.norm(points[:, None] - points[None, :-1], axis=2)
    assert blind_loss(cloud, prior, None) == pytest.approx(
        (prior @ gaps.mean(axis=1),) * 2
    )


def test_a_large_space_is_exact_but_for_the_supports(cloud, monkeypatch):
    monkeypatch.setattr(evaluate, "SMALL", 100)
    priors = priors_of(cloud)
    tem = mg.mechanism("tem", epsilon=4.0)
    (found,) = measure([tem], cloud, priors, cache=False, confidence=0.9999)
    truth = truth_of(tem.prepare(cloud), cloud, priors)
    assert found.is_exact
    for name, value in truth.items():
        low, high = found.scores[name]
        assert low - 1e-9 <= value <= high + 1e-9
        assert (low == high) or name.startswith("s_w")
    (quick,) = measure([tem], cloud, priors, cache=False, quick=True)
    assert not quick.is_exact
    assert quick.scores["n_w_95"][0] < quick.scores["n_w_95"][1]


def test_without_a_certificate_the_rate_and_the_proof_are_the_ends(monkeypatch):
    from mondegreen.mechanisms.laws import certified

    space = mg.Space.from_arrays("own", ["a", "b", "c"], [[0], [1], [5]])
    monkeypatch.setattr(certified, "_SMALL", 1)
    tem, priors = mg.mechanism("exponential", epsilon=2.0), priors_of(space)
    (found,) = measure([tem], space, priors, certify=False)
    low, high = found.scores["certified_epsilon"]
    assert (low, high) == (tem.prepare(space).law.rate, 2.0)
    (later,) = measure([tem], space, priors)  # from the cache, and completed
    exact = later.scores["certified_epsilon"]
    assert low < exact[0] == exact[1] < high


# The cache.


def counted(monkeypatch):
    """Count the states that are measured."""
    runs = []
    true = evaluate._by_outputs

    def found(states, asked, progress):
        runs.append(len(states))
        return true(states, asked, progress)

    monkeypatch.setattr(evaluate, "_by_outputs", found)
    return runs


def settings(epsilons=(1.0, 2.0, 3.0)):
    return [mg.mechanism("laplace", epsilon=e) for e in epsilons]


def test_what_was_measured_is_not_measured_again(cloud, monkeypatch):
    runs = counted(monkeypatch)
    first = measure(settings(), cloud, priors_of(cloud), effort=SMALL)
    assert sum(runs) == 3
    again = measure(settings(), cloud, priors_of(cloud), effort=SMALL)
    assert sum(runs) == 3
    assert again == first


@pytest.mark.parametrize(
    "change", [{"seed": 1}, {"confidence": 0.9}, {"effort": Effort(64, 64, 16, 99)}]
)
def test_another_question_is_measured_anew(cloud, monkeypatch, change):
    runs = counted(monkeypatch)
    measure(settings(), cloud, priors_of(cloud), effort=SMALL)
    measure(settings(), cloud, priors_of(cloud), **{"effort": SMALL, **change})
    assert sum(runs) == 6


def test_another_prior_is_another_question(cloud, monkeypatch):
    runs = counted(monkeypatch)
    priors = priors_of(cloud)
    measure(settings(), cloud, priors, effort=SMALL)
    measure(settings(), cloud, {**priors, "sample": priors["uniform"]}, effort=SMALL)
    assert sum(runs) == 6


def test_interrupted_work_resumes(cloud, monkeypatch):
    runs = counted(monkeypatch)
    true = evaluate.monte_carlo
    calls = []

    def interrupted(*arguments, **options):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return true(*arguments, **options)

    monkeypatch.setattr(evaluate, "monte_carlo", interrupted)
    with pytest.raises(KeyboardInterrupt):
        measure(settings(), cloud, priors_of(cloud), effort=SMALL)
    assert sum(runs) == 3  # the third was begun
    found = measure(settings(), cloud, priors_of(cloud), effort=SMALL)
    assert sum(runs) == 4  # and is the only one that was begun again
    fresh = measure(settings(), cloud, priors_of(cloud), effort=SMALL, cache=False)
    assert found == fresh


def test_a_damaged_file_is_as_good_as_none(cloud, home):
    first = measure(settings(), cloud, priors_of(cloud), effort=SMALL)
    files = list(home.rglob("*.json"))
    assert len(files) == 3
    for path in files:
        path.write_bytes(path.read_bytes()[:40])
    assert measure(settings(), cloud, priors_of(cloud), effort=SMALL) == first


def test_a_cache_that_cannot_be_written_is_no_error(cloud, tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("MONDEGREEN_HOME", str(blocked))
    assert len(measure(settings(), cloud, priors_of(cloud), effort=SMALL)) == 3


def test_the_cache_holds_no_word_frequencies(cloud, home):
    priors = priors_of(cloud)
    measure(settings(), cloud, priors, effort=SMALL)
    measure([mg.mechanism("tem", epsilon=2.0)], cloud, priors)
    frequencies = {f"{value:.6g}" for value in priors["sample"][:50]}
    for path in home.rglob("*"):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            assert not frequencies & set(text.replace(",", " ").split())
            assert set(json.loads(text)) == {
                *("mechanism", "parameters", "epsilon", "metric", "is_exact"),
                *("scores", "n_w", "s_w", "worst"),
            }


def test_no_temporary_file_is_left(cloud, home):
    measure(settings(), cloud, priors_of(cloud), effort=SMALL)
    assert not list(home.rglob("*.tmp"))
    assert get_kept(cloud, "nothing") is None


def test_progress_rises_to_one(cloud):
    shares = []
    several = [*settings(), mg.mechanism("tem", epsilon=2.0)]
    measure(several, cloud, priors_of(cloud), effort=SMALL, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_a_prior_that_is_none_is_refused(cloud):
    with pytest.raises(ValueError, match="prior"):
        measure(settings(), cloud, {"uniform": np.ones(200)})
