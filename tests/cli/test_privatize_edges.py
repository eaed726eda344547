"""The edges of privatize: records of another shape, files that are not what they seem,
outputs that are the input, and what a killed run leaves behind."""

import fcntl
import gzip
import json
import os
import pty
import signal
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from commands import run_command
from mondegreen.cli.main import cli
from strategies import WORDS
from waiting import wait_until

CANARY = "zorblatt"
SCRIPT = str(Path(sysconfig.get_path("scripts"), "mondegreen"))
pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes and locks of POSIX")


@pytest.fixture
def run(space_file, folder):
    """Return a function that runs privatize in this process."""

    def invoke(*args, expect=0, stdin=b""):
        given = [
            "privatize",
            *args,
            "-e",
            "2",
            "--policy",
            "all",
            "--space",
            space_file,
        ]
        return run_command(*given, expect=expect, stdin=stdin, secret=CANARY)

    return invoke


@pytest.fixture
def command(space_file, folder):
    """Return a function that gives the command line of the installed script."""

    def build(*args):
        return [
            SCRIPT,
            "privatize",
            *args,
            "-e",
            "2",
            "-q",
            "--policy",
            "all",
            "--space",
            space_file,
        ]

    return build


def names(folder):
    return sorted(path.name for path in Path(folder).iterdir())


# --- records that lack a column -------------------------------------------------------


@pytest.mark.parametrize("args", [[], ["-c", "bdoy"], ["-c", "body", "-c", "text"]])
@pytest.mark.parametrize("missing", ["stop", "pass"])
def test_a_column_that_no_record_has_leaves_standard_output_empty(run, args, missing):
    given = f'{{"body":"{CANARY} 555"}}\n'.encode() * 20_000
    options = ["--format", "jsonl", "-q", "--missing", missing, *args]
    done = run("-", *options, stdin=given, expect=3)
    assert done.stdout_bytes == b""
    assert "There is 1 column" in done.stderr


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.slow("200,000 records by every way out", seconds=8)
def test_200_000_records_without_the_column_leave_no_way_out_in_clear(command, jobs):
    Path("in.jsonl").write_text(f'{{"body":"{CANARY} 555"}}\n' * 200_000)
    os.mkfifo("out.fifo")
    arrived = []
    reader = threading.Thread(
        target=lambda: arrived.append(Path("out.fifo").read_bytes())
    )
    reader.start()
    done = subprocess.run(
        command("in.jsonl", "-o", "out.fifo", "-j", jobs), capture_output=True
    )
    reader.join(30)
    assert (done.returncode, arrived, done.stdout) == (3, [b""], b"")
    for out in ("/dev/stdout", "-"):
        done = subprocess.run(
            command("in.jsonl", "-o", out, "-j", jobs), capture_output=True
        )
        assert (done.returncode, done.stdout) == (3, b"")
        assert CANARY.encode() not in done.stderr
    done = subprocess.run(command("in.jsonl", "-o", "out.jsonl.gz"))
    assert done.returncode == 3
    assert not Path("out.jsonl.gz").exists()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_record_without_the_column_stops_with_its_number(run, jobs):
    rows = [f'{{"text": "{CANARY}"}}\n'] * 5000
    rows[4321] = f'{{"txet": "{CANARY}"}}\n'
    given = "".join(rows).encode()
    done = run("-", "--format", "jsonl", "-j", jobs, stdin=given, expect=3)
    assert "row 4322: column 'text' not found" in done.stderr
    assert "did you mean" in done.stderr
    assert "--missing pass" in done.stderr
    for line in done.stdout.splitlines():  # what was out by then is released
        assert json.loads(line)["text"] in WORDS


def test_records_without_the_column_pass_where_that_is_said_and_are_counted(run):
    rows = ['{"text": "bad"}\n', '{"body": "bad"}\n', '{"text": null}\n'] * 4
    Path("in.jsonl").write_text("".join(rows))
    options = ["--missing", "pass", "--report", "r.json", "-o", "out.jsonl"]
    done = run("in.jsonl", *options)
    said = "records that lack a column: they pass as they are, 4 of 12"
    assert "records that lack a column" in done.stderr.split("Warning")[0]
    assert f"Warning: {said}" in done.stderr
    report = json.loads(Path("r.json").read_bytes())
    assert report["counts"]["rows"] == 12
    assert report["counts"]["records_without_a_column"] == 4
    assert said in report["guarantee"]["disclosed"]
    made = Path("out.jsonl").read_text().splitlines(keepends=True)
    assert made[1::3] == rows[1::3]
    assert "Warning" in run("in.jsonl", *options, "--force", "-q").stderr


