"""A study: what settings of mechanisms do on one space, and which was chosen."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, final

from mondegreen.errors import UnknownNameError
from mondegreen.mechanisms import mechanism_class
from mondegreen.report.neighbours import NeighbourDistances, neighbour_distances
from mondegreen.space.store import DEFAULT_SPACE
from mondegreen.wording import privatize_command

if TYPE_CHECKING:
    from mondegreen.calibration.score_bounds import ScoreBounds
    from mondegreen.space.space import Space


@final
@dataclass(frozen=True, slots=True)
class SampleRelease:
    """The sample sentences of a study under one setting.

    Parameters
    ----------
    mechanism : str
        Registry name.
    parameters : mapping of str to JSON value
        All but epsilon.
    epsilon : float, per unit of the metric of the mechanism
    texts : tuple of str
        One for each of :attr:`Study.sentences`, in order.
    """

    mechanism: str
    parameters: Mapping[str, Any]
    epsilon: float
    texts: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """Everything a report shows.

    Parameters
    ----------
    space, space_digest : str
        The public space and its SHA-256.
    vocab_size : int
        Its words.
    measurements : tuple of ScoreBounds
        Any number of settings of any mechanisms, in any order.
    scale : mapping of str to float, unit of distance
        ``closest``, ``nearest`` (median), ``mean`` and ``diameter`` of the space.
    eta : float in [0, 1)
        The mass that S_w leaves out.
    sample : str or None
        Name of the *public* sample whose word frequencies are the prior "sample".
    sample_texts, sample_words : int
        Its size.
    chosen : ScoreBounds or None
        The setting to use, one of the measurements or one between them.
    target : str
        What was asked for, in words.
    command : str
        The command line to copy; built from ``chosen`` if empty.
    neighbours : NeighbourDistances or None
        How far the k-th nearest words are.
    sentences : tuple of str
        *Public* sentences, shown as they are.
    releases : tuple of SampleRelease
        The same sentences under some settings.
    is_quick : bool
        Whether precision was given up for time.
    seed : int or None
        Of all sampling in the study.
    version : str
        Of mondegreen.

    Notes
    -----
    *Privacy.* A study holds public words, numbers, and the sentences it is given. It
    never holds another text of the sample.
    """

    space: str
    space_digest: str
    vocab_size: int
    measurements: tuple[ScoreBounds, ...]
    scale: Mapping[str, float] = field(default_factory=dict)
    eta: float = 0.05
    sample: str | None = None
    sample_texts: int = 0
    sample_words: int = 0
    chosen: ScoreBounds | None = None
    target: str = ""
    command: str = ""
    neighbours: NeighbourDistances | None = None
    sentences: tuple[str, ...] = ()
    releases: tuple[SampleRelease, ...] = ()
    is_quick: bool = False
    seed: int | None = None
    version: str = ""

    def curves(self) -> dict[str, list[ScoreBounds]]:
        """List the measurements of each mechanism, by rising epsilon.

        The same mechanism with other parameters is another curve. The chosen setting
        is part of its curve, whether it was measured among the others or not.
        """
        found: dict[str, list[ScoreBounds]] = {}
        for measurement in self._all():
            curve = found.setdefault(curve_name(measurement), [])
            curve.append(measurement)
        for curve in found.values():
            curve.sort(key=lambda measurement: measurement.epsilon)
        return found

    def _all(self) -> Iterator[ScoreBounds]:
        yield from self.measurements
        if self.chosen is not None and not any(map(self.is_chosen, self.measurements)):
            yield self.chosen

    def is_chosen(self, setting: ScoreBounds | SampleRelease) -> bool:
        """Whether this is the setting that was chosen."""
        return self.chosen is not None and _setting(setting) == _setting(self.chosen)

    def to_dict(self) -> dict[str, Any]:
        """Make JSON values; a number that is not finite becomes None."""
        values: dict[str, Any] = {
            name: getattr(self, name)
            for name in self.__dataclass_fields__
            if name not in _RECORDS
        }
        values["scale"] = dict(self.scale)
        values["measurements"] = [each.to_dict() for each in self.measurements]
        values["chosen"] = None if self.chosen is None else self.chosen.to_dict()
        values["neighbours"] = self.neighbours and self.neighbours.to_dict()
        values["releases"] = [asdict(each) for each in self.releases]
        found: dict[str, Any] = json.loads(json.dumps(_finite(values)))
        return found

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Study:
        """Build from what :meth:`to_dict` returned."""
        from mondegreen.calibration.score_bounds import ScoreBounds

        given = dict(values)
        measured = [ScoreBounds.from_dict(each) for each in given["measurements"]]
        given["measurements"] = tuple(measured)
        if given.get("chosen") is not None:
            given["chosen"] = ScoreBounds.from_dict(given["chosen"])
        if given.get("neighbours") is not None:
            given["neighbours"] = NeighbourDistances.from_dict(given["neighbours"])
        given["sentences"] = tuple(given.get("sentences", ()))
        given["releases"] = tuple(
            SampleRelease(**{**each, "texts": tuple(each["texts"])})
            for each in given.get("releases", ())
        )
        return cls(**given)


_RECORDS = ("scale", "measurements", "chosen", "neighbours", "releases")
"""Fields of a study whose JSON is not their value."""


def study_of(space: Space, measurements: Sequence[ScoreBounds], **fields: Any) -> Study:
    """Return a study of measurements on a space, with the distances of that space.

    Parameters
    ----------
    space : Space
        The one that was measured.
    measurements : sequence of ScoreBounds
        What :func:`mondegreen.calibration.measurement.measure` returned.
    **fields
        Other fields of :class:`Study`.

    Examples
    --------
    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("line", ["a", "b", "c"], [[0], [1], [3]])
    >>> study_of(space, [], target="none").neighbours.k
    (1, 2)
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


