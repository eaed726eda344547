"""The grid of a comparison, as a recipe: runs are kept, and have intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

from mondegreen.errors import ConfigurationError
from mondegreen.settings import SYMBOL_MECHANISMS
from mondegreen_experiments.choices import digest_of
from mondegreen_experiments.compare.contenders import Contender
from mondegreen_experiments.compare.learners import needs
from mondegreen_experiments.compare.measure import NO_NOISE, measure
from mondegreen_experiments.recipe import Point, Recipe

_SHARES: Final = ("chance", "unchanged", "cosine", "recovered")


@final
@dataclass(frozen=True, kw_only=True)
class Asked:
    """The data, and what is done with it."""

    path: str
    text: str
    label: str
    split: str | None
    format: str | None
    space: str | None
    texts: int  # rows that are taken at most, 0 for all
    attacked: int  # texts that are attacked
    classifiers: tuple[str, ...]
    unproved: bool


def recipe_of(
    asked: Asked, contenders: Sequence[Contender], epsilons: Sequence[float], seeds: int
) -> Recipe:
    """One point for each contender at each epsilon, and one without noise first.

    The name depends on the file, so that kept runs of other data are others.
    """
    points = [_point(asked, NO_NOISE, "none", 0.0)]
    for each in contenders:
        own = each.epsilons or tuple(epsilons)
        if not own:
            such = "12" if each.name in SYMBOL_MECHANISMS else "NUMBER"
            raise ConfigurationError(
                f"{each.label} has no epsilon. Use --epsilon {such}, or "
                f"-m {_written(each)},epsilon={such}."
            )
        for epsilon in own:
            if not (math.isfinite(epsilon) and epsilon > 0):
                raise ConfigurationError(f"epsilon {epsilon}: a number above 0")
            points.append(
                {
                    **_point(asked, _written(each), each.label, epsilon),
                    "files": each.files(asked.space),
                }
            )
    shares = [f"{kind} {name}" for name in asked.classifiers for kind in _JUDGED]
    return Recipe(
        name="own-data",
        paper="your own data",
        title="Mechanisms side by side",
        axes=("epsilon", "mechanism", "unchanged"),
        differs="",
        measure=measure,
        points={"full": points},
        seeds={"full": seeds},
        needs=tuple(dict.fromkeys(n for c in asked.classifiers for n in needs(c))),
        shares=(*shares, *_SHARES),
    )


_JUDGED: Final = ("accuracy", "f1")


def _written(contender: Contender) -> str:
    """Write a contender as it is read again, whatever process reads it."""
    import json

    more = [f"{k}={json.dumps(v)}" for k, v in contender.parameters.items()]
    if contender.policy is not None:
        more.append(f"policy={contender.policy}")
    return ",".join([contender.name, *more])


def _point(asked: Asked, contender: str, label: str, epsilon: float) -> Point:
    found: dict[str, Any] = {
        "contender": contender,
        "mechanism": label,
        "epsilon": epsilon,
        "data": digest_of(Path(asked.path)),
    }
    names = ("path", "text", "label", "split", "format", "space", "texts")
    more = ("attacked", "classifiers", "unproved")
    return {
        **found,
        **{name: getattr(asked, name) for name in names},
        **{name: getattr(asked, name) for name in more},
        "classifiers": list(asked.classifiers),
    }
