"""Measure how time and memory grow; write growth.json.

Run by hand (half an hour): ``python -m benchmarks growth``. For every mechanism, words
a second, seconds to the first word and peak memory, by words of the vocabulary,
dimension, words of a batch, words of a text, threads and processes. Every measurement
is a process of its own, killed after a limit; a larger vocabulary is then not tried.
Results are stored as they come: what is known is not measured again without
``--again``, and ``--minutes M`` stops early, to be continued by the next call (exit
code 75 while there is more to do). ``--spaces FOLDER`` keeps the spaces.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from benchmarks import machine
from benchmarks.measure.growth_spaces import SPACES, space_file
from benchmarks.measure.privatize_imdb import watch
from benchmarks.measure.rates import machine_rates
from mondegreen import load_space
from mondegreen.errors import SpaceError
from mondegreen.space.file import read_header

UNFINISHED: Final = 75
SECONDS: Final = 0.5
LIMIT: Final = 180.0
WORKER: Final = "benchmarks.measure.growth_point"
CHAIN: Final = ("glove-10k", "glove-34k", "w2v-102k", "w2v-400k")
DIMENSIONS: Final = ("w2v-34k-50d", "w2v-34k-100d", "w2v-34k-300d")
EUCLIDEAN: Final = (*CHAIN, *DIMENSIONS)

# mechanism: epsilon on the embedded space, or a rule; spaces
MECHANISMS: Final = {
    "laplace": (10.0, EUCLIDEAN),
    "vickrey": (10.0, EUCLIDEAN),
    "mahalanobis": (10.0, EUCLIDEAN),
    "tem": (2.5, EUCLIDEAN),
    "exponential": (2.5, EUCLIDEAN),
    "calibrated": (2.5, EUCLIDEAN),
    "tight": (2.5, EUCLIDEAN),
    "syntf": ("nats", EUCLIDEAN),
    "brr": ("bits", ("glove-10k", "glove-34k")),
    "hyperbolic": ("ball", ("mammals", "mammals-10k")),
    "vickrey_literal": (10.0, EUCLIDEAN),
    "truncated_gumbel": ("smallest", EUCLIDEAN),
    "santext_plus": ("nats", EUCLIDEAN),
    "custext": ("nats", EUCLIDEAN),
    "tree": ("nats", ("glove-34k",)),  # a tree is built with the space, beforehand
}


def main() -> int:
    """Measure what is missing, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--again", action="store_true", help="repeat what is known")
    parser.add_argument("--minutes", type=float, help="stop after so many minutes")
    parser.add_argument("--spaces", type=Path, help="folder of spaces to reuse")
    parser.add_argument("--only", help="name of a mechanism")
    options = parser.parse_args()
    end = time.monotonic() + 60 * (options.minutes or 1e6)
    points = {} if options.again else stored()
    jobs = [job for job in plan() if options.only in (None, job[0])]
    missing = [job for job in jobs if "|".join(job) not in points]
    with tempfile.TemporaryDirectory() as folder:
        spaces = options.spaces or Path(folder)
        for done, job in enumerate(missing):
            if time.monotonic() > end:
                print(f"{len(missing) - done} points are left", file=sys.stderr)
                return UNFINISHED
            found = hopeless(job, points) or measure(job, spaces, Path(folder))
            points["|".join(job)] = found
            print(f"{job}: {found}", file=sys.stderr)
            result = {
                "question": "how do rates, start-up and memory grow?",
                "spaces": {n: {"words": w, "dim": d} for n, (w, d) in SPACES.items()},
                "limit_seconds": LIMIT,
                "roofline": machine_rates(0.2),
                "points": points,
            }
            machine.save("growth", result)
    return 0


def plan() -> list[tuple[str, str, str]]:
    """Mechanism, space and threads of every point, small ones first."""
    jobs = [
        (name, space, "default")
        for name, (_, spaces) in MECHANISMS.items()
        for space in spaces
    ]
    jobs += [
        (name, "mammals-10k" if name == "hyperbolic" else "glove-34k", "1")
        for name, (_, where) in MECHANISMS.items()
    ]
    return sorted(jobs, key=lambda job: SPACES[job[1]][0] * SPACES[job[1]][1])


def stored() -> dict[str, dict]:
    """The points of earlier runs; after most errors they are measured again."""
    try:
        known = json.loads((machine.RESULTS / "growth.json").read_text())["points"]
    except FileNotFoundError:
        return {}
    final = ("limit", "epsilon must", "not tried")  # what no second try would change
    return {
        key: point
        for key, point in known.items()
        if any(each in point.get("error", final[0]) for each in final)
        and ("jobs" in point or not key.endswith("|1"))
    }


def hopeless(job: tuple[str, str, str], points: dict[str, dict]) -> dict | None:
    """Say so where a smaller vocabulary already took too long."""
    name, space, threads = job
    if space not in CHAIN:
        return None
    for smaller in CHAIN[: CHAIN.index(space)]:
        if "limit" in points.get(f"{name}|{smaller}|{threads}", {}).get("error", ""):
            return {"error": f"not tried: {smaller} reached the limit"}
    return None


def measure(job: tuple[str, str, str], spaces: Path, folder: Path) -> dict:
    """Measure one point in a process of its own."""
    name, space, threads = job
    # The embedded space as users get it: with the codes that the package carries.
    path = None if space == "glove-34k" else space_file(spaces, space)
    try:
        least = epsilon(name, path)
    except SpaceError:  # only estimated, like that of the synthetic points
        return {"error": "not tried: the smallest distance is not known"}
    work = {
        "mechanism": name,
        "parameters": {"epsilon": least},
        "space": path and str(path),
        "seconds": SECONDS,
        "detailed": space in ("glove-34k", "mammals-10k") and threads,
        "out": str(folder / "out.json"),
        "started": time.monotonic(),
    }
    (folder / "out.json").unlink(missing_ok=True)
    (folder / "job.json").write_text(json.dumps(work))
    settings = {"OMP_NUM_THREADS": "1"} if threads == "1" else {}
    with (folder / "errors.txt").open("w+") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", WORKER, str(folder / "job.json")],
            env={**os.environ, **settings},
            cwd=machine.ROOT,
            stderr=errors,
        )
        peak = watch(process, LIMIT)
        errors.seek(0)
        last = " ".join(errors.read().strip().splitlines()[-1:])
    if process.returncode < 0:
        return {"error": f"limit of {LIMIT:g} s"}
    if process.returncode:
        return {"error": last}
    found = json.loads((folder / "out.json").read_text())
    return {"parameters": work["parameters"], **found, "peak_mib": round(peak)}


def epsilon(name: str, path: Path | None) -> float:
    """The epsilon that is to a space what ours is to the embedded one.

    Distances differ in scale, so epsilons are equal per median distance from a word to
    its nearest; truncated Gumbel takes the least that it accepts, and a bit.
    """
    rule = MECHANISMS[name][0]
    fixed = {"nats": 10.0, "bits": 1.0, "ball": 20.0}
    if rule in fixed:
        return fixed[rule]
    here = load_space().geometry
    scale = here if path is None else read_header(path).geometry
    if rule == "smallest":
        from mondegreen.mechanisms import mechanism_class

        space = load_space(*([] if path is None else [path]))
        return 1.15 * mechanism_class(name)(epsilon=1.0).smallest_epsilon(space)
    return rule * here.nearest / scale.nearest


if __name__ == "__main__":
    sys.exit(main())