def curve_name(setting: ScoreBounds | SampleRelease) -> str:
    """Name a mechanism and its parameters, on one line.

    >>> curve_name(SampleRelease("vickrey", {"t": 0.25, "k": 3}, 12.0, ()))
    'vickrey (k = 3, t = 0.25)'
    """
    listed = ", ".join(
        f"{name} = {f'{value:g}' if isinstance(value, float) else value}"
        for name, value in told_parameters(setting).items()
    )
    return f"{setting.mechanism} ({listed})" if listed else setting.mechanism


def told_parameters(setting: ScoreBounds | SampleRelease) -> dict[str, Any]:
    """Find the parameters, but epsilon, that are not what they are by default.

    >>> told_parameters(SampleRelease("tem", {"beta": 0.001, "gamma": 5.0}, 2.0, ()))
    {'gamma': 5.0}
    """
    try:
        declared = mechanism_class(setting.mechanism).parameters()
    except UnknownNameError:  # a study may be of a mechanism from elsewhere
        declared = []
    usual = {each["name"]: each["default"] for each in declared}
    return {
        name: value
        for name, value in sorted(setting.parameters.items())
        if value is not None and value != usual.get(name)
    }


def command_line(study: Study, chosen: ScoreBounds) -> str:
    """Write the command that privatizes with a setting."""
    return privatize_command(
        chosen.mechanism,
        chosen.epsilon,
        told_parameters(chosen),
        space="" if study.space == DEFAULT_SPACE else study.space,
        is_private=_is_private(chosen.mechanism),
    )


def python_lines(study: Study, chosen: ScoreBounds) -> str:
    """Write Python that privatizes a text with a setting."""
    given = "".join(f", {k}={v!r}" for k, v in told_parameters(chosen).items())
    space = "" if study.space == DEFAULT_SPACE else repr(study.space)
    more = "" if _is_private(chosen.mechanism) else ", allow_unproved=True"
    return f"""import mondegreen as mg

space = mg.load_space({space})
mechanism = mg.mechanism({chosen.mechanism!r}, epsilon={chosen.epsilon!r}{given})
privatizer = mg.Privatizer(mechanism, space{more})
print(privatizer("The text to protect.").text)"""


def _is_private(mechanism: str) -> bool:
    """Tell whether a mechanism has a proof; one from elsewhere is not asked."""
    try:
        return mechanism_class(mechanism).is_private
    except UnknownNameError:
        return True


def score_of(measurement: ScoreBounds, name: str) -> tuple[float, float] | None:
    """Look up the ends of a score; None where it is not known or not finite."""
    ends = measurement.scores.get(name)
    if ends is None or any(end is None or not math.isfinite(end) for end in ends):
        return None
    return float(ends[0]), float(ends[1])


def _setting(setting: ScoreBounds | SampleRelease) -> tuple[str, str, float]:
    """Collect what tells settings apart."""
    parameters = json.dumps(dict(setting.parameters), sort_keys=True, default=str)
    return setting.mechanism, parameters, setting.epsilon


def _finite(value: Any) -> Any:
    """Replace NaN and infinity, which JSON does not have, by None."""
    if isinstance(value, Mapping):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
