"""A study: what settings of mechanisms do on one space, and which was chosen."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypedDict, final

import numpy as np

from mondegreen.arrays import Ids, slices
from mondegreen.errors import UnknownNameError
from mondegreen.mechanisms import mechanism_class
from mondegreen.space.distances import Distances
from mondegreen.wording import DEFAULT_SPACE, privatize_command

if TYPE_CHECKING:
    from mondegreen.calibration.score_bounds import ScoreBounds
    from mondegreen.mechanisms.base import AbstractMechanism
    from mondegreen.space.space import Space

RANKS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Values of k for which the distance to the k-th nearest word is shown."""

PERCENTILES: Final = (5, 20, 50, 80, 95)
_ENTRIES: Final = 1 << 23
"""Distances computed together: 64 MiB."""


class NeighbourDistances(TypedDict):
    """Percentiles, over words, of the distance to the k-th nearest other word."""

    k: list[int]
    percentiles: list[float]
    distances: list[list[float]]  # a row for each k, a number for each percentile
    words: int  # that were looked at, of the `vocab_size`
    vocab_size: int


@final
@dataclass(frozen=True, slots=True)
class SampleRelease:
    """The sample sentences of a study, in order, under one setting."""

    mechanism: str
    parameters: Mapping[str, Any]
    """All but epsilon."""
    epsilon: float
    texts: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """Everything a report shows: public words, numbers, and the sentences it is given.

    It never holds another text of the sample.
    """

    space: str
    space_digest: str
    """SHA-256 of the public space."""
    vocab_size: int
    measurements: tuple[ScoreBounds, ...]
    """Any number of settings of any mechanisms, in any order."""
    scale: Mapping[str, float] = field(default_factory=dict)
    """Distances: ``closest``, ``nearest`` (median), ``mean`` and ``diameter``."""
    eta: float = 0.05
    """The probability that S_w leaves out."""
    sample: str | None = None
    """Name of the *public* sample whose word frequencies are the prior "sample"."""
    sample_texts: int = 0
    sample_words: int = 0
    chosen: ScoreBounds | None = None
    """The setting to use, one of the measurements or one between them."""
    target: str = ""
    """What was asked for, in words."""
    command: str = ""
    """The command line to copy; built from ``chosen`` if empty."""
    neighbours: NeighbourDistances | None = None
    sentences: tuple[str, ...] = ()
    """*Public* sentences, shown as they are."""
    releases: tuple[SampleRelease, ...] = ()
    is_quick: bool = False
    """Whether precision was given up for time."""
    seed: int | None = None
    version: str = ""

    @property
    def settings(self) -> tuple[ScoreBounds, ...]:
        """The measurements, with the chosen setting."""
        known = any(map(self.is_chosen, self.measurements))
        extra = () if self.chosen is None or known else (self.chosen,)
        return (*self.measurements, *extra)

    def curves(self) -> dict[str, list[ScoreBounds]]:
        """List the settings of each mechanism, by rising epsilon.

        The same mechanism with other parameters is another curve.
        """
        found: dict[str, list[ScoreBounds]] = {}
        for setting in self.settings:
            found.setdefault(curve_name(setting), []).append(setting)
        for curve in found.values():
            curve.sort(key=lambda setting: setting.epsilon)
        return found

    def has(self, score: str) -> bool:
        """Tell whether a score is known of any setting."""
        return any(find_score(each, score) is not None for each in self.settings)

    def is_chosen(self, setting: ScoreBounds | SampleRelease) -> bool:
        return self.chosen is not None and _setting(setting) == _setting(self.chosen)

    def to_dict(self) -> dict[str, Any]:
        """Make JSON values; a number that is not finite becomes None."""
        text = json.dumps(asdict(self))
        found: dict[str, Any] = json.loads(text, parse_constant=lambda _: None)
        return found

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Study:
        """Build from what :meth:`to_dict` returned."""
        from mondegreen.calibration.score_bounds import ScoreBounds

        chosen = values["chosen"]
        releases = (
            {**each, "texts": tuple(each["texts"])} for each in values["releases"]
        )
        read = {
            "measurements": tuple(map(ScoreBounds.from_dict, values["measurements"])),
            "chosen": chosen and ScoreBounds.from_dict(chosen),
            "sentences": tuple(values["sentences"]),
            "releases": tuple(SampleRelease(**each) for each in releases),
        }
        return cls(**{**values, **read})


def build_study(
    space: Space, measurements: Sequence[ScoreBounds], **fields: Any
) -> Study:
    """Make a study of what was measured on a space, with the distances of that space.

    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("line", ["a", "b", "c"], [[0], [1], [3]])
    >>> build_study(space, [], target="none").neighbours["k"]
    [1, 2]
    """
    from mondegreen import __version__

    known: dict[str, Any] = {
        "space": space.name,
        "space_digest": space.digest,
        "vocab_size": space.vocab_size,
        "scale": space.geometry.to_dict(),
        "neighbours": neighbour_distances(space),
        "version": __version__,
    }
    return Study(measurements=tuple(measurements), **{**known, **fields})


