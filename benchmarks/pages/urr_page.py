"""Write what urr does under the shipped policies into its proof, from their groups."""

from __future__ import annotations

from typing import Final

from benchmarks.pages.page import Table, fill
from mondegreen.mechanisms.symbols.response import Response
from mondegreen.policy.policy import load_policy
from mondegreen.sampling.integers import TOTAL

PAGE: Final = "proofs/urr.md"
POLICIES: Final = ("sensitive", "names")
EPSILONS: Final = (8.0, 10.0, 12.0)


def shipped() -> Table:
    """How often ordinary words stay and sensitive words stray, by policy."""
    header = [
        *("policy", "groups and formats, k"),
        *(f"ordinary word stays, {epsilon:g}" for epsilon in EPSILONS),
        *(f"sensitive word strays, {epsilon:g}" for epsilon in EPSILONS),
    ]
    return Table(header, [_row(name) for name in POLICIES])


def _row(name: str) -> list[str]:
    groups = load_policy(name).alphabet.groups
    strays = [Response.within(each, 0, groups).stray / TOTAL for each in EPSILONS]
    return [
        f"`{name}`",
        str(groups),
        *(f"{1 - groups * stray:.2%}" for stray in strays),
        *(f"{(groups - 1) * stray:.2%}" for stray in strays),
    ]


TABLES: Final = {"shipped": shipped}


def main() -> None:
    """Write the table."""
    fill(PAGE, TABLES)


if __name__ == "__main__":
    main()
