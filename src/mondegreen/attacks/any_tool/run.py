"""All attacks on a release of any tool, in bounded memory."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from typing import Final, Protocol, final

import numpy as np

from mondegreen.attacks.any_tool.labels import infer_labels
from mondegreen.attacks.any_tool.linkage import DisplacedRows, link, single_out
from mondegreen.attacks.any_tool.reader import PublicReader, compute_chance, read_hidden
from mondegreen.attacks.any_tool.rows import Given, Row, read_rows
from mondegreen.attacks.any_tool.surrogates import solve_surrogates
from mondegreen.attacks.any_tool.survivors import Survivors, UnchangedRows
from mondegreen.attacks.attack import Attack
from mondegreen.attacks.related_rows import Beside
from mondegreen.language.ngrams import NGrams
from mondegreen.space.space import Space

ORDER: Final = (
    "survivors",
    "partly_left",
    "unchanged_rows",
    "displaced_rows",
    "reader",
    "surrogates",
    "linkage",
    "attribute",
    "identity",
)
"""The attacks, as they are shown."""


class _Counter(Protocol):
    def add(self, row: Row) -> None: ...


@final
@dataclass(frozen=True, slots=True)
class Found:
    """What all attacks found, and how much was read.

    Parameters
    ----------
    attacks : dict of str to Attack
        ``survivors``, ``unchanged_rows``, ``displaced_rows``, ``reader`` and
        ``linkage`` are always there.
    texts, words : int
        Of all originals.
    sampled : int
        Texts that the other attacks were made on.
    displaced : float
        Share of releases that belong to the original of another row.
    """

    attacks: dict[str, Attack]
    texts: int
    words: int
    sampled: int
    displaced: float


def attack_release(
    given: Iterable[Given],
    language: NGrams,
    space: Space,
    *,
    known: Sequence[str] = (),
    known_beside: Sequence[Beside] = (),
    has_spans: bool = False,
    sample: int = 2000,
    seed: int = 0,
    tell: Callable[[str], object] = lambda message: None,
) -> Found:
    """Attack a release that any tool made.

    Parameters
    ----------
    given : iterable of Given
        Originals and releases. Survivors and unchanged rows are counted in all.
    language : NGrams
        A model of PUBLIC text, over the words of ``space``, which the reader knows.
    space : Space
    known : sequence of str
        Other texts of the domain that the attacker has. Hidden words are copied from
        similar ones.
    known_beside : sequence of Beside
        What is beside each of these texts, in their file; nothing if not given.
    has_spans : bool
        Whether the rows have annotations: they are then what a tool is to hide. If not,
        the sensitive words of the shipped lexicon are.
    sample : int
        Texts that the other attacks take, drawn at random: memory grows with these
        alone.
    seed : int
        Fixes which texts are drawn.
    tell : callable
        Gets the name of each step.

    Returns
    -------
    Found

    Examples
    --------
    >>> import mondegreen as mg
    >>> from mondegreen.language.store import load_language
    >>> rows = [
    ...     Given(1, "Ann lives in Oslo.", "[NAME] lives in Oslo."),
    ...     Given(2, "Bob met Ann.", "[NAME] met [NAME]."),
    ... ]
    >>> found = attack_release(rows, load_language(), mg.load_space())
    >>> found.attacks["survivors"].value, found.attacks["survivors"].n
    (0.25, 4)
    """
    unit = "annotated units" if has_spans else "sensitive words"
    survivors, unchanged = Survivors(unit), UnchangedRows(unit)
    displaced = DisplacedRows()
    tell("survivors")
    rows = _sample(given, [survivors, unchanged, displaced], sample, seed)
    found = {
        "survivors": survivors.attack(compute_chance(rows)),
        **({"partly_left": survivors.attack_parts()} if has_spans else {}),
        "unchanged_rows": unchanged.attack(),
        "displaced_rows": displaced.attack(),
    }
    tell("reader")
    reader = PublicReader(language, space, rows, known, known_beside)
    found["reader"] = read_hidden(rows, reader, unit)
    tell("surrogates")
    others = {
        "surrogates": solve_surrogates(rows, reader),
        "linkage": link(rows) or _nobody("linkage"),
        "attribute": infer_labels(rows),
        "identity": single_out(rows) if has_spans else None,
    }
    found |= {name: each for name, each in others.items() if each is not None}
    count = found["displaced_rows"]
    share = (count.value or 0) / max(1, count.n)
    return Found(found, survivors.texts, survivors.words, len(rows), share)


def read_release(
    given: Iterable[Given],
    language: NGrams,
    space: Space,
    *,
    known: Sequence[str] = (),
    known_beside: Sequence[Beside] = (),
    sample: int = 2000,
    seed: int = 0,
) -> dict[str, Attack]:
    """Count what a release leaves, and guess the rest, without knowing its law.

    The parameters are those of :func:`attack_release`.

    Returns
    -------
    dict of str to Attack
        ``survivors`` and ``reader``.
    """
    unit = "sensitive words"
    survivors = Survivors(unit)
    rows = _sample(given, [survivors], sample, seed)
    reader = PublicReader(language, space, rows, known, known_beside)
    return {
        "survivors": survivors.attack(compute_chance(rows)),
        "reader": read_hidden(rows, reader, unit),
    }


def _nobody(name: str) -> Attack:
    return Attack(name, "needs two texts", None, None, None, None, 0, "share of texts")


def _sample(
    given: Iterable[Given], counters: Sequence[_Counter], count: int, seed: int
) -> Sequence[Row]:
    """Show the counters all texts, and keep those of some rows, in their order.

    Each row gets a random number. The rows with the smallest ones are kept, whole, as
    long as they have at most ``count`` texts together.
    """
    rng = np.random.default_rng(seed)
    kept: list[tuple[float, int, list[Row]]] = []
    size = 0
    for number, group in groupby(read_rows(given), key=lambda row: row.number):
        texts = [*group]
        for row, counter in product(texts, counters):
            counter.add(row)
        heapq.heappush(kept, (-rng.random(), number, texts))
        size += len(texts)
        while size > count and len(kept) > 1:
            size -= len(heapq.heappop(kept)[2])
    kept.sort(key=lambda some: some[1])
    return [row for _, _, texts in kept for row in texts]
