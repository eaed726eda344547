"""``attack --sarif`` and ``attack --time``: places without text, linkage by times."""

import csv
import json
import random
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from tests.attacks.any_tool.texts import make_texts

from mondegreen.cli.main import cli

SECRET = "Zyxwoldemorth"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments, expect=0):
    done = CliRunner().invoke(cli, ["attack", *map(str, arguments)])
    assert done.exit_code == expect, (done.output, done.exception)
    assert SECRET not in done.output
    return done


def write(path, rows):
    with open(path, "w", newline="") as stream:  # noqa: PTH123 - a name in a test
        csv.writer(stream).writerows(rows)


def notes(folder):
    """Notes with three annotated units; a redactor leaves the second and the third."""
    rows = [
        {"text": "Ann is here.", "spans": [[0, 3, "name"]]},
        {"text": "It rained.", "spans": []},
        {
            "text": f"Then {SECRET} called 555-0102.",
            "spans": [[5, 5 + len(SECRET), "name"], [26, 34, "phone"]],
        },
    ]
    released = ["[NAME] is here.", "It rained.", rows[2]["text"]]
    files = folder / "notes.jsonl", folder / "out file.jsonl"
    files[0].write_text("".join(json.dumps(row) + "\n" for row in rows))
    files[1].write_text("".join(json.dumps({"text": t}) + "\n" for t in released))
    return "notes.jsonl", "out file.jsonl", "--spans", "spans"


