"""Annotated spans move onto a release, so that labeled data stays labeled."""

import pytest
from tests.attacks.any_tool.texts import make_texts

import mondegreen as mg
from mondegreen.errors import InvalidParameterError
from mondegreen.privatizer.build import build_privatizer
from mondegreen.settings import Settings

TEXT = "Ann Lee (born O'Brien) lives in Oslo, at ann.lee@example.com."


@pytest.fixture(
    scope="module",
    params=[
        {"mechanism": "tree"},
        {"policy": "sensitive"},
        {"mechanism": "tree", "structure": "plain"},
        {"mechanism": "tree", "read": "sentence"},
    ],
    ids=str,
)
def privatizer(request):
    settings = Settings(epsilon=10.0, **{"read": "none", **request.param})
    return build_privatizer(settings)


def test_a_remapped_span_holds_the_words_that_replaced_its_own(privatizer):
    for text, spans in make_texts(30):
        release = privatizer(text)
        found = release.remap(text, spans)
        assert [kind for *_, kind in found] == [kind for *_, kind in spans]
        for (start, end, _), (first, _, _) in zip(found, spans, strict=True):
            word = len(text[:first].split())  # no word of these texts has a sign inside
            assert (start, end) == (release.spans[word].start, release.spans[word].end)


def test_a_span_of_many_words_goes_from_its_first_to_its_last(privatizer):
    release = privatizer(TEXT)
    spans = [(0, 7, "a"), (8, 22, "b"), (41, 60, "c"), (0, len(TEXT), "d"), (5, 6, "e")]
    a, b, c, d, e = release.remap(TEXT, spans)
    assert a[0] == d[0] == release.spans[0].start
    assert c[1] == d[1] == release.spans[-1].end
    assert a[1] <= b[0] < b[1] <= c[0]
    assert e[:2] == (release.spans[1].start, release.spans[1].end)  # part of a word


def test_spans_without_words_are_left_out(privatizer):
    assert privatizer("Hi, Ann.").remap("Hi, Ann.", [(2, 4, "x"), (4, 4, "y")]) == []


def test_dropped_words_have_no_place():
    mechanism = mg.mechanism("tree", epsilon=10.0)
    release = mg.Privatizer(mechanism, unknown="drop")("Zyxwol met Ann Zyxwol.")
    found = release.remap("Zyxwol met Ann Zyxwol.", [(0, 6, "x"), (11, 21, "y")])
    assert [kind for *_, kind in found] == ["y"]


def test_another_text_is_refused(privatizer):
    release = privatizer(TEXT)
    with pytest.raises(InvalidParameterError, match="released"):
        release.remap("Ann.", [(0, 3, "x")])
    for wrong in ((0, 999, "x"), (-1, 3, "x"), (5, 2, "x")):
        with pytest.raises(InvalidParameterError, match="within"):
            release.remap(TEXT, [wrong])
