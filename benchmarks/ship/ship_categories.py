"""Write the public lists of words that the attack on categories tests for.

From WordNet 3.0 (see NOTICE): words of the default space whose most frequent noun sense
lies below one of the roots of a list, and that are nouns more often than anything else.
Plurals go with their nouns; adjectives of peoples are found by their glosses. No word
of fewer than three letters, and no obscene one.
"""

from __future__ import annotations

import json
import re
import tarfile
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import pyarrow.parquet as pq

import mondegreen as mg
from benchmarks import machine

OUTPUT = Path(__file__).parents[2] / "src/mondegreen/attacks/data/categories.json"
ROOTS = {
    "city": ["city.n.01", "town.n.01"],
    "country": ["country.n.02", "american_state.n.01"],
    "crime": ["crime.n.01", "criminal.n.01"],
    "drug": ["drug.n.01", "medicine.n.02", "alcohol.n.01"],
    "family": ["relative.n.01"],
    "illness": [
        "ill_health.n.01",
        "symptom.n.01",
        "injury.n.01",
        "mental_disorder.n.01",
    ],
    "nationality": ["inhabitant.n.01"],
    "occupation": ["worker.n.01", "professional.n.01"],
    "religion": [
        "religion.n.01",
        "religion.n.02",
        "religious_person.n.01",
        "clergyman.n.01",
        "deity.n.01",
        "place_of_worship.n.01",
        "sacred_text.n.01",
    ],
    "sexuality": ["homosexual.n.01", "sexual_activity.n.01"],
}
ALSO = {
    "sexuality": "gay lesbian bisexual transgender transsexual heterosexual queer",
    "illness": "hiv depressed depression",
}
PEOPLE = re.compile(
    r"^\(?(of|relating|pertaining|characteristic|originating)[^;]*"
    r"(people|inhabitants|natives|[A-Z][a-z]+ (or|and) its)"
)
SHORTEST = 3
KINDS = {1: "n", 2: "v", 3: "a", 4: "r", 5: "a"}


def main() -> None:
    """Write the lists, words by frequency in the vectors' text."""
    folder = machine.SHARED / "wordnet"
    synsets = pq.read_table(folder / "synsets.parquet").to_pylist()
    below = defaultdict(list)
    for row in pq.read_table(folder / "relations.parquet").to_pylist():
        if row["relation"] in ("hypernym", "instance_hypernym"):
            below[row["dst"]].append(row["src"])
    nouns = {row["offset"]: row["synset"] for row in synsets if row["pos"] == "n"}
    first, counts = senses(folder / "wordnet30_dict.tar.xz", nouns)
    peoples = {
        lemma.lower()
        for row in synsets
        if row["lexname"] == "adj.pert" and PEOPLE.search(row["gloss"])
        for lemma in row["lemmas"].split("|")
        if lemma[0].isupper()
    }
    space = mg.load_space()
    obscene = (machine.SHARED / "word_lists/obscene_en.txt").read_text().splitlines()
    candidates = [w for w in space.words if len(w) >= SHORTEST and w not in obscene]
    lists = {}
    for name, roots in ROOTS.items():
        inside = closure(roots, below)
        extra = set(ALSO.get(name, "").split())
        if name == "nationality":
            extra |= peoples
        chosen = {
            word
            for word in candidates
            if word in extra or (first.get(word) in inside and is_noun(counts[word]))
        }
        lists[name] = " ".join(
            word
            for word in candidates
            if word in chosen
            or (word not in first and word.removesuffix("s") in chosen)
        )
    found = {
        "source": "WordNet 3.0, see NOTICE; from benchmarks/ship/ship_categories.py",
        "words": lists,
    }
    OUTPUT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for name, words in lists.items():
        print(f"{name}: {len(words.split())}")


def senses(
    archive: Path, nouns: dict[int, str]
) -> tuple[dict[str, str], defaultdict[str, Counter[str]]]:
    """The most frequent noun sense of each word, and counts by part of speech."""
    first: dict[str, str] = {}
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    with tempfile.TemporaryDirectory() as place, tarfile.open(archive) as tar:
        tar.extractall(place, filter="data")
        index = next(Path(place).rglob("index.noun"))
        for line in index.read_text("latin-1").splitlines():
            if not line.startswith(" "):
                word, *_, rest = line.split(" ", 1)
                offsets = re.findall(r"\b\d{8}\b", rest)
                first[word] = nouns[int(offsets[0])]
        listed = next(Path(place).rglob("cntlist.rev")).read_text("latin-1")
    for line in listed.splitlines():
        sense, _, count = line.split()
        word, _, rest = sense.partition("%")
        counts[word][KINDS[int(rest[0])]] += int(count)
    return first, counts


def closure(roots: list[str], below: dict[str, list[str]]) -> set[str]:
    """Everything below the roots, and the roots."""
    seen: set[str] = set()
    waiting = list(roots)
    while waiting:
        each = waiting.pop()
        if each not in seen:
            seen.add(each)
            waiting += below[each]
    return seen


def is_noun(counts: Counter[str]) -> bool:
    """Whether no other part of speech is more frequent."""
    return all(counts["n"] >= count for count in counts.values())


if __name__ == "__main__":
    main()
