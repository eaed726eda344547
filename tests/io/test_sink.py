import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mondegreen.errors import ConfigurationError, DataError, InvalidParameterError
from mondegreen.io.open import open_sink, open_source

FORMATS = ["txt", "csv", "jsonl", "parquet"]


@pytest.fixture(params=FORMATS)
def given(request, tmp_path):
    """A small file of each format, alone in a folder."""
    path = tmp_path / f"in.{request.param}"
    if request.param == "parquet":
        pq.write_table(pa.table({"text": ["a", "b"]}), path)
    else:
        lines = {"txt": "a\nb\n", "csv": "text,n\na,1\n"}
        path.write_text(lines.get(request.param, '{"text":"a"}\n'))
    return path


def names(folder):
    return sorted(p.name for p in folder.iterdir())


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit])
def test_without_commit_nothing_is_left_and_an_old_file_stays(given, copy, error):
    made = given.with_stem("out")
    made.write_bytes(b"old")

    def fail(array):
        assert len(names(given.parent)) == 3
        raise error

    with pytest.raises(error):
        copy(given, made, change=fail, force=True)
    assert made.read_bytes() == b"old"
    assert names(given.parent) == sorted([given.name, made.name])


def test_leaving_without_commit_is_no_release(given):
    source = open_source(given)
    with open_sink(given.with_stem("out"), source) as sink:
        for batch in source.batches():
            sink.write(batch)
    assert names(given.parent) == [given.name]


def test_rows_that_were_not_released_keep_the_file_from_appearing(given):
    source = open_source(given)
    with open_sink(given.with_stem("out"), source) as sink:
        assert list(source.batches())
        with pytest.raises(DataError, match="0 rows were released of"):
            sink.commit()
    assert names(given.parent) == [given.name]


def test_the_input_is_replaced_only_where_that_is_said(given, copy, monkeypatch):
    old = given.read_bytes()
    monkeypatch.chdir(given.parent)
    hard, soft = given.with_stem("hard"), given.with_stem("soft")
    hard.hardlink_to(given)
    soft.symlink_to(given)
    dotted = Path("..", given.parent.name, ".", given.name)
    for name in (given, hard, soft, dotted, Path(given.name)):
        for force in (False, True):
            with pytest.raises(InvalidParameterError, match="--in-place"):
                copy(given, name, force=force)
    assert given.read_bytes() == old
    with pytest.raises(ConfigurationError, match="several hard links"):
        copy(given, given, in_place=True)
    hard.unlink()
    copy(given, given, in_place=True)
    if given.suffix != ".parquet":
        assert given.read_bytes() == old
    assert names(given.parent) == sorted([given.name, soft.name])
    other = given.with_stem("other")
    with pytest.raises(InvalidParameterError, match="the input itself"):
        copy(given, other, in_place=True)


def test_refusals_come_before_any_work(given):
    folder = given.parent
    old = given.with_stem("old")
    old.write_bytes(b"old")
    with open_source(given) as source:
        for path, problem in [
            (old, "already exists"),
            (folder / "none" / given.name, "folder does not exist"),
            (folder, "is a folder"),
        ]:
            with pytest.raises(DataError, match=problem):
                open_sink(path, source)
        other = "out.csv" if source.format != "csv" else "out.txt"
        with pytest.raises(InvalidParameterError, match="like the input, such as out"):
            open_sink(folder / other, source)
    assert names(folder) == sorted([given.name, old.name])


def test_a_file_that_appears_meanwhile_is_not_replaced(given):
    made = given.with_stem("out")
    source = open_source(given)
    with open_sink(made, source) as sink:
        for batch in source.batches():
            sink.write(batch)
        made.write_bytes(b"another")
        with pytest.raises(DataError, match="already exists"):
            sink.commit()
    assert made.read_bytes() == b"another"


def test_permissions_follow_the_umask_or_the_old_file(given, copy):
    old = os.umask(0o027)
    try:
        made = given.with_stem("out")
        copy(given, made)
        assert stat.S_IMODE(made.stat().st_mode) == 0o640
        made.chmod(0o606)
        copy(given, made, force=True)
        assert stat.S_IMODE(made.stat().st_mode) == 0o606
    finally:
        os.umask(old)


def test_a_symbolic_link_survives(given, copy):
    folder = given.parent / "elsewhere"
    folder.mkdir()
    real = folder / given.name
    real.write_bytes(b"old")
    link = given.with_stem("link")
    link.symlink_to(real)
    copy(given, link, force=True)
    assert link.is_symlink()
    assert real.read_bytes() != b"old"
    assert names(folder) == [given.name]


@pytest.fixture
def other(monkeypatch):
    """Give a link, or a folder, to another user."""

    def give(path):
        if os.geteuid() == 0:
            os.chown(path, 4321, -1, follow_symlinks=False)
        else:  # then all files are another's
            monkeypatch.setattr(os, "geteuid", lambda: 4321)

    return give


def linked(given):
    """A link to a file that is not there yet, in another folder."""
    folder = given.parent / "shared"
    folder.mkdir()
    link = folder / given.name
    link.symlink_to(given.with_stem("private"))
    return link


def test_a_link_of_another_user_is_not_followed(given, copy, other):
    link = linked(given)
    other(link)
    with pytest.raises(
        DataError, match=r"another user.*name the file that it points to"
    ):
        copy(given, link)
    given.with_stem("private").write_bytes(b"old")
    with pytest.raises(DataError, match="another user"):
        copy(given, link, force=True)
    assert given.with_stem("private").read_bytes() == b"old"


