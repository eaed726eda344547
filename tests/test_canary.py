"""No private word survives: 3,000 invented ones are sought in all that comes out."""

import functools
import itertools
import json
import logging
import os
import re
import resource
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import mondegreen as mg
from mondegreen.cli.main import cli, main
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.space.binarize import with_codes

COUNT = 1000
EPSILONS = ("0.1", "1", "10", "100")
POLICIES = ("word", "mask", "drop")
CASES = ("lower", "restore", "truecase")
SCRIPT = str(Path(sysconfig.get_path("scripts"), "mondegreen"))
BEFORE, BETWEEN = "I met", "paid"
pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="module")
def space():
    try:
        return mg.load_space()
    except mg.errors.MondegreenError:
        pytest.skip("the embedded space is not built")


@pytest.fixture(scope="module")
def part(space):
    """Six hundred words of the embedded space.

    The grid runs each mechanism 24 times, and certificates of the whole space take
    longer than the search for canaries.
    """
    ids = np.linspace(0, space.vocab_size - 1, 600).astype(int)
    words = [space.words[i] for i in ids]
    return mg.Space.from_arrays("part", words, space.vectors[ids])


@pytest.fixture(scope="module")
def canaries(space):
    """Names, card numbers and addresses that the vocabulary neither has nor holds."""
    rng = np.random.default_rng(4711)
    vocabulary = "\n".join(space.words)

    def invent(parts):
        found = set()
        while len(found) < COUNT:
            one = "".join(str(rng.choice(list(part))) for part in parts)
            if one not in vocabulary:
                found.add(one)
        return sorted(found)

    consonants, vowels = "bdfgklmnprstvwxz", "aeiou"
    names = invent([consonants, vowels] * 4 + ["xzkvw"])
    locals_ = invent([consonants, vowels] * 3 + ["nmt"] + [consonants, vowels])
    hosts = invent([vowels, consonants] * 4)
    numbers = invent(["456"] + ["0123456789"] * 15)
    cards = [
        "-".join(re.findall("....", number)) if i % 2 else number
        for i, number in enumerate(numbers)
    ]
    mails = [
        f"{a}.{b}@{c}.example" for a, b, c in zip(locals_, names, hosts, strict=True)
    ]
    return {
        "name": [name.capitalize() for name in names],
        "card": cards,
        "mail": mails,
        "local": locals_,
        "host": hosts,
    }


def row(canaries, i):
    name, card, mail = (canaries[kind][i] for kind in ("name", "card", "mail"))
    return f"{BEFORE} {name} {BETWEEN} {card} <{mail}>, {name.upper()} said."


def survivors(canaries, *outputs):
    """Canaries that are found in outputs, in whatever case."""
    text = "\n".join(outputs).lower()
    wanted = itertools.chain.from_iterable(canaries.values())
    return sorted({word for word in wanted if word.lower() in text})


@pytest.fixture
def run(space, tmp_path, monkeypatch, caplog):
    """Return a function that runs privatize and gives all that came out of it."""
    monkeypatch.chdir(tmp_path)
    # loaded and checked once, not 120 times
    monkeypatch.setattr("mondegreen.privatizer.build.find_space", lambda name: space)
    caplog.set_level(logging.DEBUG)

    def invoke(name, *args, expect=0):
        before = {path.name for path in tmp_path.iterdir()}
        out = f"out{Path(name).suffix}"
        done = CliRunner().invoke(
            cli, ["privatize", name, "-o", out, "--report", "report.json", *args]
        )
        assert done.exit_code == expect, survivors_hidden(done)
        written = {}
        for path in tmp_path.iterdir():
            if path.name not in before:
                written[path.name] = path.read_bytes().decode("utf-8", "replace")
                path.unlink()
        assert set(written) == ({out, "report.json"} if expect == 0 else set())
        told = [done.stdout, done.stderr, repr(done.exception), caplog.text]
        told += [repr(record.__dict__) for record in caplog.records]
        return written.get(out, ""), [*told, *written.values()]

    return invoke


