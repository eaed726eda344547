"""How long `mondegreen calibrate` takes: 8 epsilons of 4 mechanisms, nothing kept.

On the disaster tweets, quick and in full, with a fresh cache each time; certificates
of settings that are not shipped are computed in it. Ten minutes; writes
benchmarks/results/calibrating.json. Run it on an idle machine.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import machine

PROGRAM = str(Path(sys.executable).with_name("mondegreen"))
MECHANISMS = ("calibrated", "tem", "laplace", "vickrey:t=0.5")


def timed(*options: str) -> dict[str, object]:
    """Run the command once; return seconds, memory, and how much it measured."""
    named = [part for name in MECHANISMS for part in ("-m", name)]
    sample = str(machine.SHARED / "disaster_tweets.parquet")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as home:
        start = time.perf_counter()
        done = subprocess.run(
            [PROGRAM, "calibrate", sample, *named, *options, "--json", "--quiet"],
            env={**os.environ, "MONDEGREEN_HOME": home},
            check=True,
            capture_output=True,
            text=True,
        )
        wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    curves: dict[str, int] = {}
    for row in json.loads(done.stdout)["curves"]:
        curves[row["mechanism"]] = curves.get(row["mechanism"], 0) + 1
    assert curves == dict.fromkeys(curves, 8), curves
    assert len(curves) == len(MECHANISMS), curves
    return {
        "seconds": wall,
        "processor_seconds": after.ru_utime - before.ru_utime,
        "peak_megabytes": after.ru_maxrss / 1024,  # the largest of all runs so far
        "epsilons": curves,
    }


def main() -> None:
    """Time both, and write."""
    result: dict[str, object] = {"mechanisms": list(MECHANISMS)}
    result["quick"] = timed("--quick")
    result["full"] = timed()
    machine.save("calibrating", result)


if __name__ == "__main__":
    main()
