"""Count, in openly licensed text, how each word is written: the input of the lexicon.

Writes ``case_counts.tsv``: word, and how often it is written small, with a capital
inside a sentence, with a capital as the first word of one, and in capitals.

    python packaging/policy/count_cases.py PUBLIC_TEXT_FOLDER
"""

import sys
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq

from mondegreen.text.sentences import sentence_ends
from mondegreen.text.tokenizer import canonical, tokenize

HERE = Path(__file__).parent
LEAST = 3  # a word that is rarer may be of one text alone


def kind(word: str, is_first: bool) -> int:
    if word.islower():
        return 0
    if len(word) > 1 and word.isupper():
        return 3
    return 2 if is_first else 1


def count(folder: str) -> list[Counter[str]]:
    found: list[Counter[str]] = [Counter() for _ in range(4)]
    for path in sorted(Path(folder).glob("*.parquet")):
        table = pq.read_table(path)
        columns = [
            f.name for f in table.schema if str(f.type) in ("string", "large_string")
        ]
        for column in columns:
            for text in table[column].to_pylist():
                parts = tokenize([text]).parts[0] if text else None
                if not parts:
                    continue
                words, firsts = parts[1::2], [True, *sentence_ends(parts[2::2])[:-1]]
                for word, is_first in zip(words, firsts, strict=True):
                    if word.isalpha():
                        found[kind(word, is_first)][canonical(word)] += 1
        sys.stderr.write(f"{path.stem} {sum(map(len, found))}\n")
    return found


def main() -> None:
    found = count(sys.argv[1])
    words = sorted(set().union(*found))
    rows = ((word, *(counts[word] for counts in found)) for word in words)
    kept = [row for row in rows if sum(row[1:]) >= LEAST]
    lines = ("\t".join(map(str, row)) + "\n" for row in kept)
    (HERE / "case_counts.tsv").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
