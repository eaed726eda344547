"""Write what the policies really do into docs/how-to/choose-a-policy.md.

``python -m benchmarks.pages.policy_page`` writes the sections of the page, and the
example and the figures of the README. Run it where the lists of words change, and
after ``python -m benchmarks policies``.
"""

from __future__ import annotations

from typing import Final

from click.testing import CliRunner

import mondegreen as mg
from benchmarks import machine
from benchmarks.pages.draws import RULE, draw_median
from benchmarks.pages.page import Table, fill, filled
from benchmarks.pages.policies_page import COLLECTIONS, DEFAULT, load
from mondegreen.cli.main import cli
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import load_policy
from mondegreen.text.tokenizer import tokenize

PAGE: Final = "how-to/choose-a-policy.md"
README: Final = machine.ROOT / "README.md"
SEED: Final = 6
STRAYED: Final = "card"
"""An ordinary word that this draw replaces in the last cell."""
TEXTS: Final = (
    "My doctor Anna Schmidt says I have diabetes.",
    "Write a polite email to my babysitter about the broken heating.",
    "They lost my passport and charged my card 0323-0800-7681-2681 twice.",
)
EXAMPLE: Final = "Dr. Okonkwo in Leeds told my mother on Friday that she has diabetes."
STORY: Final = "I was arrested for drunk driving in Boston."
PHRASES: Final = ("passed away", "came out", "behind bars")
SHOWN: Final = ["diabetes", "May", "anna@example.org", "4711"]
WHAT: Final = {
    "sensitive": "names, places, numbers, health, family, work, belief, money, crime, "
    "all rare words",
    "names": "who, where, when, numbers and identifiers, unknown words",
    "all": "every word",
}

_LOOK_ALIKE: Final = str.maketrans("aceiopxyABEHKMOPTX", "асеіорхуАВЕНКМОРТХ")


def example() -> str:
    """A text and the median of its releases, for the README."""
    law = mg.mechanism("urr", epsilon=12.0)
    ways = {
        "after, `--epsilon 12`": mg.Privatizer(law),
        "after, `--policy names --epsilon 12`": mg.Privatizer(law, policy="names"),
    }
    rows = [["before", EXAMPLE]]
    rows += [[name, draw_median(each, EXAMPLE)] for name, each in ways.items()]
    table = Table(["", "text"], rows, text_columns=(1,))
    return f"{table}\n{RULE}\n"


def recovered() -> str:
    """What an attacker recovers of the sensitive words under the default."""
    found = load("policies")["rows"][DEFAULT]
    shares = [f"{found[each]['attack']['value']:.0%}" for each in COLLECTIONS]
    header = ["sensitive words recovered", *COLLECTIONS]
    return str(Table(header, [["`sensitive`, `urr`, epsilon 12", *shares]]))


def outputs() -> str:
    """Texts before and after, by one draw."""
    made = [release(name, TEXTS) for name in ("sensitive", "names")]
    rows = [list(row) for row in zip(TEXTS, *made, strict=True)]
    if STRAYED in rows[-1][-1]:
        raise ValueError(f"{STRAYED!r} stays now: change the page")
    header = ["text", "`sensitive`", "`names`"]
    table = Table(header, rows, text_columns=(1, 2))
    return (
        "Real results of `urr` at epsilon 12. To repeat them, write the three texts "
        "into a file, one per line: `mondegreen privatize FILE --epsilon 12 --seed "
        f"{SEED}`. For the last column, add `--policy names`. The ordinary word "
        f"*{STRAYED}* was replaced there by chance:\n\n{table}"
    )


def policies() -> str:
    """What each policy hides, and how many words it shows."""
    rows = []
    for name, what in WHAT.items():
        shown, groups = "0", "see the word tree"
        if name != "all":
            alphabet = load_policy(name).alphabet
            shown, groups = f"{alphabet.ordinary:,}", str(alphabet.groups)
        rows.append([f"`{name}`", what, shown, groups])
    header = ["policy", "hides", "ordinary words", "groups and formats"]
    return str(Table(header, rows, text_columns=(1,)))


