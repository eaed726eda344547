"""What is said of the package a second time is what pyproject.toml says."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
RECIPE = (ROOT / "packaging/conda/recipe.yaml").read_text("utf-8")


def listed(key):
    """The items of a list of the recipe."""
    block = re.search(rf"^ *{key}:\n((?: +- .*\n)+)", RECIPE, re.MULTILINE)[1]
    return {line.strip()[2:].replace(" ", "") for line in block.splitlines()}


def test_conda_needs_what_pip_needs():
    needs = {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"}
    assert listed("run") == needs


def test_conda_makes_the_same_package():
    assert f'version: "{PROJECT["version"]}"' in RECIPE
    assert f'summary: "{PROJECT["description"]}"' in RECIPE
    assert f"license: {PROJECT['license']}\n" in RECIPE
    assert listed("license_file") == set(PROJECT["license-files"])
    (entry,) = PROJECT["scripts"].items()
    assert listed("entry_points") == {"=".join(entry)}


def test_conda_builds_with_what_pip_builds_with():
    system = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]
    assert set(system["requires"]) <= listed("host")


def test_the_experiments_are_of_this_version_and_licence():
    path = ROOT / "experiments" / "pyproject.toml"
    project = tomllib.loads(path.read_text("utf-8"))["project"]
    assert project["version"] == PROJECT["version"]
    assert project["dependencies"] == [f"mondegreen=={PROJECT['version']}"]
    for key in ("requires-python", "license"):
        assert project[key] == PROJECT[key]
    assert (path.parent / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_recipe_is_yaml_of_the_known_form():
    yaml = pytest.importorskip("yaml")
    found = yaml.safe_load(RECIPE)
    assert set(found) == {
        *("context", "package", "source", "build", "requirements", "tests", "about")
    }
    assert {dep.replace(" ", "") for dep in found["requirements"]["run"]} == listed(
        "run"
    )


def test_the_page_on_installing_names_every_extra():
    page = (ROOT / "docs/how-to/install.md").read_text("utf-8")
    rows = page.split("| extra | for |")[1].split("\n\n")[0]
    named = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\|(.*?)\|", rows, re.M))))
    assert named == set(PROJECT["optional-dependencies"]) - {"test", "integrations"}


def test_every_example_has_its_line():
    page = (ROOT / "examples/README.md").read_text("utf-8")
    named = re.findall(r"^- \[`(.*?)`\]\((.*?)\): .+$", page, re.MULTILINE)
    assert all(name == target for name, target in named)
    files = {path.name for path in (ROOT / "examples").iterdir()} - {"README.md"}
    assert {name for name, _ in named} == files - {"__pycache__"}
