"""Turns of a language model: as the user reads them, and as the model said them.

An answer goes back in the history of later requests exactly as the model said it. To
hide it again would let the model plant candidates: it writes a list of names, and reads
in the next request which of them a surrogate has replaced.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, final

from mondegreen.policy.cutting import cut_texts
from mondegreen.text.tokenizer import canonical

_MOST: Final = 4096
"""Answers that a conversation remembers. Older ones are hidden as foreign texts."""

_MOST_WORDS: Final = 1 << 16
"""Words that a conversation remembers. With more, each word counts as one of them."""


@final
@dataclass(frozen=True, slots=True)
class Place:
    """Digests of what came before an answer: all of it, and the last turn alone."""

    whole: bytes
    last: bytes


@final
class Turns:
    """What the model said in one conversation, by its place and what was shown.

    Two answers may read alike and be different ones: the model said a surrogate, and
    later the very word that it stands for. So the place decides which one is meant.

    The words of answers are remembered too, as the model said them. A tool that repeats
    its arguments would otherwise show the model which of its candidates is hidden
    behind a surrogate that it knows.
    """

    def __init__(self) -> None:
        self._whole: OrderedDict[tuple[bytes, str, str], str] = OrderedDict()
        self._last: OrderedDict[tuple[bytes, str, str], set[str]] = OrderedDict()
        self._words: dict[str, int] = {}  # the number of the answer that said it first
        self._met: OrderedDict[bytes, int] = OrderedDict()  # answers before each text
        self._count = 0
        self._lock = threading.Lock()

    def note(self, place: Place, form: str, shown: str, said: str) -> None:
        """Note an answer: ``form`` is ``text`` or ``arguments``."""
        shown, words = _trim(form, shown), _list_words(said)
        with self._lock:
            self._whole[place.whole, form, shown] = said
            self._last.setdefault((place.last, form, shown), set()).add(said)
            for table in (self._whole, self._last):
                while len(table) > _MOST:
                    table.popitem(last=False)
            self._count += 1
            for word in words:
                if len(self._words) <= _MOST_WORDS:
                    self._words.setdefault(word, self._count)

    def find_echoes(self, role: str, text: str, words: Iterable[str]) -> list[bool]:
        """Tell which words of a text the model had said before the text first came.

        The same text of a role has the same result again, whatever was said since: a
        system prompt that changed would show which of its words the model has guessed.
        """
        digest = hashlib.blake2b(_frame(role) + _frame(text), digest_size=16).digest()
        with self._lock:
            before = self._met.setdefault(digest, self._count)
            self._met.move_to_end(digest)
            while len(self._met) > _MOST:
                self._met.popitem(last=False)
            is_full = len(self._words) > _MOST_WORDS and before > 0
            return [
                is_full or self._words.get(canonical(word), before + 1) <= before
                for word in words
            ]

    def find(self, place: Place, form: str, shown: str) -> str | None:
        """Return what the model said; None if this is nothing that it said.

        Raises
        ------
        LookupError
            If two answers have the same text and the history does not say which one it
            is.
        """
        shown = _trim(form, shown)
        with self._lock:
            said = self._whole.get((place.whole, form, shown))
            if said is not None:
                return said
            found = self._last.get((place.last, form, shown), ())
        if len(found) > 1:
            raise LookupError("two answers have the same text")
        return next(iter(found), None)

    def to_json(self) -> dict[str, Any]:
        """Return the answers as JSON values. They are private."""
        with self._lock:
            return {
                "whole": [
                    [place.hex(), form, shown, said]
                    for (place, form, shown), said in self._whole.items()
                ],
                "last": [
                    [place.hex(), form, shown, sorted(said)]
                    for (place, form, shown), said in self._last.items()
                ],
                "words": self._words.copy(),
                "met": {digest.hex(): before for digest, before in self._met.items()},
                "count": self._count,
            }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Turns:
        """Read what :meth:`to_json` returned."""
        found = cls()
        for place, form, shown, said in values["whole"]:
            found._whole[bytes.fromhex(place), form, shown] = said
        for place, form, shown, each in values["last"]:
            found._last[bytes.fromhex(place), form, shown] = set(each)
        found._words |= values["words"]
        for digest, before in values["met"].items():
            found._met[bytes.fromhex(digest)] = before
        found._count = values["count"]
        return found

    def replay(self) -> Replay:
        """Begin to read the history of a request."""
        return Replay(self)

    def __repr__(self) -> str:
        return f"Turns(count={len(self._whole)})"


@final
class Replay:
    """Reads the texts of one request in order, and finds what the model said."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._whole, self._last = hashlib.blake2b(), hashlib.blake2b()
        self._is_answer = False
        self.place = self._here()

    def hear(self, text: str) -> None:
        """Read a text that the model did not say."""
        if self._is_answer:
            self._last = hashlib.blake2b()
        self._is_answer = False
        for each in (self._whole, self._last):
            each.update(_frame(text))
        self.place = self._here()

    def find(self, form: str, shown: str) -> str | None:
        """Read a turn of the assistant; see :meth:`Turns.find`."""
        found = self._turns.find(self.place, form, shown)
        self._is_answer = True
        self._whole.update(_frame(_trim(form, shown)))
        return found

    def _here(self) -> Place:
        return Place(self._whole.digest(), self._last.digest())


def _list_words(said: str) -> set[str]:
    """List the words of an answer, and of the strings in it where it is JSON."""
    try:
        value: Any = json.loads(said)
    except (ValueError, RecursionError):
        value = None
    texts, values = [said], [value]
    while values:
        each = values.pop()
        if isinstance(each, str):
            texts.append(each)
        elif isinstance(each, Mapping):
            values += [*each, *each.values()]
        elif isinstance(each, list):
            values += each
    return set(map(canonical, cut_texts(texts).words()))


def _frame(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return len(data).to_bytes(8, "little") + data


def _trim(form: str, shown: str) -> str:
    """Write an answer as clients may send it back: blanks and JSON may differ."""
    if form == "text":
        return shown.strip()
    try:
        return json.dumps(json.loads(shown), sort_keys=True)
    except (ValueError, RecursionError):
        return shown
