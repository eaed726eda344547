"""Every mechanism has its proof, and every guarantee points to one that exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import mondegreen as mg
from mondegreen.mechanisms import mechanism_class
from mondegreen.policy.alphabet import Alphabet
from mondegreen.space.binarize import with_codes

ROOT = Path(__file__).resolve().parents[2]
PROOFS = ROOT / "docs" / "proofs"
NAMES = [cls.name for cls in mg.mechanisms()]
SECTIONS = (
    "## Claim",
    "## Pre-conditions",
    "## Pseudocode",
    "## Proof",
    "## What it idealizes",
    "## Tests",
    "## References",
)


@pytest.fixture(scope="module")
def space():
    return mg.Space.from_arrays("line", ["a", "b", "c"], [[0], [1], [3]])


@pytest.mark.parametrize("name", NAMES)
def test_a_guarantee_points_to_a_page_that_exists(name, space):
    # one of the unproved forms refuses small epsilons
    cls = mechanism_class(name)
    epsilon = 1.0 if cls.is_private else 99.0
    if cls.space_metrics and "euclidean" not in cls.space_metrics:
        points = [[0], [0.5], [-0.9]]
        space = mg.Space.from_arrays("line", space.words, points, metric="poincare")
    if cls.family == "binary":
        space = with_codes(space, bits=16, method="hyperplane")
    if cls.family == "symbols":
        space = Alphabet("tiny", "0" * 64, ordinary=3, groups=2)
    promise = mg.mechanism(name, epsilon=epsilon).prepare(space).guarantee
    assert (ROOT / promise.proof).is_file()


@pytest.mark.parametrize("name", NAMES)
def test_every_mechanism_has_a_proof_of_its_own_name(name):
    assert (PROOFS / f"{name}.md").is_file()


@pytest.mark.parametrize("page", sorted(PROOFS.glob("*.md")), ids=lambda p: p.stem)
def test_a_proof_has_all_its_parts_in_order(page):
    text = page.read_text("utf-8")
    places = [text.find(f"\n{section}\n") for section in SECTIONS]
    assert min(places) > 0, SECTIONS[places.index(min(places))]
    assert places == sorted(places)


@pytest.mark.parametrize("page", sorted(PROOFS.glob("*.md")), ids=lambda p: p.stem)
def test_the_sentence_that_a_proof_follows_from_stands_behind_its_opening(page):
    assert page.read_text("utf-8").split("\n\n")[2].startswith("**")


@pytest.mark.parametrize("page", sorted(PROOFS.glob("*.md")), ids=lambda p: p.stem)
def test_a_proof_names_files_and_tests_that_exist(page):
    text = page.read_text("utf-8")
    assert "`tests/" in text
    for path in re.findall(r"`((?:src|tests|docs)/[\w./-]+)`", text):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("page", sorted(PROOFS.glob("*.md")), ids=lambda p: p.stem)
def test_a_proof_is_listed_on_the_page_on_research(page):
    assert f"(proofs/{page.name})" in (ROOT / "docs" / "research.md").read_text("utf-8")
