"""The Containerfile: built and run where a builder is at hand, else step by step.

Without a builder, its steps run in fresh environments in place of images: the wheel is
built from what it copies and from nothing else, it is installed with what its last step
asks for, and the entry point runs as another user, without a home, unable to write a
byte to a file. What is not covered then: the base image, ``useradd``, and the file
systems and networks of containers. Libraries that the service declares, and those that
they declare, are taken from this environment where it has them: there pip finds them
installed, and nothing that is not declared.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shlex
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

import click
import pytest
from wheels import ROOT, copy_declared, environment, run

from mondegreen.cli.main import cli

pwd, resource = (pytest.importorskip(name) for name in ("pwd", "resource"))  # POSIX

LINES = (ROOT / "Containerfile").read_text("utf-8").splitlines()
STEPS = [
    tuple(line.split(" ", 1)) for line in LINES if line and not line.startswith("#")
]
SERVES = pytest.mark.skipif(
    "serve" not in cli.list_commands(click.Context(cli)), reason="there is no service"
)


def values(name):
    return [rest for step, rest in STEPS if step == name]


def the_command(name):
    """What runs, as a list: the JSON form, which asks no shell."""
    (value,) = values(name)
    return json.loads(value[value.index("[") :])


def test_it_holds_known_steps_alone_and_no_root_no_key_no_epsilon():
    known = {"FROM", "WORKDIR", "COPY", "RUN", "USER", "ENV", "EXPOSE"}
    assert {step for step, _ in STEPS} == known | {"HEALTHCHECK", "ENTRYPOINT"}
    assert values("USER") == ["10001"]
    after_user = [step for step, _ in STEPS[STEPS.index(("USER", "10001")) + 1 :]]
    assert not {"RUN", "COPY"} & set(after_user)
    entry = the_command("ENTRYPOINT")
    assert entry[:2] == ["mondegreen", "serve"]
    assert not {"--epsilon", "-e", "--key-file"} & set(entry)
    assert "--api-keys" in entry


def test_the_ports_are_one():
    (port,) = values("EXPOSE")
    entry = the_command("ENTRYPOINT")
    assert entry[entry.index("--port") + 1] == port
    assert f"127.0.0.1:{port}/healthz" in the_command("HEALTHCHECK")[-1]


@SERVES
def test_the_options_of_the_entry_point_exist():
    serve = cli.get_command(click.Context(cli), "serve")
    known = {name for option in serve.params for name in option.opts}
    assert {part for part in the_command("ENTRYPOINT") if part[:2] == "--"} <= known


# Without a builder


def copied(rest, places):
    """Do a COPY step: from the repository, or from an earlier stage."""
    *sources, target = [part for part in rest.split() if not part.startswith("--")]
    if "--from=" in rest:
        assert places[sources[0]].exists()
        return
    for source in sources:
        to = places["/build"] / (Path(source).name if target == "./" else target)
        (shutil.copytree if (ROOT / source).is_dir() else shutil.copy)(
            ROOT / source, to
        )


@pytest.fixture(scope="module")
def image():
    """Run the steps that make the image; the folder of its programs.

    Where the libraries of the service are, so that pip does not bring them once more.
    """
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    folder = Path(tempfile.mkdtemp(prefix="image-"))  # which another user may read
    folder.chmod(0o755)
    places = {name: folder / name.strip("/") for name in ("/build", "/dist")}
    places["/build"].mkdir()
    try:
        python = environment(folder / "venv")
        copy_declared("serve", python)
        for step, rest in STEPS:
            if step == "COPY":
                copied(rest, places)
            elif step == "RUN" and not rest.startswith("useradd"):
                assert rest.startswith("python -m pip ")
                # Nothing that a cache holds would be another file.
                command = rest.replace("--no-cache-dir ", "")
                command = command.replace("/dist", str(places["/dist"]))
                path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
                run(
                    ["/bin/sh", "-euc", command],
                    cwd=places["/build"],
                    env={**os.environ, "PATH": path},
                )
        yield python.parent
    finally:
        shutil.rmtree(folder)


def writes_nothing():
    """Let no file of this process grow: as on a file system that is read-only."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def as_in_the_image(image):
    """The environment of the image, and its user, where we may become another."""
    given = dict(pair.split("=", 1) for line in values("ENV") for pair in line.split())
    path = f"{image}{os.pathsep}/usr/bin{os.pathsep}/bin"
    options = {
        "env": {**given, "PATH": path, "HOME": "/nonexistent"},
        "cwd": "/",
        "preexec_fn": writes_nothing,
    }
    if os.getuid() == 0:
        number = int(values("USER")[0])
        with pytest.raises(KeyError):
            pwd.getpwuid(number)  # so that it owns nothing here
        options |= {"user": number, "group": number, "extra_groups": []}
    return options


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return str(held.getsockname()[1])


