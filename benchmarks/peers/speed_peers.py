"""Time mondegreen and other packages side by side; write peers_speed.json.

Run by hand (a quarter of an hour): ``python -m benchmarks speed_peers``. Each
package is in an environment of its own (``--envs FOLDER`` keeps and reuses them) and
each measurement in a process of its own: ours, the peer, ours again, on the same words
of real reviews, the same vectors and the same epsilon, with one thread each. Every
process asserts that what it times is right before it starts the clock. Rows are stored
as they come: what is known is not measured again without ``--again``, and ``--minutes
M`` stops early, to be continued by the next call (exit code 75 while there is more to
do).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import mondegreen as mg
from benchmarks.machine import RESULTS, SHARED, save
from benchmarks.measure.privatize_imdb import watch
from benchmarks.measure.rates import machine_rates, search_alone, texts, tokens
from benchmarks.peers.environments import (
    ENVIRONMENTS,
    install,
    make_diffractor_home,
    write_vectors,
)

HERE: Final = Path(__file__).resolve().parent

UNFINISHED: Final = 75
PEER_SECONDS: Final = 8.0
OUR_SECONDS: Final = 1.5
LIMIT: Final = 240.0
EPSILON: Final = 10.0
WORDS: Final = 200_000
REVIEWS: Final = 1_000
THREADS: Final = {"1": {"OMP_NUM_THREADS": "1"}}

_M, _P, _D = ENVIRONMENTS
# package, mechanism, name in the package, its options, ours, our options, epsilon
JOBS: Final = [
    (_M, "CMP", "multivariate_calibrated", {}, "laplace", {}, EPSILON),
    (_M, "Vickrey", "vickrey", {}, "vickrey", {}, EPSILON),
    (_M, "Mahalanobis", "mahalanobis", {}, "mahalanobis", {}, EPSILON),
    (_M, "TEM", "tem", {}, "tem", {}, 2.5),
    # Defined above 34.7 alone, on these vectors; its distances are passed by hand.
    (_M, "Truncated Gumbel", "truncated_gumbel", {}, "truncated_gumbel", {}, 40.0),
    (_M, "SynTF", "syntf", {}, "syntf", {}, EPSILON),
    (_P, "CMP", "CMP", {}, "laplace", {}, EPSILON),
    (_P, "Vickrey", "VickreyCMP", {"t": 0.5}, "vickrey", {}, EPSILON),
    (_P, "Mahalanobis", "Mahalanobis", {"lam": 0.2}, "mahalanobis", {}, EPSILON),
    (_P, "TEM", "TEM", {"beta": 0.001}, "tem", {}, 2.5),
    (_P, "SanText", "SanText", {}, "exponential", {}, 2.5),
    (
        _P,
        "CusText, k 20",
        "CusText",
        {"k": 20, "distance": "euclidean"},
        "custext",
        {"k": 20},
        EPSILON,
    ),
    (_D, "geometric", "geometric", {"replace_stopwords": True}, None, {}, 1.0),
    (_D, "TEM", "TEM", {"replace_stopwords": True, "method": "TEM"}, None, {}, 1.0),
]


def main() -> int:
    """Install, measure what is missing, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--envs", type=Path, help="folder of environments to reuse")
    parser.add_argument("--again", action="store_true", help="repeat what is known")
    parser.add_argument("--minutes", type=float, help="stop after so many minutes")
    parser.add_argument("--only", help="substring of 'package mechanism'")
    options = parser.parse_args()
    end = time.monotonic() + 60 * (options.minutes or 1e6)
    result = {
        "question": "how fast are other packages on the same words and vectors?",
        "words": WORDS,
        "rows": [] if options.again else stored("rows"),
        "rooflines": [] if options.again else stored("rooflines"),
    }
    known = {(r["package"], r["mechanism"], r["threads"]) for r in result["rows"]}
    missing = [
        (job, threads)
        for threads in THREADS
        for job in JOBS
        if (job[0], job[1], threads) not in known
        and (options.only or "") in f"{job[0]} {job[1]}"
    ]
    with tempfile.TemporaryDirectory() as folder:
        envs = options.envs or Path(folder) / "envs"
        pythons, problems = install(envs)
        material = Material(Path(folder)) if missing else None
        for done, (job, threads) in enumerate(missing):
            if time.monotonic() > end:
                print(f"{len(missing) - done} rows are left", file=sys.stderr)
                return UNFINISHED
            result["rows"].append(compare(job, threads, pythons, problems, material))
            result["rooflines"].append(material.roofline())
            save("peers_speed", result)
    return 0


def stored(part: str) -> list[dict]:
    """What earlier runs found; rows with an error are measured again."""
    try:
        content = json.loads((RESULTS / "peers_speed.json").read_text())
    except FileNotFoundError:
        return []
    return [row for row in content[part] if "error" not in row]