def test_a_link_in_a_folder_of_another_user_is_not_followed(given, copy, other):
    link = linked(given)
    other(link.parent)
    with pytest.raises(DataError, match="another user"):
        copy(given, link)
    assert not given.with_stem("private").exists()


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o775])
def test_a_link_to_no_file_is_not_followed_where_others_can_write(given, copy, mode):
    link = linked(given)
    link.parent.chmod(mode)
    for path in (link, Path(os.path.relpath(link))):
        with pytest.raises(DataError, match="another user"):
            copy(given, path)
    assert not given.with_stem("private").exists()
    hop = given.parent / f"hop{given.suffix}"
    hop.symlink_to(link)
    with pytest.raises(DataError, match="another user"):
        copy(given, hop)


def test_a_link_of_ones_own_to_no_file_makes_it(given, copy):
    link = linked(given)
    link.parent.chmod(0o755)
    copy(given, link)
    assert link.is_symlink()
    assert given.with_stem("private").exists()


def test_links_in_a_circle_are_refused(given, copy):
    one, other = given.with_stem("one"), given.with_stem("other")
    one.symlink_to(other)
    other.symlink_to(one)
    with pytest.raises(DataError):
        copy(given, one)


def test_the_temporary_file_is_hidden_and_beside_the_target(given):
    source = open_source(given)
    with open_sink(given.with_stem("out"), source):
        (name,) = set(names(given.parent)) - {given.name}
        assert name.startswith(".")
        assert name.endswith(".tmp")
    source.close()


def test_a_packed_file_that_fails_is_removed(tmp_path, copy):
    (tmp_path / "in.txt").write_text("a\n")

    def fail(array):
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        copy(tmp_path / "in.txt", tmp_path / "out.txt.gz", change=fail)
    assert names(tmp_path) == ["in.txt"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_an_error_without_text(given, copy):
    with pytest.raises(DataError, match="/dev/full: cannot be written: No space"):
        copy(given, "/dev/full")


def test_a_device_is_written_and_not_replaced(given, copy):
    copy(given, os.devnull)
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_a_folder_without_permission_is_an_error(given, copy, monkeypatch):
    def denied(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    with pytest.raises(DataError, match="Permission denied"):
        copy(given, given.with_stem("out"))


RUN = """
import signal, sys, time
from mondegreen.io.open import open_source
from mondegreen.io.open import open_sink
def stop(*_): raise SystemExit(143)
signal.signal(signal.SIGTERM, stop)
source = open_source({source!r}, format={format!r})
with open_sink({target!r}, source, force=True) as sink:
    for batch in source.batches():
        sink.write(batch)
        {then}
    {last}
"""


def script(source, target, form, then="", last="sink.commit()"):
    code = RUN.format(
        source=str(source), target=str(target), format=form, then=then, last=last
    )
    return [sys.executable, "-c", code]


# Short sleeps: a signal that comes just before a sleep is heard after it.
BUSY = 'print("busy", flush=True); [time.sleep(0.05) for _ in range(1200)]'


@pytest.mark.slow("a process each", but="jsonl")
def test_a_terminated_process_leaves_the_old_file_alone(given, start_process):
    made = given.with_stem("out")
    made.write_bytes(b"old")
    wait = BUSY
    command = script(given, made, given.suffix[1:], then=wait)
    process = start_process(command, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"busy\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(120) == 143
    assert made.read_bytes() == b"old"
    assert names(given.parent) == sorted([given.name, made.name])


@pytest.mark.slow("a process each", but="txt")
def test_a_killed_process_leaves_the_old_file_alone(given, start_process):
    made = given.with_stem("out")
    made.write_bytes(b"old")
    wait = BUSY
    command = script(given, made, given.suffix[1:], then=wait)
    process = start_process(command, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"busy\n"
    process.kill()
    process.wait(120)
    assert made.read_bytes() == b"old"


def test_lines_go_through_pipes_as_they_come(start_process):
    command = script("-", "-", "txt")
    process = start_process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for line in (b"one\n", b"two\r\n"):
        process.stdin.write(line)
        process.stdin.flush()
        assert process.stdout.readline() == line
    process.stdin.write(b"last")
    process.stdin.close()
    assert process.stdout.read() == b"last"
    assert process.wait(120) == 0


def test_a_closed_pipe_is_its_own_error(start_process):
    command = script("-", "-", "txt")
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = start_process(command, **pipes)
    process.stdout.close()
    time.sleep(0.01)
    _, errors = process.communicate(b"one\n", timeout=120)
    assert b"BrokenPipeError" in errors


def test_parquet_goes_to_standard_output(tmp_path):
    table = pa.table({"text": ["a", None], "n": [1, 2]})
    pq.write_table(table, tmp_path / "in.parquet")
    command = script(tmp_path / "in.parquet", "-", "parquet")
    made = subprocess.run(command, capture_output=True, check=True).stdout
    assert pq.read_table(pa.BufferReader(made)).equals(table)


def test_an_abandoned_parquet_stream_has_no_footer(tmp_path):
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "in.parquet")
    command = script(tmp_path / "in.parquet", "-", "parquet", last="pass")
    made = subprocess.run(command, capture_output=True, check=True).stdout
    with pytest.raises(pa.ArrowInvalid):
        pq.read_table(pa.BufferReader(made))
