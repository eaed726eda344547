"""What the hooks of the site make of code and formulas; what its versions change."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "docs"))

line_breaks = pytest.importorskip("line_breaks")


def test_a_short_word_of_code_stays_whole():
    said = line_breaks.on_page_content("<p><code>attack --hide-among 200</code></p>")
    whole = '<span class="whole">--hide-among</span>'
    assert said == f"<p><code>attack {whole} 200</code></p>"


def test_a_long_name_breaks_at_its_parts_and_nowhere_else():
    path = "tests/mechanisms/test_noise_laws.py"
    said = line_breaks.set_breaks(path)
    assert said.replace("<wbr>", "") == path
    assert said.split("<wbr>")[:2] == ["tests/", "mechanisms/"]
    assert "<wbr>" not in line_breaks.set_breaks("a" * 30)


def test_entities_and_blocks_of_code_are_left_as_they_are():
    block = "<pre><span></span><code>mondegreen --help\n</code></pre>"
    assert line_breaks.on_page_content(block) == block
    text = "&lt;html-of-some-length&gt;/&amp;/x"
    assert line_breaks.set_breaks(text).replace("<wbr>", "") == text
    assert "&<wbr>" not in line_breaks.set_breaks(text)


def test_short_cells_of_numbers_stay_whole_and_sentences_do_not():
    cell = '<td style="text-align: right;">{}</td>'
    short = "<strong>0.11</strong> [0.10, 0.13]"
    assert 'class="whole"' in line_breaks.on_page_content(cell.format(short))
    long = cell.format("no proof, or others can repeat the noise")
    assert line_breaks.on_page_content(long) == long


def test_a_formula_keeps_its_comma():
    said = line_breaks.on_page_content("<math><mi>x</mi></math>, so")
    assert said == '<span class="whole"><math><mi>x</mi></math>,</span> so'


@pytest.mark.parametrize(("formula", "outer"), [("w'", "mrow"), ("w_1'", "msub")])
def test_a_prime_stands_beside_its_letter(formula, outer):
    pytest.importorskip("latex2mathml")
    import mathml

    drawn = mathml.to_mathml(formula)
    assert f"<{outer}>" in drawn
    assert "msup" not in drawn
    assert "msubsup" not in drawn
    assert '<mi>w</mi><mo lspace="0" rspace="0">&#x02032;</mo>' in drawn


def test_the_versions_change_nothing_else_of_the_site():
    plain = (ROOT / "mkdocs.yml").read_text("utf-8")
    versions = yaml.safe_load((ROOT / "mkdocs-versions.yml").read_text("utf-8"))
    assert "mike" not in plain
    assert versions.pop("INHERIT") == "mkdocs.yml"
    assert versions.pop("extra")["version"]["provider"] == "mike"
    assert versions == {}
    job = (ROOT / ".github" / "workflows" / "docs.yml").read_text("utf-8")
    assert "--config-file mkdocs-versions.yml" in job


@pytest.mark.slow("builds pages", seconds=3)
def test_the_pages_show_defaults_and_not_how_they_are_declared():
    griffe = pytest.importorskip("griffe")
    import griffe_parameters

    extensions = griffe.load_extensions(griffe_parameters.Parameters)
    module = "mondegreen.mechanisms"
    found = griffe.load(module, search_paths=[ROOT / "src"], extensions=extensions)
    shown = {each.name: each.default for each in found["selection.tem.Tem"].parameters}
    assert shown["epsilon"] is None, "it is required"
    assert shown["beta"] == "0.001"
    assert shown["gamma"] == "None"
