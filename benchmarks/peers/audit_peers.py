"""Audit other packages, each in an environment of its own; write peers_audit.json.

Run by hand (some minutes): ``python -m benchmarks audit_peers``. The packages
come from the package index into temporary environments; ``--envs FOLDER`` keeps and
reuses them. They run on small shared vocabularies, so that pairs are near enough for
what they are allowed to lose to be within reach of a statistical audit. The result
says which mechanisms could not be run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import numpy as np

import mondegreen as mg
from benchmarks.machine import RESULTS, save
from benchmarks.peers.environments import (
    DIFFRACTOR_MODEL,
    ENVIRONMENTS,
    install,
    make_diffractor_home,
    write_vectors,
)
from mondegreen.audit.target import audit_target
from mondegreen.errors import MondegreenError
from mondegreen.space.space import Space

HERE: Final = Path(__file__).resolve().parent

ALPHA: Final = 1e-4
RUNS: Final = 4000
OTHER_RUNS: Final = {"steps": 1600, "cross": 60_000}
"""dp-diffractor takes milliseconds a call; 12 words take little time."""
LAMBDA: Final = 0.2

# package, mechanism, target, space, epsilon, factor of the claim, metric, note
EUCLIDEAN: Final = 1 / np.sqrt(1 - LAMBDA)
_M, _P, _D = ENVIRONMENTS
JOBS: Final = [
    (_M, "CMP", "targets_mldp:cmp", "plane", 2.0, 1, None),
    (_M, "Vickrey", "targets_mldp:vickrey", "plane", 2.0, 1, None),
    (_M, "Vickrey, exact search", "targets_mldp:vickrey_exact", "twins", 1.0, 1, None),
    (_M, "Mahalanobis", "targets_mldp:mahalanobis", "plane", 2.0, EUCLIDEAN, None),
    (_M, "Truncated Gumbel", "targets_mldp:truncated_gumbel", "plane", 2.0, 1, None),
    (_M, "TEM", "targets_mldp:tem", "plane", 2.0, 1, None),
    (_M, "TEM", "targets_mldp:tem", "crowd", 10.0, 1, None),
    (_P, "CMP", "targets_pypantera:cmp", "plane", 2.0, 1, None),
    (_P, "Vickrey", "targets_pypantera:vickrey", "plane", 2.0, 1, None),
    (_P, "Mahalanobis", "targets_pypantera:mahalanobis", "plane", 0.3, EUCLIDEAN, None),
    (
        _P,
        "Mahalanobis, 0.9",
        "targets_pypantera:mahalanobis_long",
        "cross",
        0.3,
        1,
        None,
    ),
    (_P, "TEM", "targets_pypantera:tem", "plane", 10.0, 1, None),
    (_P, "TEM", "targets_pypantera:tem", "glove", 10.0, 1, None),
    (_P, "TEM, beta 0.5", "targets_pypantera:tem_wide", "plane", 6.0, 1, None),
    (_P, "SanText", "targets_pypantera:santext", "plane", 2.0, 1, None),
    (_P, "CusText, k 20", "targets_pypantera:custext", "plane", 2.0, 1, "discrete"),
    (_D, "default", "targets_diffractor:default", "steps", 1.0, 1, None),
    (_D, "geometric", "targets_diffractor:geometric", "steps", 1.0, 1, None),
    (_D, "TEM", "targets_diffractor:tem", "steps", 1.0, 1, None),
    (_D, "method 'laplace'", "targets_diffractor:misspelt", "steps", 1.0, 1, None),
]


def main() -> int:
    """Install, audit, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--envs", type=Path, help="folder of environments to reuse")
    parser.add_argument("--again", action="store_true", help="repeat what is known")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        envs = options.envs or Path(folder) / "envs"
        pythons, problems = install(envs)
        spaces = make_spaces(Path(folder), pythons)
        result = {
            "question": "do other packages keep their claims on small vocabularies?",
            "false_alarm_rate_of_one_audit": ALPHA,
            "audits": [],
        }
        known = {} if options.again else stored()
        for job in JOBS:  # saved each time: an audit may take minutes
            found = known.get(job) or audit(job, pythons, spaces, problems)
            result["audits"].append(found)
            save("peers_audit", result)
    return 0


def stored() -> dict[tuple, dict]:
    """The audits of an earlier run that went through, by job."""
    try:
        content = json.loads((RESULTS / "peers_audit.json").read_text())
    except FileNotFoundError:
        return {}
    rows = {
        tuple(row[key] for key in ("package", "mechanism", "space", "epsilon")): row
        for row in content["audits"]
        if "error" not in row
    }
    keys = {job: (job[0], job[1], job[3], job[4]) for job in JOBS}
    return {job: rows[key] for job, key in keys.items() if key in rows}


