"""``mondegreen proxy``: private prompts to a language model, answers as they come."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import click

from mondegreen.cli import options
from mondegreen.cli.options import File, command, option
from mondegreen.cli.services.serve import (
    PER_ADDRESS,
    PUBLIC,
    ROLES,
    TLS_CERT,
    TLS_KEY,
    open_conversations,
    public_values,
)
from mondegreen.errors import ConfigurationError
from mondegreen.settings import Settings

if TYPE_CHECKING:
    from mondegreen.integrations.detectors import NamedDetector
    from mondegreen.prompts.conversation_guard import ConversationGuard
    from mondegreen.prompts.guard import PromptGuard
    from mondegreen.sampling.noise import NoiseSource
    from mondegreen.serve.dry_run import DryRun
    from mondegreen.serve.ui.paths import PageSettings

_DEFAULT_POLICY: Final = (
    "names. With --epsilon and without --restore: sensitive; all with a mechanism that "
    "works on a space"
)
_STOPPING_SECONDS: Final = 30.0
_INSTRUCTING: Final = ("system", "developer")
"""Roles of messages that the developer of a program writes."""


@command()
def proxy(
    upstream: str = option(
        "Base address of the language model, such as https://api.openai.com/v1.", "URL"
    ),
    settings: Settings = options.settings(
        without=["allow_unproved", "epsilon"],
        otherwise={"policy": _DEFAULT_POLICY},
    ),
    epsilon: float | None = option(
        "Privacy budget of the noise, in nats. There is no default. Without it, "
        "--restore applies, so the model sees the class of each sensitive word. "
        "These need --epsilon: --fresh, --mechanism, --policy all, and --key-file or "
        "--key-env without --conversations.",
        "-e --epsilon NUMBER",
        default=None,
    ),
    restore: bool = option(
        "Give each sensitive word one surrogate throughout a conversation, and put "
        "the originals back into answers. Ordinary words pass unchanged. Answers name "
        "the conversation in the header x-mondegreen-conversation. Send that header "
        "with every later request, also when you repeat one after an error. This is "
        "the default without --epsilon and without options that need it."
    ),
    detect: Literal["none", "presidio"] = options.DETECT,
    detect_model: str | None = options.DETECT_MODEL,
    system: Literal["pass", "hide"] | None = option(
        "What happens to system and developer messages: pass declares them PUBLIC, "
        "hide treats them as all others.  [default: ask on a terminal, else hide]",
        default=None,
    ),
    no_ui: bool = option(
        "Do not serve the page /ui. It shows what the model gets of a prompt. Only "
        "this machine can open it, with --restore and a loopback --host."
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
        "Maximum number of conversations in memory. A quarter of them are kept for "
        "conversations with a single request.",
        "--max-conversations",
        default=10_000,
        type=click.IntRange(min=1),
    ),
    conversation_file: File | None = option(
        "Keep conversations in this file too, so that a restart does not forget them. "
        "They are encrypted under the key of --key-file or --key-env.",
        "--conversations",
    ),
    roles: tuple[Literal["system", "developer", "assistant"], ...] = ROLES,
    public: File | None = PUBLIC,
    models: tuple[str, ...] = option(
        "Model that clients may use. Repeatable.  [default: any name without spaces; "
        "it passes unchanged]",
        "--model NAME",
    ),
    stores: tuple[str, ...] = option(
        "Vector store that clients may search, by its PUBLIC id. The search gets a "
        "release of the question. Results are sorted here, by the true question. "
        "Repeatable.",
        "--vector-store ID",
    ),
    fetch: int = option(
        "Results that each search of a vector store fetches, whatever clients ask for.",
        default=50,
        type=click.IntRange(1, 1000),
    ),
    key_file: File | None = option(
        "Key file. With --epsilon, it is the key of the noise: the same text of a "
        "client gets the same release after a restart. With --conversations, it "
        "encrypts that file.  [default: with --epsilon, a new secret key at each start]"
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
        "Timeout for a whole answer of the upstream, in seconds. Then status 504, or "
        "the end of a stream with an error.",
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
        "Send nothing. Show each request next to its release, on this terminal. "
        "Clients get an error."
    ),
    audit_log: File | None = option(
        "Append a line for each request before it leaves, with time, size and "
        "digests, but no text. See: mondegreen audit-log."
    ),
    quiet: bool = option("Print only warnings and the address.", "-q --quiet"),
    verbose: bool = option("Print the whole guarantee.", "-v --verbose"),
) -> None:
    """Privatize prompts on their way to a language model.

    Clients of the OpenAI API only change their base address. The proxy privatizes
    messages and all other fields that can hold text. It rejects images, files and
    undeclared tools.

    Without further options, names, places, dates, numbers and unknown words are
    replaced, and put back into answers (--policy names --restore). With --epsilon and
    without --restore, words are replaced with noise, and answers pass unchanged.

    \b
    mondegreen proxy --upstream https://api.openai.com/v1
    mondegreen proxy --upstream https://api.openai.com/v1 --epsilon 12
    OPENAI_BASE_URL=http://127.0.0.1:8787/v1 python app.py
    """  # noqa: D301
    from mondegreen.cli.render import say
    from mondegreen.integrations.detectors import choose_detector
    from mondegreen.prompts.conversations import check_seconds
    from mondegreen.prompts.store_search import StoreSearch
    from mondegreen.serve.addresses import list_allowed_hosts as hosts_with
    from mondegreen.serve.audit_log import AuditLog, log_request
    from mondegreen.serve.banner import banner, find_host
    from mondegreen.serve.limits import Limits
    from mondegreen.serve.proxy import ProxySettings, create_proxy
    from mondegreen.serve.server import Listen, run
    from mondegreen.serve.upstream import Upstream

    check_seconds(conversation_ttl)  # before anything says that the proxy listens
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
    keys = key_file, key_env
    restore = _find_restoring(
        settings, epsilon, restore, fresh, conversation_file, *keys
    )
    if not restore and (in_links or in_tools):
        raise ConfigurationError(
            "--restore-in-links and --restore-in-tools need --restore"
        )
    passed = public_values(public)
    public_roles = _find_public_roles(system, roles, is_asked=not (quiet or passed))
    declared: dict[str, Any] = {
        "public_roles": public_roles,
        "public": passed,
        "models": models,
        "search": StoreSearch(frozenset(stores), fetch) if stores else None,
    }
    settings = replace(settings, epsilon=epsilon)
    policy = _describe_policy(settings, restore)
    detector = choose_detector(detect, detect_model, policy)
    show = _Shown(quiet, verbose)
    guard: PromptGuard | ConversationGuard
    if restore:
        in_answers = {"in_links": in_links, "in_tools": in_tools}
        guard = _build_restoring_guard(settings, detector, {**declared, **in_answers})
    else:
        noise = options.build_keyed_noise(key_file, key_env)
        declared["fresh"] = fresh
        guard = _build_noisy_guard(settings, noise, detector, declared, show)
    if warning:
        click.echo(warning, err=True)
    shown = _dry_run(quiet=quiet) if dry_run else None
    log = None if audit_log is None else AuditLog(audit_log)
    if log is not None and log.recovered_row is not None:
        says = f"audit log {audit_log}: line {log.recovered_row} was cut off"
        click.echo(f"{says}. It is kept, and the next line notes it.", err=True)
    has_page = restore and listen.is_local and not no_ui
    page = _describe_page(upstream, models, is_dry=dry_run) if has_page else None
    lines = banner(
        upstream,
        restores=restore,
        policy=policy,
        public_roles=public_roles,
        has_public_texts=any(isinstance(each, str) for each in passed),
        is_dry=dry_run,
        audit_log=audit_log,
        detector=None if detector is None else detector.name,
        minutes=conversation_ttl / 60,
        conversation_file=conversation_file,
    )
    for line in () if quiet else lines:
        say(line)
    if isinstance(stated := guard.guarantee, tuple):
        for line in stated if verbose else ():
            say(line)
    announce = say if quiet else functools.partial(_announce, say, has_page)
    with (
        open_conversations(conversation_file, guard, *keys) as file,
        log_request(log, guard.digest, find_host(upstream)),
    ):
        proxied = ProxySettings(
            guard,
            where,
            limits,
            hosts,
            conversation_ttl,
            conversations,
            file,
            log,
            shown,
            page,
        )
        run(functools.partial(create_proxy, proxied), listen, announce)


def _announce(say: Callable[[str], None], has_page: bool, line: str) -> None:
    """Say where the proxy listens, and how to use it."""
    say(line)
    address = line.split()[-1]
    if has_page:
        say(f"  Try it: open {address}/ui to see what the model gets of a prompt.")
    say(f"  Use it: OPENAI_BASE_URL={address}/v1 in the environment of your program.")


def _find_restoring(
    settings: Settings,
    epsilon: float | None,
    restore: bool,
    fresh: bool,
    conversation_file: str | None,
    *keys: str | None,
) -> bool:
    """Whether answers are restored: asked for, or nothing asks for noise."""
    if fresh and any(keys):
        raise ConfigurationError("a key and --fresh cannot be combined")
    if conversation_file is not None:
        if epsilon is not None and not restore:
            raise ConfigurationError("--conversations needs --restore")
        _refuse_noise(fresh)
        return True
    if restore:
        _refuse_noise(fresh, *keys)
        return True
    if epsilon is None:
        _refuse_missing_epsilon(settings, fresh, *keys)
    return epsilon is None


def _refuse_missing_epsilon(settings: Settings, fresh: bool, *keys: str | None) -> None:
    """Refuse options of noise without a budget, and name both ways to go on."""
    if any(keys):
        raise click.UsageError(
            "a key alone does not say what it is for. For noise, add --epsilon NUMBER: "
            "answers then pass unchanged. To put the originals back into answers, use "
            "--restore: with --conversations FILE, which the key encrypts, or without "
            "a key"
        )
    options_of_noise = {
        "--fresh": fresh,
        "--mechanism": settings.mechanism,
        "--policy all": settings.policy == "all",
    }
    for name, is_given in options_of_noise.items():
        if is_given:
            raise click.UsageError(
                f"{name} needs noise: add --epsilon NUMBER, and answers pass "
                f"unchanged. To put the originals back into answers, use --restore "
                f"without {name}"
            )


def _find_public_roles(
    system: str | None, roles: tuple[str, ...], *, is_asked: bool
) -> tuple[str, ...]:
    """Return the roles whose messages pass, and ask about those of the developer."""
    if system == "hide" and not set(roles).isdisjoint(_INSTRUCTING):
        raise ConfigurationError("--system hide and --public-role exclude each other")
    if system is None and is_asked and not roles and _can_ask():
        says = (
            "System prompts: are yours public, without private text? Then they pass "
            "unchanged. Otherwise names and numbers in them are replaced. Pass them?"
        )
        system = "pass" if click.confirm(says, default=False, err=True) else "hide"
    if system != "pass":
        return roles
    return tuple(dict.fromkeys((*roles, *_INSTRUCTING)))


def _can_ask() -> bool:
    """Whether a person is at a terminal, and this process may read from it."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    if not hasattr(os, "tcgetpgrp"):
        return True
    # A process in the background that reads would be stopped.
    with contextlib.suppress(OSError):
        return os.tcgetpgrp(0) == os.getpgrp()
    return False


