"""``mondegreen proxy``: private prompts to a language model, answers as they come."""

from __future__ import annotations

import functools
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from mondegreen.cli import options
from mondegreen.cli.options import File, command, option
from mondegreen.cli.services.serve import (
    PER_ADDRESS,
    PUBLIC,
    ROLES,
    TLS_CERT,
    TLS_KEY,
    public_values,
)
from mondegreen.errors import ConfigurationError
from mondegreen.settings import Settings

if TYPE_CHECKING:
    from mondegreen.serve.dry_run import DryRun

_STOPPING_SECONDS: Final = 30.0


@command()
def proxy(
    upstream: str = option(
        "Base address of the language model, such as https://api.openai.com/v1.", "URL"
    ),
    settings: Settings = options.settings(without=["allow_unproved", "epsilon"]),
    epsilon: float | None = option(
        "Privacy budget, in nats. There is no default. With --restore you may omit "
        "it: then the kind of each sensitive word is disclosed.",
        "-e --epsilon NUMBER",
        default=None,
    ),
    restore: bool = option(
        "Give each sensitive word one surrogate throughout a conversation, and put "
        "the originals back into answers. Ordinary words pass unchanged. Answers name "
        "the conversation in the header x-mondegreen-conversation. Send that header "
        "with the next request."
    ),
    in_links: bool = option(
        "Put originals into links and images of answers too. The servers in these "
        "links then receive them.",
        "--restore-in-links",
    ),
    in_tools: bool = option(
        "Put originals into the arguments of tool calls too.", "--restore-in-tools"
    ),
    conversation_ttl: float = option(
        "Time to keep a conversation in memory after its last request, in seconds.",
        "--conversation-ttl SECONDS",
        default=3600.0,
    ),
    conversations: int = option(
        "Maximum number of conversations in memory. Conversations with a single "
        "request are dropped first.",
        "--max-conversations",
        default=10_000,
        type=click.IntRange(min=1),
    ),
    roles: tuple[Literal["system", "developer", "assistant"], ...] = ROLES,
    public: File | None = PUBLIC,
    models: tuple[str, ...] = option(
        "Model that clients may use. Repeatable.  [default: any name without spaces; "
        "it passes unchanged]",
        "--model NAME",
    ),
    key_file: File | None = option(
        "Key file of the noise: conversations repeat their releases after a restart.  "
        "[default: a new secret key at each start]"
    ),
    key_env: str | None = option(
        "Environment variable with the key, as 64 hex digits, instead of --key-file.",
        "VARIABLE",
    ),
    fresh: bool = option(
        "Use new noise for every request. Each turn then releases the history of the "
        "conversation again, and losses ADD UP."
    ),
    host: str = option("Address to listen on.", "ADDRESS", default="127.0.0.1"),
    port: int = option(
        "Port to listen on. 0: any free port.",
        default=8787,
        type=click.IntRange(0, 65535),
    ),
    tls_cert: File | None = TLS_CERT,
    tls_key: File | None = TLS_KEY,
    allow_exposed: bool = option("Allow other machines to connect without TLS."),
    authority: File | None = option(
        "CA certificates for the upstream, instead of the public ones.",
        "--upstream-ca",
    ),
    plain_http: bool = option("Allow an upstream with plain HTTP on another machine."),
    allowed_hosts: tuple[str, ...] = option(
        "Additional host name that clients use for the proxy. Repeatable.",
        "--allowed-host NAME",
    ),
    timeout: float = option(
        "Timeout for reading from the upstream, in seconds.", "SECONDS", default=600.0
    ),
    answer_timeout: float = option(
        "Timeout for a whole answer of the upstream, in seconds.",
        "SECONDS",
        default=3600.0,
    ),
    request_timeout: float = option(
        "Timeout for receiving a request, and again for privatizing it, in seconds.",
        "SECONDS",
        default=30.0,
    ),
    largest: int = option(
        "Maximum request size, in bytes.", "--max-bytes BYTES", default=4 << 20
    ),
    words: int = option("Maximum words of a request.", "--max-words", default=50_000),
    concurrent: int = option(
        "Maximum requests at a time. Others get status 503.",
        "--max-concurrent",
        default=256,
    ),
    per_address: int = PER_ADDRESS,
    dry_run: bool = option(
        "Send nothing. Show each request beside what would leave, on this terminal. "
        "Clients get an error."
    ),
    audit_log: File | None = option(
        "Append a line for each request before it leaves, with time, size and "
        "digests, but no text. See: mondegreen audit-log."
    ),
    quiet: bool = option("Print warnings only.", "-q --quiet"),
    verbose: bool = option("Print the whole guarantee.", "-v --verbose"),
) -> None:
    """Privatize prompts on their way to a language model.

    Clients of the OpenAI API only change their base address. The proxy privatizes
    messages and all other fields that can hold text. It rejects images, files and
    undeclared tools. Answers pass unchanged. With --restore, the original words are put
    back into answers.

    \b
    mondegreen proxy --upstream https://api.openai.com/v1 --policy names --restore
    mondegreen proxy --upstream https://api.openai.com/v1 --epsilon 12
    OPENAI_BASE_URL=http://127.0.0.1:8787/v1 python app.py
    """  # noqa: D301
    from mondegreen.cli.render import prepare_privatizer, say, show_promise
    from mondegreen.prompts.conversation import conversation_settings
    from mondegreen.prompts.conversation_guard import ConversationGuard
    from mondegreen.prompts.guard import PromptGuard
    from mondegreen.serve.addresses import list_allowed_hosts as hosts_with
    from mondegreen.serve.audit_log import AuditLog, log_request
    from mondegreen.serve.banner import banner
    from mondegreen.serve.limits import Limits
    from mondegreen.serve.proxy import ProxySettings, create_proxy
    from mondegreen.serve.server import Listen, run
    from mondegreen.serve.upstream import Upstream

    where = Upstream(upstream, timeout, authority, plain_http, answer_timeout)
    limits = Limits(
        body=largest,
        words=words,
        seconds=request_timeout,
        concurrent=concurrent,
        per_address=per_address,
    )
    hosts = hosts_with([host, *allowed_hosts])
    seconds = min(timeout, _STOPPING_SECONDS)
    listen = Listen(
        host,
        port,
        tls_cert,
        tls_key,
        seconds=seconds,
        waiting_per_address=per_address,
    )
    # Who calls needs a key of the upstream.
    warning = listen.check_exposure(has_keys=True, allowed=allow_exposed)
    if fresh and (key_file or key_env):
        raise ConfigurationError("a key and --fresh cannot be combined")
    if not restore and (in_links or in_tools):
        raise ConfigurationError(
            "--restore-in-links and --restore-in-tools need --restore"
        )
    if not restore and epsilon is None:
        raise click.UsageError("Missing option '-e' / '--epsilon'.")
    declared: dict[str, Any] = {
        "public_roles": roles,
        "public": public_values(public),
        "models": models,
    }
    settings = replace(settings, epsilon=epsilon)
    guard: PromptGuard | ConversationGuard
    if restore:
        _refuse_noise(fresh, key_file, key_env)
        chosen = conversation_settings(settings)
        guard = ConversationGuard(
            chosen, **declared, in_links=in_links, in_tools=in_tools
        )
        for line in () if quiet else guard.guarantee:
            say(line)
    else:
        noise = options.build_keyed_noise(key_file, key_env)
        privatizer = prepare_privatizer(settings, noise, quiet=quiet)
        guard = PromptGuard(privatizer, **declared, fresh=fresh)
        preview = privatizer.preview()
        show_promise(guard.guarantee, preview, quiet=quiet, verbose=verbose)
    if warning:
        click.echo(warning, err=True)
    shown = _dry_run() if dry_run else None
    log = None if audit_log is None else AuditLog(audit_log)
    lines = banner(
        upstream,
        restores=restore,
        policy=_describe_policy(settings, restore),
        public_roles=roles,
        is_dry=dry_run,
        audit_log=audit_log,
    )
    for line in () if quiet else lines:
        say(line)
    proxied = ProxySettings(
        guard, where, limits, hosts, conversation_ttl, conversations, log, shown
    )
    with log_request(log, guard.digest):
        run(functools.partial(create_proxy, proxied), listen, say)


def _dry_run() -> DryRun:
    from mondegreen.serve.dry_run import DryRun

    return DryRun(
        lambda text: click.echo(text, err=True), is_terminal=sys.stderr.isatty()
    )


def _describe_policy(settings: Settings, restore: bool) -> str:
    """The policy that holds where the options leave it to be chosen."""
    if restore:
        return settings.policy or "names"
    return settings.resolve().policy or "all"


def _refuse_noise(fresh: bool, *keys: str | None) -> None:
    """Refuse noise from outside: each conversation has a key of its own."""
    if fresh or any(keys):
        raise ConfigurationError(
            "--restore draws a key for each conversation: leave out --fresh, "
            "--key-file and --key-env"
        )
