"""Everything public has its place in the documentation, and no page has drifted."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

import mondegreen as mg
from benchmarks.pages import examples_page
from mondegreen import errors
from mondegreen.cli.main import cli
from mondegreen.mechanisms import mechanism_class

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
PAGES = sorted(p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md"))
CLASSES = [getattr(errors, name) for name in errors.__all__]


def commands(command=cli, path="mondegreen"):
    """Yield every command with its path."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from commands(command.get_command(context, name), f"{path} {name}")


COMMANDS = dict(commands())


@pytest.mark.parametrize("name", mg.__all__)
def test_every_public_name_is_in_the_python_reference(name):
    text = (REFERENCE / "python.md").read_text("utf-8")
    if name == "errors":
        assert "](errors.md)" in text
    else:
        assert re.search(rf"^::: mondegreen\.[\w.]*\b{name}$", text, re.MULTILINE)


@pytest.mark.parametrize("name", [cls.name for cls in mg.mechanisms()])
def test_every_mechanism_is_in_the_reference_the_glossary_and_the_examples(name):
    pages = ["reference/mechanisms.md", "glossary.md"]
    if "euclidean" in mechanism_class(name).space_metrics:  # as the embedded space is
        pages.append("examples.md")
    for page in pages:
        assert re.search(rf"\b{name}\b", (DOCS / page).read_text("utf-8")), page


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_is_in_the_reference(path):
    text = (REFERENCE / "command-line.md").read_text("utf-8")
    assert re.search(rf"^#+ {path}$", text, re.MULTILINE)


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_has_help_with_an_example(path):
    command = COMMANDS[path]
    assert command.help, path
    example = rf"^.*\b{path}\b( .*)?$"
    assert re.search(example, command.help, re.MULTILINE), f"no example in: {path}"


@pytest.mark.parametrize("path", COMMANDS)
def test_every_option_has_help(path):
    missing = [
        parameter.name
        for parameter in COMMANDS[path].params
        if isinstance(parameter, click.Option)
        and not (parameter.help or (parameter.show_default and parameter.name))
    ]
    assert missing == []


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_error_is_drawn_with_its_base_and_listed(cls):
    drawing = inspect.getdoc(errors) or ""
    assert re.search(rf"\b{cls.__name__}\b", drawing)
    assert cls.__doc__
    assert "::: mondegreen.errors" in (REFERENCE / "errors.md").read_text("utf-8")


def test_no_error_is_missing_from_all():
    defined = {
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value)
        and issubclass(value, errors.MondegreenError)
        and value.__name__ == name  # and not an older name of another
    }
    assert defined == set(errors.__all__)


def test_exit_codes_are_those_of_the_drawing():
    drawing = inspect.getdoc(errors) or ""
    for name, code in re.findall(r"(\w+Error)(?: \(\w+\))? {2,}(\d)$", drawing, re.M):
        assert getattr(errors, name).exit_code == int(code), name


@pytest.mark.slow("the lint of CI checks it too")
def test_generated_pages_have_not_drifted():
    check = [sys.executable, str(DOCS / "generate_reference.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_examples_are_of_every_mechanism_that_the_embedded_space_allows():
    assert set(examples_page.EPSILONS) == {
        cls.name for cls in mg.mechanisms() if "euclidean" in cls.space_metrics
    }


@pytest.mark.parametrize("page", PAGES)
def test_every_page_is_in_the_navigation(page):
    assert page in (ROOT / "mkdocs.yml").read_text("utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_links_between_pages_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", (DOCS / page).read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#:]+\.md)(?:#[\w-]+)?\)", text):
        assert (DOCS / page).parent.joinpath(target).is_file(), target


@pytest.mark.parametrize("page", PAGES)
def test_paths_of_files_in_the_repository_exist(page):
    text = (DOCS / page).read_text("utf-8")
    for path in re.findall(r"`((?:src|tests|docs|benchmarks)/[\w./-]+)`", text):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("page", PAGES)
def test_every_formula_can_be_drawn(page, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    markdown = pytest.importorskip("markdown")
    pytest.importorskip("latex2mathml")
    import mathml

    extensions = ["fenced_code", "tables", mathml.MathExtension()]
    text = (DOCS / page).read_text("utf-8")
    html = markdown.markdown(text, extensions=extensions)
    html = re.sub(r"<(annotation|code|pre)\b.*?</\1>", "", html, flags=re.DOTALL)
    assert "\\" not in re.sub(r"<[^>]+>", "", html)


@pytest.mark.parametrize("formula", [r"\nosuchmacro x", r"\frac{a}{b", "a}"])
def test_a_formula_that_cannot_be_drawn_is_refused(formula, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    pytest.importorskip("markdown")
    pytest.importorskip("latex2mathml")
    import mathml

    assert "<mfrac>" in mathml.to_mathml(r"\frac{\arg\min_y \ln y}{2}")
    with pytest.raises(mathml.UnknownMacroError):
        mathml.to_mathml(formula)
