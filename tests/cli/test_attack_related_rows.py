"""Rows that have something in common: who knows some of them reads the others."""

import csv
import json
import random

import pytest

from commands import run_command
from mondegreen.attacks.linkage import OF_ROW
from mondegreen.attacks.related_rows import OTHER_TEXTS, RELATED, ROW_ORDER
from mondegreen.attacks.sensitive import BEST
from mondegreen.cli import related_rows

NAMES = "Anna Maria Julia Laura Sarah Helen Thomas Peter Robert David".split()
ILLS = "diabetes asthma pneumonia cancer epilepsy migraine arthritis".split()
HINTS = (
    "my meter shows too much after lunch",
    "the little pump for the air is empty",
    "the picture of my chest",
    "the wig and the scarf",
    "the watch that warns before I fall",
    "light and noise on my bad days",
    "the grip for bottles",
)
SAID = (
    "{n} has {i} and the box was open when it came.",
    "We have waited for {n} now, because of {i}.",
    "It works well, but {n} with {i} does not like the color.",
    "There was water in it, says {n}, and {i} is worse.",
    "{n} said that the {i} will not go away.",
)


def make_rows(kind, people=100, each=4):
    """Write rows of people; what their texts have in common depends on the kind."""
    rng = random.Random(3)
    rows = []
    for person in range(people):
        name, ill = rng.choice(NAMES), rng.choice(ILLS)
        for _ in range(each):
            if kind not in ("id", "order"):
                name, ill = rng.choice(NAMES), rng.choice(ILLS)
            text = rng.choice(SAID).format(n=name, i=ill)
            id = f"u{10 * person:05d}" if kind == "id" else f"{rng.getrandbits(40)}"
            columns = {
                "link": id,
                "tariff": f"Q{ILLS.index(ill)}" if kind == "code" else "Q0",
                "subject": HINTS[ILLS.index(ill)] if kind == "texts" else "hello there",
                "rating": str(rng.randrange(5)),
                "empty": "",
            }
            rows.append({**columns, "text": text})
    if kind != "order":
        rng.shuffle(rows)
    return rows


def write(path, rows, columns):
    with path.open("w", newline="") as stream:
        made = csv.DictWriter(stream, columns, extrasaction="ignore")
        made.writeheader()
        made.writerows(rows)


def mask(row):
    """Mask names and illnesses, as a tool would."""
    found = row["text"]
    for word in NAMES:
        found = found.replace(word, "<NAME>")
    for word in ILLS:
        found = found.replace(word, "<ILLNESS>")
    return {**row, "text": found}


def mask_words(text):
    return mask({"text": text})["text"]


def attack(*arguments):
    done = run_command("attack", *map(str, arguments), "--json", "--quiet")
    return json.loads(done.stdout)["reader"]


def get_ways(found):
    return {way["by"]: way["value"] for way in found["by"]}


@pytest.mark.parametrize(
    ("kind", "columns", "column", "least"),
    [
        ("id", ["link", "rating", "text"], "link", 0.8),
        ("order", ["rating", "text"], ROW_ORDER, 0.55),
        ("code", ["tariff", "rating", "text"], "tariff", 0.5),
        ("texts", ["subject", "rating", "text"], OTHER_TEXTS, 0.5),
    ],
)
@pytest.mark.parametrize("is_ours", [True, False])
def test_words_of_related_rows_are_copied(
    kind, columns, column, least, is_ours, folder
):
    rows = make_rows(kind)
    write(folder / "a.csv", rows, columns)
    given = ["a.csv", "--column", "text"]
    given += ["--column", "subject"] if kind == "texts" else []
    if is_ours:
        found = attack(*given, "--epsilon", 14)
    else:
        write(folder / "b.csv", map(mask, rows), columns)
        found = attack("a.csv", "b.csv", *given[1:])
    ways = get_ways(found)
    assert found["value"] >= ways[RELATED] > least
    others = [value for way, value in ways.items() if way not in (RELATED, BEST)]
    assert max(others) < least - 0.1
    assert found["column"] == column