def fitting(name, part):
    """Return the part as the mechanism needs it: plain, with codes, or in the ball."""
    mechanism = mg.mechanism(name, epsilon=float(EPSILONS[-1]))
    if mechanism.family == "binary":
        return with_codes(part, method="hyperplane")
    if "hyperbolic" in (name, mechanism.metric):
        short = part.vectors[:, :20]  # its noise needs more than a nat a dimension
        inside = short / (2 * np.linalg.norm(short, axis=1).max())
        return mg.Space.from_arrays("part", part.words, inside, metric="poincare")
    return part


def allowed(name, space):
    """Return the epsilons that a mechanism takes on a space; some need large ones."""
    taken = []
    for epsilon in EPSILONS:
        try:
            mg.mechanism(name, epsilon=float(epsilon)).prepare(space)
        except mg.errors.ConfigurationError:
            continue
        taken.append(epsilon)
    assert EPSILONS[-1] in taken
    return taken


def survivors_hidden(done):
    """What to say of a run that failed, without its text."""
    return f"exit {done.exit_code}, {type(done.exception).__name__}"


def write_rows(canaries, rows, name="in.csv"):
    lines = [f'{i},"{row(canaries, i)}"\n' for i in rows]
    Path(name).write_text("id,text\n" + "".join(lines))


@pytest.mark.slow("releases that are broken on purpose")
def test_the_search_for_survivors_finds_them(canaries, run):
    keep = [canaries["name"][3]]
    Path("keep.txt").write_text(f"{keep[0]}\n")
    write_rows(canaries, range(5))
    for options in (
        ["--keep", "keep.txt"],
        ["--case", "restore", "--keep", "keep.txt"],
    ):
        _, told = run("in.csv", "--epsilon", "10", "-m", "laplace", *options)
        assert survivors(canaries, *told) == keep


@pytest.mark.parametrize("name", [c.name for c in mg.mechanisms() if c.space_metrics])
@pytest.mark.slow("every mechanism on words that must not survive")
def test_no_canary_survives_any_mechanism(part, canaries, run, monkeypatch, name):
    used = fitting(name, part)
    monkeypatch.setattr("mondegreen.privatizer.build.find_space", lambda name: used)
    cls = type(mg.mechanism(name, epsilon=1))
    # prepared once for each epsilon, not once for each policy and case
    monkeypatch.setattr(cls, "prepare", functools.lru_cache(None)(cls.prepare))
    grid = list(itertools.product(allowed(name, used), POLICIES, CASES))
    shares = np.array_split(np.arange(COUNT), len(grid))
    seen = 0
    for rows, (epsilon, unknown, case) in zip(shares, grid, strict=True):
        write_rows(canaries, rows.tolist())
        options = ["--unknown", unknown, "--case", case, "--allow-unproved"]
        out, told = run("in.csv", "-m", name, "--epsilon", epsilon, *options)
        assert survivors(canaries, *told) == [], (name, epsilon, unknown, case)
        assert out.count("\n") == len(rows) + 1
        seen += len(rows)
    assert seen == COUNT


@pytest.mark.parametrize("epsilon", ["8", "12", "100"])
def test_no_canary_survives_the_default(canaries, run, epsilon):
    write_rows(canaries, range(COUNT))
    out, told = run("in.csv", "--epsilon", epsilon)
    assert survivors(canaries, *told, out) == []
    assert out.count("\n") == COUNT + 1


@pytest.mark.parametrize("format", ["txt", "jsonl", "parquet"])
@pytest.mark.slow("every format and policy, in processes")
def test_no_canary_survives_any_format(canaries, run, format):
    texts = [row(canaries, i) for i in range(COUNT)]
    if format == "parquet":
        pq.write_table(pa.table({"text": texts}), "in.parquet")
    else:
        lines = [json.dumps({"text": t}) if format == "jsonl" else t for t in texts]
        Path(f"in.{format}").write_text("\n".join(lines) + "\n")
    _, told = run(f"in.{format}", "--epsilon", "100", "-m", "laplace")
    assert survivors(canaries, *told) == []
    if format == "parquet":
        privatizer = mg.Privatizer(mg.mechanism("laplace", epsilon=100.0))
        released = privatizer.arrow(pa.record_batch({"text": texts}))
        assert survivors(canaries, *released.column("text").to_pylist()) == []


