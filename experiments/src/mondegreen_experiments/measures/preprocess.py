"""What papers do to words before a release: stop words out, nouns as lemmas."""

from __future__ import annotations

import functools
import tarfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from mondegreen.errors import SourceError
from mondegreen.files import read_lines
from mondegreen.text.tokenizer import canonical, tokenize

STOP_WORDS: Final = "stop-words"
LEMMAS: Final = "lemmas"

_ENDINGS: Final = (
    ("s", ""),
    ("ses", "s"),
    ("ves", "f"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
)
"""Endings of nouns that WordNet's own search takes off, and what it puts there."""

_WORDNET: Final = "wordnet/wordnet30_dict.tar.xz"


def preprocess(
    texts: Sequence[str], steps: Sequence[str], path: Callable[[str], Path]
) -> list[str]:
    """Write texts again as their words, in lower case, after these steps.

    ``path`` finds the files: NLTK's English stop words, and WordNet 3.0, whose noun
    lemmas are those that NLTK's ``WordNetLemmatizer`` gives by default.
    """
    if not steps:
        return list(texts)
    stops = _stop_words(path("nltk_words/stopwords-english.txt"), steps)
    lemma = _lemmatizer(path(_WORDNET)) if LEMMAS in steps else str
    found = []
    for parts in tokenize(list(texts)).parts:
        words = map(canonical, (parts or [])[1::2])
        found.append(" ".join(lemma(word) for word in words if word not in stops))
    return found


def _stop_words(path: Path, steps: Sequence[str]) -> frozenset[str]:
    if STOP_WORDS not in steps:
        return frozenset()
    return frozenset(canonical(word) for word in read_lines(path) if word)


@functools.lru_cache(maxsize=1)
def _lemmatizer(path: Path) -> Callable[[str], str]:
    """WordNet's rules for nouns: exceptions first, then endings, the shortest lemma."""
    try:
        with tarfile.open(path) as archive:
            nouns = _lines(archive, "index.noun")
            irregular = _lines(archive, "noun.exc")
    except (OSError, KeyError, tarfile.TarError):
        raise SourceError(path, "it holds no nouns of WordNet 3.0") from None
    known = {line.split(" ", 1)[0] for line in nouns if not line.startswith(" ")}
    forms = [line.split() for line in irregular]
    return _of_nouns(known, {form: own for form, own, *_ in filter(None, forms)})


def _of_nouns(known: set[str], exceptions: Mapping[str, str]) -> Callable[[str], str]:
    """Return the function from a word to its lemma; others stay as they are.

    >>> lemma = _of_nouns({"film", "story", "mouse"}, {"mice": "mouse"})
    >>> lemma("films"), lemma("stories"), lemma("mice"), lemma("was")
    ('film', 'story', 'mouse', 'was')
    """

    @functools.lru_cache(maxsize=1 << 16)
    def lemma(word: str) -> str:
        if word in exceptions:
            return exceptions[word]
        ends = (pair for pair in _ENDINGS if word.endswith(pair[0]))
        stems = [word[: -len(old)] + new for old, new in ends]
        found = [each for each in (word, *stems) if each in known]
        return min(found, key=len, default=word)

    return lemma


def _lines(archive: tarfile.TarFile, name: str) -> list[str]:
    file = archive.extractfile(f"wordnet/{name}")
    if file is None:
        raise KeyError(name)
    return file.read().decode("utf-8").splitlines()
