"""The client in JavaScript, beside the command line: the same bytes, or none."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import mondegreen as mg
from mondegreen.cli.main import cli
from mondegreen.device.artifact import artifact
from mondegreen.io.json_spans import SpanScanner, UnfitValueError
from mondegreen.protection import LEVELS
from mondegreen.space.binarize import with_codes
from vectors.device import device_vectors as device

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "js"
NODE = shutil.which("node")
KEY = bytes(range(1, 33))
pytestmark = [
    pytest.mark.skipif(NODE is None, reason="node is not installed"),
    pytest.mark.skipif(not CLIENT.is_dir(), reason="clients/js is not here"),
]

RECORDS = """\
{"id": 1, "text": "I met Ann in Oslo."}
  {"text":"don't  stop","id":"1", "n": 1.10, "deep": [{"text": "stays"}, NaN, -0e5]}\r
{"n":[{"a":Infinity}],"id":"\\u00e9", "te\\u0078t": ["a b", null, "a b", ["it’s"]]}
{"id": -12345678901234567890, "text": null}
{"text": "1", "id": 0, "text": "\\ud83d\\ude00 \\"q\\" \\\\ \\u0000 \\t \\u001f"}
{"id": 5, "text": []}
{"id": 6, "text": ""}

 \u2003
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("device")
    for name in device.ARTIFACTS:
        packed = (device.FOLDER / f"{name}.mdg.gz").read_bytes()
        (folder / f"{name}.mdg").write_bytes(gzip.decompress(packed))
    key = folder / "key"
    key.touch(0o600)
    key.write_bytes(KEY)
    return folder


def client(folder, data, *options, artifact="tree"):
    given = [NODE, CLIENT / "cli.mjs", folder / f"{artifact}.mdg", *options]
    return subprocess.run(given, input=data, capture_output=True, check=False)


def python(folder, data, epsilon="10", *options):
    """The command line, in this process: of one of its own, tests/cli knows more."""
    given = ["privatize", "-", "-e", epsilon, "--policy", "all"]
    given += ["--format", "jsonl", "--column", "text", "--id", "id", "--read", "none"]
    given += ["--key-file", str(folder / "key"), *options]
    done = CliRunner().invoke(cli, given, input=data)
    return subprocess.CompletedProcess(
        given, done.exit_code, done.stdout_bytes, done.stderr_bytes
    )


def keyed(folder, data, epsilon="10", **how):
    options = ["--epsilon", epsilon, "--key-file", folder / "key"]
    return client(folder, data, *options, **how)


def texts(count):
    packed = (device.FOLDER / "vectors.json.gz").read_bytes()
    rows = json.loads(gzip.decompress(packed))["texts"]
    found = [t for t, *_ in rows if not any(0xD800 <= ord(c) < 0xE000 for c in t)]
    return found[:count]


@pytest.mark.parametrize("end", ["", "\ufeff"])
def test_records_come_out_as_from_the_command_line_byte_for_byte(folder, end):
    data = (end + RECORDS).encode()
    digest = (folder / "tree.mdg").read_bytes()[-32:].hex()
    options = ["--epsilon", "10", "--key-file", folder / "key", "--digest", digest]
    ours, theirs = client(folder, data, *options), python(folder, data)
    assert theirs.returncode == 0, theirs.stderr
    assert ours.returncode == 0, ours.stderr
    assert ours.stdout == theirs.stdout
    assert b"I met Ann" not in ours.stdout
    assert ours.stderr.decode().strip() in theirs.stderr.decode()


@pytest.mark.slow("thousands of texts of all scripts")
@pytest.mark.parametrize("epsilon", ["4", "12"])
def test_thousands_of_texts_come_out_byte_for_byte(folder, epsilon):
    lines = [
        json.dumps(
            {"id": i if i % 2 else f"é{i}", "text": text}, ensure_ascii=bool(i % 3)
        )
        for i, text in enumerate(texts(6000))
    ]
    data = "\n".join(lines).encode()  # the last line has no end
    theirs = python(folder, data, epsilon, "--jobs", "2")
    assert theirs.returncode == 0, theirs.stderr
    assert keyed(folder, data, epsilon).stdout == theirs.stdout


