r"""Masks that show the length of a word, or some of its letters.

``*****`` may have the length of *Leeds*, and ``L****`` also shows how it begins. An
attacker learns from known releases what the masks of a form show. The form of a mask is
its text with one sign for each run of letters, digits or hidden letters: ``a*`` for
``L****``. A mask of a form shows the length of its word if

- the masks of this form have different lengths, and
- at least nine of ten have the length of their word.

It shows the first letters of its word, the last ones, or the letters at all of their
places, if at least nine of ten masks of the form do. Forms of fewer than five known
masks tell nothing. The attacker then tries just the words that fit.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.attacks.any_tool.rows import MASKED, MOVED, REPLACED, Row
from mondegreen.attacks.readings import plain

_SIGNS: Final = "*#_•●█■▇…"
_is_sign = re.compile(rf"[{_SIGNS}]*").fullmatch
_end_in_signs = re.compile(rf"[{_SIGNS}]*\Z")
_begin_with_signs = re.compile(rf"[{_SIGNS}]*").match
_unify = re.compile(rf"[{_SIGNS}]").sub
_hide_x = re.compile("x{2,}").sub
_is_shape = re.compile(r"(?:[^\W_]|\*)+").fullmatch
_find_runs = re.compile(r"(?P<sign>\*+)|(?P<digits>\d+)|[^\W\d_]+").sub

_MOST_LETTERS: Final = 2
"""A longer word without a hidden letter is no initial, but another word."""

_LEAST_KNOWN: Final = 5
_RELIABLE: Final = 0.9

Marks = NDArray[np.bool_]


class Shape(NamedTuple):
    """What a mask looks like: its text, with ``*`` for each hidden letter."""

    text: str

    @property
    def form(self) -> str:
        """The kinds of its parts, in order.

        >>> Shape("l***s").form, Shape("**8").form
        ('a*a', '*0')
        """

        def name(run: re.Match[str]) -> str:
            return "*" if run["sign"] else "0" if run["digits"] else "a"

        return _find_runs(name, self.text)

    @property
    def begin(self) -> str:
        return self.text.partition("*")[0]

    @property
    def end(self) -> str:
        """The letters behind all hidden ones; of an initial there are none."""
        return self.text.rpartition("*")[2] if "*" in self.text else ""

    def has_letters_of(self, word: str) -> bool:
        """Whether a word of this length has the same letters at their places."""
        return len(word) == len(self.text) and all(
            shown in ("*", own) for shown, own in zip(self.text, word, strict=True)
        )


_TESTS: Final[tuple[Callable[[Shape, str], bool], ...]] = (
    lambda shape, word: len(word) == len(shape.text),
    lambda shape, word: word.startswith(shape.begin),
    lambda shape, word: word.endswith(shape.end),
    Shape.has_letters_of,
)
_LENGTH, _BEGIN, _END, _EVERY = range(len(_TESTS))


def read_shape(row: Row, place: int) -> Shape | None:
    """Read the shape of the mask of a word; None if it has none.

    Signs and letters beside the mask belong to it. A mask of several words tells
    nothing of each, and a whole other word is no mask.

    Examples
    --------
    >>> from mondegreen.attacks.any_tool.rows import Given, read_rows
    >>> given = Given(1, "Ann Hughes left Leeds.", "A. ****** left L***s.")
    >>> (row,) = read_rows([given])
    >>> [read_shape(row, place) for place in (0, 1, 2, 3)]
    [Shape(text='a'), Shape(text='******'), None, Shape(text='l***s')]
    """
    at = row.target[place]
    beside = row.target[max(0, place - 1) : place] + row.target[place + 1 : place + 2]
    if row.fate[place] not in (REPLACED, MASKED) or at in beside:
        return None
    keys, gaps = row.released.keys, row.released.gaps
    first = last = at
    while first and _is_sign(gaps[first]):
        first -= 1
    while last + 1 < len(keys) and _is_sign(gaps[last + 1]):
        last += 1
    before = _end_in_signs.search(gaps[first])
    behind = _begin_with_signs(gaps[last + 1])
    text = before.group() if before else ""
    text += keys[first]
    for i in range(first + 1, last + 1):
        text += gaps[i] + keys[i]
    text += behind.group() if behind else ""
    text = _hide_x(lambda run: "*" * len(run[0]), _unify("*", text).lower())
    if not _is_shape(text) or ("*" not in text and len(text) > _MOST_LETTERS):
        return None
    return Shape(plain(text))


@final
@dataclass(frozen=True, slots=True)
class Shown:
    """What the masks of each form show of their words: which of the tests they pass."""

    by_form: dict[str, tuple[int, ...]]

    @property
    def tells(self) -> bool:
        """Whether the masks of a form show something of their words."""
        return any(self.by_form.values())

    def tests(self, shape: Shape | None) -> tuple[int, ...]:
        """List what a mask shows of its word; nothing if its form is not known."""
        return () if shape is None else self.by_form.get(shape.form, ())

    def has_fit(self, shape: Shape | None, word: str) -> bool:
        """Tell whether a word may be behind a mask."""
        tests = self.tests(shape)
        if shape is None or not tests:
            return True
        word = plain(word)
        return all(_TESTS[test](shape, word) for test in tests)


def learn_shown(rows: Iterable[Row]) -> Shown:
    """Learn what masks show from rows whose words are known.

    Examples
    --------
    >>> from mondegreen.attacks.any_tool.rows import Given, read_rows
    >>> towns = "Leeds", "Oslo", "Bristol", "Lisbon", "Dublin"
    >>> given = [
    ...     Given(i, f"In {town}.", f"In {'*' * len(town)}.")
    ...     for i, town in enumerate(towns)
    ... ]
    >>> shown = learn_shown(read_rows(given))
    >>> [shown.has_fit(Shape("****"), town) for town in ("york", "london")]
    [True, False]
    """
    passed: dict[str, list[list[bool]]] = defaultdict(list)
    lengths: dict[str, set[int]] = defaultdict(set)
    for row in rows:
        for place, word in enumerate(row.words):
            shape = read_shape(row, place) if row.fate[place] > MOVED else None
            if shape is not None:
                known = plain(word)
                passed[shape.form].append([test(shape, known) for test in _TESTS])
                lengths[shape.form].add(len(shape.text))
    found = {}
    for form, each in passed.items():
        says = np.mean(each, axis=0) >= _RELIABLE
        says &= _list_possible(form, lengths[form])
        if len(each) >= _LEAST_KNOWN:
            found[form] = tuple(np.flatnonzero(says).tolist())
    return Shown(found)


def _list_possible(form: str, lengths: set[int]) -> tuple[bool, ...]:
    """Tell which tests may say something: no word can fail the others.

    The only length of a form is that of a constant mask.
    """
    has_letters = form.strip("*") != ""
    return (
        len(lengths) > 1,
        has_letters and form[0] != "*",
        has_letters and "*" in form and form[-1] != "*",
        form.count("*") > 1 and len(lengths) > 1,
    )


@final
class Fitting:
    """Words in an order, and which of them fit a shape.

    Parameters
    ----------
    words : sequence of str
        Folded words.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = [*map(plain, words)]
        self._lengths = np.array([*map(len, self._words)], dtype=np.int64)
        self._first, self._last = (
            np.array([ord(word[at]) if word else -1 for word in self._words])
            for at in (0, -1)
        )

    def find(self, shape: Shape, shown: Shown) -> Marks:
        """Mark the words that may be behind a mask; bool array, shape (words,)."""
        tests = shown.tests(shape)
        found = np.ones(len(self._words), dtype=np.bool_)
        if _LENGTH in tests or _EVERY in tests:
            found &= self._lengths == len(shape.text)
        if _BEGIN in tests and shape.begin:
            found &= self._first == ord(shape.begin[0])
        if _END in tests and shape.end:
            found &= self._last == ord(shape.end[-1])
        compared = bool(shape.begin) + bool(shape.end)
        if len(shape.text.replace("*", "")) > compared:
            for i in np.flatnonzero(found).tolist():
                found[i] = shown.has_fit(shape, self._words[i])
        return found
