"""A policy: the symbol of every word, the words of every symbol, and a digest."""

from __future__ import annotations

import bisect
import functools
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from mondegreen.arrays import Ids, Weights
from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    SourceError,
    UnknownNameError,
)
from mondegreen.files import read_bytes
from mondegreen.guarantee import ONE_DIGIT
from mondegreen.policy.alphabet import Alphabet
from mondegreen.policy.lexicon import Kind, Lexicon, load_lexicon
from mondegreen.policy.numbers import Grid, Near
from mondegreen.policy.shapes import PLACES, SHAPES
from mondegreen.sampling.integers import draw_uniform
from mondegreen.settings import Numbers, Settings, is_policy_path
from mondegreen.text.never_printed import never_printed
from mondegreen.text.print_forms import public_cases
from mondegreen.text.tokenizer import CLITICS, canonical, tokenize

HIDE_AMONG: Final = 100
"""The default target: words that a group has, where its class has as many."""

_FEWEST: Final = 20
"""Fewer words are no group, whatever their grammar."""

_FEWEST_CLOSED: Final = 5
"""Fewer words of a format are none: they hide among other words."""

_ENOUGH: Final = 0.6
"""A part of a class stays apart if it has this share of the words that are wanted."""

_BAND: Final = 5
"""Large lists of unrelated words are cut into bands of this many times HIDE_AMONG."""

_OPEN: Final[Mapping[str, frozenset[str]]] = {
    "sensitive": frozenset(),
    "names": frozenset(
        "activity animal belief body crime education event family food health home "
        "money nature number_word occupation origin people politics product rest "
        "sexuality".split()
    ),
}
"""Classes that each shipped policy shows."""

# Classes that lend each other words where one has too few: alike in what they tell.
_SIMILAR: Final = (
    ("family", "people", "occupation", "education"),
    ("health", "body", "sexuality"),
    ("belief", "politics"),
    ("crime", "money", "home", "event"),
    ("activity", "product", "food", "animal", "nature", "rest"),
    ("place", "organization"),
)

_NAMES: Final = ("first_name", "surname", "place", "organization", "other_name")
"""Classes that are one group each, and are printed with a capital."""

_SMALL: Final = (
    *("occupation", "people", "family", "animal", "food", "home", "body"),
    *("health", "crime", "education"),
)
"""Classes of common words, which have no capital even where a name is spelled so."""

_SMALL_ORIGINS: Final = frozenset(
    "immigrants migrants emigrants refugees foreigners natives nationals newcomers "
    "countrymen compatriots expatriates".split()
)
"""Words of the class ``origin`` that name no people, and so have no capital."""

ADDRESS_PARTS: Final = frozenset(
    "com org net edu gov io co www http https html htm pdf php jpg png txt csv doc "
    "docx".split()
)
"""Ordinary parts of addresses and file names."""

_FORMS: Final = {"s": "singular", "p": "plural", "b": "verb", "z": "verb, -s"} | {
    "d": "past", "g": "-ing", "j": "adjective", "r": "adverb",
}  # fmt: skip

_CLOSED: Final[Mapping[Kind, str]] = {
    ("number_word", "u"): "two to nine",
    ("number_word", "v"): "ten to ninety",
    ("number_word", "l"): "hundred and more",
    ("number_word", "x"): "hundreds and more",
    ("number_word", "o"): "ordinal",
    ("number_word", "i"): "Roman",
    ("time", "w"): "weekday",
    ("time", "y"): "weekdays",
    ("time", "e"): "short weekday",
    ("time", "h"): "month",
    ("time", "f"): "short month",
    ("time", "k"): "season",
}
"""Number words and times that are formats, as digits are: their few words are all."""

_SMALL_FORMATS: Final[Mapping[Kind, str]] = {
    ("number_word", "u"): "two to nine",
    ("number_word", "v"): "ten to ninety",
    ("number_word", "o"): "tenth",
    ("number_word", "l"): "million",
    ("number_word", "x"): "millions",
    ("number_word", "i"): "Roman number",
    ("time", "w"): "weekday",
    ("time", "y"): "weekdays",
    ("time", "h"): "month",
    ("time", "k"): "season",
    ("time", "e"): "Mon",
    ("time", "f"): "Jan",
}
"""Formats of words that are smaller than groups. A guarantee names all of them."""

_SMALL_SHAPES: Final = ("decade", "time of day", "letter")
"""Formats of signs that are smaller than groups, besides one digit and parts of dates.
"""