@pytest.mark.slow("codes of the whole space")
def test_codes_come_out_byte_for_byte(folder, tmp_path):
    out = tmp_path / "brr.mdg"
    given = [sys.executable, "-m", "mondegreen", "space", "export", "--device"]
    given += ["-o", out, "--mechanism", "brr", "--epsilon", "0.5"]
    subprocess.run(given, check=True, capture_output=True)
    assert len(gzip.compress(out.read_bytes())) < 2_000_000
    shutil.copy(out, folder / "brr.mdg")
    data = RECORDS.encode()
    theirs = python(folder, data, "0.5", "--mechanism", "brr")
    assert keyed(folder, data, "0.5", artifact="brr").stdout == theirs.stdout


@pytest.mark.slow("five processes of node")
def test_another_key_another_release_and_none_another_every_time(folder):
    data = b'{"id": 1, "text": "' + b"some words of a text " * 9 + b'"}\n'
    other = folder / "other"
    other.touch(0o600)
    other.write_bytes(KEY[::-1])
    runs = [
        keyed(folder, data),
        client(folder, data, "--epsilon", "10", "--key-file", other),
        client(folder, data, "--epsilon", "10"),
        client(folder, data, "--epsilon", "10"),
    ]
    assert len({run.stdout for run in runs}) == 4
    assert keyed(folder, data).stdout == runs[0].stdout


BROKEN = [
    b"secret\n",
    b'{"id": 1}\n',
    b'{"text": "secret"}\n',
    b'{"id": 1, "id": 2, "text": "secret"}\n',
    b'{"id": "", "text": "secret"}\n',
    b'{"id": 1.0, "text": "secret"}\n',
    b'{"id": true, "text": "secret"}\n',
    b'{"id": 1, "text": {"secret": 1}}\n',
    b'{"id": 1, "text": 7}\n',
    b'{"id": 1, "text": "\\ud800 secret"}\n',
    b'{"id": "\\ud800", "text": "secret"}\n',
    b'{"id": 1, "text": "secret\xff"}\n',
    b'{"id": 1, "text": "secret"},\n',
    b'{"id": 1, "text": "secret",}\n',
    b'{"id": 1, "text": "sec\tret"}\n',
    b'{"id": 1, "text": "secret", "a": 01}\n',
    b'{"id": 1, "text": "secret", "a": [' + b"[" * 100_000 + b"\n",
    b'{"id": 1, "text": "a"}\n\n{"id": 2, "text": "secret"}\n',
    b'\xff\xfe{\x00"\x00',
]


@pytest.mark.slow("a process of node each", seconds=0.2, but=("0", "11", "17"))
@pytest.mark.parametrize("data", BROKEN, ids=range(len(BROKEN)))
def test_what_python_refuses_is_refused_and_no_text_is_shown(folder, data):
    ours = keyed(folder, data)
    assert ours.returncode == 3
    assert b"secret" not in ours.stdout + ours.stderr


@pytest.mark.parametrize("data", BROKEN, ids=range(len(BROKEN)))
def test_python_refuses_it(folder, data):
    assert python(folder, data).returncode in (2, 3)


def mutated(rng):
    """A line that is JSON, or is nearly so."""
    pieces = [*'[]{},: 7"', '"text"', '"te\\u0078t"', "null", '"id"', "-0", "1e5", "1."]
    pieces += ["NaN", "-Infinity", "true", '"\\ud83d\\ude00"', '"\\q"', '"\\u00zz"']
    pieces += ["\t", "\r", "\x00", '"x', "[]", "{}", '["a", null]', "\xa0", '"\x1f"']
    pieces += ["07", "+1", '{"id": 1, "text": "a b"}']
    line = rng.choice(
        [
            '{"id": 1, "text": "a b"}',
            '{"text": ["a", [null, "b"]], "id": "7", "x": {"text": 1}}',
        ]
    )
    for _ in range(rng.randrange(4)):
        at, piece = rng.randrange(len(line) + 1), rng.choice(pieces)
        cut = rng.choice([0, 0, 0, 1, 2, 5])
        line = line[:at] + piece + line[at + cut :]
    return line