@pytest.mark.parametrize("is_ours", [True, False])
def test_rows_without_anything_in_common_are_read_as_before(is_ours, folder):
    """Ids of one row each, a rating and one code tell nothing."""
    rows = make_rows("none")
    write(folder / "a.csv", rows, ["link", "tariff", "rating", "empty", "text"])
    write(folder / "b.csv", map(mask, rows), ["link", "tariff", "rating", "text"])
    more = ["--epsilon", 14] if is_ours else ["b.csv"]
    found = attack("a.csv", *more, "--column", "text")
    assert RELATED not in get_ways(found)
    assert "column" not in found


def test_rows_of_a_corpus_are_related_by_the_same_column(folder):
    rows = make_rows("id")
    write(folder / "a.csv", rows[::2], ["link", "text"])
    write(folder / "b.csv", map(mask, rows[::2]), ["link", "text"])
    write(folder / "known.csv", rows[1::2], ["link", "text"])
    for more in (["--epsilon", 14], ["b.csv"]):
        given = ["a.csv", *more, "--column", "text"]
        assert get_ways(attack(*given, "--corpus", "known.csv"))[RELATED] > 0.7


def test_the_columns_of_the_release_count(folder):
    """What a tool removes from the file relates no rows."""
    rows = make_rows("id")
    write(folder / "a.csv", rows, ["link", "text"])
    write(folder / "b.csv", map(mask, rows), ["text"])
    assert RELATED not in get_ways(attack("a.csv", "b.csv", "--column", "text"))
    hashed = [{**mask(row), "link": f"x{row['link']}"} for row in rows]
    write(folder / "b.csv", hashed, ["link", "text"])
    assert get_ways(attack("a.csv", "b.csv", "--column", "text"))[RELATED] > 0.8


def test_a_table_names_the_column_and_no_value(folder):
    write(folder / "a.csv", make_rows("id"), ["link", "text"])
    given = ["attack", "a.csv", "--column", "text", "--epsilon", "14", "--quiet"]
    shown = run_command(*given, secret="u00990").stdout
    assert f"recovered from {RELATED}, most by 'link': " in shown


def test_a_stream_is_read_once(folder, monkeypatch):
    """Then columns are not compared, and the order of rows is."""
    rows = make_rows("order")
    write(folder / "a.csv", rows, ["link", "text"])
    monkeypatch.setattr(related_rows, "can_read_again", lambda path: False)
    found = attack("a.csv", "--column", "text", "--epsilon", 14)
    assert (found["column"], found["value"] > 0.5) == (ROW_ORDER, True)


def test_texts_in_lists_of_json_are_related_by_fields(folder):
    rows = [
        {"who": {"id": row["link"]}, "tags": ["a", None], "said": [row["text"], "Hi"]}
        for row in make_rows("id")
    ]
    (folder / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = attack("a.jsonl", "--column", "said", "--epsilon", 14)
    assert (found["column"], found["value"] > 0.8) == ("who.id", True)


def _link(columns, *more):
    named = [part for each in columns for part in ("--column", each)]
    done = run_command("attack", *map(str, more), *named, "--json", "--quiet")
    found = json.loads(done.stdout)["linkage"]
    return found["value"], get_ways(found)


@pytest.mark.parametrize("kind", ["policy", "space", "any tool"])
def test_rows_are_linked_by_all_of_their_texts(kind, folder):
    """One text of a row fits many rows; together they fit one."""
    rng = random.Random(1)
    words = "the old house near our small garden is very quiet and warm".split()
    rows = [
        {each: f"{rng.choice(words)} {rng.choice(NAMES)}" for each in "ab"}
        for _ in range(120)
    ]
    write(folder / "a.csv", rows, ["a", "b"])
    given = ["a.csv"]
    if kind == "policy":
        given += ["--epsilon", 14]
    elif kind == "space":
        given += ["--epsilon", 9, "--policy", "all"]
    else:
        hidden = [
            {name: mask_words(text) for name, text in row.items()} for row in rows
        ]
        write(folder / "b.csv", hidden, ["a", "b"])
        given += ["b.csv"]
    value, ways = _link("ab", *given)
    whole = {way: share for way, share in ways.items() if way.endswith(OF_ROW)}
    alone = {way: share for way, share in ways.items() if way not in whole}
    assert value == max(whole.values()) > max(alone.values()) + 0.1
    _, one = _link("a", *given)
    assert not any(way.endswith(OF_ROW) for way in one)
