"""Build the lexicon of the shipped policies from reviewed lists and public sources.

    python packaging/policy/build_lexicon.py --wordnet FOLDER

reads, beside this file: ``reviewed_*.tsv`` (10,000 words read one by one),
``case_counts.tsv`` (how openly licensed text writes each word) and ``sources/`` (lists
of names and places); and WordNet 3.0 as two tables. It writes
``src/mondegreen/policy/data/english.policy``.
"""

import argparse
import json
import re
import zlib
from collections import Counter, defaultdict
from pathlib import Path

import pyarrow.parquet as pq

import mondegreen as mg
from mondegreen.space.word_classes import CLOSED_CLASSES
from mondegreen.text.never_printed import never_printed
from mondegreen.text.tokenizer import tokenize

HERE = Path(__file__).parent
OUTPUT = HERE.parents[1] / "src" / "mondegreen" / "policy" / "data" / "english.policy"

NAMES = ("first_name", "surname", "place", "organization", "origin", "belief", "time")
"""Classes that a capital letter can show."""

COMMON_NAME = 100
"""A first name that common is a first name, whatever place or family has it too."""

START = 0.1
"""A first word of a sentence counts as a name if inside of sentences this share does."""

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


def read_reviewed():
    """Read class and name class of each word that was read; the first reading wins."""
    found = {}
    for path in (HERE / "overrides.tsv", *sorted(HERE.glob("reviewed_*.tsv"))):
        for line in path.read_text(encoding="utf-8").splitlines():
            word, kind, name, *_ = (*line.split("\t"), "", "")
            found.setdefault(word, (kind, name))
    return found


def read_counts():
    """Read how often each word is small, capital inside, capital first, all capitals."""
    lines = (HERE / "case_counts.tsv").read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines)
    return {word: tuple(map(int, numbers)) for word, *numbers in rows}


UNRANKED = 400
"""Names without a rank count as this common, and a little less by a hash: mixed."""


def read_names(name, most):
    """Read the most common names of all origins, the most common first.

    A name is as common as in the origin where it is most common; American lists are
    some ten times as long as the others, so their ranks count a fifth.
    """
    scores = {}
    for line in (HERE / "sources" / f"{name}.txt").read_text("utf-8").splitlines():
        word, origins, *_ = line.split("\t")
        ranks = [UNRANKED + zlib.crc32(word.encode()) % 400]
        for origin in origins.split(","):
            kind, _, rank = origin.partition(":")
            if rank:
                ranks.append(int(rank) / (5 if kind == "american" else 1))
        if len(word) > 1 and tokenize([word]).words() == [word]:
            scores[word] = min(ranks)
    return dict(sorted(scores.items(), key=lambda pair: (pair[1], pair[0]))[:most])


def read_singles(name, kinds=()):
    """Read the names of places or organizations that are one word, of some kinds."""
    lines = (HERE / "sources" / f"{name}.txt").read_text("utf-8").splitlines()
    rows = (line.split("\t") for line in lines if "\tsingle" in line)
    words = (row[0] for row in rows if not kinds or row[1] in kinds)
    return {w for w in words if len(w) > 1 and tokenize([w]).words() == [w]}