def scanned(line):
    """What Python finds in a line, or None; in units of JavaScript."""
    try:
        found = SpanScanner(["text"], "id").scan(line)
    except (UnfitValueError, ValueError, StopIteration, RecursionError):
        return None
    lone = [t for *_, t, _ in found.spans if t and device.as_utf16(t) != t]
    if found.lacking or len(found.ids) != 1 or not found.ids[0] or lone:
        return None
    spans = [
        [device.units(line[:a]), device.units(line[:b]), t]
        for a, b, t, _ in found.spans
    ]
    return {"id": found.ids[0], "values": spans}


@pytest.mark.slow("ten thousand lines in two languages")
def test_ten_thousand_lines_are_read_or_refused_as_python_does(tmp_path):
    rng = random.Random(7)
    lines = [mutated(rng) for _ in range(10_000)]
    expected = [scanned(line) for line in lines]
    assert 0.1 < sum(found is not None for found in expected) / len(lines) < 0.9
    given = tmp_path / "lines.json"
    given.write_text(json.dumps(lines), "utf-8")
    script = """
        import { readFileSync } from "node:fs";
        const { scan } = await import(process.argv[1]);
        const lines = JSON.parse(readFileSync(process.argv[2], "utf8"));
        console.log(JSON.stringify(lines.map((line) => {
          try {
            const { id, values } = scan(line, "text", "id");
            const spans = values.map(({ start, end, text }) => [start, end, text]);
            return { id, values: spans };
          } catch (error) {
            if (error.name !== "MondegreenError") throw error;
            return null;
          }
        })));
    """
    module = (CLIENT / "dist" / "node.js").as_uri()
    run = [NODE, "--input-type=module", "-e", script, module, str(given)]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for line, ours, theirs in zip(
        lines, json.loads(done.stdout), expected, strict=True
    ):
        assert ours == theirs, line


@pytest.mark.slow("a process of node")
def test_chances_are_those_of_the_law(folder):
    words = ["doctor", "the", "oslo", "zyxqzyxq"]
    script = """
        const { readFileSync } = await import("node:fs");
        const { load } = await import(process.argv[1]);
        const p = load(readFileSync(process.argv[2]), { epsilon: 12 });
        const words = process.argv.slice(3);
        console.log(JSON.stringify(words.map((word) => p.explain(word))));
    """
    module = (CLIENT / "dist" / "mondegreen.js").as_uri()
    run = [NODE, "--input-type=module", "-e", script, module, folder / "tree.mdg"]
    done = subprocess.run([*run, *words], capture_output=True, text=True, check=True)
    state = mg.mechanism("tree", epsilon=12.0).prepare(mg.load_space())
    for word, found in zip(words, json.loads(done.stdout), strict=True):
        id = state.space.get_id(word)
        law = np.exp(state.log_prob(np.array([id], dtype=np.int32)))[0]
        stay = law[id] if id < state.space.vocab_size else 0.0
        assert found["stay"] == pytest.approx(stay, rel=1e-9)
        best = [each["chance"] for each in found["likeliest"]]
        assert best[0] == pytest.approx(law.max(), rel=1e-9) or best[0] > law.max()
        assert best == sorted(best, reverse=True)


