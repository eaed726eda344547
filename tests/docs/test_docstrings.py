"""Docstrings: their examples run, and their sections are what they should be."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re

import pytest

import mondegreen as mg

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
    info.name for info in pkgutil.walk_packages(mg.__path__, prefix="mondegreen.")
]
MECHANISMS = list(mg.mechanisms())


def public():
    """Yield the classes and functions that modules export, each once."""
    for name in MODULES:
        module = importlib.import_module(name)
        for exported in getattr(module, "__all__", ()):
            value = getattr(module, exported, None)
            is_code = inspect.isclass(value) or inspect.isfunction(value)
            if is_code and value.__module__ == name:
                yield pytest.param(value, id=f"{name}.{exported}")


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


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module_run(name):
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert not failed


@pytest.mark.parametrize("name", MODULES)
def test_a_module_says_what_it_is_about(name):
    text = inspect.getdoc(importlib.import_module(name)) or ""
    # A package without a word of its own leaves it to its modules.
    assert text.partition("\n")[0].endswith((".", ":")) or (
        not text and not hasattr(importlib.import_module(name), "__all__")
    )


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


@pytest.mark.parametrize("name", [n for n in mg.__all__ if n != "errors"])
def test_a_public_name_has_parameters_and_an_example(name):
    value = mg.mechanisms.mechanisms if name == "mechanisms" else getattr(mg, name)
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