def test_two_columns_of_json_lines_draw_noise_of_their_own(run):
    text = " ".join(WORDS[:200])
    Path("key").write_bytes(bytes(range(64)))
    Path("key").chmod(0o600)
    Path("in.jsonl").write_text(json.dumps({"id": 1, "a": text, "b": text}) + "\n")
    options = ["-c", "a", "-c", "b", "--key-file", "key", "--id", "id"]
    one = json.loads(run("in.jsonl", *options).stdout)
    two = json.loads(run("in.jsonl", *options[2:]).stdout)
    assert one["a"] != one["b"]
    assert (two["a"], two["b"]) == (text, one["b"])  # whatever else is selected


# --- what was not said to be text -----------------------------------------------------

TABLE = f"id,text\n1,{CANARY}\n2,bad dag\n"
UNLIKE_TEXT = {
    "jsonl": (f'{{"text": "{CANARY}"}}\n'.encode(), "--format jsonl"),
    "one.jsonl": (b'\xef\xbb\xbf  {"text": "bad"}', "--format jsonl"),
    "json": (f'[{{"text": "{CANARY}"}}, {{"text": "b"}}]\n'.encode(), "--format json"),
    "csv": (TABLE.encode(), "--format csv"),
    "crlf.csv": (TABLE.replace("\n", "\r\n").encode(), "--format csv"),
    "pandas.csv": (b",text,n\n0,\"bad, dag\",1\n1,bad,2\n", "--format csv"),
    "semicolon.csv": (b"id;text\n1;bad, dag\n", "--delimiter ';'"),
    "tsv": (b"id\ttext\n1\tbad\n", "--format tsv"),
    "parquet": (b"PAR1\x15\x04 zorblatt", "named .parquet"),
    "gzip": (gzip.compress(b"zorblatt\n"), "gunzip"),
    "xlsx": (b"PK\x03\x04\x14 zorblatt", "export"),
    "nul": (b"zorblatt\0\n", "--encoding"),
    "utf-16": ("zorblatt\n".encode("utf-16"), "--encoding utf-16"),
}  # fmt: skip


@pytest.mark.parametrize("kind", UNLIKE_TEXT)
def test_what_is_plainly_no_text_is_refused_with_the_flag_to_give(run, kind):
    given, flag = UNLIKE_TEXT[kind]
    done = run("-", stdin=given, expect=3)
    assert (done.stdout_bytes, flag in done.stderr) == (b"", True), done.stderr
    Path("in.txt").write_bytes(given)
    assert flag in run("in.txt", "-o", "out.txt", expect=3).stderr
    assert not Path("out.txt").exists()


def test_what_is_missing_is_named_with_what_to_write(run):
    Path("in.csv").write_text("id,review\n1,bad\n")
    given = ["privatize", "in.csv", "-o", "out.csv"]
    said = CliRunner().invoke(cli, given).stderr
    assert "Use --epsilon 12, or 10 with --policy all." in " ".join(said.split())
    said = CliRunner().invoke(cli, [*given, "-e", "12"]).stderr
    assert "(its first line names them: head -1 in.csv; use --column NAME)" in said
    said = CliRunner().invoke(cli, [*given, "-e", "12", "--drop", "x"]).stderr
    assert "use --column NAME" in said
    given = [*given, "-e", "12", "-c", "review"]
    said = CliRunner().invoke(cli, [*given, "--id", "x"]).stderr
    assert "Add --key-file" in said


def test_a_release_that_is_no_utf8_says_how_to_convert(run):
    Path("out.txt").write_bytes(UNLIKE_TEXT["utf-16"][0])
    Path("in.txt").write_bytes(b"bad\n")
    done = CliRunner().invoke(cli, ["score", "in.txt", "out.txt"])
    assert done.exit_code == 3
    assert "iconv -f utf-16 -t utf-8" in done.stderr


