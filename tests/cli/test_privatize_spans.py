"""``privatize --spans``: labeled data stays labeled, in every format and form."""

import csv
import io
import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from mondegreen.attacks.any_tool.spans import read_spans
from mondegreen.cli.main import cli

TEXTS = [
    "Ann Smith from Oslo has diabetes, and pays $ 1,200.",
    "Nothing here.",
    "«Zoë» 👩‍⚕️ met Bob in Paris.",
]
WORDS = [["Ann Smith", "Oslo", "diabetes"], [], ["Zoë", "Bob", "Paris"]]
KINDS = {"Ann Smith": "PER", "Zoë": "PER", "Bob": "PER", "diabetes": "ILL"}


def spans_of(number):
    text = TEXTS[number]
    starts = [(text.index(word), word) for word in WORDS[number]]
    return [[at, at + len(word), KINDS.get(word, "LOC")] for at, word in starts]


FORMS = {
    "lists": lambda spans: spans,
    "presidio": lambda spans: [
        {"entity_type": kind, "start": start, "end": end, "score": 0.123456}
        for start, end, kind in spans
    ],
    "spacy": lambda spans: {
        "text": "PRIVATE",
        "ents": [
            {"start": start, "end": end, "label": kind, "text": "PRIVATE"}
            for start, end, kind in spans
        ],
    },
    "doccano": lambda spans: {"entities": spans},
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, rows):
    """Write rows of text and spans in the format that the name tells."""
    if path.endswith("csv"):
        stream = io.StringIO()
        given = csv.writer(stream)
        given.writerows([["id", "text", "spans"]])
        given.writerows([i, text, json.dumps(spans)] for i, (text, spans) in rows)
        data = stream.getvalue()
    elif path.endswith("jsonl"):
        records = [{"spans": s, "id": i, "text": t} for i, (t, s) in rows]
        data = "".join(f"{json.dumps(each)}\n" for each in records)
    elif path.endswith("json"):
        data = json.dumps([{"text": t, "a": {"spans": s}} for _, (t, s) in rows])
    else:
        texts, spans = zip(*(row for _, row in rows), strict=True)
        given = list(spans)
        if not isinstance(given[0], list) or not isinstance(given[0][0], dict):
            given = [json.dumps(each) for each in given]
        pq.write_table(pa.table({"text": list(texts), "spans": given}), path)
        return
    Path(path).write_bytes(data.encode())


def read(path):
    if path.endswith("csv"):
        with Path(path).open(encoding="utf-8", newline="") as file:
            return [(row["text"], row["spans"]) for row in csv.DictReader(file)]
    if path.endswith("jsonl"):
        lines = Path(path).read_text("utf-8").splitlines()
        records = list(map(json.loads, lines))
        return [(each["text"], each["spans"]) for each in records]
    if path.endswith("json"):
        records = json.loads(Path(path).read_text("utf-8"))
        return [(each["text"], each["a"]["spans"]) for each in records]
    table = pq.read_table(path).to_pylist()
    return [(row["text"], row["spans"]) for row in table]


def run(*arguments, expect=0):
    given = ["privatize", *map(str, arguments), "--epsilon", "12", "--quiet"]
    done = CliRunner().invoke(cli, given)
    assert done.exit_code == expect, done.output
    return done


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.json", "x.parquet"])
@pytest.mark.parametrize("numbers", ["hide", "near", "plain"])
def test_spans_cover_the_words_that_stand_for_theirs(form, name, numbers):
    rows = [(text, FORMS[form](spans_of(i))) for i, text in enumerate(TEXTS)]
    write(name, list(enumerate(rows)))
    out = name.replace("x.", "out.")
    field = "a.spans" if name == "x.json" else "spans"
    run(name, "-o", out, "--spans", field, "--numbers", numbers)
    found = read(out)
    assert len(found) == 3
    for number, (text, spans) in enumerate(found):
        moved = read_spans(spans, text)
        assert [kind for *_, kind in moved] == [k for *_, k in spans_of(number)]
        for (start, end, _), word in zip(moved, WORDS[number], strict=True):
            shown = text[start:end]
            assert len(shown.split()) == len(word.split())
            assert re.fullmatch(r"\w.*\w", shown)
        # Structure is the same, so what stands beside the first span is too.
        if moved:
            before = TEXTS[number][: spans_of(number)[0][0]]
            assert re.sub(r"\w+", "w", text[: moved[0].start]) == re.sub(
                r"\w+", "w", before
            )
    data = json.dumps(found)
    assert "PRIVATE" not in data
    assert "0.123456" not in data


