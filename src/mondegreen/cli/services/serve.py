"""``mondegreen serve``: a privatizer behind HTTP, for programs."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from mondegreen.cli import options
from mondegreen.cli.options import File, command, option
from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.files import read_bytes
from mondegreen.settings import Settings

if TYPE_CHECKING:
    from mondegreen.integrations.detectors import NamedDetector
    from mondegreen.prompts.conversation_file import ConversationFile
    from mondegreen.prompts.conversation_guard import ConversationGuard
    from mondegreen.prompts.guard import PromptGuard
    from mondegreen.scores.preview import Preview

_LONGEST: Final = 16 << 20  # bytes of a file of what is public
HOST: Final = option(
    "Address to listen on. An address that other machines can reach needs --api-keys "
    "and TLS.",
    default="127.0.0.1",
)
PORT: Final = option(
    "Port to listen on. 0: any free port.", default=8000, type=click.IntRange(0, 65535)
)
API_KEYS: Final = option(
    "File with API keys, one per line. Callers send one as Authorization: Bearer KEY."
)
TLS_CERT: Final = option("Certificate chain, in PEM.")
TLS_KEY: Final = option("Private key of the certificate, in PEM.")
EXPOSED: Final = option(
    "Allow other machines to connect without API keys or without TLS."
)
PUBLIC: Final = option(
    "JSON list of PUBLIC texts of system messages, tool definitions and response "
    "formats. They pass unchanged if a request holds exactly the same. Other tools "
    "and formats are rejected."
)
ROLES: Final = option(
    "Treat messages of this role as PUBLIC: they pass unchanged. Repeatable.",
    "--public-role",
)
PER_ADDRESS: Final = option(
    "Maximum requests at a time from one client address. Others get status 429. Also "
    "the maximum of its idle or half-sent connections. 0: no limit per address.",
    "--max-per-address",
    default=128,
    type=click.IntRange(min=0),
)
_NO_CONVERSATIONS: Final = (
    "Conversations are refused: each worker would keep words of its own. Use --workers "
    "1 for them."
)
WORKERS: Final = option("Number of worker processes, one core each.", default=1)


@command()
def serve(
    settings: Settings = options.settings(),
    detect: Literal["none", "presidio"] = options.DETECT,
    detect_model: str | None = options.DETECT_MODEL,
    key_file: File | None = option(
        "Key file for keyed noise: the same record gets the same release. Requests "
        "then need ids."
    ),
    key_env: str | None = option(
        "Environment variable with the key, as 64 hex digits, instead of --key-file.",
        "VARIABLE",
    ),
    host: str = HOST,
    port: int = PORT,
    api_keys: File | None = API_KEYS,
    tls_cert: File | None = TLS_CERT,
    tls_key: File | None = TLS_KEY,
    allow_exposed: bool = EXPOSED,
    workers: int = WORKERS,
    body: int = option(
        "Maximum request size, in bytes.", "--max-body", default=4 << 20
    ),
    texts: int = option("Maximum texts of a request.", "--max-texts", default=10_000),
    words: int = option("Maximum words of a text.", "--max-words", default=100_000),
    seconds: float = option(
        "Timeout for a request, in seconds.",
        "--timeout SECONDS",
        default=30.0,
        type=click.FloatRange(min=1),
    ),
    rate: float = option(
        "Maximum requests per second for each API key and worker, on average. Up to "
        "twice as many may come at once. 0: no limit.",
        default=0.0,
        type=click.FloatRange(min=0),
    ),
    concurrent: int = option(
        "Maximum requests at a time for each worker. Others get status 503.",
        "--max-concurrent",
        default=256,
    ),
    per_address: int = PER_ADDRESS,
    conversation_file: File | None = option(
        "Keep conversations in this file too, so that a restart does not forget them. "
        "They are encrypted under the key of --key-file or --key-env, which is the key "
        "of the noise too.",
        "--conversations",
    ),
    guardrail: bool = option(
        "Also serve LiteLLM, at /beta/litellm_basic_guardrail_api: privatize or block "
        "its requests to language models."
    ),
    public: File | None = PUBLIC,
    roles: tuple[Literal["system", "developer", "assistant"], ...] = ROLES,
    quiet: bool = option("Print only warnings and the address.", "-q --quiet"),
    verbose: bool = option("Print the whole guarantee.", "-v --verbose"),
) -> None:
    """Privatize texts over HTTP.

    POST /v1/privatize {"texts": [...]} answers {"texts": [...], "guarantee": {...}}.
    /openapi.json describes all requests. The service does not log or store texts. The
    exception is "scope": "conversation", which keeps words in memory for an hour (with
    --conversations, also in a file). So POST /v1/restore can put them back. On
    SIGTERM, the service answers all open requests and then stops.

    \b
    mondegreen serve --epsilon 12
    curl -H 'Content-Type: application/json' -d '{"texts": ["I met Ann."]}' \\
      http://127.0.0.1:8000/v1/privatize
    """  # noqa: D301
    from mondegreen.cli.render import prepare_privatizer, say, show_promise
    from mondegreen.integrations.detectors import (
        add_detector,
        check_detector,
        choose_detector,
    )
    from mondegreen.prompts.guard import PromptGuard
    from mondegreen.serve.api_keys import ApiKeys
    from mondegreen.serve.app import create_app
    from mondegreen.serve.limits import Limits
    from mondegreen.serve.server import Listen, run
    from mondegreen.serve.service_settings import ServiceSettings

    listen = Listen(
        host,
        port,
        tls_cert,
        tls_key,
        workers,
        seconds,
        waiting_per_address=per_address,
    )
    keys = ApiKeys() if api_keys is None else ApiKeys.from_file(api_keys)
    warning = listen.check_exposure(has_keys=bool(keys), allowed=allow_exposed)
    noise = options.build_keyed_noise(key_file, key_env)
    policy = settings.resolve().policy
    check_detector(detect, detect_model, policy, processes=workers)
    privatizer = prepare_privatizer(settings, noise, quiet=quiet)
    detector = choose_detector(detect, detect_model, policy)
    privatizer = add_detector(privatizer, detector)
    limits = Limits(body, texts, words, seconds, rate, concurrent, per_address)
    guard = None
    if guardrail:
        if workers > 1 and noise is None:
            raise ConfigurationError(
                "--guardrail with several workers needs --key-file or --key-env. "
                "Without a key, each worker would release the history of a "
                "conversation with other noise"
            )
        declared = public_values(public)
        guard = PromptGuard(privatizer, public_roles=roles, public=declared)
    elif public or roles:
        raise ConfigurationError("--public and --public-role need --guardrail")
    talks = _build_conversations(settings, detector) if workers == 1 else None
    preview = privatizer.preview()
    show_promise(privatizer.guarantee, preview, quiet=quiet, verbose=verbose)
    _show_guard(guard, preview, quiet=quiet, verbose=verbose)
    _show_detector(detector, quiet=quiet)
    warnings = [warning]
    if noise is not None and not keys:
        warnings.append(
            "WARNING: the service uses a key. A caller who knows a release can test "
            "guesses of its original. See --api-keys."
        )
    if privatizer.state.shared_bytes:
        warnings.append(
            f"WARNING: {privatizer.mechanism.name} computes the probabilities of a "
            "word when the word first occurs, which takes long. So the response time "
            "discloses to a caller whether a word was sent before. The mechanism tree "
            "does not have this problem."
        )
    notes = [] if quiet or talks else [_NO_CONVERSATIONS]
    for each in filter(None, [*warnings, *notes]):
        click.echo(each, err=True)
    with open_conversations(conversation_file, talks, key_file, key_env) as file:
        service = ServiceSettings(privatizer, keys, limits, guard, talks, file)
        app: Any = functools.partial(create_app, service)
        run(app, listen, say)
    if not quiet:
        say("Stopped. All requests were answered.")


def _build_conversations(
    settings: Settings, detector: NamedDetector | None
) -> ConversationGuard:
    from mondegreen.prompts.conversation import settings_of_policy
    from mondegreen.prompts.conversation_guard import ConversationGuard

    return ConversationGuard(settings_of_policy(settings), detector=detector)


@contextlib.contextmanager
def open_conversations(
    path: str | None,
    guard: ConversationGuard | PromptGuard | None,
    *keys: str | None,
) -> Iterator[ConversationFile | None]:
    """Open the file of conversations that a path names, and close it at the end."""
    from mondegreen.prompts.conversation_file import ConversationFile
    from mondegreen.prompts.conversation_guard import ConversationGuard

    if path is None:
        yield None
        return
    if not isinstance(guard, ConversationGuard):
        raise ConfigurationError(
            "--conversations needs --workers 1: one process keeps the file"
        )
    noise = options.build_keyed_noise(*keys)
    if noise is None:
        raise ConfigurationError(
            "--conversations needs --key-file or --key-env: the file is encrypted "
            "under that key"
        )
    with contextlib.closing(ConversationFile(path, noise, guard)) as file:
        yield file


def _show_guard(
    guard: PromptGuard | None, preview: Preview, *, quiet: bool, verbose: bool
) -> None:
    """Print what the guardrail promises, which leaves more unchanged."""
    from mondegreen.cli.render import say, show_promise

    if guard is not None and not quiet:
        say("The guardrail, for requests to language models:")
        show_promise(guard.guarantee, preview, quiet=quiet, verbose=verbose)


def _show_detector(detector: NamedDetector | None, *, quiet: bool) -> None:
    from mondegreen.cli.render import say

    if detector is not None and not quiet:
        say(
            f"Detector: {detector.name}. It reads each text first. Every word goes "
            "through the policy too."
        )


def public_values(path: str | None) -> list[Any]:
    """Read the list of what is public."""
    if path is None:
        return []
    try:
        found = json.loads(read_bytes(path, _LONGEST))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list):
        allowed = "a JSON list of texts and objects"
        raise InvalidParameterError("--public", path, allowed)
    return found
