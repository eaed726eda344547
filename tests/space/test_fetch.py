import hashlib
import http.server
import io
import json
import sys
import threading
import zipfile

import numpy as np
import pytest
from click.testing import CliRunner

from mondegreen.cli.public.space import space as command
from mondegreen.errors import (
    FetchError,
    OptionalDependencyError,
    SpaceIntegrityError,
    UnknownNameError,
)
from mondegreen.space.store import load_space
from mondegreen.space.vectors import fetch
from mondegreen.space.vectors.fetch import (
    PUBLIC_SPACES,
    download,
    open_member,
    public_space,
)
from mondegreen.space.vectors.readers import BadRows

CONTENT = np.random.default_rng(0).bytes(300_000)


class Server(http.server.ThreadingHTTPServer):
    """Serves one file, and misbehaves on request."""

    content = CONTENT
    cut_after = None  # bytes per answer
    status = None
    ranges = True
    wrong_range = False
    etag = '"one"'

    def __init__(self):
        self.asked = []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}/data/file.zip"


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_GET(self):
        server = self.server
        asked, if_range = self.headers.get("Range"), self.headers.get("If-Range")
        server.asked.append(asked)
        if server.status:
            self.send_error(server.status)
            return
        start, total = 0, len(server.content)
        if asked and server.ranges and if_range == server.etag:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            if start >= total:
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{total}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(206)
            shown = start + 1 if server.wrong_range else start
            self.send_header("Content-Range", f"bytes {shown}-{total - 1}/{total}")
        else:
            self.send_response(200)
        if server.etag:
            self.send_header("ETag", server.etag)
        body = server.content[start:]
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: server.cut_after])


