"""Build the word tree that ships with the default space; writes it and its facts.

Needs the WordNet 3.0 database and the openly licensed texts of shared/data. Everything
it is made from is public: GloVe vectors and their order (as Zipf's law has it, a proxy
of frequency in web pages), word counts of the texts, WordNet lemmas, counts of senses,
exceptions and antonyms, and the closed classes of mondegreen.space.word_classes.

    python -m benchmarks ship_tree

Writes src/mondegreen/space/data/trees/ and benchmarks/results/ship_tree.json; put the
digest into mondegreen.space.store, then run ship_tree_weights.
"""

from __future__ import annotations

import tarfile
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

import mondegreen as mg
from benchmarks import machine
from mondegreen.calibration.tree_levels import tfidf_weights
from mondegreen.space.groups import Worth
from mondegreen.space.tree import WordTree
from mondegreen.space.tree_build import build_tree
from mondegreen.space.word_classes import FUNCTION_CLASSES, WordNet, word_classes
from mondegreen.text.lookup import Lookup
from mondegreen.text.tokenizer import tokenize

OUTPUT = Path(mg.__file__).parent / "space" / "data" / "trees"
SETTINGS = {"leaf": 12, "branch": 16, "family": 8, "contrast": 0.7}
PRICE, CAP = 1.0, 0.4
_FIRST_RANK = 10.0
_BATCH = 5000


def database(folder: str) -> WordNet:
    """Unpack WordNet and read it."""
    with tarfile.open(machine.SHARED / "wordnet" / "wordnet30_dict.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return WordNet(Path(folder) / "wordnet")


def lists(space: mg.Space) -> tuple[list[str], list[tuple[int, int]]]:
    """The class of every word, and pairs of opposites."""
    with tempfile.TemporaryDirectory() as folder:
        wordnet = database(folder)
        classes = word_classes(space.words, space.vectors, wordnet)
        pairs = [(space.get_id(a), space.get_id(b)) for a, b in wordnet.antonyms()]
    known = [pair for pair in pairs if max(pair) < space.vocab_size]
    return list(classes), known


def frequencies(space: mg.Space) -> np.ndarray:
    """Half of what public texts have, half of what the order of the vectors stands for.

    The texts are of few kinds and the order is of web pages: a word that is frequent in
    either must not own its group.
    """
    counts = np.full(space.vocab_size, 0.5)
    lookup = Lookup(space)
    for path in sorted((machine.SHARED / "public_text").glob("*.parquet")):
        texts = pq.read_table(path).column("text").to_pylist()
        for start in range(0, len(texts), _BATCH):
            ids = np.asarray(lookup.codes(tokenize(texts[start : start + _BATCH])))
            known = ids[(ids >= 0) & (ids < space.vocab_size)]
            counts += np.bincount(known, minlength=space.vocab_size)
    ranks = 1 / (np.arange(space.vocab_size) + _FIRST_RANK)
    found: np.ndarray = (counts / counts.sum() + ranks / ranks.sum()) / 2
    return found


def largest_share(tree: WordTree, often: np.ndarray, chosen: np.ndarray) -> float:
    """The largest share of the frequency of its group that one of some words has."""
    group = tree.nodes[1, :-1]
    return float((often / np.bincount(group, often)[group])[chosen].max())


def main() -> None:
    """Build, save, report."""
    space = mg.load_space()
    start = time.perf_counter()
    classes, opposites = lists(space)
    # Two and 2 may stand for each other; 33 words alone would cost all others nats.
    classes = ["number" if name == "number word" else name for name in classes]
    often = frequencies(space)
    weights = tfidf_weights(np.append(often, 0.0))[:-1]
    about = {
        "source": "GloVe vectors and order; WordNet 3.0 classes and antonyms; word "
        "counts of openly licensed text",
        **{key: str(value) for key, value in SETTINGS.items()},
        "price": str(PRICE),
        "cap": str(CAP),
    }
    tree = build_tree(
        space,
        classes=classes,
        joined=FUNCTION_CLASSES,
        opposites=opposites,
        worth=Worth(weights / weights.sum(), often, PRICE, CAP),
        about=about,
        **SETTINGS,
    )
    seconds = time.perf_counter() - start
    is_content = ~np.isin(classes, FUNCTION_CLASSES)
    OUTPUT.mkdir(exist_ok=True)
    path = OUTPUT / f"{space.name}.families.tree"
    path.write_bytes(tree.to_bytes())
    machine.save(
        "ship_tree",
        {
            "space": space.digest,
            "tree": tree.digest,
            "bytes": path.stat().st_size,
            "nodes": [len(bound) - 1 for bound in tree.bounds],
            "smallest_group": int(tree.sizes(1).min()),
            "largest_group": int(tree.sizes(1).max()),
            "largest_share_of_content": round(
                largest_share(tree, often, is_content), 4
            ),
            "largest_share": round(largest_share(tree, often, often > 0), 4),
            "opposites": len(opposites),
            "seconds": round(seconds, 1),
        },
    )


if __name__ == "__main__":
    main()
