"""Write docs/reference/command-line.md, mechanisms.md and http.md from the code.

``python docs/generate_reference.py`` writes; ``--check`` compares, and exits 1 where a
page is not what the code says. http.md needs the extra `serve`, and is left without it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import click

__all__ = ["commands", "main", "pages"]

FOLDER: Final = Path(__file__).resolve().parent / "reference"

# The page has all commands of this repository, whether or not they are installed.
sys.path.append(str(FOLDER.parents[1] / "experiments" / "src"))

_COMMANDS: Final = """\
# Command line

With this page you can look up every command and option, as `--help` prints them.
Commands write data to standard output, and everything else to standard error. Exit
codes: 0 done, 1 bug, 2 usage, 3 data, 4 privacy, 130 interrupted, 141 output cut off
(as by `head`).
"""

_MECHANISMS: Final = """\
# Mechanisms

With this page you can look up the metric, the parameters and their ranges, and the
proof of each mechanism. `epsilon` is in nats per unit of the metric, so the epsilons of
two metrics have different units. The metric of `urr` is for sensitive words: ordinary
words have no bound. `mondegreen mechanisms --json` prints this table for programs.
"""

_ADDRESSES: Final = """\
# HTTP

With this page you can call `mondegreen serve` from any program ([how to run
it](../how-to/run-a-service.md)), and look up the paths and statuses of [the
proxy](#the-proxy). Request and response bodies are JSON, in UTF-8. With
`--api-keys`, all requests except `/healthz` and `/readyz` need
`Authorization: Bearer KEY` or `X-API-Key: KEY`.

| status | when |
|---|---|
| 200 | done |
| 204 | done; the response has no body (`DELETE`) |
| 400 | the body is not JSON, or contains half of a UTF-16 surrogate pair (`\\ud800`) |
| 401 | no API key, or an unknown one |
| 404 | unknown path; unknown or expired conversation |
| 405 | wrong method |
| 408 | the body did not arrive in time |
| 413 | too many bytes or texts |
| 415 | the body is compressed, or not `application/json` |
| 422 | wrong fields; too many words; an unknown word with `--unknown fail` |
| 429 | too many requests for this key or address; `Retry-After` says when |
| 500 | a bug, which the log names without its message; or a detector failed |
| 503 | the service is busy, or the request took too long |

Every error is `{"error": "..."}`. It repeats nothing of the request.

## The proxy { #the-proxy }

The other sections are about `mondegreen serve`. `mondegreen proxy` has these paths:

| path | what it does |
|---|---|
| `POST /v1/chat/completions`, `/v1/completions` | sent in private form |
| `POST /v1/embeddings`, `/v1/responses` | sent in private form |
| `GET /v1/models` | sent as it is |
| `POST /v1/vector_stores/{store}/search` | with `--vector-store`: the same |
| `DELETE /v1/conversations/{token}` | with `--restore`: forgets a conversation |
| `GET /guarantee` | the guarantee, and its digest |
| `GET /healthz` | the process is alive |
| `GET /readyz` | the proxy can privatize a word. It does not test the upstream |
| `GET /metrics` | counts for Prometheus |
| `GET /ui` | the page, with `--restore`, for this machine only |

| status | when |
|---|---|
| 200, 204 | done; 204 after `DELETE` |
| 400 | a field or query string is not allowed; no JSON object; a dry run |
| 403 | `/ui` from elsewhere |
| 404 | unknown path, conversation (`unknown_conversation`) or vector store |
| 405 | wrong method |
| 408 | the body did not arrive in time |
| 413 | too many bytes, texts or words |
| 415 | the body is compressed, or not `application/json` |
| 421 | the header `Host` is not allowed (`--allowed-host`) |
| 429 | too many requests from this address |
| 500 | a detector failed, or a bug |
| 502 | the upstream cannot be reached, redirects, breaks off, or answers no JSON |
| 502 | the upstream answers with a status above 599 |
| 503 | the proxy is busy; privatizing took too long; a file cannot be written |
| 504 | the upstream took too long (`--timeout`, `--answer-timeout`) |
| any other, 400 to 599 | the status of the upstream |

An error is `{"error": {"message": "mondegreen: ...", "type": ..., "param": ...,
"code": ...}}`. The proxy forwards the type and code of an upstream error.
"""


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them."""
    stale = [
        path
        for path, text in pages().items()
        if not path.exists() or path.read_text("utf-8") != text
    ]
    if "--check" in arguments:
        for path in stale:
            print(f"{path.name} is stale: run python docs/generate_reference.py")
        return 1 if stale else 0
    for path in stale:
        path.write_text(pages()[path], "utf-8")
    return 0


def pages() -> dict[Path, str]:
    """Return the text of every generated page."""
    found = {
        FOLDER / "command-line.md": _command_line(),
        FOLDER / "mechanisms.md": _mechanisms(),
    }
    if find_spec("fastapi") and find_spec("prometheus_client"):
        found[FOLDER / "http.md"] = _http()
    return found


def commands(
    command: click.Command | None = None, parent: click.Context | None = None
) -> Iterator[tuple[str, click.Context]]:
    """Yield every command, groups before their members, with a context for help."""
    from mondegreen.cli.main import cli

    command = cli if command is None else command
    name = "mondegreen" if parent is None else command.name
    # A fixed width: the page must not depend on the terminal.
    context = click.Context(
        command,
        info_name=name,
        parent=parent,
        terminal_width=88,
        max_content_width=88,
        **command.context_settings,
    )
    yield context.command_path, context
    if isinstance(command, click.Group):
        for found in _members(command, context):
            yield from commands(found, context)


def _members(group: click.Group, context: click.Context) -> Iterator[click.Command]:
    """Yield the commands of a group; those of experiments from their source."""
    from mondegreen.cli.main import cli
    from mondegreen_experiments.command import reproduce
    from mondegreen_experiments.compare.command import benchmark

    ours = {each.name: each for each in (benchmark, reproduce)}
    for name in group.list_commands(context):
        is_ours = group is cli and name in ours
        found = ours[name] if is_ours else group.get_command(context, name)
        if found is not None:
            yield found


def _command_line() -> str:
    parts = [_COMMANDS]
    for path, context in commands():
        help_text = "\n".join(
            line.rstrip() for line in context.command.get_help(context).splitlines()
        )
        level = "##" if path.count(" ") < 2 else "###"
        parts.append(f"{level} {path}\n\n```text\n{help_text}\n```\n")
    return "\n".join(parts)


def _mechanisms() -> str:
    from mondegreen.mechanisms import mechanisms

    parts = [_MECHANISMS]
    parts.append(
        "| name | aliases | family | metric | guarantee |\n|---|---|---|---|---|"
    )
    for cls in mechanisms():
        aliases = ", ".join(f"`{alias}`" for alias in cls.aliases)
        promise = "proved" if cls.is_private else "**none**"
        parts[-1] += (
            f"\n| [`{cls.name}`](#{cls.name}) | {aliases} | {cls.family} | "
            f"{cls.metric} | {promise}: [proof](../proofs/{cls.name}.md) |"
        )
    parts[-1] += "\n"
    for cls in mechanisms():
        rows = "\n".join(
            f"| `{entry['name']}` | {entry['range']}"
            f"{', ' + entry['unit'] if entry['unit'] else ''} | "
            f"{'required' if entry['required'] else _code(entry['default'])} | "
            f"{entry['help']} |"
            for entry in cls.parameters()
        )
        parts.append(
            f"## {cls.name} {{ #{cls.name} }}\n\n"
            f"| parameter | range | default | meaning |\n|---|---|---|---|\n{rows}\n\n"
            f"::: {cls.__module__}.{cls.__name__}\n"
            "    options:\n      members: [threshold, prepare]\n"
        )
    return "\n".join(parts)


def _http() -> str:
    """The addresses of the service, as its OpenAPI describes them."""
    import mondegreen as mg
    from mondegreen.serve.app import create_app
    from mondegreen.serve.service_settings import ServiceSettings

    privatizer = mg.Privatizer(mg.mechanism("tree", epsilon=10.0))
    described = create_app(ServiceSettings(privatizer)).openapi()
    parts = [_ADDRESSES]
    for path, methods in described["paths"].items():
        for method, about in methods.items():
            parts.append(f"## {method.upper()} {path}\n\n{about['description']}\n")
            json = {"application/json": {"schema": {}}}
            sent = about.get("requestBody", {}).get("content", json)
            got = about["responses"].get("200", {}).get("content", json)
            for title, content in (("request", sent), ("answer", got)):
                parts += _fields(
                    title, content["application/json"]["schema"], described
                )
    return "\n".join(parts)


def _fields(title: str, schema: dict[str, Any], described: Any) -> Iterator[str]:
    """A table of the fields of an object, if it has any."""
    name = schema.get("$ref", "").rpartition("/")[2]
    schema = described["components"]["schemas"].get(name, schema)
    if fields := schema.get("properties"):
        rows = "\n".join(
            f"| `{field}` | {_kind(each)}"
            f"{'' if field in schema['required'] else ', optional'} "
            f"| {each.get('description', '')} |"
            for field, each in fields.items()
        )
        yield f"{schema['description']}\n".replace("``", "`")
        yield f"| field of the {title} | type | |\n|---|---|---|\n{rows}\n"


def _kind(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(map(_kind, schema["anyOf"]))
    if "$ref" in schema:
        return "object"
    if "items" in schema:
        return f"array of ({_kind(schema['items'])})"
    if "enum" in schema:
        return " or ".join("null" if each is None else each for each in schema["enum"])
    kind = schema.get("type", "any")
    return kind if isinstance(kind, str) else " or ".join(kind)


def _code(value: object) -> str:
    return "none" if value is None else f"`{value}`"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
