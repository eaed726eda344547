"""The figures of the pages are those that were measured, and keep what was promised."""

from __future__ import annotations

import gzip
import json
import re

from benchmarks import machine
from benchmarks.measure import device

FOUND = json.loads((machine.RESULTS / "device.json").read_text("utf-8"))
SIZES = {name: size["gzip"] for name, size in FOUND["download"].items()}


def test_the_page_shows_what_was_measured():
    assert device.table(FOUND) in device.PAGE.read_text("utf-8")


def test_a_tree_and_its_client_take_less_than_200_kilobytes_and_codes_less_than_2_mb():
    client = SIZES["module"]
    assert client + SIZES["tree artifact, seven epsilons"] < 200_000
    assert client + SIZES["brr artifact"] < 2_000_000


def test_the_client_takes_less_than_28_kilobytes_and_a_policy_less_than_300():
    assert SIZES["module"] < 28_000
    assert SIZES["policy artifact, one epsilon"] < 300_000


def test_the_sizes_are_those_of_the_files_here():
    module = (device.CLIENT / "dist" / "mondegreen.js").read_bytes()
    measured = SIZES["module"]
    assert abs(len(gzip.compress(module, 9)) / measured - 1) < 0.1


def test_the_how_to_rounds_them_up():
    page = machine.ROOT / "docs" / "how-to" / "privatize-in-the-browser.md"
    said = re.search(
        r"artifact has (\d+) kB and the client has\s+\[(\d+)", page.read_text()
    )
    artifact, client = map(int, said.groups())
    assert artifact - 1 <= SIZES["policy artifact, one epsilon"] / 1e3 <= artifact
    assert client - 1 <= SIZES["module"] / 1e3 <= client
