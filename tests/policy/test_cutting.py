"""What a policy takes as a word: dates and times whole, no references of HTML."""

from __future__ import annotations

import datetime
import html
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mondegreen as mg
from mondegreen.policy.cutting import CUT_DISCLOSED, cut_texts
from mondegreen.policy.lookup import PolicyLookup, get_flags
from mondegreen.policy.policy import load_policy
from mondegreen.policy.references import REFERENCES, read_references
from mondegreen.policy.shapes import PLACES, SHAPES, WRITTEN_DATES, is_written_date
from mondegreen.text.structure import is_long
from mondegreen.text.tokenizer import tokenize

WRITTEN = [SHAPES[PLACES[name]] for _, name in WRITTEN_DATES]
FORMS = {
    "date 2024-05-12": ["%Y-%m-%d"],
    "date 2024/05/12": ["%Y/%m/%d"],
    "date 2024.05.12": ["%Y.%m.%d"],
    "clock 10:30": ["%H:%M"],
    "clock 9:30": ["%H:%M"],
    "clock 10:30:15": ["%H:%M:%S"],
    "clock 9:30:15": ["%H:%M:%S"],
    "clock 10:30pm": ["%I:%M%p"],
}


@pytest.fixture(scope="module")
def lookup():
    return PolicyLookup(load_policy("sensitive"))


def kinds(lookup, text):
    """The name of the format of each word of a text, or its class."""
    symbols = lookup.codes(lookup.cut([text])).tolist()
    found = map(lookup.policy.describe, symbols)
    return [form if kind == "shape" else kind for kind, form, _ in found]


# --- dates and times


def readings(name):
    """How dates of a format may be read: both ways, where the day may come first."""
    if name in FORMS:
        return FORMS[name]
    sign = re.search("[0-9]([-/.])", name)[1]
    if name.startswith("date 2024"):
        return [sign.join(("%Y", "%m", "%d")), sign.join(("%Y", "%d", "%m"))]
    year = "%Y" if name.endswith("2024") else "%y"
    return [sign.join(("%m", "%d", year)), sign.join(("%d", "%m", year))]


