"""The audit log: a chain that shows what was changed, and no text."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner

from mondegreen.cli.main import cli
from mondegreen.errors import ConfigurationError, InvalidParameterError, SourceError
from mondegreen.serve.audit_log import GENESIS, AuditLog, log_request, verify
from mondegreen.serve.banner import find_host


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "audit.log"
    log = AuditLog(found)
    with log_request(log, "d" * 64, "api.example.org"):
        for number in range(5):
            log.append("request", kind="embeddings", bytes=number)
    return found


def lines(path):
    return path.read_bytes().splitlines(keepends=True)


def test_each_line_holds_the_hash_of_the_line_before(path):
    previous = GENESIS
    for number, line in enumerate(lines(path), start=1):
        entry = json.loads(line)
        assert (entry["previous"], entry["number"]) == (previous, number)
        previous = hashlib.sha256(line.rstrip(b"\n")).hexdigest()
    chain = verify(path)
    assert (chain.lines, chain.last_hash) == (7, previous)
    assert chain.first <= chain.last
    events = [json.loads(line)["event"] for line in lines(path)]
    assert events == ["start", *["request"] * 5, "stop"]
    assert json.loads(lines(path)[0])["upstream"] == "api.example.org"


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://api.example.org/v1/a-path", "api.example.org"),
        (
            "https://me:secret@api.example.org:8443/v1?key=secret",
            "api.example.org:8443",
        ),
        ("http://[::1]:9/v1", "[::1]:9"),
    ],
)
def test_the_host_of_an_upstream_is_named_without_its_secrets(address, host):
    assert find_host(address) == host


def changed(found, how):
    if how == "a value":
        found[3] = found[3].replace(b'"bytes": 2', b'"bytes": 9')
    elif how == "a removed line":
        del found[3]
    elif how == "a removed first line":
        del found[0]
    elif how == "a line put in":
        found.insert(3, found[3])
    elif how == "two lines in another order":
        found[2:4] = found[3], found[2]
    elif how == "a line of something else":
        found[3] = b"hello\n"
    elif how == "half a line":
        found[-1] = found[-1][:20]
    return b"".join(found)


@pytest.mark.parametrize(
    "how",
    [
        "a value",
        "a removed line",
        "a removed first line",
        "a line put in",
        "two lines in another order",
        "a line of something else",
        "half a line",
    ],
)
def test_a_change_in_the_middle_shows_with_its_line(path, how):
    path.write_bytes(changed(lines(path), how))
    with pytest.raises(SourceError, match="row"):
        verify(path)
    if how != "half a line":
        with pytest.raises(SourceError):
            AuditLog(path)


def test_lines_that_are_missing_at_the_end_show_by_a_noted_hash_alone(path):
    noted = verify(path).last_hash
    path.write_bytes(b"".join(lines(path)[:-2]))
    assert verify(path).lines == 5
    with pytest.raises(SourceError, match="no line has the noted hash"):
        verify(path, noted)
    with pytest.raises(InvalidParameterError):
        verify(path, "abc")


@pytest.mark.parametrize("is_empty", [False, True])
def test_what_stands_before_the_first_line_is_the_hash_of_no_line(path, is_empty):
    if is_empty:
        path.write_bytes(b"")
    says = "the log is empty" if is_empty else "no line has the noted hash"
    with pytest.raises(SourceError, match=says):
        verify(path, GENESIS)
    command = ["audit-log", "verify", str(path), "--noted", GENESIS]
    assert CliRunner().invoke(cli, command).exit_code == 3


def test_a_log_goes_on_after_a_restart(path):
    noted = verify(path).last_hash
    log = AuditLog(path)
    with log_request(log, "d" * 64, "api.example.org"):
        pass
    assert verify(path, noted).lines == 9


def test_one_process_writes_at_a_time_and_others_cannot_read(path):
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    log = AuditLog(path)
    try:
        with pytest.raises(ConfigurationError, match="another process"):
            AuditLog(path)
    finally:
        log.close()
    AuditLog(path).close()


def test_what_cannot_be_written_is_an_error(tmp_path, path):
    with pytest.raises(ConfigurationError, match="cannot be written"):
        AuditLog(tmp_path / "absent" / "audit.log")
    log = AuditLog(path)
    log.close()
    with pytest.raises(ConfigurationError, match="cannot be written"):
        log.append("request")
    with pytest.raises(InvalidParameterError):
        log.append("request", texts=["Okonkwo"])
    with pytest.raises(InvalidParameterError):
        log.append("request", previous=GENESIS)
    assert "audit" not in repr(log)


def entries(path):
    found = []
    for line in lines(path):
        with contextlib.suppress(ValueError):
            found.append(json.loads(line))
    return found


def fill(monkeypatch, room):
    """Leave room for so many bytes, as a disk that is full does."""
    write = os.write

    def write_some(file, line):
        nonlocal room
        if not room:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = write(file, line[:room])
        room -= written
        return written

    monkeypatch.setattr(os, "write", write_some)


@pytest.mark.parametrize("room", [0, 1, 9, 40, 100])
@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_log_goes_on_openly_once_the_disk_has_room(
    path, monkeypatch, room, is_restarted
):
    log, before = AuditLog(path), path.read_bytes()
    with monkeypatch.context() as full:
        fill(full, room)
        for _ in range(2):
            with pytest.raises(ConfigurationError, match=r"no room|No space"):
                log.append("request")
        with pytest.raises(ConfigurationError):
            log.check()
    assert path.read_bytes()[: len(before) + room].startswith(before)
    if room:
        with pytest.raises(SourceError, match="row 8: is incomplete"):
            verify(path)
    if is_restarted:
        log.close()
        log = AuditLog(path)
        assert log.recovered_row == (8 if room else None)
    log.check()
    log.append("request")
    log.close()
    chain = verify(path)
    assert chain.cut_lines == bool(room)
    notes = [each for each in entries(path) if each["event"] == "recovered"]
    assert len(notes) == bool(room or not is_restarted)
    for note in notes:
        assert note["missed"] == (0 if is_restarted else 2)
        assert bool(note["cut_bytes"]) == bool(room)
    assert path.read_bytes().startswith(before)  # no line was lost


def test_every_place_where_writes_stop_can_be_recovered(path, monkeypatch):
    """The note of a line that was cut off may be cut off in turn."""
    before = path.read_bytes()
    for room in range(1, 500, 7):
        path.write_bytes(before)
        log = AuditLog(path)
        with monkeypatch.context() as full:
            fill(full, 5)
            with pytest.raises(ConfigurationError):
                log.append("request")
        log.close()
        with monkeypatch.context() as full, contextlib.suppress(ConfigurationError):
            fill(full, room)
            AuditLog(path).close()
        log = AuditLog(path)
        log.append("request")
        log.close()
        assert verify(path).cut_lines >= 1


def test_what_is_left_of_a_line_cannot_change_unseen(path):
    path.write_bytes(path.read_bytes()[:-20])
    AuditLog(path).close()
    assert verify(path).cut_lines == 1
    found = lines(path)
    assert found[6].endswith(b" (cut off)\n")
    for other in (found[6].replace(b"stop", b"step"), b"", found[6] * 2):
        path.write_bytes(b"".join([*found[:6], other, *found[7:]]))
        with pytest.raises(SourceError, match=r"note what is before|not a line"):
            verify(path)
    path.write_bytes(b"".join([*found[:7], found[7].replace(b"recovered", b"request")]))
    with pytest.raises(SourceError, match="row 7: not a line"):
        verify(path)


def test_a_file_of_something_else_is_no_log_that_was_cut_off(tmp_path):
    other = tmp_path / "notes.txt"
    for text in ("Dear Ada", "Dear Ada\n", '{"number": 2, "time": "'):
        other.write_text(text)
        with pytest.raises(SourceError, match="not a line of an audit log"):
            AuditLog(other)
        assert other.read_text() == text


@pytest.mark.skipif(os.name != "posix", reason="no devices and pipes")
def test_a_log_is_a_regular_file(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in ("/dev/full", "/dev/null", "/dev/zero", pipe, tmp_path):
        with pytest.raises(ConfigurationError, match=r"no regular file\. Name a file"):
            AuditLog(path)
    with pytest.raises(SourceError, match="not a line of an audit log"):
        verify("/dev/zero")  # has no end


def test_verify_says_what_it_cannot_see_of_the_last_line(path):
    noted = verify(path).last_hash
    found = lines(path)
    found[-1] = found[-1].replace(b'"stop"', b'"step"')
    path.write_bytes(b"".join(found))
    done = CliRunner().invoke(cli, ["audit-log", "verify", str(path)])
    assert done.exit_code == 0
    assert "cannot see whether the last line was changed" in done.stdout
    assert "--noted" in done.stdout
    done = CliRunner().invoke(cli, ["audit-log", "verify", str(path), "--noted", noted])
    assert done.exit_code == 3
    assert "at the end were removed or changed" in done.stderr
    noted = verify(path).last_hash
    done = CliRunner().invoke(cli, ["audit-log", "verify", str(path), "--noted", noted])
    assert "cannot see" not in done.stdout
    assert verify(path, noted).last_line_checked


def test_a_short_noted_hash_is_refused_and_says_why(path):
    short = ["--noted", verify(path).last_hash[:12]]
    done = CliRunner().invoke(cli, ["audit-log", "verify", str(path), *short])
    assert done.exit_code == 2
    assert "must be the whole hash, 64 digits" in done.stderr
    assert "can be forged" in done.stderr


def test_the_command_verifies(path):
    done = CliRunner().invoke(cli, ["audit-log", "verify", str(path), "--json"])
    assert json.loads(done.stdout)["last_hash"] == verify(path).last_hash
    noted = ["--noted", verify(path).last_hash]
    done = CliRunner().invoke(cli, ["audit-log", "verify", str(path), *noted])
    assert done.exit_code == 0
    Path(path).write_bytes(b"".join(lines(path)[1:]))
    done = CliRunner().invoke(cli, ["audit-log", "verify", str(path)])
    assert done.exit_code == 3
    assert "chain of hashes is broken" in done.stderr


def test_an_empty_log_is_no_log(tmp_path):
    """A log begins with a line, so an empty file was emptied or never written."""
    empty = tmp_path / "empty.log"
    empty.touch()
    done = CliRunner().invoke(cli, ["audit-log", "verify", str(empty)])
    assert done.exit_code == 3
    assert "the log is empty" in done.stderr
    AuditLog(empty).close()  # a proxy may begin one there