@pytest.fixture
def server(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def test_a_download_is_complete_and_its_digest_is_recorded(server, tmp_path):
    notes, seen = [], []
    path = download(
        server.address,
        tmp_path,
        note=notes.append,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert path == tmp_path / "file.zip"
    assert path.read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    digest = hashlib.sha256(CONTENT).hexdigest()
    assert (tmp_path / "file.zip.sha256").read_text() == f"{digest}  file.zip\n"
    assert "no SHA-256 is published" in notes[0]
    assert digest in notes[0]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file.zip", "file.zip.sha256"]


def test_a_file_that_is_there_is_checked_and_not_downloaded_again(server, tmp_path):
    path = download(server.address, tmp_path)
    notes = []
    assert download(server.address, tmp_path, note=notes.append) == path
    assert len(server.asked) == 1
    assert "is the recorded one" in notes[0]


def test_a_file_that_was_damaged_is_fetched_again(server, tmp_path):
    path = download(server.address, tmp_path)
    path.write_bytes(CONTENT[:-1] + b"?")
    assert download(server.address, tmp_path).read_bytes() == CONTENT
    assert len(server.asked) == 2


def test_a_download_cut_off_is_resumed_where_it_stopped(server, tmp_path):
    server.cut_after = 131_072
    with pytest.raises(FetchError, match=r"131072 of 300000 bytes.*resume"):
        download(server.address, tmp_path)
    assert not (tmp_path / "file.zip").exists()
    with pytest.raises(FetchError, match="262144 of 300000"):
        download(server.address, tmp_path)
    server.cut_after = None
    assert download(server.address, tmp_path).read_bytes() == CONTENT
    assert server.asked == [None, "bytes=131072-", "bytes=262144-"]


@pytest.mark.parametrize("etag", ["", 'W/"weak"'])
def test_without_a_strong_validator_a_download_starts_again(server, tmp_path, etag):
    server.etag, server.cut_after = etag, 131_072
    with pytest.raises(FetchError):
        download(server.address, tmp_path)
    server.cut_after = None
    assert download(server.address, tmp_path).read_bytes() == CONTENT
    assert server.asked == [None, None]


def test_a_server_without_ranges_is_read_from_the_start(server, tmp_path):
    server.ranges, server.cut_after = False, 131_072
    with pytest.raises(FetchError):
        download(server.address, tmp_path)
    server.cut_after = None
    assert download(server.address, tmp_path).read_bytes() == CONTENT
    assert server.asked == [None, "bytes=131072-"]


def test_a_file_that_changed_meanwhile_is_not_spliced(server, tmp_path):
    server.cut_after = 131_072
    with pytest.raises(FetchError):
        download(server.address, tmp_path)
    server.cut_after, server.etag, server.content = None, '"two"', CONTENT[::-1]
    assert download(server.address, tmp_path).read_bytes() == CONTENT[::-1]


def test_a_part_that_is_complete_is_taken(server, tmp_path):
    (tmp_path / "file.zip.part").write_bytes(CONTENT)
    (tmp_path / "file.zip.part.version").write_text(server.etag)
    assert download(server.address, tmp_path).read_bytes() == CONTENT


def test_a_part_that_is_too_long_is_thrown_away(server, tmp_path):
    (tmp_path / "file.zip.part").write_bytes(CONTENT + b"more")
    (tmp_path / "file.zip.part.version").write_text(server.etag)
    with pytest.raises(FetchError, match="changed meanwhile"):
        download(server.address, tmp_path)
    assert download(server.address, tmp_path).read_bytes() == CONTENT


def test_another_range_than_asked_is_refused(server, tmp_path):
    server.cut_after = 131_072
    with pytest.raises(FetchError):
        download(server.address, tmp_path)
    server.cut_after, server.wrong_range = None, True
    with pytest.raises(FetchError, match="another range"):
        download(server.address, tmp_path)


def test_tampered_content_is_refused_and_deleted(server, tmp_path):
    path = download(server.address, tmp_path)
    path.unlink()
    server.content = CONTENT[:-1] + b"?"
    with pytest.raises(SpaceIntegrityError, match="recorded in"):
        download(server.address, tmp_path)
    assert [p.name for p in tmp_path.iterdir() if p.suffix in {".zip", ".part"}] == []


def test_a_published_digest_is_enforced_at_the_first_download(server, tmp_path):
    right = hashlib.sha256(CONTENT).hexdigest()
    with pytest.raises(SpaceIntegrityError, match="published"):
        download(server.address, tmp_path, sha256="0" * 64)
    assert not (tmp_path / "file.zip").exists()
    assert not (tmp_path / "file.zip.sha256").exists()
    notes = []
    download(server.address, tmp_path, sha256=right, note=notes.append)
    assert "published" in notes[0]


@pytest.mark.parametrize("status", [403, 404, 416, 500, 503])
def test_a_refusal_is_an_error_with_its_status(server, tmp_path, status):
    server.status = status
    with pytest.raises(FetchError, match=str(status)):
        download(server.address, tmp_path)
    assert not (tmp_path / "file.zip").exists()


def test_an_absent_server_is_an_error(server, tmp_path):
    address = "http://127.0.0.1:1/file.zip"
    with pytest.raises(FetchError, match="refused"):
        download(address, tmp_path)


def archive(member="glove.txt", text="the 1 2\nof 3 4\nof 3 4\nto 5 7\n"):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr(member, text)
    return buffer.getvalue()


def test_a_space_is_fetched_built_and_found(server, tmp_path, monkeypatch):
    monkeypatch.setenv("MONDEGREEN_HOME", str(tmp_path))
    server.content = archive()
    public = fetch.PublicSpace("tiny", server.address, "glove.txt", "PDDL-1.0")
    monkeypatch.setitem(PUBLIC_SPACES, "tiny", public)
    run = CliRunner().invoke(command, ["fetch", "tiny", "--json"])
    assert run.exit_code == 0, run.output
    assert json.loads(run.stdout)["words"] == 3
    assert "recorded" in run.stderr
    assert "dropped 1: the word is a duplicate" in run.stderr
    space = load_space("tiny")
    assert space.words == ("the", "of", "to")
    assert space.about == {"licence": "PDDL-1.0", "source": server.address}
    again = CliRunner().invoke(command, ["fetch", "tiny"])
    assert "--force" in str(again.exception)
    forced = CliRunner().invoke(command, ["fetch", "tiny", "--force", "--limit", "2"])
    assert forced.exit_code == 0
    assert load_space("tiny").vocab_size == 2
    assert len(server.asked) == 1


def read_archive(path):
    with open_member(path, "glove.txt", BadRows(skip=True)) as source:
        return [word for block in source.blocks for word in block.words]


def test_a_damaged_archive_is_named(tmp_path):
    path = tmp_path / "file.zip"
    content = archive()
    path.write_bytes(content)
    assert read_archive(path) == ["the", "of", "of", "to"]
    path.write_bytes(content[:50])
    with pytest.raises(SpaceIntegrityError, match="damaged"):
        read_archive(path)
    path.write_bytes(archive("other.txt"))
    with pytest.raises(SpaceIntegrityError, match=r"without glove\.txt"):
        read_archive(path)
    text = "".join(f"w{i} {i} {i}\n" for i in range(999))
    with zipfile.ZipFile(path, "w") as opened:
        opened.writestr("glove.txt", text)
    path.write_bytes(path.read_bytes().replace(b"w500 500", b"w500 501"))
    with pytest.raises(SpaceIntegrityError, match="damaged"):
        read_archive(path)


def test_the_register_is_sound():
    assert {"glove-6b-50d", "glove-6b-300d", "glove-840b-300d"} <= set(PUBLIC_SPACES)
    for name, public in PUBLIC_SPACES.items():
        assert public.name == name
        assert public.address.startswith("https://nlp.stanford.edu/data/glove.")
        assert public.licence == "PDDL-1.0"
    with pytest.raises(UnknownNameError, match="glove-6b-50d"):
        public_space("glove-6b")


def test_without_the_extra_the_error_has_the_pip_line(server, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(OptionalDependencyError, match=r"'\.\[fetch\]'"):
        download(server.address, tmp_path)
    assert not server.asked
