"""What a proxy says when it starts: what goes out, what stays, what to read."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit


def banner(
    upstream: str,
    *,
    restores: bool,
    policy: str,
    public_roles: Iterable[str] = (),
    is_dry: bool = False,
    audit_log: str | None = None,
) -> list[str]:
    """Write the lines.

    Examples
    --------
    >>> for line in banner("https://api.example.org/v1", restores=True, policy="names"):
    ...     print(line.partition(":")[0])
    Goes out to api.example.org
    Stays here
    Read
    """
    host = urlsplit(upstream).netloc
    if is_dry:
        return [
            "Dry run: nothing is sent. Each request is shown beside what would leave.",
            "Originals are shown on this terminal. Read: docs/how-to/guard-prompts.md",
        ]
    roles = ", ".join(sorted(public_roles))
    passed = (
        f" Messages of {roles} go out unchanged, as declared."
        if roles
        else " System prompts are privatized too; --public-role system passes them."
    )
    what = {
        "all": "requests in which every word is replaced",
        "names": "requests whose names, places, dates, numbers and unknown words are "
        "replaced",
        "sensitive": "requests whose sensitive and rare words are replaced",
    }[policy]
    stays = "the map from surrogates to your words, in memory" if restores else "no map"
    back = (
        "answers get your words back"
        if restores
        else "answers come back as the model wrote them"
    )
    logged = (
        f" The audit log {audit_log} holds counts and digests." if audit_log else ""
    )
    return [
        f"Goes out to {host}: {what}; ordinary words, punctuation and your API key "
        f"as they are.{passed}",
        f"Stays here: {stays}; no text in logs or metrics; {back}.{logged}",
        "Read: docs/explanation/threat-model.md for what context gives away; GET "
        "/guarantee for the promise; --dry-run to see what leaves.",
    ]
