"""``mondegreen budget``: what the releases of a ledger add up to."""

from __future__ import annotations

import math

import click

from mondegreen.cli import options
from mondegreen.cli.options import File, argument, command, option
from mondegreen.cli.render import echo_facts


@command()
def budget(
    ledger: File = argument(),
    limit: float | None = option(
        "Exit with code 4 if a record has lost more, all its columns and draws "
        "together.",
        "--limit NATS",
        type=click.FloatRange(min=0),
    ),
    as_json: bool = options.JSON,
) -> None:
    """Add up the losses of all releases in a ledger.

    privatize --ledger writes the ledger. Each new draw of a record adds to its loss; a
    replay under the same key adds nothing. The ledger holds no ids and no text.

    \b
    mondegreen budget releases.ledger
    mondegreen budget releases.ledger --limit 500
    """  # noqa: D301
    from mondegreen.errors import BudgetExceededError, InvalidParameterError
    from mondegreen.privatizer.ledger import ROUNDING, read_budget
    from mondegreen.wording import amount, round_up

    if limit is not None and not math.isfinite(limit):
        raise InvalidParameterError("--limit", limit, "a number of 0 or more")
    found = read_budget(ledger, limit)
    facts: dict[str, object] = {
        "records": found.records,
        "columns": found.columns,
        "draws": found.releases,
        "draws_median": found.draws["median"],
        "draws_most": found.draws["most"],
        # Sums of doubles: without what is added for their rounding alone.
        "nats_median": round_up(found.nats["median"] * (1 - ROUNDING), 2),
        "nats_largest": round_up(found.nats["largest"] * (1 - ROUNDING), 2),
    }
    if found.above is not None:
        facts |= {"limit": limit, "records_above_limit": found.above}
    echo_facts(facts, as_json=as_json)
    if found.above:
        raise BudgetExceededError(
            f"{amount(found.above, 'record')} of {found.records:,} lost more than "
            f"{limit:g} nats. The largest loss is that of id number "
            f"{found.worst:,}, if ids are counted in the order of their first release. "
            "The ledger holds no ids"
        )
