"""The page: self-contained, escaped, readable without eyes, whatever is missing."""

import base64
import functools
import itertools
import json
import math
import re
from html.parser import HTMLParser

import pytest
from studies import bare, measurement, study

from mondegreen.errors import DataError
from mondegreen.report.page import mark, odds, report_html, write_report
from mondegreen.report.study import SampleRelease, Study, command_line, python_lines

HOSTILE = "<script>alert(1)</script>&\"'</style>]]>--><img src=x onerror=y>"
VOID = {"meta", "input", "br", "img", "link", "hr"}
LOADING = {"src", "srcset", "href", "xlink:href", "action", "poster", "data", "style"}


class Page(HTMLParser):
    """The elements of a page, and whether they are nested as they should be."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), tuple(name for name, _ in self.open)))
        if tag not in VOID:
            self.open.append((tag, dict(attrs)))

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), tuple(name for name, _ in self.open)))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        self.texts.append(data)

    def all(self, tag):
        return [attrs for name, attrs, _ in self.elements if name == tag]

    @property
    def text(self):
        return "".join(self.texts)


def hostile():
    """Return a study in which everything that can be text is hostile."""
    odd = measurement(
        HOSTILE,
        metric=HOSTILE,
        parameters={HOSTILE: HOSTILE},
        worst=((HOSTILE, 0.5), ("\x00\u202e\ud800", 0.4)),
    )
    return study(
        measurements=(odd, measurement()),
        chosen=odd,
        space=HOSTILE,
        space_digest=HOSTILE,
        sample=HOSTILE,
        target=HOSTILE,
        version=HOSTILE,
        sentences=(HOSTILE,),
        releases=(SampleRelease(HOSTILE, {}, 1.0, (HOSTILE,)),),
    )


CASES = {
    "whole": study(),
    "nothing": bare(),
    "hostile": hostile(),
    "one mechanism": study(("tem",)),
    "one setting": study(("tem",), (1.0,)),
    "no choice": study(chosen=None, target=""),
    "no sample": study(sample=None, sample_texts=0, sample_words=0),
    "no sentences": study(sentences=(), releases=()),
    "no distances": study(neighbours=None, scale={}),
    "twelve mechanisms": study(tuple(f"mechanism_{i}" for i in range(12))),
    "long names": study(("tem", "x" * 300)),
    "estimates": study(
        measurements=tuple(measurement("laplace", e, spread=0.1) for e in (6.0, 12.0)),
        chosen=None,
        is_quick=True,
    ),
    "no scores": study(
        measurements=(measurement(scores={}, n_w=(), s_w=None, worst=()),)
    ),
    "not a number": study(
        measurements=(
            measurement(
                scores={
                    "n_w_mean": (math.nan,) * 2,
                    "bayes_risk_sample": (0, math.inf),
                },
                n_w=(math.nan,) * 101,
                s_w=(math.nan,) * 101,
            ),
        ),
    ),
    "all at zero": study(
        measurements=(
            measurement(
                scores=dict.fromkeys(measurement().scores, (0.0, 0.0)),
                n_w=(0.0,) * 101,
                s_w=(1.0,) * 101,
            ),
        ),
        chosen=None,
    ),
}
DRAWN_BY_DEFAULT = {"nothing", "hostile"}
drawn = pytest.mark.slow("draws another whole page")
each_case = pytest.mark.parametrize(
    "case",
    [pytest.param(c, marks=() if c in DRAWN_BY_DEFAULT else drawn) for c in CASES],
)


@functools.cache
def page_of(case):
    """Return the page of a case; drawing takes a second, so each is made once."""
    return report_html(CASES[case])


@each_case
@pytest.mark.slow("draws whole pages")
def test_a_page_is_well_formed_and_says_no_nan(case):
    page = Page(page_of(case))
    assert not re.search(r"\b(nan|inf|None)\b", page.text)
    ids = [attrs["id"] for _, attrs, _ in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    for _, attrs, _ in page.elements:
        for name in (attrs.get("aria-labelledby") or "").split():
            assert name in ids
        assert not (attrs.get("href") or "").startswith("#") or attrs["href"][1:] in ids
        assert "for" not in attrs or attrs["for"] in ids


@pytest.mark.slow("a large page", but="nothing")
@each_case
def test_nothing_is_loaded_from_anywhere(case):
    text = page_of(case)
    page = Page(text)
    names = {tag for tag, _, _ in page.elements}
    assert not names & {"script", "link", "img", "iframe", "object", "image"}
    for _, attrs, _ in page.elements:
        for name, value in attrs.items():
            assert not name.startswith("on")
            assert "url(" not in (value or "")
            if name in LOADING - {"style"}:
                assert value.startswith(("#", "data:application/json;base64,"))
    style = "".join(re.findall(r"<style>(.*?)</style>", text, re.DOTALL))
    assert "url(" not in style
    assert "@import" not in style
    (policy,) = [
        attrs["content"] for attrs in page.all("meta") if "http-equiv" in attrs
    ]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy


@pytest.mark.slow("draws a page", but="nothing")
@each_case
def test_a_page_can_be_read_aloud(case):
    page = Page(page_of(case))
    (html,) = page.all("html")
    assert html["lang"] == "en"
    levels = [int(tag[1]) for tag, _, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))
    tables = page.all("table")
    assert len(page.all("caption")) == len(tables)
    assert all("scope" in attrs for attrs in page.all("th"))
    drawings = [(a, within) for tag, a, within in page.elements if tag == "svg"]
    for attrs, within in drawings:
        if "swatch" in attrs["class"]:
            assert attrs["aria-hidden"] == "true"
        else:
            assert attrs["role"] == "img"
            assert "figure" in within
    for attrs in page.all("div"):
        assert "tabindex" not in attrs or attrs["aria-label"]


@pytest.mark.slow("draws a page", but="nothing")
@each_case
def test_every_figure_has_its_numbers(case):
    text = page_of(case)
    for figure in re.findall(r"<figure.*?</figure>", text, re.DOTALL):
        page = Page(figure)
        within = [inside for tag, _, inside in page.elements if tag == "table"]
        assert len(within) == 1
        assert "details" in within[0]
        assert page.all("td")


@pytest.mark.slow("draws a page")
def test_words_and_names_are_text_and_no_markup():
    page = Page(page_of("hostile"))
    assert not {"script", "img"} & {tag for tag, _, _ in page.elements}
    shown = page.text
    for part in ("alert(1)", "onerror=y"):
        assert part in shown
    assert shown.count(HOSTILE) >= 8


@pytest.mark.slow("draws another whole page")
def test_a_page_is_bytes_even_where_text_is_half_a_character(tmp_path):
    write_report(hostile(), tmp_path / "report.html")
    assert "\ufffd" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow("draws a page")
def test_a_page_shows_light_dark_and_paper():
    text = page_of("whole")
    assert "prefers-color-scheme:dark" in text
    assert "@media print" in text


@pytest.mark.slow("draws a page")
def test_the_numbers_of_the_page_are_those_of_the_study():
    page = Page(page_of("whole"))
    (link,) = [a for a in page.all("a") if "download" in a]
    data = base64.b64decode(link["href"].partition(",")[2])
    assert Study.from_dict(json.loads(data)) == study()


@pytest.mark.slow("draws a page")
def test_the_page_warns_of_comparing_epsilons_and_offers_other_axes():
    page = Page(page_of("whole"))
    assert "You cannot compare the epsilons of different mechanisms" in page.text
    offered = [a["id"] for a in page.all("input") if a.get("type") == "radio"]
    assert offered == ["against-epsilon", "against-worst_loss", "against-bayes_risk"]


@pytest.mark.slow("draws a page")
def test_numbers_of_two_axes_of_one_name_are_both_shown():
    head = '<th scope="col">Bayes risk</th>' * 2
    assert f'<th scope="col">ε</th>{head}</tr>' in page_of("whole")


@drawn
def test_estimates_are_called_estimates():
    estimated = Page(page_of("estimates")).text
    assert "are estimated from samples: laplace" in estimated
    assert "quick run" in estimated
    assert "all scores are exact" in Page(page_of("whole")).text


@pytest.mark.slow("draws another whole page")
def test_the_worst_words_are_named_with_their_chance():
    text = report_html(study(("tem",), (1.0,)))
    stay = 100 / (1 + math.e**2)
    assert f"<bdi>hapax</bdi> <small>{stay:.3g}%</small>" in text


@pytest.mark.slow("draws a page")
def test_sentences_are_shown_only_where_there_are_some():
    assert 'id="sentences"' in page_of("whole")
    assert 'id="sentences"' not in page_of("nothing")


@pytest.mark.slow("draws another whole page")
def test_a_setting_that_is_measured_and_chosen_is_shown_once():
    release = SampleRelease("tem", {}, 1.0, ("a saw b.",))
    found = study(sentences=("I met Ann.",), releases=(release, release))
    assert report_html(found).count("<bdi>a saw b.</bdi>") == 1


def test_unchanged_words_are_marked_and_others_are_not():
    assert mark("a <b> d", "A <b> c") == (
        "<bdi><mark>a</mark> <mark>&lt;b&gt;</mark> d</bdi>"
    )
    assert mark("one", "one two") == "<bdi>one</bdi>"


def test_the_settings_to_copy_are_the_chosen_ones():
    chosen = measurement("vickrey", 12.5, parameters={"t": [0.2, 0.3], "k": None})
    found = study(chosen=chosen, space="my space")
    assert command_line(chosen, found.space) == (
        "mondegreen privatize INPUT -o OUTPUT --mechanism vickrey --epsilon 12.5 "
        "--set 't=[0.2, 0.3]' --space 'my space'"
    )
    assert "mg.mechanism('vickrey', epsilon=12.5, t=[0.2, 0.3])" in python_lines(
        found, chosen
    )
    assert "mg.load_space('my space')" in python_lines(found, chosen)


def test_the_python_to_copy_runs(capsys):
    chosen = measurement("tem", 8.0)
    found = study(chosen=chosen, space="glove-840b-34k")
    exec(python_lines(found, chosen), {})
    assert capsys.readouterr().out.strip().endswith(".")


def test_an_unproved_mechanism_is_copied_with_its_permission():
    chosen = measurement("custext", 8.0)
    assert command_line(chosen, study().space).endswith("--allow-unproved")
    assert "allow_unproved=True" in python_lines(study(), chosen)


@pytest.mark.slow("draws another whole page")
def test_a_command_that_is_given_is_shown_as_it_is():
    text = report_html(study(command="mondegreen privatize a<b> -o c"))
    assert "mondegreen privatize a&lt;b&gt; -o c" in text


def test_odds_are_exponentials():
    assert odds(0.0) == "1"
    assert odds(math.log(1100)) == "1,100"
    assert odds(math.log(1101)) == "1,110", "a bound is rounded up"
    assert odds(12 * math.log(10)) == "10<sup>12</sup>"


@pytest.mark.slow("draws another whole page")
def test_a_report_replaces_a_file_only_if_asked(tmp_path):
    path = tmp_path / "report.html"
    write_report(study(), path)
    before = path.read_bytes()
    with pytest.raises(DataError, match="already exists"):
        write_report(bare(), path)
    assert path.read_bytes() == before
    write_report(bare(), path, force=True)
    assert path.read_bytes() != before
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]