@pytest.mark.slow("nine processes of node")
def test_keys_and_options_are_refused_as_usage(folder):
    data = b'{"id": 1, "text": "secret"}\n'
    weak, open_ = folder / "weak", folder / "open"
    for path, content, mode in [(weak, bytes(32), 0o600), (open_, KEY, 0o644)]:
        path.write_bytes(content)
        path.chmod(mode)
    runs = [
        client(folder, data, "--epsilon", "10", "--key-file", weak),
        client(folder, data, "--epsilon", "10", "--key-file", open_),
        client(folder, data, "--epsilon", "10", "--key-file", folder / "none"),
        client(folder, data),
        client(folder, data, "--epsilon", "11"),
        client(folder, data, "--epsilon", "ten"),
        client(folder, data, "--epsilon", "10", "--unknown", "drop"),
        client(folder, data, "--epsilon", "10", artifact="absent"),
    ]
    assert [(run.returncode, run.stdout) for run in runs] == [(2, b"")] * len(runs)
    wrong = client(folder, data, "--epsilon", "10", "--digest", "0" * 64)
    assert (wrong.returncode, wrong.stdout) == (3, b"")


def forged(folder, change, artifact="tree"):
    """Write an artifact anew with another header, its checksum redone."""
    found = (folder / f"{artifact}.mdg").read_bytes()
    start = len(b"mondegreen-device/1\n") + 4
    end = start + int.from_bytes(found[start - 4 : start], "little")
    header = json.loads(found[start:end])
    change(header)
    text = json.dumps(header).encode()
    size = len(text).to_bytes(4, "little")
    whole = found[: start - 4] + size + text + found[end:-32]
    (folder / "forged.mdg").write_bytes(whole + hashlib.sha256(whole).digest())


@pytest.mark.slow("a process of node each", but="record-options0")
@pytest.mark.parametrize("options", [[], ["--quiet"]])
@pytest.mark.parametrize(
    "data", [b"", b'{"id": 1, "text": "secret"}\n'], ids=["nothing", "record"]
)
def test_nothing_is_promised_of_a_law_that_is_none(folder, data, options):
    def change(header):
        for setting in header["settings"]:
            setting["weights"][0] = "1"

    forged(folder, change)
    run = client(folder, data, "--epsilon", "10", *options, artifact="forged")
    assert (run.returncode, run.stdout) == (3, b"")
    assert b"do not fit its tree" in run.stderr
    assert b"guarantee" not in run.stderr


def certain(header):
    """Let every word stay nearly always, and claim epsilon 0.1."""
    setting = header["settings"][0]
    setting["weights"] = [str(2**62 - 1), *["0"] * 4, "1"]
    setting["epsilon"] = setting["guarantee"]["epsilon"] = 0.1
    setting["guarantee"]["certified"] = 0.1


def rarely_flipped(header):
    """Let every bit stay nearly always, and claim epsilon 0.1."""
    setting = header["settings"][0]
    setting["threshold"] = "1"
    setting["epsilon"] = setting["guarantee"]["epsilon"] = 0.1
    setting["guarantee"]["certified"] = 0.1


def cheaper(header):
    """Claim epsilon 0.1 of a law of epsilon 4, that of the package."""
    setting = header["settings"][0]
    setting["epsilon"] = setting["guarantee"]["epsilon"] = 0.1
    setting["guarantee"]["certified"] = 0.1


@pytest.mark.slow("processes of node", seconds=0.2)
@pytest.mark.parametrize("options", [[], ["--quiet"]])
@pytest.mark.parametrize(
    ("change", "artifact"),
    [(certain, "tree"), (rarely_flipped, "bits"), (cheaper, "tree"), (cheaper, "bits")],
)
def test_a_law_that_loses_more_than_is_claimed_is_refused(
    folder, change, artifact, options
):
    forged(folder, change, artifact)
    data = b'{"id": 1, "text": "secret doctor"}\n'
    run = client(folder, data, "--epsilon", "0.1", *options, artifact="forged")
    assert (run.returncode, run.stdout) == (3, b"")
    assert b"promises more privacy than its law gives" in run.stderr
    assert b"guarantee" not in run.stderr


