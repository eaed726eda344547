"""The contract of a mechanism: frozen parameters, a prepared state, a guarantee."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import MISSING, Field, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Self

import numpy as np

from mondegreen.arrays import Floats, Ids, LogProbs, Vectors
from mondegreen.errors import InvalidParameterError, LawUnknownError, SpaceError
from mondegreen.guarantee import Guarantee
from mondegreen.plugins import remember_plugin
from mondegreen.space.metric import METRICS, distances, norm_distances
from mondegreen.space.space import Space
from mondegreen.space.tree import WordTree

if TYPE_CHECKING:
    from mondegreen.mechanisms.channel import Channel
    from mondegreen.mechanisms.laws.tree import TreeLaw
    from mondegreen.space.codes import Codes

Progress = Callable[[float], object]
"""Told the share that is done, from 0 to 1."""

# Outside of it noise or weights would leave the range of floating point.
_EPSILONS: Final = (1e-9, 1e9)


def no_progress(share: float) -> None:
    """Tell nobody."""


class Flips(NamedTuple):
    """A law that flips each bit of ``codes`` with probability threshold / 2**64."""

    codes: Codes
    threshold: int


class State(ABC):
    """A law from an input alphabet to an output alphabet. Read-only; safe in threads.

    Mechanisms over a space take ids ``0..V`` (V is the unknown word) to ids
    ``0..V-1``. Mechanisms over a policy take symbols ``0..m-1`` to symbols ``0..m-1``;
    they have no ``space``, and the policy prints a word of each symbol. A new mechanism
    over a space gives ``space``, ``guarantee`` (what one call promises for each
    word), :meth:`sample`, :meth:`log_prob` and :meth:`distances`. All else that callers
    ask has an answer here, which a state replaces where it knows better.

    Examples
    --------
    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("line", ["cold", "hot"], [[0], [9]])
    >>> state = mg.mechanism("tem", epsilon=2.0).prepare(space)
    >>> ids = np.array([0, 1, 2], dtype=np.int32)
    >>> state.log_prob(ids).shape, state.sample(ids, np.random.default_rng(0)).shape
    ((3, 2), (3,))
    """

    __slots__ = ()

    space: Space
    guarantee: Guarantee

    @abstractmethod
    def sample(self, ids: Ids, rng: np.random.Generator) -> Ids:
        """Draw an output, ``0..V-1``, for each input, ``0..V``: V is the unknown word.

        The generator is consumed, and never kept.

        Parameters
        ----------
        ids : int32 array, shape (T,)
            Inputs.
        rng : numpy.random.Generator
            Source of noise.

        Returns
        -------
        int32 array, shape (T,)
            Outputs.
        """

    def log_prob(self, ids: Ids) -> LogProbs:
        """Return the natural logarithms of the law that is sampled, shape (T, V).

        Raises ``LawUnknownError`` if the law has no closed form, as here.

        Parameters
        ----------
        ids : int32 array, shape (T,)
            Inputs.

        Returns
        -------
        float64 array, shape (T, V), nats
            Minus infinity where an output is impossible.

        Raises
        ------
        LawUnknownError
            If the law has no closed form, as here.
        """
        raise LawUnknownError(
            f"{self.guarantee.mechanism} has no law in closed form; sample from it, or "
            "use a selection mechanism such as tem"
        )

    def distances(self, first: Ids, second: Ids) -> Floats:
        """Return the metric of the guarantee between inputs, (first, second).

        Here that of the space, cut off at the diameter of the guarantee. Exactly 0
        between inputs that nothing may tell apart.

        Parameters
        ----------
        first, second : int32 array
            Inputs, of shapes (M,) and (N,).

        Returns
        -------
        float64 array, shape (M, N)
            Distances, in units of the metric of the guarantee.
        """
        stated = self.stated
        if METRICS.get(self.space.metric, "none") not in stated.metric:
            raise NotImplementedError(f"{stated.metric} needs a method of its own")
        cutoff = stated.scale["diameter"]
        return space_distances(self.space, first, second, cutoff=cutoff)

    @property
    def input_count(self) -> int:
        """Number of inputs: ids ``0..input_count-1``."""
        return self.space.vocab_size + 1

    @property
    def output_count(self) -> int:
        """Number of outputs: ids ``0..output_count-1``."""
        return self.space.vocab_size

    # --- the promise and its certificate

    @property
    def stated(self) -> Guarantee:
        """The guarantee as far as it is known without work: no certificate is made."""
        return self.guarantee

    @property
    def certificate_takes_long(self) -> bool:
        """Whether ``guarantee`` would first pass over all pairs of a large space."""
        return False

    @property
    def certified_bounds(self) -> tuple[float, float]:
        """Bounds of the exact epsilon of a proved promise, known without long work."""
        claimed = self.stated.epsilon
        known = min(self.stated.certified or claimed, claimed)
        return known, known

    def certificate(self, progress: Progress = no_progress) -> float | None:
        """Return the exact epsilon, however long it takes; None where none is known.

        Parameters
        ----------
        progress : callable, optional
            Called with the share that is done.

        Returns
        -------
        float or None, nats per unit of distance
            Rounded up.
        """
        return self.guarantee.certified

    @classmethod
    def certify(cls, states: Sequence[Self], progress: Progress = no_progress) -> None:
        """Compute the certificates of states of this class, together where it can.

        Parameters
        ----------
        states : sequence of State
            States of this class.
        progress : callable, optional
            Called with the share that is done.
        """
        for state in states:
            state.certificate(progress)

    # --- the law as rows of numbers

    takes_distances: bool = False
    """Whether :meth:`log_rows` needs distances, and is quick with them."""

    falls_with_distance: bool = False
    """Whether a closer word is never less likely."""

    has_zeros: ClassVar[bool] = True
    """Whether an output may be impossible."""

    def log_rows(self, ids: Ids, distances: Floats | None) -> tuple[Floats, Floats]:
        """Return log-probabilities (0 at zeros) and probabilities, (T, V) each.

        In real numbers where that is quicker than the integers that are sampled.
        ``distances`` are those of the inputs to all words.

        Parameters
        ----------
        ids : int32 array, shape (T,)
            Inputs.
        distances : float64 array, shape (T, V), or None
            Distances to all words, where the law takes them.

        Returns
        -------
        tuple of two float64 arrays, shape (T, V)
            Logarithms, and probabilities.
        """
        logs = self.log_prob(ids)
        probabilities = np.exp(logs)
        logs[probabilities == 0] = 0.0
        return logs, probabilities

    def channel(self, prior: Floats, count: int) -> Channel | None:
        """Find the most likely inputs of outputs; None where only the rows can tell.

        Parameters
        ----------
        prior : float64 array, shape (V + 1,)
            Frequencies of inputs; the unknown word last.
        count : int
            How many inputs to find for each output.

        Returns
        -------
        Channel or None
            The most likely inputs, with their joint probabilities.
        """
        return None

    # --- what else decides a draw, and what processes share

    @property
    def author(self) -> str:
        """Who answers for the law; empty for one of this package.

        What is computed of another law is not kept on disk: it changes with code that
        no digest covers.
        """
        return self.stated.claimed_by or _find_author(type(self))

    @property
    def tree(self) -> WordTree | None:
        """The public word tree that outputs are drawn from, if any."""
        return None

    @property
    def tree_law(self) -> TreeLaw | None:
        """The law by levels of that tree, if the words of a node are equally likely."""
        return None

    @property
    def flips(self) -> Flips | None:
        """Which bits flip, and how often, if the law flips bits of public codes."""
        return None

    @property
    def digests(self) -> Mapping[str, str]:
        """SHA-256, in hex, of public parts that decide a draw besides the space.

        Under ``codes``, ``tree`` or ``law``: keyed noise depends on them.
        """
        return {}

    @property
    def shared_bytes(self) -> int:
        """Memory with which processes compute laws for each other; 0 for none."""
        return 0

    def share(self, memory: Any, lock: AbstractContextManager[Any]) -> None:
        """Compute laws together with other processes, in memory of that size.

        Parameters
        ----------
        memory : buffer
            Memory that all processes see.
        lock : context manager
            Lock that all processes share.
        """
        raise NotImplementedError


def _find_author(cls: type) -> str:
    if cls.__module__.partition(".")[0] == "mondegreen":
        return ""
    return f"the author of {cls.__module__}.{cls.__qualname__}"


def certify(states: Sequence[State], progress: Progress = no_progress) -> None:
    """Compute the certificates of all states that can have one, and keep them."""
    for kind in dict.fromkeys(type(state) for state in states):
        kind.certify([state for state in states if type(state) is kind], progress)


def discrete_distances(first: Ids, second: Ids) -> Floats:
    """Compute the discrete metric: 1 between any two different inputs.

    Parameters
    ----------
    first, second : integer array
        Inputs.

    Returns
    -------
    float64 array, shape (first, second)

    Examples
    --------
    >>> discrete_distances(np.array([0, 1]), np.array([1, 2])).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    table: Floats = np.not_equal.outer(first, second).astype(np.float64)
    return table


