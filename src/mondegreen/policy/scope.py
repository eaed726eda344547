"""Scopes: where equal sensitive words get equal outputs.

The law, in the terms of ``docs/proofs/scopes.md``. The places of texts belong to
*entities*: an ordinary place is one of its own, and equal sensitive words of a scope,
folded and of one symbol, are one. Each entity draws its symbol once. Under ``record`` a
group gives its members away one by one: no two entities of a text share one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, NoReturn, Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, Weights
from mondegreen.errors import ConfigurationError, DataError, InvalidParameterError
from mondegreen.policy.policy import GRID, Policy
from mondegreen.sampling.noise import StreamKeyer, chacha20, stream_key
from mondegreen.settings import Same
from mondegreen.text.tokenizer import TokenizedBatch, canonical

Sample: TypeAlias = Callable[[Ids, np.random.Generator], Ids]
"""Draws a symbol for each symbol: ``sample`` of a state of ``krr`` or ``urr``."""

_KEY: Final = 32  # bytes
_LARGEST: Final = (1 << 63) - 1
_TRIES: Final = 20
"""Draws until a word that is apart has the surrogate of another one."""

_Entity: TypeAlias = tuple[int, str]
"""The symbol of a sensitive word, and the word, folded."""


class Scope(Protocol):
    """Draws outputs for the words of texts, and says what that discloses."""

    disclosed: ClassVar[tuple[str, ...]]
    conditions: ClassVar[tuple[str, ...]]
    assumptions: ClassVar[tuple[str, ...]]

    def draw(
        self,
        batch: TokenizedBatch,
        symbols: Ids,
        sample: Sample,
        rng: np.random.Generator,
    ) -> Weights:
        """Draw the output numbers of all words, flat and in order."""


def make_scope(
    same: Same,
    policy: Policy,
    *,
    repeating: range = range(0),
    key: bytes | None = None,
    context: bytes = b"",
) -> Scope:
    """Make the scope of an option ``--same``; parameters as of the classes.

    >>> from mondegreen.policy.policy import load_policy
    >>> type(make_scope("record", load_policy())).__name__
    'RecordScope'
    """
    found = scope_class(same)
    if found is PlaceScope:
        return PlaceScope(policy)
    if found is RecordScope:
        return RecordScope(policy, repeating=repeating)
    if key is None:
        raise ConfigurationError(
            "--same key needs a key: add --key-file FILE --id COLUMN (in Python "
            "noise=mg.KeyedNoise...), or use --same record"
        )
    return KeyScope(policy, key, context)


def scope_class(same: Same) -> type[PlaceScope | RecordScope | KeyScope]:
    """Find the class of a scope, which says what the scope discloses.

    >>> scope_class("key").__name__
    'KeyScope'
    """
    classes: Mapping[str, type[PlaceScope | RecordScope | KeyScope]] = {
        "place": PlaceScope,
        "record": RecordScope,
        "key": KeyScope,
    }
    if same not in classes:
        raise InvalidParameterError("same", same, "'place', 'record' or 'key'")
    return classes[same]


@final
@dataclass(frozen=True, slots=True)
class PlaceScope:
    """Every place is an entity of its own: nothing tells which words are equal.

    Draws: one 64-bit word for the symbol of each place, in order, then one for the
    member of each place.
    """

    policy: Policy

    disclosed: ClassVar[tuple[str, ...]] = ()
    conditions: ClassVar[tuple[str, ...]] = ()
    assumptions: ClassVar[tuple[str, ...]] = ()

    def draw(
        self,
        batch: TokenizedBatch,
        symbols: Ids,
        sample: Sample,
        rng: np.random.Generator,
    ) -> Weights:
        """Draw the output numbers of all words, flat and in order."""
        return self.policy.draw_members(sample(symbols, rng), rng)


@final
@dataclass(frozen=True, slots=True)
class RecordScope:
    """A sensitive word has one output throughout a text, and no other of its group has.

    Draws: ``sample`` draws for all entities, texts in order, entities in order of their
    first place. Then comes one 64-bit word for the member of each entity, in that
    order. Last, in that order, an entity whose member was given to another one draws
    words until a member is free. A full group starts its next lap: all its members are
    free again, with a public suffix.

    Parameters
    ----------
    policy : Policy
        What the symbols mean.
    repeating : range of int
        Symbols whose outputs any number of entities may share, such as the cells of
        a number grid.
    """

    policy: Policy
    repeating: range = range(0)

    disclosed: ClassVar[tuple[str, ...]] = (
        "equal words: which sensitive words of one text are equal, except for case",
    )
    conditions: ClassVar[tuple[str, ...]] = ()
    assumptions: ClassVar[tuple[str, ...]] = (
        "a sensitive word counts once per text, not once per place. The guarantee "
        "compares texts that agree on which of their sensitive words are equal",
    )

    def draw(
        self,
        batch: TokenizedBatch,
        symbols: Ids,
        sample: Sample,
        rng: np.random.Generator,
    ) -> Weights:
        """Draw the output numbers of all words, flat and in order."""
        policy = self.policy
        texts = np.repeat(np.arange(len(batch.parts)), batch.counts())
        first, entities = self._entities(batch, symbols, texts)
        found = sample(symbols[first], rng)
        codes = policy.draw_members(found, rng)
        is_own = (found < self.repeating.start) | (found >= self.repeating.stop)
        (takers,) = np.nonzero(policy.alphabet.is_group(found) & is_own)
        members: dict[int, Members] = {}
        for k in takers[_in_conflict(texts[first[takers]], codes[takers])].tolist():
            mine = members.setdefault(int(texts[first[k]]), Members(policy))
            codes[k] = mine.take(int(found[k]), int(codes[k]), rng)
        return np.asarray(codes[entities])

    def _entities(
        self, batch: TokenizedBatch, symbols: Ids, texts: Weights
    ) -> tuple[Weights, Weights]:
        """The first place of each entity, in order, and the entity of each place."""
        owners = list(range(len(symbols)))
        text_of = texts.tolist()
        seen: dict[tuple[int, _Entity], int] = {}
        for i, entity in _sensitive(self.policy, batch, symbols):
            owners[i] = seen.setdefault((text_of[i], entity), i)
        is_first = np.array(owners, dtype=np.int64) == np.arange(len(owners))
        numbers = np.cumsum(is_first) - 1
        return np.flatnonzero(is_first), numbers[owners]


@final
@dataclass(frozen=True, slots=True, repr=False)
class KeyScope:
    r"""A sensitive word has one output under one key, in all texts of all machines.

    Nothing is stored: the output is a keyed function of the symbol and the folded word.
    So two words may get one output: with ``d`` words in a group of ``n`` members some
    two collide with chance :math:`1 - n! / ((n - d)!\, n^d)`, .26 for 10 words and 150
    members.

    Draws: for a sensitive word, ``sample`` and the member draw from the ChaCha20 stream
    of ``stream_key(key, context, symbol in decimal, 0, folded word)``. Ordinary places
    draw from ``rng`` as in :class:`PlaceScope`.

    Parameters
    ----------
    policy : Policy
        What the symbols mean.
    key : bytes
        32 secret bytes, of no other use.
    context : bytes
        Digest of the settings: under other settings words get other outputs.
    """

    policy: Policy
    key: bytes
    context: bytes

    disclosed: ClassVar[tuple[str, ...]] = (
        "equal words: which sensitive words of all texts under this key are the same, "
        "up to case. Counts and contexts of a word add up over texts, so wide scopes "
        "are ciphers: in a test on news an attacker recovered .35 of sensitive words "
        "per place, and .66 with one map for 1,000 records",
    )
    conditions: ClassVar[tuple[str, ...]] = ()
    assumptions: ClassVar[tuple[str, ...]] = (
        "a sensitive word counts once for all texts under this key: releases are "
        "compared that agree in which of their sensitive words are equal",
        "an attacker does not know the key, and cannot tell ChaCha20 and BLAKE2b from "
        "random functions; anyone with the key can test guesses",
    )

    def __post_init__(self) -> None:
        _check_key(self.key)

    def draw(
        self,
        batch: TokenizedBatch,
        symbols: Ids,
        sample: Sample,
        rng: np.random.Generator,
    ) -> Weights:
        """Draw the output numbers of all words, flat and in order."""
        is_sensitive = self.policy.alphabet.is_group(symbols)
        codes = np.empty(len(symbols), dtype=np.int64)
        ordinary = sample(symbols[~is_sensitive], rng)
        codes[~is_sensitive] = self.policy.draw_members(ordinary, rng)
        seen: dict[_Entity, int] = {}
        for i, entity in _sensitive(self.policy, batch, symbols):
            if entity not in seen:
                seen[entity] = self._draw_entity(entity, sample)
            codes[i] = seen[entity]
        return codes

    def _draw_entity(self, entity: _Entity, sample: Sample) -> int:
        stream = _stream(self.key, self.context, entity)
        found = sample(np.array([entity[0]], dtype=np.int32), stream)
        return int(self.policy.draw_members(found, stream)[0])

    def __repr__(self) -> str:
        return f"KeyScope({self.policy!r}, <key not shown>)"


@final
class Members:
    """Gives away the members of groups, each once in a lap.

    An output number is that of the policy, and ``lap * policy.output_count`` more in
    later laps, whose members are printed with a suffix.

    Parameters
    ----------
    policy : Policy
        Whose members they are.
    is_barred : callable
        Says which output numbers are barred. It is a function of public things and of
        outputs given away, never of inputs.
    """

    __slots__ = ("_is_barred", "_laps", "_policy")

    def __init__(
        self, policy: Policy, is_barred: Callable[[int], bool] = lambda code: False
    ) -> None:
        self._policy, self._is_barred = policy, is_barred
        self._laps: dict[int, tuple[int, set[int]]] = {}

    def take(self, symbol: int, code: int, rng: np.random.Generator) -> int:
        """Give away ``code`` if it is free, else a free one that ``rng`` draws."""
        policy = self._policy
        lap, taken = self._laps.get(symbol, (0, set()))
        while True:
            if len(taken) == policy.sizes[symbol]:
                lap, taken = lap + 1, set()
            given = code + lap * policy.output_count
            if given > _LARGEST:
                raise DataError(
                    "a text has too many different words of one group; nothing was "
                    "released. Split the text, or use --same place"
                )
            if code not in taken:
                # A barred member stays taken, so that a lap always comes to its end.
                taken.add(code)
                self._laps[symbol] = lap, taken
                if not self._is_barred(given):
                    return given
            code = int(policy.draw_members(np.array([symbol], dtype=np.int32), rng)[0])

    def mark(self, symbol: int, code: int) -> None:
        """Note that ``code`` was given away before."""
        lap, member = divmod(code, self._policy.output_count)
        last, taken = self._laps.get(symbol, (0, set()))
        if lap >= last:
            taken = taken if lap == last else set()
            self._laps[symbol] = lap, taken | {member}

    def __repr__(self) -> str:
        return f"Members(groups={len(self._laps)})"


@final
class Surrogates:
    r"""One surrogate for each sensitive word of one conversation, and the way back.

    A sensitive word is always replaced, by a member of its group (or of the group that
    ``sample`` draws). An amount of a policy with numbers ``near`` has a number near it,
    by the noise of its cell. No two words share a surrogate, so :meth:`restore` is the
    exact inverse, up to case. Ordinary words pass. The surrogate of a word is the first
    free member in an order of its own, a keyed function of its symbol and folded form:
    the same words in the same order of appearance get the same surrogates again.

    The user's own words never decide which surrogates are free, since a surrogate that
    is avoided tells that its word is there.

    Draws: those of a word come from the ChaCha20 stream of ``stream_key(key, digest of
    the policy, symbol in decimal, 0, folded word)``: first ``sample``, if there is one,
    then one 64-bit word for each member tried.

    Parameters
    ----------
    policy : Policy
        What the symbols mean.
    key : bytes
        32 random bytes, of this conversation alone. :meth:`new` draws them.
    sample : callable, optional
        Draws the group of a surrogate: ``sample`` of a state of ``urr``. Without it the
        surrogate is of the word's own group, and the group is disclosed.
    public : iterable of str
        Words of PUBLIC prompts, which are never given out as surrogates.

    Notes
    -----
    *Privacy.* Proof: ``docs/proofs/scopes.md``, claim (c). Disclosed are which words
    are the same, their groups (without ``sample``), and all ordinary words.
    *Threads.* Calls of one conversation must come one at a time.

    Examples
    --------
    >>> from mondegreen.policy.lookup import PolicyLookup
    >>> from mondegreen.policy.policy import load_policy
    >>> from mondegreen.text.tokenizer import tokenize
    >>> policy = load_policy("names")
    >>> surrogates = Surrogates.new(policy)
    >>> words = tokenize(["Anna wrote to Boris."])
    >>> codes = surrogates.hide(words, PolicyLookup(policy).codes(words))
    >>> surrogates.restore(policy.print(int(codes[0])))
    'Anna'
    """

    disclosed: ClassVar[tuple[str, ...]] = (
        "equal words: which sensitive words of the conversation are the same, up to "
        "case",
        "ordinary words: every word of the public list",
    )

    def __init__(
        self,
        policy: Policy,
        key: bytes,
        *,
        sample: Sample | None = None,
        public: Iterable[str] = (),
    ) -> None:
        _check_key(key)
        self._policy, self._key, self._sample = policy, key, sample
        self._public = frozenset(map(canonical, public))
        self._members = Members(policy, self._is_barred)
        self._keyer = StreamKeyer()
        self._codes: dict[_Entity, int] = {}
        self._originals: dict[str, tuple[str, int]] = {}
        self._apart: dict[_Entity, tuple[str, int]] = {}
        self._foreign: dict[str, tuple[str, int] | None] = {}  # None: of two words

    @classmethod
    def new(
        cls,
        policy: Policy,
        *,
        sample: Sample | None = None,
        public: Iterable[str] = (),
    ) -> Surrogates:
        """Begin a conversation, under a fresh key from the operating system."""
        return cls(policy, os.urandom(_KEY), sample=sample, public=public)

    def hide(
        self,
        batch: TokenizedBatch,
        symbols: Ids,
        *,
        author: str = "",
        apart: Sequence[bool] = (),
        place: str = "",
    ) -> Weights:
        """Return the output numbers of all words: surrogates, and ordinary words.

        Words of another ``author`` are entities of their own: nothing shows whether
        they equal words of the user. A NUL separates the author and the word; no word
        holds letters and a NUL. Words marked by ``apart`` are hidden as
        :meth:`hide_apart` does, at that ``place``.
        """
        if any(apart):
            codes = self.hide_apart(batch, symbols, place, only=apart)
        else:
            codes = self._policy.first[symbols].astype(np.int64)
        words = batch.words()
        for i, (symbol, folded) in _sensitive(self._policy, batch, symbols):
            if apart and apart[i]:
                continue
            entity = (symbol, f"{author}\0{folded}" if author else folded)
            if entity not in self._codes:
                self._give(entity, words[i])
            codes[i] = self._codes[entity]
        return codes

    def hide_apart(
        self,
        batch: TokenizedBatch,
        symbols: Ids,
        place: str,
        *,
        only: Sequence[bool] = (),
    ) -> Weights:
        """Return the output numbers of a text whose words are not joined.

        Each sensitive word is an entity of its own place: nothing shows whether it
        equals a word of this text, of another one or of the user. So a text may hold
        words of the user beside candidates that its author planted. It takes no member
        from words of the user. Its words are restored while no other word has the same
        surrogate.

        Parameters
        ----------
        batch : TokenizedBatch
            One text.
        symbols : int32 array, shape (words,)
            Its symbols.
        place : str
            Names the text: the same one has the same surrogates again.
        only : sequence of bool, shape (words,)
            Which words are hidden; all if not given. Others have the first output of
            their symbol.

        Returns
        -------
        int64 array, shape (words,)
            The output numbers.
        """
        codes: Weights = self._policy.first[symbols].astype(np.int64)
        words = batch.words()
        for i, (symbol, folded) in _sensitive(self._policy, batch, symbols):
            if only and not only[i]:
                continue
            entity = (symbol, f"{place} {i}\0{folded}")
            if entity not in self._apart:
                stream, drawn = self._begin_draw(entity)
                code = int(self._policy.draw_members(drawn, stream)[0])
                for _ in range(_TRIES):
                    is_known = self._form(code) in self._foreign
                    if not is_known and not self._is_barred(code):
                        break
                    if int(drawn[0]) in self._policy.alphabet.cells:
                        code += self._policy.output_count  # the amount beside it
                    else:
                        code = int(self._policy.draw_members(drawn, stream)[0])
                self._keep_apart(entity, words[i], code)
            codes[i] = self._apart[entity][1]
        return codes

    def _keep_apart(self, entity: _Entity, spelling: str, code: int) -> None:
        self._apart[entity] = given = spelling, code
        form = self._form(code)
        known = self._foreign.setdefault(form, given)
        if known is not None and canonical(known[0]) != canonical(spelling):
            self._foreign[form] = None

    def print(self, code: int) -> str:
        """The token of an output number.

        Where the center of a cell was given out already, it is an amount beside it: a
        function of what was drawn and given out, of no input.
        """
        lap, first = divmod(code, self._policy.output_count)
        cells = self._policy.alphabet.cells
        if lap and (symbol := self._policy.symbol_at(first)) in cells:
            return GRID.print(symbol - cells.start, lap)
        return self._policy.print(code)

    def _form(self, code: int) -> str:
        return canonical(self.print(code))

    def bar(self, public: Iterable[str]) -> None:
        """Never give out these *public* words from now on."""
        self._public |= frozenset(map(canonical, public))

    def is_public(self, word: str) -> bool:
        """Whether a word was declared public, in whatever case."""
        return canonical(word) in self._public

    def restore(self, surrogate: str) -> str | None:
        """Return the word behind a surrogate, in its first spelling; None for others.

        Case plays no part. An answer may hold a word that equals a surrogate by chance,
        a number above all: that it was meant cannot be told.
        """
        found = self._find(surrogate)
        return None if found is None else found[0]

    def find_code(self, surrogate: str) -> int | None:
        """Return the output number of a surrogate; None for other words."""
        found = self._find(surrogate)
        return None if found is None else found[1]

    def _find(self, surrogate: str) -> tuple[str, int] | None:
        form = canonical(surrogate)
        return self._originals.get(form) or self._foreign.get(form)

    def _give(self, entity: _Entity, spelling: str) -> None:
        stream, symbols = self._begin_draw(entity)
        code = int(self._policy.draw_members(symbols, stream)[0])
        self._keep(entity, spelling, self._members.take(int(symbols[0]), code, stream))

    def _begin_draw(self, entity: _Entity) -> tuple[np.random.Generator, Ids]:
        """The stream of an entity, and the group that it draws from."""
        symbol, folded = entity
        context = self._policy.digest.encode()
        stream = self._keyer(stream_key(self._key, context, str(symbol), 0, folded))
        symbols = np.array([symbol], dtype=np.int32)
        near, cells = self._policy.alphabet.near, self._policy.alphabet.cells
        if self._sample is None and near is not None:
            symbols = near.blur(symbols, cells.start, stream)
        if self._sample is not None:
            symbols = self._sample(symbols, stream)
            if not self._policy.alphabet.is_group(symbols).all():
                raise ConfigurationError(
                    "surrogates need a mechanism that always replaces sensitive words: "
                    "urr, or none"
                )
        return stream, symbols

    def _keep(self, entity: _Entity, spelling: str, code: int) -> None:
        self._codes[entity] = code
        self._originals[self._form(code)] = spelling, code

    def _is_barred(self, code: int) -> bool:
        """Whether a form is public, an ordinary word's, or given away already."""
        form = self._form(code)
        symbol = self._policy.symbols.get(form, self._policy.alphabet.size)
        is_ordinary = symbol < self._policy.alphabet.ordinary
        return is_ordinary or form in self._public or form in self._originals

    def to_bytes(self, key: bytes) -> bytes:
        """Write the map, encrypted under the user's key: see :func:`seal`."""
        spellings = [self._find_original(code) for code in self._codes.values()]
        entities = [
            [*entity, spelling, code]
            for (entity, code), spelling in zip(
                self._codes.items(), spellings, strict=True
            )
        ]
        apart = [[*entity, *given] for entity, given in self._apart.items()]
        content = {
            "format": 1,
            "policy": self._policy.digest,
            "key": self._key.hex(),
            "public": sorted(self._public),
            "entities": entities,
            "apart": apart,
        }
        from mondegreen.policy.sealing import seal  # a release of texts seals nothing

        return seal(json.dumps(content).encode(), key)

    @classmethod
    def from_bytes(
        cls, data: bytes, key: bytes, policy: Policy, *, sample: Sample | None = None
    ) -> Surrogates:
        """Read what :meth:`to_bytes` wrote, with the same key and policy.

        Raises
        ------
        DataError
            If the key is another one, the bytes were changed, or the policy is another.
        """
        from mondegreen.policy.sealing import unseal

        content = json.loads(unseal(data, key))
        if content["format"] != 1 or content["policy"] != policy.digest:
            raise DataError("the surrogates were made under another policy")
        found = cls(
            policy,
            bytes.fromhex(content["key"]),
            sample=sample,
            public=content["public"],
        )
        for symbol, folded, spelling, code in content["entities"]:
            found._keep((symbol, folded), spelling, code)
            found._members.mark(policy.symbol_at(code), code)
        for symbol, folded, spelling, code in content.get("apart", ()):
            found._keep_apart((symbol, folded), spelling, code)
        return found

    def _find_original(self, code: int) -> str:
        return self._originals[self._form(code)][0]

    def __len__(self) -> int:
        return len(self._codes)

    def __reduce__(self) -> NoReturn:
        raise TypeError("surrogates hold private words: write them with to_bytes")

    def __repr__(self) -> str:
        return f"Surrogates({self._policy!r}, words={len(self)})"


