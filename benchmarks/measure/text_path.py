"""Measure everything around the mechanism: reading, cutting, looking up, joining.

- Microseconds a word of tokenizing, lookup and joining together, on one core, for long
  texts (reviews), for the very same ones cut into sentences, which is what shortness
  alone costs, and for tweets and queries, which are short and have other words, links
  and signs besides; the join is checked to be lossless.
- Words a second from CSV to CSV and from Parquet to Parquet with two jobs and with one,
  on the reviews and on four times as many, where what every process does once weighs
  less, and of a noise mechanism on tweets.
- One string through a warm ``Privatizer``; ``mondegreen --help``; the first word of a
  cold process.

Every figure is the median of several.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import mondegreen as mg
from benchmarks import machine
from mondegreen.text.detokenizer import Detokenizer
from mondegreen.text.lookup import Lookup
from mondegreen.text.tokenizer import tokenize

COMMAND = str(Path(sys.executable).with_name("mondegreen"))
TEXTS = {
    "reviews": ("imdb", "text"),
    "tweets": ("disaster_tweets", "text"),
    "reviews cut into sentences": ("imdb", "text"),
    "queries": ("nq_open_questions", "text"),
}
FILES = (
    ("calibrated", 1.7, "reviews", 1, ".parquet"),
    ("tem", 8, "reviews", 1, ".parquet"),
    ("tem", 8, "reviews", 1, ".csv"),
    ("tem", 8, "reviews", 4, ".parquet"),
    ("laplace", 10, "tweets", 1, ".parquet"),
)
"""Mechanism, epsilon, texts, how many times these, and the format."""
SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+")
SENTENCE = "My doctor in Boston found the cancer early."


def seconds_of(call: Callable[[], object]) -> float:
    """Wall seconds of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def median_of(call: Callable[[], object], repeats: int) -> float:
    """The median of the wall seconds of several calls."""
    return statistics.median(seconds_of(call) for _ in range(repeats))


def texts_of(name: str) -> list[str]:
    """All texts of one collection."""
    file, column = TEXTS[name]
    table = pq.read_table(machine.SHARED / f"{file}.parquet", columns=[column])
    texts = [text for text in table[column].to_pylist() if text]
    if name.endswith("sentences"):
        return [part for text in texts for part in SENTENCE_ENDS.split(text) if part]
    return texts


def text_path(space: mg.Space, texts: list[str]) -> dict[str, float]:
    """What the text path costs for some texts, on one core."""
    lookup, detokenizer = Lookup(space), Detokenizer(space.words, "lower")
    assert all(
        "".join(p) == t for p, t in zip(tokenize(texts).parts, texts, strict=True)
    )

    def pass_through() -> list[str | None]:
        tokens = tokenize(texts)
        codes = lookup.codes(tokens)
        codes[codes == space.vocab_size] = 0  # some word: nothing is drawn here
        return detokenizer.join(tokens, codes)

    released = pass_through()
    assert len(released) == len(texts)
    words = len(tokenize(texts).words())
    seconds = median_of(pass_through, 5)
    return {
        "texts": len(texts),
        "words": words,
        "words_a_text": round(words / len(texts), 1),
        "microseconds_a_word": round(seconds / words * 1e6, 3),
    }


def whole_way(space: mg.Space, texts: list[str]) -> float:
    """Microseconds a word through a warm Privatizer with tem, arrow to arrow."""
    privatizer = mg.Privatizer(mg.mechanism("tem", epsilon=8.0), space)
    batch = pa.record_batch({"text": texts})
    privatizer.arrow(batch)
    words = len(tokenize(texts).words())
    return round(median_of(lambda: privatizer.arrow(batch), 3) / words * 1e6, 3)


def command(path: Path, mechanism: str, epsilon: float, jobs: int) -> float:
    """Wall seconds of the command on a file, its output checked."""
    output = path.with_name(f"out{path.suffix}")
    arguments = ["privatize", path, "-o", output, "--column", "text", "-m", mechanism]
    arguments += ["--epsilon", epsilon, "--read", "none"]
    arguments += ["--jobs", jobs, "--quiet", "--force"]
    start = time.perf_counter()
    subprocess.run([COMMAND, *map(str, arguments)], check=True)
    seconds = time.perf_counter() - start
    read = pq.read_table if path.suffix == ".parquet" else pyarrow.csv.read_csv
    assert len(read(output)) == len(read(path))
    return seconds


def files(folder: Path) -> dict[str, dict[str, object]]:
    """Words a second of the command on files, with one job and with two."""
    results: dict[str, dict[str, object]] = {}
    for mechanism, epsilon, name, times, suffix in FILES:
        texts = texts_of(name) * times
        words = len(tokenize(texts).words())
        path = folder / f"{name}{suffix}"
        table = pa.table({"text": texts})
        if suffix == ".parquet":
            pq.write_table(table, path)
        else:
            pyarrow.csv.write_csv(table, path)
        # Side by side, so that a busy machine treats both alike.
        case = path, mechanism, epsilon
        pairs = [(command(*case, 1), command(*case, 2)) for _ in range(3)]
        one, two = (statistics.median(each) for each in zip(*pairs, strict=True))
        label = f"{mechanism} {epsilon:g}, {name}, {suffix[1:]}, {words:,} words"
        results[label] = {
            "one_job_words_per_second": round(words / one),
            "two_jobs_words_per_second": round(words / two),
            "two_jobs_over_one": round(one / two, 2),
        }
        print(label, results[label], flush=True)
    return results


def starts() -> dict[str, float]:
    """Seconds of what a user waits for: help, a first word, one string."""
    code = (
        "import mondegreen as mg; "
        "mg.Privatizer(mg.mechanism('tem', epsilon=8.0))('hello').text"
    )
    privatizer = mg.Privatizer(mg.mechanism("tem", epsilon=8.0))
    for _ in range(50):
        privatizer(SENTENCE)
    return {
        "help_seconds": round(
            median_of(
                lambda: subprocess.run([COMMAND, "--help"], check=True, stdout=-3), 9
            ),
            3,
        ),
        "first_word_seconds": round(
            median_of(lambda: subprocess.run([sys.executable, "-c", code]), 5), 3
        ),
        "one_string_milliseconds": round(
            median_of(lambda: privatizer(SENTENCE), 500) * 1e3, 3
        ),
    }


def main() -> None:
    """Measure everything and write the result file."""
    space = mg.load_space()
    result: dict[str, object] = {"starts": starts(), "texts": {}}
    for name in TEXTS:
        texts = texts_of(name)
        found: dict[str, float] = text_path(space, texts)
        found["tem_8_warm_microseconds_a_word"] = whole_way(space, texts)
        result["texts"][name] = found
        print(name, found, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        result["files"] = files(Path(folder))
    machine.save("text_path", result)


if __name__ == "__main__":
    main()
