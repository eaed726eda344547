"""Part of speech and inflection of word types, from public lists alone.

A word *type* has a usual grammatical class whatever text it stands in. Trees that keep
the words of a class together release sentences that keep their grammar.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, final

import faiss
import numpy as np

from mondegreen.arrays import Vectors
from mondegreen.errors import SpaceError

_ENGLISH: Final = json.loads(
    (Path(__file__).parent / "data/english.json").read_text("utf-8")
)
_LISTS: Final[dict[str, str]] = _ENGLISH["closed"]
_OPEN: Final = ("adverb", "adjective", "noun")  # these have words beside the lists

# Function words of English, each in the class where it stands most. Prepositions and
# conjunctions are one class, since many words are both.
CLOSED_CLASSES: Final = {
    word: name for name, words in _LISTS.items() for word in words.split()
}
# Classes that say little of what a text is about, and make half of its words.
FUNCTION_CLASSES: Final = ("auxiliary", "connective", "determiner", "pronoun")

_SHARES: Final[dict[str, float]] = _ENGLISH["shares"]
_ENDINGS: Final[list[tuple[str, str, str, str]]] = _ENGLISH["endings"]
_PLAIN: Final = {"noun": "noun", "verb": "verb", "adj": "adjective", "adv": "adverb"}
_DOUBLED: Final = ("ed", "ing", "er", "est")  # stopped, running, bigger
_SENSE_CLASSES: Final = {1: "noun", 2: "verb", 3: "adj", 4: "adv", 5: "adj"}
_VOTERS: Final = 10

_Place = tuple[str, str]  # part of speech and offset of a record
_Link = tuple[_Place, int, int]


@final
class WordNet:
    """Lemmas, irregular forms and counts of senses of a WordNet 3 database folder.

    The folder holds ``index.*``, ``data.*``, ``*.exc`` and ``cntlist.rev``. See Miller:
    "WordNet: A Lexical Database for English", Communications of the ACM, 1995.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lemmas = {
            kind: {line.split(" ", 1)[0] for line in _lines(folder / f"index.{kind}")}
            for kind in _PLAIN
        }
        self.irregular: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for kind in _PLAIN:
            for line in _lines(folder / f"{kind}.exc"):
                form, *lemmas = line.split()
                self.irregular[form] += [(kind, lemma) for lemma in lemmas]
        self.counts: Counter[tuple[str, str]] = Counter()
        for line in _lines(folder / "cntlist.rev"):
            sense, _, count = line.split()
            lemma, _, rest = sense.partition("%")
            self.counts[lemma, _SENSE_CLASSES[int(rest[0])]] += int(count)
        self.names = _names(folder / "data.noun")

    def forms(self, word: str) -> dict[str, float]:
        """How often a word stands in each class, roughly; empty if unknown."""
        found: dict[str, float] = defaultdict(float)
        for kind, name in _PLAIN.items():
            if word in self.lemmas[kind]:
                is_name = kind == "noun" and word in self.names
                found["name" if is_name else name] += self._weight(word, kind, name)
        for kind, lemma in self.irregular.get(word, []):
            name = _irregular_form(word, kind)
            found[name] += self._weight(lemma, kind, name)
        for lemma, kind, name in _stems(word):
            if lemma in self.lemmas[kind]:
                found[name] += self._weight(lemma, kind, name)
        return found

    def antonyms(self) -> list[tuple[str, str]]:
        """Pairs of single words that WordNet calls opposites, each once."""
        pairs: set[tuple[str, str]] = set()
        lemmas: dict[_Place, list[str]] = {}
        links: list[tuple[list[str], _Link]] = []
        for kind in _PLAIN:
            for line in _lines(self.folder / f"data.{kind}"):
                offset, words, pointers = _record(line)
                lemmas[kind[0] if kind != "adv" else "r", offset] = words
                links += [(words, pointer) for pointer in pointers]
        for words, (target, source, other) in links:
            first, second = words[source - 1], lemmas[target][other - 1]
            if first != second and "_" not in first + second:
                pairs.add((min(first, second), max(first, second)))
        return sorted(pairs)

    def _weight(self, lemma: str, kind: str, form: str) -> float:
        """The count of a lemma in one form; unseen lemmas count a little."""
        return (self.counts[lemma, kind] + 0.5) * _SHARES[form]


