"""Public spaces and their download; nothing else in the package opens a socket."""

from __future__ import annotations

import hashlib
import http.client
import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast, final

from mondegreen.errors import FetchError, SpaceIntegrityError, UnknownNameError
from mondegreen.files import home
from mondegreen.space.formats import HEAD_BYTES, open_stream
from mondegreen.space.rows import BadRows, VectorSource

if TYPE_CHECKING:
    from http.client import HTTPResponse


_CHUNK_BYTES = 1 << 20
_TIMEOUT_SECONDS = 60.0

Progress = Callable[[int, int | None], object]


@final
@dataclass(frozen=True, slots=True)
class PublicSpace:
    """Word vectors that anyone can download.

    Parameters
    ----------
    name : str
        What the space will be called.
    address : str
        Of a zip file.
    member : str
        The file in it, GloVe text.
    licence : str
        SPDX identifier.
    sha256 : str, optional
        Of the zip file, only where it was published by the authors. Without one, the
        digest of the first download is recorded and enforced from then on.
    """

    name: str
    address: str
    member: str
    licence: str
    sha256: str | None = None


_STANFORD = "https://nlp.stanford.edu/data"
_PDDL = "PDDL-1.0"

PUBLIC_SPACES: Final = {
    each.name: each
    for each in (
        *(
            PublicSpace(
                f"glove-6b-{dim}d",
                f"{_STANFORD}/glove.6B.zip",
                f"glove.6B.{dim}d.txt",
                _PDDL,
            )
            for dim in (50, 100, 200, 300)
        ),
        PublicSpace(
            "glove-840b-300d",
            f"{_STANFORD}/glove.840B.300d.zip",
            "glove.840B.300d.txt",
            _PDDL,
        ),
    )
}