@pytest.mark.parametrize("kind", sorted({*UNLIKE_TEXT} - {"gzip", "utf-16"}))
def test_whoever_insists_on_text_gets_text(run, kind):
    given = UNLIKE_TEXT[kind][0].replace(CANARY.encode(), b"bad")
    done = run("-", "--format", "txt", stdin=given)
    assert done.stdout_bytes.count(b"\n") == given.count(b"\n")


@pytest.mark.parametrize(
    "text",
    [
        "bad\n",
        "bad, dag\nfad, gag\n",
        "Dear Sir,\nthank you,\n",
        "Bad, dag, and fad\nBad, dag, and gag\n",
        "id,text\n",
        "bad,dag,bad\nfad,gag,fad\n",
        "bad,dag\nfad,gag,dag\n",
        "1,bad\n2,dag\n",
        "{bad}\n",
        "{ bad\n",
        "[bad]\n",
        '"bad","dag\n',
        "",
        "\n\nbad\n",
        "a; b\nc; d\n",
        "Bad;\nbad;\n",
    ],
)
def test_prose_is_text_whatever_its_commas(run, text):
    done = run("-", stdin=text.encode())
    assert done.stdout_bytes.count(b"\n") == text.count("\n")


@pytest.mark.slow("a process")
def test_json_that_comes_through_a_slow_pipe_is_refused_at_its_first_line(
    command, start_process
):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = start_process(command("-"), **pipes)
    process.stdin.write(b'{"text": "bad"}\n')
    process.stdin.flush()  # and stays open
    assert process.wait(120) == 3
    assert b"--format jsonl" in process.stderr.read()
    assert process.stdout.read() == b""


@pytest.mark.slow("whole processes")
def test_text_that_is_followed_line_by_line_loses_nothing(command, start_process):
    process = start_process(command("-"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for line in (b"bad,dag\n", b"fad,gag\n", b'{"bad": 1}\n'):
        process.stdin.write(line)
        process.stdin.flush()
        assert process.stdout.readline().count(b",") == line.count(b",")
    process.stdin.close()
    assert process.wait(120) == 0


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("in.xls", "it is the old Excel format. Save it as .xlsx, or as CSV UTF-8"),
        ("in.ods", "save it as .xlsx, or as CSV UTF-8"),
        ("in.geojson", "jq -c '.features[]' x.geojson > x.jsonl"),
        ("in.docx", "save it as plain text"),
        ("in.zip", "unpack it"),
        ("in.feather", "Parquet"),
        ("in.log", "--format txt"),
        ("in", "give the format. Formats: csv, json, jsonl, parquet, tsv, txt"),
    ],
)
def test_a_name_that_tells_no_format_tells_the_next_step(run, name, advice):
    Path(name).write_bytes(b"zorblatt")
    said = run(name, expect=2).stderr
    assert advice in said
    assert "None" not in said
    assert "No such file" in run(f"no-{name}", expect=3).stderr


@pytest.mark.slow("two processes")
def test_parquet_does_not_go_to_a_terminal(command):
    pq.write_table(pa.table({"text": ["bad"]}), "in.parquet")
    master, terminal = pty.openpty()
    try:
        for args in (["in.parquet"], ["in.parquet", "-o", os.ttyname(terminal)]):
            done = subprocess.run(
                command(*args), stdout=terminal, stderr=subprocess.PIPE
            )
            assert done.returncode == 3
            assert b"is a terminal" in done.stderr
        os.set_blocking(master, False)
        with pytest.raises(BlockingIOError):
            os.read(master, 1)
    finally:
        os.close(master)
        os.close(terminal)


# --- delimiters and encodings ---------------------------------------------------------


@pytest.mark.parametrize("mark", [";", "\t"])
def test_another_delimiter_is_found_by_the_header_and_said(run, mark):
    given = f'id{mark}text{mark}n\r\n1{mark}"bad{mark} ""dag"""{mark}x,y\r\n'
    Path("in.csv").write_bytes(given.encode())
    done = run("in.csv", "-q")
    assert "using the delimiter" in done.stderr
    head, row, end = done.stdout_bytes.decode().split("\r\n")
    assert (head, end) == (f"id{mark}text{mark}n", "")
    assert row.startswith(f'1{mark}"')
    assert row.endswith(f'""{mark}x,y'[-6:]) or row.endswith(f"{mark}x,y")
    named = "\\t" if mark == "\t" else mark
    done = run("in.csv", "-q", "--delimiter", named)
    assert "delimiter" not in done.stderr


