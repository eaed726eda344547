"""Measure the client for devices beside this package: bytes, start, speed, memory.

In Node and in Chromium, one after the other in one run, on sentences of public text
that come with the package; and of binary codes beside the sizes that the paper states.
Needs ``npm ci`` in ``clients/js``. Without Chromium its rows are left out.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import machine

CLIENT = machine.ROOT / "clients" / "js"
SENTENCES = machine.ROOT / "src" / "mondegreen" / "text" / "data" / "sentences.txt"
REPEATS = {"urr": 100, "tree": 100, "brr": 2}
LAWS = {"urr": 12.0, "tree": 10.0, "brr": 1.0}
PAPER = {
    "source": "Silva Carvalho, Vasiloudis, Feyisetan: BRR, ICML workshop 2021",
    "index_mb": {"brr": 4, "vectors": 200},
    "vocabulary_and_vectors_mb": {"brr": 6, "vectors": 300},
}

PAGE = machine.ROOT / "docs" / "reference" / "device-format.md"
BEGIN, END = "<!-- figures -->\n", "<!-- end of the figures -->"

PYTHON = """
import json, resource, sys, time
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
started = time.perf_counter()
import mondegreen as mg
imported = time.perf_counter()
p = mg.Privatizer(mg.mechanism(sys.argv[1], epsilon=float(sys.argv[2])))
p("a first word")
ready = time.perf_counter()
lines = open(sys.argv[3], encoding="utf-8").read().split("\\n")
best, words = 1e9, 0
for _ in range(3):
    begun = time.perf_counter()
    words = sum(p.texts(lines, None, "text")[1])
    best = min(best, time.perf_counter() - begun)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({
    "version": sys.version.split()[0],
    "import_ms": 1000 * (imported - started),
    "start_ms": 1000 * (ready - imported),
    "words": words,
    "words_per_second": words / best,
    "memory_mb": (after - before) / 1e3,
}))
"""


def export(folder: Path, name: str, *epsilons: float) -> Path:
    """Write an artifact by the command."""
    out = folder / f"{name}-{len(epsilons)}.mdg"
    door = "policy" if name == "urr" else "space"
    run = [sys.executable, "-m", "mondegreen", door, "export", "--device", "-o", out]
    run += ["--mechanism", name]
    for epsilon in epsilons:
        run += ["--epsilon", str(epsilon)]
    subprocess.run(run, check=True, capture_output=True)
    return out


def packed(data: bytes) -> dict[str, int]:
    """Sizes as they are, and as they travel."""
    return {"bytes": len(data), "gzip": len(gzip.compress(data, 9, mtime=0))}


def has_chromium() -> bool:
    """Tell whether the tests of the client find a Chromium here."""
    code = 'import { skip } from "./test/chromium.mjs"; process.exit(skip ? 1 : 0)'
    run = ["node", "--input-type=module", "-e", code]
    return subprocess.run(run, cwd=CLIENT, check=False).returncode == 0


def run(*command: object) -> dict[str, object]:
    """Run what prints JSON, its numbers to three digits."""
    done = subprocess.run(list(map(str, command)), check=True, capture_output=True)
    found = json.loads(done.stdout)
    return {
        key: float(f"{value:.3g}") if isinstance(value, float) else value
        for key, value in found.items()
    }


def table(result: dict) -> str:
    """Return the figures as the page shows them."""
    sizes = result["download"]
    rows = ["| what is loaded | kB | gzip, kB |", "| --- | ---: | ---: |"]
    for name, size in sizes.items():
        raw, small = (f"{size[key] / 1e3:,.0f}" for key in ("bytes", "gzip"))
        rows.append(f"| {name} | {raw} | {small} |")
    rows += ["", "| | start, ms | words a second | memory, MB |"]
    rows += ["| --- | ---: | ---: | ---: |"]
    for law in LAWS:
        for where in ("python", "node", "chromium"):
            if where not in result[law]:
                continue
            found = result[law][where]
            name = f"{law}, {where.capitalize()} {found['version'].lstrip('v')}"
            start = found["import_ms"] + found["start_ms"]
            speed, memory = found["words_per_second"], found["memory_mb"]
            rows.append(f"| {name} | {start:,.0f} | {speed:,.0f} | {memory:.3g} |")
    paper = result["brr in the paper"]["vocabulary_and_vectors_mb"]
    brr, ours = sizes["brr artifact"]["bytes"] / 1e6, result["machine"]
    rows += [
        "",
        f"Of binary codes, {brr:.2g} MB are loaded; the paper says {paper['brr']} MB, "
        f"and {paper['vectors']} MB for vectors of 300 numbers, of its vocabulary. "
        "Measured in one run with `python -m benchmarks device`, on "
        f"{ours['cores']} cores with a load of {ours['load_at_start']:.0f} besides.",
    ]
    return "\n".join(rows) + "\n"


def show(result: dict) -> None:
    """Put the figures into the page."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}{table(result)}{END}{after}", "utf-8")


def main() -> None:
    """Measure, and write the results."""
    result: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        artifacts = {law: export(folder, law, eps) for law, eps in LAWS.items()}
        seven = export(folder, "tree", 4, 6, 8, 10, 12, 14, 16)
        module = (CLIENT / "dist" / "mondegreen.js").read_bytes()
        sizes = {
            "module": packed(module),
            "policy artifact, one epsilon": packed(artifacts["urr"].read_bytes()),
            "tree artifact, one epsilon": packed(artifacts["tree"].read_bytes()),
            "tree artifact, seven epsilons": packed(seven.read_bytes()),
            "brr artifact": packed(artifacts["brr"].read_bytes()),
            "the page, with a policy": packed(
                (CLIENT / "page" / "index.html").read_bytes()
            ),
        }
        result["download"] = sizes
        for law, epsilon in LAWS.items():
            texts = folder / "texts.txt"
            texts.write_text(
                SENTENCES.read_text("utf-8").strip() * REPEATS[law], "utf-8"
            )
            measure = CLIENT / "measure.mjs"
            measured: dict[str, object] = {
                "epsilon": epsilon,
                "python": run(sys.executable, "-c", PYTHON, law, epsilon, texts),
                "node": run(
                    "node", "--expose-gc", measure, "node", artifacts[law], texts
                ),
            }
            if has_chromium():
                given = ["node", measure, "chromium", artifacts[law], texts]
                measured["chromium"] = run(*given)
            result[law] = measured
    result["brr in the paper"] = PAPER
    machine.save("device", result)
    show(json.loads((machine.RESULTS / "device.json").read_text("utf-8")))


if __name__ == "__main__":
    main()
