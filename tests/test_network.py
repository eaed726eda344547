"""Nothing but ``space fetch`` opens a connection: the rest works without sockets."""

import os
import socket
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import mondegreen as mg
from mondegreen.cli.main import cli
from mondegreen.space.store import save_space

SCRIPT = str(Path(sysconfig.get_path("scripts"), "mondegreen"))

# Put on the path of a fresh interpreter and of its workers: whatever makes, resolves
# or connects a socket there raises. Patching the class in this process would miss
# what a library has taken at import.
GUARD = """
import socket, _socket
def refuse(*args, **options):
    raise AssertionError("a socket was used")
class NoSocket:
    __init__ = refuse
socket.socket = _socket.socket = _socket.SocketType = NoSocket
for name in ("create_connection", "create_server", "getaddrinfo", "gethostbyname"):
    setattr(socket, name, refuse)
_socket.getaddrinfo = _socket.gethostbyname = refuse
"""


class NoSocket:
    """What stands for a socket: it cannot be made."""

    def __init__(self, *args, **options):
        raise AssertionError("a socket was used")


@pytest.fixture(autouse=True)
def no_network(monkeypatch, tmp_path):
    monkeypatch.setattr(socket, "socket", NoSocket)
    for name in ("create_connection", "getaddrinfo", "gethostbyname"):
        monkeypatch.setattr(socket, name, NoSocket)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MONDEGREEN_HOME", str(tmp_path / "home"))


@pytest.fixture
def default_space():
    try:
        return mg.load_space()
    except mg.errors.MondegreenError:
        pytest.skip("the embedded space is not built")


@pytest.fixture
def guarded(tmp_path):
    """Return a function that runs a command in a process that has no sockets."""
    (tmp_path / "guard").mkdir()
    (tmp_path / "guard" / "sitecustomize.py").write_text(GUARD)
    path = [str(tmp_path / "guard"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}

    def run(*command, stdin=b""):
        return subprocess.run(
            command, input=stdin, env=environment, capture_output=True, timeout=60
        )

    return run


def test_the_guard_sees_a_connection(guarded):
    code = "import urllib.request; urllib.request.urlopen('http://localhost:9')"
    done = guarded(sys.executable, "-c", code)
    assert done.returncode == 1
    assert b"a socket was used" in done.stderr
    with pytest.raises(AssertionError, match="a socket was used"):
        socket.create_connection(("localhost", 9))


@pytest.mark.parametrize("name", ["laplace", "mahalanobis", "vickrey"])
@pytest.mark.slow("a process for every part")
def test_the_library_needs_no_network(default_space, name):
    privatizer = mg.Privatizer(mg.mechanism(name, epsilon=100.0))
    assert privatizer("I met Ann in Oslo.").text.count(" ") == 4


@pytest.mark.parametrize(
    "jobs", ["1", pytest.param("2", marks=pytest.mark.slow("two worker processes"))]
)
def test_privatize_needs_no_network(guarded, default_space, jobs):
    arguments = [SCRIPT, "privatize", "-", "-m", "laplace", "--epsilon", "8"]
    arguments += ["--jobs", jobs]
    done = guarded(*arguments, stdin=b"I met Ann in Oslo.\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(b" ") == 4


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["demo"],
        ["doctor"],
        ["doctor", "--json"],
        ["mechanisms"],
        ["mechanisms", "--json"],
        ["space", "list"],
        ["space", "info"],
        ["space", "verify", "glove-840b-34k"],
    ],
    ids=" ".join,
)
@pytest.mark.slow("a process for every verb")
def test_verbs_need_no_network(guarded, default_space, arguments):
    done = guarded(SCRIPT, *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_building_a_space_needs_no_network():
    rng = np.random.default_rng(0)
    lines = [
        " ".join([f"word{i}", *(f"{x:.4f}" for x in rng.normal(size=5))])
        for i in range(50)
    ]
    Path("vectors.txt").write_text("\n".join(lines) + "\n")
    arguments = ["space", "build", "vectors.txt", "-o", "built.safetensors"]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.stderr
    arguments = [
        "privatize",
        "-",
        "-e",
        "1",
        "--policy",
        "all",
        "--space",
        "./built.safetensors",
    ]
    done = CliRunner().invoke(cli, arguments, input=b"word1 other\n")
    assert done.exit_code == 0, done.stderr


def test_a_name_that_is_not_here_is_not_fetched():
    space = mg.Space.from_arrays("mine", ["a", "b"], [[0.0], [1.0]])
    save_space(space, "mine.safetensors")
    for name in ("mine", "glove-6b", "word2vec-google-news"):
        arguments = ["privatize", "-", "-e", "1", "--policy", "all", "--space", name]
        done = CliRunner().invoke(cli, arguments, input=b"a\n")
        assert done.exit_code == 2
        assert "there is no space" in done.stderr
