"""``mondegreen audit-log``: check the log that a proxy writes for reviewers."""

from __future__ import annotations

from typing import Final

import click

from mondegreen.cli import options
from mondegreen.cli.options import File, argument, command, option
from mondegreen.cli.render import echo_facts

_LIMITS: Final = (
    "This check cannot see whether the last line was changed, or lines after it were\n"
    "removed. Note last_hash, and give it to the next check: --noted HASH"
)


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
        "Hash that you noted earlier, all 64 digits. It must still be in the log. "
        "Only this shows that the last line was changed, or that lines at the end "
        "are missing.",
        "--noted HASH",
    ),
    as_json: bool = options.JSON,
) -> None:
    """Check that no line of a log was changed.

    Each line holds the hash of the line before it, and the command checks these
    hashes. It finds a changed, removed or added line, but not a changed last line or
    missing lines at the end. It does not find a log that was written anew as a whole.
    So note the last hash, which it prints, where those who write the log cannot change
    it. With --noted, the check
    covers the line of that hash and all lines before it.

    \b
    mondegreen audit-log verify audit.log
    mondegreen audit-log verify audit.log --noted HASH
    """  # noqa: D301
    from mondegreen.serve.audit_log import verify

    chain = verify(log, noted)
    facts = {
        "lines": chain.lines,
        "first": chain.first,
        "last": chain.last,
        "last_hash": chain.last_hash,
        "cut_lines": chain.cut_lines,
        "last_line_checked": chain.last_line_checked,
    }
    echo_facts(facts, as_json=as_json)
    if not (as_json or chain.last_line_checked):
        click.echo(_LIMITS)


audit_log.add_command(verify_log)
