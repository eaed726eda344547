"""A warning of columns that pass unchanged and look like names, addresses or ids."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from mondegreen.attacks.readings import drop_marks
from mondegreen.cli.render import say
from mondegreen.wording import amount, describe_repeated_ids

if TYPE_CHECKING:
    import pyarrow as pa

    from mondegreen.io.base import AbstractSource

_NAMES: Final = frozenset(
    "accountnumber address author birth birthday birthdate cardnumber city client "
    "contact creditcard customer dob email employee familyname fax firstname forename "
    "fullname givenname gps guid iban id ids instagram ip ipaddress lastname lat "
    "latitude licenseplate login lon lng longitude mail maidenname member mobile name "
    "names nickname owner pan passport patient phone plate postalcode postcode "
    "remoteaddr reviewer sender ssn street student surname taxid tel telephone town "
    "twitter user userid username uuid zip zipcode "
    # German, French, Spanish, Italian
    "adresse calle direccion "  # codespell:ignore
    "anschrift benutzer familienname geburtsdatum geburtsort geburtstag handy "
    "hausnummer kennzeichen kontonummer kunde kunden kundennummer nachname ort "
    "patienten plz postleitzahl stadt steuernummer strasse telefon vorname wohnort "
    "courriel naissance nom prenom rue ville apellido apellidos ciudad correo dni "
    "nacimiento nombre telefono citta codicefiscale cognome indirizzo nascita".split()
)
"""Words in the name of a column that speak of a person, or of the record.

