"""Figures and printed lines of the user pages are those of results and commands."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import mondegreen as mg
from benchmarks.pages import guide_page, policy_page
from benchmarks.pages.page import filled
from benchmarks.pages.policies_page import COLLECTIONS, DEFAULT, load
from mondegreen.cli.main import cli
from mondegreen.cli.services.proxy import proxy
from mondegreen.policy.policy import load_policy
from mondegreen.policy.shapes import PLACES, SHAPES

ROOT = Path(__file__).resolve().parents[2]


def read(page):
    text = (ROOT / "docs" / "guide" / f"{page}.md").read_text(encoding="utf-8")
    return " ".join(text.split())


def recovered():
    rows = load("policies")["rows"][DEFAULT]
    return [100 * rows[each]["attack"]["value"] for each in COLLECTIONS]


@pytest.mark.parametrize("page", guide_page.PLACES)
def test_the_figures_of_a_page_come_from_the_results(page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert filled(text, guide_page.PLACES[page]) == text


@pytest.mark.parametrize("page", ["data-protection", "not-protected"])
def test_what_an_attacker_recovers_is_that_of_the_results(page):
    least, most = min(recovered()), max(recovered())
    numbers = re.search(
        r"discloses (\d+) to (\d+) of 100|from (\d+) of 100.*? to (\d+) of 100",
        read(page),
    )
    shown = [int(each) for each in numbers.groups() if each]
    assert shown == [round(least), round(most)]


def test_a_data_protection_officer_reads_the_defaults_of_groups_and_prompts():
    page = read("data-protection")
    for name in ("sensitive", "names"):
        least = load_policy(name).alphabet.hides_among
        assert f"Word groups have {least} words or more." in page
    assert SHAPES[PLACES["1 digits"]].size == 10
    assert "A digit hides among 10, *Mon* among 5." in page
    assert ", Mon 5," in read("start")  # which is printed by the command
    (kept,) = (p for p in proxy.params if p.name == "conversation_ttl")
    assert kept.default == 3600
    assert "until an hour after the last request (`--conversation-ttl`)" in page
    (shown,) = re.findall(
        r"`names`, the proxy's default, shows (.*?)\. `sensitive` hides", page
    )
    assert {*re.split(", | and ", shown)} - {"work"} <= load_policy("names").opened


def test_the_lines_of_the_start_are_what_the_command_prints():
    file = ROOT / "examples" / "reviews.csv"
    command = ["privatize", str(file), "--column", "review", "--epsilon", "12"]
    done = CliRunner().invoke(cli, command)
    assert done.exit_code == 0, done.output
    text = (ROOT / "docs/guide/start.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```[^\n]*\n(Privacy guarantee.*?)```", text, re.DOTALL)
    assert shown.splitlines() == done.stderr.splitlines()[:4]


def test_the_tree_at_each_epsilon_is_that_of_the_results():
    path = ROOT / "docs" / "how-to" / "choose-epsilon.md"
    rows = re.findall(r"^\| (\d+) \|(.*)\|$", path.read_text("utf-8"), re.MULTILINE)
    exact = {}
    for epsilon, cells in rows:
        shares = re.findall(r"([\d.]+)%", cells)
        if len(shares) == 5:  # the table of the tree
            exact[int(epsilon)] = [round(float(each)) for each in shares]
    page = read("choose")
    cell = r"(\d+) of 100 words"
    shown = re.findall(rf"\| (\d+) \| {cell} \| {cell} \|", page)
    assert len(shown) == 4
    for epsilon, *shares in shown:
        places = [exact[int(epsilon)][place] for place in (1, -1)]
        assert [int(share) for share in shares] == places, epsilon


def test_krr_costs_what_the_page_says():
    found = load("policies")  # rows of earlier lists where there are no others
    rows = {**found["earlier"], **found["rows"]}
    krr = rows["sensitive|krr|10|none"]
    urr = rows[DEFAULT]

    def ends(values, scale):
        return [round(scale * value) for value in (min(values), max(values))]

    labeled = [each for each in COLLECTIONS if "accuracy" in urr[each]]
    lost = ends(
        [urr[each]["accuracy"] - krr[each]["accuracy"] for each in labeled], 100
    )
    (shown,) = re.findall(
        r"classifiers lose (\d+) to (\d+) percentage points", read("choose")
    )
    assert [int(each) for each in shown] == lost


def test_what_a_detector_leaves_is_that_of_the_results():
    found = load("policies_beside")  # a detector does not depend on our lists
    parts = {**found["earlier"]["detectors"], **found["parts"]["detectors"]}
    left = 100 * parts["presidio_synthetic"]["Presidio"]["units_left"]
    (shown,) = re.findall(r"Presidio left (\d+) of 100", read("questions"))
    assert int(shown) == round(left)


def test_what_is_protected_is_called_by_the_same_word():
    privatizer = mg.Privatizer(mg.mechanism("urr", epsilon=12.0))
    words = re.findall(r"`(strong|moderate|weak|vacuous|none)`", read("choose"))
    assert set(words) >= {"strong", "moderate", "weak", "vacuous", "none"}
    stated = json.loads(privatizer.guarantee.to_json())
    assert stated["protection"] in words


@pytest.mark.parametrize(
    ("example", "marked"),
    [
        ("mark brown", "mark brown"),
        ("hope banks", "hope banks"),
        ("Mark Brown", "We met [Mark] [Brown]."),
        ("Mr. Young", "We met Mr. [Young]."),
        ("Name: Hope", "Name: [Hope]"),
        ("MARK BROWN", "We met [MARK] [BROWN]."),
        ("Mark called.", "[Mark] called."),
        ("Rose called.", "[Rose] called."),
        ("Hope called.", "Hope called."),
        ("> Hope called me", "> Hope called me"),
        ("Mr. Will", "We met Mr. Will."),
        ("Dr. Best", "We met Dr. Best."),
        ("Will", "[Will]"),
        ("Will,", "Will,"),
        ("Will Smith", "[Will] [Smith]"),
        ("Will do", "[Will] do"),
        ("Will Smith called", "Will [Smith] called"),
        ("Will Smith, May Jones", "[Will] [Smith], [May] [Jones]"),
        ("Mr. House", "We met Mr. House."),
    ],
)
def test_names_that_are_words_stay_where_the_page_says(example, marked):
    text = (ROOT / "docs/guide/not-protected.md").read_text(encoding="utf-8")
    section = text.partition("**Names that are ordinary words.**")[2]
    section = section.partition("So a name at the start")[0]
    rows = [line.split("|") for line in section.splitlines() if line.startswith("| ")]
    found = [cells for cells in rows if f"*{example}*" in cells[-3]]
    name = re.search(r"(?i)\b(mark|hope|young|rose|will|best|house)\b", example)[0]
    is_replaced = f"[{name}]" in marked
    if not found:  # a sentence below the table has it
        assert f"*{example}*" in " ".join(section.split())
    else:
        ((*_, result, _),) = found
        assert result.strip() == ("replaced" if is_replaced else "stays")
    assert policy_page.marked("sensitive", re.sub(r"[\[\]]", "", marked)) == marked