_DATED: Final = ("w", "y", "e", "h", "f")
"""Forms of times that are printed with a capital."""

_PARTS: Final[Mapping[str, str]] = {
    "c": "care",
    "t": "treatment",
    "l": "law",
    "w": "weapon",
    "o": "person",
    "h": "thing",
}
"""Parts of a class: the second letter of a form. ``sc`` is singular, of care."""

_FORM_NAMES: Final[Mapping[str, str]] = {
    **_FORMS,
    **{form: name for (_, form), name in _CLOSED.items()},
    "a": "adjective of a field",
    "m": "noun without a plural",
    "n": "country",
    "t": "state or region",
}

GRID: Final = Grid()
"""The public grid of ``--numbers near``: 1 to 1,000,000, ten cells per decade."""

RULES: Final = 5
"""Number of the rules of lookup, shapes and printing: a change of them is another.

Since 4, dates and times are one word. Since 5, a number beside a month is printed as a
valid day of it (:mod:`mondegreen.policy.days`).
"""

_LAP: Final = re.compile("(?<=.)xx[0-9]+$")
"""What a printed word ends in where all outputs of its group were used before."""

UNKNOWN_FORMS: Final = (("ing", "g"), ("ed", "d"), ("ly", "r"), ("s", "p"))
"""Endings of unknown words, and the grammatical form that each shows."""


@final
@dataclass(frozen=True, slots=True)
class Group:
    """Words that cannot be told from each other: any of ``words`` is printed for all.

    A sensitive word *hides among* ``words``, which ``inputs`` counts. Known words that
    are never printed and unknown ones hide among them, too.
    """

    class_name: str
    form: str
    words: tuple[str, ...]
    inputs: int


