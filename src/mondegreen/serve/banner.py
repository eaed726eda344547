"""What a proxy says when it starts: what leaves, what stays, what to read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

_REPLACED: Final = {
    "all": "every word",
    "names": "names, places, dates, numbers and unknown words",
    "sensitive": "names, places, dates, numbers, health, family, work and other "
    "sensitive or rare words",
}
_KEPT: Final = {
    "all": "punctuation, the name of the model and your API key",
    "names": "ordinary words, punctuation, the name of the model and your API key",
}
_READ: Final = (
    "  Limits:    docs/explanation/threat-model.md says what the other words disclose. "
    "Full guarantee: GET /guarantee."
)


def find_host(upstream: str) -> str:
    """Return the host and port of an address, without a user name."""
    return urlsplit(upstream).netloc.rpartition("@")[2]


def banner(
    upstream: str,
    *,
    restores: bool,
    policy: str,
    public_roles: Iterable[str] = (),
    has_public_texts: bool = False,
    is_dry: bool = False,
    audit_log: str | None = None,
    detector: str | None = None,
    minutes: float = 60.0,
    conversation_file: str | None = None,
) -> list[str]:
    """Write the lines.

    Parameters
    ----------
    upstream : str
        Base address of the language model.
    restores : bool
        Whether answers get the original words back.
    policy : str
        ``names``, ``sensitive``, ``all`` or a file.
    public_roles : iterable of str
        Roles whose messages pass unchanged.
    has_public_texts : bool
        Whether texts of system and developer messages were declared public.
    is_dry : bool
        Whether nothing is sent.
    audit_log : str, optional
        Where the audit log is.
    detector : str, optional
        Name and version of the detector that reads each text first.
    minutes : float
        Time after its last request that a conversation is kept.
    conversation_file : str, optional
        The file that keeps conversations over restarts.

    Examples
    --------
    >>> for line in banner("https://api.example.org/v1", restores=True, policy="names"):
    ...     print(line.partition(":")[0].strip())
    Prompts to api.example.org are privatized first
    Replaced
    Unchanged
    System
    Answers
    In memory
    Limits
    """
    host = find_host(upstream)
    first = f"Prompts to {host} are privatized first:"
    if is_dry:
        first = f"Dry run: nothing is sent to {host}. What would be sent:"
    before = f", and what {detector} finds" if detector else ""
    roles = sorted(public_roles)
    kept = _describe_kept(restores, minutes, conversation_file)
    kept += _describe_written(is_dry, audit_log)
    replaced = _REPLACED.get(policy, f"the sensitive words of {policy}")
    return [
        first,
        f"  Replaced:  {replaced}{before}.",
        f"  Unchanged: {_KEPT.get(policy, _KEPT['names'])}.",
        f"  System:    {_describe_roles(roles, has_public_texts)}",
        f"  Answers:   {_describe_answers(restores)}",
        f"  In memory: {kept}",
        _READ if is_dry else f"{_READ} --dry-run shows requests and sends none.",
    ]


def _describe_roles(roles: list[str], has_public_texts: bool) -> str:
    passed = "the texts that --public declares pass unchanged"
    if roles:
        passed = f" and {passed}" if has_public_texts else " pass unchanged"
        return f"{' and '.join(roles)} messages{passed}, as you declared."
    if has_public_texts:
        return (
            f"{passed}, if they are exactly these. In all other system prompts names "
            "are changed."
        )
    return (
        "system prompts are treated as all other messages, which changes names in "
        "them. If yours are public, use --system pass."
    )


def _describe_answers(restores: bool) -> str:
    if restores:
        return "your words are put back in place of their surrogates."
    return "they come back as the model wrote them. To get your words back: --restore."


def _describe_time(seconds: float) -> str:
    """Write a time in the unit that fits.

    >>> [_describe_time(seconds) for seconds in (5, 60, 90, 3600)]
    ['5 seconds', '1 minute', '1.5 minutes', '60 minutes']
    """
    count, unit = (seconds, "second") if seconds < 60 else (seconds / 60, "minute")
    return f"{count:g} {unit}{'' if count == 1 else 's'}"


def _describe_kept(
    restores: bool, minutes: float, conversation_file: str | None
) -> str:
    if not restores:
        return "no conversation. Single words stay in a cache until the process ends."
    where = f" (also in {conversation_file}, encrypted)" if conversation_file else ""
    return (
        f"the map from surrogates to your words{where}, until "
        f"{_describe_time(60 * minutes)} after the last request."
    )


def _describe_written(is_dry: bool, audit_log: str | None) -> str:
    shown = " Originals are shown on this terminal." if is_dry else ""
    logged = f" {audit_log} counts requests, without text." if audit_log else ""
    return f" No text is logged.{shown}{logged}"
