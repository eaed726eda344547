"""The wheel: the package and nothing else, small, and usable where it is installed.

It is installed as a newcomer does who follows the README: its set-up makes a wheel and
a fresh environment, and then every command under "Use" runs. That what it needs is all
declared is shown there with the extra for reports, and in test_container.py with that
of the service: neither holds the libraries of the other.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from wheels import ROOT, run, wheel_in, wheel_of_experiments_in

import mondegreen as mg

pytestmark = pytest.mark.slow("builds and installs packages", seconds=10)

README = (ROOT / "README.md").read_text(encoding="utf-8")
COPIED = ("pyproject.toml", "README.md", "LICENSE", "NOTICE")
LARGEST = 26_000_000  # bytes; the space and the language model are 24 of them
DATA = {  # whoever adds a file says here that its licence lets it ship
    "attacks/data/categories.json",
    "language/data/english.lm",
    "policy/data/english.policy",
    "py.typed",
    "report/page.css",
    "report/page.html",
    "prompts/calendar_names.json",
    "scores/data/attacked_policies.json",
    "scores/data/previews.json",
    "serve/ui/index.html",
    "serve/ui/page.js",
    "serve/ui/style.css",
    "space/data/codes/glove-840b-34k.codes-256.safetensors",
    "space/data/english.json",
    "space/data/glove-840b-34k.certificates.json",
    "space/data/glove-840b-34k.safetensors",
    "space/data/trees/d6538cb1373f.weights.json",
    "space/data/trees/e60f5a811bca.weights.json",
    "space/data/trees/glove-840b-34k.families.tree",
    "space/data/trees/glove-840b-34k.tree",
    "text/data/cases.txt",
    "text/data/later_characters.txt",
    "text/data/never_printed.txt",
    "text/data/ordinary.txt",
    "text/data/sentences.txt",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return wheel_in(tmp_path_factory.mktemp("wheel"))


def commands_of(section):
    """The commands of a section, as they stand."""
    text = README.split(f"## {section}\n")[1].split("\n## ")[0]
    return re.findall(r"```sh\n(.*?)\n```", text, re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy of the repository, in which the first set-up command was run."""
    made = tmp_path_factory.mktemp("readme") / "mondegreen"
    made.mkdir()
    for name in COPIED:
        shutil.copy2(ROOT / name, made)
    for name in ("src", "examples"):
        shutil.copytree(ROOT / name, made / name)
    first, _ = commands_of("Set up")
    shown = run(["bash", "-euc", first], cwd=made, env=clean(made))
    assert "\nid,stars,review\n" in shown
    return made


def clean(folder):
    """An environment without what this one has installed or cached."""
    kept = {name: os.environ[name] for name in ("PATH",)}
    pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    return {**kept, **pip, "HOME": str(folder.parent)}


@pytest.fixture(scope="module")
def installed(folder):
    """The programs of the environment that the set-up made."""
    return folder / ".venv" / "bin"


def test_it_is_small(wheel):
    assert wheel.stat().st_size < LARGEST


def test_it_holds_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    info = f"mondegreen-{mg.__version__}.dist-info"
    about = ("METADATA", "RECORD", "WHEEL", "entry_points.txt")
    licences = ("licenses/LICENSE", "licenses/NOTICE")
    assert {f"{info}/{name}" for name in (*about, *licences)} <= names
    shipped = {name for name in names if not name.startswith(info)}
    package = ROOT / "src" / "mondegreen"
    modules = {p.relative_to(package).as_posix() for p in package.rglob("*.py")}
    assert shipped == {f"mondegreen/{name}" for name in modules | DATA}
    assert len(names) == len(shipped) + 6


def test_it_says_what_it_needs(wheel):
    with zipfile.ZipFile(wheel) as archive:
        name = f"mondegreen-{mg.__version__}.dist-info/METADATA"
        metadata = archive.read(name).decode()
    for line in ("Requires-Python: >=3.11", "License-Expression: Apache-2.0"):
        assert f"\n{line}\n" in metadata
    assert "Provides-Extra: serve\n" in metadata
    assert "Provides-Extra: spark\n" in metadata


