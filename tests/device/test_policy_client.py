"""Policies on a device: the client in JavaScript beside the command line."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import mondegreen as mg
from mondegreen.cli.main import cli
from mondegreen.device.artifact import policy_artifact
from mondegreen.device.symbols import describe_policy, policy_parts
from mondegreen.errors import ConfigurationError, DataError, InvalidParameterError
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import load_policy
from mondegreen.policy.shapes import SHAPES
from mondegreen.settings import Settings
from mondegreen.text.tokenizer import tokenize
from mondegreen.text.unicode import with_old_case
from vectors.device import device_vectors as device
from vectors.device import policy_texts

CLIENT = Path(__file__).parents[2] / "clients" / "js"
NODE = shutil.which("node")
KEY = bytes(range(1, 33))
needs_node = pytest.mark.skipif(
    NODE is None or not CLIENT.is_dir(), reason="node or clients/js is not here"
)

TEXTS = (
    "My doctor Anna Schmidt says I have diabetes.",
    "Mail anna.schmidt+x@example.org or call +49 170 5551234 on 12/05/2021 at 7pm",
    "ANNA SCHMIDT HAS DIABETES 😀 and Rose's camelCase #tag isn't DE89 3704 0044",
    "Anna met anna, then ANNA wrote <b>a</b> note. In May I may come as a",
    "sTeam rises. iPad and nOte left. wIll",
)
OPTIONS: tuple[tuple[str, list[str]], ...] = (
    ("sensitive", []),
    ("names", ["--mechanism", "krr", "--same", "record"]),
    ("sensitive", ["--open", "health", "--hide", "food", "--hide-among", "60"]),
    ("sensitive", ["--ordinary", "router", "--sensitive", "the", "--same", "record"]),
    ("my.policy", ["--hide-among", "60"]),
)


def release(folder, artifact, data, epsilon="12"):
    given = [NODE, CLIENT / "cli.mjs", artifact, "--epsilon", epsilon]
    given += ["--key-file", folder / "key"]
    return subprocess.run(given, input=data, capture_output=True, check=False)


PROJECTS = "apollo gemini mercury soyuz vostok zarya skylab viking magellan galileo"
SOURCE = f"[ordinary]\nrouter modem\n[project]\n{PROJECTS}\n"


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    (folder / "terms.txt").write_text(SOURCE, "utf-8")
    given = ["policy", "build", str(folder / "terms.txt"), "--license", "CC0-1.0"]
    done = CliRunner().invoke(cli, [*given, "-o", str(folder / "my.policy")])
    assert done.exit_code == 0, done.output
    return folder / "my.policy"


@pytest.fixture
def folder(tmp_path):
    key = tmp_path / "key"
    key.touch(0o600)
    key.write_bytes(KEY)
    for name in ("router", "the"):
        (tmp_path / name).write_text(f"{name}\n", "utf-8")
    return tmp_path


@needs_node
@pytest.mark.slow("an artifact and two commands")
@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_a_policy_comes_out_as_from_the_command_line_byte_for_byte(
    folder, own, name, options
):
    name = str(own) if name == own.name else name
    given = [
        str(folder / each) if each in ("router", "the") else each for each in options
    ]
    out = folder / "policy.mdg"
    export = ["policy", "export", name, "--device", "-o", str(out), "-e", "12"]
    made = CliRunner().invoke(cli, [*export, *given])
    assert made.exit_code == 0, made.output
    rows = [{"id": i, "text": text} for i, text in enumerate(TEXTS)]
    data = "\n".join(map(json.dumps, rows)).encode()
    run = [sys.executable, "-m", "mondegreen", "privatize", "-", "-e", "12"]
    run += ["--format", "jsonl", "--column", "text", "--id", "id"]
    run += ["--key-file", folder / "key", "--policy", name, *given]
    theirs = subprocess.run(run, input=data, capture_output=True, check=False)
    ours = release(folder, out, data)
    assert theirs.returncode == 0, theirs.stderr
    assert ours.returncode == 0, ours.stderr
    assert ours.stdout == theirs.stdout
    assert b"Schmidt" not in ours.stdout


@needs_node
@pytest.mark.slow("a thousand texts of all kinds", seconds=3)
@pytest.mark.parametrize(
    "settings",
    [
        Settings(mechanism="urr", epsilon=12.0),
        Settings(mechanism="krr", epsilon=2.0, same="record", hidden=("food",)),
        Settings(policy="names", epsilon=1.0, structure="plain", ordinary=("ähre",)),
        Settings(mechanism="krr", epsilon=9.0, sensitive=("you", "i", "a", "would")),
    ],
)
def test_a_thousand_texts_of_all_kinds_come_out_the_same(folder, settings):
    out = folder / "policy.mdg"
    out.write_bytes(policy_artifact(settings, [settings.epsilon]))
    given = policy_texts.texts(1000, seed=len(str(settings)))
    lines = [{"id": i, "text": text} for i, text in enumerate(given)]
    lines = [each for each in lines if each["text"].isascii() or is_text(each["text"])]
    data = "\n".join(map(json.dumps, lines)).encode()
    ours = release(folder, out, data, repr(settings.epsilon))
    assert ours.returncode == 0, ours.stderr
    found = [json.loads(line)["text"] for line in ours.stdout.splitlines()]
    made = mg.Privatizer.from_dict(of(settings), mg.KeyedNoise(KEY))
    texts, ids = [each["text"] for each in lines], [each["id"] for each in lines]
    expected = [each.text for each in made.batch(texts, ids)]
    assert found == expected


def is_text(text):
    """Tell whether JSON can hold a text: it has no half of a pair."""
    return not any(0xD800 <= ord(c) < 0xE000 for c in text)


def of(settings):
    from mondegreen.privatizer.build import build_privatizer

    return build_privatizer(settings).to_dict()


@needs_node
@pytest.mark.slow("twenty thousand words of one group")
def test_a_group_that_is_exhausted_for_good_is_refused_by_both(folder):
    settings = Settings(mechanism="urr", epsilon=40.0, same="record")
    out = folder / "policy.mdg"
    out.write_bytes(policy_artifact(settings, [40.0]))
    made = mg.Privatizer.from_dict(of(settings), mg.KeyedNoise(KEY))
    codes = {}
    for count in (19_000, 20_900):
        text = " ".join(chr(0x4E00 + i) for i in range(count))
        data = json.dumps({"id": 1, "text": text}).encode()
        try:
            (found,) = made.batch([text], [1])
            expected = (0, found.text)
        except DataError:
            expected = (3, "")
        ours = release(folder, out, data, "40")
        printed = json.loads(ours.stdout)["text"] if ours.stdout else ""
        assert (ours.returncode, printed) == expected
        codes[count] = ours.returncode
    assert codes == {19_000: 0, 20_900: 3}


@pytest.mark.slow("writes artifacts", seconds=3)
def test_the_guarantee_in_the_artifact_is_that_of_the_same_settings():
    settings = Settings(policy="names", epsilon=9.0, same="record", opened=("health",))
    (found,) = device.header_of(policy_artifact(settings, [9.0]))["settings"]
    made = mg.Privatizer.from_dict(of(settings))
    stated = made.guarantee.to_dict()
    assert stated.pop("small_formats")  # for people, in the summary
    assert found["guarantee"] == stated
    assert found["summary"] == made.guarantee.summary()
    assert found["digest"] == made.digest.hex()


@pytest.mark.slow("writes an artifact", seconds=2)
def test_an_artifact_of_a_policy_is_that_of_urr_and_sensitive_by_default():
    header = device.header_of(policy_artifact(Settings(), [12.0]))
    assert (header["mechanism"], header["space"]["name"]) == ("urr", "sensitive")
    assert header["policies"] == {
        "case": "truecase",
        "structure": "keep",
        "unknown": "word",
        "same": "place",
    }


@pytest.mark.slow("all words of a policy")
def test_every_known_word_is_in_the_artifact_with_its_symbol():
    policy = load_policy("names", opened=("health",), sensitive=("the", "printer"))
    parts = policy_parts(policy)
    printed = parts["words"].decode().split("\n")
    assert tuple(printed) == policy.words
    ends = parts["known"].decode().split("\n")
    assert len(printed) + len(ends) == len(policy.symbols)
    assert "the" not in policy.ordinary


@pytest.mark.parametrize("numbers", ["near", "plain"])
def test_numbers_that_do_not_hide_are_refused(numbers):
    with pytest.raises(InvalidParameterError, match="numbers must be hide, on a devi"):
        policy_artifact(Settings(numbers=numbers), [12.0])


def test_one_replacement_for_a_whole_key_is_refused():
    with pytest.raises(InvalidParameterError, match="same must be place or record, on"):
        policy_artifact(Settings(same="key"), [12.0])


@pytest.mark.slow("writes artifacts")
def test_a_policy_file_is_in_the_artifact_without_its_path(own):
    data = policy_artifact(Settings(policy=str(own)), [12.0])
    assert device.header_of(data)["space"]["name"] == "my"
    assert str(own.parent).encode() not in data


def test_a_policy_file_that_was_changed_has_no_artifact(own, tmp_path):
    changed = tmp_path / "my.policy"
    changed.write_bytes(own.read_bytes().replace(b"apollo", b"apolla"))
    out = str(tmp_path / "my.mdg")
    given = ["policy", "export", str(changed), "--device", "-o", out, "-e", "12"]
    done = CliRunner().invoke(cli, given)
    assert done.exit_code != 0
    assert "my.policy" in done.output
    assert not Path(out).exists()


def test_endings_are_joined_to_ordinary_words_alone():
    hosts = describe_policy(load_policy("names", sensitive=("you", "i")))["hosts"]
    assert hosts["'m"] == []
    assert "you" not in hosts["'re"]
    assert "they" in hosts["'re"]


def test_what_has_no_artifact_is_refused():
    with pytest.raises(ConfigurationError, match="needs a policy"):
        policy_artifact(Settings(policy="all"), [12.0])
    with pytest.raises(InvalidParameterError, match="epsilon"):
        policy_artifact(Settings(), [])
    with pytest.raises(InvalidParameterError, match="epsilon"):
        policy_artifact(Settings(), [12.0, 12])
    done = CliRunner().invoke(cli, ["policy", "export", "-o", "x.mdg", "-e", "12"])
    assert done.exit_code == 2
    assert "--device" in done.output


def test_characters_of_later_versions_have_the_kinds_they_had():
    late = "\u1c89\U0001e030"  # a capital of Unicode 16, a letter of Unicode 15
    assert not any(c.isalpha() for c in with_old_case(late))
    lookup = PolicyLookup(load_policy("sensitive"))
    sign = {shape.name: i for i, shape in enumerate(SHAPES)}["sign"]
    codes = lookup.codes(tokenize([late]))
    assert codes.tolist() == [lookup.policy.shape_symbol(sign)]


def test_an_article_at_the_end_of_a_text_asks_nothing_of_the_next_text():
    made = mg.Privatizer.from_dict(
        of(Settings(mechanism="urr", epsilon=12.0)), mg.KeyedNoise(KEY)
    )
    for i in range(40):
        alone, _ = made.texts(["I ate a"], ["1"], "text")
        beside, _ = made.texts(["I ate a", f"diabetes {i}"], ["1", str(i)], "text")
        assert alone[0] == beside[0]


@pytest.mark.slow("writes an artifact")
def test_the_committed_artifact_is_what_this_package_writes():
    packed = (device.FOLDER / "policy.mdg.gz").read_bytes()
    assert gzip.decompress(packed) == device.build("policy")


@pytest.mark.slow("four artifacts")
def test_the_committed_releases_are_what_this_package_writes():
    packed = (device.FOLDER / "policies.json.gz").read_bytes()
    assert json.loads(gzip.decompress(packed))["variants"] == device.policies()