def word_classes(words: Sequence[str], vectors: Vectors, net: WordNet) -> list[str]:
    """The usual grammatical class of each word of a space, such as "plural noun".

    Numbers are told by their digits, closed classes by our own lists, open classes by
    WordNet, weighed by its counts; a word that none of them has takes the class that
    most of its 10 nearest words have. Only public lists decide, and no text.
    """
    found = [_find_class(word, net) for word in words]
    known = np.array([i for i, name in enumerate(found) if name], dtype=np.int64)
    open_ended = np.array([i for i, name in enumerate(found) if not name])
    if not len(known):
        return ["noun"] * len(words)
    if len(open_ended):
        unit = np.array(vectors, dtype=np.float32)
        faiss.normalize_L2(unit)
        index = faiss.IndexFlatIP(unit.shape[1])
        index.add(unit[known])
        _, near = index.search(unit[open_ended], min(_VOTERS, len(known)))
        for i, row in zip(open_ended.tolist(), near.tolist(), strict=True):
            # The words of closed classes are listed in full, so this is none of them.
            near_names = (found[known[j]] for j in row)
            votes = Counter(n for n in near_names if n in _OPEN or n not in _LISTS)
            found[i] = votes.most_common(1)[0][0] if votes else "noun"
    return found


def _find_class(word: str, wordnet: WordNet) -> str:
    """The class that the lists give a word; empty where they give none."""
    if any(letter.isdigit() for letter in word):
        return "number"
    if word in CLOSED_CLASSES:
        return CLOSED_CLASSES[word]
    forms = wordnet.forms(word)
    return max(sorted(forms), key=lambda name: forms[name]) if forms else ""


def _stems(word: str) -> Iterator[tuple[str, str, str]]:
    """What a regular form can come from: lemma, class of the lemma, form."""
    for ending, other, kind, name in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem == word or len(stem) < 2:
            continue
        if stem + other != word:
            yield stem + other, kind, name
        if ending in _DOUBLED and not other and stem[-1] == stem[-2]:
            yield stem[:-1], kind, name


def _irregular_form(word: str, kind: str) -> str:
    """The form that an entry of an exception list is."""
    if kind == "verb" and not word.endswith("ing"):
        return "verb, third person" if word.endswith("s") else "verb, past"
    if kind == "adj":
        return "superlative" if word.endswith("est") else "comparative"
    return {"noun": "plural noun", "adv": "adverb", "verb": "verb, -ing"}[kind]


def _record(line: str) -> tuple[str, list[str], list[_Link]]:
    """Offset, lemmas and links to antonyms of a line of a data file."""
    fields = line.split(" ")
    count = int(fields[3], 16)
    words = [fields[4 + 2 * i].partition("(")[0].lower() for i in range(count)]
    at = 5 + 2 * count
    links = []
    for i in range(int(fields[at - 1])):
        symbol, offset, kind, places = fields[at + 4 * i : at + 4 * i + 4]
        if symbol == "!":  # a link between lemmas, whose places are two hex pairs
            source, other = int(places[:2], 16), int(places[2:], 16)
            links.append(((kind.replace("s", "a"), offset), source, other))
    return fields[0], words, links


def _names(path: Path) -> set[str]:
    """The nouns that are written with a capital in all of their senses."""
    lemmas: set[str] = set()
    for line in _lines(path):
        fields = line.split(" ")
        lemmas.update(fields[4 : 4 + 2 * int(fields[3], 16) : 2])
    small = {lemma for lemma in lemmas if lemma.islower()}
    return {lemma.lower() for lemma in lemmas - small} - small


def _lines(path: Path) -> list[str]:
    """The lines of a file of the database, without its licence."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpaceError(
            f"{path}: cannot be read: a WordNet folder holds index.*, data.*, *.exc "
            "and cntlist.rev"
        ) from error
    return [line for line in text.splitlines() if line and not line.startswith("  ")]