def public_space(name: str) -> PublicSpace:
    """Return the entry of the register.

    Raises
    ------
    UnknownNameError
        If there is none of this name.
    """
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

    Parameters
    ----------
    address : str
        Where the file is.
    folder : Path, optional
        Where to; ``downloads`` in the cache by default.
    sha256 : str, optional
        The published digest. Without it the one recorded at the first download, in
        ``FILE.sha256``, must match; where there is none it is recorded now.
    progress : callable
        Called with the bytes that are there and the bytes expected, if known.
    note : callable
        Told, in words, which digest was enforced or recorded.

    Returns
    -------
    Path
        The file. One that is already there is checked and not downloaded again.

    Raises
    ------
    FetchError
        If the server refuses, or the connection is cut off; run again to resume.
    SpaceIntegrityError
        If the content is not what its digest promises; it is deleted.
    """
    folder = folder or home() / "downloads"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / address.rsplit("/", 1)[-1]
    part = target.with_name(target.name + ".part")
    whole = target if target.exists() else part
    try:
        if whole is part:
            _receive(address, part, progress)
    except (OSError, http.client.HTTPException) as error:
        raise FetchError(
            f"{address}: {error}; run the command again to resume"
        ) from error
    _check(whole, target.with_name(target.name + ".sha256"), sha256, note)
    if whole is part:
        part.replace(target)
        _validator_file(part).unlink(missing_ok=True)
    return target


@contextmanager
def open_member(archive: Path, member: str, bad: BadRows) -> Iterator[VectorSource]:
    """Read GloVe text straight out of a zip file.

    Raises
    ------
    SpaceIntegrityError
        If the zip file is damaged or lacks the file.
    """
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


def _receive(address: str, part: Path, progress: Progress) -> None:
    """Bring the part file to its full size, from where it was cut off if possible."""
    there = part.stat().st_size if part.exists() else 0
    validator = _read_validator(part) if there else None
    start = there if validator else 0  # without one, the rest may be of another file
    with _request(address, start, validator) as response:
        if response.status == http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
            if response.headers.get("Content-Range") == f"bytes */{start}":
                return  # it was complete
            part.unlink()
            raise FetchError(f"{address}: changed meanwhile; run the command again")
        if response.status == http.client.PARTIAL_CONTENT:
            total = _total_of_range(address, response, start)
        else:
            start, total = 0, response.length
            part.write_bytes(b"")  # first, so that no old bytes get the new validator
            _write_validator(part, response)
        done = start
        with part.open("r+b" if start else "wb") as stream:
            stream.seek(start)
            while chunk := response.read(_CHUNK_BYTES):
                stream.write(chunk)
                done += len(chunk)
                progress(done, total)
    if total is not None and done != total:
        raise FetchError(
            f"{address}: cut off after {done} of {total} bytes; "
            "run the command again to resume"
        )


def _request(address: str, start: int, validator: str | None) -> HTTPResponse:
    """Ask for the file, or for the rest of it if it is still the same."""
    import urllib.error
    import urllib.request

    headers = {"User-Agent": "mondegreen", "Accept-Encoding": "identity"}
    if start and validator:
        headers |= {"Range": f"bytes={start}-", "If-Range": validator}
    request = urllib.request.Request(address, headers=headers)  # noqa: S310 # from the register
    try:
        response = urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS)  # noqa: S310 # as above
    except urllib.error.HTTPError as error:
        if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE and start:
            return error  # type: ignore[return-value] # an HTTPError is a response
        error.close()
        raise FetchError(
            f"{address}: the server answers {error.code} {error.reason}"
        ) from None
    except urllib.error.URLError as error:
        raise FetchError(f"{address}: {error.reason}") from error
    if address.startswith("https:") and not response.url.startswith("https:"):
        response.close()
        raise FetchError(f"{address}: redirected to an address without encryption")
    if response.status not in (http.client.OK, http.client.PARTIAL_CONTENT):
        response.close()
        raise FetchError(f"{address}: the server answers {response.status}")
    return response  # type: ignore[no-any-return]


def _total_of_range(address: str, response: HTTPResponse, start: int) -> int | None:
    """Return the size of the whole file, if the answer begins where we stopped."""
    given = response.headers.get("Content-Range", "")
    found = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", given)
    if not found or int(found[1]) != start:
        raise FetchError(f"{address}: the server sent another range than was asked")
    return None if found[2] == "*" else int(found[2])


def _validator_file(part: Path) -> Path:
    """Return the file that says which version of the source a part belongs to."""
    return part.with_name(part.name + ".json")


def _read_validator(part: Path) -> str | None:
    """Return the entity tag or date of the version that the part belongs to."""
    try:
        found = json.loads(_validator_file(part).read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, str) and found else None


def _write_validator(part: Path, response: HTTPResponse) -> None:
    """Remember the version, by its strong entity tag or its date."""
    tag = response.headers.get("ETag", "")
    strong = tag if tag and not tag.startswith("W/") else ""
    validator = strong or response.headers.get("Last-Modified", "")
    _validator_file(part).write_text(json.dumps(validator))


def _check(
    whole: Path, record: Path, published: str | None, note: Callable[[str], object]
) -> None:
    """Enforce the published digest or the recorded one; record the first."""
    with whole.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    recorded = record.read_text().split()[:1] if record.exists() else []
    for expected, origin in (
        (published, "published"),
        (recorded[0] if recorded else None, f"recorded in {record}"),
    ):
        if expected is not None and found != expected:
            whole.unlink()
            raise SpaceIntegrityError(
                f"{whole.name}: its SHA-256 is {found}, and the one {origin} is "
                f"{expected}; the file was deleted"
            )
    if recorded or published:
        note(f"SHA-256 {found} is the {'published' if published else 'recorded'} one")
        return
    record.write_text(f"{found}  {record.name.removesuffix('.sha256')}\n")
    note(
        f"no SHA-256 is published for this file; recorded {found} in {record}, "
        "and every later download must have it"
    )