def _in_conflict(texts: Weights, codes: Weights) -> NDArray[np.bool_]:
    """Tell which entities are of texts where two of them drew one member."""
    order = np.lexsort((codes, texts))
    mine, drawn = texts[order], codes[order]
    again = (mine[1:] == mine[:-1]) & (drawn[1:] == drawn[:-1])
    return np.isin(texts, mine[1:][again])


def _sensitive(
    policy: Policy, batch: TokenizedBatch, symbols: Ids
) -> Iterable[tuple[int, _Entity]]:
    """The places of sensitive words, in order, and their entities."""
    words = batch.words()
    if symbols.shape != (len(words),):
        allowed = f"one symbol for each of {len(words)} words"
        raise InvalidParameterError("symbols", f"shape {symbols.shape}", allowed)
    folded: dict[str, str] = {}
    places = np.flatnonzero(policy.alphabet.is_group(symbols))
    for i, symbol in zip(places.tolist(), symbols[places].tolist(), strict=True):
        word = words[i]
        if word not in folded:
            folded[word] = canonical(word)
        yield i, (symbol, folded[word])


def _stream(key: bytes, context: bytes, entity: _Entity) -> np.random.Generator:
    symbol, folded = entity
    return chacha20(stream_key(key, context, str(symbol), 0, folded))


def _check_key(key: bytes) -> None:
    if len(key) != _KEY:
        raise InvalidParameterError("key", f"{len(key)} bytes", "32 secret bytes")
