"""Excel workbooks: one sheet is read, and written anew with nothing else around it.

A workbook repeats its texts in many places: shared strings, results of formulas,
comments, other sheets, pivot tables, properties. So a release is no edited copy. It is
a new workbook that holds values of one sheet. openpyxl reads; what is written is plain
(ECMA-376, inline strings), so it is streamed here, in constant memory, without
temporary files, and equal releases are equal files.
"""

from __future__ import annotations

import contextlib
import datetime
import re
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final, final
from xml.sax.saxutils import escape

import pyarrow as pa

from mondegreen import errors
from mondegreen.io.base import (
    AbstractSink,
    AbstractSource,
    Request,
    missing_column,
)
from mondegreen.io.stream import BATCH_ROWS, CHUNK_BYTES
from mondegreen.io.target import Gate, Target
from mondegreen.wording import amount

MAX_UNPACKED_BYTES: Final = 1 << 30
"""A workbook that unpacks to more is refused: openpyxl holds its strings in memory."""

MAX_CELL: Final = 32_767
"""Characters of a cell; Excel allows no more, so a longer release ends there."""

_MAX_ROWS: Final = 1 << 20
_MAX_COLUMNS: Final = 1 << 14
_MARK: Final = "\0"  # XML has none
_quoted = re.compile(r'"((?:[^"]|"")+)"').findall
_YEAR_ONE: Final = (1980, 1, 1, 0, 0, 0)  # no time of writing: equal texts, equal files

# Control characters other than tab and line feed, as Excel writes them.
_controls: Final = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")

# Styles of numbers, by the order of cellXfs below.
_PLAIN, _MOMENT, _DAY, _TIME, _SPAN, _PERCENT = range(6)

_NAMESPACE: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS: Final = (
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
)
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006"
_TYPES: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_HEAD: Final = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

