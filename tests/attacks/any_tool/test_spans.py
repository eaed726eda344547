"""Spans are read in the forms that other tools write."""

import json

import pytest

from mondegreen.attacks.any_tool.spans import Annotation, SpanError, read_spans

TEXT = "Ann Lee lives in Oslo."
WANTED = [Annotation(0, 7, "PERSON"), Annotation(17, 21, "GPE")]
PRESIDIO = [
    {"entity_type": "PERSON", "start": 0, "end": 7, "score": 0.85},
    {"entity_type": "GPE", "start": 17, "end": 21, "score": 0.9},
]
SPACY = {
    "text": TEXT,
    "ents": [
        {"start": 0, "end": 7, "label": "PERSON"},
        {"start": 17, "end": 21, "label": "GPE"},
    ],
}


@pytest.mark.parametrize(
    "field",
    [
        [[0, 7, "PERSON"], [17, 21, "GPE"]],
        [(17, 21, "GPE"), (0, 7, "PERSON"), (0, 7, "PERSON")],
        PRESIDIO,
        SPACY,
        {"entities": [[0, 7, "PERSON"], [17, 21, "GPE"]]},
        "Ann N B-PERSON\nLee N I-PERSON\nlives V O\nin I O\nOslo N B-GPE\n. . O",
        "Ann B-PERSON\nLee L-PERSON\nlives O\nin O\nOslo U-GPE\n. O",
    ],
)
def test_every_form_gives_the_same_spans(field):
    assert read_spans(field, TEXT) == WANTED
    if not isinstance(field, str):
        assert read_spans(json.dumps(field), TEXT) == WANTED


@pytest.mark.parametrize("field", [None, "", " ", "[]", [], {}, {"ents": []}])
def test_no_spans(field):
    assert read_spans(field, TEXT) == []


@pytest.mark.parametrize(
    "field",
    [
        *("{", "[[1]]", '["x"]', "[[0, 99, 1]]", "[[4, 4]]", "[[-1, 2]]"),
        *(json.dumps([[0, 3, "Ann " * 11]]), json.dumps([[0, 3, "Ann\n"]])),
        *('[["0", "7"]]', '{"ents": 3}', "[3]", "Ole B-PER", "[[true, 2]]"),
    ],
)
def test_what_is_no_span_is_refused_without_quoting_it(field):
    with pytest.raises(SpanError) as caught:
        read_spans(field, TEXT)
    assert "Ann" not in str(caught.value)
    assert "Ole" not in str(caught.value)
