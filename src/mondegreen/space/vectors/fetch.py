"""Public vectors and their download; nothing else in the package opens a socket."""

from __future__ import annotations

import importlib
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast, final

from mondegreen.errors import (
    FetchError,
    OptionalDependencyError,
    SpaceIntegrityError,
    UnknownNameError,
)
from mondegreen.files import home
from mondegreen.space.vectors.readers import BadRows
from mondegreen.space.vectors.source import HEAD_BYTES, VectorSource, open_stream

_CHUNK_BYTES = 1 << 16
_TIMEOUT_SECONDS = 60.0
_AGAIN = "run the command again to resume"

Progress = Callable[[int, int | None], object]


@final
@dataclass(frozen=True, slots=True)
class PublicSpace:
    """Word vectors that anyone can download: GloVe text in a zip file."""

    name: str
    address: str
    member: str
    licence: str  # SPDX identifier
    # Of the zip file, only where its authors publish one. Without it, the digest of
    # the first download is recorded and enforced from then on.
    sha256: str | None = None


def _glove(corpus: str, member: str) -> PublicSpace:
    name = member.lower().replace(".", "-")
    address = f"https://nlp.stanford.edu/data/glove.{corpus}.zip"
    return PublicSpace(name, address, f"{member}.txt", "PDDL-1.0")


_GLOVES = [_glove("6B", f"glove.6B.{dim}d") for dim in (50, 100, 200, 300)]
_GLOVES.append(_glove("840B.300d", "glove.840B.300d"))
PUBLIC_SPACES: Final = {each.name: each for each in _GLOVES}


def public_space(name: str) -> PublicSpace:
    if name not in PUBLIC_SPACES:
        raise UnknownNameError("public space", name, PUBLIC_SPACES)
    return PUBLIC_SPACES[name]


def download(
    address: str,
    folder: Path | None = None,
    *,
    sha256: str | None = None,
    progress: Progress = lambda done, total: None,
    note: Callable[[str], object] = lambda message: None,
) -> Path:
    """Download a file, whole and checked, or leave what came for the next attempt.

    It must have the digest that is published, else the one that was recorded in
    ``FILE.sha256`` at the first download; ``note`` is told which. A file that is there
    and has it is not downloaded again. ``progress`` gets the bytes that are there and
    the bytes expected, if known.
    """
    try:
        pooch = importlib.import_module("pooch")
    except ImportError:
        raise OptionalDependencyError("pooch", "fetch", feature="space fetch") from None
    pooch.get_logger().setLevel("WARNING")
    folder = folder or home() / "downloads"
    folder.mkdir(parents=True, exist_ok=True)
    name = address.rsplit("/", 1)[-1]
    record = folder / f"{name}.sha256"
    known, origin = sha256, "published"
    if known is None:
        known = record.read_text().split()[0] if record.exists() else None
        origin = f"recorded in {record}"
    try:
        found = pooch.retrieve(
            address,
            known_hash=f"sha256:{known}" if known else None,
            fname=name,
            path=folder,
            downloader=_resuming(folder / f"{name}.part", progress),
        )
    except OSError as error:
        raise FetchError(f"{address}: {error}; {_AGAIN}") from error
    except ValueError as error:
        problem = f"{name}: its SHA-256 is not the one {origin}, {known}"
        raise SpaceIntegrityError(f"{problem}; the download was deleted") from error
    if known is not None:
        note(f"SHA-256 {known} is the {origin.split()[0]} one")
        return Path(found)
    known = pooch.file_hash(found)
    record.write_text(f"{known}  {name}\n")
    message = f"no SHA-256 is published for this file; recorded {known} in {record}"
    note(f"{message}, and every later download must have it")
    return Path(found)


@contextmanager
def open_member(archive: Path, member: str, bad: BadRows) -> Iterator[VectorSource]:
    """Read GloVe text straight out of a zip file."""
    advice = "delete it and its .sha256, and fetch it again"
    try:
        with zipfile.ZipFile(archive) as opened:
            if member not in opened.namelist():
                raise SpaceIntegrityError(f"{archive}: without {member}; {advice}")
            raw = cast("io.RawIOBase", opened.open(member))
            with io.BufferedReader(raw, HEAD_BYTES) as stream:
                yield open_stream(f"{archive.name}/{member}", stream, bad, form="glove")
    except (zipfile.BadZipFile, zlib.error) as error:
        raise SpaceIntegrityError(f"{archive}: damaged; {advice}") from error


def _resuming(part: Path, progress: Progress) -> Callable[[str, str, object], None]:
    """A downloader for pooch that goes on where an earlier one was cut off.

    It asks for the rest only of the very version that the part came from, which a
    strong entity tag or a date names.
    """
    version = part.with_name(f"{part.name}.version")

    def fetch(address: str, output: str, _: object) -> None:
        requests = importlib.import_module("requests")  # comes with pooch
        start = part.stat().st_size if part.exists() and version.exists() else 0
        headers = {"User-Agent": "mondegreen", "Accept-Encoding": "identity"}
        if start:
            headers |= {"Range": f"bytes={start}-", "If-Range": version.read_text()}
        with requests.get(
            address, headers=headers, stream=True, timeout=_TIMEOUT_SECONDS
        ) as response:
            if address.startswith("https:") and not response.url.startswith("https:"):
                raise FetchError(
                    f"{address}: the server redirects to an address without encryption"
                )
            done, total = _beginning(address, response, part, start)
            if done == 0:
                part.write_bytes(b"")  # first: no old bytes get the new version
                _write_version(version, response.headers)
            broken = None
            with part.open("ab") as stream:
                try:
                    for chunk in response.iter_content(_CHUNK_BYTES):
                        stream.write(chunk)
                        done += len(chunk)
                        progress(done, total)
                except requests.RequestException as error:
                    broken = error
        if broken or (total is not None and done != total):
            problem = f"cut off after {done} of {total} bytes; {_AGAIN}"
            raise FetchError(f"{address}: {problem}") from broken
        part.replace(output)
        version.unlink(missing_ok=True)

    return fetch


def _beginning(
    address: str, response: Any, part: Path, start: int
) -> tuple[int, int | None]:
    """Where the answer begins in the file, and the size of the file, if known."""
    span = response.headers.get("Content-Range", "")
    if response.status_code == 416 and start:
        if span == f"bytes */{start}":
            return start, None  # it was complete
        part.unlink()
        raise FetchError(f"{address}: changed meanwhile; run the command again")
    if response.status_code == 206:
        found = re.fullmatch(rf"bytes {start}-\d+/(\d+|\*)", span)
        if not found:
            raise FetchError(f"{address}: the server sent another range than was asked")
        return start, None if found[1] == "*" else int(found[1])
    if response.status_code != 200:
        answer = f"{response.status_code} {response.reason}"
        raise FetchError(f"{address}: the server answers {answer}")
    size = response.headers.get("Content-Length")
    return 0, int(size) if size is not None else None


def _write_version(version: Path, headers: Any) -> None:
    """Remember the version as If-Range may name it, or that it has no name."""
    tag = headers.get("ETag", "")
    named = tag if tag and not tag.startswith("W/") else headers.get("Last-Modified")
    if named:
        version.write_text(named)
    else:
        version.unlink(missing_ok=True)