_PARTS: Final = {
    "[Content_Types].xml": (
        f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Override PartName="/xl/workbook.xml" '
        f'ContentType="{_TYPES}.sheet.main+xml"/>'
        '<Override PartName="/xl/worksheets/sheet1.xml" '
        f'ContentType="{_TYPES}.worksheet+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_TYPES}.styles+xml"/>'
        "</Types>"
    ),
    "_rels/.rels": (
        f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{_RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
    ),
    "xl/_rels/workbook.xml.rels": (
        f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{_RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="rId2" Type="{_RELATIONS}/styles" Target="styles.xml"/>'
        "</Relationships>"
    ),
    "xl/styles.xml": (
        f'<styleSheet xmlns="{_NAMESPACE}"><numFmts count="4">'
        '<numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/>'
        '<numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd"/>'
        '<numFmt numFmtId="166" formatCode="hh:mm:ss"/>'
        '<numFmt numFmtId="167" formatCode="[h]:mm:ss"/></numFmts>'
        '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>'
        '<fills count="2"><fill><patternFill patternType="none"/></fill>'
        '<fill><patternFill patternType="gray125"/></fill></fills>'
        '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border>'
        '</borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" '
        'borderId="0"/></cellStyleXfs><cellXfs count="6">'
        + "".join(
            f'<xf numFmtId="{number}" fontId="0" fillId="0" borderId="0" xfId="0" '
            'applyNumberFormat="1"/>'
            for number in (0, 164, 165, 166, 167, 10)
        )
        + '</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" '
        'builtinId="0"/></cellStyles></styleSheet>'
    ),
}


@final
class XlsxSource(AbstractSource):
    """Rows of one sheet, whose first row names the columns.

    A batch has the columns as strings, so that they can be looked at, and a frame: the
    row as it will be written, in which each text is the place of its column between two
    marks. What a text column holds besides text (a number, a date) is privatized as
    text; a formula there is refused. Formulas elsewhere are kept without their results,
    which may repeat a text.
    """

    def __init__(self, request: Request, sheet: str | None) -> None:
        if request.path == "-":
            allowed = "csv, jsonl, tsv or txt for standard input"
            raise errors.InvalidParameterError("format", "xlsx", allowed)
        super().__init__(request, request.path, _open(request.path))
        try:
            self.total = Path(request.path).stat().st_size
            self._book = self._guard(lambda: _load(self.file))
            self._sheet = self._choose(sheet, has_all=not request.drop)
            self.title: str = self._sheet.title
            self._last = self._sheet.max_row or 0  # what the sheet says of its length
            self._sheet.reset_dimensions()
            self._rows = self._sheet.iter_rows()
            header = self._guard(lambda: next(self._rows, ()))
            self.names = ["" if c.value is None else str(c.value) for c in header]
            if not any(self.names):
                problem = f"sheet {self.title!r}: the first row is blank"
                hint = "the first row names the columns"
                raise errors.SourceError(self.name, problem, hint=hint)
            self._places = [self._find(name) for name in request.columns]
            if request.id_column is not None:
                self._id_place = self._find(request.id_column)
            self._number_columns({self._find(name) for name in request.drop})
        except BaseException:
            self.close()
            raise
        self._frame = "frame"
        while self._frame in self.names:
            self._frame += "'"

    def _choose(self, sheet: str | None, *, has_all: bool) -> Any:
        """Take the sheet that is named, or else the first one, and say so."""
        sheets = {each.title: each for each in self._book.worksheets}
        if not sheets:
            raise errors.SourceError(self.name, "this workbook has no sheet of cells")
        if sheet is not None and sheet not in sheets:
            problem = f"there is no sheet {sheet!r}"
            hint = f"sheets: {', '.join(map(repr, sheets))}"
            raise errors.SourceError(self.name, problem, hint=hint)
        chosen = next(iter(sheets)) if sheet is None else sheet
        formulas = "without their results" if has_all else "left out"
        note = (
            f"{self.name}: the release is a new workbook with the values of sheet "
            f"{chosen!r} alone. Formulas are {formulas}."
        )
        self._others = [title for title in sheets if title != chosen]
        if sheet is None and self._others:
            note += f" It has {amount(len(self._others), 'more sheet')}: see --sheet."
        self.notes = (note,)
        return sheets[chosen]

    def _number_columns(self, dropped: set[int]) -> None:
        """Say where each column of the sheet will be, if it is not dropped."""
        kept = [place for place in range(len(self.names)) if place not in dropped]
        self.columns = {place: _letters(new) for new, place in enumerate(kept)}
        # A formula names columns by letters, which are those of others now.
        self.has_formulas = not dropped

    def _find(self, name: str) -> int:
        count = self.names.count(name)
        if not count:
            hint = "its first row names them"
            if self._others:
                listed = ", ".join(map(repr, self._others))
                hint = f"of sheet {self.title!r}; --sheet names another: {listed}"
            raise missing_column(self.name, name, self.names, advice=hint)
        if count > 1:
            problem = f"there are {count} columns named {name!r}"
            raise errors.SourceError(self.name, problem)
        return self.names.index(name)

    @property
    def disclosed(self) -> tuple[str, ...]:
        """The name of the sheet, which the release has too."""
        return ("name of the sheet: it is that of the original",)

    def others(self, batch: pa.RecordBatch, most: int) -> dict[str, list[Any]]:
        """The first values of the columns that pass; the frame is none of the sheet."""
        found = super().others(batch, most)
        del found[self._frame]
        return found

    def list_unchanged(self, batch: pa.RecordBatch) -> list[str]:
        """List the columns of the sheet that pass unchanged."""
        return [n for n in super().list_unchanged(batch) if n != self._frame]

    @property
    def position(self) -> int:
        """About how many bytes have been read, by the rows."""
        total = self.total or 0
        return min(total, self.rows_read * total // max(self._last - 1, 1))

    def sink(self, target: Target) -> XlsxSink:
        return XlsxSink(target, self)

    def read(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows below the header."""
        rows: list[_Row] = []
        size = 0
        while (cells := self._guard(lambda: next(self._rows, None))) is not None:
            number = self.rows_read + len(rows) + 1
            if number >= _MAX_ROWS:
                problem = f"more than {_MAX_ROWS:,} rows"
                raise errors.SourceError(self.name, problem)
            rows.append(_Row(self, number, cells))
            size += len(rows[-1].frame)
            if len(rows) == BATCH_ROWS or size > CHUNK_BYTES:
                yield self._batch(rows)
                rows, size = [], 0
        if rows:
            yield self._batch(rows)

    def _batch(self, rows: Sequence[_Row]) -> pa.RecordBatch:
        columns = zip(*(row.shown for row in rows), strict=True)
        arrays = [pa.array(column, pa.string()) for column in columns]
        names: list[str] = []
        for place, name in enumerate(self.names):
            is_free = name and name not in names
            names.append(name if is_free else f"column {place + 1}")
        names = _make_unique(names, self.names)
        frames = pa.array([row.frame for row in rows], pa.string())
        return pa.RecordBatch.from_arrays([*arrays, frames], [*names, self._frame])

    def is_id(self, place: int) -> bool:
        """Whether the column at a place holds the ids of the records."""
        return self.id_column is not None and place == self._id_place

    def text_place(self, place: int) -> int | None:
        """Tell which text column a column of the sheet is, if it is one."""
        return self._places.index(place) if place in self._places else None

    def fail(self, row: int, problem: str, hint: str = "") -> errors.SourceError:
        return errors.SourceError(self.name, problem, row=row, hint=hint)

    def _guard(self, read: Callable[[], Any]) -> Any:
        """Call the reader; its warnings and errors may quote cells, and go nowhere."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return read()
            except errors.MondegreenError:
                raise
            except Exception:  # noqa: S110  (whatever a damaged file raises)
                pass
        raise errors.SourceError(self.name, "the workbook is damaged", hint=_UNLOCK)

    def encode(self, batch: pa.RecordBatch) -> str:
        """Write rows; a released null is an empty cell."""
        columns = [batch.column(name).to_pylist() for name in self.text_columns]
        lines = []
        frames = batch.column(self._frame).to_pylist()
        for row, frame in enumerate(frames):
            pieces = frame.split(_MARK)
            texts = (columns[int(place)][row] or "" for place in pieces[1::2])
            pieces[1::2] = (_xml(text[:MAX_CELL]) for text in texts)
            lines += pieces
        return "".join(lines)


@final
class _Row:
    """A row of a sheet: what is shown of each cell, and the frame to write."""

    __slots__ = ("_number", "_source", "frame", "shown")

    def __init__(self, source: XlsxSource, number: int, cells: Sequence[Any]) -> None:
        self._source, self._number = source, number
        width = len(source.names)
        if any(cell.value is not None for cell in cells[width:]):
            hint = "name the column in the first row, or clear the cell"
            raise source.fail(number, "a value right of the last named column", hint)
        self.shown: list[str | None] = []
        pieces = [f'<row r="{number + 1}">']
        for place in range(width):
            cell = cells[place] if place < len(cells) else None
            pieces.append(self._take(place, cell))
        self.frame = "".join([*pieces, "</row>"])

    def _take(self, place: int, cell: Any) -> str:
        """Add what is shown of a cell; return what is written of it, if it stays."""
        column = self._source.columns.get(place)
        xml = self._make(place, cell, f'r="{column}{self._number + 1}"')
        return "" if column is None else xml

    def _make(self, place: int, cell: Any, at: str) -> str:
        """Add what is shown of a cell; return what is written at ``at``."""
        which = self._source.text_place(place)
        if which is None and not self._source.is_id(place):
            value, xml = (None, "") if cell is None else _write(at, cell)
            if cell is not None and cell.data_type == "f":
                xml = xml if self._source.has_formulas else ""
                if not xml and place in self._source.columns:
                    self._source.emptied[self._source.names[place]] = None
                value = value if xml else None
            self.shown.append(value)
            return xml
        if cell is not None and cell.data_type == "f":
            hint = "paste the column as values"
            raise self._source.fail(self._number, "a formula in a named column", hint)
        text = None if cell is None else _text(cell.value)
        self.shown.append(text)
        if which is not None:
            return "" if text is None else _inline(at, f"{_MARK}{which}{_MARK}")
        if not text or isinstance(cell.value, float):
            column = self._source.id_column
            problem = f"no string or integer in the id column {column!r}"
            raise self._source.fail(self._number, problem)
        return _write(at, cell)[1]


def _write(at: str, cell: Any) -> tuple[str | None, str]:
    """Write a cell that stays; return also what it shows."""
    value, kind = cell.value, cell.data_type
    if value is None:
        return None, ""
    if kind == "f":
        # Other sheets and tables are not there, and arrays of cells are left out.
        if not isinstance(value, str) or set("![") & set(value):
            return None, ""
        # What a formula quotes is in the release: HYPERLINK("mailto:...", "Ann").
        quoted = " ".join(_quoted(value)) or None
        return quoted, f"<c {at}><f>{_xml(value[1:])}</f></c>"
    if kind == "e":
        return value, f'<c {at} t="e"><v>{_xml(value)}</v></c>'
    if isinstance(value, str):
        return value, _inline(at, _xml(value))
    if isinstance(value, bool):
        return str(value), f'<c {at} t="b"><v>{value:d}</v></c>'
    style, number = _number(cell)
    return str(value), f'<c {at} s="{style}"><v>{number!r}</v></c>'


def _number(cell: Any) -> tuple[int, float]:
    """Tell a style and the number that Excel stores."""
    from openpyxl.utils.datetime import to_excel

    value = cell.value
    if isinstance(value, datetime.datetime):
        has_time = value.time() != datetime.time()
        return (_MOMENT if has_time else _DAY), to_excel(value)
    if isinstance(value, datetime.date):
        return _DAY, to_excel(value)
    if isinstance(value, datetime.time):
        return _TIME, to_excel(value)
    if isinstance(value, datetime.timedelta):
        return _SPAN, to_excel(value)
    return (_PERCENT if "%" in cell.number_format else _PLAIN), value


def _text(value: object) -> str | None:
    """Read a cell as text: a number as it is stored, a day without its midnight."""
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    return str(value).upper() if isinstance(value, bool) else str(value)


def _inline(at: str, xml: str) -> str:
    text = f'<t xml:space="preserve">{xml}</t>'
    return f'<c {at} t="inlineStr"><is>{text}</is></c>'


def _xml(text: str) -> str:
    escaped = escape(text, {'"': "&quot;"})
    return _controls.sub(lambda found: f"_x{ord(found[0]):04X}_", escaped)


def _letters(place: int) -> str:
    """Name a column, counted from 0.

    >>> [_letters(place) for place in (0, 25, 26, 701, 702)]
    ['A', 'Z', 'AA', 'ZZ', 'AAA']
    """
    name, place = "", place + 1
    while place:
        place, rest = divmod(place - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def _make_unique(names: Sequence[str], taken: Sequence[str]) -> list[str]:
    """Lengthen names that a header has given, where they were made up."""
    found: list[str] = []
    for name, given in zip(names, taken, strict=True):
        made = name
        while made != given and made in taken:
            made += "'"
        found.append(made)
    return found


_UNLOCK: Final = "is it protected by a password, or another format?"


def _open(path: str) -> IO[bytes]:
    """Open a workbook whose parts unpack to a size that memory holds."""
    try:
        file = Path(path).open("rb")
    except OSError as error:
        reason = error.strerror or "unknown error"
        raise errors.SourceError(path, f"cannot be opened: {reason}") from None
    problem, hint = "not an .xlsx workbook", _UNLOCK
    try:
        with zipfile.ZipFile(file) as archive:
            size = sum(part.file_size for part in archive.infolist())
        if size <= MAX_UNPACKED_BYTES:
            return file
        problem = f"unpacks to more than {MAX_UNPACKED_BYTES >> 30} GiB"
        hint = "export the sheet as CSV UTF-8"
    except Exception:  # noqa: S110  (whatever a damaged file raises)
        pass
    file.close()
    raise errors.SourceError(path, problem, hint=hint)


def _load(file: IO[bytes]) -> Any:
    try:
        from openpyxl import load_workbook
    except ModuleNotFoundError:
        feature = "reading an Excel workbook"
        raise errors.OptionalDependencyError(
            "openpyxl", "xlsx", feature=feature
        ) from None
    return load_workbook(file, read_only=True, keep_links=False)


@final
class XlsxSink(AbstractSink):
    """Writes a workbook of one sheet that holds values only."""

    source: XlsxSource

    def __init__(self, target: Target, source: XlsxSource) -> None:
        super().__init__(target, source)
        self._gate = Gate(target)
        self._archive: zipfile.ZipFile | None = None
        self._member: IO[bytes] | None = None

    def put(self, batch: pa.RecordBatch) -> None:
        self._write(self.source.encode(batch))

    def finish(self, metadata: Mapping[str, str]) -> None:
        """Write the end of the sheet and of the archive."""
        self._write("</sheetData></worksheet>")
        try:
            if self._member is not None and self._archive is not None:
                self._member.close()
                self._archive.close()
        except OSError as error:
            raise self.target.failure(error) from None

    def _write(self, xml: str) -> None:
        problem = "a sheet of more than 2 GiB; write CSV"
        try:
            member = self._member or self._begin()
            member.write(xml.encode())
            return
        except OSError as error:
            raise self.target.failure(error) from None
        except RuntimeError:  # of zipfile
            pass
        raise errors.DataError(f"{self.target.name}: {problem}")

    def _begin(self) -> IO[bytes]:
        """Write the parts that all workbooks have, and the header."""
        self.target.refuse_terminal("Excel")
        self._archive = zipfile.ZipFile(self._gate, "w")
        sheets = f'<sheet name="{_xml(self.source.title)}" sheetId="1" r:id="rId1"/>'
        book = (
            f'<workbook xmlns="{_NAMESPACE}" xmlns:r="{_RELATIONS}">'
            f"<sheets>{sheets}</sheets>"
            '<calcPr calcId="0" fullCalcOnLoad="1"/></workbook>'
        )
        for name, xml in {**_PARTS, "xl/workbook.xml": book}.items():
            self._archive.writestr(_member(name), _HEAD + xml)
        self._member = self._archive.open(_member("xl/worksheets/sheet1.xml"), "w")
        names, columns = self.source.names, self.source.columns
        cells = (
            _inline(f'r="{letters}1"', _xml(names[place]))
            for place, letters in columns.items()
            if names[place]
        )
        header = f'<row r="1">{"".join(cells)}</row>'
        start = f'{_HEAD}<worksheet xmlns="{_NAMESPACE}"><sheetData>{header}'
        self._member.write(start.encode())
        return self._member

    def __exit__(self, *about: object) -> None:
        """Keep the archive from an end: what lacks one is not read as a release."""
        self._gate.is_open = False
        for part in (self._member, self._archive):
            if part is not None:
                with contextlib.suppress(Exception):
                    part.close()
        super().__exit__(*about)


def _member(name: str) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name, _YEAR_ONE)
    made.compress_type = zipfile.ZIP_DEFLATED
    return made