@contextlib.contextmanager
def started(image, keys):
    """The entry point, once it is healthy, on a port that is free here."""
    port, options = free_port(), as_in_the_image(image)
    there = {"0.0.0.0": "127.0.0.1", "8000": port, "/run/secrets/api_keys": str(keys)}
    entry = [there.get(part, part) for part in the_command("ENTRYPOINT")]
    health = [part.replace("8000", port) for part in the_command("HEALTHCHECK")]
    log = subprocess.Popen(
        [*entry, "--epsilon", "10"], stderr=subprocess.PIPE, text=True, **options
    )
    try:
        for _ in range(600):
            if not subprocess.run(health, capture_output=True, **options).returncode:
                break
            assert log.poll() is None, log.stderr.read()
            time.sleep(0.5)
        yield log, port
    finally:
        log.kill()
        log.wait()
        log.stderr.close()


@pytest.mark.slow("builds a wheel and installs it", seconds=15)
def test_the_package_works_as_another_user_without_a_home_or_a_file(image):
    shown = run(
        ["mondegreen", "privatize", "-", "--epsilon", "10", "-q"],
        input="I met Ann in Oslo.\n",
        **as_in_the_image(image),
    )
    assert len(shown.split()) == 5


@SERVES
@pytest.mark.slow("builds a wheel, installs it, and starts the service")
def test_the_service_answers_as_another_user_without_a_home_or_a_file(image):
    keys, key = image.parent / "api.keys", secrets.token_urlsafe(32)
    keys.write_text(f"{key}\n")
    keys.chmod(0o600)
    if os.getuid() == 0:
        os.chown(keys, int(values("USER")[0]), -1)
    with started(image, keys) as (process, port):
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/v1/privatize",
            json.dumps({"texts": ["I met Ann in Oslo.", None]}).encode(),
            {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            text, null = json.load(answer)["texts"]
        assert len(text.split()) == 5
        assert null is None
        process.terminate()
        assert process.wait(timeout=60) == 0


@SERVES
@pytest.mark.slow("builds a wheel and installs it")
def test_without_an_epsilon_it_does_not_start(image):
    done = subprocess.run(
        the_command("ENTRYPOINT"),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **as_in_the_image(image),
    )
    assert done.returncode == 2
    assert "--epsilon" in done.stderr


# With one


@pytest.mark.slow("builds an image")
def test_a_builder_makes_the_image_and_it_runs(tmp_path):
    builder = next(
        (name for name in ("podman", "docker") if shutil.which(name) and works(name)),
        None,
    )
    if builder is None:
        pytest.skip("no builder of images is at hand")
    tag = f"mondegreen-test-{secrets.token_hex(4)}"
    run([builder, "build", "-t", tag, "-f", "Containerfile", "."], cwd=ROOT)
    try:
        shown = run(
            [
                *(builder, "run", "--rm", "-i", "--read-only", "--network", "none"),
                *("--entrypoint", "mondegreen", tag, "privatize", "-", "-e", "10"),
            ],
            input="I met Ann in Oslo.\n",
        )
        assert len(shown.split()) == 5
    finally:
        run([builder, "rmi", tag])


def works(builder):
    """Whether it can reach what does its work."""
    done = subprocess.run(
        shlex.split(f"{builder} info"), capture_output=True, timeout=60, check=False
    )
    return done.returncode == 0