def make_spaces(folder: Path, pythons: dict[str, str]) -> dict[str, Space]:
    """Make the shared vocabularies, and the files that the packages read."""
    whole = mg.load_space()
    plain = [
        i for i, w in enumerate(whole.words[:4000]) if re.fullmatch("[a-z]{3,}", w)
    ]
    ids = np.array(plain)[np.linspace(0, len(plain) - 1, 150).astype(int)]
    words = [whole.words[i] for i in ids]
    vectors = whole.vectors[ids].astype(np.float64)
    centred = vectors - vectors.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    plane = centred @ axes[:2].T
    rng = np.random.default_rng(0)
    near = rng.uniform(-0.002, 0.002, size=(300, 2)) + np.array([2.51, 0.0])
    crowd = np.concatenate([np.array([[0, 0], [0.02, 0]]), near])
    cross = np.random.default_rng(2).normal(size=(12, 2)) * [6.0, 0.4]
    made = {
        "plane": (words, plane),
        # Read by the package as it is; the claim is in its Mahalanobis distance, which
        # is Euclidean after whitening.
        "twins": (
            ["w", "b", "c", "d", "e"],
            [[0.0], [1.0], [-1.0], [1.0001], [-1.0001]],
        ),
        "cross": ([f"x{i}" for i in range(12)], cross),
        "glove": (words, vectors),
        "crowd": (["w", "v", *(f"c{i}" for i in range(300))], crowd),
    }
    spaces = {}
    for name, (names, points) in made.items():
        spaces[name] = Space.from_arrays(name, names, points)
        write_vectors(folder, name, names, spaces[name].vectors)
        os.environ[f"PEERS_{name}"] = str(folder / name)
    spaces["cross"] = whitened(spaces["cross"], 0.9)
    with contextlib.suppress(KeyError, subprocess.CalledProcessError):
        spaces["steps"] = steps_of(folder, spaces["glove"], pythons["dp-diffractor"])
    return spaces


def whitened(space: Space, share: float) -> Space:
    """A space in which Euclidean distance is Mahalanobis distance."""
    points = space.vectors.astype(np.float64)
    covariance = np.cov(points.T, ddof=0) / points.var(axis=0).mean()
    matrix = share * covariance + (1 - share) * np.eye(space.dim)
    white = np.linalg.inv(np.linalg.cholesky(matrix))
    return Space.from_arrays(f"{space.name}, whitened", space.words, points @ white.T)


def steps_of(folder: Path, space: Space, python: str) -> Space:
    """The list of dp-diffractor as a space; its claim is per step."""
    made = make_diffractor_home(folder, folder / "glove.headed")
    os.environ["PEERS_HOME"] = made.pop("HOME")  # for that package alone
    os.environ.update(made)
    home = Path(os.environ["PEERS_HOME"])
    vectors = home / ".cache" / "diffractor" / f"{DIFFRACTOR_MODEL}.txt"
    code = (
        "import json, sys; from diffractor.utils import EmbeddingManager; "
        "lists = EmbeddingManager([sys.argv[1]]).lists; print(json.dumps(lists[0]))"
    )
    done = subprocess.run(
        [python, "-c", code, str(vectors)],
        check=True,
        capture_output=True,
        text=True,
    )
    order = json.loads(done.stdout.splitlines()[-1])
    return Space.from_arrays("steps", order, [[float(i)] for i in range(len(order))])


def audit(
    job: tuple, pythons: dict[str, str], spaces: dict[str, Space], problems: dict
) -> dict:
    """Run one audit; what cannot be run is reported as such."""
    package, mechanism, target, name, epsilon, factor, metric = job
    row = {
        "package": package,
        "version": ENVIRONMENTS[package][0],
        "mechanism": mechanism,
        "space": name,
        "epsilon": epsilon,
    }
    if package in problems or name not in spaces:
        return {**row, "error": problems.get(package, f"no space {name}")}
    place = Path(os.environ.get(f"PEERS_{name}", os.environ["PEERS_glove"]))
    settings = {
        "PEERS_EPSILON": str(epsilon),
        "PEERS_HEADED": f"{place}.headed",
        "PEERS_HEADLESS": f"{place}.headless",
        "PYTHONWARNINGS": "ignore",
        "OMP_NUM_THREADS": "1",
    }
    if name == "steps":
        settings["HOME"] = os.environ["PEERS_HOME"]
    before = dict(os.environ)
    os.environ.update(settings)
    started = time.perf_counter()
    try:
        with contextlib.chdir(HERE):
            report = audit_target(
                target,
                spaces[name],
                epsilon * factor,
                metric=metric,
                runs=OTHER_RUNS.get(name, RUNS),
                pairs=11 if name == "steps" else 19,
                alpha=ALPHA,
                seed=0,
                python=pythons[package],
                timeout=120,
            )
    except MondegreenError as error:
        return {**row, "error": str(error)}
    finally:
        os.environ.clear()
        os.environ.update(before)
    seconds = round(time.perf_counter() - started, 1)
    print(f"{package} {mechanism}: {report.verdict} ({seconds} s)", file=sys.stderr)
    return {**row, "seconds": seconds, "report": report.to_dict()}


if __name__ == "__main__":
    sys.exit(main())
