"""The way back from a release: what was printed at which place, sealed under a key.

A map has an entry for each text of a release. An untouched text is restored byte for
byte, by place. A text that was edited or quoted is restored by word: a surrogate that
its record gave to one word alone becomes that word again.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import secrets
from collections.abc import (
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, final

from mondegreen.errors import (
    ConfigurationError,
    DataError,
    InvalidParameterError,
    SourceError,
)
from mondegreen.files import build_format_error, read_bytes
from mondegreen.policy.cutting import cut_texts
from mondegreen.policy.policy import Policy
from mondegreen.policy.sealing import seal, unseal
from mondegreen.privatizer.release import Release
from mondegreen.sampling.records import SeenIds
from mondegreen.text.tokenizer import canonical

if TYPE_CHECKING:
    import pyarrow as pa

    from mondegreen.privatizer.arrow import Counts
    from mondegreen.privatizer.privatizer import Privatizer

KEY_PURPOSE: Final = b"mondegreen-map"
"""Of the subkey that seals a map: the key file may serve keyed noise too."""

Record: TypeAlias = tuple[str, int]
"""The id of a record, or ``""``; and the place of a text in it, or in the file."""

Outcome: TypeAlias = Literal["whole", "words", "none"]
"""Restored byte for byte, by word, or not at all."""

_MAGIC: Final = b"mondegreen-map 1\n"
_LENGTH: Final = 8  # bytes of the length of a block
_BLOCK: Final = 1 << 20  # characters of a block, about


@final
@dataclass(frozen=True, slots=True, repr=False)
class Entry:
    """The way back of one text.

    Parameters
    ----------
    digest : str
        SHA-256 of the released text, in hex.
    edits : tuple of (int, str, str)
        Where a piece of the released text begins, the piece, and the original one.
    surrogates : mapping of str to str
        Printed words that stand for one original word of this text, and that word as
        it was spelled first.
    """

    digest: str
    edits: tuple[tuple[int, str, str], ...]
    surrogates: Mapping[str, str]

    @classmethod
    def of(cls, release: Release, original: str, policy: Policy) -> Entry:
        """Compare a release with its original, word by word and gap by gap."""
        (parts,) = cut_texts([original], policy.numbers).parts
        given, printed = parts or [original], _pieces(release)
        if len(given) != len(printed):
            raise DataError("a release does not fit its original; nothing was released")
        edits, start = [], 0
        for new, old in zip(printed, given, strict=True):
            if new != old:
                edits.append((start, new, old))
            start += len(new)
        pairs = zip(printed[1::2], given[1::2], strict=True)
        return cls(_digest(release.text), tuple(edits), _surrogates(pairs, policy))

    def restore(self, text: str) -> tuple[str, Outcome]:
        """Put originals back; ``text`` is the release, or was derived from it."""
        if _digest(text) == self.digest:
            return self._restore_whole(text), "whole"
        if not self.surrogates:
            return text, "none"
        longest_first = sorted(self.surrogates, key=len, reverse=True)
        # A letter behind an apostrophe is an ending: 's is no surrogate of the O in
        # O'Brien.
        any_of = "|".join(
            ("(?<!['’])" if len(word) == 1 else "") + re.escape(word)
            for word in longest_first
        )
        found, count = re.subn(
            rf"(?<![^\W_])(?:{any_of})(?![^\W_])", self._word, text, flags=re.I
        )
        return found, "words" if count else "none"

    def _restore_whole(self, text: str) -> str:
        pieces, end = [], 0
        for start, new, old in self.edits:
            pieces += [text[end:start], old]
            end = start + len(new)
        return "".join([*pieces, text[end:]])

    def _word(self, match: re.Match[str]) -> str:
        word = match[0]
        known = self.surrogates.get(word)
        if known is not None:
            return known
        folded = canonical(word)
        old = next(
            (old for new, old in self.surrogates.items() if canonical(new) == folded),
            word,
        )
        return old.upper() if len(word) > 1 and word.isupper() else old

    def __repr__(self) -> str:
        return f"Entry(edits={len(self.edits)})"


def _pieces(release: Release) -> list[str]:
    """Cut a released text into gaps and words in turn, by its spans."""
    pieces, end = [], 0
    for span in release.spans:
        pieces += [release.text[end : span.start], release.text[span.start : span.end]]
        end = span.end
    return [*pieces, release.text[end:]]


def _surrogates(pairs: Iterator[tuple[str, str]], policy: Policy) -> dict[str, str]:
    """The printed words that are no ordinary ones and stand for one word alone."""
    first: dict[str, tuple[str, str]] = {}
    shared: set[str] = set()
    for new, old in pairs:
        form = canonical(new)
        symbol = policy.symbols.get(form, policy.alphabet.size)
        if symbol < policy.alphabet.ordinary:
            continue
        _, known = first.setdefault(form, (new, old))
        if canonical(known) != canonical(old):
            shared.add(form)
    return {new: old for form, (new, old) in first.items() if form not in shared}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MapHeader:
    """What a map says of its release: nothing of it is private, all of it is sealed.

    Parameters
    ----------
    policy, settings : str
        Digests, in hex.
    columns : mapping of str to str
        Columns, and the logical name of each.
    by_id : bool
        Whether texts are found by the id of their record, or by their place.
    """

    policy: str
    settings: str
    columns: Mapping[str, str]
    by_id: bool


@final
class MapWriter:
    """Writes a map block by block, each sealed: memory does not grow with the release.

    ``before`` counts the texts of each column that is found by place.

    Parameters
    ----------
    write : callable
        Takes the bytes.
    key : bytes
        32 secret bytes, of this purpose alone.
    header : MapHeader
    """

    def __init__(
        self, write: Callable[[bytes], None], key: bytes, header: MapHeader
    ) -> None:
        self._write, self._key, self._header = write, key, header
        self._name, self._number = secrets.token_hex(16), 0
        self.before: dict[str, int] = {}
        self._waiting: list[str] = []
        self._size = 0
        write(_MAGIC)

    def add(self, column: str, record: Record, entry: Entry) -> None:
        """Add the entry of one text, under the logical name of its column."""
        line = json.dumps(
            [column, *record, entry.digest, entry.edits, dict(entry.surrogates)]
        )
        self._waiting.append(line)
        self._size += len(line)
        if self._size >= _BLOCK:
            self._flush(is_last=False)

    def end(self) -> None:
        """Write the last block, without which a map is refused."""
        self._flush(is_last=True)

    def _flush(self, *, is_last: bool) -> None:
        values: dict[str, Any] = {
            "map": self._name,
            "block": self._number,
            "is_last": is_last,
        }
        if is_last:
            values["texts"] = self.before
        if not self._number:
            header = self._header
            values |= {
                "policy": header.policy,
                "settings": header.settings,
                "columns": dict(header.columns),
                "by_id": header.by_id,
            }
        head = json.dumps(values)
        content = f'{head[:-1]}, "entries": [{", ".join(self._waiting)}]}}'
        block = seal(content.encode(), self._key)
        self._write(len(block).to_bytes(_LENGTH, "big") + block)
        self._number, self._size, self._waiting = self._number + 1, 0, []

    def __repr__(self) -> str:
        return f"MapWriter(blocks={self._number})"


def privatize_with_map(
    privatizer: Privatizer,
    batches: Iterable[pa.RecordBatch],
    columns: Sequence[str] | Mapping[str, str],
    *,
    id_column: str | None = None,
    write: Callable[[bytes], None],
    key: bytes,
) -> Generator[tuple[pa.RecordBatch, Counts]]:
    """Yield each batch privatized, with the words of each row; write the map beside.

    An id must not occur twice, since it names an entry of the map.

    Parameters
    ----------
    privatizer : Privatizer
        One with a policy.
    batches, columns, id_column
        As of :func:`mondegreen.privatizer.parallel.privatize_batches`.
    write : callable
        Takes the bytes of the map.
    key : bytes
        32 secret bytes, of this purpose alone.
    """
    from mondegreen.privatizer.arrow import logical_names, replace_in_batch
    from mondegreen.text.columns import read_ids

    policy, names = privatizer.policy, logical_names(columns)
    if policy is None:
        raise ConfigurationError("a map needs a policy, which makes the surrogates")
    header = MapHeader(
        policy=policy.digest,
        settings=privatizer.digest.hex(),
        columns=names,
        by_id=id_column is not None,
    )
    writer, seen = MapWriter(write, key, header), SeenIds()

    def replace(
        texts: Sequence[Any],
        records: Sequence[str] | None,
        column: str,
        places: Sequence[int] | None,
        number: int,
    ) -> tuple[list[str | None], list[int]]:
        found = privatizer.releases(texts, records, column, places, number=number)
        where = list_records(writer.before, len(texts), records, column, places)
        for text, release, record in zip(texts, found, where, strict=True):
            if release is not None:
                writer.add(column, record, Entry.of(release, text, policy))
        released = [None if each is None else each.text for each in found]
        return released, [0 if each is None else len(each.spans) for each in found]

    for number, batch in enumerate(batches):
        if id_column is not None:
            seen.add(read_ids(batch.column(id_column)))
        own = functools.partial(replace, number=number)
        yield replace_in_batch(own, batch, names, id_column, dotted=False)
    writer.end()


@final
@dataclass(frozen=True, slots=True, repr=False)
class ReleaseMap:
    """A whole map in memory: what it says of its release, and all entries."""

    header: MapHeader
    entries: Mapping[tuple[str, Record], Entry] = field(default_factory=dict)
    texts: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str | Path, key: bytes) -> ReleaseMap:
        """Read a map.

        Raises
        ------
        SourceError
            If it is no map, a byte was changed, blocks are missing or of other maps,
            or the key is another one.
        """
        header: MapHeader | None = None
        texts: dict[str, int] = {}
        entries: dict[tuple[str, Record], Entry] = {}
        for block in _blocks(path, key):
            if header is None:
                header = MapHeader(
                    policy=block["policy"],
                    settings=block["settings"],
                    columns=block["columns"],
                    by_id=block["by_id"],
                )
            for column, name, place, digest, edits, surrogates in block["entries"]:
                kept = tuple((start, new, old) for start, new, old in edits)
                entries[column, (name, place)] = Entry(digest, kept, surrogates)
            texts = block.get("texts", {})
        if header is None:
            raise SourceError(path, "the map has no blocks")
        return cls(header, entries, texts)

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        return f"ReleaseMap(texts={len(self)})"


def _blocks(path: str | Path, key: bytes) -> Iterator[dict[str, Any]]:
    """Open the blocks of a map in order; all of it, or an error."""
    data = read_bytes(path)
    if not data.startswith(_MAGIC):
        problem = "not a map of mondegreen privatize"
        raise build_format_error(path, data, _MAGIC, problem, hint="see --map")
    at, number, name, is_whole = len(_MAGIC), 0, None, False
    while at < len(data) and not is_whole:
        length = int.from_bytes(data[at : at + _LENGTH], "big")
        start = at + _LENGTH
        at = start + length
        if at > len(data):
            break
        try:
            block = json.loads(unseal(data[start:at], key))
        except DataError:
            hint = "use the key file that the release was made with"
            problem = "the map was changed, or the key is another one"
            raise SourceError(path, problem, hint=hint) from None
        if block["block"] != number or name not in (None, block["map"]):
            raise SourceError(path, "blocks of the map are missing or of another map")
        name, number, is_whole = block["map"], number + 1, block["is_last"]
        yield block
    if not is_whole or at != len(data):
        raise SourceError(path, "the map is incomplete", hint="copy it again")


@final
class Restorer:
    """Restores the texts of a file in order, and counts how.

    Parameters
    ----------
    release_map : ReleaseMap
        The way back.

    Attributes
    ----------
    counts : dict of str to int
        Texts restored whole, by word, and not at all.
    moved : int
        Texts of those not restored that are the release of another record.
    """

    def __init__(self, release_map: ReleaseMap) -> None:
        self._map = release_map
        self._before: dict[str, int] = {}
        self.counts: dict[Outcome, int] = {"whole": 0, "words": 0, "none": 0}
        self.moved = 0
        self._has_changed = False
        self._releases = {
            (column, entry.digest)
            for (column, _), entry in release_map.entries.items()
            if entry.edits
        }

    def __call__(
        self,
        texts: Sequence[Any],
        records: Sequence[str] | None,
        column: str,
        places: Sequence[int] | None = None,
    ) -> tuple[list[str | None], list[int]]:
        """Restore texts, as a :data:`mondegreen.privatizer.arrow.Replace`."""
        where = list_records(self._before, len(texts), records, column, places)
        restored: list[str | None] = []
        for text, record in zip(texts, where, strict=True):
            entry = self._map.entries.get((column, record))
            if text is None or entry is None:
                outcome: Outcome = "none"
            elif self._is_of_another(column, text, entry):
                outcome, self.moved = "none", self.moved + 1
            else:
                found, outcome = entry.restore(text)
                self._has_changed |= found != text
                text = found
            restored.append(text)
            self.counts[outcome] += text is not None
        return restored, [0] * len(texts)

    def _is_of_another(self, column: str, text: str, entry: Entry) -> bool:
        """Whether a text is what the release has at another place of its column."""
        digest = _digest(text)
        return digest != entry.digest and (column, digest) in self._releases

    def check(self) -> None:
        """Refuse a map that is not of these texts, when all have been read.

        Raises
        ------
        DataError
            If there are more or fewer texts than in the release, where they are found
            by their place; or if no text held a surrogate of the map.
        """
        for column, count in self._before.items():
            if count != self._map.texts.get(column, count):
                raise DataError(
                    "the file has more or fewer texts than the release of the map. "
                    "Use --id for privatize and for restore"
                )
        if self.counts["none"] and not self._has_changed:
            raise DataError(
                "no text has a surrogate of its entry in the map. The map belongs to "
                "another release, or rows have moved. With --id, restore finds rows by "
                "their id"
            )

    def __repr__(self) -> str:
        return f"Restorer({self._map!r})"


def list_records(
    before: dict[str, int],
    count: int,
    records: Sequence[str] | None,
    column: str,
    places: Sequence[int] | None,
) -> list[Record]:
    """Name texts: by the id of their record, or by how many came before in a column.

    ``before`` counts the texts of each column, and is changed.
    """
    if records is None:
        start = before.get(column, 0)
        before[column] = start + count
        return [("", start + i) for i in range(count)]
    if len(records) != count:
        raise InvalidParameterError("ids", len(records), f"one for each of {count}")
    own = places or [0] * count
    return list(zip(records, own, strict=True))