def read_log(path):
    """Read a log, and check what every reader of SARIF 2.1.0 relies on."""
    log = json.loads(path.read_text("utf-8"))
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    (made,) = log["runs"]
    driver = made["tool"]["driver"]
    assert driver["name"] == "mondegreen"
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(set(ids)) == len(ids)
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"]
    for result in made["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("error", "warning")
        assert result["message"]["text"]
        (place,) = result["locations"]
        physical = place["physicalLocation"]
        assert physical["artifactLocation"]["uri"]
        assert physical.get("region", {"startLine": 1})["startLine"] >= 1
    return made["results"]


def test_each_unit_that_is_left_is_a_warning_at_its_row(folder):
    run(*notes(folder), "--sarif", "log.sarif")
    *found, row = read_log(folder / "log.sarif")
    assert row["message"]["text"] == "Row 3 is unchanged."
    assert row["properties"] == {"row": 3, "kind": "unchanged_rows"}
    places = [result["locations"][0]["physicalLocation"] for result in found]
    assert [place["region"]["startLine"] for place in places] == [3, 3]
    assert {place["artifactLocation"]["uri"] for place in places} == {
        "out%20file.jsonl"
    }
    assert [result["properties"] for result in found] == [
        {"row": 3, "word": 2, "kind": "name"},
        {"row": 3, "word": 4, "kind": "phone"},
    ]
    assert SECRET not in (folder / "log.sarif").read_text()


def test_a_passed_limit_is_an_error_and_the_log_is_written(folder):
    limits = ["--fail-above", "survivors=0.5", "--fail-above", "linkage=1"]
    run(*notes(folder), "--sarif", "log.sarif", *limits, expect=4)
    found = read_log(folder / "log.sarif")
    errors = [result for result in found if result["level"] == "error"]
    assert [result["ruleId"] for result in errors] == ["survivors"]
    assert "0.6667" in errors[0]["message"]["text"]
    run(*notes(folder), "--sarif", "log.sarif", expect=3)  # it exists
    run(*notes(folder), "--sarif", "log.sarif", "--force")


def test_a_limit_on_an_attack_without_a_result_is_an_error(folder):
    limit = ["--fail-above", "sensitive_words=0.3"]
    run(*notes(folder), "--sarif", "log.sarif", *limit, expect=4)
    found = read_log(folder / "log.sarif")
    errors = [result for result in found if result["level"] == "error"]
    assert [result["ruleId"] for result in errors] == ["sensitive_words"]
    assert "sensitive_words is not known" in errors[0]["message"]["text"]


def test_a_wrong_limit_writes_nothing(folder):
    run(*notes(folder), "--sarif", "log.sarif", "--fail-above", "reeder=1", expect=2)
    assert not (folder / "log.sarif").exists()


def test_rows_of_csv_count_the_header_and_parquet_has_no_lines(folder):
    texts = ["It rained.", "Ann is here."]
    write("a.csv", [["text"], *([text] for text in texts)])
    write("b.csv", [["text"], *([text] for text in texts)])
    run("a.csv", "b.csv", "--sarif", "csv.sarif")
    found, _ = read_log(folder / "csv.sarif")
    assert found["locations"][0]["physicalLocation"]["region"] == {"startLine": 3}
    for name in ("a.parquet", "b.parquet"):
        pq.write_table(pa.table({"text": texts}), name)
    run("a.parquet", "b.parquet", "--sarif", "parquet.sarif")
    found, _ = read_log(folder / "parquet.sarif")
    assert "region" not in found["locations"][0]["physicalLocation"]
    assert found["properties"]["row"] == 2


@pytest.mark.slow("an attack with a model")
def test_exposed_places_of_a_release_of_ours_are_warnings(folder):
    write("a.csv", [["text"], *[["I live in the United States."]] * 8])
    law = ["--policy", "sensitive", "--epsilon", "30"]
    done = CliRunner().invoke(cli, ["privatize", "a.csv", "-o", "b.csv", *law])
    assert done.exit_code == 0
    run("a.csv", "b.csv", *law, "--places", "--sarif", "log.sarif")
    found = read_log(folder / "log.sarif")
    assert {result["ruleId"] for result in found} == {"reader"}
    assert {result["properties"]["kind"] for result in found} == {"place"}
    assert "United" not in (folder / "log.sarif").read_text()


# --- times


def timed(forms, shift, count=60):
    """Write texts that say nothing, with times that are known up to a shift."""
    rng = random.Random(3)
    texts = [text for text, _ in make_texts(count)]
    start = datetime(2026, 11, 25, tzinfo=UTC)
    times = [start + timedelta(seconds=rng.randrange(10**6)) for _ in texts]
    moved = [when + timedelta(seconds=rng.uniform(-shift, shift)) for when in times]
    mine, theirs = forms
    write("a.csv", [["text", "at"], *zip(texts, map(mine, times), strict=True)])
    write("b.csv", [["text", "at"], *(["x", theirs(when)] for when in moved)])
    return "a.csv", "b.csv", "--time", "at"


def linked_by_time(*arguments):
    found = json.loads(run(*arguments, "--json").stdout)["linkage"]
    return next(way for way in found["by"] if way["by"] == "time")


FORMS = {
    "iso": datetime.isoformat,
    "seconds": datetime.timestamp,
    "no zone": lambda when: when.replace(tzinfo=None).isoformat(" "),
}


# Each file is read by itself: each form on each side shows it.
@pytest.mark.slow("an attack each", but="iso-seconds")
@pytest.mark.parametrize(
    ("mine", "theirs"),
    [("iso", "iso"), ("iso", "seconds"), ("seconds", "no zone"), ("no zone", "iso")],
)
def test_times_link_releases_whatever_their_form(mine, theirs):
    forms = FORMS[mine], FORMS[theirs]
    assert linked_by_time(*timed(forms, shift=1))["value"] > 0.95


@pytest.mark.slow("an attack")
def test_times_that_are_far_off_are_at_chance():
    way = linked_by_time(*timed((FORMS["iso"],) * 2, shift=10**9))
    assert way["value"] < 0.1
    assert way["chance"] == pytest.approx(1 / 60)


def test_a_release_without_a_time_fits_every_original():
    rows = [["text", "at"], ["Ann called.", "1"], ["Bob called.", "5"]]
    write("a.csv", rows)
    write("b.csv", [["text", "at"], ["x called.", ""], ["x called.", "5"]])
    assert linked_by_time("a.csv", "b.csv", "--time", "at")["value"] == 0.75


@pytest.mark.slow("an attack")
def test_without_the_option_times_are_not_compared():
    timed((FORMS["iso"],) * 2, shift=1)
    found = json.loads(run("a.csv", "b.csv", "--json").stdout)["linkage"]
    assert "time" not in {way["by"] for way in found["by"]}


def test_broken_times_name_their_row():
    write("a.csv", [["text", "at"], ["Ann.", "1"], ["Bob.", f"{SECRET}"]])
    write("b.csv", [["text", "at"], ["Ann.", "1"], ["Bob.", "2"]])
    assert "row 2" in run("a.csv", "b.csv", "--time", "at", expect=3).stderr
    run("a.csv", "b.csv", "--time", "when", expect=3)
    run("a.csv", "b.csv", "--time", "at", "--epsilon", "12", expect=2)