def space_distances(
    space: Space,
    first: Ids,
    second: Ids,
    *,
    cutoff: float = math.inf,
    whitening: Vectors | None = None,
    norm: str = "euclidean",
) -> Floats:
    """Compute distances of the space, cut off, after a linear map where one is given.

    They are exactly 0 between inputs at one point, which nothing may tell apart.

    Parameters
    ----------
    space : Space
    first, second : int32 array
        Inputs ``0..V``.
    cutoff : float
        Larger distances count as this one.
    whitening : float array, shape (n, n), optional
        The linear map.
    norm : {"euclidean", "manhattan", "chebyshev"}
        Norm of the differences, on a Euclidean space.

    Returns
    -------
    float64 array, shape (first, second)

    Examples
    --------
    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("line", ["cold", "hot"], [[0], [9]])
    >>> ids = np.array([0, 1], dtype=np.int32)
    >>> space_distances(space, ids, ids, cutoff=4.0).tolist()
    [[0.0, 4.0], [4.0, 0.0]]
    """
    left, right = space.canonical[first], space.canonical[second]
    points, others = space.points(left), space.points(right)
    if whitening is not None:
        points, others = points @ whitening.T, others @ whitening.T
    if norm == "euclidean":
        table = distances(space.metric, points, others)
    else:
        table = norm_distances(norm, points, others)
    table[left[:, None] == right] = 0.0
    np.minimum(table, cutoff, out=table)
    return table