class Dictionary:
    """WordNet: the class and the grammatical form of a word."""

    def __init__(self, folder):
        synsets = pq.read_table(Path(folder) / "synsets.parquet").to_pylist()
        pairs = pq.read_table(Path(folder) / "relations.parquet").to_pylist()
        self.parents = defaultdict(list)
        self.instances = set()  # proper names
        for pair in pairs:
            if pair["relation"] == "instance_hypernym":
                self.instances.add(pair["src"])
            if pair["relation"] in ("hypernym", "instance_hypernym"):
                self.parents[pair["src"]].append(pair["dst"])
        self.capitalized = set()  # lemmas that are written so
        self.senses = defaultdict(list)  # lemma: [(sense number, synset, pos)]
        for row in synsets:
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

    def lemma(self, word):
        """The lemma of a word, and its form: s p b z d g j r, or x where unknown."""
        for ending, cut, form, pos in (
            ("", "", None, ""),
            ("ies", "y", "pz", "nv"),
            ("es", "", "pz", "nv"),
            ("s", "", "pz", "nv"),
            ("ied", "y", "dd", "vv"),
            ("ed", "", "dd", "vv"),
            ("ed", "e", "dd", "vv"),
            ("ing", "", "gg", "vv"),
            ("ing", "e", "gg", "vv"),
            ("er", "", "jj", "aa"),
            ("est", "", "jj", "aa"),
        ):
            if not word.endswith(ending):
                continue
            stem = word[: len(word) - len(ending)] + cut
            doubled = stem[:-1] if len(stem) > 3 and stem[-1:] == stem[-2:-1] else stem
            for base in (stem, doubled):
                kinds = Counter(pos for _, _, pos in self.senses.get(base, ()))
                if not kinds:
                    continue
                if form is None:
                    first = self.senses[base][0][2]
                    return base, {"n": "s", "v": "b", "a": "j", "r": "r"}[first]
                for mark, wanted in zip(form, pos, strict=True):
                    if kinds.get(wanted, 0) >= max(kinds.values()) / 3:
                        return base, mark
        return word, "x"

    def classes(self, word):
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

    def ancestors(self, synset):
        seen, todo = set(), [synset]
        while todo:
            one = todo.pop()
            if one not in seen:
                seen.add(one)
                todo += self.parents[one]
        return seen


def suffix_form(word):
    """The form of a word that no dictionary has, by its ending."""
    for ending, form in (("ing", "g"), ("ed", "d"), ("ly", "r"), ("s", "p")):
        if word.endswith(ending) and not word.endswith("ss") and len(word) > 4:
            return form
    return "s"


CASED = 0.05
"""An ordinary word may have a capital if this share of public text writes it so.

Others with a capital inside a sentence are parts of names: "Massive Dynamic"."""

SHAPED = re.compile("[0-9]+|[a-z]|[0-9]{1,3}(st|nd|rd|th)|[0-9]{1,2}(am|pm)|[0-9]+s")
"""What the shape of a token decides, before any list; but for "a" and "i"."""

CAPITALS = frozenset(
    "mr mrs ms dr sir madam dear hi hello hey thanks regards sincerely prof jr sr team "
    "internet web wifi javascript python excel".split()
)
"""Ordinary words with a capital in letters and offices, which public text has little."""

UPPER = {
    "place": "us uk eu or in me hi oh pa la ma co al de mo va ca".split(),
    "organization": "it who un".split(),
    "health": ["aids"],
}
"""Ordinary words that mean something else where all their letters are capitals."""


LEAST_SEEN = 20
"""A word that nobody read is printed if public text has it this often."""

PRINTED_NAMES = {"first_name": 1500, "surname": 2000, "other_name": 400}
"""Names that are printed, the most common ones; the others are inputs alone."""


