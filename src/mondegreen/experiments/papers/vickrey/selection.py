"""Vickrey, Algorithm 2: choosing t and epsilon under a budget of loss."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from mondegreen.calibration.plan import T_GRID, calibrate_vickrey
from mondegreen.calibration.score_bounds import ScoreBounds
from mondegreen.calibration.search import Attempt, Calibration, calibrate
from mondegreen.calibration.targets import Target
from mondegreen.experiments.bench import Bench
from mondegreen.experiments.neighbours import Choice, Neighbours, printed_selection
from mondegreen.experiments.papers.vickrey.lexicon import opinions
from mondegreen.experiments.recipe import Found, Point, Recipe, Shape, Table
from mondegreen.scores.interval import bounded_mean

_FIRST, _LAST = 5.0, 640.0
_PRIOR: Final = "opinions"  # all words alike
_TOLERANCE: Final = 0.2  # of epsilon, relative
_FIGURES: Final = -1


@functools.lru_cache(maxsize=256)
def _near(bench: Bench, epsilon: float, runs: int, seed: tuple[int, ...]) -> Neighbours:
    space, _ = opinions(bench, "glove-300")
    inputs = np.tile(np.arange(space.vocab_size, dtype=np.int32), runs)
    rng = np.random.default_rng(seed)
    return Neighbours.of(space, "Laplace", epsilon, inputs, rng, k=3)


@dataclass(frozen=True)
class _Chooser:
    """Chooses on runs of its own; ``checks`` are the runs that a choice rests on."""

    bench: Bench
    seed: int
    looks: int
    checks: int
    is_printed: bool = False

    def _runs(self, epsilon: float, number: int, runs: int) -> Neighbours:
        return _near(self.bench, epsilon, runs, (self.seed, number + 1))

    def flips(self, near: Neighbours, t: float) -> np.ndarray:
        """The chance, for each point, of an output of the other opinion."""
        _, signs = opinions(self.bench, "glove-300")
        return 1 - near.alike(Choice(t, self.is_printed), signs)

    def figures(self, t: float, epsilon: float) -> dict[str, float]:
        """Measure a choice on runs that it did not see."""
        near = self._runs(epsilon, _FIGURES, self.checks)
        e_m, e_bayes = near.errors(Choice(t, self.is_printed))
        loss = float(self.flips(near, t).mean())
        return {"e_m": e_m, "e_bayes": e_bayes, "l_m": loss}

    def printed(self, budget: float) -> tuple[float, float] | None:
        """Choose as the paper prints it: one epsilon for all t."""

        def loss(t: float, epsilon: float) -> float:
            return float(self.flips(self._runs(epsilon, 0, self.looks), t).mean())

        def error(t: float, epsilon: float) -> float:
            choice = Choice(t, self.is_printed)
            return self._runs(epsilon, 0, self.looks).errors(choice)[0]

        return printed_selection(loss, error, budget, T_GRID, (_FIRST, _LAST))

    def safe(self, budget: float) -> tuple[float, float] | None:
        """Choose as the package does: for each t the smallest epsilon that fits."""
        targets = [Target("utility_loss", budget, prior=_PRIOR)]

        def solve(t: float, is_thorough: bool) -> Calibration:
            def measure(epsilon: float, attempt: Attempt) -> ScoreBounds:
                runs = self.checks if is_thorough else self.looks
                near = self._runs(
                    epsilon, attempt.number, self.looks if attempt.is_rough else runs
                )
                return self._bounds(near, t, epsilon, attempt)

            return calibrate(measure, targets, 20.0, _TOLERANCE)

        t, found = calibrate_vickrey(solve, targets, _PRIOR)
        return None if found.chosen is None else (t, found.chosen.epsilon)

    def _bounds(
        self, near: Neighbours, t: float, epsilon: float, attempt: Attempt
    ) -> ScoreBounds:
        """The share of flips with its interval; and E_M, where it is no look."""
        flips = self.flips(near, t)
        ends = bounded_mean(flips, 0.0, 1.0, attempt.confidence).ends
        scores = {f"utility_loss_share_{_PRIOR}": ends}
        if not attempt.is_rough:
            e_m = near.errors(Choice(t))[0]
            scores[f"inference_error_{_PRIOR}"] = e_m, e_m
        made = Choice(t).mechanism("Laplace", epsilon)
        return ScoreBounds(
            made.name, {"t": t}, epsilon, made.metric, False, scores, (), None, ()
        )


def measure(bench: Bench, point: Point, seed: int) -> Found:
    """What is chosen under a budget, and its scores on runs that the choice never saw.

    ``ended`` is 0 where nothing was found: the printed loop would go on for ever, and
    is stopped at epsilon 640, whose figures at t = 0 are then given.
    """
    chooser = _Chooser(
        bench,
        seed,
        int(point["looks"]),
        int(point["checks"]),
        is_printed=point["by"] == "printed, of the printed form",
    )
    budget, by = float(point["budget"]), str(point["by"])
    choice = chooser.safe(budget) if by == "safe" else chooser.printed(budget)
    t, epsilon = choice or (0.0, _LAST)
    found = chooser.figures(t, epsilon)
    return {
        "ended": float(choice is not None),
        "t": t,
        "epsilon": epsilon,
        **found,
        "fits": float(found["l_m"] <= budget),
        "times_first": epsilon / _FIRST,
    }


_PRINTED_FLOOR: Final = 0.06
"""About what the printed form loses without noise: as often as a neighbour flips."""

_BY: Final = ("printed, of the printed form", "printed, of the sound form", "safe")


def _by(table: Table, *names: str) -> Table:
    return [(p, m) for p, m in table if p["by"] in names]


def _no_weaker(table: Table) -> bool:
    """Whether the epsilon chosen is never above the first one."""
    return all(m["times_first"] <= 1 for _, m in _by(table, *_BY[:2]) if m["ended"])


def _at_zero(table: Table) -> bool:
    """Whether the printed loop on the sound form mostly stays at t = 0."""
    found = [m["t"] for _, m in _by(table, _BY[1])]
    return 2 * sum(t == 0 for t in found) >= len(found)


def _never_ends(table: Table) -> bool:
    """Whether the printed form is never chosen under the least loss that it has."""
    found = _by(table, _BY[0])
    return all(m["ended"] == 0 for p, m in found if p["budget"] <= _PRINTED_FLOOR)


def _better(name: str) -> Callable[[Table], bool]:
    def holds(table: Table) -> bool:
        safe, printed = (
            {p["budget"]: m for p, m in _by(table, by)} for by in (_BY[2], _BY[1])
        )
        return all(
            safe[budget][name] >= printed[budget][name] - 0.01
            for budget in safe
            if safe[budget]["ended"]
        )

    return holds


def _grid(looks: int, checks: int, budgets: tuple[float, ...]) -> list[Point]:
    return [
        {"by": by, "budget": budget, "looks": looks, "checks": checks}
        for budget in budgets
        for by in _BY
    ]


RECIPE: Final = Recipe(
    name="vickrey-selection",
    paper="Xu et al. 2021",
    title="Choosing t and epsilon under a budget of loss",
    differs=(
        "Words of the opinion lexicon, as in vickrey-lexicon, with Laplace noise; the "
        "paper tunes on the texts to be protected, which tells about them. Its first "
        "epsilon is not known; here 5, where nearly nothing is inferred. Choices rest "
        "on runs of their own, figures on others. 'Safe' is the package's form: an "
        "epsilon for each t, its loss at the upper end of its interval. Quick: 1 noisy "
        "point a word to look, 4 to check and for the figures."
    ),
    measure=measure,
    points={
        "quick": _grid(1, 4, (0.02, 0.04, 0.10)),
        "full": _grid(10, 50, (0.02, 0.04, 0.06, 0.08, 0.10)),
    },
    seeds={"quick": 3, "full": 5},
    data=("opinion_lexicon",),
    shapes=(
        Shape(
            "Section 4, Algorithm 2",
            "the chosen mechanism is at least as private as the first one",
            _no_weaker,
        ),
        Shape(
            "Section 4, Algorithm 2",
            "the loop ends for every budget, in the form that is printed",
            lambda table: all(m["ended"] == 1 for _, m in _by(table, _BY[0])),
        ),
        Shape(
            "Ours",
            "the printed form never fits a budget below 0.06: it loses that much "
            "without noise",
            _never_ends,
        ),
        Shape(
            "Ours",
            "of the sound form the printed loop mostly leaves t at 0, that is Laplace",
            _at_zero,
        ),
        Shape(
            "Ours",
            "with an epsilon for each t, E_M is no smaller within the same budget",
            _better("e_m"),
        ),
        Shape(
            "Ours",
            "with an epsilon for each t, the best guess errs no less within the same "
            "budget",
            _better("e_bayes"),
        ),
        Shape(
            "Ours",
            "the safe choice keeps its budget on new runs",
            lambda table: all(
                m["fits"] == 1 for _, m in _by(table, _BY[2]) if m["ended"]
            ),
        ),
    ),
    axes=("budget", "by", "e_m"),
)