def neighbour_distances(
    space: Space, words: int = 2000, seed: int = 0
) -> NeighbourDistances | None:
    """Measure how far the k-th nearest words are, from some words to all.

    So many words are drawn at random, without replacement; all, if there are no more.
    The vectors are public, so that this costs no privacy. None for a space without
    vectors, or of a single word.

    Feyisetan et al., "Privacy- and Utility-Preserving Textual Analysis via Calibrated
    Multivariate Perturbations", WSDM 2020, Figure 1.
    """
    total, distances = space.vocab_size, Distances(space)
    if total < 2 or space.metric == "hamming" or not distances.is_known:
        return None
    ids: Ids = np.arange(total, dtype=np.int32)
    if words < total:
        drawn = np.random.default_rng(seed).choice(total, words, replace=False)
        ids = np.sort(drawn).astype(np.int32)
    ranks = np.array([k for k in RANKS if k < total])
    found = np.empty((len(ids), len(ranks)))
    step = max(1, _ENTRIES // total)
    for part in slices(len(ids), step):
        block = ids[part]
        rows = distances.rows(block)
        assert rows is not None  # noqa: S101 - distances are known
        rows[np.arange(len(block)), block] = -1.0  # itself, before all others
        rows.partition(ranks, axis=1)
        found[part] = rows[:, ranks]
    percentiles = np.percentile(found, PERCENTILES, axis=0).T.round(6)
    return {
        "k": ranks.tolist(),
        "percentiles": list(PERCENTILES),
        "distances": percentiles.tolist(),
        "words": len(ids),
        "vocab_size": total,
    }


def curve_name(setting: ScoreBounds | SampleRelease) -> str:
    """Name a mechanism and its parameters, on one line.

    >>> curve_name(SampleRelease("vickrey", {"t": 0.25, "k": 3}, 12.0, ()))
    'vickrey (k = 3, t = 0.25)'
    """
    listed = ", ".join(
        f"{name} = {f'{value:g}' if isinstance(value, float) else value}"
        for name, value in list_parameters(setting).items()
    )
    return f"{setting.mechanism} ({listed})" if listed else setting.mechanism


def list_parameters(setting: ScoreBounds | SampleRelease) -> dict[str, Any]:
    """Find the parameters, but epsilon, that are not what they are by default.

    >>> list_parameters(SampleRelease("tem", {"beta": 0.001, "gamma": 5.0}, 2.0, ()))
    {'gamma': 5.0}
    """
    # Named often, and to look up a mechanism from elsewhere takes milliseconds.
    known = _class(setting.mechanism) if setting.parameters else None
    declared = known.parameters() if known else []
    usual = {each["name"]: each["default"] for each in declared}
    return {
        name: value
        for name, value in sorted(setting.parameters.items())
        if value is not None and value != usual.get(name)
    }


def command_line(
    chosen: ScoreBounds, space: str, columns: Sequence[str] = ("text",)
) -> str:
    """Write the command that privatizes with a setting."""
    return privatize_command(
        chosen.mechanism,
        chosen.epsilon,
        list_parameters(chosen),
        columns=columns,
        space=space,
        is_private=_is_private(chosen.mechanism),
    )


def python_lines(study: Study, chosen: ScoreBounds) -> str:
    given = "".join(f", {k}={v!r}" for k, v in list_parameters(chosen).items())
    space = "" if study.space == DEFAULT_SPACE else repr(study.space)
    more = "" if _is_private(chosen.mechanism) else ", allow_unproved=True"
    return f"""import mondegreen as mg

space = mg.load_space({space})
mechanism = mg.mechanism({chosen.mechanism!r}, epsilon={chosen.epsilon!r}{given})
privatizer = mg.Privatizer(mechanism, space{more})
print(privatizer("The text to protect.").text)"""


def _class(mechanism: str) -> type[AbstractMechanism] | None:
    """Look up a mechanism; a study may be of one from elsewhere."""
    try:
        return mechanism_class(mechanism)
    except UnknownNameError:
        return None


def _is_private(mechanism: str) -> bool:
    known = _class(mechanism)
    return known is None or known.is_private


def find_score(measurement: ScoreBounds, name: str) -> tuple[float, float] | None:
    """Look up the ends of a score; None where it is not known or not finite."""
    if name == "epsilon":
        return measurement.epsilon, measurement.epsilon
    ends = measurement.scores.get(name)
    if ends is None or any(end is None or not math.isfinite(end) for end in ends):
        return None
    return float(ends[0]), float(ends[1])


def _setting(setting: ScoreBounds | SampleRelease) -> tuple[str, str, float]:
    parameters = json.dumps(dict(setting.parameters), sort_keys=True, default=str)
    return setting.mechanism, parameters, setting.epsilon
