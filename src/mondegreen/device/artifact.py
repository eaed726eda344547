"""The artifact: all that a device needs to draw the same words as this package.

``docs/reference/device-format.md`` is its specification.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mondegreen.device.coding import numbers, to_signed
from mondegreen.device.symbols import NOTES, Parts, describe_policy, policy_parts
from mondegreen.device.unicode import tables
from mondegreen.errors import InvalidParameterError
from mondegreen.mechanisms.base import Flips, State
from mondegreen.mechanisms.laws.tree import TreeLaw
from mondegreen.mechanisms.symbols.response import ResponseState
from mondegreen.privatizer.build import build_privatizer
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.sampling.noise import KeyedNoise
from mondegreen.settings import DEFAULT_MECHANISM, Settings
from mondegreen.space.space import Space
from mondegreen.text.never_printed import replacements
from mondegreen.text.structure import BLANKS, CURRENCY, GAP, SAME, SIGNS
from mondegreen.text.tokenizer import APOSTROPHES, CLITICS, HOSTS, LONGEST
from mondegreen.text.unicode import VERSIONS

FORMAT: Final = "mondegreen-device/1"
MECHANISMS: Final = ("tree", "brr")

_POLICIES: Final = ("case", "structure", "unknown")
"""Settings that an artifact names: a device refuses other values than the defaults."""

_ADVERSARY: Final = (
    "knows the mechanism, has the public language model of the package and sees the "
    "release; tried on sentences that the model itself wrote"
)
_KEYED: Final = KeyedNoise(bytes(range(32))).describe()


def artifact(
    space: Space,
    epsilons: Sequence[float],
    name: str = "tree",
    progress: Callable[[float], object] = lambda epsilon: None,
) -> bytes:
    """Write the artifact of a mechanism on a space, for one epsilon or several.

    A device that has it privatizes as ``Privatizer(mechanism(name, epsilon=epsilon),
    space)`` does, whose policies it has: words as the space has them, structure kept,
    unknown words privatized. The same input gives the same bytes under every version of
    Python and of ``regex``: the tables of Unicode are those of this package.

    Parameters
    ----------
    space : Space
        A public space, with a word tree, or with codes for ``brr``.
    epsilons : sequence of float
        In the order that a device shows them in.
    name : {"tree", "brr"}
        The mechanism, with its other parameters at their defaults.
    progress : callable, optional
        Called with each epsilon when it is done.

    Raises
    ------
    InvalidParameterError
        If there is no epsilon, or one twice, or the mechanism is none of these.

    Examples
    --------
    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("line", ["cold", "hot", "warm"], [[0], [9], [7]])
    >>> artifact(space, [2.0])[:19]
    b'mondegreen-device/1'
    """
    if name not in MECHANISMS:
        allowed = "one of " + ", ".join(MECHANISMS)
        raise InvalidParameterError("mechanism", name, allowed)
    _check_epsilons(epsilons)
    chosen = Settings(mechanism=name)
    privatizer, written = _prepare(chosen, epsilons, progress, space)
    state = privatizer.state
    tree = state.tree_law
    order, law = _codes(_compute_flips(state)) if tree is None else _tree(tree)
    words = "\n".join(space.words[word] for word in order.tolist())
    header = {
        "mechanism": name,
        "space": {"name": space.name, "digest": space.digest},
        "public": {k: v for k, v in state.digests.items() if k != "law"},
        "words": space.vocab_size,
        **_collect_shared(privatizer, _POLICIES, _ADVERSARY),
        "settings": written,
    }
    parts = {"words": words.encode(), **law, "printed": _print_json(space, order)}
    return pack(header, {**parts, **tables()})


def policy_artifact(
    settings: Settings,
    epsilons: Sequence[float],
    progress: Callable[[float], object] = lambda epsilon: None,
) -> bytes:
    """Write the artifact of a policy, for one epsilon or several.

    A device that has it privatizes as a privatizer of these settings does. The options
    of the policy are resolved: the artifact holds its words and groups.

    Parameters
    ----------
    settings : Settings
        With a policy, or the path of its file. Without one, that of ``urr`` is meant:
        ``sensitive``.
    epsilons : sequence of float
        In the order that a device shows them in.
    progress : callable, optional
        Called with each epsilon when it is done.

    Raises
    ------
    InvalidParameterError
        If there is no epsilon, or one twice.
    ConfigurationError
        If the policy is ``all``, which has a space, or holds a word that a device
        could not read.

    Examples
    --------
    >>> data = policy_artifact(Settings(policy="names"), [12.0])
    >>> data[:19]
    b'mondegreen-device/1'
    """
    _check_epsilons(epsilons)
    named = settings.mechanism or DEFAULT_MECHANISM
    chosen = replace(settings, mechanism=named).resolve()
    if chosen.numbers != "hide":
        raise InvalidParameterError("numbers", chosen.numbers, "hide, on a device")
    if chosen.same == "key":
        raise InvalidParameterError("same", "key", "place or record, on a device")
    privatizer, written = _prepare(chosen, epsilons, progress)
    policy = privatizer.policy
    if policy is None:  # a mechanism over a policy has one
        raise InvalidParameterError("policy", chosen.policy, "sensitive or names")
    header = {
        "mechanism": chosen.mechanism,
        "space": {"name": policy.name, "digest": policy.digest},
        "public": {},
        "words": len(policy.words),
        "policy": describe_policy(policy),
        **_collect_shared(privatizer, (*_POLICIES, "same"), NOTES),
        "settings": written,
    }
    return pack(header, {**policy_parts(policy), **tables()})


def _check_epsilons(epsilons: Sequence[float]) -> None:
    if not epsilons or len(set(map(float, epsilons))) < len(epsilons):
        allowed = "one or more, each once"
        raise InvalidParameterError("epsilon", list(epsilons), allowed)


def _prepare(
    settings: Settings,
    epsilons: Sequence[float],
    progress: Callable[[float], object],
    space: Space | None = None,
) -> tuple[Privatizer, list[dict[str, Any]]]:
    """Build the privatizer of each epsilon; return the last, and what all promise."""
    written = []
    for epsilon in epsilons:
        chosen = replace(settings, epsilon=float(epsilon))
        privatizer = build_privatizer(chosen, space=space)
        written.append(_setting(privatizer))
        progress(float(epsilon))
    return privatizer, written


def _collect_shared(
    privatizer: Privatizer, policies: Sequence[str], adversary: str
) -> dict[str, Any]:
    """What the headers of spaces and of policies have in common."""
    printed = privatizer._settings.to_dict()
    return {
        "unicode": VERSIONS,
        "text": _text(),
        "policies": {policy: printed[policy] for policy in policies},
        "noise": {"fresh": privatizer.noise.describe(), "keyed": _KEYED},
        "adversary": adversary,
    }


def pack(header: dict[str, Any], parts: Parts) -> bytes:
    """Put a header and parts into one piece of bytes, which ends with its digest."""
    sections = [[part, len(data)] for part, data in parts.items()]
    found = {"format": FORMAT, **header, "sections": sections}
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()
    size = len(text).to_bytes(4, "little")
    whole = b"".join([f"{FORMAT}\n".encode(), size, text, *parts.values()])
    return whole + hashlib.sha256(whole).digest()


def _text() -> dict[str, Any]:
    """The public lists of the tokenizer and of the lookup."""
    return {
        "signs": SIGNS,
        "currency": CURRENCY,
        "blanks": BLANKS,
        "apostrophes": APOSTROPHES,
        "gap": GAP,
        "same": SAME,
        "longest": LONGEST,
        "endings": CLITICS,
        "hosts": HOSTS,
    }


def _setting(privatizer: Privatizer) -> dict[str, Any]:
    """What a device needs of one epsilon, and what it tells people of it."""
    state, promise = privatizer.state, privatizer.guarantee
    law: dict[str, Any]
    if state.tree_law is not None:
        law = {"weights": list(map(str, state.tree_law.weights))}
    elif isinstance(state, ResponseState):
        law = {"stray": str(state.response.stray)}
    else:
        law = {"threshold": str(_compute_flips(state).threshold)}
    preview = privatizer.preview(with_attacker=True)
    guarantee = promise.to_dict()
    guarantee.pop("small_formats", None)  # the summary names them
    return {
        "epsilon": promise.epsilon,
        **law,
        "digest": privatizer.digest.hex(),
        "preview": preview.to_dict(),
        "guarantee": guarantee,
        "summary": promise.summary(),
        "protection": preview.protection(promise),
    }


def _compute_flips(state: State) -> Flips:
    if state.flips is None:
        given, allowed = state.stated.mechanism, "one of a word tree or of codes"
        raise InvalidParameterError("mechanism", given, allowed)
    return state.flips


def _tree(law: TreeLaw) -> tuple[NDArray[np.integer], Parts]:
    """The words in the order of the tree, and the sizes of its nodes."""
    tree = law.tree
    levels = [tree.sizes(level).tolist() for level in range(tree.levels)]
    listed = [row if max(row) > 1 else [] for row in levels]  # none: single words
    sizes = [n for row in listed for n in (len(row), *row)]
    return tree.order, {"tree": numbers(sizes)}


def _codes(law: Flips) -> tuple[NDArray[np.integer], Parts]:
    """The words in the order of their codes, as they are searched, and the codes."""
    codes = law.codes
    table, inverse, counts = np.unique(
        codes.table, axis=0, return_inverse=True, return_counts=True
    )
    order = np.argsort(inverse.ravel(), kind="stable")
    return order, {
        "codes": table.tobytes(),
        "unknown": codes.unknown.tobytes(),
        "counts": numbers(counts.tolist()),
    }


def _print_json(space: Space, order: NDArray[np.integer]) -> bytes:
    """The places of words that are never printed, and of those in their stead."""
    place = np.argsort(order)
    pairs = replacements(space).items()
    found = sorted((int(place[word]), int(place[other])) for word, other in pairs)
    steps, last = [], 0
    for word, other in found:
        steps += [word - last, to_signed(other - word)]
        last = word
    return numbers(steps)
