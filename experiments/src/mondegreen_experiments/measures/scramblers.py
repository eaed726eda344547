"""Query scramblers: other words by a fixed rule, which is no mechanism.

Stand-ins for the two baselines of the CMP paper. A rule is the same for all who use it,
and draws nothing: an attacker with the rule scrambles a guess and compares.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from mondegreen.arrays import Floats, Ids
from mondegreen.space.space import Space
from mondegreen_experiments.bench import Bench, Labelled

SCRAMBLERS: Final = ("Versatile", "Incognito")
"""Names of the baselines that rules stand for."""

_HIGHEST: Final = 20
_COUNTED: Final = 2000


@functools.lru_cache(maxsize=2)
def rule_named(bench: Bench, name: str, space: str, texts: str) -> Ids:
    """A rule for a space; ``texts`` names the data set that words are counted in.

    Of it only the held-back part is read, which no model learns from.
    """
    if name == "Versatile":
        return generalised(bench.space(space), bench.path("wordnet"))
    counted = bench.labelled(texts, "valid", space, _COUNTED)
    return alike(counted.words, bench.space(space).vocab_size)


def scrambled(texts: Labelled, rule: Ids) -> Labelled:
    """Put the word that a rule names in the place of each word."""
    return texts.with_words(rule[texts.flat])


def generalised(space: Space, wordnet: Path) -> Ids:
    """A more general word for each word, as a rule: ids, (words + 1,).

    The first noun or verb that WordNet has for the word, and the next above it that is
    one word of the space; other words, and the unknown one, stay. It stands for the
    semantic half of Arampatzis et al. (2015), who replace a query by several.
    """
    import pyarrow.parquet as pq

    above: dict[str, str] = {}
    for each in pq.read_table(wordnet / "relations.parquet").to_pylist():
        if each["relation"] in ("hypernym", "instance_hypernym"):
            above.setdefault(each["src"], each["dst"])
    place = {word: i for i, word in enumerate(space.words)}
    rule = np.arange(space.vocab_size + 1, dtype=np.int32)
    for word, own in place.items():
        named = (place.get(each, own) for each in _climb(above, word))
        rule[own] = next((each for each in named if each != own), own)
    return rule


def _climb(above: Mapping[str, str], word: str) -> Iterator[str]:
    """Words of the senses above a word, from the nearest on; "dog" is in dog.n.01."""
    for kind in "nv":
        sense = f"{word}.{kind}.01"
        for _ in range(_HIGHEST):  # two verbs of WordNet 3.0 are above each other
            if sense not in above:
                break
            sense = above[sense]
            yield sense.partition(".")[0]


def alike(texts: Sequence[Ids], size: int, common: int = 100, most: int = 5000) -> Ids:
    """A word of like company for each rarer word, as a rule: ids, (size + 1,).

    Of the ``most`` frequent words of ``texts`` the first ``common`` stay; each other
    becomes the one among them whose neighbors, counted among the common words, are
    most alike (cosine). Words beyond become the unknown one, ``size``. It stands for
    Incognito (Masood et al. 2018), which puts related terms in the place of those that
    single a user out.
    """
    counts = np.bincount(np.concatenate(texts), minlength=size + 1)[:size]
    order = np.argsort(-counts, kind="stable")[: min(most, int((counts > 0).sum()))]
    known = np.full(size + 1, len(order), dtype=np.int32)
    known[order] = np.arange(len(order))
    near = _company(texts, known, common)[: len(order)].toarray()
    near = np.log1p(near[common:])
    near /= np.maximum(np.linalg.norm(near, axis=1, keepdims=True), 1e-12)
    rule = np.full(size + 1, size, dtype=np.int32)
    rule[order[:common]] = order[:common]
    rule[order[common:]] = order[common:][_nearest(near)]
    return rule


def _company(texts: Sequence[Ids], known: Ids, common: int) -> Any:
    """How often each word has each common word before it and behind it."""
    from scipy import sparse

    rows, columns = [], []
    for text in texts:
        words = known[text]
        for own, other, side in (
            (words[1:], words[:-1], 0),
            (words[:-1], words[1:], 1),
        ):
            is_common = other < common
            rows.append(own[is_common])
            columns.append(2 * other[is_common] + side)
    row, column = np.concatenate(rows), np.concatenate(columns)
    shape = int(known.max()) + 1, 2 * common
    return sparse.csr_matrix((np.ones(len(row)), (row, column)), shape=shape)


def _nearest(rows: Floats) -> Any:
    """The row most alike to each, not itself; the lowest of equally alike ones."""
    found = np.empty(len(rows), dtype=np.intp)
    for i in range(0, len(rows), 1000):
        alike = rows[i : i + 1000] @ rows.T
        alike[np.arange(len(alike)), i + np.arange(len(alike))] = -np.inf
        found[i : i + 1000] = alike.argmax(axis=1)
    return found
