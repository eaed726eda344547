r"""What happened to a corpus: words changed, rare words that survive, English words.

Everything here is computed from the private text. It is for the owner of that text, and
is not private itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import compress
from typing import Any, Final, TypeAlias, final

import numpy as np

from mondegreen.arrays import Floats, slices
from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.scores.law import pair_distances
from mondegreen.space.space import Space
from mondegreen.text.lookup import Lookup
from mondegreen.text.print_forms import as_released
from mondegreen.text.tokenizer import TokenizedBatch, canonical, tokenize

SentenceModel: TypeAlias = Callable[[list[str]], Any]
"""From texts to an array of one vector each, such as ``model.encode`` of an SBERT."""

_WORDS: Final = 8192  # compared together: 20 MB of coordinates in 300 dimensions


@final
@dataclass(frozen=True, slots=True)
class CorpusScores:
    r"""Scores of a release against its originals. Not private.

    Every word of the tokenizer counts, stop words and unknown words included. Words
    are compared in their canonical form, so that case and contractions do not count
    as changes. Percentages are in [0, 100]; None where there was nothing to count.
    """

    texts: int  # of the originals, empty ones included, nulls not
    withheld: int  # texts whose release is null
    unaligned: int  # texts whose words cannot be paired: they count for LOW and English
    words: int  # of the originals
    paired: int  # words with a partner in the release
    changed: int  # words that differ from their partner
    pp: float | None  # percent: 100 changed / paired; larger is more private
    unknown: int  # paired words outside the vocabulary of the space
    # Those released as they are. Not 0: words passed in clear, by a public keep list,
    # or a mechanism that returns what it does not know.
    unknown_unchanged: int
    foreign: int  # released words, of the paired ones, that the vocabulary lacks
    # Percent of the rarest types of the originals, ties in alphabetical order, that
    # occur anywhere in the release. Larger is less private, in the view of the paper;
    # but a rare word released for *another* input counts as well.
    low: float | None
    rare_types: int  # how many types that is
    # Percent of the *occurrences* of these types whose own output is unchanged: what
    # LOW means to measure. Larger is less private.
    rare_unchanged: float | None
    distance: float | None  # mean of paired words; larger is more private
    word_cosine: float | None  # mean of paired words; larger is closer
    text_cosine: float | None  # mean of texts as means of their words
    english_original: float | None  # percent of words in a given list
    english_release: float | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@final
class CorpusScorer:
    """Adds up what happened to texts, chunk by chunk; memory grows with the types.

    PP, LOW and the share of English: Meisenbacher et al., "A Comparative Analysis of
    Word-Level Metric Differential Privacy", LREC-COLING 2024.

    Parameters
    ----------
    space : Space
    rare : int
        How many types count as rare; by default as many as in the paper.
    english : iterable of str, optional
        Words that count as English, such as the NLTK list ``words``.

    Raises
    ------
    InvalidParameterError
        If ``rare`` is below 1.

    Examples
    --------
    >>> space = Space.from_arrays("line", ["cold", "cool", "warm"], [[0], [1], [3]])
    >>> scorer = CorpusScorer(space)
    >>> scorer.add(["Cold or warm?"], ["cold cool warm?"])
    >>> scores = scorer.scores()
    >>> scores.paired, scores.changed, round(scores.pp, 1)
    (3, 1, 33.3)
    """

    def __init__(
        self, space: Space, *, rare: int = 1000, english: Iterable[str] | None = None
    ) -> None:
        if rare < 1:
            raise InvalidParameterError("rare", rare, "at least 1")
        self._space, self._rare = space, rare
        self._lookup = Lookup(space)
        self._english = None if english is None else {canonical(w) for w in english}
        self._tally: Counter[str] = Counter()
        self._original: Counter[str] = Counter()
        self._released: Counter[str] = Counter()
        self._paired: Counter[str] = Counter()
        self._unchanged: Counter[str] = Counter()
        self._sums = {name: _Mean() for name in ("distance", "word", "text")}

    def add(
        self, originals: Sequence[str | None], releases: Sequence[str | None]
    ) -> None:
        """Add texts and their releases, in one order; errors quote no text.

        Where the original is null, so must be the release.

        Parameters
        ----------
        originals : sequence of str or None
            Texts.
        releases : sequence of str or None
            Their releases.

        Raises
        ------
        DataError
            If one is null and the other is not, or their numbers differ.
        """
        if len(originals) != len(releases):
            given, allowed = f"{len(releases)} of them", f"one for {len(originals)}"
            raise InvalidParameterError("releases", given, allowed)
        nulls = [text is None for text in originals]
        absent = [text is None for text in releases]
        if any(null and not gone for null, gone in zip(nulls, absent, strict=True)):
            raise InvalidParameterError("releases", "a text", "null for a null")
        self._tally["texts"] += nulls.count(False)
        self._tally["withheld"] += absent.count(True) - nulls.count(True)
        left, right = tokenize(originals), tokenize(releases)
        for batch, counter in ((left, self._original), (right, self._released)):
            for parts in batch.parts:
                counter.update(_forms(parts or []))
        self._align(left, right)

    def _align(self, left: TokenizedBatch, right: TokenizedBatch) -> None:
        """Pair the words of texts that have equally many."""
        together = [
            (mine, theirs if len(mine) == len(theirs) else as_released(theirs))
            for mine, theirs in zip(left.parts, right.parts, strict=True)
            if mine is not None and theirs is not None
        ]
        pairs = [pair for pair in together if len(pair[0]) == len(pair[1])]
        self._tally["unaligned"] += len(together) - len(pairs)
        inputs = self._lookup.codes(TokenizedBatch([mine for mine, _ in pairs]))
        outputs = self._lookup.codes(TokenizedBatch([theirs for _, theirs in pairs]))
        forms = [form for mine, _ in pairs for form in _forms(mine)]
        released = [form for _, theirs in pairs for form in _forms(theirs)]
        same = np.fromiter(map(str.__eq__, forms, released), np.bool_, len(forms))
        unknown = inputs == self._space.vocab_size
        foreign = outputs == self._space.vocab_size
        self._tally["unknown"] += int(unknown.sum())
        self._tally["unknown_unchanged"] += int((unknown & same).sum())
        self._tally["foreign"] += int(foreign.sum())
        self._paired.update(forms)
        self._unchanged.update(compress(forms, same))
        if self._space.has_vectors:
            counts = np.array([len(mine) // 2 for mine, _ in pairs], dtype=np.int64)
            self._compare(inputs, outputs, ~(unknown | foreign), counts)

    def _compare(self, inputs: Any, outputs: Any, known: Any, counts: Any) -> None:
        """Add the distances and cosines of words, and of texts as their means."""
        first, second = inputs[known], outputs[known]
        owners = np.repeat(np.arange(len(counts)), counts)[known]
        sums = np.zeros((2, len(counts), self._space.dim))
        for part in slices(len(first), _WORDS):
            gaps = pair_distances(self._space, first[part], second[part])
            if gaps is not None:
                self._sums["distance"].add(gaps)
            left: Any = self._space.points(first[part])
            right: Any = self._space.points(second[part])
            self._sums["word"].add(cosines(left, right))
            # The words of a text stand together, so each text is added to once.
            starts = np.flatnonzero(np.diff(owners[part], prepend=-1))
            mine = owners[part][starts]
            sums[0, mine] += np.add.reduceat(left, starts)
            sums[1, mine] += np.add.reduceat(right, starts)
        self._sums["text"].add(cosines(sums[0], sums[1]))

    def scores(self) -> CorpusScores:
        """The scores of what was added so far.

        Returns
        -------
        CorpusScores
            Scores of all texts added so far.
        """
        paired, unchanged = self._paired.total(), self._unchanged.total()
        counts = self._original
        by_rarity = sorted(counts, key=lambda form: (counts[form], form))
        rare = by_rarity[: self._rare]
        surviving = sum(form in self._released for form in rare)
        occurrences = sum(self._paired[form] for form in rare)
        rare_kept = sum(self._unchanged[form] for form in rare)
        return CorpusScores(
            texts=self._tally["texts"],
            withheld=self._tally["withheld"],
            unaligned=self._tally["unaligned"],
            words=self._original.total(),
            paired=paired,
            changed=paired - unchanged,
            pp=_percent(paired - unchanged, paired),
            unknown=self._tally["unknown"],
            unknown_unchanged=self._tally["unknown_unchanged"],
            foreign=self._tally["foreign"],
            low=_percent(surviving, len(rare)),
            rare_types=len(rare),
            rare_unchanged=_percent(rare_kept, occurrences),
            distance=self._sums["distance"].value,
            word_cosine=self._sums["word"].value,
            text_cosine=self._sums["text"].value,
            english_original=self._share_of_english(self._original),
            english_release=self._share_of_english(self._released),
        )

    def _share_of_english(self, forms: Counter[str]) -> float | None:
        if self._english is None:
            return None
        hits = sum(count for form, count in forms.items() if form in self._english)
        return _percent(hits, forms.total())

    def __repr__(self) -> str:
        return f"CorpusScorer(texts={self._tally['texts']})"


def puc(
    accuracy: float,
    baseline: float,
    *,
    n_w: float,
    s_w: float,
    pp: float,
    cs: float,
    low: float,
    alpha: float,
) -> float:
    r"""The privacy-utility composite of the benchmark paper (its Table 9), in percent.

    .. math::

        \mathrm{PUC} = \alpha \cdot 100 \frac{A}{A_0} + (1 - \alpha)
            \frac{(100 - N_w) + S_w + \mathrm{PP} + \mathrm{CS} + (100 - \mathrm{LOW})}
                 {5}

    with the accuracies on released and on original text, and percentages for the rest.
    Larger is better, in the view of the paper. Use it to compare with published tables
    only: CS counts as privacy although it measures closeness; :math:`N_w`, :math:`S_w`
    and PP are one quantity counted three times; LOW measures vocabulary coverage, not
    leakage. The printed "B-Acc" reads as a subtraction; it is the baseline accuracy.
    Read so, the formula gives 187 of 189 printed cells for IMDb.
    """
    parts = [100 - n_w, s_w, pp, cs, 100 - low]
    for name, given, fits, allowed in (
        ("baseline", baseline, baseline > 0, "above 0"),
        ("accuracy", accuracy, accuracy >= 0, "at least 0"),
        ("alpha", alpha, 0 <= alpha <= 1, "in [0, 1]"),
        ("scores", parts, all(0 <= part <= 100 for part in parts), "in [0, 100]"),
    ):
        if not fits:
            raise InvalidParameterError(name, given, allowed)
    return alpha * 100 * accuracy / baseline + (1 - alpha) * sum(parts) / len(parts)


def cosines(left: Floats, right: Floats) -> Floats:
    """The cosine of each row with its partner; NaN where a row is 0."""
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    products = np.einsum("ij,ij->i", left, right)
    found = np.full(len(left), np.nan)
    np.divide(products, lengths, out=found, where=lengths > 0)
    return np.asarray(np.clip(found, -1.0, 1.0))


def sentence_cosines(
    originals: Sequence[str], releases: Sequence[str], model: SentenceModel
) -> Floats:
    r"""The cosine of each text with its release under a sentence model.

    CS of the benchmark paper (Meisenbacher et al., LREC-COLING 2024) is 100 times the
    mean; its published numbers use ``paraphrase-distilroberta-base-v1`` of
    Sentence-BERT. Larger is closer: more useful and *less* private, although PUC counts
    it as privacy.
    """
    vectors = []
    for texts in (list(originals), list(releases)):
        found = np.asarray(model(texts), dtype=np.float64)
        if found.ndim != 2 or len(found) != len(texts):
            raise ConfigurationError(
                f"the sentence model returned an array of shape {found.shape} for "
                f"{len(texts)} texts; one vector for each is needed"
            )
        vectors.append(found)
    return cosines(vectors[0], vectors[1])


class _Mean:
    """A mean of numbers that come in chunks; NaN is left out."""

    def __init__(self) -> None:
        self._sum, self._count = 0.0, 0

    def add(self, values: Any) -> None:
        known = values[~np.isnan(values)]
        self._sum += float(known.sum())
        self._count += len(known)

    @property
    def value(self) -> float | None:
        return self._sum / self._count if self._count else None


def _forms(parts: list[str]) -> list[str]:
    words = parts[1::2]
    return [
        canonical(word, following)
        for word, following in zip(words, [*words[1:], ""], strict=False)
    ]


def _percent(part: int, whole: int) -> float | None:
    return 100 * part / whole if whole else None
