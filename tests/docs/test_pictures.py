"""The pictures of the user pages are those that the script draws, and can be read."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from benchmarks.pages.page import DOCS
from benchmarks.pages.pictures import ASSETS, PICTURES


@pytest.mark.slow("draws a text 101 times")
@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_what_the_script_draws(name):
    assert (ASSETS / name).read_text(encoding="utf-8") == PICTURES[name]()


@pytest.mark.parametrize("name", PICTURES)
def test_no_text_of_a_picture_is_small_or_leaves_it(name):
    text = (ASSETS / name).read_text(encoding="utf-8")
    sizes = [int(each) for each in re.findall(r"(\d+)px", text)]
    assert sizes
    assert min(sizes) >= 14
    root = ElementTree.fromstring(text)
    wide = int(root.attrib["width"])
    for each in root.iter("{http://www.w3.org/2000/svg}text"):
        shown = "".join(each.itertext())
        size = 7.5 if "small" in each.get("class", "") else 9.2  # of a wide font
        assert float(each.attrib["x"]) + size * len(shown) <= wide, shown


@pytest.mark.parametrize(
    "page", sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
)
def test_every_picture_of_a_page_has_a_text_for_those_who_do_not_see_it(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    text = re.sub(r"```.*?```|`.*?`", "", text, flags=re.DOTALL)
    assert all(each.strip() for each in re.findall(r"!\[(.*?)\]\(", text))
