"""``privatize --drop``: the release lacks the column, in every format."""

import csv
import io
import json
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commands import run_command
from mondegreen.settings import Settings

TEXT = "(!) «»"  # no word, so nothing is drawn
ROWS = [
    {"id": "7", "name": 'Ann "A" Zyxwold', "text": TEXT, "stars": "5"},
    {"id": "8", "name": "Bob, Zyxwold", "text": TEXT, "stars": "4"},
]
GIVEN = ["privatize", "in.parquet", "-o", "out.parquet", "-c", "text", "-e", "12"]
FORMATS = ["csv", "tsv", "json", "jsonl", "parquet", "xlsx"]


def write(form, rows=ROWS):
    path = f"in.{form}"
    if form in ("csv", "tsv"):
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter="\t" if form == "tsv" else ",")
            writer.writerows([list(rows[0]), *(row.values() for row in rows)])
    elif form == "json":
        Path(path).write_text(json.dumps(rows, indent=1))
    elif form == "jsonl":
        Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif form == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        book = openpyxl.Workbook()
        for row in [list(rows[0]), *(list(row.values()) for row in rows)]:
            book.active.append(row)
        book.save(path)
    return path


def read(path):
    form = path.rpartition(".")[2]
    if form in ("csv", "tsv"):
        mark = "\t" if form == "tsv" else ","
        stream = io.StringIO(Path(path).read_text(), newline="")
        return list(csv.DictReader(stream, delimiter=mark))
    if form == "json":
        return json.loads(Path(path).read_text())
    if form == "jsonl":
        return [json.loads(line) for line in Path(path).read_text().splitlines()]
    if form == "parquet":
        return pq.read_table(path).to_pylist()
    header, *rows = openpyxl.load_workbook(path).active.iter_rows(values_only=True)
    return [dict(zip(header, row, strict=True)) for row in rows]


def run(path, *more, expect=0):
    output = "out." + path.rpartition(".")[2]
    given = ["privatize", path, "-e", "12", "-q", "-o", output, *more]
    return run_command(*given, expect=expect), output


def without(*names, rows=ROWS):
    return [{k: v for k, v in row.items() if k not in names} for row in rows]


@pytest.mark.parametrize("form", FORMATS)
def test_the_release_lacks_the_columns_and_has_all_others(folder, form):
    done, output = run(write(form), "--drop", "name", "--drop", "id")
    assert read(output) == without("name", "id")
    assert b"Zyxwold" not in Path(output).read_bytes()
    assert "look like names" not in done.stderr


@pytest.mark.parametrize("form", FORMATS)
def test_a_dropped_id_still_makes_noise_repeat(folder, form):
    rows = [{**row, "text": "Ann met Bob in Oslo."} for row in ROWS]
    key = Path("key")
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    keyed = ["--id", "id", "--key-file", "key"]
    path = write(form, rows)
    run(path, *keyed)
    whole = read(f"out.{form}")
    _, output = run(path, *keyed, "--drop", "id", "--drop", "name", "--force")
    assert read(output) == without("id", "name", rows=whole)
    keyed += ["--same", "record", "--map", "map"]
    done, _ = run(path, *keyed, "--drop", "id", expect=2)
    assert "--map finds records by --id" in done.stderr


@pytest.mark.parametrize("form", FORMATS)
def test_an_absent_column_is_named_and_nothing_is_written(folder, form):
    done, output = run(write(form), "--drop", "nmae", expect=3)
    assert "column 'nmae' not found" in done.stderr
    assert not Path(output).exists()


@pytest.mark.parametrize("form", [*FORMATS, "txt"])
def test_the_text_itself_is_not_dropped(folder, form):
    path = "in.txt" if form == "txt" else write(form)
    Path("in.txt").write_text(TEXT)
    done, output = run(path, "--drop", "text", expect=2)
    assert "drop must be" in done.stderr
    assert not Path(output).exists()


def test_the_warning_of_other_columns_names_the_option(folder):
    done, _ = run(write("csv"))
    assert "unchanged: 'id', 'name'. Remove them with --drop NAME." in done.stderr
    done, _ = run(write("csv"), "--drop", "name", "--force")
    assert "unchanged: 'id'. Remove" in done.stderr


def test_several_files_lose_the_column_each(folder):
    Path("many").mkdir()
    for number in (1, 2):
        Path(write("csv")).rename(f"many/{number}.csv")
    run_command("privatize", "many", "-e", "12", "-q", "-o", "new", "--drop", "name")
    for number in (1, 2):
        assert read(f"new/{number}.csv") == without("name")


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ('{"d":1,"text":"","e":2}', '{"text":"","e":2}'),
        ('{"text":"","d":1}', '{"text":""}'),
        ('{"d":1,"d":2,"text":"","d":3}', '{"text":""}'),
        ('{ "text" : "" , "d" : [1, {"d": 2}] , "x" : 1.10 }', None),
        ('{"\\u0064": "secret", "text": ""}', '{"text": ""}'),
        ('{"a":{"d":1},"text":"","d":1}', '{"a":{"d":1},"text":""}'),
    ],
)
def test_a_key_of_json_goes_with_its_comma(folder, given, wanted):
    Path("in.jsonl").write_text(given + "\n")
    _, output = run("in.jsonl", "--drop", "d")
    made = Path(output).read_text().rstrip("\n")
    assert made == (wanted or '{ "text" : "" , "x" : 1.10 }')
    json.loads(made)