@pytest.mark.parametrize("mark", ["|", ":", "^", "]", "\\", "-", "§", "z", " "])
def test_any_one_character_can_delimit(run, mark):
    given = f'1{mark}text\n7{mark}bad\n8{mark}"b{mark}"\n'
    Path("in.csv").write_text(given.replace("text", '"text"'))
    made = run("in.csv", "--delimiter", mark).stdout
    assert len(made.splitlines()) == 3
    assert made.splitlines()[1].startswith(f"7{mark}")


def test_a_comma_is_not_given_up_where_the_header_has_a_column_by_it(run):
    Path("in.csv").write_text("id,text;x\n1,bad\n")
    assert (
        "column 'text' not found"
        in run("in.csv", "-c", "id", "-c", "text", expect=3).stderr
    )
    Path("in.csv").write_text("id;body\n1;bad\n")
    run("in.csv", expect=3)


@pytest.mark.parametrize("given", ["ab", "", '"', "\n", "\\n"])
def test_what_cannot_delimit_is_refused(run, given):
    Path("in.csv").write_text("text\nbad\n")
    assert "delimiter" in run("in.csv", "--delimiter", given, expect=2).stderr


@pytest.mark.parametrize("name", ["in.txt", "in.jsonl"])
def test_options_that_a_format_has_not_are_refused(run, name):
    Path(name).write_text("bad\n")
    run(name, "--delimiter", ";", expect=2)
    pq.write_table(pa.table({"text": ["bad"]}), "in.parquet")
    run("in.parquet", "--encoding", "latin-1", expect=2)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("format", ["csv", "txt", "jsonl"])
def test_text_of_another_encoding_comes_out_as_utf8(run, encoding, format):
    rows = {
        "csv": "größe,text\nœuf,bad ñandú\n",
        "txt": "bad ñandú\n",
        "jsonl": '{"größe": "œuf", "text": "bad ñandú"}\n',
    }
    given = rows[format] if encoding != "latin-1" else rows[format].replace("œ", "é")
    Path(f"in.{format}").write_bytes(given.encode(encoding))
    done = run(f"in.{format}", "--encoding", encoding)
    assert "the output is UTF-8" in done.stderr
    made = done.stdout_bytes.decode()
    assert "ñandú" not in made
    if format != "txt":
        assert "größe" in made
        assert given[given.index("uf") - 1 :][:3] in made


def test_latin_1_is_read_as_browsers_read_it(run):
    Path("in.txt").write_bytes("The customer’s “kettle” – bad".encode("cp1252"))
    done = run("in.txt", "--encoding", "latin-1")
    assert "read as cp1252" in done.stderr
    assert "’s “" in done.stdout
    assert " – " in done.stdout


@pytest.mark.slow("processes")
def test_an_encoding_is_followed_through_a_pipe_and_packed_files(run):
    given = ("text\n" + "bad ß\n" * 100_000).encode("utf-16")
    Path("in.csv.gz").write_bytes(gzip.compress(given))
    made = run("in.csv.gz", "--encoding", "utf-16").stdout
    assert made.count("\n") == 100_001


@pytest.mark.parametrize("name", ["in.csv", "in.txt", "in.jsonl"])
def test_text_that_is_no_utf8_says_the_flag(run, name):
    text = '{"text": "zorblatt é"}\n' if "jsonl" in name else "text\nzorblatt é\n"
    Path(name).write_bytes(text.encode("latin-1"))
    assert "--encoding" in run(name, expect=3).stderr
    Path(name).write_bytes(text.encode("utf-16"))
    assert "--encoding utf-16" in run(name, expect=3).stderr
    assert "not valid ascii" in run(name, "--encoding", "ascii", expect=3).stderr


@pytest.mark.parametrize(
    "given", ["hex", "rot13", "latin-77", "idna", "unicode_escape", ""]
)
def test_what_is_no_encoding_of_files_is_refused(run, given):
    Path("in.txt").write_text("bad\n")
    run("in.txt", "--encoding", given, expect=2)


# --- outputs that are the input -------------------------------------------------------


