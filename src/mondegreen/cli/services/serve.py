"""``mondegreen serve``: a privatizer behind HTTP, for programs."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from mondegreen.cli import options
from mondegreen.cli.options import File, command, option
from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.files import read_bytes
from mondegreen.settings import Settings

if TYPE_CHECKING:
    from mondegreen.prompts.guard import PromptGuard
    from mondegreen.scores.preview import Preview

_LONGEST: Final = 16 << 20  # bytes of a file of what is public
HOST: Final = option(
    "Address to listen on. One that other machines reach needs --api-keys and TLS.",
    default="127.0.0.1",
)
PORT: Final = option("0 is any free one.", default=8000, type=click.IntRange(0, 65535))
API_KEYS: Final = option(
    "Callers must send one of these keys, one a line, as Authorization: Bearer KEY."
)
TLS_CERT: Final = option("Certificate, in PEM, with those that sign it.")
TLS_KEY: Final = option("Its private key, in PEM.")
EXPOSED: Final = option(
    "Listen where other machines reach, without API keys or without TLS."
)
PUBLIC: Final = option(
    "JSON list of what is PUBLIC: texts of system messages, definitions of tools, "
    "response formats. They pass where a request holds exactly that; tools and "
    "formats that are not in it are refused."
)
ROLES: Final = option(
    "Messages of this role are PUBLIC and pass in clear. Repeatable.", "--public-role"
)
PER_ADDRESS: Final = option(
    "Maximum requests at a time from one client address; others get status 429. Also "
    "the maximum of its idle or half-sent connections. 0: no limit per address.",
    "--max-per-address",
    default=128,
    type=click.IntRange(min=0),
)
_NO_CONVERSATIONS: Final = (
    "Conversations are refused: each worker would keep words of its own. Use --workers "
    "1 for them."
)
WORKERS: Final = option("Processes that answer, one core each.", default=1)


@command()
def serve(
    settings: Settings = options.settings(),
    key_file: File | None = option(
        "Keyed noise: the same record repeats its release. Requests need ids then."
    ),
    key_env: str | None = option(
        "As --key-file; the environment variable holds 64 hex digits.", "VARIABLE"
    ),
    host: str = HOST,
    port: int = PORT,
    api_keys: File | None = API_KEYS,
    tls_cert: File | None = TLS_CERT,
    tls_key: File | None = TLS_KEY,
    allow_exposed: bool = EXPOSED,
    workers: int = WORKERS,
    body: int = option("Bytes of a request.", "--max-body", default=4 << 20),
    texts: int = option("Texts of a request.", "--max-texts", default=10_000),
    words: int = option("Words of a text.", "--max-words", default=100_000),
    seconds: float = option(
        "What a request may take.",
        "--timeout SECONDS",
        default=30.0,
        type=click.FloatRange(min=1),
    ),
    rate: float = option(
        "Requests a second for each API key and worker; 0: no limit.",
        default=0.0,
        type=click.FloatRange(min=0),
    ),
    concurrent: int = option(
        "Requests at a time, for each worker; others get status 503.",
        "--max-concurrent",
        default=256,
    ),
    per_address: int = PER_ADDRESS,
    guardrail: bool = option(
        "Answer LiteLLM too, at /beta/litellm_basic_guardrail_api: its requests to "
        "language models are privatized or blocked."
    ),
    public: File | None = PUBLIC,
    roles: tuple[Literal["system", "developer", "assistant"], ...] = ROLES,
    quiet: bool = option("Print warnings alone.", "-q --quiet"),
    verbose: bool = option("Print the whole guarantee.", "-v --verbose"),
) -> None:
    """Privatize texts that come in over HTTP.

    POST /v1/privatize {"texts": [...]} answers {"texts": [...], "guarantee": {...}};
    /openapi.json describes it all. No text is logged, counted or kept, except that
    "scope": "conversation" keeps its words in memory for an hour, so that
    POST /v1/restore puts them back. SIGTERM stops it when all that came in is answered.

    \b
    mondegreen serve --epsilon 12
    curl -H 'Content-Type: application/json' -d '{"texts": ["I met Ann."]}' \\
      http://127.0.0.1:8000/v1/privatize
    """  # noqa: D301
    from mondegreen.cli.render import prepare_privatizer, say, show_promise
    from mondegreen.prompts.conversation import settings_of_policy
    from mondegreen.prompts.conversation_guard import ConversationGuard
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
    privatizer = prepare_privatizer(settings, noise, quiet=quiet)
    limits = Limits(body, texts, words, seconds, rate, concurrent, per_address)
    guard = None
    if guardrail:
        if workers > 1 and noise is None:
            raise ConfigurationError(
                "--guardrail with several workers needs --key-file or --key-env: each "
                "would release the history of a conversation with noise of its own"
            )
        declared = public_values(public)
        guard = PromptGuard(privatizer, public_roles=roles, public=declared)
    elif public or roles:
        raise ConfigurationError("--public and --public-role need --guardrail")
    talks = ConversationGuard(settings_of_policy(settings)) if workers == 1 else None
    service = ServiceSettings(privatizer, keys, limits, guard, talks)
    app: Any = functools.partial(create_app, service)
    preview = privatizer.preview()
    show_promise(privatizer.guarantee, preview, quiet=quiet, verbose=verbose)
    _show_guard(guard, preview, quiet=quiet, verbose=verbose)
    warnings = [warning]
    if noise is not None and not keys:
        warnings.append(
            "WARNING: noise is keyed, so that whoever may call can test guesses of a "
            "text whose release is known: see --api-keys."
        )
    if privatizer.state.shared_bytes:
        warnings.append(
            f"WARNING: {privatizer.mechanism.name} computes the law of a word when it "
            "first occurs, which takes long: whoever may call can tell by the time of "
            "an answer whether a word was sent before. The tree has no such laws."
        )
    notes = [] if quiet or talks else [_NO_CONVERSATIONS]
    for each in filter(None, [*warnings, *notes]):
        click.echo(each, err=True)
    run(app, listen, say)
    if not quiet:
        say("Stopped; all that came in was answered.")


def _show_guard(
    guard: PromptGuard | None, preview: Preview, *, quiet: bool, verbose: bool
) -> None:
    """Print what the guardrail promises, which leaves more in clear."""
    from mondegreen.cli.render import say, show_promise

    if guard is not None and not quiet:
        say("The guardrail, for requests to language models:")
        show_promise(guard.guarantee, preview, quiet=quiet, verbose=verbose)


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
