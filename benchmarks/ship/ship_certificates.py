"""Compute the certificates that are shipped with the embedded space.

For ``calibrated``, with and without ``beta=0.001``: rates from 0.25 to 12 in steps of
1.5 %. For ``exponential`` and ``tem``: epsilon from 0.5 to 12 in steps of 0.5. Takes
some ten minutes on two idle cores; what is there already is kept, if the same formula
computed it.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

from mondegreen import load_space, mechanism
from mondegreen.mechanisms.laws.certificate import FORMULA, exact_epsilons
from mondegreen.mechanisms.selection.calibrated import Calibrated
from mondegreen.mechanisms.selection.exponential import ExponentialLaw

SPACE = load_space()
OUTPUT = Path(SPACE.path).with_name(f"{SPACE.name}.certificates.json")
CHUNK = 96
LOWEST, HIGHEST, STEP = 0.25, 12.0, 1.015


def wanted() -> list[ExponentialLaw]:
    """All laws to certify, those that are wanted first at the end."""
    laws = []
    for step in range(math.ceil(math.log(HIGHEST / LOWEST) / math.log(STEP)) + 1):
        rate = float(f"{LOWEST * STEP**step:.6g}")
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
        if (content["space"], content.get("formula")) == (SPACE.digest, FORMULA):
            known = content["laws"]
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
        head = f'  "space": "{SPACE.digest}",\n  "formula": {FORMULA},\n'
        text = f'{{\n{head}  "laws": {{\n{lines}\n  }}\n}}\n'
        OUTPUT.write_text(text)
        print(f"{len(known)} known, {len(missing)} to go", flush=True)


if __name__ == "__main__":
    main()
