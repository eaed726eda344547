"""A slowdown of a fifth is seen, whatever else the machine is doing.

Nineteen runs of tests/speed/ratios.py, on two cores with six to thirteen processes,
were within 2 % of their median for two paths and within 7 and 11 % for the others, laws
to make being the worst. The margin is between that and a slowdown of 20 %; the least of
up to five runs is what counts, since a busy machine only ever adds.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.alone
HERE = Path(__file__).parent
REFERENCE = json.loads((HERE / "reference.json").read_text())
PATHS = sorted(REFERENCE["ratios"])
MARGIN, ELSEWHERE = 1.15, 1.6
"""On the kind of processor of the reference, and on others."""


def measured(*options: str) -> dict[str, float]:
    command = [sys.executable, str(HERE / "ratios.py"), *options]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def margin() -> float:
    sys.path.insert(0, str(HERE))
    from ratios import processor

    return MARGIN if processor() == REFERENCE["processor"] else ELSEWHERE


@pytest.fixture(scope="module")
def ratios(margin: float) -> dict[str, list[float]]:
    """What was measured, again where it is out of the margin: code stays as it is."""
    runs: list[dict[str, float]] = []
    for _ in range(5):
        runs.append(measured())
        changes = [runs[-1][p] / REFERENCE["ratios"][p] for p in PATHS]
        if all(change < margin for change in changes):
            break
    return {path: [run[path] for run in runs] for path in PATHS}


@pytest.mark.parametrize("path", PATHS)
def test_no_path_is_a_fifth_slower_than_recorded(
    path: str, ratios: dict[str, list[float]], margin: float
) -> None:
    assert min(ratios[path]) < REFERENCE["ratios"][path] * margin


@pytest.mark.parametrize("path", PATHS)
def test_the_record_is_not_so_old_that_it_would_hide_a_slowdown(
    path: str, ratios: dict[str, list[float]], margin: float
) -> None:
    if margin != MARGIN:  # one path is 1.8 times as quick there, with the same code
        pytest.skip("the record was made on another processor")
    # If this fails code got much faster: python tests/speed/ratios.py --record
    assert max(ratios[path]) > REFERENCE["ratios"][path] / ELSEWHERE


@pytest.mark.long
def test_a_fifth_longer_is_seen(margin: float) -> None:
    slower = measured("--slower")
    seen = [p for p in PATHS if slower[p] > REFERENCE["ratios"][p] * margin]
    assert seen == (PATHS if margin == MARGIN else [])