They have no marks on letters: a name such as Straße is read as strasse.
"""

_ROLES: Final = frozenset(
    "agent author client contact customer employee member owner patient reviewer "
    "sender student user".split()
)
"""Those of them that texts have in their names, too, such as ``author_comment``."""

# In the name of a column: "customerId" and "customer_id" are two words.
_words = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])").findall

_Shape: TypeAlias = Callable[[str], object]

_FULL_NAME: Final[_Shape] = re.compile(
    r"[^\W\d_][\w'’-]+( [^\W\d_]\.)?( [A-Z][\w'’-]+){1,2}"  # Ann B. Miller
).fullmatch
_LAST_FIRST: Final[_Shape] = re.compile(
    r"[^\W\d_][\w'’-]+, [A-Z][\w'’-]*\.?( [A-Z][\w'’-]*\.?)?"  # Miller, Ann B.
).fullmatch
_INITIAL: Final[_Shape] = re.compile(
    r"([A-Z]\. ?){1,3}[A-Z][\w'’-]+|[A-Z][\w'’-]+( [A-Z]\.){1,3}"  # A. Miller
).fullmatch
_ADDRESS: Final[_Shape] = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+").fullmatch
_ONE_NAME: Final[_Shape] = re.compile(r"[A-Z][\w'’-]+").fullmatch
_DATE: Final[_Shape] = re.compile(
    r"(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3(\d\d){1,2})([ T].*)?"
).fullmatch
_NUMBERS: Final[tuple[_Shape, ...]] = (
    *(
        re.compile(shape).fullmatch
        for shape in (
            r"[0-9A-Fa-f]{8}(-?[0-9A-Fa-f]{4}){3}-?[0-9A-Fa-f]{12}",  # a UUID
            r"[A-Za-z]{1,4}[-_]?\d{6,}",  # a number of a customer
            r"(\+|0)\d[\d ()/.-]{5,}\d",  # a telephone number
            r"\(?\d{3}\)?[-. ]?\d{3}[-. ]\d{4}",
            r"\d{3}-\d\d-\d{4}",  # of US social security
            r"([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}",  # of a network card
            r"-?\d{1,3}\.\d{3,}[,;]? ?-?\d{1,3}\.\d{3,}",  # a place on earth
            r"[A-Z]{2}\d\d( [A-Z0-9]{4}){2,7}( [A-Z0-9]{1,3})?",  # an IBAN
            r"\d{4}([ -]\d{4}){3}",  # of a credit card
            r"@\w{3,30}",  # a name on a platform
        )
    ),
    lambda text: _is_iban(text) or _is_card(text) or _is_ip(text),
)
_SHAPES: Final = (_FULL_NAME, _INITIAL, _ADDRESS, _DATE, *_NUMBERS)
_MAY_BE_IBAN: Final = re.compile(r"[A-Za-z]{2}\d\d[ A-Za-z0-9]{11,36}").fullmatch
_MAY_BE_CARD: Final = re.compile(r"\d(?:[ -]?\d){12,18}").fullmatch
_MAY_BE_IP: Final = re.compile(
    r"(\d{1,3}\.){3}\d{1,3}|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*"
).fullmatch
_IBAN_LENGTHS: Final = range(15, 35)

_LEAST_DIGITS: Final = 6
_SAME_LENGTH: Final = 0.8
"""Numbers with so many digits, most of them with the same number, may be of people."""

_find_words = re.compile(r"[^\W\d_]+").findall
_WORDS: Final = 3
"""A text has so many words or more; a label has fewer."""

_OF_PEOPLE: Final = frozenset(
    "agent author client contact customer email employee familyname firstname "
    "forename fullname givenname lastname mail maidenname member name names nickname "
    "owner patient reviewer sender student surname".split()
)
"""Words in the name of a column whose values may be names of people."""

_VALUES: Final = 100
_SHARE: Final = 0.5
"""A column is named if so many of its first values have one of the shapes."""
_FEWEST: Final = 5
"""Fewer single words with a capital may be labels, such as Open and Closed."""

_WHOLE: Final = 10**30  # of larger integers, none is read
_SPANS: Final = "spans"
"""The name of a column that usually holds places in the originals."""

_Kind: TypeAlias = Literal["personal", "text", "other"]


def warn_of_other_columns(
    source: AbstractSource,
    batches: Iterator[pa.RecordBatch],
    *,
    is_keyed: bool,
    done: Container[str | None] = (),
) -> Iterator[pa.RecordBatch]:
    """Pass batches on; look at the first one, before any of it is written, and warn.

    The warning holds names of columns, never values. Fields within fields, as of JSON,
    are named by their paths. ``is_keyed`` says whether ids fix the noise, and ``done``
    which columns an earlier run has privatized: nothing is said of these.
    """
    for number, batch in enumerate(batches):
        if not number:
            _warn(source, batch, is_keyed=is_keyed, done=done)
        yield batch


def _warn(
    source: AbstractSource,
    batch: pa.RecordBatch,
    *,
    is_keyed: bool,
    done: Container[str | None],
) -> None:
    found: dict[_Kind, list[str]] = {"personal": [], "text": [], "other": []}
    for path, values in _read_others(source, batch).items():
        if path in done:
            continue
        if _is_personal_key(path, len(values), batch.num_rows):
            parent = "" if "@" in path else path.rpartition(".")[0]
            found["personal"].append(parent or "*")
        else:
            found[_find_kind(path, values)].append(path)
    start = f"Warning: {source.name}:"
    _warn_of_id(source, batch, start, is_keyed=is_keyed)
    if personal := list(dict.fromkeys(found["personal"])):
        say(
            f"{start} columns that look like names, addresses, ids or dates are "
            f"copied unchanged: {_quote(personal)}. Remove them with --drop NAME."
        )
    if texts := found["text"]:
        say(
            f"{start} columns that look like text are copied unchanged: "
            f"{_quote(texts)}. Add --column NAME, or --drop NAME."
        )
    if source.raw_field != _SPANS and _SPANS in source.others(batch, 1):
        say(
            f"{start} the column {_SPANS!r} passes unchanged. Places in the "
            "originals disclose how long hidden words were. Use --spans spans to get "
            "the places in the release, or remove them with --drop spans."
        )
    names = [name for name in source.text_columns if _holds_names(batch, name)]
    if names:
        advice = (
            "Hide such words with --sensitive FILE, or leave the file out."
            if source.format == "txt"
            else "If the release needs no names, leave --column NAME out and add "
            "--drop NAME."
        )
        say(
            f"{start} {_describe_names(source, names)}. A name that is a word, such as "
            f"Will, can stay. {advice}"
        )


def _warn_of_id(
    source: AbstractSource, batch: pa.RecordBatch, start: str, *, is_keyed: bool
) -> None:
    name = source.id_name
    if source.id_column is None or name is None:
        return
    if name not in source.drop:
        say(
            f"{start} the column of --id, {name!r}, is released as it is. If its ids "
            f"identify people, leave it out with --drop {name}."
        )
    ids = batch.column(source.id_column)
    distinct = len(ids.unique())
    if distinct < len(ids):
        rows = f"the first {amount(len(ids), 'row')}"
        told = describe_repeated_ids(name, distinct, rows, is_keyed=is_keyed)
        say(f"{start} {told}")


def _describe_names(source: AbstractSource, names: Sequence[str]) -> str:
    """Say what looks like names: columns, or the lines of a text file."""
    if source.format == "txt":
        return "its lines look like names"
    return f"columns of --column look like names: {_quote(names)}"


def _quote(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


def find_name_columns(source: AbstractSource, batch: pa.RecordBatch) -> list[str]:
    """Find the columns beside the text that may hold names of people, by a batch."""
    return [
        path
        for path, values in _read_others(source, batch).items()
        if not _OF_PEOPLE.isdisjoint(_split_name(path))
        or path.rpartition(".")[2].lower() in ("first", "last")
        or _has_shape(values, (_FULL_NAME, _LAST_FIRST, _INITIAL, _ADDRESS))
    ]


def _read_others(source: AbstractSource, batch: pa.RecordBatch) -> dict[str, list[Any]]:
    """Read the first values that pass unchanged, by their paths."""
    others: dict[str, list[Any]] = {}
    for path, value in source.iterate_other_values(batch, _VALUES):
        others.setdefault(path, []).append(value)
    return others


def _split_name(path: str) -> list[str]:
    """Split the last name of a path into its words; so are two of them, and the whole.

    >>> _split_name("order.customerId")
    ['customer', 'id', 'customerid']
    >>> _split_name("credit_card_number")[3:]
    ['creditcard', 'cardnumber', 'creditcardnumber']
    """
    last = drop_marks(path.rpartition(".")[2])
    words = [word.lower() for word in _words(last)]
    pairs = map("".join, pairwise(words)) if len(words) > 2 else ()
    return [*words, *pairs, "".join(words)]


def _is_personal_key(path: str, count: int, rows: int) -> bool:
    """Whether a field is named after a person: it is a value, which few rows have."""
    last = path.rpartition(".")[2]
    if _ADDRESS(path) or any(shape(last) for shape in _NUMBERS):
        return True
    return 2 * count <= min(rows, _VALUES) and _FULL_NAME(last) is not None


def _find_kind(path: str, values: list[Any]) -> _Kind:
    """Tell what a column may hold, by the shape of its values and by its name.

    Of a path, the last name counts: what is in ``customer.language`` is no name.
    """
    named = _NAMES.intersection(_split_name(path))
    is_date = any(isinstance(value, date) for value in values)
    has_shape = _has_shape(values, _SHAPES) or _holds_single_names(values)
    has_shape = has_shape or _holds_long_numbers(values)
    if has_shape or is_date or not named <= _ROLES:
        return "personal"
    if _is_text(values):
        return "text"
    return "personal" if named else "other"


def _read_texts(cells: list[Any]) -> list[str]:
    """Read cells as text, also binary ones and whole numbers."""
    return [text for cell in cells if (text := _read_text(cell))]


def _read_text(cell: Any) -> str:
    if isinstance(cell, bytes):
        cell = cell.decode(errors="replace")
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < _WHOLE:
        cell = int(cell)
    if isinstance(cell, int) and not isinstance(cell, bool) and abs(cell) < _WHOLE:
        cell = str(cell)
    return cell.strip() if isinstance(cell, str) else ""


def _is_iban(text: str) -> bool:
    """Whether the check digits of an account number are right.

    >>> _is_iban("DE89370400440532013000"), _is_iban("DE88370400440532013000")
    (True, False)
    """
    if not _MAY_BE_IBAN(text):
        return False
    code = text.replace(" ", "").upper()
    digits = "".join(str(int(sign, 36)) for sign in code[4:] + code[:4])
    return len(code) in _IBAN_LENGTHS and int(digits) % 97 == 1


def _is_card(text: str) -> bool:
    """Whether the check digit of a credit card is right.

    >>> _is_card("4111-1111-1111-1111"), _is_card("4111111111111112")
    (True, False)
    """
    if not _MAY_BE_CARD(text):
        return False
    digits = [int(sign) for sign in reversed(text) if sign.isdigit()]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _is_ip(text: str) -> bool:
    """Whether a text is an address of the Internet.

    >>> _is_ip("84.17.0.1"), _is_ip("2001:db8::1"), _is_ip("1.2.3"), _is_ip("12:30")
    (True, True, False, False)
    """
    if not _MAY_BE_IP(text):
        return False
    from ipaddress import ip_address

    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _holds_long_numbers(cells: list[Any]) -> bool:
    """Whether most values are different numbers of one length, such as of customers."""
    texts = _read_texts(cells)
    lengths = Counter(
        len(text) for text in texts if text.isdecimal() and len(text) >= _LEAST_DIGITS
    )
    most = max(lengths.values(), default=0)
    is_long = lengths.total() >= max(1, _SHARE * len(texts))
    return is_long and most >= _SAME_LENGTH * lengths.total() and _is_diverse(cells)


def _has_shape(cells: list[Any], shapes: Sequence[_Shape]) -> bool:
    """Whether many of the values, of those that are text, have one of the shapes."""
    texts = _read_texts(cells)
    least = max(1, _SHARE * len(texts))
    return any(sum(map(bool, map(shape, texts))) >= least for shape in shapes)


def _is_diverse(cells: list[Any]) -> bool:
    """Whether most values differ, as those of a label do not."""
    texts = _read_texts(cells)
    return len(set(texts)) > _SHARE * len(texts)


def _is_text(cells: list[Any]) -> bool:
    return _is_diverse(cells) and _has_shape(cells, (_has_words,))


def _has_words(text: str) -> bool:
    return len(_find_words(text)) >= _WORDS


def _holds_single_names(cells: list[Any]) -> bool:
    """Whether the values are single words with a capital, most of them different."""
    is_long = len(_read_texts(cells)) >= _FEWEST
    return is_long and _is_diverse(cells) and _has_shape(cells, (_ONE_NAME,))


def _holds_names(batch: pa.RecordBatch, name: str) -> bool:
    """Whether a column to be privatized holds names by themselves."""
    cells = batch.column(name).slice(0, _VALUES).to_pylist()
    return _has_shape(cells, (_FULL_NAME,)) or _holds_single_names(cells)