def is_printable(word, dictionary, seen):
    """Whether a word that nobody read is one that readers know."""
    is_word = word.isascii() and word.isalpha() and len(word) > 2
    return (
        is_word
        and seen >= LEAST_SEEN
        and dictionary.lemma(word)[0] in dictionary.senses
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--wordnet", required=True)
    options = parser.parse_args()
    words = [w for w in mg.load_space().words if tokenize([w]).words() == [w]]
    reviewed, counts = read_reviewed(), read_counts()
    dictionary = Dictionary(options.wordnet)
    banned = never_printed()
    member = {
        "first_name": read_names("first_names", 6000),
        "surname": read_names("surnames", 8000),
        "place": read_singles("places"),
        "organization": read_singles("organizations"),
    }
    countries = read_singles("places", ("country", "capital", "continent"))
    rank = {word: i for i, word in enumerate(words)}

    def frequency(word):
        seen = sum(counts.get(word, ())) / 16e6
        guess = 0.1 / (rank[word] + 10) if word in rank else 0.0
        return (seen + guess) / 2

    def by_lists(word):
        """The class of a word that nobody has read."""
        base, form = dictionary.lemma(word)
        known = base in dictionary.senses
        if not (known and is_small(word)):
            if word in countries:
                return "place", "s"
            if member["first_name"].get(word, 999) < COMMON_NAME:
                return "first_name", "s"
            for kind in ("place", "surname", "first_name", "organization"):
                if word in member[kind]:
                    is_spare = kind == "surname" and zlib.crc32(word.encode()) % 8 == 0
                    return "other_name" if is_spare else kind, "s"
        if not known:
            return "rest", suffix_form(word)
        noun = dictionary.classes(base) if form in "sp" else None
        return noun or "rest", form if form != "x" else suffix_form(word)

    def is_small(word):
        small, inside, *_ = counts.get(word, (0, 0, 0, 0))
        return small >= inside

    ordinary, cased, sections = [], [], defaultdict(list)
    capitals = defaultdict(list)
    starts, unprinted = [], defaultdict(list)
    upper = {kind: [w for w in found] for kind, found in UPPER.items()}
    others = set(reviewed).union(*member.values()) - set(rank)
    everything = [*words, *sorted(others)]
    for word in everything:
        if SHAPED.fullmatch(word) and word not in ("a", "i"):
            continue
        kind, name = reviewed.get(word, ("", ""))
        form = "s"
        if not kind:
            kind, form = by_lists(word)
        elif kind != "ordinary":
            base, form = dictionary.lemma(word)
            form = form if form not in "x" else suffix_form(word)
            if kind == "origin" and word not in dictionary.capitalized:
                kind = "people"
        if kind == "ordinary":
            ordinary.append(word)
            small, inside, *_ = counts.get(word, (0, 0, 0, 0))
            is_usual = inside >= CASED * max(1, small + inside)
            if not name and (is_usual or word in CLOSED_CLASSES or word in CAPITALS):
                cased.append(word)
            if name:
                capitals[name].append(word)
                if inside >= START * max(1, small + inside):
                    starts.append(word)
            continue
        if kind in (*NAMES[:4], "other_name", "number_word", "time") or (
            kind == "origin" and form != "p"
        ):
            form = "s"
        if kind == "never":
            kind = "rest"
        is_read = word in reviewed and kind != "rest"
        is_name = word in member.get(kind.replace("other_name", "surname"), ())
        seen = sum(counts.get(word, (0,)))
        is_hidden = not (is_read or is_name or is_printable(word, dictionary, seen))
        if word in banned or is_hidden:
            unprinted[kind, form].append(word)
        else:
            sections[kind, form].append(word)
    lines = ["mondegreen-lexicon 1"]
    lines += [json.dumps({"name": "english", "version": "2026.1"}, sort_keys=True)]
    lines += ["[ordinary]", " ".join(ordinary)]
    for kind in sorted(capitals):
        lines += [f"[capital {kind}]", " ".join(capitals[kind])]
    for kind in sorted(upper):
        lines += [f"[upper {kind}]", " ".join(upper[kind])]
    lines += ["[cased]", " ".join(cased)]
    lines += ["[start]", " ".join(starts)]
    for key in sorted(set(sections) | set(unprinted)):
        kind, form = key
        shown = sorted(sections[key], key=frequency, reverse=True)
        if kind in PRINTED_NAMES:
            order = list(member["surname" if kind == "other_name" else kind])
            place = {word: i for i, word in enumerate(order)}
            shown.sort(key=lambda word: place.get(word, 0))
            most = PRINTED_NAMES[kind]
            unprinted[key] += shown[most:]
            shown = shown[:most]
        lines += [f"[words {kind} {form}]", " ".join(shown)]
        if unprinted[key]:
            lines += [f"[unprinted {kind} {form}]", " ".join(unprinted[key])]
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for key in sorted(sections):
        print(*key, len(sections[key]), " ".join(sections[key][:8]))
    print(len(ordinary), "ordinary;", OUTPUT.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
