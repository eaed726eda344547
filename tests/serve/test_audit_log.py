"""The audit log: a chain that shows what was changed, and no text."""

from __future__ import annotations

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


def test_a_disk_that_is_full_ends_the_log(path, monkeypatch):
    log = AuditLog(path)
    monkeypatch.setattr(os, "write", lambda file, line: len(line) - 1)
    with pytest.raises(ConfigurationError, match="no room"):
        log.append("request")
    with pytest.raises(ConfigurationError, match="closed"):
        log.append("request")


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
