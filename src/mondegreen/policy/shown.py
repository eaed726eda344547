"""What a policy does with a token, as spelled: its class, its group, its company."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, Final, final

from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import Policy
from mondegreen.text.tokenizer import canonical

_BEFORE: Final = "and"
"""A word in front of a text, so that its first word is inside a sentence."""

_LINE: Final = "WE SAW THE", "AND THEN THE OTHER"
"""What surrounds a word in a line in capitals."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSymbol:
    """A symbol of a policy, for people.

    Parameters
    ----------
    symbol : int
        Its number.
    class_name, group : str
        ``health`` and ``health, plural``; ``ordinary`` and ``""``; a format such as
        ``year`` has the class ``format``.
    hides_among : int or None
        Words of its group; for a format, its tokens. None for an ordinary word, which
        does not hide.
    known_words : int or None
        Known words that are of the group, those that are never printed included. None
        for ordinary words and formats.
    outputs : int
        Words that may be printed for it.
    """

    symbol: int
    class_name: str
    group: str
    hides_among: int | None
    known_words: int | None
    outputs: int


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ShownWord:
    """One token: what it is inside a sentence, and as its first word if that differs.

    ``is_known`` says that the lists hold its folded spelling; the group of other words
    follows from their spelling alone. ``examples`` are words that may be printed.
    ``behind_stop`` and ``behind_sign`` are what it is behind a full stop, and behind a
    sign such as a bracket, if that differs from a first word.
    ``capitalized`` is what an ordinary word, by itself, is with a capital inside a
    sentence, if that differs.
    ``in_capitals`` is what a word in capitals is, by itself, in a line in capitals, if
    that differs.
    """

    word: str
    is_known: bool
    inside: ShownSymbol
    at_start: ShownSymbol | None
    behind_stop: ShownSymbol | None
    behind_sign: ShownSymbol | None
    capitalized: ShownSymbol | None
    in_capitals: ShownSymbol | None
    examples: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON values."""
        others = {
            "at_start": self.at_start,
            "behind_stop": self.behind_stop,
            "behind_sign": self.behind_sign,
            "capitalized": self.capitalized,
            "in_capitals": self.in_capitals,
        }
        return {
            "word": self.word,
            "is_known": self.is_known,
            **_symbol_values(self.inside),
            "examples": list(self.examples),
            **{name: each and _symbol_values(each) for name, each in others.items()},
        }


@final
class PolicyView:
    """Describes the symbols of one policy, and the tokens of texts.

    Examples
    --------
    >>> from mondegreen.policy.policy import load_policy
    >>> view = PolicyView(load_policy("sensitive"))
    >>> the, illness = view.words("the diabetes")
    >>> the.inside.class_name, illness.inside.class_name
    ('ordinary', 'health')
    """

    def __init__(self, policy: Policy) -> None:
        self.policy, self._lookup = policy, PolicyLookup(policy)
        self._inputs = Counter(policy.symbols.values())
        tables = policy.lexicon.unprinted, policy.lexicon.words
        listed = chain.from_iterable(table.items() for table in tables)
        self._kinds = {word: kind for (kind, _), words in listed for word in words}
        kinds = [(group.class_name, group.form) for group in policy.groups]
        self._bands = Counter(kinds)
        self._places = [kinds[: i + 1].count(kind) for i, kind in enumerate(kinds)]

    def words(self, text: str) -> list[ShownWord]:
        """Describe each token of a text, by its own spelling and what joins them."""
        batch = self._lookup.cut([f"{_BEFORE} {text}"])
        symbols = self._lookup.codes(batch)[1:].tolist()
        is_alone = len(symbols) == 1
        return [
            self._word(word, symbol, is_alone=is_alone)
            for word, symbol in zip(batch.words()[1:], symbols, strict=True)
        ]

    def _word(self, word: str, symbol: int, *, is_alone: bool) -> ShownWord:
        start = symbol
        # A part of an address or of a date is one at the start of a sentence too.
        if symbol == self._lookup.find_symbol(word):
            start = self._lookup.find_symbol(word, starts=True)
        stop = sign = start
        if word[:1].isupper() and start != symbol:
            stop, sign = (self._find_behind(gap, word) for gap in (". ", ": "))
        return ShownWord(
            word=word,
            is_known=_fold(word) in self.policy.symbols,
            inside=self.describe(symbol, word),
            at_start=None if start == symbol else self.describe(start, word),
            behind_stop=None if stop == start else self.describe(stop, word),
            behind_sign=None if sign == start else self.describe(sign, word),
            capitalized=self._capitalized(word, symbol) if is_alone else None,
            in_capitals=self._in_capitals(word, symbol) if is_alone else None,
            examples=self.examples(symbol),
        )

    def _find_behind(self, gap: str, word: str) -> int:
        """Find the symbol of a word with a capital that stands behind a gap."""
        return int(self._lookup.codes(self._lookup.cut([_BEFORE + gap + word]))[1])

    def _capitalized(self, word: str, symbol: int) -> ShownSymbol | None:
        """Describe an ordinary word, spelled small, as it is with a capital."""
        if symbol >= len(self.policy.ordinary) or not word.islower():
            return None
        spelled = word[:1].upper() + word[1:]
        found = self._lookup.find_symbol(spelled)
        return None if found == symbol else self.describe(found, spelled)

    def _in_capitals(self, word: str, symbol: int) -> ShownSymbol | None:
        """Describe a word in capitals as it is in a line in capitals."""
        if len(word) == 1 or not word.isupper():
            return None
        first, rest = _LINE
        batch = self._lookup.cut([f"{first} {word} {rest}"])
        found = int(self._lookup.codes(batch)[len(first.split())])
        return None if found == symbol else self.describe(found, word)

    def find_class(self, word: str) -> str:
        """Name the class of a token inside a sentence."""
        return self.describe(self._lookup.find_symbol(word), word).class_name

    def describe(self, symbol: int, word: str = "") -> ShownSymbol:
        """Describe a symbol: its class, its group, and how many words are in it.

        Words of a small class hide in the group of another one: the class is that of
        the word, which ``--open`` names.
        """
        policy = self.policy
        kind, form, outputs = policy.describe(symbol)
        place = symbol - len(policy.ordinary)
        group = f"{kind}, {form}"
        known: int | None = None
        if place < 0:
            group = ""
        elif place >= len(policy.groups):
            kind, group = "format", "1 digit" if form == "1 digits" else form
        else:
            known = self._inputs[symbol]
            own = policy.groups[place]
            bands = self._bands[own.class_name, own.form]
            group += f" ({self._places[place]} of {bands})" if bands > 1 else ""
            folded = _fold(word)
            if policy.symbols.get(folded) == symbol:
                kind = self._kinds.get(folded, kind)
        return ShownSymbol(
            symbol=symbol,
            class_name=kind,
            group=group,
            hides_among=None if place < 0 else outputs,
            known_words=known,
            outputs=outputs,
        )

    def examples(self, symbol: int, count: int = 10) -> tuple[str, ...]:
        """Words that may be printed for a symbol, spread evenly over its list."""
        first, size = int(self.policy.first[symbol]), int(self.policy.sizes[symbol])
        shown = min(count, size)
        return tuple(self.policy.print(first + i * size // shown) for i in range(shown))

    def classes(self) -> list[dict[str, Any]]:
        """Count the words and groups of each class; formats are one class."""
        policy, words = self.policy, Counter[str]()
        for (kind, _), listed in policy.lexicon.words.items():
            words[kind] += len(listed)
        found: dict[str, list[ShownSymbol]] = {name: [] for name in words}
        for symbol in range(len(policy.ordinary), policy.alphabet.size):
            shown = self.describe(symbol)
            found.setdefault(shown.class_name, []).append(shown)
        return [
            {
                "class": name,
                "is_open": name in policy.opened,
                "words": words[name] or None,
                "groups": len(groups),
                "least": min((group.outputs for group in groups), default=None),
            }
            for name, groups in sorted(found.items())
        ]


def compare(one: Policy, other: Policy) -> dict[tuple[str, str], list[str]]:
    """List the spellings whose class differs, by the classes in both policies.

    Known words are compared as they are, and with a capital; the frequent ones come
    first.
    """
    first, second = PolicyView(one), PolicyView(other)
    known = one.symbols.keys() | other.symbols.keys()
    frequent = chain(one.lexicon.ordinary, *one.lexicon.words.values())
    words = dict.fromkeys(word for word in frequent if word in known)
    found: dict[tuple[str, str], list[str]] = {}
    for word in (*words, *sorted(known - words.keys())):
        for spelled in dict.fromkeys((word, word.capitalize())):
            kinds = first.find_class(spelled), second.find_class(spelled)
            if kinds[0] != kinds[1]:
                found.setdefault(kinds, []).append(spelled)
    return found


def _fold(word: str) -> str:
    """The form in which the lists hold a word; endings such as n't stay."""
    is_ending = "'" in word or "’" in word
    return (word.replace("’", "'") if is_ending else canonical(word)).lower()


def _symbol_values(symbol: ShownSymbol) -> dict[str, Any]:
    values = asdict(symbol)
    del values["symbol"]
    return {"class": values.pop("class_name"), **values}
