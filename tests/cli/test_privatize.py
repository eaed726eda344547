"""The verb privatize in this process, and as users meet it: pipes, signals, limits."""

import contextlib
import functools
import gzip
import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import sysconfig
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from test_interrupts import INTERRUPTED

import mondegreen as mg
from commands import run_command
from mondegreen.cli.main import cli, main
from mondegreen.mechanisms.laws import certified
from mondegreen.privatizer.privatizer import Privatizer
from strategies import WORDS
from waiting import wait_until

CANARY = "zyxwoldemorth"
SCRIPT = str(Path(sysconfig.get_path("scripts"), "mondegreen"))
posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")


@pytest.fixture
def run(space_file, folder):
    """Return a function that runs privatize in this process."""

    def invoke(*args, expect=0, stdin=b"", epsilon="2", space=space_file):
        given = [] if epsilon is None else ["--epsilon", epsilon]
        given += [] if space is None else ["--policy", "all", "--space", space]
        given = ["privatize", *args, *given]
        return run_command(*given, expect=expect, stdin=stdin, secret=CANARY)

    return invoke


@pytest.fixture
def shell(space_file, folder):
    """Return a function that runs the installed console script."""

    def invoke(*args, **options):
        arguments = [
            SCRIPT,
            "privatize",
            *args,
            "-e",
            "2",
            "--policy",
            "all",
            "--space",
            space_file,
        ]
        return subprocess.run(arguments, capture_output=True, timeout=60, **options)

    return invoke


@pytest.fixture
def verb(monkeypatch, space_file, folder, signals_of_pytest):
    """Return a function that calls main() in this process and gives its exit code."""

    def invoke(*args):
        arguments = [*args, "-e", "2", "--policy", "all", "--space", space_file]
        monkeypatch.setattr(sys, "argv", ["mondegreen", "privatize", *arguments])
        with pytest.raises(SystemExit) as caught:
            main()
        return caught.value.code or 0

    return invoke


def sentence(rng, words=8):
    return " ".join(rng.choice(WORDS, words))


@functools.cache
def sentences(count, words=8):
    rng = np.random.default_rng(count)
    return [sentence(rng, words) for _ in range(count)]


def shape(text):
    """Which words are of the space, and the structure around them."""
    return "".join("W" if w in WORDS else w for w in _split(text))


def _split(text):
    return re.split(r"(\w+)", text)


def write_key(path="key", mode=0o600):
    Path(path).write_bytes(bytes(range(64)))
    Path(path).chmod(mode)
    return str(path)


def names(folder):
    return sorted(path.name for path in Path(folder).iterdir())


# --- formats ------------------------------------------------------------------------

FILES = {
    "txt": ("bad dag.\r\n\r\nzyxwoldemorth fad", "W W.\r\n\r\nW W"),
    "csv": (
        'id,text,other\n1,"bad, dag",kept\n2,"a ""zyx""\nline",\n3,,x\n',
        'id,text,other\n1,"W, W",kept\n2,"W ""W""\nW",\n3,,x\n',
    ),
    "tsv": ("id\ttext\n1\tbad, dag\n2\tzyxwoldemorth!\n", "id\ttext\n1\tW, W\n2\tW!\n"),
    "jsonl": (
        '{"id": 1, "text": "bad, \\u00e9", "n": 1.10}\n{"text": null, "other": "b"}\n',
        '{"id": 1, "text": "W, W", "n": 1.10}\n{"text": null, "other": "b"}\n',
    ),
}


@pytest.mark.parametrize("format", FILES)
@pytest.mark.parametrize("way", ["file", "pipe", "gzip"])
def test_each_format_comes_back_with_other_words_and_the_same_form(run, format, way):
    given, expected = FILES[format]
    if way == "pipe":
        done = run("-", "--format", format, stdin=given.encode())
        assert shape(done.stdout_bytes.decode()) == expected
        return
    suffix = ".gz" if way == "gzip" else ""
    pack, unpack = (gzip.compress, gzip.decompress) if suffix else (bytes, bytes)
    Path(f"in.{format}{suffix}").write_bytes(pack(given.encode()))
    done = run(f"in.{format}{suffix}", "-o", f"out.{format}{suffix}")
    assert done.stdout == ""
    made = unpack(Path(f"out.{format}{suffix}").read_bytes()).decode()
    assert shape(made) == expected
    assert CANARY not in made


def test_parquet_keeps_all_but_text_and_carries_the_guarantee(run):
    table = pa.table(
        {
            "id": [1, 2, 3],
            "text": ["bad dag", None, CANARY],
            "tags": [["fad", CANARY], [], None],
        }
    )
    pq.write_table(table.replace_schema_metadata({"mine": "x"}), "in.parquet")
    options = ["-c", "text", "-c", "tags", "--metadata", "keep", "--report", "r"]
    run("in.parquet", "-o", "out.parquet", *options)
    made = pq.read_table("out.parquet")
    assert made.column("id").equals(table.column("id"))
    texts = [text and shape(text) for text in made.column("text").to_pylist()]
    assert texts == ["W W", None, "W"]
    assert [t and len(t) for t in made.column("tags").to_pylist()] == [2, [], None]
    assert made.schema.metadata[b"mine"] == b"x"
    report = json.loads(Path("r").read_bytes())
    passes = json.loads(made.schema.metadata[b"mondegreen"])
    assert passes == report["passes"]
    assert [each["column"] for each in passes] == ["text", "tags"]
    assert all(each["guarantee"] == report["guarantee"] for each in passes)


def test_standard_input_is_text_unless_a_format_is_given(run):
    assert shape(run("-", stdin=b"bad\n").stdout) == "W\n"
    assert run("-", "--format", "csv", stdin=b"text\nbad\n").stdout.startswith("text\n")
    run("-", "--format", "parquet", stdin=b"PAR1", expect=2)
    run("-", "--format", "xml", expect=2)


def test_nested_columns_are_reached_by_a_path(run):
    given = b'{"msg": [{"body": "bad", "by": "bad"}, {"body": null, "by": "x"}]}\n'
    done = run("-", "--format", "jsonl", "-c", "msg.body", stdin=given)
    messages = json.loads(done.stdout)["msg"]
    assert messages[0]["body"] in WORDS
    assert messages[0]["by"] == "bad"
    assert messages[1] == {"body": None, "by": "x"}


