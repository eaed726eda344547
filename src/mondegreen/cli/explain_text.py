"""What ``mondegreen explain`` prints, line by line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from mondegreen.wording import amount

if TYPE_CHECKING:
    from mondegreen.guarantee import Guarantee
    from mondegreen.scores.odds import DocumentLoss, Odds
    from mondegreen.scores.word import WordScores


_LARGEST_FACTOR: Final = 1e6
"""Larger factors are shown as powers of ten."""


def lines_of(
    word: str, form: str, scores: WordScores, guarantee: Guarantee
) -> list[str]:
    """Return the lines that are printed."""
    how = (
        "exact"
        if scores.runs is None
        else f"{amount(scores.runs, 'run')}, 95 % intervals"
    )
    lines = [f"{word}: {guarantee.setting} on {guarantee.space}; {how}"]
    if not guarantee.is_proved:
        lines.append("NOT PRIVATE: this mechanism does not keep the promise it claims")
    if not scores.is_known:
        lines.append(
            "not in the vocabulary: treated as the unknown word, like all such words"
        )
    elif form != word:
        lines.append(f"looked up as: {form}")
    lines += ["", *_table(_facts(scores)), "", "likeliest outputs"]
    lines += _table(
        [
            (
                output.word + (" (itself)" if scores.is_known and index == own else ""),
                _percent(output.probability),
                "" if output.distance is None else f"{output.distance:.3g} away",
            )
            for own in [_place_of(form, word, scores)]
            for index, output in enumerate(scores.outputs)
        ]
    )
    lines += ["", "odds", *(line for odds in scores.odds for line in _odds(odds, word))]
    if scores.document is not None:
        lines += ["", *_document(scores.document)]
    return lines


def _place_of(form: str, word: str, scores: WordScores) -> int:
    """Return the place of the input among the outputs, or -1."""
    names = [output.word for output in scores.outputs]
    own = word if word in names else form
    return names.index(own) if own in names else -1


def _facts(scores: WordScores) -> list[tuple[str, str]]:
    """Return one row for each score."""
    share = f"hold {100 * (1 - scores.eta):.4g} % of the probability"
    facts = []
    if scores.is_known:
        facts.append(("chance to stay", _percent(scores.stay)))
    facts.append(
        ("likely outputs", f"{amount(_count(scores.support), 'word')} {share}")
    )
    if scores.distinct is not None:
        facts.append(("distinct outputs", f"{scores.distinct:,} in these runs"))
    shannon, least = scores.entropies["entropy_1"], scores.entropies["entropy_inf"]
    facts.append(("entropy", amount(_number(shannon), "nat") + _draw_among(shannon)))
    facts.append(
        ("at the least", f"{amount(_number(least), 'nat')}, by the likeliest output")
    )
    if scores.distance is not None and scores.rank is not None:
        facts.append(("distance moved", f"{_number(scores.distance)} on average"))
        facts.append(("closer words", f"{_count(scores.rank)} on average"))
    return facts


def _odds(odds: Odds, word: str) -> list[str]:
    """Say how sure somebody can become that the word was this one, not the other."""
    if odds.promised is not None and math.isfinite(odds.promised):
        promise = (
            f"at most {_factor(odds.promised)} to 1 ({_nats(odds.promised)}), "
            "by the promise"
        )
    else:
        promise = "whatever: nothing is promised"
    lines = [
        f"  {odds.pair:<4}  {word} or {odds.other}, {_apart(odds.distance)}; "
        "seeing the output turns even odds into",
        f"        {promise}",
    ]
    if odds.realised is not None:
        law = f"at most {_factor(odds.realised)} to 1 ({_nats(odds.realised)})"
        if math.isinf(odds.realised):
            law = "certainty, for some outputs"
        lines.append(f"        {law}, by the law itself")
    return lines


def _apart(distance: float) -> str:
    return f"{distance:.3g} apart" if math.isfinite(distance) else "infinitely far"


def _draw_among(entropy: Any) -> str:
    """Say how many words a fair draw would be among, for an exact entropy."""
    if not isinstance(entropy, float):
        return ""
    return f", as of a fair draw among {amount(_size(math.exp(entropy)), 'word')}"


def _document(loss: DocumentLoss) -> list[str]:
    """Say what a document adds up to."""
    words = amount(loss.words, "word")
    rows = [
        ("each by its nearest neighbour", _nats(loss.nearest)),
        ("each by a word at the mean distance", _nats(loss.mean)),
        ("each by any word", _nats(loss.any)),
    ]
    if loss.any_delta < loss.any:
        rows.append((f"  except with chance {loss.delta:g}", _nats(loss.any_delta)))
    return [f"a document of {words}, all replaced, is told apart by", *_table(rows)]


def _size(count: float) -> str:
    return f"{count:,.0f}" if count >= 10 else f"{count:.3g}"


def _nats(loss: float) -> str:
    return amount(f"{loss:,.0f}" if loss >= 100 else f"{loss:.3g}", "nat")


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return rows in columns, indented."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join(f"{c:{n}}" for c, n in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _factor(nats: float) -> str:
    """Return exp of a loss as people read it."""
    if nats < math.log(_LARGEST_FACTOR):
        factor = math.exp(nats)
        return f"{factor:.3g}" if factor < 1000 else f"{factor:,.0f}"
    return f"10^{nats / math.log(10):.3g}"


def _percent(value: Any) -> str:
    """Return a probability, with its interval where it is an estimate."""
    if isinstance(value, float):
        return f"{100 * value:.3g} %"
    low, high = 100 * value.low, 100 * value.high
    return f"{100 * value.estimate:.3g} % ({low:.3g} to {high:.3g})"


def _number(value: Any) -> str:
    """Return a number, with its interval where it is an estimate."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _count(value: Any) -> str:
    """Return a number of words."""
    if isinstance(value, float):
        return f"{value:,.0f}"
    bounds = f"{value.low:,.0f} to {value.high:,.0f}"
    return bounds if value.estimate is None else f"{value.estimate:,.0f} ({bounds})"