@pytest.mark.parametrize("shape", WRITTEN, ids=lambda shape: shape.name)
def test_all_that_a_format_prints_is_valid_in_every_reading(shape):
    step = max(1, shape.size // 4001)
    for number in (*range(0, shape.size, step), shape.size - 1):
        for form in readings(shape.name):
            datetime.datetime.strptime(shape.print(number), form)


def test_sizes_are_those_of_the_page():
    sizes = {shape.name: shape.size for shape in WRITTEN}
    assert sizes["clock 10:30"] == 24 * 60
    assert sizes["date 2024-05-12"] == 200 * 12 * 28
    assert sizes["date 05/12/2024"] == 200 * 12 * 12


@pytest.mark.parametrize("shape", WRITTEN, ids=lambda shape: shape.name)
def test_no_two_numbers_of_a_format_print_alike_and_no_other_format_prints_it(
    shape, lookup
):
    printed = {shape.print(number) for number in range(shape.size)}
    assert len(printed) == shape.size
    for word in sorted(printed)[:: max(1, shape.size // 101)]:
        assert kinds(lookup, f"on {word} we") == ["ordinary", shape.name, "ordinary"]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("10:30 92:84 00:00 23:59", "clock 10:30"),
        ("9:30 7:99", "clock 9:30"),
        ("10:30:15 99:99:99", "clock 10:30:15"),
        ("10:30pm 9:05AM 99:99am", "clock 10:30pm"),
        ("2024-05-12 1999-12-31 0000-99-00", "date 2024-05-12"),
        ("31/12/1999 05/06/2001 99/99/4711", "date 05/12/2024"),
        ("1/2/1999 31/1/1999 0/9/0000", "date 5/12/2024"),
        ("12.05.2024 31.12.1999", "date 05.12.2024"),
        ("31/12/99", "date 05/12/24"),
    ],
)
def test_the_format_is_that_of_the_digits_and_not_of_their_value(words, name, lookup):
    for word in words.split():
        assert kinds(lookup, f"at {word}, (we)")[1:-1] == [name]


@pytest.mark.parametrize(
    "text",
    [
        "192.168.0.1 and 1.2.3.4",
        "at 12:34:56:78:90",
        "a-2024-05-12 b_2024-05-12 2024-05-12-1 2024-05-12T10:30",
        "x10:30 10:30x 10:301 110:30 10:3",
        "http://news.example/2024/05/12/ and 1/2/2024/3",
        "12-05-24, 1/2, 471-12-1",
        "10:30\u0301 and 10:3٣",
    ],
)
def test_longer_runs_of_numbers_are_cut_as_before(text):
    assert cut_texts([text]).parts == tokenize([text]).parts


@pytest.mark.parametrize("sign", [".", ":"])
@pytest.mark.parametrize("number", ["10:30", "99:99", "2024-05-12", "1/2/2024"])
def test_the_first_letter_of_the_next_word_decides_nothing(number, sign, lookup):
    texts = [f"{number}{sign}{word} so" for word in ("Boris", "Émile", "東京", "éa")]
    counts = {len(parts) for parts in lookup.cut(texts).parts}
    assert len(counts) == 1
    assert number not in lookup.cut(texts).words()


@pytest.mark.parametrize("sign", "-/.")
def test_two_numbers_of_a_format_are_cut_alike(sign):
    texts = [f"2024{sign}{month}{sign}12" for month in (5, 11, 12, 99)]
    assert cut_texts(texts).words() == texts


@pytest.mark.parametrize("numbers", ["hide", "near", "plain"])
def test_dates_and_times_hide_whatever_happens_to_amounts(numbers):
    policy = load_policy("sensitive", numbers=numbers)
    lookup = PolicyLookup(policy)
    text = "At 10:30 on 31/12/1999 (2024-05-12) we met 9:05-10:45."
    dates = [k for k in kinds(lookup, text) if k.startswith(("date", "clock"))]
    assert len(dates) == 5
    made = mg.Privatizer(
        mg.mechanism("urr", epsilon=60.0), policy="sensitive", numbers=numbers
    )
    printed = made(text).text
    assert not {"10:30", "31/12/1999", "2024-05-12"}.intersection(printed.split())
    found = re.fullmatch(
        r"At (\S+) on (\S+) \((\S+)\) \S+ \S+ (\S+)-([0-9:]+)\.", printed
    )
    assert found, printed
    assert all(map(is_written_date, found.groups()))


@pytest.mark.parametrize("same", ["place", "record"])
def test_a_date_is_one_entity_of_a_text(same):
    made = mg.Privatizer(
        mg.mechanism("urr", epsilon=60.0), policy="sensitive", same=same
    )
    text = "From 10:30 to 11:30, 10:30 and 10:30, " * 20
    found = re.findall("[0-9]{2}:[0-9]{2}", made(text).text)
    assert len(found) == 80
    starts, ends = {*found[::4], *found[2::4], *found[3::4]}, set(found[1::4])
    if same == "record":
        assert len(starts) == len(ends) == 1
        assert starts != ends
    else:
        assert len(starts) > 20


def test_a_conversation_restores_dates_and_times_of_every_format():
    said = (
        "On 31/12/1999 and 2024-05-12, 12.05.2024 at 10:30 or 9:15pm, 1/2/03 and "
        "10:30:15. Again 31/12/1999 10:30 5"
    )
    with mg.conversation() as c:
        sent = c.hide(said)
        assert not set(re.findall("[0-9:./-]{5,}", said)) & set(sent.split())
        assert c.restore(sent) == said
        assert "".join(c.restore_stream(list(sent))) == said
        first = sent.split()[1]
        assert c.restore(f"See {first}: ok, {first}.") == (
            "See 31/12/1999: ok, 31/12/1999."
        )


def test_a_public_time_is_no_surrogate():
    every = [f"{h:02}:{m:02}" for h in range(24) for m in range(60)]
    with mg.conversation(public=[" ".join(every[:1430])]) as c:
        sent = c.hide("50:61 50:62 50:63 50:64 50:65 50:66 50:67 50:68 50:69").split()
    assert set(sent) < set(every[1430:])


def test_a_conversation_has_as_many_times_as_a_day_has_minutes():
    every = [f"{h:02}:{m:02}" for h in range(24) for m in range(60)]
    with mg.conversation() as c:
        sent = c.hide(" ".join(every)).split()
        assert sorted(sent) == every
        assert "xx2" in c.hide("99:99")
        assert c.restore(c.hide("99:99")) == "99:99"


def test_a_date_that_begins_with_the_year_comes_back_in_words():
    with mg.conversation() as c:
        sent = c.hide("Born 1985-12-31")[5:]
        date = datetime.date.fromisoformat(sent)
        assert c.restore(f"{date:%B} {date.day}, {date.year}") == "December 31, 1985"


def test_spans_and_the_map_of_a_release_fit_its_original():
    made = mg.Privatizer(mg.mechanism("krr", epsilon=20.0), policy="sensitive")
    text = "I&#39;ll see Ann&#39;s at 10:30 on 2024-05-12."
    release = made(text)
    start = text.index("10:30")
    assert len(release.remap(text, [(start, start + 5, "TIME")])) == 1


# --- references


@pytest.mark.parametrize("name", REFERENCES)
def test_references_stand_for_what_html_says(name):
    written = f"&{name};" if name.isalpha() and name[0] != "x" else f"&#{name};"
    if name not in {"xa0"}:
        assert html.unescape(written) == REFERENCES[name]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The firm #39;s plan", "The firm plan"),
        ("it&#39;s Ann&#x27;S, ok &amp; so &quot;Will&quot; &lt;b&gt;", None),
        ("AT&amp;T and AT&T", "AT T and AT T"),
        ("quot;We quot; and #36;5 &#151; so", "We and 5 so"),
        ("#39;M. Miller, #39;s. he &#39;S. Lee", "M Miller s he S Lee"),
        ("#34; #151; #160; #45;", "34 151 160 45"),
        ("&#X201C;Hope&#x201d; &nbsp;&mdash; &hellip;", "Hope"),
    ],
)
def test_references_are_structure(text, words):
    batch = cut_texts([text])
    wanted = "it Ann ok so Will b" if words is None else words
    assert batch.words() == wanted.split()
    assert "".join(batch.parts[0]) == text


