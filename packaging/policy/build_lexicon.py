"""Build the lexicon of the shipped policies from reviewed lists and public sources.

    python packaging/policy/build_lexicon.py --wordnet FOLDER

reads, beside this file: ``reviewed_*.tsv`` (10,000 words read one by one),
``overrides.tsv`` (corrections of them), ``kinds.txt`` (classes and forms of words, read
by hand), ``not_printed.txt`` (words that are inputs alone), ``counted.txt`` (ordinary
words that were sensitive before), ``case_counts.tsv`` (how openly licensed text
writes each word) and ``sources/`` (lists of names and places); and WordNet 3.0 as two
tables. It writes ``src/mondegreen/policy/data/english.policy``.
"""

import argparse
import json
import math
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq

import mondegreen as mg
from mondegreen.space.word_classes import CLOSED_CLASSES
from mondegreen.text.never_printed import never_printed
from mondegreen.text.print_forms import public_cases
from mondegreen.text.tokenizer import tokenize

HERE = Path(__file__).parent
OUTPUT = HERE.parents[1] / "src" / "mondegreen" / "policy" / "data" / "english.policy"

CASED_CLASSES = ("origin", "belief", "politics", "place", "organization", "number_word")
"""Classes whose words are printed in whatever case is usual for them."""

PROPER = ("first_name", "surname", "place", "organization", "other_name", "time")
"""Classes whose words have a capital anyway."""

COMMON_NAME = 100
"""A first name that common is a first name, whatever place or family has it too."""

FREQUENT_SURNAME = 6_000
RARE_CAPITAL = 250
"""An ordinary word with a capital inside a sentence is a name if its American rank as
a surname is above the first, and public text writes it so fewer times than the second.
"""

ORDINARY_FIRST = frozenset(
    "will may can new fall spring does hope page case price close begin love head power "
    "law major art self six seven day best good long little small early read low key "
    "short strong grant bill cook cross great general".split()
)
"""Ordinary words as first words of sentences, though they are names inside of them."""

FORMLESS = (
    *("first_name", "surname", "organization", "other_name", "number_word", "time"),
)
"""Classes whose words are of one form."""

START = 0.1
FEW = 40
"""A first word of a sentence is a name if inside of sentences this share of it is.

A name of a person counts as one from no share on, if it begins fewer sentences of
public text than this: to hide it there costs 5 of 1,000 first words.
"""

# Classes of WordNet, the first that a sense of the word lies below: (synset, class).
BELOW = (
    ("relative.n.01", "family"),
    ("spouse.n.01", "family"),
    ("lover.n.01", "family"),
    ("disease.n.01", "health"),
    ("ill_health.n.01", "health"),
    ("physical_condition.n.01", "health"),
    ("mental_disorder.n.01", "health"),
    ("symptom.n.01", "health"),
    ("injury.n.01", "health"),
    ("drug.n.01", "health"),
    ("medical_procedure.n.01", "health"),
    ("medicine.n.01", "health"),
    ("sick_person.n.01", "health"),
    ("body_part.n.01", "body"),
    ("body_substance.n.01", "body"),
    ("sexual_activity.n.01", "sexuality"),
    ("religion.n.01", "belief"),
    ("religion.n.02", "belief"),
    ("religious_person.n.01", "belief"),
    ("clergyman.n.01", "belief"),
    ("place_of_worship.n.01", "belief"),
    ("spiritual_being.n.01", "belief"),
    ("politician.n.01", "politics"),
    ("ideology.n.02", "politics"),
    ("political_orientation.n.01", "politics"),
    ("political_system.n.01", "politics"),
    ("party.n.01", "politics"),
    ("inhabitant.n.01", "origin"),
    ("natural_language.n.01", "origin"),
    ("ethnic_group.n.01", "origin"),
    ("person_of_color.n.01", "origin"),
    ("crime.n.01", "crime"),
    ("criminal.n.01", "crime"),
    ("weapon.n.01", "crime"),
    ("drug_of_abuse.n.01", "crime"),
    ("prison.n.01", "crime"),
    ("prisoner.n.01", "crime"),
    ("juvenile.n.01", "people"),
    ("female.n.02", "people"),
    ("male.n.02", "people"),
    ("worker.n.01", "occupation"),
    ("professional.n.01", "occupation"),
    ("person.n.01", "people"),
    ("currency.n.01", "money"),
    ("monetary_unit.n.01", "money"),
    ("money.n.01", "money"),
    ("debt.n.01", "money"),
    ("time_unit.n.01", "time"),
    ("calendar_day.n.01", "time"),
    ("season.n.01", "time"),
    ("location.n.01", "place"),
    ("vehicle.n.01", "home"),
    ("housing.n.01", "home"),
    ("educational_institution.n.01", "education"),
    ("degree.n.08", "education"),
    ("animal.n.01", "animal"),
    ("food.n.01", "food"),
    ("food.n.02", "food"),
    ("plant.n.02", "nature"),
    ("substance.n.01", "nature"),
    ("geological_formation.n.01", "nature"),
    ("body_of_water.n.01", "place"),
    ("artifact.n.01", "product"),
    ("event.n.01", "activity"),
)
SENSES = 2  # of a word that are looked at: rarer ones say little of it


