"""Survivors and reader agree with counts that are made by spans, without alignment."""

import json
import random
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import mondegreen as mg
from mondegreen.attacks.any_tool.reader import PublicReader, read_hidden
from mondegreen.attacks.any_tool.rows import Given, read_rows
from mondegreen.attacks.any_tool.spans import read_spans
from mondegreen.language.store import load_language

DATA = Path(__file__).parents[4] / "shared/data/private_text"
FILES = ("llm_redactor", "presidio_synthetic")


def redact(text, spans, rng, surrogates):
    """Redact from the last span to the first; count by hand what is left."""
    left, last = 0, len(text)
    for start, end, kind in sorted(spans, reverse=True):
        if end > last:  # one span inside another: what covers both decides
            continue
        last = start
        action = rng.choice(["leave", "mask", "delete", "surrogate"])
        if action == "leave":
            left += 1
        elif action == "surrogate":
            text = text[:start] + rng.choice(surrogates) + text[end:]
        else:
            mask = f"[{kind.upper()}]" if action == "mask" else ""
            text = text[:start] + mask + text[end:]
    return text, left


def annotated(name, count):
    path = DATA / f"{name}.parquet"
    if not path.exists():
        pytest.skip("needs ../shared/data/private_text")
    for row in pq.read_table(path).to_pylist():
        spans = [tuple(each) for each in json.loads(row["spans"])]
        apart = all(
            a == b or a[1] <= b[0] or b[1] <= a[0] for a in spans for b in spans
        )
        if spans and apart and count:
            count -= 1
            yield row["text"], sorted(set(spans))


@pytest.mark.parametrize("name", FILES)
def test_survivors_agree_with_a_count_by_spans(name):
    rng, surrogates = random.Random(4), ["Zorblax Quimby", "Vexley", "Orbs 12 Plinth"]
    given, by_hand, units = [], 0, 0
    for number, (text, spans) in enumerate(annotated(name, 200), start=1):
        release, left = redact(text, spans, rng, surrogates)
        by_hand += left
        units += len(spans)
        given.append(Given(number, text, release, read_spans(list(spans), text)))
    assert len(given) == 200
    counted = sum(row.left_count() for row in read_rows(given))
    assert abs(counted - by_hand) <= 0.01 * units, (counted, by_hand, units)


@pytest.mark.slow("seconds")
def test_the_reader_agrees_with_a_count_of_its_guesses():
    given, marks = [], {}
    for number, (text, spans) in enumerate(annotated("llm_redactor", 200), start=1):
        release = text
        for start, end, kind in reversed(spans):
            marks[kind] = marks.get(kind, 0) + 1
            if kind == "person":
                release = release[:start] + "[PERSON]" + release[end:]
        given.append(Given(number, text, release, read_spans(list(spans), text)))
    rows, space = list(read_rows(given)), mg.load_space()
    reader = PublicReader(load_language(), space, rows)
    found = read_hidden(rows, reader, "annotated units")
    # By hand: other kinds stand; a name is had where its first guesses spell it.
    by_hand = 0
    for index, (row, each) in enumerate(zip(rows, given, strict=True)):
        for start, end, kind in each.annotations:
            spelled = [
                word.lower() for word in re.findall(r"\w+", each.original[start:end])
            ]
            by_hand += kind != "person" or all(
                guess_word(reader, row, row.words.index(word), index) == word
                for word in spelled
            )
    assert found.n == sum(marks.values())
    assert abs(found.value * found.n - by_hand) <= 0.01 * found.n
    assert found.details["hidden_words"]["n"] >= marks["person"]


def guess_word(reader, row, place, index):
    """Return the word of a place where the first guess is right."""
    ids, scores = reader.scores(row, place, index % 2)
    best = int(ids[scores.argmax()])
    return row.words[place] if best == reader.get_id(row.words[place]) else ""
