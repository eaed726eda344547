"""The registry: names, aliases, and what it says to a name it does not know."""

from __future__ import annotations

import subprocess
import sys

import pytest

import mondegreen as mg
from mondegreen.errors import UnknownNameError
from mondegreen.mechanisms import mechanism_class
from mondegreen.mechanisms.base import AbstractMechanism


def test_mechanisms_come_sorted_by_name_and_once():
    names = [cls.name for cls in mg.mechanisms()]
    assert names == sorted(set(names))
    assert {"exponential", "laplace", "mahalanobis", "tem", "vickrey"} <= set(names)


def test_a_name_leads_to_the_class_that_bears_it():
    for cls in mg.mechanisms():
        assert issubclass(cls, AbstractMechanism)
        assert mechanism_class(cls.name) is cls
        assert cls.__name__.lower() == cls.name.replace("_", "")
        file = cls.__module__.rpartition(".")[2]
        assert file == {"brr": "binary"}.get(cls.name, cls.name)
        room = cls.__module__.split(".")[2]
        assert room == (cls.family if cls.is_private else "baselines")
        assert cls.metric


@pytest.mark.parametrize(
    ("alias", "name"),
    [("cmp", "laplace"), ("madlib", "laplace"), ("santext", "exponential")],
)
def test_papers_names_are_aliases(alias, name):
    assert mg.mechanism(alias, epsilon=3.0) == mg.mechanism(name, epsilon=3.0)
    assert mg.mechanism(alias, epsilon=3.0).to_dict()["name"] == name


def test_the_aliases_of_a_class_are_those_of_the_registry():
    for cls in mg.mechanisms():
        for alias in cls.aliases:
            assert mechanism_class(alias) is cls


@pytest.mark.parametrize(
    ("given", "nearest"),
    [("laplase", "laplace"), ("mahalanobi", "mahalanobis"), ("santex", "santext")],
)
def test_an_unknown_name_lists_all_nearest_first(given, nearest):
    with pytest.raises(UnknownNameError) as caught:
        mg.mechanism(given, epsilon=1.0)
    listed = str(caught.value).partition("choose one of: ")[2].split(", ")
    assert listed[0] == nearest
    assert {cls.name for cls in mg.mechanisms()} <= set(listed)
    assert isinstance(caught.value, LookupError)


@pytest.mark.parametrize("given", ["", "LAPLACE", "laplace ", "zzz"])
def test_names_are_exact(given):
    with pytest.raises(UnknownNameError, match="there is no mechanism named"):
        mechanism_class(given)


def test_a_mechanism_is_imported_when_it_is_asked_for():
    code = (
        "import sys, mondegreen as mg; mg.mechanism('tem', epsilon=1.0);"
        "print([m for m in ('faiss', 'scipy', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