@pytest.mark.parametrize(
    "text",
    ["#40; &#41; &foo; &zorblax;", "amp & amp, Amp; 39; #amp; &39;", "#391; #3 9;"],
)
def test_what_is_not_on_the_list_stays_a_word(text):
    assert cut_texts([text]).parts == tokenize([text]).parts


def test_the_s_of_a_reference_is_an_ending_behind_a_word_alone():
    assert cut_texts(["#39;s it"]).words() == ["s", "it"]
    assert cut_texts(["a &quot;s it"]).words() == ["a", "s", "it"]
    assert cut_texts(["a #39; s it"]).words() == ["a", "s", "it"]


def test_other_endings_of_a_reference_are_words_as_the_tokenizer_has_them(lookup):
    texts = {
        "I don&#39;t, we #39;ll": "I don't, we'll",
        "they&#8217;RE; I&apos;d": "they're; I'd",
        "DON#39;T you&#x2019;ve": "don't you've",
    }
    for text, plain in texts.items():
        cut = lookup.cut([text])
        assert "".join(cut.parts[0]) == text
        assert lookup.codes(cut).tolist() == lookup.codes(lookup.cut([plain])).tolist()
    assert cut_texts(["at&#39;t #39;t n&#39;t"]).words() == ["at", "t", "t", "n", "t"]


def test_no_more_passes_between_two_words_than_elsewhere():
    text = f"a {'&amp;' * 50}b"
    (parts,) = cut_texts([text]).parts
    assert "".join(parts) == text
    assert not any(is_long(read_references(gap)) for gap in parts[::2])
    assert len(parts) // 2 >= 50 // 9


def test_a_reference_says_of_the_words_beside_it_what_its_character_says(lookup):
    assert get_flags(" &quot;") == get_flags(' "')
    assert get_flags("&#39;s ") == get_flags("'s ") == get_flags(" #39;s ")
    assert get_flags(" &amp; ") == get_flags(" & ")
    assert kinds(lookup, "so &quot;Will is") == kinds(lookup, 'so "Will is')


def test_a_release_prints_references_as_they_were():
    made = mg.Privatizer(mg.mechanism("urr", epsilon=60.0), policy="sensitive")
    text = "The firm #39;s idea, it&#39;s good &amp; new; &quot;so&quot;."
    assert made(text).text == text


@given(st.text(alphabet="0123456789:./-&#;x a\n'sSpmq", max_size=40))
def test_texts_are_cut_without_loss(text):
    for numbers in ("hide", "near", "plain"):
        (parts,) = cut_texts([text], numbers).parts
        assert "".join(parts) == text
        assert len(parts) % 2 == 1
        assert all(parts[1::2])


@given(st.text(alphabet="0129:/-&#;3 a", max_size=30), st.data())
def test_words_of_one_symbol_leave_the_symbols_of_others_as_they_are(text, data):
    """What is disclosed apart, only the own spelling of a word decides."""
    lookup = PolicyLookup(load_policy("sensitive"))
    (parts,) = cut_texts([text]).parts
    places = [i for i in range(1, len(parts), 2) if is_written_date(parts[i])]
    if not places:
        return
    place = data.draw(st.sampled_from(places))
    other = list(parts)
    other[place] = SHAPES[PLACES["clock 10:30"]].print(77)
    changed = cut_texts(["".join(other)])
    assert changed.parts == [other]
    before = lookup.codes(cut_texts([text]))
    after = lookup.codes(changed)
    assert np.flatnonzero(before != after).tolist() in ([], [place // 2])


def test_the_guarantee_says_what_the_cut_discloses():
    made = mg.Privatizer(mg.mechanism("urr", epsilon=12.0), policy="sensitive")
    assert set(CUT_DISCLOSED) <= set(made.guarantee.disclosed)
    names = [line.partition(":")[0] for line in CUT_DISCLOSED]
    assert names == ["character references", "dates and times"]
