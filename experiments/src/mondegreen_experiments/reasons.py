"""Why what is measured cannot decide a claim or a number, by what was named."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from mondegreen_experiments.choices import Choices
from mondegreen_experiments.recipe import Reason, Setting, reason_at

_WHOLE: Final = 300
"""Dimensions of our vectors: fewer are projections."""

_VECTORS: Final = (
    "other vectors, so that an epsilon means another noise; "
    "name the paper's by `--space`"
)
_PROJECTED: Final = (
    "our vectors of fewer dimensions are projections, whose distances cannot be "
    "larger; name vectors of each dimension by `--space`"
)


def other_vectors(setting: Setting) -> str:
    """Say that our vectors are not the paper's, unless all of them were named."""
    return "" if _all_named(setting, setting.spaces) else _VECTORS


def projected(family: str = "") -> Reason:
    """Say that smaller spaces are projections, unless all of the family were named."""
    return unless_named(family, _PROJECTED)


def unless_named(family: str, because: str) -> Reason:
    """Say something of the vectors of a family, or of all, unless they were named."""

    def reason(setting: Setting) -> str:
        own = {
            name for name in setting.spaces if family in ("", name.partition("-")[0])
        }
        return "" if _all_named(setting, own) else because

    return reason


def either(*reasons: Reason) -> Reason:
    """Say all of the reasons that apply."""
    return lambda setting: "; ".join(
        filter(None, (reason_at(each, setting) for each in reasons))
    )


def smaller_than(texts: int, name: str, because: str) -> Reason:
    """Say something if points have fewer texts to learn from than the paper had."""
    return lambda setting: (
        because
        if any(point[name] < texts for point in setting.points if name in point)
        else ""
    )


def is_named(choices: Choices, space: str) -> bool:
    """Whether a call named vectors of this dimension for a space."""
    family, _, dim = space.partition("-")
    given = choices.space_file(family, dim)
    return given is not None and (given[0] == space or int(dim) == _WHOLE)


def _all_named(setting: Setting, spaces: Collection[str]) -> bool:
    return bool(spaces) and all(is_named(setting.choices, each) for each in spaces)