@pytest.mark.parametrize(
    ("format", "given"),
    [
        ("txt", b""),
        ("txt", b"\n\n"),
        ("csv", b"text\n"),
        ("csv", b"id,text"),
        ("tsv", b"text\tid\r\n"),
        ("jsonl", b""),
        ("jsonl", b"\n"),
    ],
)
def test_an_input_without_records_is_passed_on(run, format, given):
    assert run("-", "--format", format, stdin=given).stdout_bytes == given


def test_a_parquet_file_without_rows_is_passed_on(run):
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), "in.parquet")
    run("in.parquet", "-o", "out.parquet")
    assert pq.read_table("out.parquet").num_rows == 0


@pytest.mark.parametrize(
    "text",
    [
        "a\x00b\x00",
        "👩‍👩‍👧 🇳🇴!",
        "\u2028x\u2029\x85y",
        "\x1b[31mred",
        "ａｂｃ",
        "שלום",
        "\ufeffx",
    ],
)
@pytest.mark.parametrize("format", ["txt", "csv", "jsonl"])
@pytest.mark.slow("a process for every format")
def test_strange_text_stays_in_its_record(run, format, text):
    rows = {
        "txt": f"bad\n{text}\nbad\n",
        "csv": f"text\nbad\n{text}\nbad\n",
        "jsonl": "".join(json.dumps({"text": t}) + "\n" for t in ("bad", text, "bad")),
    }
    done = run("-", "--format", format, stdin=rows[format].encode())
    made = done.stdout_bytes.decode()
    assert made.count("\n") == rows[format].count("\n")
    if format == "jsonl":
        assert all(set(json.loads(line)) == {"text"} for line in made.split("\n")[:-1])


@pytest.mark.slow("ten megabytes")
def test_a_line_of_ten_megabytes_is_one_record(run):
    Path("in.txt").write_text("bad " * 2_500_000 + "\nbad\n")
    run("in.txt", "-o", "out.txt", "--report", "r")
    made = Path("out.txt").read_text()
    assert made.count("\n") == 2
    assert len(made.split()) == 2_500_001
    assert json.loads(Path("r").read_bytes())["counts"] == {
        "rows": 2,
        "words": 2_500_001,
    }


# --- what is refused ------------------------------------------------------------------


@pytest.mark.parametrize(
    "epsilon", ["0", "-1", "nan", "inf", "-inf", "1e-320", "1e400", "text", "", None]
)
def test_epsilon_must_be_a_positive_number_and_has_no_default(run, epsilon):
    done = run("-", stdin=b"bad\n", epsilon=epsilon, expect=2)
    assert done.stdout == ""
    assert "epsilon" in done.stderr


@pytest.mark.parametrize(
    "setting",
    [
        "t",
        "=1",
        "t=",
        "t=x",
        "epsilon=3",
        "nope=1",
        'beta="a"',
        "beta=[1]",
        "beta={}",
        "beta=null",
        "beta=true",
        "beta=NaN",
        "beta=1e999",
        "gamma=0",
        "gamma=-1",
    ],
)
def test_settings_that_make_no_sense_are_refused(run, setting):
    run("-", "-m", "tem", "--set", setting, stdin=b"bad\n", expect=2)


@pytest.mark.parametrize("t", ["1.5", "[0.1]", '[0.1,"a"]', "[[1],[2]]", "[0.1,NaN]"])
def test_settings_of_lists_are_checked_item_by_item(run, t):
    run("-", "-m", "vickrey", "--set", f"t={t}", stdin=b"bad\n", expect=2)


def test_settings_reach_the_mechanism(run):
    done = run("-", "-m", "vickrey", "--set", "t=[0.1,0.2,0.3]", stdin=b"bad\n")
    assert "t [0.1, 0.2, 0.3]" in done.stderr or "t (0.1, 0.2, 0.3)" in done.stderr
    run("-", "-m", "tem", "--set", "beta=0.01", "--set", "gamma=null", stdin=b"bad\n")
    run("-", "-m", "laplace", "--set", "decoder=exact", stdin=b"bad\n")


@pytest.mark.parametrize("norm", ["manhattan", "chebyshev"])
def test_a_norm_is_stated_in_every_guarantee_and_repeats_from_python(
    run, norm, space_file
):
    texts = sentences(20)
    ids = [str(i) for i in range(len(texts))]
    pq.write_table(pa.table({"id": ids, "text": texts}), "in.parquet")
    options = ["-m", "laplace", "--set", f"norm={norm}"]
    keyed = ["--key-file", write_key(), "--id", "id", "--report", "r.json"]
    done = run("in.parquet", "-o", "out.parquet", *options, *keyed)
    assert f"laplace (epsilon 2, norm {norm})" in done.stderr
    (metadata,) = json.loads(pq.read_schema("out.parquet").metadata[b"mondegreen"])
    for stated in (json.loads(Path("r.json").read_bytes()), metadata):
        assert stated["guarantee"]["metric"] == f"{norm.capitalize()} distance"
        assert stated["guarantee"]["parameters"] == {"epsilon": 2.0, "norm": norm}
    spec = mg.Privatizer(
        mg.mechanism("laplace", epsilon=2.0, norm=norm), mg.load_space(space_file)
    ).to_dict()
    assert spec["parameters"]["norm"] == norm
    noise = mg.KeyedNoise(Path("key").read_bytes())
    again = mg.Privatizer.from_dict(spec, noise=noise)
    released = again.batch(texts, ids=ids, column="text")
    assert [each.text for each in released] == pq.read_table("out.parquet")[
        "text"
    ].to_pylist()


@pytest.mark.parametrize(
    ("mechanism", "settings", "hint"),
    [
        ("laplace", ["norm=l7"], "euclidean or manhattan or chebyshev"),
        ("laplace", ["norm=null"], "euclidean or manhattan or chebyshev"),
        ("laplace", ["norm=manhattan", "decoder=fast"], "exact with norm manhattan"),
        ("vickrey", ["norm=manhattan"], "vickrey has no parameter norm"),
        ("mahalanobis", ["norm=manhattan"], "mahalanobis has no parameter norm"),
    ],
)
def test_a_norm_that_will_not_do_is_refused(run, mechanism, settings, hint):
    options = [part for each in settings for part in ("--set", each)]
    done = run("-", "-m", mechanism, *options, stdin=b"bad\n", expect=2)
    assert hint in done.stderr