ALPHABETS = {
    "currency": "₳฿₵₫€₣₲₴₭₺₥₦₱₽₨₮₩¥",
    "mathematics": "∀∁∂∃∇∈∑∏∩∪∫∝∞≈≡⊂⊗⊥",
    "control codes": "".join(map(chr, [*range(1, 9), *range(14, 24)])),
    "brackets": "⟦⟧⟨⟩⟪⟫⦃⦄⦅⦆⸢⸣⸤⸥〔〕〖〗",
    "spaces": "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f"
    "\u205f\u3000\u1680\u2028\u2029\x85",
    "unassigned": "".join(chr(0x50000 + i) for i in range(18)),
}


@pytest.mark.parametrize("kind", ALPHABETS)
@pytest.mark.parametrize("format", ["txt", "csv", "jsonl"])
@pytest.mark.slow("every sign that a word can be spelled in")
def test_no_canary_spelled_in_signs_survives(canaries, run, kind, format):
    letters = sorted(set("".join(canaries["name"]).lower()))
    spell = str.maketrans(dict(zip(letters, ALPHABETS[kind] * 2, strict=False)))
    names = [name.lower().translate(spell) for name in canaries["name"][:100]]
    texts = [f"I met {name}, {name[:3]} and {' '.join(name[:4])}." for name in names]
    line = {
        "txt": str,
        "csv": '"{}"'.format,
        "jsonl": lambda x: json.dumps({"text": x}),
    }
    lines = [*(["text"] if format == "csv" else []), *map(line[format], texts)]
    Path(f"in.{format}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    out, told = run(f"in.{format}", "--epsilon", "100", "-m", "laplace")
    if format == "jsonl":
        out = "".join(json.loads(line)["text"] for line in out.splitlines())
    told = [*told, out]
    pairs = {name[i : i + 2] for name in names for i in range(len(name) - 1)}
    assert not [pair for pair in pairs if any(pair in text for text in told)]


def test_a_name_drawn_in_ordinary_punctuation_does_not_survive(run):
    drawn = "/\\ |\\| |\\| /\\"
    spaced = "".join("\t" if bit == "1" else " " for bit in "0100000101001110")
    texts = [f"I met {drawn} and {'=-' * 20} or{spaced}x", f"\n{drawn}"]
    Path("in.jsonl").write_text("".join(json.dumps({"text": t}) + "\n" for t in texts))
    out, _ = run("in.jsonl", "--epsilon", "100", "-m", "laplace")
    released = "".join(json.loads(line)["text"] for line in out.splitlines())
    for secret in (drawn[2:-2], "=-=-", spaced[2:-2]):
        assert secret not in released


def test_no_canary_survives_in_a_release_or_its_spans(space, canaries):
    privatizer = mg.Privatizer(mg.mechanism("laplace", epsilon=100.0), space)
    releases = privatizer.batch([row(canaries, i) for i in range(200)])
    told = [f"{r!r} {r.text} {r.spans} {r.guarantee}" for r in releases]
    assert survivors(canaries, *told, repr(privatizer)) == []


def damaged(canaries):
    """Files with canaries and one fault each: name, bytes, options, exit code."""
    first, second = row(canaries, 0), row(canaries, 1)
    good = f'id,text\n0,"{first}"\n'
    packed = "\n".join(json.dumps({"text": text}) for text in (first, second))
    yield "ragged.csv", f'{good}1,"{second}",{first}\n', [], 3
    yield "quote.csv", f'{good}1,"{second}\n', [], 3
    yield "after.csv", f'{good}1,"{second}" {first}\n', [], 3
    yield "blank.csv", f"{good}\n\n{good}", [], 3
    yield "id.csv", f'{good},"{second}"\n', ["--key-file", "key", "--id", "id"], 3
    yield "utf8.csv", good.encode() + f"1,{second}\xff\n".encode("latin-1"), [], 3
    yield "utf8.txt", f"{first}\n{second}\xff\n".encode("latin-1"), [], 3
    yield "utf8.jsonl", f'{packed}\n{{"text": "{second}\xff"}}'.encode("latin-1"), [], 3
    yield "types.jsonl", f'{packed}\n{{"text": {{"{first}": 1}}}}\n', [], 3
    yield "list.jsonl", f'{packed}\n["{first}"]\n', [], 3
    yield "cut.jsonl", f'{packed}\n{{"text": "{first}\n', [], 3
    yield "keys.jsonl", f'{{"{first}": 1, "{second}": 2}}\n', [], 3
    yield "half.jsonl", f'{{"text": "{second} \\ud800"}}\n', [], 3
    yield "deep.jsonl", f'{{"text": "{first}", "x": {"[" * 100_000}}}\n', [], 3
    yield "no.parquet", f"{first} {second}" * 99, [], 3
    yield "unknown.csv", good, ["--unknown", "fail"], 4
    yield "unknown2.csv", good, ["--unknown", "fail", "--jobs", "2"], 4
    yield "ragged2.csv", f'{good}1,"{second}",{first}\n', ["--jobs", "2"], 3


@pytest.mark.slow("every error, in processes")
def test_no_canary_survives_in_an_error(canaries, run):
    Path("key").write_bytes(bytes(range(64)))
    Path("key").chmod(0o600)
    for name, data, options, expect in damaged(canaries):
        Path(name).write_bytes(data if isinstance(data, bytes) else data.encode())
        _, told = run(name, "--epsilon", "10", "-m", "laplace", *options, expect=expect)
        assert survivors(canaries, *told) == [], name


def test_a_record_in_place_of_the_header_is_not_quoted(canaries, run):
    Path("in.csv").write_text(f"1,{canaries['name'][0]}\n2,{canaries['name'][1]}\n")
    _, told = run("in.csv", "--epsilon", "10", "-m", "laplace", expect=3)
    assert survivors(canaries, *told) == []


class TextError(Exception):
    """An error that quotes the text it failed on, as those of other libraries do."""


def test_no_canary_survives_in_the_report_of_a_bug(
    canaries, run, monkeypatch, capfd, signals_of_pytest
):
    write_rows(canaries, range(20))
    monkeypatch.delenv("MONDEGREEN_DEBUG", raising=False)

    def explode(self, batch, columns, **options):
        raise TextError(batch.column("text").to_pylist())

    monkeypatch.setattr(Privatizer, "arrow_with_count", explode)
    arguments = ["mondegreen", "privatize", "in.csv", "-o", "out.csv", "-e", "10"]
    arguments += ["-m", "laplace"]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as caught:
        main()
    told = "".join(capfd.readouterr())
    assert caught.value.code == 1
    assert "this is a bug: TextError" in told
    assert survivors(canaries, told) == []
    assert not Path("out.csv").exists()


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
@pytest.mark.parametrize("fault", ["full disk", "worker raises", "worker dies"])
@pytest.mark.slow("processes that fail in the middle")
def test_no_canary_survives_a_process_that_fails(
    space, canaries, tmp_path, monkeypatch, fault
):
    monkeypatch.chdir(tmp_path)
    write_rows(canaries, range(200))
    deed = "os.abort()" if fault == "worker dies" else "raise ValueError(texts)"
    Path("sitecustomize.py").write_text(
        "import os, sys\n"
        "if any('forkserver' in each for each in sys.orig_argv):\n"
        "    from mondegreen.privatizer.privatizer import Privatizer\n"
        "    def explode(self, batch, columns, **options):\n"
        "        texts = batch.column('text').to_pylist()\n"
        f"        {deed}\n"
        "    Privatizer.arrow_with_count = explode\n"
    )

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("MONDEGREEN_DEBUG", None)
    arguments = [
        SCRIPT,
        "privatize",
        "in.csv",
        "-o",
        "out.csv",
        "-e",
        "10",
        "-m",
        "laplace",
    ]
    done = subprocess.run(
        [*arguments, "--jobs", "1" if fault == "full disk" else "2"],
        capture_output=True,
        text=True,
        env=environment,
        preexec_fn=limit if fault == "full disk" else None,
    )
    expected = {
        "full disk": (3, "cannot be written"),
        "worker raises": (1, "ValueError in explode"),
        "worker dies": (1, "a worker process died"),
    }[fault]
    assert done.returncode == expected[0]
    assert expected[1] in done.stderr
    assert survivors(canaries, done.stdout, done.stderr) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "in.csv",
        "sitecustomize.py",
    ]
