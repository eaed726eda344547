"""``mondegreen.attacks`` is an interface: documented, typed, and light to load."""

import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

from mondegreen import attacks

REFERENCE = Path(__file__).parents[2] / "docs/reference/python.md"
TEXT = REFERENCE.read_text(encoding="utf-8")
NAMES = [name for name in attacks.__all__ if name != "ORDER"]

USE = """
import sys
import mondegreen as mg
from mondegreen import attacks
for name in attacks.__all__:
    getattr(attacks, name)
rows = [attacks.Given(i, f"Ann {i} met Bob.", f"[X] {i} met Bob.") for i in (1, 2)]
attacks.attack_release(rows, mg.load_language(), mg.load_space())
for law, policy in (("urr", "sensitive"), ("tree", "all")):
    private = mg.Privatizer(mg.mechanism(law, epsilon=12.0), policy=policy)
    attacks.find_exposed_places("Ann lives in the United States.", private)
print(sorted({"faiss", "torch", "sklearn", "transformers", "click"} & {*sys.modules}))
"""


@pytest.mark.parametrize("name", NAMES)
def test_a_name_has_its_place_in_the_reference(name):
    assert re.search(rf"^::: mondegreen\.attacks\.[\w.]*\b{name}$", TEXT, re.MULTILINE)
    assert getattr(attacks, name).__doc__


@pytest.mark.parametrize("name", NAMES)
def test_a_name_has_types(name):
    found = getattr(attacks, name)
    if inspect.isfunction(found):
        hints = get_type_hints(found, vars(sys.modules[found.__module__]) | HINTS)
        assert hints.keys() == {*inspect.signature(found).parameters, "return"}
    else:
        assert inspect.isclass(found)


HINTS = {"MakeAttack": object}  # of a type checker alone


@pytest.mark.slow("a process")
def test_the_interface_loads_neither_faiss_nor_torch():
    done = subprocess.run(
        [sys.executable, "-c", USE], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
