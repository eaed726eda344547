"""One object for settings: one default at every door, and one place to declare."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import mondegreen as mg
from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    UnknownNameError,
)
from mondegreen.privatizer import build
from mondegreen.settings import Settings, list_options

EPSILON = 12.0
DEFAULTS = mg.Privatizer(mg.mechanism("urr", epsilon=EPSILON)).settings
EVERY_WORD = mg.Privatizer(mg.mechanism("tree", epsilon=EPSILON)).settings


# One default


def run(name, *options, module="mondegreen.cli.main", entry="cli"):
    for library in ("fastapi", "uvicorn") if name in ("serve", "proxy") else ():
        pytest.importorskip(library)
    if "spark" in module:
        pytest.importorskip("pyspark")
    commands = pytest.importorskip(module)
    arguments = [*([name] if name else []), *options, "--epsilon", str(EPSILON)]
    done = CliRunner().invoke(getattr(commands, entry), arguments, input="a text\n")
    assert isinstance(done.exception, Found), done.output
    raise done.exception


def privatize_a_frame():
    import pyarrow as pa

    from mondegreen import frames

    frames.privatize(pa.table({"text": ["a"]}), ["text"], {"epsilon": EPSILON})


def register_with_duckdb():
    from mondegreen.integrations.duckdb import register

    register(pytest.importorskip("duckdb").connect(), {"epsilon": EPSILON})


def fit_with_sklearn():
    pytest.importorskip("sklearn")
    adapter = pytest.importorskip("mondegreen.integrations.sklearn")
    adapter.PrivateText(epsilon=EPSILON).fit(["a text"])


def add_to_spacy():
    nlp = pytest.importorskip("spacy").blank("en")
    nlp.add_pipe("mondegreen", config={"epsilon": EPSILON})


def guard_litellm():
    pytest.importorskip("litellm")
    adapter = pytest.importorskip("mondegreen.integrations.litellm")
    adapter._build_guard({"epsilon": EPSILON})


def operate_with_presidio():
    pytest.importorskip("presidio_anonymizer")
    adapter = pytest.importorskip("mondegreen.integrations.presidio")
    adapter.PrivateTextOperator().operate("a", {"epsilon": EPSILON})


def send_to_spark():
    pytest.importorskip("pyspark")
    from mondegreen.integrations.spark.release import _settings

    _settings({"epsilon": EPSILON})


def export_for_a_device():
    from mondegreen.device.artifact import policy_artifact

    policy_artifact(Settings(), [EPSILON])


def privatize_a_dataset():
    datasets = pytest.importorskip("datasets")
    from mondegreen.integrations.datasets import privatize

    privatize(datasets.Dataset.from_dict({"text": ["a"]}), "text", {"epsilon": EPSILON})


def attack_a_sample():
    """It draws no release that it keeps, and so builds no privatizer."""
    from mondegreen.cli import attack

    def tell(policy, settings, *rest, **options):
        assert policy.name == settings.resolve().policy
        raise Found(settings.resolve())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attack, "_attack_policy", tell)
        run("attack", "-")


DOORS = {
    "privatize": lambda: run("privatize", "-"),
    "explain": lambda: run("explain", "doctor"),
    "serve": lambda: run("serve"),
    "proxy": lambda: run("proxy", "--upstream", "http://127.0.0.1:1/v1"),
    "spark command": lambda: run(
        "", "in", "out", module="mondegreen.spark.__main__", entry="privatize"
    ),
    "mg.privatize": lambda: mg.privatize("a", epsilon=EPSILON),
    "frames": privatize_a_frame,
    "duckdb": register_with_duckdb,
    "sklearn": fit_with_sklearn,
    "spacy": add_to_spacy,
    "litellm": guard_litellm,
    "presidio": operate_with_presidio,
    "spark": send_to_spark,
    "device": export_for_a_device,
    "datasets": privatize_a_dataset,
    "attack": attack_a_sample,
    "Settings": lambda: build.build_privatizer(Settings(epsilon=EPSILON)),
}


class Found(Exception):
    """The settings that a door asked for."""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of LiteLLM and spaCy
@pytest.mark.parametrize("door", DOORS)
def test_every_door_has_the_same_defaults(door, monkeypatch):
    ask = build._build

    def tell(*given):
        raise Found(ask(*given).settings)

    monkeypatch.setattr(build, "_build", tell)
    with pytest.raises(Found) as found:
        DOORS[door]()
    assert found.value.args == (DEFAULTS,)


def test_the_defaults_are_those_that_the_object_resolves():
    assert Settings(epsilon=EPSILON).resolve() == DEFAULTS
    assert (DEFAULTS.policy, DEFAULTS.mechanism) == ("sensitive", "urr")
    assert (DEFAULTS.case, DEFAULTS.structure) == ("truecase", "keep")
    assert (DEFAULTS.read, DEFAULTS.language) == ("none", None)
    assert (DEFAULTS.space, DEFAULTS.same) == (None, "place")


@pytest.mark.parametrize(
    "given",
    [
        {"policy": "all"},
        {"mechanism": "tree"},
        {"policy": "all", "space": EVERY_WORD.space},
    ],
)
def test_every_word_is_replaced_as_before_where_somebody_says_so(given):
    resolved = Settings(epsilon=EPSILON, **given).resolve()
    assert resolved == replace(EVERY_WORD, parameters={})
    assert (resolved.policy, resolved.mechanism, resolved.case) == (
        *("all", "tree", "lower"),
    )


@pytest.mark.parametrize("name", ["tem", "laplace", "santext", "madlib", "brr"])
def test_a_mechanism_on_a_space_means_every_word(name):
    resolved = Settings(epsilon=EPSILON, mechanism=name).resolve()
    assert resolved == replace(EVERY_WORD, mechanism=name, parameters={})


@pytest.mark.parametrize("name", ["urr", "krr"])
def test_a_mechanism_on_symbols_means_the_default_policy(name):
    resolved = Settings(epsilon=EPSILON, mechanism=name).resolve()
    assert resolved == replace(DEFAULTS, mechanism=name)


OF_SPACES = {
    "space": EVERY_WORD.space,
    "unknown": "mask",
    "keep": ["oslo"],
    "case": "lower",
    "read": "words",
    "language": "english",
    "print_all": True,
    "parameters": {"losses": [1.0]},
}


def test_settings_are_of_both_of_spaces_or_of_policies():
    of_both = {"mechanism", "epsilon", "policy", "structure", "allow_unproved"}
    of_policies = {
        *("ordinary", "sensitive", "opened", "hidden", "hide_among", "same"),
        *("numbers", "near", "most_ordinary"),
    }
    assert set(list_options()) == of_both | of_policies | set(OF_SPACES)


@pytest.mark.parametrize("name", OF_SPACES)
def test_no_option_of_a_space_changes_the_law_without_a_word(name):
    beside = {name: OF_SPACES[name]}
    shown = "losses" if name == "parameters" else name
    with pytest.raises(ConfigurationError, match=rf"{shown}.* --policy all"):
        Settings(epsilon=EPSILON, **beside).resolve()
    resolved = Settings(epsilon=EPSILON, policy="all", **beside).resolve()
    assert (resolved.policy, resolved.mechanism) == ("all", "tree")


def test_a_space_in_memory_is_refused_where_a_policy_would_pass_it_over():
    space = mg.Space.from_arrays("line", "abcd", np.eye(4))
    with pytest.raises(ConfigurationError, match="policy all"):
        mg.privatize("a", epsilon=EPSILON, space=space)
    assert mg.privatize("a", epsilon=EPSILON, space=space, policy="all") in "abcd"


@pytest.mark.parametrize("read", ["words", "sentence"])
def test_what_is_read_is_printed_in_true_case_by_the_embedded_model(read):
    law = mg.mechanism("tree", epsilon=EPSILON)
    chosen = Settings(epsilon=EPSILON, policy="all", read=read).resolve()
    assert (chosen.case, chosen.language) == ("truecase", "english")
    made = mg.Privatizer(law, read=read)
    assert made.settings == replace(chosen, parameters=EVERY_WORD.parameters)
    assert mg.Privatizer(law, read=read, case="lower").settings.case == "lower"


def test_a_privatizer_takes_every_setting_with_its_default():
    shown = inspect.signature(mg.Privatizer).parameters
    for name, option in list_options().items():
        if name not in build._LAW:
            assert shown[name].default == option.default, name


def test_the_service_shows_its_settings_without_paths(tmp_path):
    pytest.importorskip("fastapi")
    import asyncio

    import httpx

    from mondegreen.serve.app import create_app
    from mondegreen.serve.service_settings import ServiceSettings
    from mondegreen.space.store import save_space

    points = np.random.default_rng(0).normal(size=(4, 3))
    path = tmp_path / "own.safetensors"
    save_space(mg.Space.from_arrays("own", "abcd", points), path)
    space = mg.load_space(path)
    privatizer = mg.Privatizer(mg.mechanism("tem", epsilon=1.0), space)
    made = create_app(ServiceSettings(privatizer))

    async def ask():
        transport = httpx.ASGITransport(app=made)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://service"
        ) as client:
            return await client.get("/v1/settings"), await client.get("/openapi.json")

    found, described = asyncio.run(ask())
    made.state.batcher.close()
    assert found.json() == {**privatizer.settings.to_dict(), "space": "own"}
    answers = described.json()["paths"]["/v1/settings"]["get"]["responses"]
    schema = answers["200"]["content"]["application/json"]["schema"]
    assert schema.pop("required") == list(list_options())
    assert "detector" in schema["properties"].pop("detector")["description"]
    assert schema == json.loads(json.dumps(Settings.json_schema()))


# The object


_PLAIN = {
    "boolean": st.booleans(),
    "integer": st.integers(2, 500),
    "number": st.floats(0.1, 2),
}


_OF_ONE_NAME = {
    "parameters": st.dictionaries(st.just("beta"), st.floats(0, 1)),
    "epsilon": st.none() | st.floats(0.1, 100),
    "most_ordinary": st.none() | st.integers(0, 9),
    "policy": st.sampled_from([None, "sensitive", "names", "all", "./my.policy"]),
}


@st.composite
def some_settings(draw):
    chosen = {}
    for name, option in list_options().items():
        schema = option.schema
        if name in _OF_ONE_NAME:
            chosen[name] = draw(_OF_ONE_NAME[name])
        elif "enum" in schema:
            chosen[name] = draw(st.sampled_from(schema["enum"]))
        elif schema["type"] == "array":
            chosen[name] = draw(st.sets(st.text(min_size=1, max_size=4), max_size=3))
        elif str(schema["type"]) in _PLAIN:
            chosen[name] = draw(_PLAIN[schema["type"]])
        else:
            chosen[name] = draw(st.none() | st.text(max_size=5))
    return Settings(**chosen)


@given(some_settings())
def test_settings_come_back_from_json_and_resolve_once(settings):
    again = Settings.from_dict(json.loads(json.dumps(settings.to_dict())))
    assert again == settings
    try:
        resolved = settings.resolve()
    except ConfigurationError:  # such as a mechanism over a space, with a policy
        return
    assert resolved.resolve() == resolved
    assert None not in (resolved.mechanism, resolved.policy, resolved.case)
    assert (resolved.space is None) == (resolved.policy != "all")


def test_settings_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        Settings().read = "sentence"


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"epsilom": 1.0}, "no setting named 'epsilom'; choose one of: epsilon, "),
        ({"epsilon": "10"}, "epsilon must be a number; got str"),
        ({"epsilon": True}, "epsilon must be a number; got bool"),
        ({"unknown": "maks"}, "unknown must be one of word, mask, drop, fail"),
        ({"unknown": None}, "unknown must be one of word, mask, drop, fail"),
        ({"case": ["lower"]}, "case must be one of lower, truecase, restore"),
        ({"print_all": 1}, "print_all must be true or false; got int"),
        ({"keep": "oslo"}, "keep must be a list of strings; got str"),
        ({"keep": ["oslo", 7]}, "keep must be a list of strings"),
        ({"space": 7}, "space must be a string; got int"),
        ({"space": b"here"}, "space must be a string; got bytes"),
        ({"parameters": [1]}, "parameters must be an object"),
        ({"parameters": {1: 2}}, "parameters must be an object"),
        ({"parameters": {"epsilon": 2}}, "parameters must be those .* besides epsilon"),
        ({"policy": "name"}, "policy must be one of sensitive, names, all"),
        ([], "settings must be an object"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named_with_what_is_allowed(values, says):
    with pytest.raises((InvalidParameterError, UnknownNameError), match=says):
        Settings.from_dict(values)


def test_neither_a_value_nor_what_is_no_name_is_quoted():
    for values in ({"zyx woldemorth": 1}, {"epsilon": "zyx woldemorth"}):
        with pytest.raises(mg.errors.ConfigurationError) as caught:
            Settings.from_dict(values)
        assert "zyx" not in str(caught.value)


def test_a_path_stays_a_path_and_numpy_is_at_home():
    assert Settings(space=Path("mine")).space == f".{os.sep}mine"
    assert Settings(space="mine").space == "mine"
    assert Settings(space=Path("/a/mine")).space == str(Path("/a/mine"))
    settings = Settings(epsilon=np.float32(2), print_all=np.True_, keep={"b", "a"})
    assert json.loads(json.dumps(settings.to_dict())) == settings.to_dict()
    assert (settings.epsilon, settings.keep) == (2.0, ("a", "b"))


# One declaration


ADDED = """
    tone: Literal["plain", "loud"] = setting("plain", "How loud words are printed.")
