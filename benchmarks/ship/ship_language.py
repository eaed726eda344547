"""Write the language model that ships, and how words are written inside sentences.

    python -m benchmarks ship_language

From the openly licensed English of ``public_text`` (see NOTICE), in half a minute each.
No text ships: no word, pair or triple that stands there fewer than 3 times, and no
spelling of a word that stands fewer than 5 times inside a sentence.
"""

from __future__ import annotations

import resource
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

import mondegreen as mg
from benchmarks import machine
from mondegreen.language.build import build_language
from mondegreen.language.store import DEFAULT, save_language
from mondegreen.text.tokenizer import APOSTROPHES, canonical, tokenize

LEAST = 3
MID_SENTENCE = 5
CASES = Path(mg.__file__).parent / "text" / "data" / "cases.txt"
REVIEWED = Path(__file__).parents[2] / "packaging" / "policy" / "print_forms.tsv"
# Gaps behind which a word is written as it is inside a sentence.
INSIDE = frozenset({" ", ", ", "-", " (", "; "})
SOURCES = {
    "childrens_stories": ("African Storybook and Pratham Books", "CC BY 4.0"),
    "common_voice_sentences": ("Common Voice sentences", "CC0 1.0"),
    "gsm8k_word_problems": ("GSM8K, OpenAI", "MIT"),
    "medquad_health_qa": ("MedQuAD, National Institutes of Health", "CC BY 4.0"),
    "openstax_textbooks": ("OpenStax textbooks", "CC BY 4.0"),
    "recipes": ("based.cooking, public-domain-recipes", "Unlicense"),
    "standard_ebooks_pd_worldwide": ("Standard Ebooks", "CC0 1.0"),
    "state_of_union_speeches": ("State of the Union, inaugurals", "public domain"),
    "taskmaster4_dialogues": ("Taskmaster-4, Google", "CC BY 4.0"),
    "us_government_web": ("Texts of the United States government", "CC0 1.0"),
    "world_factbook": ("The World Factbook", "CC0 1.0"),
}


def batches() -> Iterator[list[str]]:
    """Read all texts; a file that is not listed above stops the work."""
    paths = sorted((machine.SHARED / "public_text").glob("*.parquet"))
    if {path.stem for path in paths} != SOURCES.keys():
        raise SystemExit("public_text has other files than SOURCES says")
    for path in paths:
        for batch in pq.ParquetFile(path).iter_batches(4096, columns=["text"]):
            yield batch.column("text").to_pylist()


def spellings(texts: Iterator[list[str]]) -> Counter[str]:
    """How often each word is written how inside a sentence."""
    counts: Counter[str] = Counter()
    for chunk in texts:
        for parts in tokenize(chunk).parts:
            words = zip(parts[3::2], parts[2:-1:2], strict=True)
            counts.update(word for word, gap in words if gap in INSIDE)
    return counts


def cases(counts: Counter[str], known: frozenset[str]) -> list[str]:
    """Words that are mostly not written small, each with its usual spelling."""
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for spelling, count in counts.items():
        word = canonical(spelling)
        if word in known and not any(sign in spelling for sign in APOSTROPHES):
            forms[word][spelling] += count
    lines = []
    for word, found in sorted(forms.items()):
        total, small = found.total(), found.pop(word, 0)
        usual = max(sorted(found), key=found.__getitem__, default=word)
        if total >= MID_SENTENCE and 2 * small < total and usual.lower() == word:
            lines.append(f"{word}\t{usual}")
    return lines


def review(lines: list[str]) -> list[str]:
    """Correct spellings by the reviewed list: word, spelling, reason."""
    forms = dict(line.split("\t") for line in lines)
    for row in REVIEWED.read_text(encoding="utf-8").splitlines():
        word, spelling, _ = row.split("\t")
        forms[word] = spelling
    return [f"{w}\t{form}" for w, form in sorted(forms.items()) if w != form]


def main() -> None:
    """Write both files and what it took."""
    space, start = mg.load_space(), time.perf_counter()
    model = build_language(
        batches(),
        space,
        least=LEAST,
        sources=[f"{source} ({licence})" for source, licence in SOURCES.values()],
        licences=sorted({licence for _, licence in SOURCES.values()}),
    )
    save_language(model, DEFAULT, force=True)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    lines = review(cases(spellings(batches()), frozenset(space.words)))
    CASES.write_text("\n".join(lines) + "\n", encoding="utf-8")
    machine.save(
        "ship_language",
        {
            "digest": model.digest,
            "words": model.about.words,
            "sentences": model.about.sentences,
            "least": LEAST,
            "pairs": len(model.pair_words),
            "triples": len(model.triple_words),
            "bytes": DEFAULT.stat().st_size,
            "build_seconds": round(seconds, 1),
            "peak_megabytes": peak // 1024,
            "words_with_a_case": len(lines),
        },
    )


if __name__ == "__main__":
    main()
