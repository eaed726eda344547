"""Print 300 sentences of the development sets as a policy releases them, to be read.

    python packaging/policy/read_sentences.py DATA_FOLDER [POLICY]

The sentences are the same in each run, the surrogates are not. A changed word is shown
as ``word→surrogate``. The sets may not be published, so nothing is written.
"""

import re
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

import mondegreen as mg

SEED, EPSILON = 7, 12.0
BREAK = re.compile("<br */?>")
END = re.compile(r"(?<=[.!?])\s+")


def read(folder: Path, name: str) -> list[str]:
    """The texts of the training part of a set, or of all of it if it has none."""
    table = pq.read_table(folder / f"{name}.parquet")
    texts: list[str] = table["text"].to_pylist()
    if "split" not in table.schema.names:
        return texts
    splits = table["split"].to_pylist()
    return [t for t, split in zip(texts, splits, strict=True) if split == "train"]


def cut(texts: list[str]) -> list[str]:
    """The sentences of texts, without the shortest and the longest."""
    pieces = (piece for text in texts for piece in END.split(BREAK.sub(" ", text)))
    return [piece.strip() for piece in pieces if 40 < len(piece.strip()) < 170]


def choose(folder: Path) -> list[str]:
    """Choose 90 sentences on films, 80 on news, 60 tweets, 50 with personal data."""
    personal = [*read(folder, "private_text/presidio_synthetic")]
    personal += read(folder, "private_text/llm_redactor")
    questions = read(folder, "private_text/banking77")
    questions += read(folder, "private_text/clinc150")
    sets = (
        (90, cut(read(folder, "imdb")[:3000])),
        (80, [text for text in read(folder, "ag_news") if len(text) < 190]),
        (60, [text for text in read(folder, "disaster_tweets") if len(text) > 40]),
        (50, [text for text in personal if 30 < len(text) < 200]),
        (20, questions),
    )
    rng, found = np.random.default_rng(SEED), []
    for count, texts in sets:
        places = rng.choice(len(texts), count, replace=False).tolist()
        found += [" ".join(texts[place].split()) for place in places]
    return found


def mark(before: str, after: str) -> str:
    """Show what became of each word; both texts if their words do not pair."""
    olds, news = before.split(), after.split()
    if len(olds) != len(news):
        return f"{before}\n    => {after}"
    pairs = zip(olds, news, strict=True)
    return " ".join(old if old == new else f"{old}→{new}" for old, new in pairs)


def main() -> None:
    folder, policy = Path(sys.argv[1]), (*sys.argv[2:], "sensitive")[0]
    texts = choose(folder)
    for i, (before, after) in enumerate(
        zip(texts, mg.privatize(texts, policy=policy, epsilon=EPSILON), strict=True)
    ):
        sys.stdout.write(f"{i} {mark(before, str(after))}\n")


if __name__ == "__main__":
    main()
