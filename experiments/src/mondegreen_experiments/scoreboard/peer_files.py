"""Files that other packages read: word vectors as text, and a few tables of NLTK."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

DIFFRACTOR_MODEL: Final = "glove-wiki-gigaword-300"
"""It opens files in its cache under names of its own only; this is one of them."""


def write_vectors(
    folder: Path,
    name: str,
    words: Sequence[str],
    vectors: NDArray[np.floating],
) -> None:
    """Write word vectors as text, ``.headed`` with a first line of counts, and not.

    Without a header words that hold white space are left out: the package that reads
    such files splits lines at every kind of it.
    """
    lines = [
        f"{word} " + " ".join(f"{x!r}" for x in map(float, row))
        for word, row in zip(words, vectors, strict=True)
    ]
    head = f"{len(words)} {vectors.shape[1]}"
    plain = [
        line
        for word, line in zip(words, lines, strict=True)
        if not re.search(r"\s", word)
    ]
    (folder / f"{name}.headed").write_text("\n".join([head, *lines]) + "\n", "utf-8")
    (folder / f"{name}.headless").write_text("\n".join(plain) + "\n", "utf-8")


def make_diffractor_home(folder: Path, headed: Path) -> dict[str, str]:
    """Put vectors where dp-diffractor looks for them; return its environment."""
    cache = folder / "home" / ".cache" / "diffractor"
    cache.mkdir(parents=True)
    (cache / f"{DIFFRACTOR_MODEL}.txt").write_text(headed.read_text("utf-8"), "utf-8")
    make_nltk_data(folder / "nltk_data")
    return name_diffractor_files(folder)


def name_diffractor_files(folder: Path) -> dict[str, str]:
    """Give the variables by which dp-diffractor and its worker find their files."""
    return {
        "HOME": str(folder / "home"),
        "PEERS_MODEL": DIFFRACTOR_MODEL,
        "NLTK_DATA": str(folder / "nltk_data"),
    }


def make_nltk_data(folder: Path) -> Path:
    """Write the tables that the tokenizer asks for, empty, and a few stop words."""
    punkt = folder / "tokenizers" / "punkt_tab" / "english"
    punkt.mkdir(parents=True)
    for name in ("collocations.tab", "sent_starters.txt", "abbrev_types.txt"):
        (punkt / name).write_text("")
    (punkt / "ortho_context.tab").write_text("")
    words = folder / "corpora" / "stopwords"
    words.mkdir(parents=True)
    (words / "english").write_text("\n".join(_STOPWORDS) + "\n")
    return folder


_STOPWORDS: Final = (
    "i me my we our you your he him his she her it its they them their what which who "
    "this that these those am is are was were be been being have has had do does did a "
    "an the and but if or because as until while of at by for with about against "
    "between into through during before after above below to from up down in out on "
    "off over under again further then once here there when where why how all any both "
    "each few more most other some such no nor not only own same so than too very can "
    "will just don should now"
).split()