def show() -> str:
    """What ``policy show`` prints."""
    done = CliRunner().invoke(cli, ["policy", "show", *SHOWN])
    command = f"$ mondegreen policy show {' '.join(SHOWN)}"
    return f"```{{ .text .wrap }}\n{command}\n{done.stdout}```\n"


def story() -> str:
    """Which words of a story hide, and that phrases of ordinary words are shown."""
    names = ("sensitive", "names")
    rows = [[f"`{name}`", marked(name, STORY)] for name in names]
    for phrase in PHRASES:
        if any("[" in marked(name, phrase) for name in names):
            raise ValueError(f"{phrase!r} hides now: change the page")
    return str(Table(["policy", "what hides"], rows, text_columns=(1,)))


def spellings() -> str:
    """What shows of sensitive words that are spelled otherwise, under `sensitive`."""
    lookup = PolicyLookup(load_policy("sensitive"))
    known = len(lookup.policy.ordinary)
    symbols = sorted(lookup.policy.symbols.items())
    words = [word for word, symbol in symbols if symbol >= known and word.isalpha()]
    long = [word for word in words if len(word) > 1]
    ways = (str, str.capitalize, str.upper, look_alike)
    if any(lookup.find_symbol(way(word)) < known for way in ways for word in long):
        raise ValueError("a spelling of a sensitive word is shown")
    if lookup.find_symbol("solo") >= known:
        raise ValueError("'solo' hides now: change the example")
    wrong = [each for word in words[::20] for each in misspellings(word)]
    shown = sum(lookup.find_symbol(each) < known for each in wrong)
    capital = [word for word in lookup.policy.ordinary if word.isalpha()]
    hidden = sum(lookup.find_symbol(word.capitalize()) >= known for word in capital)
    return (
        f"- All {len(long):,} sensitive words of two letters or more were tried in "
        "lower case, with a\n  capital, in CAPITALS and with look-alike letters. None "
        "is shown.\n"
        "- Single letters are hidden, except *a* and *I*: *d i a b e t e s* shows *i* "
        "and\n  *a*.\n"
        f"- Of {len(wrong):,} misspellings by one letter, {shown:,} "
        f"({shown / len(wrong):.1%}) are shown. They are ordinary words\n  themselves, "
        "such as *solo* for *Oslo*.\n"
        f"- The price: with a capital inside a sentence, {hidden:,} of "
        f"{len(capital):,} ordinary words are\n  replaced too, because they may be "
        "names.\n"
    )


def look_alike(word: str) -> str:
    """Put Cyrillic letters where they look like Latin ones."""
    return word.translate(_LOOK_ALIKE)


def misspellings(word: str) -> list[str]:
    """Spellings with one letter left out, doubled, or swapped with the next."""
    places = range(len(word))
    without = [word[:i] + word[i + 1 :] for i in places]
    doubled = [word[:i] + word[i] + word[i:] for i in places]
    swapped = [word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in places[:-1]]
    return sorted({*without, *doubled, *swapped} - {word, ""})


def release(policy: str, texts: list[str] | tuple[str, ...]) -> list[str]:
    """Release texts under a policy, by one draw."""
    law = mg.mechanism("urr", epsilon=12.0)
    made = mg.Privatizer(law, policy=policy, noise=mg.Seeded(SEED))
    return [each.text for each in made.batch(texts) if each is not None]


def marked(policy: str, text: str) -> str:
    """Put the words of a text that hide between brackets."""
    lookup, batch = PolicyLookup(load_policy(policy)), tokenize([text])
    known = len(lookup.policy.ordinary)
    (parts,) = batch.parts
    pieces = list(parts or [])
    for place, symbol in enumerate(lookup.codes(batch).tolist()):
        if symbol >= known:
            pieces[2 * place + 1] = f"[{pieces[2 * place + 1]}]"
    return "".join(pieces)


TABLES: Final = {
    "releases": outputs,
    "policies": policies,
    "words": show,
    "story": story,
    "spellings": spellings,
}

IN_README: Final = {"policy": example, "recovered": recovered}


def main() -> None:
    """Write the page, and the example of the README."""
    fill(PAGE, TABLES)
    README.write_text(filled(README.read_text("utf-8"), IN_README), "utf-8")


if __name__ == "__main__":
    main()
