"""``mondegreen audit-log``: check the log that a proxy writes for reviewers."""

from __future__ import annotations

import click

from mondegreen.cli import options
from mondegreen.cli.options import File, argument, command, option
from mondegreen.cli.render import echo_facts


@click.group(name="audit-log")
def audit_log() -> None:
    """Check the audit log of a proxy.

    The log holds times, counts and digests, and no text. Each line holds the hash of
    the line before it.

    Example: mondegreen audit-log verify audit.log
    """


@command(name="verify")
def verify_log(
    log: File = argument(),
    noted: str | None = option(
        "Hash that you noted earlier. It must still be in the log. Only this shows "
        "that lines at the end are missing.",
        "--noted HASH",
    ),
    as_json: bool = options.JSON,
) -> None:
    """Check that no line was changed, removed or inserted.

    Prints the last hash. Note it where those who write the log cannot change it.

    \b
    mondegreen audit-log verify audit.log
    mondegreen audit-log verify audit.log --noted 3fa1...
    """  # noqa: D301
    from mondegreen.serve.audit_log import verify

    chain = verify(log, noted)
    facts = {
        "lines": chain.lines,
        "first": chain.first,
        "last": chain.last,
        "last_hash": chain.last_hash,
    }
    echo_facts(facts, as_json=as_json)


audit_log.add_command(verify_log)