@pytest.mark.slow("processes of node")
@pytest.mark.parametrize("options", [[], ["--quiet"]])
def test_a_digest_that_is_not_given_is_missed_aloud(folder, options):
    digest = (folder / "tree.mdg").read_bytes()[-32:].hex()
    data = b'{"id": 1, "text": "secret doctor"}\n'
    without = client(folder, data, "--epsilon", "10", *options)
    given = client(folder, data, "--epsilon", "10", "--digest", digest, *options)
    assert (without.returncode, given.returncode) == (0, 0)
    assert b"WARNING: no digest was given" in without.stderr
    assert b"WARNING" not in given.stderr


def test_the_words_of_protection_have_the_limits_of_python():
    source = (CLIENT / "src" / "protection.ts").read_text("utf-8")
    row = r'\["(\w+)", \{ loss: ([\d.]+), recovered: ([\d.]+), near: ([\d.]+) \}\]'
    found = [(name, *map(float, row)) for name, *row in re.findall(row, source)]
    assert found == [(e.name, e.loss, e.recovered, e.near) for e in LEVELS]


@pytest.mark.slow("spaces of all sizes")
@pytest.mark.parametrize("size", [1, 2, 3, 30, 700])
def test_what_python_writes_is_taken_whatever_the_space_and_epsilon(tmp_path, size):
    rng = np.random.default_rng(size)
    words = [f"w{i}" for i in range(size)]
    space = mg.Space.from_arrays("any", words, rng.normal(size=(size, 4)))
    # Five sizes and two laws: 30 epsilons by chance, and the ends of each.
    epsilons = [1e-9, 1e9, *np.exp(rng.uniform(-9, 5, size=3)).tolist()]
    cases = {"tree": space, "brr": with_codes(space, bits=8 * int(rng.integers(1, 9)))}
    for name, each in cases.items():
        path = tmp_path / f"{name}.mdg"
        path.write_bytes(artifact(each, epsilons, name))
        for epsilon in epsilons:
            data = b'{"id": 1, "text": "w0 other"}\n'
            run = client(tmp_path, data, "--epsilon", repr(epsilon), artifact=name)
            assert run.returncode == 0, (size, epsilon, run.stderr)


@pytest.mark.slow("two commands")
@pytest.mark.parametrize(("deep", "code"), [(500, 0), (900, 3), (501, 3)])
def test_a_record_may_be_500_deep_as_the_page_says(folder, deep, code):
    nested = b"[" * deep + b"]" * deep
    data = b'{"id": 1, "text": "a", "n": ' + nested + b"}\n"
    assert keyed(folder, data).returncode == code
    assert python(folder, data).returncode == 0
    page = (ROOT / "docs" / "how-to" / "privatize-in-the-browser.md").read_text()
    assert "rejects JSON records with more than 500 nested levels" in page


@pytest.mark.parametrize(
    "name",
    [
        # CI runs these in its stage of the client, and `npm test` does.
        pytest.param("vectors", marks=pytest.mark.long),
        pytest.param("refusals", marks=pytest.mark.long),
        pytest.param("conversation", marks=pytest.mark.long),
    ],
)
def test_the_tests_of_the_client_pass_without_any_package(name):
    run = [NODE, "--test", CLIENT / "test" / f"{name}.test.mjs"]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.slow("three commands")
def test_the_example_runs(tmp_path):
    command = tmp_path / "mondegreen"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mondegreen "$@"\n')
    command.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    run = ["sh", ROOT / "examples" / "on_device.sh"]
    env = {**os.environ, "PATH": path, "TMPDIR": str(tmp_path)}
    done = subprocess.run(run, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()[-2:]
    assert [json.loads(line)["id"] for line in lines] == [1, 2]
    assert "doctor in Oslo" not in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="files have no mode")
def test_the_command_is_executable_as_npm_makes_it():
    """Otherwise ``npm install`` changes the mode, and a clean clone gets dirty."""
    assert os.access(CLIENT / "cli.mjs", os.X_OK)