@pytest.mark.slow("whole processes")
def test_the_input_is_never_an_output_by_another_name(run, command):
    Path("in.csv").write_text("text\nbad\n")
    os.link("in.csv", "hard.csv")
    Path("soft.csv").symlink_to("in.csv")
    for name in ("in.csv", "./in.csv", "hard.csv", "soft.csv", f"{Path.cwd()}/in.csv"):
        done = run("in.csv", "-o", name, "--force", expect=2)
        assert "--in-place" in done.stderr
    script = " ".join(command("-", "-o", "in.csv", "--format", "csv", "--force"))
    done = subprocess.run(f"{script} < in.csv", shell=True, capture_output=True)
    assert done.returncode == 2
    script = " ".join(command("in.csv"))
    done = subprocess.run(f"{script} >> in.csv", shell=True, capture_output=True)
    assert done.returncode == 2
    assert Path("in.csv").read_text() == "text\nbad\n"


def test_the_input_is_replaced_where_that_is_said(run, folder):
    for args in ([], ["-o", "./in.csv"]):
        Path("in.csv").write_text("text\n" + "bad\n" * 3000)
        Path("in.csv").chmod(0o640)
        run("in.csv", "--in-place", *args)
        made = Path("in.csv").read_text().splitlines()
        assert set(made[1:]) <= set(WORDS)
        assert len(made) == 3001
        assert Path("in.csv").stat().st_mode & 0o777 == 0o640
    assert names(folder) == ["in.csv"]
    run("in.csv", "--in-place", "-o", "out.csv", expect=2)
    run("-", "--in-place", "--format", "csv", stdin=b"text\nbad\n", expect=2)


@pytest.mark.parametrize(
    ("name", "column", "id_column"),
    [
        ("in.csv", "id", "id"),
        ("in.jsonl", "id", "id"),
        ("in.jsonl", "msg", "msg.id"),
        ("in.jsonl", "msg.text", "msg"),
        ("in.parquet", "msg.text", "msg"),
    ],
)
def test_the_id_is_not_privatized(run, name, column, id_column):
    Path("in.csv").write_text("id,text\n1,bad\n")
    Path("in.jsonl").write_text('{"id": "1", "msg": {"id": 2, "text": "bad"}}\n')
    msg = {"id": "2", "text": "bad"}
    pq.write_table(pa.table({"id": ["1"], "msg": [msg]}), "in.parquet")
    Path("key").write_bytes(bytes(range(64)))
    Path("key").chmod(0o600)
    options = ["-o", "o", "--key-file", "key", "-c", column, "--id", id_column]
    done = run(name, *options, expect=2)
    assert "no column of text" in done.stderr


# --- ways out, and what is left behind ------------------------------------------------


@pytest.mark.parametrize("name", ["in.jsonl", "in.parquet", "in.csv"])
@pytest.mark.slow("starts processes for every format")
def test_a_release_leaves_by_dev_stdout_as_by_standard_output(command, name):
    rows = [f"bad {i % 7}" for i in range(3000)]
    if name == "in.parquet":
        pq.write_table(pa.table({"text": rows}), name)
    else:
        lines = [f'{{"text": "{r}"}}' if "json" in name else r for r in rows]
        Path(name).write_text("\n".join(["text", *lines][name == "in.jsonl" :]) + "\n")
    made = []
    for out in ("-", "/dev/stdout", "/dev/fd/1"):
        done = subprocess.run(
            command(name, "-o", out, "--seed", "1"), capture_output=True
        )
        assert done.returncode == 0, done.stderr
        made.append(done.stdout)
    assert made[0]
    assert made[0] == made[1] == made[2]


@pytest.mark.slow("processes in a shell")
def test_process_substitution_reads_and_writes(command):
    Path("in.csv").write_text("text\n" + "bad\n" * 3000)
    script = " ".join(command("<(cat in.csv)", "--format", "csv", "-o", ">(cat > o)"))
    done = subprocess.run(["bash", "-c", f"{script}; wait"], capture_output=True)
    assert done.returncode == 0, done.stderr
    wait_until(lambda: Path("o").exists() and Path("o").read_text().count("\n") == 3001)
    pq.write_table(pa.table({"text": ["bad"]}), "in.parquet")
    script = " ".join(command("<(cat in.parquet)", "--format", "parquet", "-o", "p"))
    done = subprocess.run(["bash", "-c", script], capture_output=True)
    assert done.returncode == 3
    assert b"is not a regular file" in done.stderr