def _build_restoring_guard(
    settings: Settings, detector: NamedDetector | None, declared: dict[str, Any]
) -> ConversationGuard:
    from mondegreen.prompts.conversation import conversation_settings
    from mondegreen.prompts.conversation_guard import ConversationGuard

    chosen = conversation_settings(settings)
    return ConversationGuard(chosen, **declared, detector=detector)


class _Shown(NamedTuple):
    """How much is printed."""

    quiet: bool
    verbose: bool


def _build_noisy_guard(
    settings: Settings,
    noise: NoiseSource | None,
    detector: NamedDetector | None,
    declared: dict[str, Any],
    show: _Shown,
) -> PromptGuard:
    """Build the guard that privatizes, and print what it promises."""
    from mondegreen.cli.render import prepare_privatizer, show_promise
    from mondegreen.integrations.detectors import add_detector
    from mondegreen.prompts.guard import PromptGuard

    privatizer = prepare_privatizer(settings, noise, quiet=show.quiet)
    privatizer = add_detector(privatizer, detector)
    guard = PromptGuard(privatizer, **declared)
    preview = privatizer.preview()
    show_promise(guard.guarantee, preview, quiet=show.quiet, verbose=show.verbose)
    return guard


def _describe_page(
    upstream: str, models: tuple[str, ...], *, is_dry: bool
) -> PageSettings:
    from mondegreen.serve.banner import find_host
    from mondegreen.serve.ui.paths import PageSettings

    return PageSettings(find_host(upstream), models, is_dry)


def _dry_run(*, quiet: bool) -> DryRun:
    from mondegreen.cli.render import refuse_quiet

    refuse_quiet("--dry-run", quiet=quiet)
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
            "--key-file and --key-env. A key is for --conversations, the file that "
            "keeps them"
        )
