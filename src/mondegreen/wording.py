"""Numbers and commands, as people read and copy them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, Literal

Kind = Literal["number", "percent", "count"]
"""A number as it is, a share in percent, or how many there are."""

DEFAULT_SPACE: Final = "glove-840b-34k"
"""The space that is meant where none is named."""


def amount(number: int | str, noun: str) -> str:
    """Write a number with its noun, which takes an s unless there is just one.

    >>> amount(1, "row"), amount(12_000, "row"), amount("1.5", "nat")
    ('1 row', '12,000 rows', '1.5 nats')
    """
    shown = f"{number:,}" if isinstance(number, int) else number
    return f"{shown} {noun}" + ("" if shown == "1" else "s")


def describe_repeated_ids(
    column: object, distinct: int, rows: str, *, is_keyed: bool = True
) -> str:
    """Say that ids repeat, by the name of their column; no id is shown.

    Without a key of noise, ids only count releases in a ledger.

    >>> describe_repeated_ids("id", 2, amount(3, "row")).partition(". ")[0]
    "ids repeat: 'id' has 2 values in 3 rows"
    """
    what = (
        "Equal texts with one id get the same release."
        if is_keyed
        else "The ledger counts all rows with one id as one record."
    )
    return (
        f"ids repeat: {column!r} has {amount(distinct, 'value')} in {rows}. {what} If "
        "one id is one person, ignore this. Otherwise, use a column with a different "
        "value in each row."
    )


def round_up(nats: float, digits: int) -> float:
    """Round a loss, never down: a certified loss is a hair below epsilon.

    >>> round_up(11.999999999998993, 6), round_up(59.9999, 2), round_up(math.inf, 6)
    (12.0, 60.0, inf)
    """
    unit = 10**digits
    return math.ceil(nats * unit) / unit if math.isfinite(nats) else nats


def figure(value: float, kind: Kind = "number", digits: int = 3) -> str:
    """Write a number with so many digits; a percentage without its sign.

    >>> figure(0.12345), figure(0.12345, "percent"), figure(12345.6, "count")
    ('0.123', '12.3', '12,346')
    """
    if kind == "count":
        return f"{value:,.0f}"
    return f"{100 * value if kind == 'percent' else value:.{digits}g}"


def figures(low: float, high: float, kind: Kind = "number", digits: int = 3) -> str:
    """Write both ends of an interval, or one number where they agree.

    >>> figures(0.25, 0.5, "percent"), figures(0.5, 0.5)
    ('25 to 50 %', '0.5')
    """
    ends = dict.fromkeys(figure(end, kind, digits) for end in (low, high))
    return " to ".join(ends) + (" %" if kind == "percent" else "")


def nats(loss: float) -> str:
    """Write a loss.

    >>> nats(1.0), nats(2.34567), nats(12345.6)
    ('1 nat', '2.35 nats', '12,346 nats')
    """
    return amount(figure(loss, "count" if loss >= 100 else "number"), "nat")


def factor(loss: float) -> str:
    """Write the factor by which a loss in nats changes odds.

    >>> factor(2.0), factor(9.0), factor(30.0)
    ('7.39', '8,103', '10^13')
    """
    if loss >= math.log(1e6):
        return f"10^{loss / math.log(10):.3g}"
    odds = math.exp(loss)
    return figure(odds, "number" if odds < 1000 else "count")


def privatize_command(
    mechanism: str,
    epsilon: float,
    parameters: Mapping[str, object] | str,
    *,
    columns: Sequence[str] = ("text",),
    space: str = DEFAULT_SPACE,
    is_private: bool = True,
) -> str:
    """Write the command line that privatizes with a setting.

    ``parameters`` are those that are not at their default, or the path of a JSON file
    of them. What is the default of the command is left out.

    >>> privatize_command("tem", 2.0, {"gamma": 0.5})
    'mondegreen privatize INPUT -o OUTPUT --mechanism tem --epsilon 2 --set gamma=0.5'
    """
    import json  # here: every start of the command loads this file
    import shlex

    short = f"{epsilon:.10g}"
    parts = ["mondegreen", "privatize", "INPUT", "-o", "OUTPUT"]
    for column in columns if tuple(columns) != ("text",) else ():
        parts += ["--column", column]
    parts += ["--mechanism", mechanism]
    # As short as it can be; never rounded, which could spend more than was certified.
    parts += ["--epsilon", short if float(short) == epsilon else repr(epsilon)]
    if isinstance(parameters, str):
        parts += ["--set", f"@{parameters}"]
    else:
        for name, value in parameters.items():
            plain = value if isinstance(value, str) else json.dumps(value)
            parts += ["--set", f"{name}={plain}"]
    if space != DEFAULT_SPACE:
        parts += ["--space", space]
    if not is_private:
        parts.append("--allow-unproved")
    return shlex.join(parts)
