"""Sheets of Excel workbooks: named columns change, and no original is left anywhere."""

import datetime
import io
import re
import zipfile
from pathlib import Path

import openpyxl
import pyarrow as pa
import pytest
from openpyxl.comments import Comment
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.formula import ArrayFormula
from tests.io.conftest import CANARY, copy_file, shout

from mondegreen.errors import (
    DataError,
    InvalidParameterError,
    MissingColumnError,
    SourceError,
)
from mondegreen.io import xlsx
from mondegreen.io.open import open_sink, open_source

DAY = datetime.datetime(2024, 2, 29)
MOMENT = datetime.datetime(2024, 2, 29, 13, 30, 5)


def read(path, title=None):
    book = openpyxl.load_workbook(path)
    sheet = book[title] if title else book.worksheets[0]
    return [[cell.value for cell in row] for row in sheet.iter_rows()]


def bytes_of(path):
    """Everything that a file holds, unpacked, with the names of its parts."""
    with zipfile.ZipFile(path) as archive:
        parts = [(each.filename, archive.read(each)) for each in archive.infolist()]
        comments = archive.comment
    return b"\n".join(name.encode() + data for name, data in parts) + comments


@pytest.fixture
def workbook(tmp_path):
    """A workbook that repeats its canary wherever a workbook has room for text."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Notes"
    sheet.append([None, "note", "when", "share", "computed", "id"])
    sheet.append([1, f"{CANARY} met Ann", DAY, 0.25, "=UPPER(B2)", "x"])
    sheet.append([2, None, MOMENT, 1e-7, f'=IF(B3="","",\'{CANARY}s\'!A1)', None])
    computed = ArrayFormula("E4:E4", f'="{CANARY}"')
    sheet.append(["#N/A", "=not a formula", datetime.time(7, 5), True, computed, 5])
    sheet["B4"].data_type = "s"
    sheet["D2"].number_format = "0.00%"
    sheet["C2"].number_format = f'yyyy-mm-dd "{CANARY}"'
    sheet["A2"].number_format = f'0 "{CANARY}"'
    sheet["B2"].comment = Comment(CANARY, CANARY)
    sheet["B2"].hyperlink = f"https://example.org/{CANARY}"
    sheet.oddHeader.center.text = CANARY
    sheet.add_data_validation(DataValidation("list", formula1=f'"{CANARY},b"'))
    other = book.create_sheet(f"{CANARY}s")
    other.append(["id", "note"])
    other.append([9, f"{CANARY} elsewhere"])
    book.defined_names["secret"] = DefinedName("secret", attr_text=f'"{CANARY}"')
    book.properties.creator = book.properties.title = CANARY
    path = tmp_path / "in.xlsx"
    book.save(path)
    rewrite(path, _hide_more)
    assert read(path)[1][1] == f"{CANARY} met Ann"
    return path


def _hide_more(parts):
    """Put the canary where openpyxl writes nothing."""
    name = "xl/worksheets/sheet1.xml"
    cached = f"<f>UPPER(B2)</f><v>{CANARY.upper()} MET ANN</v>".encode()
    before = parts[name]
    parts[name] = re.sub(rb"<f>UPPER\(B2\)</f><v ?/?>(</v>)?", cached, before)
    assert parts[name] != before
    _share_strings(parts)
    assert CANARY.encode() in parts["xl/sharedStrings.xml"]
    parts["customXml/item1.xml"] = f"<a>{CANARY}</a>".encode()


def test_only_named_columns_change_and_no_original_is_left(workbook, tmp_path):
    assert bytes_of(workbook).count(CANARY.encode()) > 8
    out = tmp_path / "out.xlsx"
    copy_file(workbook, out, lambda array: pa.array(
        [None if text is None else "released" for text in array.to_pylist()]
    ), columns=["note"])  # fmt: skip
    assert CANARY.encode() not in bytes_of(out)
    assert CANARY.upper().encode() not in bytes_of(out)
    header, *rows = read(out, "Notes")
    assert header == [None, "note", "when", "share", "computed", "id"]
    assert rows == [
        [1, "released", DAY, 0.25, "=UPPER(B2)", "x"],
        [2, None, MOMENT, 1e-7, None, None],
        ["#N/A", "released", datetime.time(7, 5), True, None, 5],
    ]
    sheet = openpyxl.load_workbook(out)["Notes"]
    assert sheet["D2"].number_format == "0.00%"
    assert sheet["C2"].is_date
    assert openpyxl.load_workbook(out, data_only=True)["Notes"]["E2"].value is None
    assert openpyxl.load_workbook(out).sheetnames == ["Notes"]


def test_texts_come_back_as_they_were_and_another_reader_agrees(tmp_path):
    from python_calamine import CalamineWorkbook

    texts = [
        "=1+1",
        "  spaces ",
        "two\nlines",
        "<b>&amp;</b>",
        "naïve 🎈",
        "'",
        "_x0041_",
    ]
    book = openpyxl.Workbook()
    book.active.append(["text", "n"])
    for text in texts:
        book.active.append([text, 1])
        book.active.cell(book.active.max_row, 1).data_type = "s"
    book.save(tmp_path / "in.xlsx")
    copy_file(tmp_path / "in.xlsx", tmp_path / "out.xlsx")
    again = openpyxl.load_workbook(tmp_path / "out.xlsx").active
    assert [row[0].value for row in again.iter_rows(min_row=2)] == texts
    assert all(row[0].data_type == "s" for row in again.iter_rows(min_row=2))
    other = CalamineWorkbook.from_path(tmp_path / "out.xlsx").get_sheet_by_index(0)
    found = [row[0] for row in other.to_python()[1:]]
    assert found[:-1] == texts[:-1]  # the last one is an escape of Excel's


def test_cells_that_hold_no_string_are_text_all_the_same(tmp_path):
    book = openpyxl.Workbook()
    for value in ("text", 5, 2.5, True, DAY, MOMENT, None, ""):
        book.active.append([value])
    book.active.append([])
    book.active.append(["end"])
    book.save(tmp_path / "in.xlsx")
    batches = copy_file(tmp_path / "in.xlsx", tmp_path / "out.xlsx", shout)
    expected = ["5", "2.5", "TRUE", "2024-02-29", "2024-02-29 13:30:05"]
    found = [text for batch in batches for text in batch.column("text").to_pylist()]
    assert found == [*expected, None, None, None, "end"]
    assert read(tmp_path / "out.xlsx")[-1] == ["END"]
    assert len(read(tmp_path / "out.xlsx")) == 10


def test_equal_releases_are_equal_files_with_no_time_in_them(workbook, tmp_path):
    for name in ("a.xlsx", "b.xlsx"):
        copy_file(workbook, tmp_path / name, columns=["note"])
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.xlsx") as archive:
        assert {each.date_time[0] for each in archive.infolist()} == {1980}


def test_a_sheet_is_named_or_the_first(workbook, tmp_path):
    with open_source(workbook, columns=["note"]) as source:
        assert "'Notes' alone" in source.notes[0]
        assert "It has 1 more sheet: see --sheet." in source.notes[0]
        assert CANARY not in source.notes[0]
        assert source.disclosed == ("name of the sheet: it is that of the original",)
        assert [batch.num_rows for batch in source.batches()] == [3]
    with open_source(workbook, columns=["note"], sheet=f"{CANARY}s") as source:
        (batch,) = source.batches()
        assert batch.column("note").to_pylist() == [f"{CANARY} elsewhere"]
    with pytest.raises(SourceError, match=r"no sheet 'none'.*sheets: 'Notes'"):
        open_source(workbook, columns=["note"], sheet="none")
    with pytest.raises(MissingColumnError, match="of sheet 'Notes'; --sheet names"):
        open_source(workbook, columns=["text"])
    (tmp_path / "a.csv").write_text("text\na\n")
    with pytest.raises(InvalidParameterError, match="absent for csv"):
        open_source(tmp_path / "a.csv", sheet="Notes")


def _share_strings(parts):
    """Move texts from cells to the table of shared strings, where Excel keeps them."""
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    strings = []

    def share(found):
        strings.append(b"<si>" + found[2] + b"</si>")
        return found[1] + b't="s"><v>%d</v></c>' % (len(strings) - 1)

    cell = rb'(<c r="[A-Z]+\d+"(?: s="\d+")? )t="inlineStr"><is>(.*?)</is></c>'
    for name in [name for name in parts if name.startswith("xl/worksheets/")]:
        parts[name] = re.sub(cell, share, parts[name])
    main = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    table = b'<sst xmlns="' + main + b'">' + b"".join(strings) + b"</sst>"
    parts["xl/sharedStrings.xml"] = table
    part = (
        '<Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.'
        'openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>'
    )
    link = (
        f'<Relationship Id="rId99" Type="{kind}/sharedStrings" '
        'Target="sharedStrings.xml"/></Relationships>'
    )
    for name, end, more in (
        ("[Content_Types].xml", b"</Types>", part),
        ("xl/_rels/workbook.xml.rels", b"</Relationships>", link),
    ):
        parts[name] = parts[name].replace(end, more.encode())


def make(tmp_path, *rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "in.xlsx")
    return tmp_path / "in.xlsx"


@pytest.mark.parametrize(
    ("rows", "options", "hint"),
    [
        ([["text"], ["=A1"]], {}, "row 1: a formula in a named column"),
        ([["text"], ["a", CANARY]], {}, "row 1: a value right of the last named"),
        ([["text", "text"], ["a", "b"]], {}, "2 columns named 'text'"),
        ([[], ["text"]], {}, "first row is blank"),
        ([], {}, "first row is blank"),
        ([["tex"], [CANARY]], {}, "did you mean 'tex'"),
        ([["text", "id"], ["a", 1], ["b", None]], {"id_column": "id"}, "row 2"),
        ([["text", "id"], ["a", 1.5]], {"id_column": "id"}, "no string or integer"),
    ],
)
def test_what_is_refused(tmp_path, rows, options, hint):
    path = make(tmp_path, *rows)
    with pytest.raises(DataError, match=re.escape(hint)) as caught:
        copy_file(path, tmp_path / "out.xlsx", **options)
    assert CANARY not in str(caught.value)
    assert caught.value.__context__ is None
    assert not (tmp_path / "out.xlsx").exists()


def test_ids_are_those_of_other_formats(tmp_path):
    path = make(tmp_path, ["text", "id"], ["a", 7], ["b", "x"], ["c", 12345678901])
    with open_source(path, id_column="id") as source:
        (batch,) = source.batches()
    assert batch.column("id").to_pylist() == ["7", "x", "12345678901"]


def corrupt(path, part, data):
    rewrite(path, lambda parts: parts.update({part: data(parts.get(part, b""))}))


def rewrite(path, change):
    """Change the parts of a workbook."""
    with zipfile.ZipFile(path) as archive:
        parts = {each: archive.read(each) for each in archive.namelist()}
    change(parts)
    with zipfile.ZipFile(path, "w") as archive:
        for each, data in parts.items():
            archive.writestr(each, data)


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("xl/worksheets/sheet1.xml", lambda old: old[: len(old) // 2]),
        (
            "xl/worksheets/sheet1.xml",
            lambda old: old.replace(b"<v>0</v>", b"<v>99</v>"),
        ),
        ("xl/sharedStrings.xml", lambda old: b""),
        ("xl/workbook.xml", lambda old: b"<a/>"),
        ("[Content_Types].xml", lambda old: CANARY.encode()),
    ],
)
def test_damaged_workbooks_are_refused_without_a_word_of_them(tmp_path, part, change):
    path = make(tmp_path, ["text"], [CANARY], [f"{CANARY} 2"])
    rewrite(path, _share_strings)
    corrupt(path, part, change)
    with pytest.raises(SourceError, match=r"damaged|blank") as caught:
        copy_file(path, tmp_path / "out.xlsx")
    assert CANARY not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.filterwarnings("error")
def test_warnings_of_the_reader_go_nowhere(tmp_path, capfd):
    book = openpyxl.Workbook()
    book.active.append(["text", "when"])
    book.active.append(["a", 9e9])
    book.active["B2"].number_format = "yyyy-mm-dd"
    book.save(tmp_path / "in.xlsx")
    copy_file(tmp_path / "in.xlsx", tmp_path / "out.xlsx")
    assert read(tmp_path / "out.xlsx")[1] == ["a", "#VALUE!"]
    assert capfd.readouterr() == ("", "")


def test_files_that_are_no_workbooks(tmp_path, monkeypatch):
    path = tmp_path / "in.xlsx"
    for data in (b"", b"text\na\n", b"\xd0\xcf\x11\xe0" + b"\0" * 600):
        path.write_bytes(data)
        with pytest.raises(SourceError, match=r"not an \.xlsx workbook"):
            open_source(path)
    make(tmp_path, ["text"], ["a"])
    monkeypatch.setattr("mondegreen.io.xlsx.MAX_UNPACKED_BYTES", 1000)
    with pytest.raises(SourceError, match="unpacks to more than"):
        open_source(path)
    with pytest.raises(InvalidParameterError):
        open_source("-", format="xlsx")


@pytest.mark.slow("a large sheet")
def test_a_sheet_that_lies_about_its_rows_is_read_to_its_end(tmp_path):
    path = make(tmp_path, ["text"], *[[f"row {n}"] for n in range(5000)])
    corrupt(
        path,
        "xl/worksheets/sheet1.xml",
        lambda old: re.sub(rb'ref="A1:A\d+"', b'ref="A1:A3"', old),
    )
    batches = copy_file(path, tmp_path / "out.xlsx")
    assert sum(batch.num_rows for batch in batches) == 5000
    assert read(tmp_path / "out.xlsx")[-1] == ["row 4999"]
    with open_source(path) as source:
        assert source.position == 0
        list(source.batches())
        assert source.position == source.total


def test_a_row_far_away_does_not_fill_the_memory(tmp_path, monkeypatch):
    assert xlsx._MAX_ROWS == 1_048_576  # as Excel has; to count so many takes seconds
    monkeypatch.setattr(xlsx, "_MAX_ROWS", 30_000)
    path = make(tmp_path, ["text"], ["a"])
    corrupt(
        path,
        "xl/worksheets/sheet1.xml",
        lambda old: old.replace(b'r="2"', b'r="2000000000"'),
    )
    with pytest.raises(SourceError, match="more than 30,000 rows"):
        copy_file(path, tmp_path / "out.xlsx")


def test_a_release_that_is_too_long_for_a_cell_ends_there(tmp_path):
    path = make(tmp_path, ["text"], ["a"])
    copy_file(path, tmp_path / "out.xlsx", lambda array: pa.array(["b" * 40_000]))
    assert read(tmp_path / "out.xlsx")[1] == ["b" * 32_767]


def test_leaving_early_keeps_no_file(tmp_path):
    path = make(tmp_path, ["text"], ["a"])
    out = tmp_path / "out.xlsx"
    with open_source(path) as source, open_sink(out, source) as sink:
        for batch in source.batches():
            sink.write(batch)
    assert [each.name for each in tmp_path.iterdir()] == ["in.xlsx"]


def test_a_release_goes_through_a_pipe(tmp_path, monkeypatch, capfdbinary):
    path = make(tmp_path, ["text"], ["a"])
    copy_file(path, "-")
    data = capfdbinary.readouterr().out
    assert openpyxl.load_workbook(io.BytesIO(data)).active["A2"].value == "a"


def test_control_characters_are_written_as_excel_does(tmp_path):
    path = make(tmp_path, ["text"], ["a"])
    out = tmp_path / "out.xlsx"
    copy_file(path, out, lambda array: pa.array(["a\rb\x07c\ud7ff\uffff"]))
    assert b"a_x000D_b_x0007_c" in bytes_of(out)
    assert Path(out).stat().st_size < 4000