def test_it_privatizes_without_this_repository(installed, tmp_path):
    assert mg.__version__ in run([installed / "mondegreen", "--version"])
    given = "id,review\n1,I met Ann in Oslo.\n"
    (tmp_path / "in.csv").write_text(given)
    options = ("-o", "out.csv", "-c", "review", "-e", "10", "-q")
    # Neither this repository nor the home of whoever runs it plays a part.
    clean = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
    run(
        [installed / "mondegreen", "privatize", "in.csv", *options],
        cwd=tmp_path,
        env=clean,
    )
    header, row = (tmp_path / "out.csv").read_text().splitlines()
    assert header == "id,review"
    assert row.startswith("1,")
    assert row != given.splitlines()[1]


def test_an_adapter_says_what_to_install(installed):
    done = subprocess.run(
        [
            *(installed / "python", "-c"),
            "import pyarrow as pa, mondegreen as mg, mondegreen.frames as frames\n"
            "p = mg.Privatizer(mg.mechanism('tree', epsilon=10))\n"
            "print(frames.privatize(pa.table({'t': ['Ann']}), ['t'], p).num_rows)\n"
            "frames.privatize(7, ['t'], p)",
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout == "1\n"
    assert "pip install '.[frames]'" in done.stderr


def test_the_experiments_are_a_wheel_of_their_own(installed, tmp_path):
    listing = [installed / "mondegreen", "reproduce", "--list"]
    clean = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
    absent = subprocess.run(
        listing, cwd=tmp_path, env=clean, capture_output=True, text=True, timeout=300
    )
    assert (absent.returncode, absent.stdout) == (2, "")
    assert absent.stderr.endswith("not installed: pip install ./experiments\n")
    wheel = wheel_of_experiments_in(tmp_path)
    beside = tmp_path / "beside"
    command = [installed / "python", "-m", "pip", "install", "-q", "--no-deps"]
    run([*command, "--target", beside, wheel])
    with_recipes = {**clean, "PYTHONPATH": str(beside)}
    shown = run(listing, cwd=tmp_path, env=with_recipes)
    assert "\ncmp-words " in shown
    measured = run(
        [*listing[:2], "tem-threshold", "--seeds", "1", "--json"],
        cwd=tmp_path,
        env=with_recipes,
    )
    assert json.loads(measured)["recipe"] == "tem-threshold"


@pytest.mark.parametrize("program", ["uvx", "pipx"])
def test_it_runs_without_being_installed(program, wheel, tmp_path):
    """As the page on installing says. Skipped where the program is absent."""
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"{program} is not installed")
    command = ["run", "--spec", wheel] if program == "pipx" else ["--from", wheel]
    more = ["--python", sys.executable]
    homes = {name: str(tmp_path) for name in ("UV_CACHE_DIR", "PIPX_HOME")}
    shown = run(
        [path, *command, *more, "mondegreen", "--version"],
        env={**os.environ, **homes},
    )
    assert mg.__version__ in shown


def test_every_command_under_use_runs_after_the_set_up(folder):
    (script,) = commands_of("Use")
    lines = script.splitlines()
    assert len([line for line in lines if line.startswith("mondegreen ")]) >= 5
    done = subprocess.run(
        ["bash", "-euxc", script],
        cwd=folder,
        env=clean(folder),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    originals = (folder / "examples" / "reviews.csv").read_text("utf-8").splitlines()
    for name in ("safe.csv", "every.csv"):
        released = (folder / "examples" / name).read_text("utf-8").splitlines()
        assert len(released) == len(originals)
        unchanged = set(released[1:]) & set(originals[1:])
        # A review of ordinary words alone stays under a policy that shows them.
        assert len(unchanged) <= (0 if name == "every.csv" else len(originals) / 3)
    page = (folder / "examples" / "left.html").read_text("utf-8")
    assert page.lower().startswith("<!doctype html>")
