"""Behind an abbreviation, no sentence begins, and so no word gets a capital."""

from __future__ import annotations

import re

import numpy as np
import pytest

from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import load_policy
from mondegreen.policy.printing import PolicyPrinter


@pytest.fixture(scope="module")
def policy():
    return load_policy("sensitive")


def prints(policy, *texts, structure="keep"):
    """Print each text with the first output of each symbol."""
    lookup, printer = PolicyLookup(policy), PolicyPrinter(policy, structure)
    batch = lookup.cut(texts)
    return printer.join(batch, policy.first[lookup.codes(batch)])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the U.S. Tax is", "The B.B. tax is"),
        ("at 5 a.m. Train it", r"At 0 a.B. train it"),
        ("on Tue. Evening", "On Mon. evening"),
        ("in Jan. Evening", "In Jan. evening"),
        ("Dr. The, Mr.  It, vs. The", "Dr. the, Mr.  it, vs. the"),
        ("in U.S.  It", "In B.B.  it"),
    ],
)
def test_no_capital_behind_an_abbreviation(text, expected, policy):
    assert prints(policy, text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "See you. The",
        "He sat. The",  # no short weekday
        "It is B. The",  # one letter by itself
        "the U.S! The",
        "the U.S.\nThe",
        "to Dr? The",
        "to Dr.) The",
        "use example.com. The",
    ],
)
def test_elsewhere_a_sentence_begins(text, policy):
    assert prints(policy, text)[0].endswith("The")


def test_the_texts_beside_it_do_not_matter(policy):
    assert prints(policy, "He is Dr. ", "the man") == ["He is Dr. ", "The man"]
    assert prints(policy, "so.", "A. the man") == ["So.", "A. The man"]


def test_plain_structure_has_no_abbreviations(policy):
    assert prints(policy, "He is Dr. The", structure="plain") == ["He is Dr the."]


def test_printing_reads_outputs_and_structure_alone(policy):
    """Where the noise prints another word for "Dr", the capital follows that word."""
    lookup, printer = PolicyLookup(policy), PolicyPrinter(policy)
    batch = lookup.cut(["Dr. The"])
    the = policy.symbols["the"]
    codes = policy.first[np.array([policy.symbols["house"], the])]
    assert printer.join(batch, codes) == ["House. The"]


def test_names_keep_their_capital(policy):
    printed = prints(policy, "We met Dr. Okafor in the U.S. Germany")[0]
    assert re.fullmatch(r"We met Dr\. [A-Z]\w+ in the B\.B\. [A-Z].*", printed)
