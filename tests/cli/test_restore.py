"""A release and its map: originals come back, and only with the key."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commands import run_command
from mondegreen.privatizer.release_map import Entry

TEXTS = [
    "Dr. Anna O'Brien met Mr. Okonkwo in Oslo; Okonkwo's wife wasn't an engineer.",
    "She isn't ill: call +47 555 12 345, or write to anna.berg@example.org.",
    "",
    "the and of a man",
    "“ANNA” wrote to Anna\u00a0Berg\t🐱 on 2023-04-01.",
]
POLICY = ["--policy", "names", "--same", "record"]
SECRETS = ["Okonkwo", "okonkwo", "Anna", "555 12 345"]  # a speed may be 555


def run(*args, expect=0):
    done = run_command(*args, expect=expect)
    assert not any(secret in done.stderr for secret in SECRETS)
    return done.stderr


@pytest.fixture
def files(folder):
    for name in ("key", "other"):
        Path(name).write_bytes(os.urandom(32))
        Path(name).chmod(0o600)
    write(TEXTS)
    return folder


def write(texts, path="in.csv"):
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "text"])
        rows.writerows([f"r{i}", text] for i, text in enumerate(texts))


def texts_in(path):
    with Path(path).open(newline="", encoding="utf-8") as file:
        return [row["text"] for row in csv.DictReader(file)]


def release(*args, source="in.csv", out="safe.csv", epsilon="12", policy=POLICY):
    return run(
        *["privatize", source, "-o", out, "--map", "map", "--key-file", "key"],
        *["-e", epsilon, "--force", *policy, *args],
    )


def back(*args, source="safe.csv", out="back.csv", key="key", expect=0):
    arguments = ["--map", "map", "--key-file", key, "-o", out, "--force"]
    return run("restore", source, *arguments, *args, expect=expect)


@pytest.mark.parametrize("mechanism", ["urr", "krr"])
@pytest.mark.parametrize("structure", ["keep", "plain"])
def test_a_release_is_undone_exactly_whatever_the_noise_did(
    files, mechanism, structure
):
    # At epsilon 1 most ordinary words stray, to other ordinary words under krr.
    release("-m", mechanism, "--structure", structure, epsilon="1")
    released = texts_in("safe.csv")
    assert released[0] != TEXTS[0]
    back()
    assert texts_in("back.csv") == TEXTS


def test_the_map_shows_no_word_and_not_even_which_text_changed(files):
    said = release()
    assert "undo" in said
    assert "If the key is lost, nobody can restore." in said
    data = Path("map").read_bytes()
    for text in TEXTS:
        for word in text.split():
            if len(word) > 3:
                assert word.encode() not in data
    (length,) = {len(data)}
    write([*TEXTS[:4], "the man and the dog"])
    release()
    assert len(Path("map").read_bytes()) == length


def test_the_ending_s_is_no_surrogate_of_a_letter():
    entry = Entry("", (), {"S": "O", "Karlsen": "Brien"})
    found, how = entry.restore("S'Karlsen and Karlsen's wife, and s and ’S")
    assert (found, how) == ("O'Brien and Brien's wife, and O and ’S", "words")


def test_a_text_that_was_edited_is_restored_by_word(files):
    release(epsilon="30")
    released = texts_in("safe.csv")
    name = released[0].split(" met Mr. ")[1].split(" in ")[0]
    edited = f"Summary: {name.upper()} and {name}'s wife saw {name}ish things."
    write([edited, *released[1:]], "safe.csv")
    said = back()
    assert "1 text edited since, and restored word by word" in said
    restored = texts_in("back.csv")[0]
    expected = f"Summary: OKONKWO and Okonkwo's wife saw {name}ish things."
    assert restored == expected
    assert texts_in("back.csv")[1:] == TEXTS[1:]


def test_rows_in_another_order_are_a_warning(files):
    release(epsilon="30")
    released = texts_in("safe.csv")
    assert "Warning" not in back()
    write([released[0], *released[2:], released[1]], "safe.csv")
    assert "Warning: most texts could not be matched." in back()


def test_moved_texts_get_no_words_of_the_record_at_their_place(files):
    """Two records may share a surrogate, such as a weekday: there are seven."""
    days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
    texts = [f"Anna Berg called on {days[i % 5]} about room {i}." for i in range(60)]
    write(texts)
    release("-c", "text", epsilon="1")
    released = texts_in("safe.csv")
    write(released[:40] + released[:39:-1], "moved.csv")
    said = back("-c", "text", source="moved.csv")
    assert texts_in("back.csv") == texts[:40] + released[:39:-1]
    assert "Warning: 20 texts moved to another record" in said


def test_a_surrogate_of_one_record_is_nothing_in_another(files):
    release(epsilon="30")
    released = texts_in("safe.csv")
    name = released[0].split(" met Mr. ")[1].split(" in ")[0]
    write([released[0], f"{name} smiled.", *released[2:]], "safe.csv")
    back()
    assert texts_in("back.csv")[1] == f"{name} smiled."


def test_by_id_rows_may_move_and_be_left_out(files):
    release("--id", "id")
    with Path("safe.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    with Path("safe.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([rows[0], rows[5], rows[1]])
    back("--id", "id")
    assert texts_in("back.csv") == [TEXTS[4], TEXTS[0]]
    assert "needs --id COLUMN" in back(expect=2)


def test_rows_that_were_left_out_are_an_error_without_ids(files):
    release()
    write(texts_in("safe.csv")[:3], "safe.csv")
    assert "more or fewer texts" in back(expect=3)
    assert not Path("back.csv").exists()
    assert "was made without --id" in back("--id", "id", expect=2)


def test_an_id_that_occurs_twice_is_refused(files):
    Path("in.csv").write_text("id,text\na,Okonkwo\na,Okonkwo\n")
    args = ["--map", "map", "--key-file", "key", "--id", "id", "-e", "12", *POLICY]
    run("privatize", "in.csv", "-o", "safe.csv", *args, expect=3)
    assert not Path("safe.csv").exists()
    assert not Path("map").exists()


def test_another_key_and_a_forged_map_are_refused(files):
    release()
    assert "the key is another one" in back(key="other", expect=3)
    good = Path("map").read_bytes()
    for place in (len(good) // 2, len(good) - 1, 40):
        forged = bytearray(good)
        forged[place] ^= 1
        Path("map").write_bytes(bytes(forged))
        assert "changed" in back(expect=3)
    Path("map").write_bytes(good[: len(good) // 2])
    assert "incomplete" in back(expect=3)
    Path("map").write_bytes(good + b"x")
    assert "incomplete" in back(expect=3)
    Path("map").write_bytes(b"PAR1")
    assert "not a map" in back(expect=3)
    assert not Path("back.csv").exists()


def test_blocks_of_another_map_under_the_same_key_are_refused(files, monkeypatch):
    monkeypatch.setattr("mondegreen.privatizer.release_map._BLOCK", 1)

    def blocks():
        data, at, found = Path("map").read_bytes(), len(b"mondegreen-map 1\n"), []
        while at < len(data):
            end = at + 8 + int.from_bytes(data[at : at + 8], "big")
            found.append(data[at:end])
            at = end
        return found

    release()
    one = blocks()
    back()
    assert texts_in("back.csv") == TEXTS
    release()
    two, head = blocks(), b"mondegreen-map 1\n"
    assert len(two) > 2
    for mixed in ([two[0], one[1], *two[2:]], [two[0], *two[2:]], two[:-1]):
        Path("map").write_bytes(head + b"".join(mixed))
        assert "map" in back(expect=3)


def test_the_map_of_another_release_is_refused(files):
    release()
    Path("map").rename("first")
    write(
        [f"Mr. Adeyemi saw {word} in Lagos." for word in ("it", "us", "me", "all", "")]
    )
    release()
    Path("first").rename("map")
    assert "another release" in back(expect=3)


def test_a_parquet_file_of_another_policy_is_refused(files):
    table = pa.table({"text": TEXTS})
    pq.write_table(table, "in.parquet")
    release(source="in.parquet", out="safe.parquet")
    back(source="safe.parquet", out="back.parquet")
    restored = pq.read_table("back.parquet")
    assert restored["text"].to_pylist() == TEXTS
    # The originals must not travel under the guarantee of the release.
    assert b"mondegreen" not in (restored.schema.metadata or {})
    policy = ["--policy", "sensitive", "--same", "record"]
    Path("map").rename("names")
    release(source="in.parquet", out="safe.parquet", policy=policy)
    Path("names").rename("map")
    said = back(source="safe.parquet", out="other.parquet", expect=3)
    assert "another policy" in said


def test_lists_and_several_columns_are_restored(files):
    rows = [
        {"id": 1, "a": "Okonkwo slept.", "b": {"c": ["Anna ate.", None, "Okonkwo."]}},
        {"id": 2, "a": "Oslo.", "b": {"c": []}},
    ]
    data = "".join(json.dumps(row) + "\n" for row in rows)
    Path("in.jsonl").write_text(data)
    columns = ["-c", "a", "-c", "b.c"]
    for extra in ([], ["--id", "id"]):
        release(*columns, *extra, source="in.jsonl", out="safe.jsonl")
        assert "Okonkwo" not in Path("safe.jsonl").read_text()
        back(*columns, *extra, source="safe.jsonl", out="back.jsonl")
        read = [
            json.loads(line) for line in Path("back.jsonl").read_text().splitlines()
        ]
        assert read == rows
    given = ["-c", "id", "--id", "a"]
    assert "Columns: 'a', 'b.c'" in back(*given, source="safe.jsonl", expect=3)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--policy", "names"], "--same record"),
        (["--policy", "all"], "--same record"),
        ([*POLICY, "-j", "2"], "--jobs 1"),
        ([*POLICY], "--key-file"),
        ([*POLICY, "--seed", "1", "--key-file", "key"], "cannot be combined"),
        ([*POLICY, "--key-file", "key", "--report", "map"], "a separate file"),
        ([*POLICY, "--key-file", "map"], "key file"),
    ],
)
def test_a_map_needs_surrogates_a_key_and_a_file_of_its_own(files, args, says):
    given = ["privatize", "in.csv", "-o", "safe.csv", "-e", "12", "--map", "map"]
    assert says in run(*given, *args, expect=2)
    assert not Path("safe.csv").exists()
    assert not Path("map").exists()


def test_nothing_appears_where_the_map_cannot_be_written(files):
    Path("map").write_text("mine")
    args = ["--map", "map", "--key-file", "key", "-e", "12", *POLICY]
    run("privatize", "in.csv", "-o", "safe.csv", *args, expect=3)
    assert Path("map").read_text() == "mine"
    assert not Path("safe.csv").exists()


def test_a_map_of_another_version_says_so(files):
    release()
    data = Path("map").read_bytes()
    Path("map").write_bytes(data.replace(b"mondegreen-map 1", b"mondegreen-map 2", 1))
    said = back(expect=3)
    assert 'has the format "mondegreen-map 2", and this version reads 1' in said
    assert "not a map" not in said


@pytest.mark.parametrize("written", ["way.map", "map.key"])
def test_the_key_and_the_map_are_not_written_over(tmp_path, monkeypatch, written):
    monkeypatch.chdir(tmp_path)
    Path("in.txt").write_text("I met Ann in Oslo.\n")
    key = Path("map.key")
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    made = "privatize in.txt -o out.txt -e 12 --same record --map way.map"
    run_command(*made.split(), "--key-file", "map.key")
    before = Path(written).read_bytes()
    back = f"restore out.txt --map way.map --key-file map.key -o {written} --force"
    assert "a separate file" in run_command(*back.split(), expect=2).stderr
    assert Path(written).read_bytes() == before
