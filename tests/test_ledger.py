"""A ledger of releases: it never counts too few, and holds no id and no text."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from mondegreen.cli.main import cli
from mondegreen.errors import ConfigurationError, DataError, SourceError
from mondegreen.privatizer.ledger import LedgerWriter, read_budget

CANARY = "Okonkwo"
KEY = bytes(range(32))
ENTRY = 52
HEADER = 64


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("key", "other"):
        Path(name).write_bytes(os.urandom(32))
        Path(name).chmod(0o600)

    def call(*arguments, expect=0):
        done = CliRunner().invoke(cli, arguments)
        assert done.exit_code == expect, done.stderr
        return done

    return call


def release(run, name="in.csv", *more, epsilon="12", expect=0, key="key"):
    keyed = ["--key-file", key] if key else []
    arguments = ["privatize", name, "-o", f"out-{name}", "--force", "-e", epsilon, "-q"]
    return run(
        *arguments, "--id", "id", "--ledger", "ledger", *keyed, *more, expect=expect
    )


def budget(run, *more):
    return json.loads(run("budget", "ledger", "--json", *more).stdout)


@pytest.fixture
def texts(run):
    Path("in.csv").write_text(
        f"id,text,note\nid-{CANARY},I met {CANARY} in Oslo,Call me\n2,Hello you,\n3,,\n"
    )


def test_replays_add_nothing_and_new_draws_add_up(run, texts):
    release(run)
    first = budget(run)
    assert first == {
        "records": 2, "columns": 1, "draws": 2, "draws_median": 1.0,
        "draws_most": 1, "nats_median": 42.0, "nats_largest": 60.0,
    }  # fmt: skip
    release(run)
    release(run, "in.csv", "--jobs", "2")
    assert budget(run) == first
    release(run, epsilon="10")
    assert budget(run)["nats_largest"] == 110.0
    Path("in.csv").write_text("id,text\n2,Hello again you\n")
    release(run)
    found = budget(run)
    assert (found["draws"], found["draws_most"]) == (5, 3)
    assert found["nats_median"] == pytest.approx((110 + 24 + 20 + 36) / 2)


def test_blanks_around_an_id_and_its_form_make_no_new_record(run):
    """Keyed noise takes the ids as they are, so these are new draws of one record."""
    Path("in.csv").write_text("id,text\n7,Hello you\nJosé,Call Ann\n")
    release(run)
    assert (budget(run)["records"], budget(run)["nats_largest"]) == (2, 24.0)
    Path("in.csv").write_text("id,text\n 7,Hello you\nJose\u0301 ,Call Ann\n")
    done = release(run)
    assert (budget(run)["records"], budget(run)["nats_largest"]) == (2, 48.0)
    assert "the ledger has earlier draws of 2 texts" in done.stderr
    Path("in.csv").write_text("id,text\n 7,Hello you\n7 ,Call Ann\n")
    release(run, "in.csv", "--report", "r.json")
    loss = json.loads(Path("r.json").read_text())["loss"]
    assert (loss["per_row"]["largest"], loss["per_id"]["largest"]) == (24.0, 48.0)


def test_a_second_draw_under_another_setting_is_warned_of(run, texts):
    warning = "Warning: the ledger has earlier draws of"
    assert warning not in release(run).stderr
    assert warning not in release(run).stderr  # a replay
    told = release(run, "in.csv", "--policy", "names").stderr
    assert f"{warning} 2 texts of this release: losses add up" in told
    assert "its groups differ" in told
    assert CANARY not in told
    # Another column is no second draw, and a new record is none.
    assert warning not in release(run, "in.csv", "-c", "note").stderr
    Path("in.csv").write_text("id,text\n4,Hello you\n")
    assert warning not in release(run).stderr
    # Fresh noise draws anew each time.
    fresh = "in.csv", "--ledger-key-file", "key"
    assert f"{warning} 1 text of" in release(run, *fresh, key=None).stderr


def test_a_column_that_may_have_been_renamed_is_warned_of(run, texts):
    warning = "If the column was renamed, the texts are drawn anew"
    assert warning not in release(run, "in.csv", "-c", "text", "-c", "note").stderr
    assert warning not in release(run).stderr  # a replay
    Path("in.csv").write_text(Path("in.csv").read_text().replace("text", "body", 1))
    told = release(run, "in.csv", "-c", "body").stderr
    assert warning in told
    assert "of the same ids as 2 texts of this release" in told
    assert CANARY not in told
    assert warning not in release(run, "in.csv", "-c", "body").stderr
    Path("in.csv").write_text("id,other\n4,Hello you\n")
    assert warning not in release(run, "in.csv", "-c", "other").stderr


def test_formats_names_and_order_play_no_part(run, texts):
    release(run)
    rows = [("2", "Hello you"), (f"id-{CANARY}", f"I met {CANARY} in Oslo")]
    columns = dict(zip(("id", "body"), map(list, zip(*rows, strict=True)), strict=True))
    pq.write_table(pa.table(columns), "in.parquet")
    release(run, "in.parquet", "-c", "body", "--as", "body=text")
    assert budget(run)["draws"] == 2
    release(run, "in.parquet", "-c", "body")
    found = budget(run)
    assert (found["draws"], found["columns"], found["draws_most"]) == (4, 2, 1)


def test_columns_of_one_run_are_counted_apart_and_lists_whole(run, texts):
    release(run, "in.csv", "-c", "text", "-c", "note")
    assert budget(run)["nats_largest"] == 84.0
    assert budget(run)["draws"] == 3
    lines = [{"id": "x", "m": [{"b": "one two"}, {"b": None}, {"b": "three"}]}]
    Path("in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    release(run, "in.jsonl", "-c", "m.b")
    assert budget(run)["draws"] == 4
    before = budget(run)["nats_median"]
    Path("in.jsonl").write_text(json.dumps({"id": "x", "m": [{"b": "one twothree"}]}))
    release(run, "in.jsonl", "-c", "m.b")
    assert budget(run)["draws"] == 5
    assert budget(run)["nats_median"] > before


def test_no_id_and_no_text_is_in_the_ledger(run, texts):
    release(run)
    data = Path("ledger").read_bytes()
    assert CANARY.encode() not in data
    assert len(data) == HEADER + 2 * ENTRY
    assert Path("ledger").stat().st_mode & 0o777 == 0o600
    # Digests without the key would be those of any other ledger, too.
    Path("ledger").unlink()
    release(run, key="other")
    again = Path("ledger").read_bytes()
    pieces = {data[at : at + 8] for at in range(HEADER, len(data) - 8, ENTRY)}
    assert not any(piece in again for piece in pieces)


def test_a_limit_is_an_exit_code(run, texts):
    release(run)
    assert budget(run, "--limit", "60")["records_above_limit"] == 0
    said = run("budget", "ledger", "--limit", "59.9", expect=4)
    assert "records_above_limit  1" in said.stdout
    assert "1 record of 2 lost more than 59.9 nats" in said.stderr
    assert "that of id number 1, if ids are counted" in said.stderr


def test_what_is_added_for_rounding_breaks_no_limit(run):
    """19 words lose 228 nats a draw: two draws of 456 are no more than 912."""
    rows = [f"{i},{' '.join(['Ann'] * 19)}" for i in range(1000)]
    for column in ("a", "b"):
        Path("in.csv").write_text("\n".join([f"id,{column}", *rows]) + "\n")
        given = (
            "privatize",
            "in.csv",
            "-o",
            "out.csv",
            "--force",
            "-c",
            column,
            "-e",
            "12",
        )
        run(*given, "--id", "id", "--key-file", "key", "--ledger", "ledger", "-q")
    found = budget(run, "--limit", "456")
    assert found["nats_largest"] == 456
    assert found["records_above_limit"] == 0
    run("budget", "ledger", "--limit", "455.99", expect=4)


@pytest.mark.parametrize("limit", ["nan", "inf"])
def test_a_limit_is_a_number(run, texts, limit):
    release(run)
    run("budget", "ledger", "--limit", limit, expect=2)


def test_another_key_is_refused_and_the_old_one_counts_on(run, texts):
    release(run)
    said = release(run, key="other", expect=2).stderr
    assert "--ledger-key-file" in said
    release(run, "in.csv", "--ledger-key-file", "key", key="other")
    assert budget(run)["nats_largest"] == 120.0
    release(run, "in.csv", "--ledger-key-file", "key", key="other")
    assert budget(run)["nats_largest"] == 120.0


def test_fresh_noise_is_a_new_draw_each_time(run, texts):
    for _ in range(3):
        release(run, "in.csv", "--ledger-key-file", "key", key=None)
    assert budget(run)["nats_largest"] == 180.0
    assert budget(run)["draws_most"] == 3


@pytest.mark.parametrize(
    "more",
    [
        ["--ledger", "l", "--key-file", "key"],
        ["--ledger", "l", "--id", "id"],
        ["--ledger", "l", "--seed", "1"],
        ["--ledger", "l", "--seed", "1", "--id", "id", "--ledger-key-file", "key"],
        ["--ledger-key-file", "key"],
        ["--ledger", "in.csv", "--id", "id", "--key-file", "key"],
    ],
)
def test_what_cannot_be_counted_is_refused(run, texts, more):
    before = Path("in.csv").read_bytes()
    done = CliRunner().invoke(
        cli, ["privatize", "in.csv", "-o", "out.csv", "-e", "12", *more]
    )
    assert done.exit_code in (2, 3)
    assert not Path("out.csv").exists()
    assert Path("in.csv").read_bytes() == before


def test_a_folder_counts_all_its_files(run, texts):
    Path("in").mkdir()
    Path("in", "a.csv").write_text("id,text\n1,one two\n")
    Path("in", "b.csv").write_text("id,text\n1,three\n2,four\n")
    run("privatize", "in", "-o", "out", "-e", "12", "-q", "--id", "id",
        "--key-file", "key", "--ledger", "ledger")  # fmt: skip
    assert budget(run)["nats_largest"] == 36.0


def test_a_ledger_of_another_version_says_so(run, texts):
    Path("ledger").write_bytes(b"mondegreen ledger 2\n".ljust(64, b"\0"))
    for done in (release(run, expect=3), run("budget", "ledger", expect=3)):
        assert 'has the format "mondegreen ledger 2"' in done.stderr
        assert "this version reads 1" in done.stderr
    Path("ledger").write_bytes(b"mondegreen ledger\n".ljust(64, b"\0"))
    assert "not a ledger of mondegreen" in run("budget", "ledger", expect=3).stderr


def writer(path, key=KEY, noise=KEY):
    return LedgerWriter(str(path), key, noise)


def entries(made, *texts, record="r"):
    return made.identify(b"scope", "text", [record] * len(texts), list(texts))


def test_a_full_disk_keeps_the_release_back_and_the_ledger_whole(tmp_path, monkeypatch):
    path = tmp_path / "ledger"
    with writer(path) as made:
        made.add(entries(made, "one"), np.array([1.0]))
        before = path.read_bytes()
        write = os.write

        def full(file, data):
            if len(data) > 20:
                return write(file, data[:20])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(DataError, match="No space left"):
            made.add(entries(made, "two"), np.array([1.0]))
        monkeypatch.undo()
        assert path.read_bytes() == before
        made.add(entries(made, "two"), np.array([2.0]))
    assert read_budget(str(path)).nats["largest"] == pytest.approx(3)


@pytest.mark.parametrize("cut", range(1, ENTRY))
def test_an_entry_that_was_not_finished_is_dropped_and_nothing_else(tmp_path, cut):
    path = tmp_path / "ledger"
    with writer(path) as made:
        made.add(entries(made, "one", "two"), np.array([1.0, 2.0]))
    path.write_bytes(path.read_bytes()[:-cut])
    assert read_budget(str(path)).releases == 1
    with writer(path) as made:
        made.add(entries(made, "three"), np.array([4.0]))
    assert read_budget(str(path)).nats["largest"] == pytest.approx(5)


@pytest.mark.parametrize("size", [0, 1, 20, 63])
def test_a_header_that_was_not_finished_is_begun_again(tmp_path, size):
    path = tmp_path / "ledger"
    with writer(path):
        pass
    path.write_bytes(path.read_bytes()[:size])
    with writer(path) as made:
        made.add(entries(made, "one"), np.array([1.0]))
    assert read_budget(str(path)).releases == 1


def test_every_damaged_byte_is_noticed(tmp_path):
    path = tmp_path / "ledger"
    with writer(path) as made:
        made.add(entries(made, "one", "two"), np.array([1.0, 2.0]))
    whole = path.read_bytes()
    for at in range(HEADER, len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(SourceError, match="is damaged"):
            read_budget(str(path))
        with pytest.raises(SourceError, match="is damaged"), writer(path):
            pass


def test_files_that_are_no_ledgers(tmp_path):
    path = tmp_path / "ledger"
    path.write_text("id,text\n" * 20)
    with pytest.raises(SourceError, match="not a ledger"), writer(path):
        pass
    assert path.read_text() == "id,text\n" * 20
    with pytest.raises(SourceError, match="not a ledger"):
        read_budget(str(path))
    with pytest.raises(SourceError, match="cannot be read"):
        read_budget(str(tmp_path / "absent"))
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="cannot be written"), writer(link):
        pass
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="regular file"), writer(tmp_path / "pipe"):
        pass
    with writer(tmp_path / "mine"):
        pass
    with pytest.raises(ConfigurationError, match="another key"):
        writer(tmp_path / "mine", key=KEY[::-1]).__enter__()


def test_a_ledger_that_is_replaced_during_a_run_stops_it(tmp_path):
    path = tmp_path / "ledger"
    with writer(path) as made:
        path.rename(tmp_path / "moved")
        path.write_bytes((tmp_path / "moved").read_bytes())
        with pytest.raises(DataError, match="was replaced"):
            made.add(entries(made, "one"), np.array([1.0]))


def test_an_entry_is_on_the_disk_before_its_row_is_written(run, texts, monkeypatch):
    import mondegreen.cli.releaser  # noqa: F401
    from mondegreen.io.base import ByteSink

    sizes = []
    put = ByteSink.put

    def watch(self, batch):
        sizes.append(Path("ledger").stat().st_size)
        put(self, batch)

    monkeypatch.setattr(ByteSink, "put", watch)
    release(run)
    assert sizes == [HEADER + 2 * ENTRY]


def command(*more):
    keyed = ["--id", "id", "--ledger", "ledger", "--key-file", "key"]
    return [sys.executable, "-m", "mondegreen", "privatize", *more, *keyed, "-q"]


@pytest.mark.slow(why="two processes of the command")
def test_two_processes_at_once_lose_no_entry(run, tmp_path):
    for name in "ab":
        rows = "".join(f"{name}{n},Hello Ann number {n}\n" for n in range(6000))
        Path(f"{name}.csv").write_text("id,text\n" + rows + "both,Hello you\n")
    children = [
        subprocess.Popen(command(f"{name}.csv", "-o", f"out-{name}.csv", "-e", "12"))
        for name in "ab"
    ]
    assert [child.wait(120) for child in children] == [0, 0]
    found = read_budget("ledger")
    assert (found.records, found.releases) == (12_001, 12_001)


@pytest.mark.slow(why="a process is killed in the middle of its work")
def test_a_killed_run_has_released_nothing_that_is_not_counted(run, tmp_path):
    line = '{"id": "%s", "text": "Hello Ann in Oslo"}\n'
    child = subprocess.Popen(
        command("-", "--format", "jsonl", "-e", "12"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        for number in range(3):
            child.stdin.write((line % number).encode())
            child.stdin.flush()
            assert child.stdout.readline()
            assert read_budget("ledger").releases == number + 1
        child.send_signal(signal.SIGKILL)
        assert child.wait(60) == -signal.SIGKILL
    finally:
        child.kill()
        child.wait()
        child.stdin.close()
        child.stdout.close()
    assert read_budget("ledger").releases == 3
    Path("in.jsonl").write_text("".join(line % number for number in range(4)))
    release(run, "in.jsonl")
    assert read_budget("ledger").releases == 4
