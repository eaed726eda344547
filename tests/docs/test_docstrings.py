"""Docstrings: their examples run, and their sections are what they should be."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import mondegreen as mg
import mondegreen_experiments

ORDER = (
    "Parameters",
    "Attributes",
    "Returns",
    "Yields",
    "Raises",
    "Notes",
    "References",
    "Examples",
)
MODULES = [
    info.name
    for package in (mg, mondegreen_experiments)
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]
MECHANISMS = list(mg.mechanisms())
SLOW = {  # their examples audit, attack, or read all of Unicode or English
    "mondegreen.attacks.any_tool.run",
    "mondegreen.attacks.context",
    "mondegreen.audit.run",
    "mondegreen.decode.adapt",
    "mondegreen.decode.decoder",
    "mondegreen.device.artifact",
    "mondegreen.device.unicode",
    "mondegreen.policy.scope",
    "mondegreen.scores.preview",
}

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def public():
    """Yield the classes and functions of the reference, each once."""
    pages = sorted(REFERENCE.glob("*.md"))
    found = [n for p in pages for n in re.findall(r"^::: (\S+)", p.read_text(), re.M)]
    assert len(found) > 25
    for path in found:
        module, _, name = path.rpartition(".")
        if path == "mondegreen.errors":
            for error in mg.errors.__all__:
                yield pytest.param(getattr(mg.errors, error), id=error)
        else:
            value = getattr(importlib.import_module(module), name)
            yield pytest.param(value, id=path)


PUBLIC = list(public())


def sections(value):
    """Return the titles of the sections of a docstring, in order."""
    return re.findall(r"^([A-Z][a-z]+)\n-{3,}$", inspect.getdoc(value) or "", re.M)


def documented(value, title):
    """Return the names that a section documents."""
    text = inspect.getdoc(value) or ""
    body = re.split(rf"^{title}\n-+\n", text, flags=re.M)[1]
    body = re.split(r"^[A-Z]\w+\n-{3,}$", body, flags=re.M)[0]
    heads = re.findall(r"^(\**\w[\w*, ]*?)(?: : .*)?$", body, re.M)
    return [name.strip(" *") for head in heads for name in head.split(",")]


def loaded(name):
    """Import a module, where the extra that it needs is installed."""
    try:
        return importlib.import_module(name)
    except mg.errors.OptionalDependencyError as error:
        pytest.skip(str(error))
    except ModuleNotFoundError as error:
        absent = mg.errors.OptionalDependencyError.from_import(error)
        if absent is None or not absent.extra:
            raise
        pytest.skip(str(absent))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow("seconds")] * (name in SLOW))
        for name in MODULES
    ],
)
def test_examples_of_a_module_run(name):
    module = loaded(name)
    try:
        doctest.testmod(module, optionflags=doctest.ELLIPSIS, raise_on_error=True)
    except doctest.UnexpectedException as error:
        absent = error.exc_info[1]
        if not isinstance(absent, mg.errors.OptionalDependencyError):
            raise
        pytest.skip(str(absent))


@pytest.mark.parametrize("name", MODULES)
def test_a_module_says_what_it_is_about(name):
    text = inspect.getdoc(loaded(name)) or ""
    assert text.partition("\n")[0].endswith((".", ":"))


@pytest.mark.parametrize("value", PUBLIC)
def test_a_summary_is_one_sentence_and_sections_are_in_order(value):
    text = inspect.getdoc(value) or ""
    assert re.match(r"[A-Z`].*?[.:](\n|$)", text, re.DOTALL), text[:80]
    titles = sections(value)
    assert set(titles) <= set(ORDER)
    assert titles == sorted(titles, key=ORDER.index)


@pytest.mark.parametrize("value", PUBLIC)
def test_a_parameters_section_names_every_parameter(value):
    if "Parameters" not in sections(value):
        return
    parameters = set(inspect.signature(value).parameters) - {"self", "cls"}
    public = {name for name in parameters if not name.startswith("_")}
    assert set(documented(value, "Parameters")) == public


def methods():
    """Yield methods of the reference; a base class describes what it declares."""
    for parameter in PUBLIC:
        (cls,) = parameter.values
        if not inspect.isclass(cls) or cls.__module__ == mg.errors.__name__:
            continue
        bases = [b for b in cls.__mro__[1:] if b.__module__.startswith("mondegreen")]
        for name, value in vars(cls).items():
            function = getattr(value, "__func__", value)
            is_own = not any(name in vars(base) for base in bases)
            is_public = not name.startswith("_") and inspect.getdoc(function)
            if inspect.isfunction(function) and is_own and is_public:
                yield pytest.param(function, id=f"{parameter.id}.{name}")


FUNCTIONS = [p for p in PUBLIC if inspect.isfunction(p.values[0])]


@pytest.mark.parametrize("value", [*FUNCTIONS, *methods()])
def test_a_function_documents_what_it_takes_and_returns(value):
    signature, found = inspect.signature(value), sections(value)
    text = inspect.getdoc(value)
    if set(signature.parameters) - {"self", "cls"}:
        assert "Parameters" in found or "Parameters are those of" in text
    if signature.return_annotation not in (None, "None", signature.empty):
        assert {"Returns", "Yields"} & set(found)


@pytest.mark.parametrize("name", [n for n in mg.__all__ if n != "errors"])
def test_a_public_name_has_parameters_and_an_example(name):
    value = getattr(mg, name)
    if set(inspect.signature(value).parameters) - {"self"}:
        assert "Parameters" in sections(value)


@pytest.mark.parametrize("cls", MECHANISMS, ids=lambda cls: cls.name)
def test_a_mechanism_states_law_promise_and_source(cls):
    text = inspect.getdoc(cls) or ""
    needed = {"Parameters", "Raises", "Notes", "References", "Examples"}
    assert needed <= set(sections(cls))
    assert ".. math::" in text
    assert "*Privacy.*" in text
    assert f"docs/proofs/{cls.name}.md" in " ".join(text.split())
    assert ">>> " in text
