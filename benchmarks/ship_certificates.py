"""Compute the certificates that are shipped with the embedded space.

For ``calibrated``, with and without ``beta=0.001``: rates from 0.4 to 8 in steps of
2 %. For ``exponential`` and ``tem``: epsilon from 0.5 to 12 in steps of 0.5. Takes some
ten minutes on two idle cores; what is there already is kept.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

from mondegreen import load_space, mechanism
from mondegreen.mechanisms.selection.calibrated import Calibrated
from mondegreen.mechanisms.selection.certificate import exact_epsilons
from mondegreen.mechanisms.selection.law import ExponentialLaw

SPACE = load_space()
OUTPUT = Path(SPACE.path).with_name(f"{SPACE.name}.certificates.json")
CHUNK = 48


def wanted() -> list[ExponentialLaw]:
    """Return all laws to certify, those that are wanted first at the end."""
    laws = []
    for step in range(round(math.log(8 / 0.4) / math.log(1.02)) + 1):
        rate = float(f"{0.4 * 1.02**step:.6g}")
        for beta in (None, 0.001):
            cutoff = Calibrated(1.0, beta).cutoff(rate, SPACE.vocab_size)
            laws.append(ExponentialLaw(SPACE, rate, cutoff))
    for half in range(1, 25):
        for name in ("tem", "exponential"):
            laws.append(mechanism(name, epsilon=half / 2).prepare(SPACE).law)
    return laws


def main() -> None:
    """Fill the file, chunk by chunk."""
    known: dict[str, float] = {}
    if OUTPUT.exists():
        content = json.loads(OUTPUT.read_text())
        known = content["laws"] if content["space"] == SPACE.digest else {}
    missing = {
        key: law
        for law in wanted()
        if (key := f"{law.rate:.10g} {law.cutoff:.10g}") not in known
    }
    while missing:
        chunk = [missing.popitem() for _ in range(min(CHUNK, len(missing)))]
        values = exact_epsilons([law for _, law in chunk])
        known.update(zip((key for key, _ in chunk), values, strict=True))
        lines = ",\n".join(
            f'    "{key}": {value!r}'
            for key, value in sorted(
                known.items(), key=lambda item: [*map(float, item[0].split())]
            )
        )
        text = f'{{\n  "space": "{SPACE.digest}",\n  "laws": {{\n{lines}\n  }}\n}}\n'
        OUTPUT.write_text(text)
        print(f"{len(known)} known, {len(missing)} to go", flush=True)


if __name__ == "__main__":
    main()
