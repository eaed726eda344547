r"""The linear program behind the chances of a word tree.

The success of the best guess is convex in the chances: the largest terms at one
solution are a linear bound for the next (Kelley 1960). The loss of any two inputs is
bounded by linear constraints, and what is kept is linear too, so each step is a linear
program.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.calibration.guess import Guess
from mondegreen.errors import ConfigurationError
from mondegreen.space.tree import WordTree

__all__ = ["Program"]

_ROUNDS: Final = 200
_TOLERANCE: Final = 1e-5

Floats = NDArray[np.float64]


@final
class Program:
    """The linear program, which grows each round by a cut for every prior."""

    def __init__(
        self,
        tree: WordTree,
        priors: Sequence[Floats],
        gain: Floats,
        success: float,
        epsilon: float,
        *,
        by_class: bool,
    ) -> None:
        self.tree, self.priors, self.gain = tree, priors, gain
        self.success, self.epsilon, self.by_class = success, epsilon, by_class

    def solved(self) -> Floats:
        """Return the chances, shape (children, D + 1)."""
        from scipy.optimize import linprog

        guesses = [Guess(self.tree, prior) for prior in self.priors]
        kinds, levels = self.gain.shape
        # Variables: chances by kind and level; last, the least chance of the root.
        count = kinds * levels + 1
        table, limits = self._losses(guesses[0], count)
        equal = np.zeros((kinds, count))
        for kind in range(kinds):
            equal[kind, kind * levels : (kind + 1) * levels] = 1
        wanted = np.append(-self.gain.ravel() / self.gain.max(), 0.0)
        alike = [] if self.by_class else self._alike(kinds, levels, count)
        rows = np.zeros((kinds, levels))
        rows[:, -1] = 1.0
        for _ in range(_ROUNDS):
            found = linprog(
                wanted,
                A_ub=np.array(table),
                b_ub=np.array(limits),
                A_eq=np.vstack([equal, *alike]),
                b_eq=np.append(np.ones(kinds), np.zeros(sum(map(len, alike)))),
                bounds=(0, 1),
                method="highs",
            )
            if found.x is None:
                raise ConfigurationError("no chances keep both bounds")
            rows = np.clip(found.x[:-1].reshape(kinds, levels), 0.0, None)
            rows /= rows.sum(axis=1, keepdims=True)
            cuts = self._broken(guesses, rows)
            if not cuts:
                break
            for slope, rest in cuts:
                table.append(np.append(slope.ravel(), 0.0))
                limits.append(self.success - rest)
        return self._within(guesses, rows)

    def _broken(
        self, guesses: Sequence[Guess], rows: Floats
    ) -> list[tuple[Floats, float]]:
        """Return the cuts of the priors with which a guess is right too often."""
        allowed = self.success * (1 + _TOLERANCE)
        cuts = [guess.cut(rows) for guess in guesses]
        return [
            (slope, rest)
            for slope, rest in cuts
            if float((slope * rows).sum()) + rest > allowed
        ]

    def _losses(self, guess: Guess, count: int) -> tuple[list[Floats], list[float]]:
        """Return V F_0(w) <= e^epsilon r, and r <= the root's chance of every kind."""
        kinds, levels = self.gain.shape
        profiles = np.unique(np.vstack([guess.child, guess.reach]), axis=1).T
        table, limits = [], []
        scale = math.exp(-self.epsilon) * guess.size
        for kind, *sizes in profiles.tolist():
            row = np.zeros(count)
            start = int(kind) * levels
            row[start : start + levels] = scale / np.array(sizes)
            row[-1] = -1.0
            table.append(row)
            limits.append(0.0)
        for kind in range(kinds):
            row = np.zeros(count)
            row[-1], row[kind * levels + levels - 1] = 1.0, -1.0
            table.append(row)
            limits.append(0.0)
        return table, limits

    def _alike(self, kinds: int, levels: int, count: int) -> list[Floats]:
        """Return what makes the chances of all kinds those of the first."""
        found = []
        for kind in range(1, kinds):
            rows = np.zeros((levels, count))
            rows[:, :levels] = np.eye(levels)
            rows[:, kind * levels : (kind + 1) * levels] -= np.eye(levels)
            found.append(rows)
        return found

    def _within(self, guesses: Sequence[Guess], rows: Floats) -> Floats:
        """Move all rows to the root until every success is within the bound."""

        def worst(at: Floats) -> float:
            return max(guess.value(at) for guess in guesses)

        root = np.zeros_like(rows)
        root[:, -1] = 1.0
        low, high = 0.0, 1.0
        if worst(rows) <= self.success:
            return rows
        for _ in range(60):  # A is convex, and at the root it is that of no output
            middle = (low + high) / 2
            mixed = rows * (1 - middle) + root * middle
            low, high = (
                (low, middle) if worst(mixed) <= self.success else (middle, high)
            )
        return np.asarray(rows * (1 - high) + root * high)