@final
class Policy:
    """What is ordinary, what is sensitive, and among which words a sensitive one hides.

    A public function from tokens to symbols, fixed before any text is seen. Symbols
    ``0..|O|-1`` are ordinary words, then come the groups of words, then the shapes.

    Parameters
    ----------
    lexicon : Lexicon
        The words.
    name : str
        ``sensitive`` or ``names``.
    opened, hidden : iterable of str
        Classes that are shown, and hidden, whatever the policy of that name does.
    ordinary, sensitive : iterable of str
        PUBLIC words that are ordinary in this field, and that must hide. An ordinary
        word that the lists have as a name, too (``port``, a place), hides where it has
        a capital, unless it is given with one: ``Port``.
    most_ordinary : int, at least 0, optional
        Words of the lexicon that are ordinary, the most frequent ones; all others hide,
        besides ``ordinary`` and the classes that are shown. By default all of them.
    hide_among : int, at least 2
        Words that each group has at least, where its class and similar ones have them.
    numbers : {"hide", "near", "plain"}
        What happens to amounts: they have the symbol of their format, or that of their
        cell of :data:`GRID`, or pass as a part of the structure.
    near : float, nats per cell
        Rate of the noise of cells.

    Examples
    --------
    >>> policy = load_policy("sensitive")
    >>> policy.find_class("the"), policy.find_class("diabetes")
    ('ordinary', 'health')
    """

    def __init__(
        self,
        lexicon: Lexicon,
        name: str = "sensitive",
        *,
        opened: Iterable[str] = (),
        hidden: Iterable[str] = (),
        ordinary: Iterable[str] = (),
        sensitive: Iterable[str] = (),
        most_ordinary: int | None = None,
        hide_among: int = HIDE_AMONG,
        numbers: Numbers = Settings.numbers,
        near: float = Settings.near,
    ) -> None:
        if name not in _OPEN and name != lexicon.header.get("name"):
            raise UnknownNameError("policy", name, sorted(_OPEN))
        shown_by_name = _OPEN.get(name, frozenset(lexicon.header.get("opened", ())))
        self.name, self.lexicon, self.hide_among = name, lexicon, hide_among
        self.numbers = numbers
        noise = Near(GRID, near) if numbers == "near" else None
        self.shapes = (*SHAPES, *(() if noise is None else GRID.shapes()))
        self.opened = frozenset(opened) | shown_by_name - frozenset(hidden)
        for each in (*opened, *hidden):
            if each not in lexicon.classes:
                raise UnknownNameError("class", each, list(lexicon.classes))
        ordinary = tuple(ordinary)
        own = _check_words("ordinary", ordinary)
        never = _check_words("sensitive", sensitive)
        if most_ordinary is not None and most_ordinary < 0:
            raise InvalidParameterError("most_ordinary", most_ordinary, "0 or more")
        self._own, self._spellings = own, ordinary
        common = lexicon.ordinary[:most_ordinary]
        shown = [*common, *CLITICS, *sorted(own), *sorted(ADDRESS_PARTS)]
        for (kind, _), words in lexicon.words.items():
            shown += words if kind in self.opened else ()
        banned = never_printed()
        for (kind, _), words in lexicon.unprinted.items():
            # Known words, which would be odd as surrogates; those of rest may be names.
            if kind in self.opened - {"rest"}:
                shown += (word for word in words if word not in banned)
        self.ordinary = tuple(w for w in dict.fromkeys(shown) if w not in never)
        self.symbols: dict[str, int] = {
            word: symbol for symbol, word in enumerate(self.ordinary)
        }
        self.groups = self._make_groups(
            never.union(lexicon.ordinary).difference(self.ordinary)
        )
        self._opened_names = self._find_opened_names()
        self._index_capitals()
        self._index_outputs()
        self.digest = self._make_digest(near)
        self.alphabet = Alphabet(
            name,
            self.digest,
            len(self.ordinary),
            len(self.groups) + len(self.shapes),
            self._hides_among(),
            tuple(self._list_small_formats()),
            noise,
        )

    # --- which symbol

    def _make_groups(self, never: frozenset[str]) -> tuple[Group, ...]:
        """Cut the sensitive words into groups, and give them their symbols."""
        known = self.symbols
        lists = {
            kind: [word for word in words if word not in known]
            for kind, words in self.lexicon.words.items()
            if kind[0] not in self.opened
        }
        formats = {
            kind: words
            for kind, words in lists.items()
            if kind in _CLOSED and len(words) >= _FEWEST_CLOSED
        }
        others = {kind: lists[kind] for kind in lists.keys() - formats.keys()}
        lists = _merge_small(others, self.hide_among) | formats
        found: list[Group] = []
        self.group_of: dict[Kind, int] = {}  # the group of unknown words of a kind
        for kind, words in sorted(lists.items()):
            for band in self._bands(kind, words):
                symbol = len(self.ordinary) + len(found)
                known.update(dict.fromkeys(band, symbol))
                self.group_of[kind] = symbol
                found.append(Group(*kind, tuple(map(_print(*kind), band)), len(band)))
        if not found:
            raise ConfigurationError(
                "no class of words is hidden: leave out one --open"
            )
        shown = frozenset(self.ordinary)
        for (name, form), hidden in self.lexicon.unprinted.items():
            symbol = self.find_group(name, form)
            known.update(dict.fromkeys([w for w in hidden if w not in shown], symbol))
        for word in sorted(never):  # an order that every process has
            known[word] = known.get(word, self.find_group("rest", find_form(word)))
        return tuple(found)

    def _bands(self, kind: Kind, words: list[str]) -> list[list[str]]:
        """Cut a long list of unrelated words into bands of like frequency."""
        size = _BAND * self.hide_among
        if kind[0] in _NAMES or len(words) < 2 * size:
            return [words]
        count = len(words) // size
        edges = [len(words) * i // count for i in range(count + 1)]
        return [words[a:b] for a, b in pairwise(edges)]

    def find_group(self, kind: str, form: str) -> int:
        """The symbol of the group that unknown words of a class and form belong to."""
        # Grammar before kind: a verb comes out as a verb.
        base = form[:1]  # without the part of the class
        same_form = ((kind, form), (kind, base), *_pool(kind, base), ("rest", base))
        wanted = (*same_form, (kind, "s"), *_pool(kind, "s"))
        spare = (("rest", "s"), ("other_name", "s"), next(iter(self.group_of)))
        return next(self.group_of[k] for k in (*wanted, *spare) if k in self.group_of)

    def _index_capitals(self) -> None:
        """Index ordinary words that are names where they have capitals."""
        lexicon, known = self.lexicon, self.symbols
        # "Massive Dynamic": an ordinary word with a capital is a part of some name.
        usual = lexicon.cased.union(self._own, *lexicon.capital.values())
        usual = usual.union(self._opened_names)
        name = self.find_group("other_name", "s")
        self.capitals: dict[str, int] = {
            word: name for word in self.ordinary if word not in usual
        }
        self.upper: dict[str, int] = {}
        tables: list[tuple[Kind, tuple[str, ...], dict[str, int]]] = [
            (kind, words, self.capitals) for kind, words in lexicon.capital.items()
        ]
        tables += [(kind, words, self.upper) for kind, words in lexicon.upper.items()]
        for kind, words, table in tables:
            if kind[0] not in self.opened:
                symbol = self.find_group(*kind)
                table.update((word, symbol) for word in words if word in known)
        self._show_own_names()
        self.starts = lexicon.start
        # Words that a list has as names; others with a capital are only unusual.
        self.names = {w: s for w, s in self.capitals.items() if s != name}

    def _find_opened_names(self) -> dict[str, str]:
        """Map words of opened classes of names to their spelling: Oslo, Friday."""
        return {
            word: _print(kind, form)(word)
            for (kind, form), words in self.lexicon.words.items()
            if kind in self.opened and _is_capitalized(kind, form)
            for word in words
        }

    def _show_own_names(self) -> None:
        """Show a user's own words as they are spelled in the list, names or not."""
        for spelled in self._spellings:
            folded = canonical(spelled)
            if len(spelled) > 1 and spelled.isupper():
                self.upper[folded] = self.symbols[folded]
            elif spelled[:1].isupper():
                self.capitals.pop(folded, 0)

    def list_own_names(self) -> tuple[str, ...]:
        """List a user's own ordinary words that hide with a capital, spelled so.

        >>> load_policy("sensitive", ordinary=("port", "router")).list_own_names()
        ('Port',)
        """
        hidden = self._own & self.capitals.keys()
        return tuple(word[:1].upper() + word[1:] for word in sorted(hidden))

    def _hides_among(self) -> int | None:
        """Words of the smallest group of words; formats are no such groups."""
        groups = self.groups
        sizes = [g.inputs for g in groups if (g.class_name, g.form) not in _CLOSED]
        return min(sizes, default=None)

    def _list_small_formats(self) -> Iterator[tuple[str, int]]:
        """List formats that this policy hides, with the size of each."""
        if self.numbers == "hide":
            yield ONE_DIGIT, SHAPES[PLACES["1 digits"]].size
        sizes = {(group.class_name, group.form): group.inputs for group in self.groups}
        for kind, example in _SMALL_FORMATS.items():
            if kind in sizes:
                yield example, sizes[kind]
        sizes_of_shapes = {shape.name: shape.size for shape in self.shapes}
        for name in _SMALL_SHAPES:
            yield name, sizes_of_shapes[name]

    # --- which output

    def _index_outputs(self) -> None:
        """Number the outputs: ordinary words, words of groups, tokens of shapes."""
        sizes = [1] * len(self.ordinary)
        sizes += [len(group.words) for group in self.groups]
        sizes += [shape.size for shape in self.shapes]
        self.sizes: Weights = np.array(sizes, dtype=np.int64)
        self.first: Weights = np.array([0, *accumulate(sizes)][:-1], dtype=np.int64)
        # Once more as int: they are searched for each number that is printed.
        self._shape_firsts: list[int] = self.first[self.shape_symbol(0) :].tolist()
        self.output_count = sum(sizes)
        words = [word for group in self.groups for word in group.words]
        usual = _print("")
        shown = (self._opened_names.get(w) or usual(w) for w in self.ordinary)
        self.words = (*shown, *words)

    def _make_digest(self, near: float) -> str:
        """SHA-256, in hex, of what decides the symbol of a token, and its outputs."""
        found = hashlib.sha256(json.dumps([RULES, self.name]).encode())
        for table in (self.symbols, self.capitals, self.upper):
            found.update("\n".join([*table, ""]).encode("utf-8", "surrogatepass"))
            found.update(np.array(list(table.values()), dtype="<i4").tobytes())
        for words in (sorted(self.starts), self.words):
            found.update("\n".join([*words, ""]).encode("utf-8", "surrogatepass"))
        shapes = [[shape.name, shape.size] for shape in self.shapes]
        found.update(json.dumps([shapes, self.sizes.tolist()]).encode())
        if self.numbers != "hide":
            found.update(json.dumps([self.numbers, near]).encode())
        return found.hexdigest()

    def draw_members(self, symbols: Ids, rng: np.random.Generator) -> Weights:
        """Draw an output of each symbol; one 64-bit word of ``rng`` each, in order.

        All inputs share this law, so whatever bias it has costs no privacy.
        """
        draws = draw_uniform(rng, len(symbols))
        found = symbols.astype(np.int64)  # an ordinary word is its only output
        (hidden,) = np.nonzero(symbols >= len(self.ordinary))
        groups = found.take(hidden)
        members = draws.take(hidden) % self.sizes.take(groups)
        found[hidden] = self.first.take(groups) + members
        return found

    def print(self, code: int) -> str:
        """The token of an output number; later laps of all outputs have a suffix."""
        lap, code = divmod(code, self.output_count)
        # No output of a policy ends in xx and digits, but codes such as XX4711.
        suffix = f"xx{lap + 1}" if lap else ""
        if code < len(self.words):
            return f"{self.words[code]}{suffix}"
        place = bisect.bisect_right(self._shape_firsts, code) - 1
        return self.shapes[place].print(code - self._shape_firsts[place]) + suffix

    def symbol_at(self, code: int) -> int:
        """The symbol that an output number belongs to, in any lap."""
        code %= self.output_count
        return bisect.bisect_right(self.first, code) - 1

    def shape_symbol(self, place: int) -> int:
        """The symbol of a shape by its place."""
        return len(self.ordinary) + len(self.groups) + place

    # --- for people

    def find_class(self, word: str) -> str:
        """Name the class of a folded word that the policy knows, or ``unknown``."""
        symbol = self.symbols.get(word)
        return "unknown" if symbol is None else self.describe(symbol)[0]

    def describe(self, symbol: int) -> tuple[str, str, int]:
        """Class, form and number of outputs of a symbol."""
        size = int(self.sizes[symbol])
        place = symbol - len(self.ordinary)
        if place < 0:
            return "ordinary", "", size
        if place < len(self.groups):
            group = self.groups[place]
            return group.class_name, _name_form(group.form), size
        return "shape", self.shapes[place - len(self.groups)].name, size

    def __repr__(self) -> str:
        return f"Policy({self.name!r}, {self.digest[:12]})"


def list_opened(name: str) -> frozenset[str]:
    """Return the classes that a shipped policy shows."""
    return _OPEN[name]


@functools.lru_cache(maxsize=8)
def load_policy(
    name: str = "sensitive",
    *,
    path: str | None = None,
    opened: tuple[str, ...] = (),
    hidden: tuple[str, ...] = (),
    ordinary: tuple[str, ...] = (),
    sensitive: tuple[str, ...] = (),
    most_ordinary: int | None = None,
    hide_among: int = HIDE_AMONG,
    numbers: Numbers = Settings.numbers,
    near: float = Settings.near,
) -> Policy:
    """Make a shipped policy, once in a process; parameters as of :class:`Policy`.

    With ``path``, that of a policy file, whose SHA-256 is the ``name``.
    """
    lexicon = load_lexicon() if path is None else _read_file(path)
    if path is not None and lexicon.digest != name:
        raise SourceError(path, "the file was changed while it was read")
    return Policy(
        lexicon,
        name if path is None else str(lexicon.header["name"]),
        opened=opened,
        hidden=hidden,
        ordinary=ordinary,
        sensitive=sensitive,
        most_ordinary=most_ordinary,
        hide_among=hide_among,
        numbers=numbers,
        near=near,
    )


def _read_file(path: str) -> Lexicon:
    from mondegreen.policy.policy_file import read_policy_file  # rarely needed

    return read_policy_file(path)


def find_policy(settings: Settings) -> Policy | None:
    """Make the policy that resolved settings name; None where every word is sensitive.

    >>> find_policy(Settings(policy="names", epsilon=12.0).resolve())
    Policy('names', ...)
    >>> find_policy(Settings(policy="all", epsilon=10.0).resolve()) is None
    True
    """
    if settings.policy in (None, "all"):
        return None
    name, path = str(settings.policy), None
    if is_policy_path(name):
        path = str(Path(name).absolute())  # a change of folder must not change the file
        from mondegreen.policy.policy_file import LARGEST

        name = hashlib.sha256(read_bytes(path, LARGEST + 1)).hexdigest()
    return load_policy(
        name,
        path=path,
        opened=settings.opened,
        hidden=settings.hidden,
        ordinary=settings.ordinary,
        sensitive=settings.sensitive,
        most_ordinary=settings.most_ordinary,
        hide_among=settings.hide_among,
        numbers=settings.numbers,
        near=settings.near,
    )


def strip_lap(word: str) -> str:
    """The output of a policy behind a printed word of a later lap.

    >>> strip_lap("smithxx2"), strip_lap("smith"), strip_lap("XX4711")
    ('smith', 'smith', 'XX4711')
    """
    return _LAP.sub("", word)


def find_form(word: str) -> str:
    """The grammatical form that the ending of an unknown word shows.

    >>> [find_form(word) for word in ("blorping", "blorps", "glass", "blorp")]
    ['g', 'p', 's', 's']
    """
    for ending, form in UNKNOWN_FORMS:
        if word.endswith(ending) and not word.endswith("ss") and len(word) > 4:
            return form
    return "s"


def _name_form(form: str) -> str:
    """Name a form, and the part of the class that it has behind it."""
    names = [_FORM_NAMES.get(form[:1], form), *(_PARTS[part] for part in form[1:])]
    return ", ".join(names)


def _pool(kind: str, form: str) -> list[Kind]:
    return [(k, form) for pool in _SIMILAR if kind in pool for k in pool]


def _merge_small(lists: dict[Kind, list[str]], least: int) -> dict[Kind, list[str]]:
    """Merge lists that are too short: first of similar classes, then of one form."""
    # Each step moves whole lists, so each word stays in exactly one group.
    found = _join_parts(lists, least)
    for pool in _SIMILAR:
        for form in sorted({form for kind, form in found if kind in pool}):
            _merge_into_one(found, [(kind, form) for kind in pool], least)
    # Grammar before kind: "arrested" hides among past forms of rare words.
    for key in sorted(found):
        other = ("rest", key[1])
        is_bound = key[1] != "s" and key[1] in _FORMS and key != other
        if is_bound and len(found[key]) < least and other in found:
            found[other] = found[other] + found.pop(key)
    found = {key: words for key, words in found.items() if words}
    for key in sorted(found):
        if len(found[key]) < min(least, _FEWEST):
            _merge_anywhere(found, key)
    return found


def _join_parts(lists: dict[Kind, list[str]], least: int) -> dict[Kind, list[str]]:
    """Put a part of a class that is too small into the list of the whole class."""
    found = dict(lists)
    for key, words in sorted(lists.items()):
        whole = (key[0], key[1][:1])
        if whole != key and len(words) < _ENOUGH * least:
            found[whole] = found.get(whole, []) + found.pop(key)
    return found


def _merge_anywhere(found: dict[Kind, list[str]], key: Kind) -> None:
    """Put a list into the largest of its class, of similar ones, or of any other.

    A group of one word would print it again, as if it were ordinary.
    """
    others = [other for other in found if other != key]
    alike = {kind for pool in _SIMILAR if key[0] in pool for kind in pool}
    nearest = (
        [other for other in others if other[0] == key[0]],
        [other for other in others if other[0] in alike],
        [other for other in others if other[0] not in _NAMES],
        others,
    )
    pool = next((some for some in nearest if some), None)
    if pool is not None:
        target = max(pool, key=lambda other: len(found[other]))
        found[target] = found[target] + found.pop(key)


def _merge_into_one(found: dict[Kind, list[str]], keys: list[Kind], least: int) -> None:
    """Put the short ones of some lists together, into a long one if they are too few.

    So plants, tools and pastimes hide among each other, and not among dishes.
    """
    mine = [key for key in keys if key in found]
    small = [key for key in mine if len(found[key]) < least]
    large = [key for key in mine if key not in small]
    if not small or len(mine) < 2:
        return
    is_enough = sum(len(found[key]) for key in small) >= least
    if is_enough or not large:
        target = max(small, key=lambda key: len(found[key]))
    else:
        target = min(large, key=lambda key: len(found[key]))
    for key in small:
        if key != target:
            found[target] = found[target] + found.pop(key)


def _print(kind: str, form: str = "") -> Any:
    """How words of a class are printed: by public statistics, names with a capital."""
    cases = public_cases()

    def capital(word: str) -> str:
        return cases.get(word) or word[:1].upper() + word[1:]

    if kind == "origin":
        return lambda word: word if word in _SMALL_ORIGINS else capital(word)
    if _is_capitalized(kind, form):
        return capital
    if kind in _SMALL:  # "Mason" is usual for the name, and here it is a job
        return lambda word: word if (case := cases.get(word, word)).istitle() else case
    return lambda word: cases.get(word, word)


def _is_capitalized(kind: str, form: str) -> bool:
    return kind in _NAMES or (kind == "time" and form in _DATED)


def _check_words(name: str, words: Iterable[str]) -> frozenset[str]:
    """Fold single words of a user's public list."""
    found = set()
    for word in words:
        if tokenize([word]).words() != [word]:
            raise InvalidParameterError(name, word, "single words, one per line")
        found.add(canonical(word))
    return frozenset(found)