class Material:
    """The words, texts and vectors that every process gets, as files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.space = mg.load_space()
        reviews = texts(REVIEWS)
        self.ids = tokens(self.space, reviews)[:WORDS]
        words = [self.space.words[i] for i in self.ids]
        (folder / "words.txt").write_text("\n".join(words))
        (folder / "texts.json").write_text(json.dumps(reviews))
        write_vectors(folder, "glove", self.space.words, self.space.vectors)
        self.diffractor = make_diffractor_home(folder, folder / "glove.headed")
        self._unpack_wordnet(folder / "nltk_data" / "corpora")
        self.environment = {
            "PEERS_HEADED": str(folder / "glove.headed"),
            "PEERS_HEADLESS": str(folder / "glove.headless"),
            "PYTHONWARNINGS": "ignore",
            "NLTK_DATA": self.diffractor["NLTK_DATA"],
        }

    def _unpack_wordnet(self, folder: Path) -> None:
        archive = SHARED / "wordnet" / "wordnet30_dict.tar.xz"
        subprocess.run(["tar", "-xf", archive, "-C", folder], check=True)

    def roofline(self) -> dict[str, float]:
        """The rates of the machine, and exact search with all threads, now."""
        found = machine_rates()
        alone = round(search_alone(self.space, self.ids, 0.7))
        return {**found, "search_alone_per_second": alone}


def compare(
    job: tuple, threads: str, pythons: dict, problems: dict, material: Material
) -> dict:
    """Measure ours, the peer, ours again."""
    package, mechanism, target, options, own, own_options, epsilon = job
    row = {
        "package": package,
        "version": ENVIRONMENTS[package][0],
        "mechanism": mechanism,
        "ours": own,
        "epsilon": epsilon,
        "threads": threads,
    }
    if package in problems:
        return {**row, "error": problems[package]}
    peer = {
        "package": package,
        "mechanism": mechanism,
        "target": target,
        "options": options,
        "epsilon": epsilon,
        "seconds": PEER_SECONDS,
        **particulars(package, mechanism, material),
    }
    mine = {
        "package": "mondegreen",
        "mechanism": own,
        "options": own_options,
        "epsilon": epsilon,
        "seconds": OUR_SECONDS,
    }
    try:
        runs = [run(mine, sys.executable, threads, material)] if own else []
        row["peer"] = run(peer, pythons[package], threads, material)
        if own:
            runs.append(run(mine, sys.executable, threads, material))
    except RuntimeError as error:
        return {**row, "error": str(error)}
    if own:
        row["mondegreen"] = {
            key: statistics.mean(run[key] for run in runs) for key in runs[0]
        }
        row["both_runs"] = [run["words_per_second"] for run in runs]
    print(f"{package} {mechanism}, {threads}: {row['peer']}", file=sys.stderr)
    return row


def particulars(package: str, mechanism: str, material: Material) -> dict:
    """What one package or mechanism needs besides, or is forgiven."""
    if package == "dp-diffractor":  # splits "cannot", joins "gon na"
        return {"miscounted": 0.02}
    if package == "pypantera":
        # Its loader loses words at the border of two processes; 11 hold white space.
        return {"least_vocabulary": material.space.vocab_size - 20}
    if mechanism == "Truncated Gumbel":
        scale = material.space.geometry
        distances = {"min_inter_dist": scale.closest, "max_inter_dist": scale.diameter}
        return {"options": distances}
    if mechanism == "SynTF":  # words of the texts without a synonym come out as such
        return {"outside": 1.0}
    return {}


def run(job: dict, python: str, threads: str, material: Material) -> dict:
    """Run the worker in a process of its own; return what it found, and its peak."""
    folder = material.folder
    job = {
        **job,
        "words": str(folder / "words.txt"),
        "texts": str(folder / "texts.json"),
        "out": str(folder / "out.json"),
    }
    environment = {**os.environ, **material.environment, **THREADS[threads]}
    if job["package"] == "dp-diffractor":
        environment |= material.diffractor
    Path(job["out"]).unlink(missing_ok=True)
    job["started"] = time.monotonic()
    (folder / "job.json").write_text(json.dumps(job))
    with (folder / "errors.txt").open("w+") as errors:
        process = subprocess.Popen(
            [python, str(HERE / "speed_worker.py"), str(folder / "job.json")],
            env=environment,
            cwd=HERE,
            stderr=errors,
        )
        peak = watch(process, LIMIT)
        errors.seek(0)
        if process.returncode != 0:
            last = errors.read().strip().splitlines()[-1:]
            raise RuntimeError(f"exit code {process.returncode}: {' '.join(last)}")
    return {**json.loads(Path(job["out"]).read_text()), "peak_mib": round(peak)}


if __name__ == "__main__":
    sys.exit(main())