STALE = ".mondegreen-0123456789abcdef.tmp"


@pytest.mark.slow("kills processes, and waits for them")
def test_what_a_killed_run_left_is_removed_by_the_next_and_nothing_else(
    command, folder, start_process
):
    os.mkfifo("in.fifo")
    Path("in.txt").write_text("bad\n")
    for name in (".mondegreen-notes", "x.tmp", STALE + "x"):
        Path(name).write_text("mine")
    (folder / ".mondegreen-folder.tmp").mkdir()
    (folder / ".mondegreen-link.tmp").symlink_to("in.txt")
    others = names(folder)
    arguments = command("in.fifo", "--format", "txt", "-o", "out.txt")
    process = start_process(arguments)
    with Path("in.fifo").open("wb", buffering=0) as pipe:
        pipe.write(b"bad\n")
        wait_until(lambda: len(names(folder)) > len(others))
        (left,) = set(names(folder)) - set(others)
        # one that lives is left alone by whoever comes by
        assert subprocess.run(command("in.txt", "-o", "a.txt")).returncode == 0
        assert left in names(folder)
        process.kill()
        process.wait(120)
    assert left in names(folder)
    assert subprocess.run(command("in.txt", "-o", "b.txt")).returncode == 0
    assert names(folder) == sorted([*others, "a.txt", "b.txt"])


def test_a_temporary_file_that_somebody_holds_stays(run, folder):
    Path("in.txt").write_text("bad\n")
    Path(STALE).write_text("held")
    with Path(STALE).open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        run("in.txt", "-o", "out.txt")
        assert STALE in names(folder)
    run("in.txt", "-o", "out.txt", "--force")
    assert names(folder) == ["in.txt", "out.txt"]


@pytest.mark.slow("many processes side by side")
def test_many_runs_into_one_folder_do_not_sweep_each_other(
    command, folder, start_process
):
    Path("in.txt").write_text("bad\n" * 100)
    runs = [start_process(command("in.txt", "-o", f"out{i}.txt")) for i in range(6)]
    assert [run.wait(120) for run in runs] == [0] * 6
    assert names(folder) == ["in.txt", *(f"out{i}.txt" for i in range(6))]