def test_a_path_of_json_goes_in_every_object_on_the_way(folder):
    people = [{"mail": "x", "n": 1}, {"mail": "y"}, {"n": 2}]
    rows = [{"people": people, "people.mail": 0, "text": ""}, {"text": ""}]
    _, output = run(write("json", rows), "--drop", "people.mail")
    assert read(output) == [
        {"people": [{"n": 1}, {}, {"n": 2}], "text": ""},
        {"text": ""},
    ]


def test_json_that_ends_before_a_dropped_path_is_refused(folder):
    rows = [{"user": {"mail": "x"}, "text": ""}, {"user": "ann@x.y", "text": ""}]
    done, output = run(write("jsonl", rows), "--drop", "user.mail", expect=3)
    assert "row 2: text at 'user.mail', where an object on the way" in done.stderr
    assert not Path(output).exists()
    _, output = run("in.jsonl", "--drop", "user.mail", "--drop", "user")
    assert read(output) == [{"text": ""}] * 2


def test_what_holds_a_text_is_not_dropped(folder):
    rows = [{"msg": {"body": TEXT, "to": "Ann"}}]
    for form in ("json", "jsonl", "parquet"):
        done, _ = run(write(form, rows), "-c", "msg.body", "--drop", "msg", expect=2)
        assert "other than 'msg.body'" in done.stderr


def test_two_columns_of_one_name_are_refused(folder):
    Path("in.csv").write_text(f"a,a,text\n1,2,{TEXT}\n")
    done, _ = run("in.csv", "--drop", "a", expect=3)
    assert "there are 2 columns named 'a'" in done.stderr


def test_one_column_that_is_left_has_no_blank_lines(folder):
    Path("in.csv").write_bytes(b"a,text\r\n1,\r\n2,\r\n")
    _, output = run("in.csv", "--drop", "a")
    assert Path(output).read_bytes() == b'text\r\n""\r\n""\r\n'


def test_kept_metadata_does_not_describe_a_dropped_column(folder):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(ROWS).set_index("name")
    frame.to_parquet("in.parquet")
    for metadata in ("keep", "drop"):
        more = ["--drop", "name", "--metadata", metadata, "--force"]
        _, output = run("in.parquet", *more)
        assert pd.read_parquet(output).to_dict("records") == without("name")


def test_formulas_of_a_workbook_go_where_a_column_goes(folder):
    # "=B2" would be another column behind a dropped one
    rows = [{"id": 1, "stars": 4, "text": TEXT, "twice": "=B2*2"}]
    path = write("xlsx", rows)
    run(path)
    assert read("out.xlsx")[0]["twice"] == "=B2*2"
    done = run_command(
        *("privatize", path, "-e", "12", "-o", "new.xlsx", "--drop", "id")
    )
    assert read("new.xlsx") == [{"stars": 4, "text": TEXT, "twice": None}]
    more = "-o", "newer.xlsx", "--drop", "id", "--report", "new.json"
    told = run_command("privatize", path, "-e", "12", *more).stderr
    assert "Formulas left out, other cells unchanged, in columns: twice" in told
    stated = json.loads(Path("new.json").read_text())["input"]
    assert stated["unchanged"] == ["stars", "twice"]  # a cell may hold a text
    assert stated["formulas_left_out"] == ["twice"]
    assert "Formulas are left out." in done.stderr


def test_dropping_is_no_setting():
    assert "drop" not in Settings.__dataclass_fields__


def test_a_record_that_passes_lacks_the_key_too(folder):
    Path("in.jsonl").write_text('{"text": "", "k": 1}\n{"other": "x", "k": 2}\n')
    _, output = run("in.jsonl", "--missing", "pass", "--drop", "k")
    assert Path(output).read_text() == '{"text": ""}\n{"other": "x"}\n'


def test_the_header_keeps_its_mark_its_quotes_and_its_line_end(folder):
    Path("in.csv").write_bytes(b'\xef\xbb\xbfid,"a\nb",text\r\n1,x,\r\n')
    _, output = run("in.csv", "--drop", "id")
    assert Path(output).read_bytes() == b'\xef\xbb\xbf"a\nb",text\r\nx,\r\n'


def test_integer_ids_of_parquet_are_named_as_in_the_file(folder):
    rows = [{"k": i, "text": TEXT} for i in range(2)]
    pq.write_table(pa.Table.from_pylist(rows), "in.parquet")
    Path("key").write_bytes(bytes(range(32)))
    Path("key").chmod(0o600)
    keyed = ["--key-file", "key", "--id", "k", "--report", "r.json", "--force"]
    done = run_command(*GIVEN, *keyed)
    assert "the column of --id, 'k', is released as it is" in done.stderr
    assert json.loads(Path("r.json").read_text())["input"]["unchanged"] == ["k"]
    assert "(id)" not in done.stderr + Path("r.json").read_text()
    done = run_command(*GIVEN, *keyed, "--drop", "k")
    assert "released as it is" not in done.stderr
    report = json.loads(Path("r.json").read_text())
    assert report["input"]["unchanged"] == []
    assert report["passes"][0]["loss"]["id_column"] is None
    assert pq.read_schema("out.parquet").names == ["text"]