class AbstractMechanism(ABC):
    """A randomised map from words to words, as a small frozen record of parameters.

    Subclasses are final, frozen dataclasses with a field ``epsilon``. They hold no
    heavy state: :meth:`prepare` makes that once per process.

    Raises
    ------
    InvalidParameterError
        If a parameter is outside the range that it declares.

    Examples
    --------
    >>> from mondegreen.mechanisms import mechanism
    >>> made = mechanism("tem", epsilon=2.0)
    >>> isinstance(made, AbstractMechanism), made.to_dict()["name"]
    (True, 'tem')
    """

    __slots__ = ()

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    family: ClassVar[str]
    metric: ClassVar[str]
    is_private: ClassVar[bool] = False
    """Whether it has a proof. Each class says so itself, and no subclass inherits it:
    a proof is of one law."""

    space_metrics: ClassVar[tuple[str, ...]] = ("euclidean",)
    """Metrics of the spaces it can be prepared for; see :func:`check_space`."""

    digest_names: ClassVar[Mapping[str, str]] = {}
    """Names of parameters in the digest of keyed noise, where they are others."""

    searched: ClassVar[tuple[str, tuple[float, ...]] | None] = None
    """A parameter, and its values that a calibration tries where none is given."""

    def __init_subclass__(cls) -> None:
        if "is_private" not in vars(cls):
            cls.is_private = False
        # Here, since a worker gets a class by pickle, and asks for no plug-in.
        module = cls.__module__
        remember_plugin(module, f"the mechanism {module}.{cls.__qualname__}")

    def __post_init__(self) -> None:
        """Refuse parameters that are out of the interval that they declare."""
        for declared in fields(self):  # type: ignore[arg-type]
            within = declared.metadata.get("within")
            value = getattr(self, declared.name)
            takes_none = "None" in str(declared.type)
            if within and not (value is None and takes_none):
                object.__setattr__(self, declared.name, _check_number(declared, value))

    @abstractmethod
    def prepare(self, space: Space) -> State:
        """Return the mechanism ready to sample on ``space``.

        Parameters
        ----------
        space : Space
            Words with their vectors, codes or tree.

        Returns
        -------
        State
            Tables and search structures; made once, then only read.

        Raises
        ------
        ConfigurationError, SpaceError
            If the space has not what the mechanism needs.
        """

    def warm_up(  # noqa: B027 - most mechanisms have nothing to do
        self, space: Space, progress: Progress = no_progress
    ) -> None:
        """Do what ``prepare`` would take long for on a new space, and keep the result.

        ``progress`` is never called where there is nothing to do.

        Parameters
        ----------
        space : Space
            The space to prepare for.
        progress : callable, optional
            Called with the share that is done.
        """

    def promise(self, space: Space, **stated: Any) -> Guarantee:
        """Make the guarantee on ``space``: what all mechanisms state alike, and more.

        ``stated`` holds fields of :class:`~mondegreen.guarantee.Guarantee`, such as
        ``certified_how``; it replaces what stands here.

        Parameters
        ----------
        space : Space
            The space that the guarantee is stated on.
        **stated
            Fields of the guarantee that differ from the common ones.

        Returns
        -------
        Guarantee
            With metric, scale and digest of the space.
        """
        parameters = self.to_dict()["parameters"]
        usual = {
            "mechanism": self.name,
            "parameters": parameters,
            "epsilon": parameters["epsilon"],
            "metric": self.metric,
            # A space of codes alone has no other distances than those stated.
            "scale": space.geometry.to_dict() if space.has_vectors else {},
            "space": space.name,
            "space_digest": space.digest,
            "certified_how": "no certificate",
            "proof": "" if self.author() else f"docs/proofs/{self.name}.md",
            "hides_among": space.vocab_size,
        }
        return self.sign(Guarantee(**{**usual, **stated}))

    def sign(self, stated: Guarantee) -> Guarantee:
        """Say who claims a guarantee; without a proof it promises nothing.

        Parameters
        ----------
        stated : Guarantee
            Guarantee without an author.

        Returns
        -------
        Guarantee
            The same, with the author of a mechanism from elsewhere.
        """
        signed = replace(stated, claimed_by=self.author())
        return signed if self.is_private else signed.without_proof()

    @classmethod
    def author(cls) -> str:
        """Say who answers for a mechanism; empty for one of this package.

        Returns
        -------
        str
            The author, or "".
        """
        return _find_author(cls)

    def to_dict(self) -> dict[str, Any]:
        """Return ``{"name": ..., "parameters": {...}}`` as JSON values.

        Returns
        -------
        dict
            Name and parameters.
        """
        values = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        lists = {k: list(v) for k, v in values.items() if isinstance(v, tuple)}
        return {"name": self.name, "parameters": {**values, **lists}}

    @classmethod
    def collect_digested(cls, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters under the names that the digest of keyed noise has.

        Parameters
        ----------
        parameters : mapping
            Parameters by their names.

        Returns
        -------
        dict
            Parameters by the names in the digest.
        """
        names = cls.digest_names
        return {names.get(key, key): value for key, value in parameters.items()}

    @classmethod
    def parameters(cls) -> list[dict[str, Any]]:
        """Describe the parameters: name, default, range and meaning, for tables.

        Returns
        -------
        list of dict
            One for each parameter.
        """
        return [
            {
                "name": declared.name,
                "default": None if declared.default is MISSING else declared.default,
                "required": declared.default is MISSING,
                **{
                    key: declared.metadata.get(key, "")
                    for key in ("range", "unit", "help")
                },
            }
            for declared in fields(cls)  # type: ignore[arg-type]
        ]


def parameter(
    default: Any = MISSING,
    *,
    range: str,
    unit: str = "",
    help: str,
    within: tuple[float, float] | None = None,
) -> Any:
    """Declare a field of a mechanism with its range, unit and meaning.

    Parameters
    ----------
    default : object
        Without one, users must give the parameter.
    range, unit, help : str
        What ``mondegreen mechanisms --json`` says about it.
    within : tuple of float, optional
        The least and the largest number. Others are refused. A field of type ``int``
        keeps an integer, any other one a float. Without it the mechanism checks the
        field itself. None passes where the type has it.

    Returns
    -------
    dataclasses.Field

    Examples
    --------
    >>> made = parameter(0.5, range="[0, 1]", help="share that stays", within=(0, 1))
    >>> made.default, made.metadata["range"]
    (0.5, '[0, 1]')
    """
    metadata = {"range": range, "unit": unit, "help": help, "within": within}
    return field(default=default, metadata=metadata)


def epsilon_parameter(
    unit: str = "per unit of distance",
    *,
    range: str = "[1e-9, 1e9]",
    help: str = "loss in nats for two words one unit apart",
) -> Any:
    """Declare epsilon, which every mechanism has and no mechanism has a default for.

    Parameters
    ----------
    unit, range, help : str
        What ``mondegreen mechanisms --json`` says about it.

    Returns
    -------
    dataclasses.Field

    Examples
    --------
    >>> epsilon_parameter("nats").metadata["unit"]
    'nats'
    """
    return parameter(range=range, unit=unit, help=help, within=_EPSILONS)


def check_space(mechanism: AbstractMechanism, space: Space) -> None:
    """Refuse a space whose metric the mechanism is not made for; say what to use.

    Parameters
    ----------
    mechanism : AbstractMechanism
        Its ``space_metrics`` are allowed.
    space : Space

    Raises
    ------
    SpaceError
        If the metric of the space is another one.

    Examples
    --------
    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("line", ["cold", "hot"], [[0], [9]])
    >>> check_space(mg.mechanism("tem", epsilon=2.0), space)
    """
    if space.metric in mechanism.space_metrics:
        return
    name = f"space {space.name!r}"
    if not space.has_vectors:
        raise SpaceError(
            f"{mechanism.name} needs vectors; {name} has codes and no vectors: use "
            "brr on it, or take the space that it was made from"
        )
    hint = "build one with: mondegreen space build --metric poincare"
    if space.metric != "euclidean":
        hint = (
            "use exponential, tem, calibrated, tight, syntf or hyperbolic, or build a "
            "Euclidean space"
        )
    needed = " or ".join(mechanism.space_metrics)
    raise SpaceError(
        f"{mechanism.name} needs a space whose metric is {needed}; that of {name} is "
        f"{space.metric}: {hint}"
    )


def check_interval(
    name: str, value: float, low: float, high: float, allowed: str
) -> float:
    """Return a value as a float; refuse what is no real number in the interval."""
    real = int | float | np.integer | np.floating
    if isinstance(value, bool) or not isinstance(value, real):
        raise InvalidParameterError(name, value, allowed)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not low <= number <= high:
        raise InvalidParameterError(name, value, allowed)
    return number


def _check_number(declared: Field[Any], value: Any) -> float:
    """Return the number that a field keeps; refuse one that is not within its ends."""
    # One type is kept: 8, 8.0 and np.float32(8) must be one mechanism, with one digest,
    # and calculate in double precision. A count stays a count.
    low, high = declared.metadata["within"]
    is_count = _is_count(declared.type)
    allowed = f"{'an integer ' if is_count else ''}in {declared.metadata['range']}"
    number = check_interval(declared.name, value, low, high, allowed)
    if not is_count:
        return number
    if not number.is_integer():
        raise InvalidParameterError(declared.name, value, allowed)
    return int(value)


def _is_count(annotation: object) -> bool:
    """Whether an annotation, or the text of one, is that of integers alone."""
    text = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    return re.findall(r"\b(?:int|float|str|bool)\b", text) == ["int"]


def check_ids(ids: Ids, vocab_size: int) -> None:
    """Refuse ids that are no inputs of a space of that size.

    Parameters
    ----------
    ids : integer array, shape (T,)
    vocab_size : int
        V; inputs are ``0..V``.

    Raises
    ------
    InvalidParameterError
        If they are no integers, or out of range.

    Examples
    --------
    >>> check_ids(np.array([0, 3], dtype=np.int32), 3)
    """
    if ids.ndim != 1 or not np.issubdtype(ids.dtype, np.integer):
        given = f"an array of {ids.dtype}, shape {ids.shape}"
        raise InvalidParameterError("ids", given, "integers, shape (T,)")
    if len(ids) and (int(ids.min()) < 0 or int(ids.max()) > vocab_size):
        raise InvalidParameterError("ids", "one out of range", f"in 0..{vocab_size}")