@pytest.mark.slow("200,000 rows")
def test_an_interrupt_in_the_middle_of_200_000_rows_leaves_released_text_alone(
    command, start_process
):
    Path("in.jsonl").write_text(f'{{"text": "{CANARY} bad"}}\n' * 200_000)
    process = start_process(
        command("in.jsonl", "-j", "2"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    first = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    rest, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert CANARY.encode() not in first + rest + err
    whole = (first + rest).split(b"\n")[:-1]
    assert 0 < len(whole) < 200_000


DAMAGED = f"""
import io, random, sys
import pyarrow as pa, pyarrow.parquet as pq
from mondegreen.errors import DataError
from mondegreen.io.open import open_sink
from mondegreen.io.open import open_source
body = pa.struct([("body", pa.string())])
table = pa.table({{
    "text": ["{CANARY} %d" % (i % 7) for i in range(60)],
    "m": pa.array([[{{"body": "x"}}] * (i % 3) for i in range(60)], pa.list_(body)),
    "d": pa.array(["a", "b"] * 30).dictionary_encode(),
}})
file = io.BytesIO()
pq.write_table(table, file, write_page_index=True)
whole, rng = file.getvalue(), random.Random(int(sys.argv[1]))
start = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
for _ in range(300):
    data = bytearray(whole)
    first, last = (start, len(whole)) if rng.random() < 0.7 else (0, start)
    for _ in range(rng.choice([1, 1, 2, 8])):
        data[rng.randrange(first, last)] = rng.choice([0, 255, 128, rng.randrange(256)])
    open("in.parquet", "wb").write(data)
    try:
        with open_source("in.parquet", columns=("text", "m.body", "d")) as source:
            with open_sink("out.parquet", source, force=True) as sink:
                for batch in source.batches():
                    sink.write(batch)
                sink.commit()
    except DataError as error:
        assert "{CANARY}" not in str(error)
"""


@pytest.mark.slow("600 damaged files")
@pytest.mark.parametrize("seed", ["1", "2"])
def test_damaged_parquet_ends_in_an_error_of_the_package_alone(folder, seed):
    done = subprocess.run([sys.executable, "-c", DAMAGED, seed], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("tail", "problem"),
    [
        (b"\xff\xff\xff\xffPAR1", "not a Parquet file"),
        (b"\xff\xff\xff\x7fPAR1", "not a Parquet file"),
        (b"\x00\x00\x00\x00PAR1", "not a Parquet file"),
        (b"\x10\x00\x00\x00PAR1", "footer of this Parquet file is damaged"),
        (b"\x10\x00\x00\x00PARE", "encrypted"),
    ],
)
def test_a_footer_that_lies_is_refused(run, tail, problem):
    Path("in.parquet").write_bytes(b"PAR1" + b"zorblatt" * 9 + tail)
    assert problem in run("in.parquet", expect=3).stderr


# --- links, marks, and options of other formats ---------------------------------------


def test_a_file_with_further_links_is_not_replaced_in_place(run, folder):
    Path("in.csv").write_text(f"text\n{CANARY}\n")
    os.link("in.csv", "other.csv")
    done = run("in.csv", "--in-place", expect=2)
    assert "links" in done.stderr
    assert CANARY in Path("in.csv").read_text()


def test_utf16_without_a_mark_is_an_error_of_the_data(run):
    Path("in.csv").write_bytes(f"text\n{CANARY}\n".encode("utf-16-le"))
    for name in ("utf-16", "utf-32"):
        done = run("in.csv", "--encoding", name, expect=3)
        assert "bug" not in done.stderr


@pytest.mark.parametrize("option", [("--missing", "pass"), ("--metadata", "keep")])
def test_options_of_another_format_are_refused(run, option):
    Path("in.csv").write_text("text\nbad\n")
    assert option[0] in run("in.csv", *option, expect=2).stderr


def test_records_that_pass_are_outside_of_the_formula(run):
    lines = f'{{"text": "bad"}}\n{{"Text": "{CANARY}"}}\n'
    Path("in.jsonl").write_text(lines)
    done = run("in.jsonl", "-o", "o.jsonl", "--missing", "pass", "--report", "r.json")
    assert "original words that are in records that have every column" in done.stderr
    options = ["--report", "s.json", "--earlier", "r.json", "--missing", "pass"]
    done = run("o.jsonl", "-o", "p.jsonl", *options)
    assert "Privatized before: column text: tree" in done.stderr
    assert "for words that are in records that have every column" in done.stderr


def test_the_name_of_a_file_gives_no_commands_to_a_terminal(tmp_path):
    path = tmp_path / "bad\x1b[31m\nname.csv"
    path.write_text("text\nhello\n", encoding="utf-8")
    done = CliRunner().invoke(cli, ["privatize", str(path), "-e", "10", "-c", "none"])
    assert done.exit_code == 3
    shown = done.stderr or str(done.exception)
    assert "\x1b" not in shown
    assert "bad" in shown


def test_without_an_input_it_says_how_to_read_a_pipe():
    done = CliRunner().invoke(cli, ["privatize", "--epsilon", "12"], input="Anna")
    assert done.exit_code == 2
    assert "Missing argument 'INPUT...'. Use - for standard input." in done.stderr


def _read_json(name):
    return json.loads(Path(name).read_text())


def test_the_second_report_states_the_loss_of_all_runs(folder):
    Path("in.csv").write_text("review,note\nMaria from Leeds called.,Ask for Ann.\n")
    given = "--epsilon", "12", "--force", "--report"
    run_command("privatize", "in.csv", "-o", "a.csv", "-c", "review", *given, "a.json")
    more = "--earlier", "a.json"
    second = "privatize", "a.csv", "-o", "b.csv", "-c", "note", *given, "b.json", *more
    done = run_command(*second)
    first, last = (_read_json(name)["loss"] for name in ("a.json", "b.json"))
    assert "this run alone" not in first["note"]
    assert first["note"].endswith("name its report with --earlier.")
    assert last["note"].endswith("all_passes adds the losses of all runs.")
    rows = [each["per_row"]["largest"] for each in (first, last)]
    assert rows == [48.0, 36.0]
    assert first["all_passes"] == {"per_row": 48.0, "per_id": None}
    assert last["all_passes"] == {"per_row": 84.0, "per_id": None}
    assert "at most 48 nats per row" in done.stderr
    said = "Loss of all passes: at most 84 nats per row. This pass alone: at most 36."
    assert said in done.stderr
    # A third run over a column of the first one.
    more = "--earlier", "b.json"
    third = "privatize", "b.csv", "-o", "c.csv", "-c", "review", *given, "c.json", *more
    done = run_command(*third)
    assert _read_json("c.json")["loss"]["all_passes"]["per_row"] == 132.0
    assert "Add --column" not in done.stderr  # the first and the second run did that


def test_a_report_of_an_older_version_gives_no_total(folder):
    Path("in.csv").write_text("review,note\nMaria from Leeds called.,Ask for Ann.\n")
    given = "--epsilon", "12", "--force", "--report"
    run_command("privatize", "in.csv", "-o", "a.csv", "-c", "review", *given, "a.json")
    old = _read_json("a.json")
    for each in old["passes"]:
        del each["loss"]
    Path("a.json").write_text(json.dumps(old))
    more = "--earlier", "a.json"
    second = "privatize", "a.csv", "-o", "b.csv", "-c", "note", *given, "b.json", *more
    done = run_command(*second)
    nothing = {"per_row": None, "per_id": None}
    assert _read_json("b.json")["loss"]["all_passes"] == nothing
    assert "Loss of all passes: not known" in done.stderr


def test_parquet_carries_the_loss_and_the_records_that_earlier_runs_copied(folder):
    texts = {"a": ["Maria called.", "Ann"], "b": ["Leeds", "York is old."]}
    pq.write_table(pa.table({"id": [1, 1], **texts}), "in.parquet")
    given = "--epsilon", "12", "-q", "--report"
    key = "--key-file", "k", "--id", "id"
    Path("k").write_bytes(bytes(range(32)))
    Path("k").chmod(0o600)
    columns = "-c", "a", "-c", "b"
    run_command(
        "privatize", "in.parquet", "-o", "1.parquet", *columns, *given, "1.json", *key
    )
    run_command(
        "privatize", "1.parquet", "-o", "2.parquet", "-c", "a", *given, "2.json", *key
    )
    first, second = (_read_json(f"{n}.json")["loss"] for n in (1, 2))
    assert first["all_passes"] == {"per_row": 48.0, "per_id": 84.0}
    assert second["all_passes"] == {"per_row": 72.0, "per_id": 120.0}
    run_command(
        "privatize", "2.parquet", "-o", "3.parquet", "-c", "a", *given, "3.json"
    )
    third = _read_json("3.json")["loss"]["all_passes"]
    assert third == {"per_row": 96.0, "per_id": None}


def test_the_number_of_dropped_words_is_in_no_release(folder):
    pq.write_table(pa.table({"a": ["the Qwrtzx cat"]}), "in.parquet")
    options = "--policy", "all", "--epsilon", "12", "--unknown", "drop", "-c", "a"
    run_command("privatize", "in.parquet", "-o", "o.parquet", *options)
    passes = json.loads(pq.read_schema("o.parquet").metadata[b"mondegreen"])
    assert [each for each in passes if "loss" in each] == []


def test_records_that_an_earlier_run_copied_are_not_lost(folder):
    lines = '{"text": "Maria called."}\n{"other": "Leeds"}\n'
    Path("in.jsonl").write_text(lines)
    given = "--epsilon", "12", "--missing", "pass", "--report"
    run_command(
        "privatize", "in.jsonl", "-o", "a.jsonl", "-c", "text", *given, "a.json"
    )
    for is_old in (False, True):
        report = _read_json("a.json")
        assert report["counts"]["records_without_a_column"] == 1
        if is_old:
            for each in report["passes"]:
                del each["records_without_a_column"]
            Path("a.json").write_text(json.dumps(report))
        more = "--earlier", "a.json", "--force"
        second = "privatize", "a.jsonl", "-o", "b.jsonl", "-c", "other"
        done = run_command(*second, *given, "b.json", *more)
        counts = _read_json("b.json")["counts"]
        assert counts["records_without_a_column"] == 1
        assert counts["records_without_a_column_earlier"] == 1
        assert "earlier passes copied 1 record without a column" in done.stderr
        assert "'text'" not in done.stderr