CASED = 0.05
"""An ordinary word may have a capital if this share of public text writes it so.

Others with a capital inside a sentence are parts of names: "Massive Dynamic"."""

SHAPED = re.compile("[0-9]+|[a-z]|[0-9]{1,3}(st|nd|rd|th)|[0-9]{1,2}(am|pm)|[0-9]+s")
"""What the shape of a token decides, before any list; but for "a" and "i"."""

CAPITALS = frozenset(
    "mr mrs ms dr sir madam dear hi hello hey thanks regards sincerely prof jr sr team "
    "internet web wifi javascript python excel avenue boulevard ceo cfo cto vp hr "
    "patient sgt reuters afp ap prime minister windows ssn dob vat iban pin "
    "email phone address notes please suite setup mobile fax website username password "
    "subject regarding attached invoice".split()
)
"""Ordinary words with a capital in offices, of which public text has little."""

CODE = 2
"""Ordinary words so short are codes of states, and count in capitals alone: "IN"."""

UPPER = {
    "place n": "us uk eu".split(),
    "organization s": ["un"],
    "health s": ["aids", "ms"],
}
"""Ordinary words that mean something else where all their letters are capitals."""

TIMES = {
    "may": "h",
    "apr": "f",
    "sat": "e",
    "sun": "e",
    "spring": "k",
    "fall": "k",
}
"""Forms of ordinary words that are times where they have a capital."""

MOSTLY_CAPITALS = ("id", "ok")
"""Codes of states that are commoner as something else in capitals."""

FIRST_UNRANKED, UNRANKED = 20, 1000
"""Names of origins without ranks have one between these, by a hash."""

SPARE = 8
"""One of so many surnames is printed for names of unknown kind instead."""

INFLECTED = 10
"""An inflection of an ordinary word is ordinary if public text has it so often."""

INFLECTED_CLASSES = ("rest", "activity", "product", "nature", "food", "home")
"""Classes by the dictionary that an inflection of an ordinary word may have."""

UNPRINTED = ("sexuality",)
"""Classes of which no word is printed: next to "daughter" each would insult."""

LEAST_SEEN = 20
KNOWN_RANK = 26_000
"""A word that nobody read is printed if public text has it so often, and the space so
far in front."""

PRINTED = {
    "first_name": 1200,
    "surname": 1800,
    "other_name": 500,
    "organization": 300,
    ("place", "s"): 400,
    ("place", "t"): 130,
}
"""Names that are printed, the most common ones; the others are inputs alone."""

KINDS_OF_PLACES = {"country": "n", "continent": "n", "state": "t"}
"""The form of a place; cities have the form "s"."""

STATES = ("US", "CA", "AU")
"""Countries whose states are better known than cities of the same name."""


Kind = tuple[str, str]  # a class of words, and a form


def read_reviewed() -> dict[str, Kind]:
    """Read class and name class of each word that was read; the first reading wins."""
    found: dict[str, Kind] = {}
    for path in (HERE / "overrides.tsv", *sorted(HERE.glob("reviewed_*.tsv"))):
        for line in path.read_text(encoding="utf-8").splitlines():
            word, kind, name, *_ = (*line.split("\t"), "", "")
            found.setdefault(word, (kind, name))
    return found


