"""Release fifty sentences and twenty prompts under three settings, five draws each.

    python -m benchmarks policy_readings [--shuffled policies|near]

All texts are invented and released with a seed, so the releases are not private. Writes
results/policy_readings.json. With ``--shuffled`` it prints a sheet for judges instead:
the releases of the prompts in a random order and without their settings. The judgments
are lines of a file beside this one (SHEETS) in that order, a column for each judge
(JUDGES): y asks the same, n nearly, and a dot something else. The page shows a sheet
once its digest is in benchmarks/pages/policies_page.py.
"""

from __future__ import annotations

import argparse
from typing import Any, Final, NamedTuple

import numpy as np

from benchmarks import machine
from benchmarks.measure.private_prompts import PROMPTS
from benchmarks.pages.reading_sentences import SENTENCES
from mondegreen.privatizer.build import build_privatizer
from mondegreen.sampling.noise import Seeded
from mondegreen.settings import Settings

PROMPTS_KIND: Final = "the twenty prompts"
DRAWS: Final = 5
JUDGES: Final = ("first", "second", "third")
"""Language models that saw prompt and release alone."""
EPSILON: Final = 12.0
SEED: Final = 241
POLICIES: Final[dict[str, dict[str, Any]]] = {
    "names": {"policy": "names"},
    "sensitive --open health": {"policy": "sensitive", "opened": ["health"]},
    "names --numbers near": {"policy": "names", "numbers": "near"},
}


class Sheet(NamedTuple):
    """What judges read at one time, and the file of what they said."""

    settings: tuple[str, ...]
    verdicts: str


SHEETS: Final = {
    "policies": Sheet(("names", "sensitive --open health"), "policy_verdicts.txt"),
    "near": Sheet(("names --numbers near",), "policy_verdicts_near.txt"),
}
MORE: Final = (
    "My name is Olivia Brennan and I live at 14 Harcourt Road in Bristol.",
    "Please call Mr. Takahashi at 555-0142 before noon on Friday.",
    "We fired the accountant because he was stealing from the church.",
    "Our son Mateo has autism and starts school in September.",
    "The password for the router is Falcon-7731, do not share it.",
    "I am a nurse at Mercy Hospital and I work nights.",
    "She converted to Islam last spring and her family is upset.",
    "Dear Dr. Novak, the biopsy results came back negative.",
    "Can you email the invoice to billing@northwindtraders.com today?",
    "He was deported to Guatemala after eleven years in Texas.",
    "My salary is $84,500 and my bonus was cut by half.",
    "The judge gave him six months for shoplifting.",
    "Grandma's funeral is on 12/05/2019 at St. Mary's.",
    "I'm gay and I haven't told my parents yet.",
    "Our landlord, Viktor, keeps raising the rent every year.",
    "Fix the bug in load_users.py that drops the last row.",
    "We voted for the Greens, but my brother joined the army.",
    "Book two seats on the 7pm train from Lyon to Geneva.",
    "The twins are allergic to peanuts and to penicillin.",
    "Microsoft offered me a job in Seattle, should I take it?",
)


def texts() -> list[tuple[str, str]]:
    """The kind and the words of every text."""
    found = [(kind, text) for kind, some in SENTENCES.items() for text in some]
    found += [("private notes", text) for text in MORE]
    return found + [(PROMPTS_KIND, text) for text in PROMPTS]


def shuffled(rows: list[dict[str, Any]], sheet: Sheet) -> list[tuple[int, str, int]]:
    """The releases of the prompts in the order in which they are judged.

    Each is the place of its prompt, its setting and its draw.
    """
    lines = [
        (place, name, draw)
        for place in range(sum(row["kind"] == PROMPTS_KIND for row in rows))
        for name in sheet.settings
        for draw in range(DRAWS)
    ]
    order = np.random.default_rng(SEED).permutation(len(lines)).tolist()
    return [lines[i] for i in order]


def main() -> None:
    """Release, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shuffled", choices=SHEETS, help="print this sheet instead")
    given_sheet = parser.parse_args().shuffled
    flat = texts()
    rows: list[dict[str, Any]] = [{"kind": k, "text": t} for k, t in flat]
    for number, (name, given) in enumerate(POLICIES.items()):
        settings = Settings(epsilon=EPSILON, **given)
        for draw in range(DRAWS):
            noise = Seeded(SEED + DRAWS * number + draw)
            made = build_privatizer(settings, noise).batch([text for _, text in flat])
            for row, release in zip(rows, made, strict=True):
                row.setdefault(name, []).append(release.text if release else "")
    if given_sheet:
        some = [row for row in rows if row["kind"] == PROMPTS_KIND]
        for place, name, draw in shuffled(rows, SHEETS[given_sheet]):
            print(some[place]["text"], some[place][name][draw], sep="\t")
        return
    found = {"epsilon": EPSILON, "mechanism": "urr", "draws": DRAWS, "rows": rows}
    machine.save("policy_readings", found)


if __name__ == "__main__":
    main()