"""
TRIED = """
import json, sys, types
from pathlib import Path

path, added = sys.argv[1:]
source = Path(path).read_text("utf-8")
first = "    mechanism: str | None = setting("
assert source.count(first) == 1
module = sys.modules["mondegreen.settings"] = types.ModuleType("mondegreen.settings")
exec(compile(source.replace(first, added + first), path, "exec"), module.__dict__)

from click.testing import CliRunner

import mondegreen as mg
from mondegreen.cli.main import cli
from mondegreen.integrations.options import OPTIONS
from mondegreen.integrations.spec import make_privatizer

Settings = module.Settings
help = {
    name: CliRunner().invoke(cli, [name, "--help"]).output
    for name in ("privatize", "serve", "proxy")
}
def refused(door):
    try:
        door({"epsilon": 12.0, "tone": "shrill"})
    except mg.errors.InvalidParameterError as error:
        return str(error)


print(json.dumps({
    "help": {name: " ".join(text.split()) for name, text in help.items()},
    "schema": Settings.json_schema()["properties"]["tone"],
    "read": Settings.from_dict({"tone": "loud"}).to_dict()["tone"],
    "option": OPTIONS["tone"],
    "refused": [refused(make_privatizer), refused(lambda s: mg.privatize("a", **s))],
}))
"""


@pytest.mark.slow("a process")
def test_an_option_is_added_by_one_declaration():
    path = inspect.getsourcefile(Settings)
    done = subprocess.run(
        [sys.executable, "-c", TRIED, path, ADDED],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for shown in found["help"].values():
        says = r"--tone \[plain\|loud\] How loud words are printed. \[default: plain\]"
        assert re.search(says, shown)
    assert found["schema"] == {
        "enum": ["plain", "loud"],
        "default": "plain",
        "description": "How loud words are printed.",
    }
    assert found["read"] == "loud"
    assert found["option"] == "plain"
    assert found["refused"] == ["tone must be one of plain, loud; got shrill"] * 2