def read_kinds() -> tuple[dict[str, Kind], set[Kind], set[str]]:
    """Read words whose class and form are reviewed, and which lists are complete.

    Of a complete list no other word is printed. The third part are inputs alone.
    """
    found: dict[str, Kind] = {}
    complete, inputs = set(), set()
    text = (HERE / "kinds.txt").read_text(encoding="utf-8")
    for mark, kind, form, words in re.findall(
        r"^([=-]?)\[(\w+) (\w+)\]\n([^\[#=-]*)", text, flags=re.MULTILINE
    ):
        for word in words.split():
            found.setdefault(word, (kind, form))
            if mark == "-":
                inputs.add(word)
        if mark == "=":
            complete.add((kind, form))
    return found, complete, inputs


def read_not_printed() -> frozenset[str]:
    """Read the words that hide like others, but are never printed."""
    lines = (HERE / "not_printed.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(w for line in lines if line[:1] != "#" for w in line.split())


def read_counted() -> dict[str, list[str]]:
    """Read the words that were sensitive in earlier lists, by their class there."""
    text = (HERE / "counted.txt").read_text(encoding="utf-8")
    lists = re.findall(r"^\[(\w+)\]\n([^\[]*)", text, flags=re.MULTILINE)
    return {kind: words.split() for kind, words in lists}


def read_counts() -> dict[str, tuple[int, ...]]:
    """Read how often each word is small, capital inside, capital first, all capital."""
    rows = read_source(HERE / "case_counts.tsv")
    return {word: tuple(map(int, numbers)) for word, *numbers in rows}


def read_source(path: Path) -> Iterator[list[str]]:
    """Read the rows of a table."""
    return (line.split("\t") for line in path.read_text("utf-8").splitlines())


def is_single(word: str) -> bool:
    """Whether a text holds it as one word of several letters."""
    return len(word) > 1 and tokenize([word]).words() == [word]


def read_names(name: str) -> tuple[dict[str, float], frozenset[str]]:
    """Rank the names of all origins, and tell common ones.

    A name is as common as in the origin where it is most common; American lists are
    some ten times as long as the others, so their ranks count a fifth. Origins without
    ranks get one by a hash, so that names that are printed are of all origins.
    """
    scores: dict[str, float] = {}
    common: set[str] = set()
    for word, origins, *_ in read_source(HERE / "sources" / f"{name}.txt"):
        if not is_single(word):
            continue
        pairs = [origin.partition(":") for origin in origins.split(",")]
        ranks = [int(r) / (5 if o == "american" else 1.0) for o, _, r in pairs if r]
        if ranks and min(ranks) < COMMON_NAME:
            common.add(word)
        ranks.append(FIRST_UNRANKED + zlib.crc32(word.encode()) % UNRANKED)
        scores[word] = min(ranks)
    return scores, frozenset(common)


def read_frequent_surnames() -> frozenset[str]:
    """Read the surnames that are frequent among Americans."""
    found = set()
    for word, origins, *_ in read_source(HERE / "sources" / "surnames.txt"):
        ranks = dict(origin.partition(":")[::2] for origin in origins.split(","))
        if 0 < int(ranks.get("american") or 0) <= FREQUENT_SURNAME and is_single(word):
            found.add(word)
    return frozenset(found)


def read_places() -> dict[str, str]:
    """Read the form of each place of one word: a country, a state, or a city."""
    found: dict[str, set[str]] = defaultdict(set)
    for word, kind, country, size, *_ in read_source(HERE / "sources" / "places.txt"):
        form = KINDS_OF_PLACES.get(kind, "s")
        if size == "single" and is_single(word):
            is_less_known = form == "t" and country not in STATES
            found[word].add("r" if is_less_known else form)
    # Rome is a city, and a province; Victoria is a state, and a city.
    best = {word: min(forms, key="ntsr".index) for word, forms in found.items()}
    return {word: form.replace("r", "t") for word, form in best.items()}


def read_organizations() -> frozenset[str]:
    """Read the names of organizations that are one word."""
    rows = read_source(HERE / "sources" / "organizations.txt")
    return frozenset(row[0] for row in rows if "single" in row and is_single(row[0]))


# An ending, what stands in its place in the lemma, and the forms that it shows.
ENDINGS = (
    *(("ies", "y", "pz"), ("es", "", "pz"), ("s", "", "pz")),
    *(("ied", "y", "d"), ("ed", "", "d"), ("ed", "e", "d")),
    *(("ing", "", "g"), ("ing", "e", "g"), ("er", "", "j"), ("est", "", "j")),
)
PARTS_OF_SPEECH = {"p": "n", "z": "v", "d": "v", "g": "v", "j": "a"}


def _stems(word: str, ending: str, cut: str) -> list[str]:
    """What stays of a word without its ending; "stopped" has a doubled letter."""
    stem = word[: len(word) - len(ending)] + cut
    is_doubled = len(stem) > 3 and stem[-1:] == stem[-2:-1]
    return [stem, stem[:-1]] if is_doubled else [stem]


class Dictionary:
    """WordNet: the class and the grammatical form of a word."""

    def __init__(self, folder: Path) -> None:
        self.parents: dict[str, list[str]] = defaultdict(list)
        self.instances: set[str] = set()  # proper names
        self.capitalized: set[str] = set()  # lemmas that are written so
        self.senses: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
        self._read_relations(folder / "relations.parquet")
        self._read_senses(folder / "synsets.parquet")

    def _read_relations(self, path: Path) -> None:
        pairs = pq.read_table(path).to_pylist()
        for pair in pairs:
            if pair["relation"] == "instance_hypernym":
                self.instances.add(pair["src"])
            if pair["relation"] in ("hypernym", "instance_hypernym"):
                self.parents[pair["src"]].append(pair["dst"])

    def _read_senses(self, path: Path) -> None:
        """Index the senses of lemmas by their number: (number, synset, pos)."""
        for row in pq.read_table(path).to_pylist():
            number = int(row["synset"].rsplit(".", 1)[1])
            for lemma in row["lemmas"].split("|"):
                if "_" not in lemma:
                    if lemma[:1].isupper():
                        self.capitalized.add(lemma.lower())
                    pos = row["pos"].replace("s", "a")
                    is_own = row["synset"].startswith(f"{lemma.lower()}.")
                    rank = number if is_own else number + 3
                    self.senses[lemma.lower()].append((rank, row["synset"], pos))
        for senses in self.senses.values():
            senses.sort()

    def lemma(self, word: str) -> tuple[str, str]:
        """The lemma of a word, and its form: s p b z d g j r, or x where unknown."""
        if word in self.senses:
            first = self.senses[word][0][2]
            is_noun_or_adjective = first in "an"
            mark = self.participle(word) if is_noun_or_adjective else None
            return word, mark or {"n": "s", "v": "b", "a": "j", "r": "r"}[first]
        return next(self.bases(word), (word, "x"))

    def bases(self, word: str) -> Iterator[tuple[str, str]]:
        """What a word may be a regular inflection of, and its form, likeliest first."""
        for ending, cut, forms in ENDINGS:
            if word.endswith(ending):
                for base in _stems(word, ending, cut):
                    if mark := self._form(base, forms):
                        yield base, mark

    def _form(self, base: str, forms: str) -> str | None:
        """The first of some forms whose part of speech is usual for a lemma."""
        kinds = Counter(pos for _, _, pos in self.senses.get(base, ()))
        for form in forms if kinds else "":
            if kinds[PARTS_OF_SPEECH[form]] >= max(kinds.values()) / 3:
                return form
        return None

    def participle(self, word: str) -> str | None:
        """The form of a participle that has senses of its own: "a startled boy"."""
        for ending, form in (("ing", "g"), ("ed", "d")):
            stem = word.removesuffix(ending)
            if stem != word and len(stem) > 2:
                bases = [stem, stem + "e"] + [stem[:-1]] * (stem[-1] == stem[-2])
                senses = [s for base in bases for s in self.senses.get(base, ())]
                if any(pos == "v" for _, _, pos in senses):
                    return form
        return None

    def class_of(self, word: str) -> str | None:
        """The class of a word by its first senses, or None."""
        nouns = [s for _, s, pos in self.senses.get(word, ()) if pos == "n"][:SENSES]
        for sense in nouns:
            above = self.ancestors(sense)
            kind = next((k for synset, k in BELOW if synset in above), None)
            if kind == "place" and sense not in self.instances:
                kind = "nature"  # a waterfall, and not a town
            if kind == "origin" and word not in self.capitalized:
                kind = "people"
            if kind == "people" and word in self.capitalized:
                kind = "other_name"
            if kind:
                return kind
        return None

    def ancestors(self, synset: str) -> set[str]:
        """All that a sense lies below, and itself."""
        seen: set[str] = set()
        todo = [synset]
        while todo:
            one = todo.pop()
            if one not in seen:
                seen.add(one)
                todo += self.parents[one]
        return seen


def suffix_form(word: str) -> str:
    """The form of a word that no dictionary has, by its ending."""
    for ending, form in (("ing", "g"), ("ed", "d"), ("ly", "r"), ("s", "p")):
        if word.endswith(ending) and not word.endswith("ss") and len(word) > 4:
            return form
    return "s"


class Material:
    """All that the builder reads."""

    def __init__(self, wordnet: Path) -> None:
        words = [w for w in mg.load_space().words if tokenize([w]).words() == [w]]
        self.rank = {word: i for i, word in enumerate(words)}
        self.reviewed, self.counts = read_reviewed(), read_counts()
        self.dictionary = Dictionary(wordnet)
        self.first_names, self.common = read_names("first_names")
        self.surnames, _ = read_names("surnames")
        self.frequent_surnames = read_frequent_surnames()
        self.places, self.organizations = read_places(), read_organizations()
        self.kinds, self.complete, inputs = read_kinds()
        self.banned = never_printed()
        self.inputs = self.banned | read_not_printed() | inputs
        lists = (self.first_names, self.surnames, self.places, self.organizations)
        others = {*self.reviewed, *self.kinds}.union(*lists)
        others.update(filter(self.is_inflection, self.counts))
        self.words = [*words, *sorted(others.difference(words))]

    def frequency(self, word: str) -> float:
        """How common a word is in public text and in the space."""
        seen = sum(self.counts.get(word, ())) / 16e6
        guess = 0.1 / (self.rank[word] + 10) if word in self.rank else 0.0
        return (seen + guess) / 2

    def is_small(self, word: str) -> bool:
        """Whether public text writes a word without a capital."""
        small, inside, *_ = self.counts.get(word, (0, 0))
        return small >= inside

    def is_cased(self, word: str) -> bool:
        """Whether a capital inside a sentence is usual for a word."""
        small, inside, *_ = self.counts.get(word, (0, 0))
        return inside >= CASED * max(1, small + inside)

    def is_surname(self, word: str) -> bool:
        """Whether a word is a surname where it has a capital inside a sentence."""
        _, inside, *_ = self.counts.get(word, (0, 0))
        is_frequent = word in self.frequent_surnames and word not in CLOSED_CLASSES
        return is_frequent and inside <= RARE_CAPITAL

    def is_name_first(self, word: str, name: str) -> bool:
        """Whether a word that is a name inside sentences is one as their first word."""
        small, inside, first, _ = self.counts.get(word, (0, 0, 0, 0))
        is_rare = name in ("first_name", "surname") and first < FEW
        is_name = inside >= START * max(1, small + inside) or is_rare
        return is_name and word not in ORDINARY_FIRST

    def is_inflection(self, word: str) -> bool:
        """Whether a word that nobody read is an inflection of an ordinary word.

        Public text must have it, and no list of names. What a reader calls a job, an
        illness, a belief and the like by the dictionary stays sensitive.
        """
        is_word = word.isascii() and word.isalpha()
        is_read = word in self.reviewed or word in self.kinds or word in self.banned
        seen = sum(self.counts.get(word, ()))
        if not is_word or is_read or seen < INFLECTED or self.name_class(word):
            return False
        kind = self.kind_by_lists(word)
        # "rapes" could be of "rap": nothing that it may be of must be sensitive.
        bases = [b for b, _ in self.dictionary.bases(word) if len(b) > CODE]
        read = {self.reviewed[base][0] for base in bases if base in self.reviewed}
        is_harmless = kind is not None and kind[0] in INFLECTED_CLASSES
        return (
            is_harmless and read == {"ordinary"} and self.kinds.keys().isdisjoint(bases)
        )

    def is_known(self, word: str) -> bool:
        """Whether readers know a word that nobody read for this list."""
        is_word = word.isascii() and word.isalpha() and len(word) > 2
        is_common = sum(self.counts.get(word, ())) >= LEAST_SEEN
        is_near = self.rank.get(word, KNOWN_RANK) < KNOWN_RANK
        is_listed = self.dictionary.lemma(word)[0] in self.dictionary.senses
        return is_word and is_common and is_near and is_listed

    def name_class(self, word: str) -> str | None:
        """The class of a word as a name, by the lists."""
        if word in self.places and self.places[word] == "n":
            return "place"
        if word in self.common:
            return "first_name"
        if word in self.places:
            return "place"
        as_surname = self.surnames.get(word, math.inf)
        if as_surname < self.first_names.get(word, math.inf):
            is_spare = zlib.crc32(word.encode()) % SPARE == 0
            is_spare &= as_surname >= FIRST_UNRANKED  # not "Johnson"
            return "other_name" if is_spare else "surname"
        if word in self.first_names:
            return "first_name"
        return "organization" if word in self.organizations else None

    def name_kind(self, word: str, name: str) -> Kind:
        """Class and form of an ordinary word as a name: "May" is a month."""
        return name, TIMES.get(word, "s") if name == "time" else "s"

    def kind_by_lists(self, word: str) -> Kind | None:
        """Class and form of a word that nobody has read; None: it is not listed."""
        base, form = self.dictionary.lemma(word)
        is_listed = base in self.dictionary.senses
        name = self.name_class(word)
        if name and not (is_listed and self.is_small(word)):
            return name, "s"
        if not is_listed:
            return None  # the policy decides, by its ending and its capital
        noun = self.dictionary.class_of(base) if form in "sp" else None
        return noun or "rest", form if form != "x" else suffix_form(word)

    def kind_of(self, word: str) -> Kind | None:
        """Class and form of a sensitive word; None if no list has it."""
        if word in self.kinds:
            return self.kinds[word]
        kind = self.reviewed.get(word, ("", ""))[0]
        if not kind:
            found = self.kind_by_lists(word)
            if found is None:
                return None
            kind, form = found
        else:
            form = self.dictionary.lemma(word)[1].replace("x", suffix_form(word))
        if kind == "origin" and word not in self.dictionary.capitalized:
            kind = "people"
        if kind == "place":
            return kind, self.places.get(word, "s")
        if kind in FORMLESS or (kind == "origin" and form != "p"):
            form = "s"
        return "rest" if kind == "never" else kind, form

    def is_printable(self, word: str, kind: Kind) -> bool:
        """Whether a sensitive word may be printed for others of its kind."""
        if word in self.inputs or kind[0] in UNPRINTED or self.is_odd(word, kind[0]):
            return False
        if kind in self.complete:
            return word in self.kinds
        is_read = word in self.reviewed and kind[0] != "rest"
        is_name = self.name_class(word) == kind[0]
        return word in self.kinds or is_read or is_name or self.is_known(word)

    def is_odd(self, word: str, kind: str) -> bool:
        """Whether a word would be printed with the capitals of another kind."""
        if kind in CASED_CLASSES or word in self.kinds:
            return False
        case = public_cases().get(word, "")
        return case.isupper() if kind in PROPER else not case.islower() and case != ""

    def order(self, kind: Kind, words: list[str]) -> list[str]:
        """Sort words that may be printed, the most common first."""
        if kind[0] not in ("first_name", "surname", "other_name"):
            return sorted(words, key=self.frequency, reverse=True)
        ranks = self.first_names if kind[0] == "first_name" else self.surnames
        if kind[0] == "other_name":  # a name of anything, and of nobody famous
            words = [word for word in words if word in ranks]
        return sorted(words, key=lambda word: (ranks.get(word, math.inf), word))


@dataclass
class Sections:
    """The lexicon while it is built: words by what the sections of the file say."""

    ordinary: list[str] = field(default_factory=list)
    cased: list[str] = field(default_factory=list)
    starts: list[str] = field(default_factory=list)
    capitals: dict[Kind, list[str]] = field(default_factory=lambda: defaultdict(list))
    upper: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    shown: dict[Kind, list[str]] = field(default_factory=lambda: defaultdict(list))
    hidden: dict[Kind, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add_ordinary(self, word: str, name: str, material: Material) -> None:
        """Add an ordinary word, and the class that it has with a capital."""
        self.ordinary.append(word)
        is_closed = word in CLOSED_CLASSES
        if name and not (name == "place" and len(word) <= CODE):
            self.capitals[material.name_kind(word, name)].append(word)
            if material.is_name_first(word, name) and not is_closed:
                self.starts.append(word)
            return
        # "US" is a country, and others are codes of states.
        if name and word not in (*MOSTLY_CAPITALS, *UPPER["place n"]):
            self.upper[f"{name} t"].append(word)
        is_cased = material.is_cased(word) and not material.is_surname(word)
        if name or is_cased or is_closed or word in CAPITALS:
            self.cased.append(word)

    def add_sensitive(self, word: str, kind: Kind, material: Material) -> None:
        """Add a sensitive word, and the class that it has with a capital."""
        is_shown = material.is_printable(word, kind)
        (self.shown if is_shown else self.hidden)[kind].append(word)
        if kind[0] not in PROPER:
            name = material.reviewed.get(word, ("", ""))[1]
            name = name or (word in material.first_names and "first_name") or ""
            name = name or (word in material.surnames and "surname") or ""
            has_capital = kind[0] in ("origin", "time") or not material.is_small(word)
            is_own = kind[0] in ("origin", "belief", "politics", "time")
            if name and not (is_own and has_capital):
                self.capitals[name, "s"].append(word)  # "Willow", "Baker", "Pope"
                if material.is_name_first(word, name):
                    self.starts.append(word)  # of use where a policy shows its class
            elif is_own or material.is_cased(word):
                self.cased.append(word)  # of use where a policy shows its class

    def keep_most_common(self, material: Material) -> None:
        """Sort what is printed, and print no more than is wanted of each kind."""
        for kind, words in self.shown.items():
            most = PRINTED.get(kind, PRINTED.get(kind[0], len(words)))
            kept = material.order(kind, words)[:most]
            self.hidden[kind] += sorted(set(words).difference(kept))
            self.shown[kind] = kept

    def lines(self) -> Iterator[str]:
        """Write the sections as lines of the file."""
        header = {"name": "english", "version": "2026.5"}
        yield from ("mondegreen-lexicon 1", json.dumps(header, sort_keys=True))
        yield from ("[ordinary]", " ".join(self.ordinary))
        for kind, words in sorted(self.capitals.items()):
            yield from (f"[capital {' '.join(kind)}]", " ".join(words))
        for name, words in sorted(self.upper.items()):
            yield from (f"[upper {name}]", " ".join(words))
        yield from ("[cased]", " ".join(self.cased))
        yield from ("[start]", " ".join(self.starts))
        ordinary = set(self.ordinary)
        for kind, words in read_counted().items():
            counted = (word for word in words if word in ordinary)
            yield from (f"[counted {kind}]", " ".join(counted))
        for kind in sorted({*self.shown, *self.hidden}):
            yield from (f"[words {' '.join(kind)}]", " ".join(self.shown.get(kind, ())))
            if hidden := self.hidden.get(kind):
                yield from (f"[unprinted {' '.join(kind)}]", " ".join(hidden))


def build_lexicon(wordnet: Path) -> str:
    """Build the text of the lexicon; ``wordnet`` is the folder of its two tables."""
    material, sections = Material(wordnet), Sections()
    for name, found in UPPER.items():
        sections.upper[name] += found
    for word in material.words:
        if SHAPED.fullmatch(word) and word not in ("a", "i"):
            continue
        reviewed, name = material.reviewed.get(word, ("", ""))
        if reviewed == "ordinary" or material.is_inflection(word):
            sections.add_ordinary(word, name, material)
        elif kind := material.kind_of(word):
            sections.add_sensitive(word, kind, material)
    sections.keep_most_common(material)
    return "\n".join(sections.lines()) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--wordnet", type=Path, required=True)
    text = build_lexicon(parser.parse_args().wordnet)
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
