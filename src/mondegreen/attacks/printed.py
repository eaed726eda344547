"""All rows of a release beside those of its originals, some rows at a time."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple, final

import numpy as np

from mondegreen.arrays import Floats, Ids, Weights
from mondegreen.attacks.attack import Attack, count_rows
from mondegreen.attacks.outputs import has_closed_law, pass_over
from mondegreen.attacks.unchanged import LISTED, Marks, UnchangedRows, is_chance
from mondegreen.mechanisms.base import State
from mondegreen.policy.days import DAYS, MONTHS, count_outcomes
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import strip_lap
from mondegreen.policy.shapes import PLACES, is_printed_code, is_pseudo_word
from mondegreen.settings import Same
from mondegreen.text.lookup import Lookup, Memo
from mondegreen.text.print_forms import as_released
from mondegreen.text.tokenizer import TokenizedBatch, canonical, tokenize

_NONE: Final = -1


class _Places(NamedTuple):
    """Where hidden words stand in a batch, what they are, and which of them stay."""

    rows: Weights
    symbols: Weights
    words: Weights
    stays: Marks

    def choose(self, chosen: Marks | Weights) -> _Places:
        rows, symbols, words, stays = self
        return _Places(rows[chosen], symbols[chosen], words[chosen], stays[chosen])

    def sort_distinct(self) -> _Places:
        """Sort by row, symbol and word, and take each such triple once."""
        found = self.choose(np.lexsort((self.words, self.symbols, self.rows)))
        keys = np.stack([found.rows, found.symbols, found.words])
        is_new = np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0))
        return found.choose(is_new[: keys.shape[1]])


class _Both(NamedTuple):
    """Texts and their releases, as numbers."""

    counts: Weights  # words of each text
    others: Weights  # words of each release
    symbols: Ids  # of the words of the texts, flat
    own: Weights  # those words, numbered; equal words alike
    printed: Weights  # the words of the releases, numbered in the same way
    foreign: Marks  # which of these the setting never prints


class AbstractPrintedRows(ABC):
    """Reads all rows of two files, and counts those whose hidden words all stay.

    Memory grows with the number of distinct words, not with that of rows.

    Parameters
    ----------
    are_independent : bool
        See :class:`UnchangedRows`.
    """

    def __init__(self, *, are_independent: bool) -> None:
        self.unchanged = UnchangedRows(are_independent=are_independent)
        self.rows = 0
        self.unpaired = 0  # rows with another number of words than their original
        self.foreign = 0  # rows with a word that this setting never prints
        self.foreign_rows: list[int] = []

    @property
    @abstractmethod
    def looks_drawn(self) -> bool:
        """Whether the setting may have printed these words."""

    @abstractmethod
    def _read(self, texts: Sequence[str], releases: Sequence[str]) -> _Both:
        """Cut both into words, and number them."""

    @abstractmethod
    def _is_hidden(self, symbols: Ids) -> Marks:
        """Tell which symbols are replaced."""

    @abstractmethod
    def _log_chances(self, places: _Places) -> Floats:
        """Logarithms of bounds of the chances that distinct hidden words stay.

        The places are sorted by row, symbol and word.
        """

    def _see(self, places: _Places) -> None:  # noqa: B027 - most look at rows alone
        """Look at the hidden places of rows that are paired word by word."""

    def add(
        self, numbers: Sequence[int], texts: Sequence[str], releases: Sequence[str]
    ) -> None:
        """Read some rows.

        Parameters
        ----------
        numbers : sequence of int
            Of the rows in their file.
        texts, releases : sequence of str
            Of one length.
        """
        both = self._read(texts, releases)
        logs, hidden, is_left = self._compare(both)
        counted = hidden > 0
        given = np.asarray(numbers, dtype=np.int64)
        self.unchanged.add(given[counted], logs[counted], is_left[counted])
        self.rows += len(given)
        fits = both.counts == both.others
        self.unpaired += int((~fits).sum())
        owners = np.repeat(np.arange(len(given)), both.others)
        strange = np.unique(owners[both.foreign])
        strange = strange[fits[strange]]
        self.foreign += len(strange)
        self.foreign_rows += given[strange].tolist()
        del self.foreign_rows[LISTED:]

    def _compare(self, both: _Both) -> tuple[Floats, Weights, Marks]:
        """Find the chance of each row to stay, its hidden words, and whether it did."""
        counts, others, own, printed = both.counts, both.others, both.own, both.printed
        fits = counts == others
        owners = np.repeat(np.arange(len(counts)), counts)
        is_paired = np.repeat(fits, counts)
        is_hidden = self._is_hidden(both.symbols)
        stays = np.zeros(len(own), dtype=np.bool_)
        stays[is_paired] = own[is_paired] == printed[np.repeat(fits, others)]
        every = _Places(owners, both.symbols.astype(np.int64), own, stays)
        self._see(every.choose(is_hidden & is_paired))
        logs = np.zeros(len(counts))
        distinct = every.choose(is_hidden).sort_distinct()
        if len(distinct.rows):
            chances = self._log_chances(distinct)
            logs = np.bincount(distinct.rows, chances, len(counts)).astype(np.float64)
        hidden = np.bincount(owners[is_hidden], minlength=len(counts))
        changed = np.bincount(owners[is_hidden & ~stays], minlength=len(counts))
        is_left = fits & (changed == 0)
        starts, begins = np.cumsum([0, *counts]), np.cumsum([0, *others])
        for row in np.flatnonzero(~fits & (hidden > 0)).tolist():
            inside = slice(*starts[row : row + 2])
            wanted = own[inside][is_hidden[inside]].tolist()
            shown = printed[slice(*begins[row : row + 2])].tolist()
            is_left[row] = _holds_in_order(shown, wanted)
            # A word may stand at any place of such a row.
            logs[row] = min(0.0, logs[row] + len(wanted) * np.log(len(shown) + 1))
        return logs, hidden, is_left

    def make_attack(self, *, is_drawn: bool = True) -> Attack:
        """Tell how many rows stay that chance does not explain.

        Parameters
        ----------
        is_drawn : bool
            Whether the words may be those that were drawn. If not, nobody knows what
            chance explains: without rows that stay, the value is None.

        Returns
        -------
        Attack
        """
        found = self.unchanged.make_attack()
        if is_drawn or found.value is None or found.value > 0:
            return found
        why = "; not known: this setting did not draw the words"
        return replace(
            found, adversary=found.adversary + why, value=None, low=None, high=None
        )

    def count_unpaired(self) -> Attack:
        """Tell how many rows have another number of words than their original.

        No attack on words sees what such a row shows.

        Returns
        -------
        Attack
        """
        return count_rows(
            "unpaired_rows",
            "counts rows with another number of words than their original, which "
            "attacks on words leave out",
            float(self.unpaired),
            self.rows,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.rows} rows)"


def _holds_in_order(shown: list[int], wanted: list[int]) -> bool:
    """Whether all wanted words stand among the shown ones, in their order."""
    rest = iter(shown)
    return all(word in rest for word in wanted)


@final
class PolicyRows(AbstractPrintedRows):
    r"""Rows of a release under a policy.

    :attr:`looks_drawn` is False if a hidden place has a word that its group never
    prints, or a code that is not printed, or if more words stay than chance explains.
    A word :math:`w` of a group with :math:`n_w` outputs stays with probability
    :math:`1/n_w` if it is one of them. Each distinct original counts once, at its first
    place, since a wider scope prints it alike everywhere. The number of those that stay
    is compared with a Poisson law of mean :math:`\sum_w 1/n_w`, whose tail is above
    that of the exact law (Hoeffding 1956).

    All :math:`k` distinct words of a group stay in one row with a chance of at most
    :math:`\prod_{j<k} 1/(n - j)`, in every scope. A number beside a month is printed as
    a day, so its :math:`n` is smaller (:mod:`mondegreen.policy.days`).

    Parameters
    ----------
    lookup : PolicyLookup
        Of the policy that is said to have made the release.
    same : {"place", "record", "key"}
        The scope of the release.
    """

    def __init__(self, lookup: PolicyLookup, same: Same = "place") -> None:
        super().__init__(are_independent=same != "key")
        policy = lookup.policy
        self._lookup, self._policy = lookup, policy
        self._groups = len(policy.ordinary)
        self._shapes = policy.shape_symbol(0)
        self._code = policy.shape_symbol(PLACES["code"])
        self._numbers: dict[str, int] = {}
        # Symbols of this class alone stand behind those of the policy: numbers that are
        # printed as days, with as many outcomes as their likeliest one allows.
        days = DAYS if same == "place" else {}
        own = len(policy.sizes)
        self._days = {
            policy.shape_symbol(PLACES[name]): own + i for i, name in enumerate(days)
        }
        fewer = list(map(count_outcomes, days.values()))
        self._sizes = np.append(policy.sizes, np.array(fewer, dtype=np.int64))
        outputs = [
            (canonical(word), symbol)
            for symbol, group in enumerate(policy.groups, start=self._groups)
            for word in group.words
        ]
        self._symbol_of = dict(outputs)
        self._printer: list[int] = []  # of each numbered word: who prints it
        self._own = Memo(self._number_original)
        self._printed = Memo(self._number_printed)
        self._seen: set[int] = set()
        self._stayed, self._expected = 0, 0.0

    @property
    def looks_drawn(self) -> bool:
        return not self.foreign and is_chance(self._stayed, self._expected)

    def _number(self, folded: str) -> int:
        number = self._numbers.setdefault(folded, len(self._numbers))
        if number == len(self._printer):
            self._printer.append(self._symbol_of.get(folded, _NONE))
        return number

    def _number_original(self, word: str) -> int:
        return self._number(canonical(word))

    def _number_printed(self, word: str) -> int:
        """Number a printed word; the last bit says that the policy never prints it."""
        folded = strip_lap(canonical(word))
        number = self._number(folded)
        if is_pseudo_word(folded):  # some are words of a list, too: nutanix
            return number << 1
        symbols = self._policy.symbols
        symbol = symbols.get(folded, symbols.get(word))  # "½" folds to two numbers
        if symbol is None:
            symbol = self._lookup.find_symbol(word)
        is_group = self._groups <= symbol < self._shapes
        is_foreign = is_group and self._printer[number] != symbol
        # "Hell0" has the format of a code, which is printed as BB0000.
        is_foreign |= symbol == self._code and not is_printed_code(folded)
        return number << 1 | is_foreign

    def _read(self, texts: Sequence[str], releases: Sequence[str]) -> _Both:
        mine, theirs = self._lookup.cut(texts), self._lookup.cut(releases)
        own = _fetch(self._own, mine)
        printed = _fetch(self._printed, theirs)
        symbols = self._mark_days(mine, self._lookup.codes(mine))
        foreign = (printed & 1).astype(np.bool_)
        return _Both(_count(mine), _count(theirs), symbols, own, printed >> 1, foreign)

    def _mark_days(self, batch: TokenizedBatch, symbols: Ids) -> Ids:
        """Give own symbols to numbers that are days if their row stays.

        Whatever stands between the words: a plain structure prints a single space. A
        number beside another word than a month rarely becomes a day, where that word
        strays. That adds less to its chance than strays of the number take, under 17
        groups or more.
        """
        found, words = symbols.copy(), batch.words()
        last = (batch.begins[1:] - 1).tolist()
        is_last = np.zeros(len(words) + 1, dtype=np.bool_)
        is_last[last] = True
        for i in np.flatnonzero(np.isin(symbols, list(self._days))).tolist():
            before = canonical(words[i - 1]) if i and not is_last[i - 1] else ""
            behind = canonical(words[i + 1]) if not is_last[i] else ""
            if before in MONTHS or behind in MONTHS:
                found[i] = self._days[int(symbols[i])]
        return found

    def _is_hidden(self, symbols: Ids) -> Marks:
        cells = self._policy.alphabet.cells  # an amount often keeps its cell
        return (symbols >= self._groups) & (
            (symbols < cells.start) | (symbols >= cells.stop)
        )

    def _see(self, places: _Places) -> None:
        distinct, first = np.unique(places.words, return_index=True)
        is_new = [word not in self._seen for word in distinct.tolist()]
        self._seen.update(distinct.tolist())
        first = first[is_new]
        symbols = places.symbols[first]
        first = first[symbols < self._shapes]
        self._stayed += int(places.stays[first].sum())
        symbols = places.symbols[first]
        is_output = np.array(self._printer)[places.words[first]] == symbols
        self._expected += float((is_output / self._policy.sizes[symbols]).sum())

    def _log_chances(self, places: _Places) -> Floats:
        rows, symbols, words, _ = places
        each = np.arange(len(rows))
        begins = np.append(
            True, (rows[1:] != rows[:-1]) | (symbols[1:] != symbols[:-1])
        )
        rank = each - np.maximum.accumulate(np.where(begins, each, 0))
        is_output = np.array(self._printer)[words] == symbols
        is_output |= symbols >= self._shapes
        free = np.maximum(1, self._sizes[symbols] - rank)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(is_output / free))


@final
class SpaceRows(AbstractPrintedRows):
    """Rows of a release by a mechanism on a space, printed as it was drawn.

    Parameters
    ----------
    lookup : Lookup
        Of the space.
    state : State
        The law. Where it has no closed form, chances are not known.
    """

    def __init__(self, lookup: Lookup, state: State) -> None:
        super().__init__(are_independent=True)
        self._lookup, self._state = lookup, state
        size = lookup.vocab_size
        self._numbers: dict[str, int] = {}
        self._unknown = Memo(self._number)
        self._stay = np.full(size + 1, np.nan)
        self._stay[size] = 0.0  # no unknown word is printed
        self._is_closed = has_closed_law(state)

    @property
    def looks_drawn(self) -> bool:
        return True  # :func:`looks_drawn` says it of the words of a sample

    def _number(self, word: str) -> int:
        """Number a word that the space lacks, behind those that it has."""
        known = len(self._numbers) + self._lookup.vocab_size
        return self._numbers.setdefault(canonical(word), known)

    def _read(self, texts: Sequence[str], releases: Sequence[str]) -> _Both:
        mine, cut = tokenize(texts), tokenize(releases)
        theirs = TokenizedBatch([parts and as_released(parts) for parts in cut.parts])
        symbols = self._lookup.codes(mine)
        found = self._lookup.codes(theirs)
        strange = found == self._lookup.vocab_size
        own, printed = self._words(mine, symbols), self._words(theirs, found)
        return _Both(_count(mine), _count(theirs), symbols, own, printed, strange)

    def _words(self, batch: TokenizedBatch, codes: Ids) -> Weights:
        found = codes.astype(np.int64)
        words = batch.words()
        for place in np.flatnonzero(codes == self._lookup.vocab_size).tolist():
            found[place] = self._unknown[words[place]]
        return found

    def _is_hidden(self, symbols: Ids) -> Marks:
        return symbols >= 0

    def _log_chances(self, places: _Places) -> Floats:
        if self._is_closed:
            symbols = np.unique(places.symbols)
            self._fill(symbols[np.isnan(self._stay[symbols])].astype(np.int32))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self._stay[places.symbols]))

    def _fill(self, ids: Ids) -> None:
        """Look up the chance that each of these words stays."""
        lock = threading.Lock()

        def look(block: Ids, logs: Floats, law: Floats) -> None:
            with lock:
                self._stay[block] = law[np.arange(len(block)), block]

        if len(ids):
            pass_over(self._state, ids, look)


def _count(batch: TokenizedBatch) -> Weights:
    return np.array(batch.counts(), dtype=np.int64)


def _fetch(memo: Memo, batch: TokenizedBatch) -> Weights:
    words = batch.words()
    return np.fromiter(map(memo.__getitem__, words), np.int64, len(words))
