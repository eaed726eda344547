"""A comparison as a table, as CSV, and as LaTeX for a paper."""

from __future__ import annotations

import csv
import functools
import io
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from mondegreen.policy.policy import find_policy
from mondegreen_experiments.compare.contenders import read_contender
from mondegreen_experiments.compare.measure import FULL_CORPUS, NO_NOISE
from mondegreen_experiments.kept import Run, table_of
from mondegreen_experiments.recipe import Point, Recipe
from mondegreen_experiments.result import Mean, Result

if TYPE_CHECKING:
    import pyarrow as pa

_NAMES: Final = {
    "unchanged": "words unchanged",
    "recovered": "sensitive recovered",
}
_SPECIAL: Final = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def to_csv(result: Result) -> str:
    """A line for each number: its mean over seeds and its interval of 95 %."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    names = ["mechanism", "epsilon", "measure", "value", "low", "high", "runs", "proof"]
    writer.writerow(names)
    for point, means in result.means:
        for name, mean in means.items():
            ends = (f"{each:.6g}" for each in (mean.value, mean.low, mean.high))
            row = [*_place(point), name, *ends, mean.runs, _proof(point)]
            writer.writerow(row)
    return stream.getvalue()


def to_table(recipe: Recipe, found: Sequence[Run]) -> pa.Table:
    """A row for each measure of each run, with the version and the policy's digest."""
    import pyarrow as pa

    import mondegreen

    table = table_of("full", [(recipe, found)])
    points = [run.point for run in found for _ in run.measured]
    digests = pa.array([_policy_digest(point) for point in points], pa.string())
    versions = pa.array([mondegreen.__version__] * len(points), pa.string())
    table = table.append_column("version", versions)
    return table.append_column("policy_digest", digests)


def _policy_digest(point: Point) -> str | None:
    """The digest of the policy of a point; None without a policy."""
    if point["contender"] == NO_NOISE:
        return None
    return _digest_of_contender(
        str(point["contender"]), point["space"], is_unproved=bool(point["unproved"])
    )


@functools.cache
def _digest_of_contender(
    contender: str, space: str | None, *, is_unproved: bool
) -> str | None:
    chosen = read_contender(contender).settings(1.0, space, allow_unproved=is_unproved)
    policy = find_policy(chosen)
    return None if policy is None else policy.digest


def rows(result: Result) -> list[dict[str, object]]:
    """A row for each mechanism at each epsilon, as people read it."""
    return [
        {
            "mechanism": f"{point['mechanism']}{_mark(point)}",
            "epsilon": _place(point)[1] or "-",
            **{
                _NAMES.get(k, k): f"{_sign(k, means)}{_shown(means[k])}"
                for k in _columns(result, means)
            },
        }
        for point, means in result.means
    ]


def to_latex(result: Result) -> str:
    r"""A table of the package ``booktabs``: percent, with intervals of 95 %.

    Only the cosine is no percentage.

    The first line says which package it needs; put it into a ``table`` of your own.
    """
    _, first = result.means[0]
    names = _columns(result, first)
    header = ["Mechanism", r"$\varepsilon$", *map(_heading, names)]
    runs = max(mean.runs for mean in first.values())
    lines = [
        "% needs \\usepackage{booktabs}",
        f"% percent: mean of {runs} seeds [95 % interval, Student's t over seeds]",
        f"\\begin{{tabular}}{{ll{'r' * len(names)}}}",
        "\\toprule",
        " & ".join(header) + r" \\",
        *_body(result, names),
        "\\bottomrule",
        *_note(result, len(names) + 2),
        "\\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def corpus_size(result: Result) -> int | None:
    """How many texts the attacker has as a corpus; None where nothing is attacked."""
    sizes = [
        means["corpus_texts"].value
        for _, means in result.means
        if "corpus_texts" in means
    ]
    return int(min(sizes)) if sizes else None


def _note(result: Result, columns: int) -> list[str]:
    """State the corpus of the attacker below the table, so that it is printed."""
    size = corpus_size(result)
    if size is None:
        return []
    known = f"Corpus of the attacker: {size:,} texts."
    signs = [_sign("recovered", means) for _, means in result.means]
    least = r" $\geq$: a better attacker recovers more." if any(signs) else ""
    return [rf"\multicolumn{{{columns}}}{{l}}{{\footnotesize {known}{least}}}"]


def _body(result: Result, names: Sequence[str]) -> Iterator[str]:
    """Rows, with a rule before each mechanism, which is named once."""
    groups = itertools.groupby(
        result.means, lambda each: f"{each[0]['mechanism']}{_mark(each[0])}"
    )
    for label, group in groups:
        yield "\\midrule"
        for number, (point, means) in enumerate(group):
            name = "" if number else _escape(str(label))
            epsilon = _place(point)[1] or "--"
            cells = [_cell(each, means) for each in names]
            yield " & ".join([name, epsilon, *cells]) + r" \\"


def _columns(result: Result, means: Mapping[str, Mean]) -> list[str]:
    """Accuracies first; F1 and chance stand in the CSV alone."""
    own = [name for name in means if name.startswith("accuracy")]
    rest = ("unchanged", "cosine", "recovered")
    return [*own, *(name for name in rest if name in means)]


def _place(point: Point) -> tuple[str, str]:
    is_clear = point["contender"] == NO_NOISE
    return str(point["mechanism"]), "" if is_clear else f"{point['epsilon']:g}"


def _proof(point: Point) -> str:
    """Whose proof a mechanism has; of texts without noise none is asked."""
    if point["contender"] == NO_NOISE:
        return ""
    return read_contender(str(point["contender"])).proof


def _mark(point: Point) -> str:
    """Say beside a mechanism that its proof is not ours, or that there is none."""
    marks = {"none": " (no proof)", "its author's": " (proof: its author's)"}
    return marks.get(_proof(point), "")


def _shown(mean: Mean) -> str:
    if mean.low == mean.high:
        return f"{mean.value:.3f}"
    return f"{mean.value:.3f} ({mean.low:.3f} to {mean.high:.3f})"


def _cell(name: str, means: Mapping[str, Mean]) -> str:
    """Write a share in percent, and a cosine as it is."""
    mean, is_share = means[name], name != "cosine"
    value, low, high = (
        f"{100 * x:.1f}" if is_share else f"{x:.3f}"
        for x in (mean.value, mean.low, mean.high)
    )
    sign = r"$\geq$ " if _sign(name, means) else ""
    return f"{sign}{value}" if low == high else f"{sign}{value} [{low}, {high}]"


def _sign(name: str, means: Mapping[str, Mean]) -> str:
    """Mark what a weak attacker recovered; others get more.

    Such an attacker had to estimate the law, or has a small corpus.
    """
    if name != "recovered" or name not in means:
        return ""
    corpus = means.get("corpus_texts")
    is_small = corpus is not None and corpus.value < FULL_CORPUS
    return "≥ " if is_small or means["law_known"].value < 1 else ""


def _heading(name: str) -> str:
    return _escape(_NAMES.get(name, name).capitalize())


def _escape(text: str) -> str:
    r"""Write a name so that LaTeX prints it.

    >>> print(_escape("my_law & co"))
    my\_law \& co
    """
    return "".join(_SPECIAL.get(sign, sign) for sign in text)
