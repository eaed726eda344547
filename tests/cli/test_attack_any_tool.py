"""``mondegreen attack`` on releases of any tool: files in, numbers out, no text."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from tests.attacks.any_tool.texts import make_texts, replace

from commands import run_command
from mondegreen.attacks.any_tool.run import ORDER
from mondegreen.attacks.attack import Attack
from mondegreen.cli.attack import add_missing, check_limits
from mondegreen.cli.main import cli
from mondegreen.errors import PrivacyError

SECRET = "zyxwoldemorth"


@pytest.fixture
def files(folder):
    texts = make_texts(40)
    texts[6] = (f"{SECRET} {texts[6][0]}", [[0, len(SECRET), "code"]])
    with (folder / "o.jsonl").open("w") as mine, (folder / "r.jsonl").open("w") as out:
        for i, (text, spans) in enumerate(texts):
            row = {"text": text, "spans": spans, "label": "ab"[i % 2]}
            mine.write(json.dumps(row) + "\n")
            release = replace(text, lambda w: "<X_Y>" if w == "Ann" else w)
            out.write(json.dumps({"text": release}) + "\n")
    return folder


def run(*arguments, expect=0):
    return run_command("attack", *arguments, expect=expect, secret=SECRET)


def lines(path):
    return path.read_text().splitlines()


def attacked(*arguments):
    return json.loads(run(*arguments, "--json").stdout)


@pytest.mark.slow("an attack")
def test_the_json_has_what_scripts_read(files):
    found = attacked("o.jsonl", "r.jsonl", "--spans", "spans", "--label", "label")
    for name in ("survivors", "reader", "linkage", "attribute", "identity"):
        assert found[name].keys() >= {"value", "low", "high", "chance", "n"}
    assert found["texts"] == found["sampled"] == 40
    assert 0.8 < found["survivors"]["value"] < 1
    assert found["survivors"]["by_kind"]["code"]["value"] == 1
    assert all(1 <= r["row"] <= 40 for r in found["survivors"]["riskiest_rows"])


@pytest.mark.slow("seconds")
def test_csv_and_parquet_give_what_json_lines_give(files):
    rows = [json.loads(line) for line in lines(files / "o.jsonl")]
    released = [json.loads(line)["text"] for line in lines(files / "r.jsonl")]
    with (files / "o.csv").open("w", newline="") as stream:
        cells = [[r["text"], json.dumps(r["spans"])] for r in rows]
        csv.writer(stream).writerows([["text", "spans"], *cells])
    with (files / "r.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["text"], *([text] for text in released)])
    spans = [
        [{"start": s, "end": e, "label": k} for s, e, k in r["spans"]] for r in rows
    ]
    table = {"text": [r["text"] for r in rows], "spans": spans}
    pq.write_table(pa.table(table), files / "o.parquet")
    pq.write_table(pa.table({"text": released}), files / "r.parquet")
    wanted = attacked("o.jsonl", "r.jsonl", "--spans", "spans")
    for form in ("csv", "parquet"):
        assert attacked(f"o.{form}", f"r.{form}", "--spans", "spans") == wanted


@pytest.mark.parametrize(
    ("name", "others", "says"),
    [
        ("survivors", ["single_word"], "it needs a RELEASE"),
        ("surrogates", ["single_word"], "leave out --epsilon and name a RELEASE"),
        ("sensitive_words", ["displaced_rows"], "needs --epsilon, with the value"),
        ("averaging", ["single_word"], "--policy all"),
        ("attribute", ["displaced_rows"], "--label COLUMN"),
        ("unchanged_rows", ["single_word", "linkage"], "one of: single_word, linkage"),
    ],
)
def test_a_limit_without_a_result_says_what_to_do(name, others, says):
    found = {each: Attack(each, "", 0.0, 0.0, 0.0, None, 1) for each in others}
    made = add_missing(found, {name: 0.1})
    with pytest.raises(PrivacyError, match="has no result for these files") as error:
        check_limits(made, {name: 0.1})
    assert says in str(error.value)


@pytest.mark.slow("seconds")
def test_a_limit_fails_the_command(files):
    pair = "o.jsonl", "r.jsonl"
    run(*pair, "--fail-above", "survivors=1", "--fail-above", "linkage=1")
    done = run(*pair, "--fail-above", "survivors=0.01", expect=4)
    assert "survivors is 0.9" in done.stderr
    assert "attack" in done.stdout  # the table is printed all the same
    # A share that is perhaps below its limit by chance is not below it.
    done = run(*pair, "--fail-above", "survivors=0.95", expect=4)
    assert "and may be up to 0.9" in done.stderr
    assert "choose one of" in run(*pair, "--fail-above", "x=1", expect=2).stderr
    # What is not known is not below its limit.
    (files / "one.jsonl").write_text('{"text": "Ann"}\n')
    (files / "two.jsonl").write_text('{"text": "***"}\n')
    run("one.jsonl", "two.jsonl", "--fail-above", "linkage=1", expect=4)
    # So it is with an attack of another kind of release, which was not run.
    done = run(*pair, "--fail-above", "sensitive_words=0.3", expect=4)
    assert "sensitive_words is not known (limit 0.3; has no result for" in done.stderr
    for wrong in ("survivors", "survivors=x", "survivors=-1", "survivors=nan"):
        run(*pair, "--fail-above", wrong, expect=2)
    # No share is above 10: the check would pass for ever.
    done = run(*pair, "--fail-above", "survivors=10", expect=2)
    assert "write 10 % as 0.1" in done.stderr


@pytest.mark.slow("seconds")
def test_originals_in_another_order_are_no_release(files):
    """All would be gone, and every limit kept."""
    rows = (files / "o.jsonl").read_text().splitlines(keepends=True)
    (files / "turned.jsonl").write_text("".join(rows[1:] + rows[:1]))
    done = run("o.jsonl", "turned.jsonl", "--fail-above", "survivors=1", expect=3)
    assert "most of its texts are those of other rows of SAMPLE" in done.stderr


@pytest.mark.slow("seconds")
def test_a_page_has_numbers_and_no_text(files):
    run("o.jsonl", "r.jsonl", "--spans", "spans", "--html", "page.html")
    page = (files / "page.html").read_text()
    assert "What an attacker recovers" in page
    assert "illness" in page
    assert SECRET not in page
    run("o.jsonl", "r.jsonl", "--html", "page.html", "--force")


@pytest.mark.slow("attacks", seconds=2)
def test_the_page_shows_the_limits_and_which_of_them_failed(files):
    limits = "survivors=0.1", "unchanged_rows=40", "attribute=0.5"
    given = [part for limit in limits for part in ("--fail-above", limit)]
    run("o.jsonl", "r.jsonl", "--html", "page.html", *given, expect=4)
    page = " ".join((files / "page.html").read_text().split())
    assert "<strong>2 of 3 limits failed.</strong>" in page
    cell = '<tr><td>{}<td class="n">{} <td>{}'
    assert cell.format("survivors", 0.1, "<strong>failed</strong>: is 0.") in page
    assert cell.format("unchanged_rows", 40, "passed") in page
    assert cell.format("attribute", 0.5, "<strong>failed</strong>: is not") in page
    assert "it needs --label COLUMN" in page
    run("o.jsonl", "r.jsonl", "--html", "page.html", "--force")
    assert "Limits" not in (files / "page.html").read_text()


@pytest.mark.parametrize("option", ["--html", "--sarif"])
def test_a_page_that_exists_stops_the_command_before_its_work(files, option):
    """Not with the code of a limit, nor with a result that looks like one."""
    (files / "page").write_text("old")
    limits = "--fail-above", "survivors=0"
    done = run("o.jsonl", "r.jsonl", option, "page", *limits, expect=3)
    assert "page already exists. Use another name, or --force" in done.stderr
    assert done.stdout == ""
    assert "above" not in done.stderr
    assert (files / "page").read_text() == "old"


def test_no_file_that_is_read_is_written(files):
    for name in ("o.jsonl", "r.jsonl"):
        before = (files / name).read_bytes()
        run("o.jsonl", "r.jsonl", "--html", name, "--force", expect=2)
        assert (files / name).read_bytes() == before
    both = "--html", "page", "--sarif", "page"
    run("o.jsonl", "r.jsonl", *both, expect=2)
    assert not (files / "page").exists()


def test_people_get_rows_by_number(files):
    said = run("o.jsonl", "r.jsonl").stdout
    for words in (
        "unchanged sensitive words or spans",
        "riskiest rows",
        "linked by words",
    ):
        assert words in said
    assert "Oslo" not in said


def test_text_is_shown_on_a_terminal_alone(files):
    assert "terminal" in run("o.jsonl", "r.jsonl", "--show", expect=2).stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["o.jsonl"], "--epsilon"),
        (["o.jsonl", "r.jsonl", "--policy", "names"], "--epsilon"),
        (["o.jsonl", "r.jsonl", "--epsilon", "9", "--spans", "spans"], "leave out"),
        (["o.jsonl", "o.jsonl"], "two files"),
        ([".", "r.jsonl"], ". is a folder, and attack takes one pair of files"),
        (["o.jsonl", "."], "run it once for each pair"),
        (["o.jsonl", "r.jsonl", "--spans", "label"], "row"),
        (["-", "r.jsonl"], "- is a stream, and attack reads a SAMPLE and its RELEASE"),
    ],
)
def test_what_does_not_go_together_is_refused(files, arguments, says):
    done = CliRunner().invoke(cli, ["attack", *arguments])
    assert done.exit_code in (2, 3)
    assert says in done.stderr
    assert SECRET not in done.output


def test_a_withheld_row_is_no_leak(files):
    (files / "o.txt").write_text("Ann is in Oslo.\nBob is in Paris.\n")
    (files / "r.txt").write_text("\n\n")
    assert attacked("o.txt", "r.txt")["survivors"]["value"] == 0


@pytest.mark.slow("seconds")
def test_neither_faiss_nor_torch_is_loaded(files):
    code = (
        "import sys\nfrom mondegreen.cli.main import cli\n"
        "try: cli(['attack', 'o.jsonl', 'r.jsonl', '--html', 'page'])\n"
        "except SystemExit as done: assert not done.code, done.code\n"
        "print(sorted({'faiss', 'torch', 'sklearn', 'transformers'} & {*sys.modules}))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=True, cwd=files
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_new_user_sees_the_reader_and_the_riskiest_row_first(files):
    said = run("o.jsonl", "r.jsonl").stdout  # without spans
    assert "attacker who reads sentences" in said
    texts = ["Ann came.", "Ann and Bob met Maria in Oslo.", "It cost 1,200."]
    data = "".join(f"{json.dumps({'text': text})}\n" for text in texts)
    (files / "a.jsonl").write_text(data)
    (files / "b.jsonl").write_text(data.replace("Bob", "[NAME]"))
    said = run("a.jsonl", "b.jsonl").stdout
    assert "riskiest rows (units left): 2 (3), 1 (1)" in said
    assert "numbers and codes, not counted above: 100 % of 2 left" in said
    assert "a.jsonl" in said
    texts = ["I live in the United States of America."] * 12
    data = "".join(f"{json.dumps({'text': text})}\n" for text in texts)
    (files / "c.jsonl").write_text(data)
    (files / "d.jsonl").write_text(data.replace("States", "[X]"))
    said = run("c.jsonl", "d.jsonl").stdout
    assert "riskiest rows (units guessed): 1 (1), 2 (1)" in said
    assert said.count(", ...\n") == 2  # twelve rows each, of which ten are listed


@pytest.mark.slow("attacks")
@pytest.mark.parametrize("nested", [False, True])
def test_names_that_are_ordinary_words_count_by_a_column_of_names(folder, nested):
    """Will stays as the first word of a line, and no list tells it from other words."""
    names = ["Will Ortega", "Art Miller", "Hope Banks"]
    texts = [f"Thanks for the help.\n{name.split()[0]} from support" for name in names]
    write_lines(Path("theirs.jsonl"), [{"text": text} for text in texts])
    beside = [{"extra": {"agent": n}} if nested else {"name": n} for n in names]
    rows = [{"text": t} | more for t, more in zip(texts, beside, strict=True)]
    write_lines(Path("mine.jsonl"), rows)
    pair = "mine.jsonl", "theirs.jsonl", "--column", "text"
    found = attacked(*pair)
    assert found["survivors"]["by_kind"]["known_name"]["n"] == 3
    assert found["survivors"]["value"] == 1
    assert "known_name: ordinary words that are a name in another" in run(*pair).stdout
    run(*pair, "--fail-above", "survivors=0.5", expect=4)


@pytest.mark.slow("an attack")
def test_linkage_is_that_of_the_strongest_way(folder):
    """Only structure links these: their words are all masked."""
    texts = [f"Ann {'came, ' * i}home." for i in range(1, 21)]
    write_lines(Path("mine.jsonl"), [{"text": text} for text in texts])
    masked = [re.sub(r"\w+", "***", text) for text in texts]
    write_lines(Path("theirs.jsonl"), [{"text": text} for text in masked])
    found = attacked("mine.jsonl", "theirs.jsonl")["linkage"]
    ways = {way["by"]: way["value"] for way in found["by"]}
    assert ways["words"] < 0.1
    assert found["value"] == max(ways.values()) > 0.9
    assert f"Best way: {found['strongest']}" in found["adversary"]
    done = run("mine.jsonl", "theirs.jsonl", "--fail-above", "linkage=0.5", expect=4)
    assert f"by {found['strongest']}" in done.stderr.partition("linkage is")[2]


@pytest.mark.slow("an attack")
def test_a_release_that_replaces_words_is_told_of_the_stronger_attack(folder):
    mine = [{"text": "Ann lives in Oslo."}, {"text": "Bob met Ann."}]
    write_lines(Path("mine.jsonl"), mine)
    masked = [{"text": "[NAME] lives in Oslo."}, {"text": "[NAME] met Ann."}]
    write_lines(Path("masked.jsonl"), masked)
    replaced = [{"text": "Eva lives in Rome."}, {"text": "Max met Ida."}]
    write_lines(Path("replaced.jsonl"), replaced)
    hint = "If mondegreen made RELEASE, run this again with its setting"
    assert hint not in run("mine.jsonl", "masked.jsonl", "--html", "a.html").stdout
    assert hint in run("mine.jsonl", "replaced.jsonl", "--html", "b.html").stdout
    assert hint not in Path("a.html").read_text()
    assert hint in Path("b.html").read_text()
    assert attacked("mine.jsonl", "replaced.jsonl")["hint"].startswith(hint)


@pytest.mark.slow("an attack")
def test_every_attack_is_labeled_with_the_name_of_its_limit(files):
    pair = "o.jsonl", "r.jsonl", "--spans", "spans"
    said = run(*pair, "--html", "page.html").stdout
    page = Path("page.html").read_text()
    for name in attacked(*pair).keys() & set(ORDER):
        assert f"[{name}]" in said
        assert f"[{name}]" in page
    assert "unchanged sensitive words or spans [survivors]" in said
    assert "Row 1 is the first row of data: a header is not counted." in said


@pytest.mark.slow("an attack")
@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of POSIX")
def test_show_begins_with_the_riskiest_row(files):
    from tests.cli.test_before_after import on_terminal

    rows = ["Ann came.", "Ann met Maria in Oslo."]
    data = "".join(f"{json.dumps({'text': text})}\n" for text in rows)
    for name in ("a.jsonl", "b.jsonl"):
        (files / name).write_text(data)
    _, shown, _ = on_terminal("attack", "a.jsonl", "b.jsonl", "--show")
    assert shown.index("row 2: ") < shown.index("row 1: ")
    assert "maria" in shown


def write_lines(path, records):
    path.write_text("".join(json.dumps(each) + "\n" for each in records))


def masked(texts, leave=()):
    """Mask every name, place and illness, but for the rows to leave."""
    found = []
    for row, (text, spans) in enumerate(texts, start=1):
        for start, end, kind in reversed(spans if row not in leave else []):
            text = f"{text[:start]}[{kind.upper()}]{text[end:]}"
        found.append(text)
    return found


@pytest.fixture
def of_masks(folder):
    """Write 400 texts, of which three are bare, and return them."""
    texts = make_texts(400)
    texts += [("It rained all day.", [])] * 3
    write_lines(folder / "o.jsonl", [{"text": t, "spans": s} for t, s in texts])
    return texts


def attack_masks(released, *more, expect=0):
    rows = [{"text": each} if isinstance(each, str) else each for each in released]
    write_lines(Path("r.jsonl"), rows)
    ask = "attack", "o.jsonl", "r.jsonl", "--texts", "50", "--json", *more
    done = run_command(*ask, expect=expect)
    assert "Oslo" not in done.output
    return json.loads(done.stdout) if expect != 3 else {}, done.stderr


@pytest.mark.slow("seconds")
def test_whole_rows_that_are_left_have_a_limit_of_their_own(of_masks):
    """Eight rows of 403 hide in a share of 2 %."""
    limits = "--fail-above", "survivors=0.05", "--fail-above", "unchanged_rows=0"
    limits = *limits, "--spans", "spans"
    found, _ = attack_masks(masked(of_masks), *limits)
    rows = found["unchanged_rows"]
    # A row that holds nothing to hide may stay as it is.
    assert (rows["value"], rows["n"], rows["share"], rows["rows"]) == (0, 400, 0, [])
    leave = {3, 77, 150, 222, 290, 333, 380, 399}
    bad = masked(of_masks, leave)
    attack_masks(bad, *limits[:2], *limits[4:])
    for row in leave:
        bad[row - 1] = bad[row - 1].upper().replace(" ", "  ") + "!"
    bad[2] += " And more."  # what a release adds protects nothing
    bad[76] = bad[76].replace("and", "or").replace("the", "a")
    found, said = attack_masks(bad, *limits, expect=4)
    assert found["unchanged_rows"]["value"] == 8
    assert {each["row"] for each in found["unchanged_rows"]["rows"]} == leave
    assert "unchanged_rows is 8 (limit 0)" in said
    assert "survivors" not in said
    # By the public list, too: it counts more words, such as those of families.
    found, _ = attack_masks(bad)
    assert {each["row"] for each in found["unchanged_rows"]["rows"]} == leave


@pytest.mark.slow("seconds")
def test_two_rows_that_changed_places_are_found(of_masks, folder):
    texts = [*of_masks]
    first, second = "Ann saw a red kite over the old mill.", "Bob paid Peter in Oslo."
    texts[10], texts[300] = (first, [[0, 3, "name"]]), (second, [[0, 3, "name"]])
    write_lines(folder / "o.jsonl", [{"text": t, "spans": s} for t, s in texts])
    limit = "--fail-above", "displaced_rows=0"
    good = masked(texts)
    found, _ = attack_masks(good, *limit)
    assert found["displaced_rows"]["value"] == 0
    good[10], good[300] = good[300], good[10]
    found, said = attack_masks(good, *limit, expect=4)
    # The other release shows four words, which may be in many texts.
    assert found["displaced_rows"]["rows"] == [301]
    assert "displaced_rows is" in said


@pytest.mark.slow("attacks", seconds=2)
@pytest.mark.parametrize("place", ["text_raw", "old.text", "parts"])
def test_originals_elsewhere_in_a_record_are_found(of_masks, place):
    released = []
    for (text, _), safe in zip(of_masks, masked(of_masks), strict=True):
        raw = {"text_raw": text.upper(), "old.text": {"text": text}, "parts": [text]}
        released.append({"text": safe, "id": "a", place.partition(".")[0]: raw[place]})
    found, said = attack_masks(released, "--fail-above", "linkage=1", expect=4)
    assert found["other_columns"]["columns"][place]["originals"] == 400
    assert f"column {place!r} of the release" in said


@pytest.mark.slow("attacks", seconds=3)
def test_a_second_copy_of_the_release_is_no_original(of_masks):
    safe = masked(of_masks)
    released = [{"text": each, "copy": each} for each in safe]
    found, _ = attack_masks(released, "--fail-above", "linkage=1")
    assert found["other_columns"]["columns"] == {}
    for each, (text, spans) in zip(released, of_masks, strict=True):
        each["place"] = text[slice(*spans[1][:2])] if spans else "none"
    found, _ = attack_masks(released, "--fail-above", "linkage=1")
    assert found["other_columns"]["value"] == 0
    assert found["other_columns"]["columns"]["place"]["hidden_words"] == 400


NUMBERS = {
    "phone": ("0170 55{:03}44", ["0170 55{:03}44", "+4917055{:03}44", 1705500044]),
    "date": ("{} March 1990", ["{} March 1990", "1990-03-{:02}"]),
    "amount": ("$7{},120", ["7{}120", "$7{},120.00", 700120, 700120.0]),
    "age": ("{}", ["{}", 0]),
}


def write_numbers(kind, shape, column, more=None):
    """Write texts with numbers, a release that masks them, and a column of it."""
    with Path("o.jsonl").open("w") as mine, Path("r.jsonl").open("w") as theirs:
        for i in range(10, 60):
            unit = kind.format(i % 27 + 1 if "March" in kind else i)
            start = "Ann called about the order of a chair and gave "
            spans = [[len(start), len(start + unit), "NUMBER"]]
            text = f"{start}{unit}, and she waits."
            mine.write(json.dumps({"text": text, "spans": spans}) + "\n")
            row = {"text": f"{start}[NUMBER], and she waits.", "spans": spans}
            row |= {"column": column(i, unit, shape), "vector": [i, 7.0], "id": i - 9}
            theirs.write(json.dumps(row) + "\n")


def shape_of(i, unit, shape):
    """Make the cell of a row: of a shape that is a number, a number."""
    if isinstance(shape, str):
        return shape.format(i % 27 + 1 if "90" in shape else i)
    return type(shape)(shape + i * {1705500044: 100, 700120: 1000}.get(shape, 1))


@pytest.mark.slow("attacks", seconds=8)
@pytest.mark.parametrize(
    ("unit", "shape"),
    [(u, shape) for u, shapes in NUMBERS.values() for shape in shapes],
)
def test_masked_numbers_in_another_column_are_seen_with_spans(folder, unit, shape):
    write_numbers(unit, shape, shape_of)
    found = attacked("o.jsonl", "r.jsonl", "-c", "text", "--spans", "spans")
    columns = found["other_columns"]["columns"]
    assert columns == {"column": {"originals": 0, "hidden_words": 50}}
    done = run("o.jsonl", "r.jsonl", "-c", "text", "--spans", "spans")
    assert "column 'column' of the release" in done.stdout


@pytest.mark.slow("attacks", seconds=2)
@pytest.mark.parametrize("unit", [unit for unit, _ in NUMBERS.values()])
def test_other_numbers_in_another_column_are_no_units(folder, unit):
    """Ratings, prices, other numbers, and the spans of the release themselves."""
    cells = (lambda i: i % 5 + 1), (lambda i: i + 0.99), (lambda i: f"01 {i}99 8")
    for cell in cells:
        write_numbers(unit, None, lambda i, *_, cell=cell: cell(i))
        found = attacked("o.jsonl", "r.jsonl", "-c", "text", "--spans", "spans")
        assert found["other_columns"]["columns"] == {}


def test_one_limit_for_a_name(files):
    """Of two the last one would count, and nobody would see it."""
    limits = "--fail-above", "survivors=0.1", "--fail-above", "survivors=0.9"
    done = run("o.jsonl", "r.jsonl", *limits, expect=2)
    assert "one limit for each NAME" in done.stderr


def test_a_field_of_spans_that_no_row_has_is_an_error(files):
    done = run("o.jsonl", "r.jsonl", "--spans", "spnas", expect=3)
    assert "no spans at 'spnas'" in done.stderr


def test_untouched_originals_in_another_format_are_seen(files):
    """JSON has a list of texts at a path, a table a text in a cell."""
    texts = [json.loads(line)["text"] for line in lines(files / "o.jsonl")]
    pq.write_table(pa.table({"text": texts}), files / "o.parquet")
    for pair in (("o.jsonl", "o.parquet"), ("o.parquet", "o.jsonl")):
        run(*pair, "--fail-above", "survivors=0.1", expect=4)


@pytest.mark.slow("attacks", seconds=2)
@pytest.mark.parametrize("place", ["key", "inner key", "first of two"])
def test_originals_in_names_of_fields_and_doubled_fields_are_found(of_masks, place):
    """A JSON reader that keeps the last of two values sees nothing of the first."""
    lines = []
    for (text, _), safe in zip(of_masks, masked(of_masks), strict=True):
        both = f'"x": {json.dumps(text)}, "x": "a"'
        of = {"key": {text: 1}, "inner key": {"a": [{text: "Oslo"}]}}
        more = json.dumps(of[place])[1:-1] if place in of else both
        lines.append(f'{{"text": {json.dumps(safe)}, {more}}}\n')
    Path("r.jsonl").write_text("".join(lines))
    limit = "--fail-above", "linkage=1"
    ask = "attack", "o.jsonl", "r.jsonl", "--texts", "50", "-c", "text"
    done = run_command(*ask, *limit, expect=4)
    assert "Oslo" not in done.output
    name = "field names" if "key" in place else "x"
    assert f"other_columns is 400 (limit 0): column {name!r} of the rel" in done.stderr
    Path("r.json").write_text(f"[{','.join(lines)}]")
    done = run_command("attack", "o.jsonl", "r.json", *ask[3:], *limit, expect=4)
    assert "other_columns is 400" in done.stderr


@pytest.mark.slow("attacks")
@pytest.mark.parametrize(
    "stated",
    [
        "will.ortega@example.org art-miller@example.org hope_banks9@example.org",
        "W.Will A.Art H.Hope",
    ],
)
def test_addresses_and_initials_state_names_in_a_column_of_any_title(folder, stated):
    firsts = "Will", "Art", "Hope"
    texts = [f"Thanks for the help.\n{first} from support" for first in firsts]
    write_lines(Path("theirs.jsonl"), [{"text": text} for text in texts])
    rows = [
        {"text": text, "who": name}
        for text, name in zip(texts, stated.split(), strict=True)
    ]
    write_lines(Path("mine.jsonl"), rows)
    found = attacked("mine.jsonl", "theirs.jsonl", "--column", "text")
    assert found["survivors"]["by_kind"]["known_name"]["n"] == 3
