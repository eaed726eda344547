"""The tools of the scoreboard: controls, policies of mondegreen, and other packages."""

from __future__ import annotations

import functools
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, final

import numpy as np

import mondegreen as mg
from mondegreen.privatizer.build import build_privatizer
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.text.tokenizer import tokenize
from mondegreen_experiments.recipe import Point
from mondegreen_experiments.scoreboard.peers import run_command, run_peer

Kind: TypeAlias = Literal["control", "mondegreen", "peer"]

MASK: Final = "[MASK]"
HALF: Final = 0.5
"""Share of words that the control ``masks at random`` masks."""


@final
@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as it is listed: its title, its setting, and what it promises.

    ``nats`` says for what the loss is that a guarantee of mondegreen certifies; of
    another tool it is all that is said.
    """

    title: str
    kind: Kind
    setting: str
    nats: str
    settings: mg.Settings | None = None


_NONE: Final = "none"
_SMALL: Final = "spaCy's small English model 3.8.0 (a copy by a third party)"

TOOLS: Final[dict[str, Tool]] = {
    "nothing": Tool("masks nothing", "control", "the text itself", _NONE),
    "half": Tool("masks at random", "control", "every second word on average", _NONE),
    "everything": Tool("masks all", "control", "every word", "0"),
    "names": Tool(
        "mondegreen `names`",
        "mondegreen",
        "epsilon 12",
        "for a name",
        mg.Settings(policy="names", epsilon=12.0),
    ),
    "sensitive": Tool(
        "mondegreen `sensitive`",
        "mondegreen",
        "epsilon 12, the default policy",
        "for a sensitive word",
        mg.Settings(policy="sensitive", epsilon=12.0),
    ),
    "all": Tool(
        "mondegreen `all`",
        "mondegreen",
        "epsilon 10, a word tree",
        "for any word",
        mg.Settings(policy="all", epsilon=10.0),
    ),
    "santext": Tool(
        "SanText (ours)",
        "mondegreen",
        "`exponential`, epsilon 2.4",
        "for any word",
        mg.Settings(policy="all", mechanism="exponential", epsilon=2.4),
    ),
    "presidio-small": Tool(
        "Presidio, small model",
        "peer",
        f"presidio-analyzer and presidio-anonymizer 2.2.366 with {_SMALL}",
        _NONE,
    ),
    "presidio-medium": Tool(
        "Presidio, medium model",
        "peer",
        "the same with spaCy's medium English model 3.8.0 (a copy by a third party)",
        _NONE,
    ),
    "spacy-patterns": Tool(
        "spaCy and patterns",
        "peer",
        f"spaCy 3.8.18 with {_SMALL}: names, places, organizations, origins, dates; "
        "patterns for e-mail, addresses of pages and all that has a digit",
        _NONE,
    ),
    "scrubadub": Tool(
        "scrubadub",
        "peer",
        "2.0.1 with its own detectors, which find no names",
        _NONE,
    ),
    "mldp-10": Tool(
        "mldp-text, CMP 10",
        "peer",
        "0.1.2, CMP, epsilon 10, words in lower case",
        "none: unknown words are printed",
    ),
    "pypantera": Tool(
        "pypantera, SanText 2.4",
        "peer",
        "1.0.2, SanText, epsilon 2.4, on the vectors of mondegreen",
        "claimed: 39 for a known word",
    ),
    "diffractor": Tool(
        "dp-diffractor",
        "peer",
        "0.2.1, geometric, epsilon 1 (its defaults), one list of the vectors of "
        "mondegreen, a random seed",
        "none: stop words and unknown words are printed",
    ),
}

BLOCKED: Final = {
    "CluSanT": "The code of its authors needs clusters of names, which users make with "
    "their own language model, and a sentence encoder that is on no package index. "
    "Neither is available offline."
}
"""Tools that were asked for and cannot be measured, and why."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Released:
    """Releases in the order of the texts; empty where one was not released.

    ``seconds`` is the time that the tool took, none for a control; ``nats`` the largest
    certified loss between two words.
    """

    texts: Sequence[str]
    seconds: float | None
    nats: float | None = None

    def __repr__(self) -> str:
        return f"Released(<{len(self.texts)} texts>)"


def release_at(point: Point, texts: Sequence[str], seed: int) -> Released:
    """Release texts by the tool of a point, or by the command that it names."""
    name = str(point["tool"])
    if "command" in point:
        ran = run_command(shlex.split(str(point["command"])), texts)
        return Released(ran.texts, ran.seconds)
    if name in _CONTROLS:
        return Released(_CONTROLS[name](texts, seed), None)
    if TOOLS[name].kind == "peer":
        ran = run_peer(name, texts)
        return Released(ran.texts, ran.seconds)
    return release_by_policy(name, texts, seed)


def release_by_policy(name: str, texts: Sequence[str], seed: int) -> Released:
    """Release texts by mondegreen; a seed is for experiments alone."""
    privatizer = _prepare(name).with_noise(mg.Seeded(seed))
    privatizer.batch(list(texts[:1]))
    start = time.perf_counter()
    found = privatizer.batch(list(texts))
    seconds = time.perf_counter() - start
    guarantee = privatizer.guarantee
    loss = guarantee.certified
    return Released(
        [each.text if each else "" for each in found],
        seconds,
        None if loss is None else loss * guarantee.scale["diameter"],
    )


@functools.cache
def _prepare(name: str) -> Privatizer:
    settings = TOOLS[name].settings
    if settings is None:
        raise LookupError(name)
    return build_privatizer(settings)


def _mask_nothing(texts: Sequence[str], seed: int) -> list[str]:
    return list(texts)


def _mask_half(texts: Sequence[str], seed: int) -> list[str]:
    return _mask(texts, HALF, seed)


def _mask_everything(texts: Sequence[str], seed: int) -> list[str]:
    return _mask(texts, 1.0, seed)


def _mask(texts: Sequence[str], share: float, seed: int) -> list[str]:
    """Mask each word by itself with this chance."""
    rng = np.random.default_rng(seed)
    found = []
    for parts in tokenize(list(texts)).parts:
        words: list[Any] = list(parts or [""])
        hidden = rng.random(len(words)) < share
        for i in range(1, len(words), 2):
            if hidden[i]:
                words[i] = MASK
        found.append("".join(words))
    return found


_CONTROLS: Final[dict[str, Callable[[Sequence[str], int], list[str]]]] = {
    "nothing": _mask_nothing,
    "half": _mask_half,
    "everything": _mask_everything,
}