@pytest.mark.parametrize(
    ("args", "expect", "hint"),
    [
        (["in.csv", "-m", "tme"], 2, "tem"),
        (["in.csv", "--unknown", "keep"], 2, "mask"),
        (["in.csv", "--case", "upper"], 2, "restore"),
        (["in.csv", "--jobs", "0"], 2, "jobs"),
        (["in.csv", "--seed", "-1"], 2, "seed"),
        (["in.csv", "--nope"], 2, "No such option"),
        (["in.csv", "-o", "out.jsonl"], 2, "csv"),
        (["in.doc"], 2, "parquet"),
        (["in.csv", "-c", "body"], 3, "2 columns"),
        (["absent.csv"], 3, "No such file"),
        (["."], 2, "need a new folder"),
        (["in.csv", "-o", "no/such/folder.csv"], 3, "folder"),
        (["in.csv", "-o", "."], 3, "folder"),
        (["in.csv", "--keep", "absent.txt"], 3, "absent.txt: cannot be read"),
        (["in.csv", "--id", "id"], 2, "--key-file"),
        (["in.csv", "--key-file", "key"], 2, "--id"),
        (
            ["in.csv", "--key-file", "key", "--id", "id", "--seed", "1"],
            2,
            "cannot be combined",
        ),
        (["in.csv", "--key-file", "absent", "--id", "id"], 2, "urandom"),
        (["in.csv", "--key-file", "open", "--id", "id"], 2, "chmod 600"),
        (["in.csv", "--key-file", "short", "--id", "id"], 2, "not a key"),
        (["in.csv", "--key-file", "key", "--id", "nr"], 3, "2 columns"),
        (["in.csv", "--key-file", "key", "--id", "text"], 2, "no column of text"),
        (["in.txt", "--key-file", "key", "--id", "id"], 2, "--id"),
        (["in.csv", "--report", "no/such/r"], 3, "folder"),
        (["in.csv", "--report", "old"], 3, "--force"),
        (["in.csv", "-o", "r", "--report", "./r"], 2, "a separate file"),
        (["in.csv", "--report", "-"], 2, "a separate file"),
        (["in.csv", "--force", "-o", "o", "--report", "in.csv"], 2, "a separate file"),
        (["in.csv", "--force", "--report", "key", "--key-file", "key", "--id", "id"], 2,
         "a separate file"),
        (["in.csv", "--force", "-o", "old", "--keep", "old"], 2, "a separate file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)  # fmt: skip
def test_what_is_refused_is_explained_and_changes_nothing(
    run, folder, args, expect, hint
):
    Path("in.csv").write_text("id,text\n1,bad\n")
    for name in ("in.doc", "in.txt"):
        Path(name).write_text("bad\n")
    Path("old").write_text("dag\n")
    write_key()
    write_key("open", 0o644)
    Path("short").write_bytes(b"1234")
    Path("short").chmod(0o600)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = run(*args, expect=expect)
    assert hint in done.stderr
    assert done.stdout == ""
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}


def test_an_unknown_space_is_refused(run):
    done = run("-", space="glove-840b-34", stdin=b"bad\n", expect=2)
    assert "there is no space" in done.stderr
    Path("x.safetensors").write_bytes(b"\x00" * 100)
    run("-", space="./x.safetensors", stdin=b"bad\n", expect=3)
    run("-", space="./absent.safetensors", stdin=b"bad\n", expect=3)


DAMAGED = {
    "utf8.txt": b"bad\nzyxwoldemorth \xff\n",
    "utf8.csv": b"id,text\n1,zyxwoldemorth \xff\n",
    "utf8.jsonl": b'{"text": "zyxwoldemorth \xff"}\n',
    "ragged.csv": b"id,text\n1,bad\n2,zyxwoldemorth,zyxwoldemorth\n",
    "quote.csv": b'id,text\n1,"zyxwoldemorth\n2,bad\n',
    "after.csv": b'id,text\n1,"zyxwoldemorth" zyxwoldemorth\n',
    "empty.csv": b"",
    "types.jsonl": b'{"text": "bad"}\n{"text": {"zyxwoldemorth": 1}}\n',
    "number.jsonl": b'{"text": "bad"}\n{"text": 4711}\n',
    "array.jsonl": b'{"text": "bad"}\n["zyxwoldemorth"]\n',
    "broken.jsonl": b'{"text": "bad"}\n{"text": "zyxwoldemorth\n',
    "surrogate.jsonl": b'{"text": "zyxwoldemorth \\ud800"}\n',
    "no.parquet": b"zyxwoldemorth",
    "cut.csv.gz": gzip.compress(b"text\nzyxwoldemorth\n" * 99)[:-9],
}


@pytest.mark.parametrize(
    ("name", "jobs"),
    [*((name, "1") for name in DAMAGED), ("utf8.csv", "2"), ("types.jsonl", "2")],
)
@pytest.mark.slow("a process for every format")
def test_damaged_input_leaves_the_old_output_alone(run, folder, name, jobs):
    suffix = "".join(Path(name).suffixes)
    Path(name).write_bytes(DAMAGED[name])
    Path(f"out{suffix}").write_bytes(b"old")
    run(name, "-o", f"out{suffix}", "--force", "--report", "r", "-j", jobs, expect=3)
    assert Path(f"out{suffix}").read_bytes() == b"old"
    assert names(folder) == sorted([name, f"out{suffix}"])


@pytest.mark.parametrize("share", [0.3, 0.7, 0.98])
def test_a_truncated_parquet_file_leaves_nothing(run, folder, share):
    table = pa.table({"text": [f"{CANARY} {i}" for i in range(5000)]})
    pq.write_table(table, "whole.parquet", compression="none")
    data = Path("whole.parquet").read_bytes()
    Path("in.parquet").write_bytes(data[: int(share * len(data))])
    run("in.parquet", "-o", "out.parquet", expect=3)
    assert names(folder) == ["in.parquet", "whole.parquet"]


def test_a_damaged_page_of_a_parquet_file_leaves_nothing(run, folder):
    pq.write_table(pa.table({"text": sentences(2000)}), "in.parquet")
    data = bytearray(Path("in.parquet").read_bytes())
    data[len(data) // 3 : len(data) // 3 + 400] = bytes(400)
    Path("in.parquet").write_bytes(data)
    run("in.parquet", "-o", "out.parquet", expect=3)
    assert names(folder) == ["in.parquet"]


def test_unknown_words_under_fail_stop_with_exit_code_4(run, folder):
    given = f"bad dag\nfad {CANARY}\n"
    for jobs in ("1", "2"):
        Path("in.txt").write_text(given)
        done = run("in.txt", "-o", "o.txt", "--unknown", "fail", "-j", jobs, expect=4)
        assert "outside the vocabulary" in done.stderr
        assert names(folder) == ["in.txt"]


def test_an_unproved_mechanism_needs_to_be_allowed(run, monkeypatch):
    monkeypatch.setattr(type(mg.mechanism("tem", epsilon=1)), "is_private", False)
    done = run("-", "-m", "tem", stdin=b"bad\n", expect=4)
    assert "--allow-unproved" in done.stderr
    done = run("-", "-m", "tem", "--allow-unproved", stdin=b"bad\n")
    assert done.stderr.startswith("NOT PRIVATE")


# --- the output appears whole or not at all ------------------------------------------


def test_an_existing_output_needs_force(run):
    Path("in.txt").write_text("bad\n")
    Path("out.txt").write_text("old")
    assert "--force" in run("in.txt", "-o", "out.txt", expect=3).stderr
    assert Path("out.txt").read_text() == "old"
    run("in.txt", "-o", "out.txt", "--force")
    assert shape(Path("out.txt").read_text()) == "W\n"


@pytest.mark.parametrize("format", ["txt", "csv", "parquet"])
def test_a_file_can_be_replaced_by_its_release(run, folder, format):
    name = f"in.{format}"
    lines = sentences(3000)
    if format == "parquet":
        pq.write_table(pa.table({"text": lines}), name)
    else:
        Path(name).write_text("text\n" + "\n".join(lines) + "\n")
    for given in ([], ["--force"]):
        assert "--in-place" in run(name, "-o", name, *given, expect=2).stderr
    run(name, "--in-place")
    if format == "parquet":
        made = pq.read_table(name).column("text").to_pylist()
    else:
        made = Path(name).read_text().splitlines()[1:]
    assert [len(text.split()) for text in made] == [8] * 3000
    assert made != lines
    assert names(folder) == [name]


@posix
@pytest.mark.parametrize("format", ["txt", "csv", "jsonl", "parquet"])
@pytest.mark.slow("fills a small disk for every format")
def test_a_full_disk_leaves_neither_output_nor_temporary_file(shell, folder, format):
    lines = [f"{text} {CANARY}" for text in sentences(4000)]
    name = f"in.{format}"
    if format == "parquet":
        pq.write_table(pa.table({"text": lines}), name)
    elif format == "jsonl":
        Path(name).write_text("".join(f'{{"text": "{line}"}}\n' for line in lines))
    else:
        Path(name).write_text("text\n" + "\n".join(lines) + "\n")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    done = shell(name, "-o", f"out.{format}", preexec_fn=limit)
    assert done.returncode == 3, done.stderr
    assert b"cannot be written: File too large" in done.stderr
    assert CANARY.encode() not in done.stderr
    assert names(folder) == [name]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.slow("a process for every format")
def test_a_full_device_is_an_error_and_no_release(shell, folder):
    Path("in.txt").write_text("bad\n")
    done = shell("in.txt", "-o", "/dev/full")
    assert (done.returncode, done.stdout) == (3, b"")
    done = shell("in.txt", "-o", "out.txt", "--report", "/dev/full")
    assert (done.returncode, names(folder)) == (3, ["in.txt"])
    script = f"{SCRIPT} mechanisms --json > /dev/full"
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True)
    assert done.returncode == 3
    assert b"No space left" in done.stderr


@posix
@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("to_group", [True, False], ids=["group", "process"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.slow("interrupts processes, and waits for them")
def test_an_interrupt_leaves_no_output_no_file_and_no_worker(
    space_file, folder, start_process, name, to_group, jobs
):
    path = folder / "in.fifo"
    os.mkfifo(path)
    (folder / "out.txt").write_text("old")
    arguments = [SCRIPT, "privatize", "in.fifo", "--format", "txt", "-o", "out.txt"]
    arguments += [
        "--force",
        "-e",
        "2",
        "--policy",
        "all",
        "--space",
        space_file,
        "-q",
        "-j",
        jobs,
    ]
    process = start_process(
        arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # A job in the background of a shell ignores it, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    with path.open("wb", buffering=0) as pipe:
        # many reads, so that workers are busy and waited for
        for text in sentences(200):
            pipe.write((text + "\n").encode() * 20)
        wait_until(lambda: any(n.startswith(".mondegreen") for n in names(folder)))
        if jobs == "2":
            wait_until(lambda: len(children(process.pid)) >= 2)
        workers = children(process.pid)
        send = os.killpg if to_group else os.kill
        send(process.pid, getattr(signal, name))
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, b"")
    assert err.decode().strip() == INTERRUPTED
    assert names(folder) == ["in.fifo", "out.txt"]
    assert (folder / "out.txt").read_text() == "old"
    wait_until(lambda: not any(is_running(worker) for worker in workers))


@pytest.mark.slow("whole processes")
@posix
def test_workers_end_when_their_parent_is_killed(space_file, folder, start_process):
    Path("in.txt").write_text("\n".join(sentences(20_000)) + "\n")
    arguments = [SCRIPT, "privatize", "in.txt", "-o", "out.txt", "-e", "2", "-q"]
    arguments += ["--policy", "all", "--space", space_file, "--jobs", "2"]
    process = start_process(arguments)
    wait_until(lambda: len(children(process.pid)) >= 2)
    workers = children(process.pid)
    process.kill()
    process.wait()
    wait_until(lambda: not any(is_running(worker) for worker in workers))
    assert not Path("out.txt").exists()


@pytest.mark.slow("worker processes")
@posix
def test_a_killed_worker_ends_the_run_without_output(space_file, folder, start_process):
    os.mkfifo("in.fifo")
    arguments = [SCRIPT, "privatize", "in.fifo", "--format", "txt", "-o", "out.txt"]
    arguments += [
        "-e",
        "2",
        "-q",
        "--policy",
        "all",
        "--space",
        space_file,
        "--jobs",
        "2",
    ]
    process = start_process(arguments, stderr=subprocess.PIPE)
    with Path("in.fifo").open("wb", buffering=0) as pipe:
        wait_until(lambda: len(children(process.pid)) >= 2)
        for worker in children(process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
        with contextlib.suppress(BrokenPipeError):
            for text in sentences(2000):
                pipe.write((text + "\n").encode())
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert err == b"Error: a worker process died; its batch was not released\n"
    assert names(folder) == ["in.fifo"]


def children(pid):
    """Workers of a process: the forks of the server that it has started."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            if b"multiprocessing.forkserver" in (path.parent / "cmdline").read_bytes():
                parents[int(path.parent.name)] = parent
    servers = {server for server, parent in parents.items() if parent == pid}
    return [worker for worker, parent in parents.items() if parent in servers]


def is_running(pid):
    try:
        status = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return status != "Z"


@posix
@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.slow("pipes between processes")
def test_a_reader_that_leaves_is_told_by_the_exit_code_alone(space_file, folder, jobs):
    Path("in.txt").write_text("\n".join(sentences(40_000)) + "\n")
    command = f"{SCRIPT} privatize in.txt -e 2 -q --policy all --space {space_file}"
    command += f" -j {jobs}"
    script = f"{{ {command}; echo $? >&2; }} | head -1"
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, timeout=60)
    assert done.stderr == b"141\n"
    assert shape(done.stdout.decode()) == " ".join("W" * 8) + "\n"


@posix
@pytest.mark.slow("a process for every set of closed streams")
def test_closed_standard_streams_harm_nothing(space_file, folder):
    Path("in.txt").write_text("bad\n")
    base = f"{SCRIPT} privatize in.txt -e 2 --policy all --space {space_file}"

    def sh(script):
        return subprocess.run(["/bin/sh", "-c", script], capture_output=True)

    assert sh(f"{base} -o a.txt <&- >&- 2>&-").returncode == 0
    assert sh(f"{base} -o b.txt -j 2 2>&-").returncode == 0
    for name in ("a.txt", "b.txt"):
        assert shape(Path(name).read_text()) == "W\n"
    done = sh(f"{base} -q >&-")
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"Bad file descriptor" in done.stderr
    assert sh(f"{base.replace('in.txt', '-')} <&-").returncode == 3


# --- jobs, keys and seeds -------------------------------------------------------------


@pytest.mark.slow("worker processes")
def test_two_jobs_start_where_no_socket_can_be_made(shell, folder):
    Path("in.txt").write_text("bad\n")
    long = folder / ("x" * 120)
    long.mkdir()
    environment = {**os.environ, "TMPDIR": str(long)}
    done = shell("in.txt", "-o", "out.txt", "-q", "-j", "2", env=environment)
    assert (done.returncode, done.stderr) == (0, b"")
    assert shape(Path("out.txt").read_text()) == "W\n"


@pytest.mark.parametrize("noise", ["seed", "key", "fresh"])
@pytest.mark.slow("starts workers for every format")
def test_two_jobs_write_what_one_job_writes(run, noise):
    rows = "".join(f"{i},{text}\n" for i, text in enumerate(sentences(10_000)))
    Path("in.csv").write_text("id,text\n" + rows)
    options = {
        "seed": ["--seed", "7"],
        "key": ["--key-file", write_key(), "--id", "id"],
        # No word ever moves, and three of these letters may be a listed word.
        "fresh": ["--epsilon", "1e6", "-m", "laplace", "--print-all"],
    }[noise]
    for jobs in ("1", "2"):
        epsilon = None if noise == "fresh" else "1"
        out = f"out{jobs}.csv"
        run("in.csv", "-o", out, "-j", jobs, *options, epsilon=epsilon)
    one, two = Path("out1.csv").read_text(), Path("out2.csv").read_text()
    assert one == two
    assert (one == Path("in.csv").read_text()) == (noise == "fresh")


def test_a_key_repeats_a_record_wherever_it_stands(run):
    rows = [f"{i},{text}\n" for i, text in enumerate(sentences(300))]
    options = ["--key-file", write_key(), "--id", "id", "--format", "csv"]
    one, two = (
        run("-", *options, stdin=("id,text\n" + "".join(part)).encode()).stdout
        for part in (rows, rows[::-1][:50])
    )
    assert set(two.splitlines()) < set(one.splitlines())


def test_fresh_noise_differs_from_run_to_run(run):
    # 800 words at epsilon 1e-3 are nearly uniform over 450: equal with chance 1e-2000.
    given = "\n".join(sentences(100)).encode()
    assert len({run("-", stdin=given, epsilon="1e-3").stdout for _ in range(3)}) == 3


def test_a_seed_is_stamped_everywhere(run):
    pq.write_table(pa.table({"text": ["bad"]}), "in.parquet")
    done = run("in.parquet", "-o", "o.parquet", "--seed", "3", "--report", "r.json")
    assert done.stderr.startswith("NOT PRIVATE")
    assert "seed 3" in done.stderr
    report = json.loads(Path("r.json").read_bytes())
    metadata = json.loads(pq.read_schema("o.parquet").metadata[b"mondegreen"])
    for stated in (report, metadata[0], report["guarantee"], metadata[0]["guarantee"]):
        assert stated["noise_is_secret"] is False
        assert stated["protection"] == "none"
    for guarantee in (report["guarantee"], metadata[0]["guarantee"]):
        assert "seed 3" in guarantee["noise"]
    done = run("in.parquet", "-o", "p.parquet")
    assert "NOT PRIVATE" not in done.stderr


def test_a_seed_is_stamped_on_stderr_even_where_it_is_quiet(run):
    done = run("-", "--seed", "3", "--quiet", stdin=b"bad\n")
    assert "NOT PRIVATE" in done.stderr


# --- what is said ---------------------------------------------------------------------


def test_the_report_holds_the_guarantee_and_no_function_of_private_words(run):
    given = f"bad dag.\n{CANARY} {CANARY} fad\n\n"
    other = "bad dag.\nfad fad fad\n\n"
    reports = []
    for text in (given, other):
        Path("in.txt").write_text(text)
        options = ["--report", "r.json", "--force", "--unknown", "word"]
        run("in.txt", "-o", "out.txt", *options)
        reports.append(json.loads(Path("r.json").read_bytes()))
        released = hashlib.sha256(Path("out.txt").read_bytes()).hexdigest()
        # Both are of the release, and not of the texts.
        made, outputs = reports[-1].pop("made"), reports[-1].pop("outputs")
        assert datetime.fromisoformat(made)
        assert outputs == [{"name": "out.txt", "sha256": released}]
    assert reports[0] == reports[1]
    report = reports[0]
    assert report["counts"] == {"rows": 3, "words": 5}
    head = {"format", "mondegreen", "noise_is_secret", "protection", "guarantee"}
    run_of = {"passes", "preview", "loss", "input", "counts"}
    assert set(report) == head | run_of
    lists = {"columns": ["text"], "unchanged": [], "dropped": []}
    assert report["input"] == {"format": "txt", **lists}
    guarantee = mg.Guarantee.from_dict(report["guarantee"])
    assert not guarantee.is_void
    assert guarantee.epsilon == 2


def test_the_report_says_what_a_text_loses(run):
    one, two = ["bad", "", "bad", ""], ["bad dag", "fad", None, ""]
    table = pa.table({"id": ["a", "b", "a", "c"], "one": one, "two": two})
    pq.write_table(table, "i.parquet")
    Path("k").touch(mode=0o600)
    Path("k").write_bytes(bytes(range(32)))
    options = ["i.parquet", "-o", "o.parquet", "-c", "one", "-c", "two"]
    options += ["--report", "-"]
    for more, by_id in (([], None), (["--key-file", "k", "--id", "id"], (4, 2.5))):
        done = run(*options, *more, "--force")
        report = json.loads(done.stdout)
        loss, word = report["loss"], report["guarantee"]["certified"]
        word *= report["guarantee"]["scale"]["diameter"]
        assert word <= loss["per_word"] <= word + 1e-6  # rounded up
        word = loss["per_word"]
        assert loss["per_row"] == {"largest": 3 * word, "median": word}
        if by_id is None:
            assert loss["per_id"] is None
        else:
            largest, median = (n * word for n in by_id)
            assert loss["per_id"] == {"largest": largest, "median": median}


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["-m", "urr"], "Texts with different ordinary words have no bound"),
        (["-m", "krr"], "differ in all their words, ordinary ones included."),
        (["--policy", "all"], "differ in all their words."),
    ],
)
def test_the_report_says_between_which_texts_the_loss_holds(folder, flags, says):
    Path("in.txt").write_text("Ann met him.\n")
    given = ["privatize", "in.txt", "-o", "o.txt", "-e", "12", "--report", "-", *flags]
    loss = json.loads(run_command(*given).stdout)["loss"]
    assert says in loss["note"]
    assert loss["per_row"]["largest"] == 3 * loss["per_word"]


def test_a_run_without_words_loses_nothing(run):
    Path("in.txt").write_text("\n\n")
    run("in.txt", "-o", "o.txt", "--report", "r.json")
    loss = json.loads(Path("r.json").read_bytes())["loss"]
    assert (loss["per_row"], loss["per_id"]) == (None, None)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_lists_of_texts_are_counted_by_row(run, jobs):
    texts = pa.array([["bad", "bad dag"], None, [], ["fad", None]])
    pq.write_table(pa.table({"text": texts}).slice(0), "i.parquet")
    run("i.parquet", "-o", "o.parquet", "--report", "r.json", "-j", jobs)
    report = json.loads(Path("r.json").read_bytes())
    word = report["loss"]["per_word"]
    assert report["loss"]["per_row"] == {"largest": 3 * word, "median": 2 * word}
    assert report["counts"]["words"] == 4


def test_a_report_is_never_private_and_says_what_it_protects(run):
    Path("in.txt").write_text("bad\n")
    run("in.txt", "-o", "o.txt", "--report", "r.json", epsilon="1e6")
    text = Path("r.json").read_text()
    report = json.loads(text)
    assert "is_private" not in text
    assert report["protection"] == "vacuous"
    assert report["preview"]["unchanged"] > 0.5


def test_a_column_that_is_named_twice_is_one_pass(run):
    Path("in.csv").write_text("text\nbad\n")
    run("in.csv", "-c", "text", "-c", "text", "--report", "r.json")
    report = json.loads(Path("r.json").read_bytes())
    assert [each["column"] for each in report["passes"]] == ["text"]
    assert report["input"]["columns"] == ["text"]


def test_the_report_can_go_to_standard_output(run):
    Path("in.txt").write_text("bad\n")
    done = run("in.txt", "-o", "out.txt", "--report", "-")
    assert json.loads(done.stdout)["counts"] == {"rows": 1, "words": 1}


def test_the_guarantee_is_printed_before_work_starts(run, monkeypatch):
    def stop(*args, **options):
        raise mg.errors.DataError("stopped")

    monkeypatch.setattr(Privatizer, "arrow_with_count", stop)
    done = run("-", stdin=b"bad\n", expect=3)
    assert done.stderr.startswith("Privacy guarantee")
    assert done.stderr.endswith("Error: stopped\n")
    assert "Disclosed: " in done.stderr


def test_the_guarantee_is_three_lines_and_the_preview_one(run):
    lines = run("-", "--read", "none", stdin=b"bad\n").stderr.splitlines()
    assert len(lines) == 5  # and the summary of the run
    starts = ("Privacy guarantee", "A word hides among", "Disclosed: ", "Preview (")
    assert all(map(str.startswith, lines, starts))
    assert lines[3].endswith(" Protection: moderate.")
    shown = run("-", "--verbose", stdin=b"bad\n").stderr
    assert "P(out | w)" in shown
    assert "assumes" in shown


def test_a_setting_that_leaves_most_words_warns_even_where_it_is_quiet(run):
    done = run("-", "-m", "tem", "-q", stdin=b"bad\n", epsilon="60")
    assert done.stderr.startswith("WARNING: 100 of 100 words")
    assert "WARNING" not in run("-", "-m", "tem", stdin=b"bad\n", epsilon="0.1").stderr


def test_a_second_pass_extends_what_the_first_one_stated(run):
    pq.write_table(pa.table({"a": ["bad"], "b": ["fad"]}), "in.parquet")
    run("in.parquet", "-o", "a.parquet", "-c", "a", epsilon="50")
    done = run("a.parquet", "-o", "ab.parquet", "-c", "b", epsilon="1")
    assert "Privatized before: column a: tree (epsilon 50)" in done.stderr
    passes = json.loads(pq.read_schema("ab.parquet").metadata[b"mondegreen"])
    found = [(each["column"], each["guarantee"]["epsilon"]) for each in passes]
    assert found == [("a", 50.0), ("b", 1.0)]


def test_a_fresh_pass_does_not_take_the_stamp_off_a_seeded_one(run):
    pq.write_table(pa.table({"text": ["bad"]}), "in.parquet")
    run("in.parquet", "-o", "seeded.parquet", "--seed", "3")
    options = ["-o", "again.parquet", "--report", "r.json", "-q"]
    done = run("seeded.parquet", *options)
    assert "NOT PRIVATE: seed 3" in done.stderr
    assert json.loads(Path("r.json").read_bytes())["protection"] == "none"
    passes = json.loads(pq.read_schema("again.parquet").metadata[b"mondegreen"])
    assert [each["protection"] == "none" for each in passes] == [True, False]


def test_a_damaged_statement_of_an_earlier_pass_counts_as_not_private(run):
    table = pa.table({"text": ["bad"]})
    for stated in ("damaged", "[]", '{"epsilon": 1}', f'[{{"column": "{CANARY}"}}]'):
        given = table.replace_schema_metadata({"mondegreen": stated})
        pq.write_table(given, "in.parquet")
        run("in.parquet", "-o", "o.parquet", "--report", "r.json", "--force", "-q")
        assert json.loads(Path("r.json").read_bytes())["protection"] == "none"


def test_a_report_brings_earlier_passes_to_formats_that_cannot_carry_them(run):
    Path("in.csv").write_text("a,b\nbad,fad\n")
    run("in.csv", "-o", "a.csv", "-c", "a", "--report", "a.json", "--seed", "1")
    options = ["--report", "ab.json", "--earlier", "a.json"]
    run("a.csv", "-o", "ab.csv", "-c", "b", *options)
    report = json.loads(Path("ab.json").read_bytes())
    assert [each["column"] for each in report["passes"]] == ["a", "b"]
    assert report["protection"] == "none"
    Path("no.json").write_text("{}")
    damaged = None, 5, [5], ["a"], [None], [{}], [{"sha256": []}], [{"sha256": "x"}]
    for i, outputs in enumerate(damaged):
        changed = json.dumps({**report, "outputs": outputs})
        Path(f"damaged{i}.json").write_text(changed)
    names = [f"damaged{i}.json" for i in range(len(damaged))]
    for path in ("no.json", "absent.json", "a.csv", *names):
        told = ["--earlier", path, "--report", "x.json"]
        done = run("a.csv", "-o", "x.csv", "-c", "b", *told, expect=3)
        assert path in done.stderr


def _forget_outputs(report):
    """As in the report of a release that went to a pipe."""
    found = json.loads(Path(report).read_bytes())
    Path(report).write_text(json.dumps({**found, "outputs": []}))


def test_an_earlier_report_of_a_file_with_other_rows_is_warned_of(run):
    Path("in.csv").write_text("a,b\nbad,fad\n")
    Path("other.csv").write_text("a,b\nbad,fad\nbad,fad\n")
    run("in.csv", "-o", "a.csv", "-c", "a", "--report", "a.json")
    run("other.csv", "-o", "c.csv", "-c", "a", "--report", "c.json")
    for name in ("a.json", "c.json"):
        _forget_outputs(name)
    told = ["--report", "x.json", "--force", "--earlier"]
    warning = "the report of --earlier is about 2 rows, and INPUT has 1."
    assert warning in run("a.csv", "-o", "x.csv", "-c", "b", *told, "c.json").stderr
    done = run("a.csv", "-o", "x.csv", "-c", "b", *told, "a.json")
    assert "the report of --earlier is about" not in done.stderr
    # A report of several files counts the rows of all of them.
    run("a.csv", "c.csv", "-o", "safe", "-c", "b", "--report", "many.json")
    done = run("safe/a.csv", "-o", "x.csv", "-c", "a", *told, "many.json")
    assert "the report of --earlier is about" not in done.stderr


def test_an_earlier_report_of_another_file_is_refused(run):
    Path("in.csv").write_text("a,b\nbad,fad\n")
    run("in.csv", "-o", "a.csv", "-c", "a", "--report", "a.json")
    told = ["-c", "b", "--report", "x.json", "--earlier", "a.json"]
    done = run("in.csv", "-o", "x.csv", *told, expect=3)  # the original, by mistake
    assert "in.csv" in done.stderr
    assert "its SHA-256 differs" in done.stderr
    assert not Path("x.csv").exists()
    assert not Path("x.json").exists()
    done = run("-", "-o", "x.csv", "--format", "csv", *told, expect=2)
    assert "give INPUT as a file" in done.stderr
    run("a.csv", "-o", "x.csv", *told)


def test_earlier_passes_need_a_report_where_the_format_cannot_carry_them(run):
    Path("in.csv").write_text("text\nbad\n")
    run("in.csv", "-o", "a.csv", "--report", "a.json")
    done = run("a.csv", "-o", "b.csv", "--earlier", "a.json", expect=2)
    assert "--earlier needs --report" in done.stderr
    assert not Path("b.csv").exists()
    pq.write_table(pa.table({"text": ["bad"]}), "in.parquet")
    _forget_outputs("a.json")
    run("in.parquet", "-o", "b.parquet", "--earlier", "a.json")
    passes = json.loads(pq.read_schema("b.parquet").metadata[b"mondegreen"])
    assert [each["column"] for each in passes] == ["text", "text"]


def test_quiet_says_nothing_but_errors(run):
    assert run("-", "-q", stdin=b"bad\n").stderr == ""
    assert run("-", "-q", stdin=b"\xff", expect=3).stderr.startswith("Error:")


def test_policies_keep_lists_and_case_do_what_they_say(run):
    Path("keep.txt").write_text("# public\nOslo\n")
    given = f"Bad {CANARY} OSLO dag.\n".encode()
    for unknown, expected in (
        ("word", "W W Oslo W.\n"),
        ("mask", "W [unk] Oslo W.\n"),
        ("drop", "W Oslo W.\n"),
    ):
        done = run("-", "--unknown", unknown, "--keep", "keep.txt", stdin=given)
        assert shape(done.stdout) == expected
    done = run("-", "--case", "restore", "--keep", "keep.txt", stdin=given)
    words = done.stdout.split()
    assert words[0].istitle()
    assert words[2] == "OSLO"
    assert "kept words, case" in done.stderr


# --- help, bugs, start ---------------------------------------------------------------


def verbs():
    return cli.list_commands(None)


def subcommands():
    for name in verbs():
        command = cli.get_command(None, name)
        if hasattr(command, "commands"):
            yield from ([name, sub] for sub in sorted(command.commands))
        else:
            yield [name]


@pytest.mark.parametrize("path", list(subcommands()), ids=" ".join)
def test_the_help_of_each_verb_has_an_example(path):
    done = CliRunner().invoke(cli, [*path, "--help"])
    assert done.exit_code == 0
    example = "mondegreen " + " ".join(path)
    assert example in done.stdout


@pytest.mark.parametrize("args", [["--help"], ["privatize", "--help"], ["--version"]])
def test_help_starts_without_numpy(args):
    code = (
        "import sys; from mondegreen.cli.main import cli;"
        f"sys.argv = ['mondegreen', *{args!r}]; cli(standalone_mode=False);"
        "print([m for m in ('numpy', 'pyarrow', 'faiss', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.endswith("[]\n"), done.stderr


class PrivateTextError(Exception):
    pass


def explode(*args, **options):
    raise PrivateTextError(f"cannot handle {CANARY}")


def test_a_bug_is_located_without_its_message(verb, monkeypatch, capsys):
    monkeypatch.delenv("MONDEGREEN_DEBUG", raising=False)
    monkeypatch.setattr(Privatizer, "arrow_with_count", explode)
    Path("in.txt").write_text(f"{CANARY}\n")
    assert verb("in.txt", "-o", "out.txt") == 1
    captured = capsys.readouterr()
    assert CANARY not in captured.out + captured.err
    assert "this is a bug: PrivateTextError in explode" in captured.err
    assert not Path("out.txt").exists()


def test_a_bug_is_shown_whole_only_where_debug_is_set(verb, monkeypatch, capsys):
    monkeypatch.setenv("MONDEGREEN_DEBUG", "1")
    monkeypatch.setattr(Privatizer, "arrow_with_count", explode)
    Path("in.txt").write_text("bad\n")
    assert verb("in.txt", "-o", "out.txt") == 1
    assert f"PrivateTextError: cannot handle {CANARY}" in capsys.readouterr().err


def test_main_gives_the_exit_codes(verb, capsys, monkeypatch):
    Path("in.txt").write_text(f"{CANARY}\n")
    assert verb("in.txt") == 0
    assert verb("in.txt", "--nope") == 2
    assert verb("absent.txt") == 3
    assert verb("in.txt", "--unknown", "fail") == 4

    def interrupt(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(Privatizer, "arrow_with_count", interrupt)
    assert verb("in.txt", "-o", "out.txt") == 130
    assert not Path("out.txt").exists()
    assert CANARY not in "".join(capsys.readouterr()).lower()


@pytest.mark.slow("worker processes")
def test_an_error_in_a_worker_shows_no_message(shell, folder):
    # The worker imports this module by name and unpickles what explodes in it.
    Path("sitecustomize.py").write_text(
        "import sys\n"
        "if any('forkserver' in each for each in sys.orig_argv):\n"
        "    from mondegreen.privatizer.privatizer import Privatizer\n"
        "    def explode(*a, **k):\n"
        f"        raise ValueError('{CANARY}')\n"
        "    Privatizer.arrow_with_count = explode\n"
    )
    Path("in.txt").write_text("bad\n")
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "MONDEGREEN_DEBUG": "1"}
    done = shell("in.txt", "-o", "out.txt", "-q", "-j", "2", env=environment)
    assert done.returncode == 1
    assert b"ValueError in explode" in done.stderr
    assert CANARY.encode() not in done.stderr
    assert not Path("out.txt").exists()


def test_a_certificate_is_said_to_be_kept_only_where_it_is(run, monkeypatch, tmp_path):
    monkeypatch.setenv("MONDEGREEN_HOME", str(tmp_path / "home"))
    arguments = ("-", "-m", "exponential")
    done = run(*arguments, stdin=b"bad dog\n", epsilon="1.71875")
    assert "The result is stored" not in done.stderr
    monkeypatch.setattr(certified, "_SMALL", 0)
    done = run(*arguments, stdin=b"bad dog\n", epsilon="1.765625")
    assert "The result is stored" in done.stderr
    assert list((tmp_path / "home" / "certificates").iterdir())


@pytest.mark.parametrize("name", ["o.txt", "o.csv.gz", "o.parquet", "o.xlsx", "-"])
def test_a_report_has_its_time_and_the_hash_of_the_release(run, name):
    given = "in" + (Path(name).suffix if name.endswith(("t", "x")) else ".csv")
    if name.endswith(".parquet"):
        pq.write_table(pa.table({"text": ["I met Ann."]}), given)
    elif name.endswith(".xlsx"):
        book = openpyxl.Workbook()
        book.active.append(["text"])
        book.active.append(["I met Ann."])
        book.save(given)
    else:
        Path(given).write_text("text\nI met Ann.\n")
    before = datetime.now(UTC).replace(microsecond=0)
    options = () if given.endswith(".txt") else ("-c", "text")
    run(given, "-o", name, *options, "--report", "r")
    report = json.loads(Path("r").read_bytes())
    made = datetime.fromisoformat(report["made"])
    assert made.utcoffset() == timedelta(0)
    assert before <= made <= datetime.now(UTC)
    if name == "-":
        assert report["outputs"] == []
        return
    digest = hashlib.sha256(Path(name).read_bytes()).hexdigest()
    assert report["outputs"] == [{"name": name, "sha256": digest}]