def test_the_rest_of_a_record_stays_byte_for_byte(folder):
    line = '{"n": 1.10,  "text": "Ann is ill.", "spans":[[0, 3, "PER"]] , "z": [ ]}\n'
    (folder / "x.jsonl").write_text(line)
    run("x.jsonl", "-o", "out.jsonl", "--spans", "spans")
    shown = (folder / "out.jsonl").read_text()
    assert re.fullmatch(
        r'\{"n": 1\.10,  "text": "\w+ is \w+\.", '
        r'"spans":\[\[0, \d+, "PER"\]\] , "z": \[ \]\}\n',
        shown,
    )


def test_without_the_option_spans_pass_as_any_column(folder):
    write("x.jsonl", [(0, (TEXTS[0], [[0, 9, "PER"]]))])
    run("x.jsonl", "-o", "out.jsonl")
    assert read("out.jsonl")[0][1] == [[0, 9, "PER"]]


@pytest.mark.parametrize(
    "broken",
    [
        [[0, 900, "PER"]],
        [[5, 2, "PER"]],
        [["Ann", 9, "PER"]],
        {"secret": "Ann Smith"},
        "Ann B-PER",
        "[[0, 3",
        [
            [
                0,
                3,
                "Ann Smith has diabetes and would like nobody to know it at all, ever",
            ]
        ],
        7,
    ],
)
def test_broken_spans_name_their_row_and_quote_nothing(folder, broken):
    good = [(TEXTS[1], []), (TEXTS[2], spans_of(2))]
    write("x.jsonl", list(enumerate([*good, (TEXTS[0], broken)])))
    done = run("x.jsonl", "-o", "out.jsonl", "--spans", "spans", expect=3)
    assert "row 3" in done.output
    assert "Ann" not in done.output
    assert "diabetes" not in done.output
    assert not (folder / "out.jsonl").exists()


def test_nulls_and_absent_fields_have_no_spans(folder):
    records = [{"text": None, "spans": None}, {"text": "Ann."}, {"text": TEXTS[0]}]
    records[2]["spans"] = spans_of(0)
    data = "".join(f"{json.dumps(each)}\n" for each in records)
    (folder / "x.jsonl").write_text(data)
    run("x.jsonl", "-o", "out.jsonl", "--spans", "spans")
    lines = (folder / "out.jsonl").read_text().splitlines()
    assert [json.loads(line).get("spans") is None for line in lines] == [1, 1, 0]
    run("x.jsonl", "-o", "out2.jsonl", "--spans", "span", expect=3)


def test_what_spans_disclose_is_in_the_promise(folder):
    write("x.jsonl", [(0, (TEXTS[0], spans_of(0)))])
    run("x.jsonl", "-o", "out.jsonl", "--spans", "spans", "--report", "r.json")
    report = json.loads((folder / "r.json").read_text())
    disclosed = json.dumps(report["passes"])
    assert "which words the field of --spans annotates, and as what" in disclosed
    run("x.jsonl", "-o", "out2.jsonl", "--report", "r2.json")
    assert "annotates" not in (folder / "r2.json").read_text()


def test_what_does_not_go_with_spans_is_refused(folder):
    write("x.csv", [(0, (TEXTS[0], spans_of(0)))])
    (folder / "x.txt").write_text("Ann.\n")
    run("x.csv", "-o", "o.csv", "--spans", "other", expect=3)
    run("x.csv", "-o", "o.csv", "--spans", "text", expect=2)
    run("x.txt", "-o", "o.txt", "--spans", "spans", expect=2)
    run("x.csv", "-o", "o.csv", "--spans", "spans", "--jobs", "2", expect=2)
    more = ["--column", "text", "--column", "id"]
    run("x.csv", "-o", "o.csv", "--spans", "spans", *more, expect=2)
    assert not list(folder.glob("o.*"))


def test_keyed_releases_repeat_their_spans(folder):
    (folder / "key").write_bytes(bytes(range(32)))
    (folder / "key").chmod(0o600)
    write("x.jsonl", list(enumerate((t, spans_of(i)) for i, t in enumerate(TEXTS))))
    for name in ("a.jsonl", "b.jsonl"):
        given = ["x.jsonl", "-o", name, "--spans", "spans", "--key-file", "key"]
        run(*given, "--id", "id")
    assert (folder / "a.jsonl").read_bytes() == (folder / "b.jsonl").read_bytes()
    plain = ["x.jsonl", "-o", "c.jsonl", "--key-file", "key", "--id", "id"]
    run(*plain)
    assert [text for text, _ in read("a.jsonl")] == [t for t, _ in read("c.jsonl")]
