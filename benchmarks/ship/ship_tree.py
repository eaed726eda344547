"""Build the word tree that ships with the default space; writes it and its facts.

Needs the WordNet 3.0 database of shared/data. Everything it is made from is public:
GloVe vectors and their order (a proxy of frequency), WordNet lemmas, counts of senses,
exceptions and antonyms, and the closed classes of mondegreen.space.word_classes.

    python -m benchmarks ship_tree

Writes src/mondegreen/space/data/trees/ and benchmarks/results/ship_tree.json; put the
digest into mondegreen.space.store.
"""

from __future__ import annotations

import tarfile
import tempfile
import time
from pathlib import Path

import mondegreen as mg
from benchmarks import machine
from mondegreen.space.tree_build import build_tree
from mondegreen.space.word_classes import FUNCTION_CLASSES, WordNet, word_classes

OUTPUT = Path(mg.__file__).parent / "space" / "data" / "trees"
SETTINGS = {"leaf": 22, "branch": 16, "frequency": 0.3, "contrast": 0.7}


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
        pairs = [(space.id_of(a), space.id_of(b)) for a, b in wordnet.antonyms()]
    known = [pair for pair in pairs if max(pair) < space.vocab_size]
    return list(classes), known


def main() -> None:
    """Build, save, report."""
    space = mg.load_space()
    start = time.perf_counter()
    classes, opposites = lists(space)
    about = {
        "source": "GloVe vectors and order; WordNet 3.0 classes and antonyms",
        **{key: str(value) for key, value in SETTINGS.items()},
    }
    tree = build_tree(
        space,
        classes=classes,
        joined=FUNCTION_CLASSES,
        opposites=opposites,
        about=about,
        **SETTINGS,
    )
    seconds = time.perf_counter() - start
    OUTPUT.mkdir(exist_ok=True)
    path = OUTPUT / f"{space.name}.tree"
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
            "opposites": len(opposites),
            "seconds": round(seconds, 1),
        },
    )


if __name__ == "__main__":
    main()
