"""Every door of the package: settings and one keyed record in, its release out.

Settings are what a mapping of JSON can hold; all but epsilon have defaults.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

import mondegreen as mg
from mondegreen.privatizer.build import build_privatizer
from mondegreen.settings import Settings, list_options

KEY = bytes(range(32))
VARIABLE = "KEY_OF_THE_DOORS"
ID = "7"


def key_file(folder: Path) -> Path:
    path = folder / "release.key"
    path.write_bytes(KEY)
    path.chmod(0o600)
    return path


def made(settings: dict, noise=None) -> mg.Privatizer:
    """Build by hand where a mechanism is named, else as the defaults say."""
    noise = mg.KeyedNoise(KEY) if noise is None else noise
    more = dict(settings)
    if "mechanism" not in more:
        return build_privatizer(Settings.from_dict(more), noise)
    name, epsilon = more.pop("mechanism"), more.pop("epsilon")
    mechanism = mg.mechanism(name, epsilon=epsilon, **more.pop("parameters", {}))
    return mg.Privatizer(mechanism, noise=noise, **more)


def privatizer(settings, text, folder):
    return made(settings)(text, id=ID).text


def call(settings, text, folder):
    more = dict(settings)
    flat = {**more.pop("parameters", {}), **more}
    return mg.privatize(text, ids=ID, noise=mg.KeyedNoise(KEY), **flat)


def flags(settings: dict, folder: Path) -> list[str]:
    """Write settings as options of a command."""
    found: list[str] = []
    for name, value in settings.items():
        declared = list_options()[name]
        shown = [part for part in declared.flags.split() if part.startswith("--")]
        flag = shown[0] if shown else f"--{name.replace('_', '-')}"
        if name == "parameters":
            found += [f"--set={key}={json.dumps(each)}" for key, each in value.items()]
        elif declared.names == "words":
            path = folder / f"{name}.txt"
            path.write_text("\n".join(value), "utf-8")
            found += [flag, str(path)]
        elif isinstance(value, list):
            found += [f"{flag}={each}" for each in value]
        elif isinstance(value, bool):
            found += [flag] if value else []
        else:
            found += [flag, str(value)]
    return found


def command(settings, text, folder):
    from mondegreen.cli.main import cli

    source, target = folder / "in.jsonl", folder / "out.jsonl"
    source.write_text(json.dumps({"id": ID, "text": text}) + "\n", "utf-8")
    how = ["--key-file", str(key_file(folder)), "--id", "id", "--force"]
    given = ["privatize", str(source), "-o", str(target), *how]
    done = CliRunner().invoke(cli, [*given, *flags(settings, folder)])
    assert done.exit_code == 0, done.output
    return json.loads(target.read_text("utf-8"))["text"]


def frames(settings, text, folder):
    from mondegreen import frames

    table = pa.table({"id": [ID], "text": [text]})
    return frames.privatize(table, ["text"], made(settings), "id")["text"][0].as_py()


def duckdb(settings, text, folder):
    duckdb = pytest.importorskip("duckdb")

    from mondegreen.integrations.duckdb import register

    con = duckdb.connect()
    register(con, made(settings), keyed=True, column="text")
    return con.execute("select privatize(?, ?)", [text, ID]).fetchone()[0]


def sklearn(settings, text, folder):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("sklearn")

    from mondegreen.integrations.sklearn import PrivateText

    frame = pd.DataFrame({"id": [ID], "text": [text]})
    step = PrivateText(**settings, key_env=VARIABLE, id_column="id")
    return step.fit_transform(frame)["text"][0]


def spacy(settings, text, folder):
    nlp = pytest.importorskip("spacy").blank("en")
    nlp.add_pipe("mondegreen", config={**settings, "key_env": VARIABLE})
    ((doc, _),) = nlp.pipe([(text, ID)], as_tuples=True)
    return doc._.private_text


def service(settings, text, folder):
    httpx = pytest.importorskip("httpx")
    pytest.importorskip("fastapi")

    from mondegreen.serve.app import create_app
    from mondegreen.serve.service_settings import ServiceSettings

    running = create_app(ServiceSettings(made(settings)))
    transport = httpx.ASGITransport(app=running)

    async def ask():
        async with httpx.AsyncClient(
            transport=transport, base_url="http://service"
        ) as client:
            body = {"texts": [text], "ids": [ID]}
            return await client.post("/v1/privatize", json=body)

    try:
        return asyncio.run(ask()).json()["texts"][0]
    finally:
        running.state.batcher.close()


def guard(settings, text, folder):
    """The proxy and the guard of LiteLLM; they make an id of their own."""
    from mondegreen.prompts.guard import PromptGuard

    return PromptGuard(made(settings)).texts([text], "client")[0]


DOORS = {
    door.__name__: door
    for door in (
        privatizer,
        call,
        command,
        frames,
        duckdb,
        sklearn,
        spacy,
        service,
        guard,
    )
}
