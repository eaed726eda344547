"""Vectors of the device client: what it must cut, look up, draw and print.

``python tests/vectors/device/device_vectors.py`` writes the files beside it, and
``--check`` compares them with what this Python gives; the tests of ``clients/js`` hold
the client to them, under every version of Python and of ``regex``: what they say of
characters is pinned. Characters are of Unicode 14 or of no version.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import mondegreen as mg
from mondegreen.device.artifact import artifact, policy_artifact
from mondegreen.privatizer.build import build_privatizer
from mondegreen.sampling.noise import KeyedNoise, chacha20
from mondegreen.settings import Settings
from mondegreen.text.lookup import Lookup
from mondegreen.text.structure import LISTED
from mondegreen.text.tokenizer import canonical, tokenize
from mondegreen.text.unicode import VERSIONS
from vectors import keyed
from vectors.device import policy_texts

FOLDER = Path(__file__).parent
EPSILONS = [4, 6, 8, 10, 12, 14, 16]
ARTIFACTS = {
    "tree": ("tree", EPSILONS),
    "sixteen": ("tree", [2, 3]),
    "bits": ("brr", [0.25]),
    "policy": ("urr", [6, 8, 10, 12, 14]),
    "names": ("urr", [12]),
}
POLICIES = {"policy": None, "names": "names"}
# What a policy does beside what its artifact says: laws, scopes and structures.
VARIANTS: tuple[dict[str, Any], ...] = (
    {"mechanism": "urr", "epsilon": 12.0},
    {"mechanism": "urr", "epsilon": 3.0, "same": "record"},
    {"mechanism": "krr", "epsilon": 8.0},
    {"mechanism": "krr", "epsilon": 1.0, "structure": "plain", "same": "record"},
)
TEXTS, LONGEST, PLANE = 20_000, 18, 0x1000
POLICY_TEXTS = 600
RECORDS, WIDE = 10_000, 100
KEY = bytes(range(32))
# Of each kind, how often: what people write, and what an adversary would.
ENDINGS = (
    "n't N’T 's ’S 'll 're 've 'd 'm don't can’t won't sha'n't ain't I'm it's".split()
)
WORDS = (
    "the and doctor Oslo OSLO isn’t ＯＳＬＯ ﬁ ½ naïve Ann oslo cats 2026 ΟΔΟΣ "
    "İstanbul".split()
)
MARKS = "\u0301\u0327\u200d\u00ad\ufe0f\u20e3\u1161\u11a8\u200b\u2060\ufeff\u0345\u093c"


def space_of(name: str) -> mg.Space:
    """Return the space of an artifact."""
    return mg.load_space() if name == "tree" else keyed.tiny_space()


def build(name: str) -> bytes:
    """Write the artifact of this name."""
    mechanism, epsilons = ARTIFACTS[name]
    if name in POLICIES:
        settings = Settings(mechanism=mechanism, policy=POLICIES[name])
        return policy_artifact(settings, epsilons)
    return artifact(space_of(name), epsilons, mechanism)


def assigned() -> list[str]:
    """Every character of Unicode 14 by category, and some of none; spread evenly."""
    kinds: dict[str, list[str]] = {}
    for point in [*range(0x40000), *range(0xE0000, 0x110000)]:
        c = chr(point)
        kind = unicodedata.category(c)
        if kind != "Cn":
            kinds.setdefault(kind, []).append(c)
    # No version will ever assign noncharacters, nor has one touched these planes.
    kinds["Cn"] = [chr(p) for p in (0xFFFE, 0xFFFF, 0xFDD0, 0x40000, 0xD1234)]
    found = []
    for chars in kinds.values():
        found += chars[:: max(1, len(chars) // 600)]
    return found


def texts() -> list[str]:
    """Cut from all scripts and categories, and from what the tokenizer looks at."""
    rng = np.random.default_rng(17)
    every, ascii_ = assigned(), [chr(i) for i in range(128)]
    pools = [
        every,
        ascii_,
        list(LISTED),
        ENDINGS,
        WORDS,
        list(MARKS),
        list("'’sSnNtT$€1a "),
    ]
    found = [
        "",
        "\0",
        "\ud800",
        "a" * 300,
        "é" * 300,
        "-" * 40,
        "a's's's's's's's's's's",
    ]
    found += [" " * 33 + "x", "\r\n" * 40 + "y", "a" + "\u0301" * 255, "'" * 9, "$" * 9]
    # At the edges: units of a gap, and characters of a word that is normalised.
    found += [" " * 256 + "x", " " * 257 + "x", "\r\n" * 257, "É" * 256, "É" * 257]
    while len(found) < TEXTS:
        weights = rng.dirichlet([0.5] * len(pools))
        picks = rng.choice(len(pools), size=int(rng.integers(1, LONGEST)), p=weights)
        found.append("".join(pools[p][rng.integers(len(pools[p]))] for p in picks))
    return found


def units(text: str) -> int:
    """The length of a text in JavaScript."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def has_pair(word: str) -> bool:
    """Tell whether JavaScript would make one character of two halves of this word."""
    form = canonical(word)
    return as_utf16(form) != form


def as_utf16(text: str) -> str:
    """Return what JavaScript makes of a text: it cannot tell two halves from a pair."""
    return text.encode("utf-16-le", "surrogatepass").decode(
        "utf-16-le", "surrogatepass"
    )


def digest(text: str) -> str:
    """Return the first 12 digits: enough to find what is wrong."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def tokenization() -> list[list[Any]]:
    """Return each text, the lengths of its parts, a digest of its canonical words."""
    rows = []
    for text in texts():
        text = as_utf16(text)
        (parts,) = tokenize([text]).parts
        words = parts[1::2]
        if any(map(has_pair, words)):
            continue
        pairs = zip(words, [*words[1:], ""], strict=False)
        forms = [canonical(word, following) for word, following in pairs]
        rows.append([text, list(map(units, parts)), digest("\n".join(forms))])
    return rows


def canonical_planes() -> list[str]:
    """Return a digest for every 4,096 code points: of the canonical form of each."""
    planes = []
    for start in range(0, 0x110000, PLANE):
        every = [
            chr(p) for p in range(start, start + PLANE) if not 0xD800 <= p < 0xE000
        ]
        planes.append(digest("\n".join(map(canonical, every))))
    return planes


def releases(rows: list[list[Any]]) -> list[dict[str, Any]]:
    """Return keyed releases on the artifact of the package."""
    found, noise = [], KeyedNoise(KEY)
    by_epsilon = {
        epsilon: mg.Privatizer(
            mg.mechanism("tree", epsilon=float(epsilon)), noise=noise
        )
        for epsilon in EPSILONS
    }
    for number, (text, *_) in enumerate(rows[:: TEXTS // 400]):
        epsilon = EPSILONS[number % len(EPSILONS)]
        case = {"epsilon": epsilon, "id": number if number % 2 else f"r{number}"}
        case |= {"column": "text" if number % 3 else "nöte.body", "text": text}
        release = by_epsilon[epsilon](text, id=case["id"], column=case["column"])
        found.append({**case, "release": release.text})
    return found


def redraws() -> Iterator[dict[str, Any]]:
    """Yield releases whose first block of noise is made so that draws are undecided."""
    text = "colda warmb mildc hotd zyx."
    for name, epsilon in [("sixteen", 2), ("tree", 10), ("tree", 4), ("bits", 0.25)]:
        space = space_of(name)
        mechanism, _ = ARTIFACTS[name]
        state = mg.mechanism(mechanism, epsilon=float(epsilon)).prepare(space)
        lookup = Lookup(space)
        (parts,) = tokenize(
            [text if space.vocab_size == 16 else "the doctor met zyxq in"]
        ).parts
        ids = lookup.codes(tokenize(["".join(parts)]))
        block = np.zeros(16, dtype=np.uint32)
        if mechanism == "tree":
            # Just below the end of each level: the places that cannot be dealt evenly.
            ends = [e for e in np.cumsum([w for w in state.law.weights if w]).tolist()]
            draws = [(ends[i % len(ends)] - 1) << 2 | 3 for i in range(7)]
            for i, draw in enumerate(draws):
                block[1 + 2 * i : 3 + 2 * i] = draw & 0xFFFFFFFF, draw >> 32
        else:
            block[1:] = np.where(
                np.arange(15) % 2, state.threshold >> 32, np.arange(15) << 26
            )
        rng = chacha20(KEY)
        held = rng.bit_generator.state
        held["state"]["block"] = block
        held["state"]["ctr"] = np.array([1, 0], dtype=np.uint64)
        rng.bit_generator.state = held
        drawn = state.sample(ids, rng)
        words = [space.words[i] for i in drawn.tolist()]
        yield {
            "artifact": name,
            "epsilon": epsilon,
            "block": block.tolist(),
            "text": "".join(parts),
            "words": words,
            "used": int(rng.bit_generator.state["state"]["ctr"][0]),
        }


def header_of(data: bytes) -> dict[str, Any]:
    """Read the header of an artifact."""
    start = data.index(b"\n") + 5
    size = int.from_bytes(data[start - 4 : start], "little")
    header: dict[str, Any] = json.loads(data[start : start + size])
    return header


def policies() -> list[dict[str, Any]]:
    """Return what is another header of each variant, and its keyed releases.

    The words and groups of all variants are those of the artifact of the policy.
    """
    found = []
    given = [as_utf16(text) for text in policy_texts.texts(POLICY_TEXTS)]
    given = [t for t in given if not any(map(has_pair, tokenize([t]).words()))]
    for variant in VARIANTS:
        settings = Settings(**variant)
        header = header_of(policy_artifact(settings, [variant["epsilon"]]))
        made = build_privatizer(settings).with_noise(KeyedNoise(KEY))
        released = made.batch(given, list(range(len(given))))
        found.append(
            {
                "header": {
                    name: header[name] for name in ("mechanism", "policies", "settings")
                },
                "texts": given if not found else [],
                "releases": [each.text for each in released if each is not None],
            }
        )
    return found


def million() -> dict[str, Any]:
    """Return a digest of the keyed releases of a million words: each over the last."""
    p = mg.Privatizer(mg.mechanism("tree", epsilon=10.0), noise=KeyedNoise(KEY))
    words = [p.space.words[i] for i in p.state.tree.order.tolist()]
    texts = [
        " ".join(words[(record * WIDE + i) * 7919 % len(words)] for i in range(WIDE))
        for record in range(RECORDS)
    ]
    found, last = 0, ""
    for release in p.batch(texts, list(range(RECORDS))):
        found += len(release.spans)
        last = hashlib.sha256((last + release.text).encode()).hexdigest()
    return {"digest": last, "words": found}


def vectors() -> dict[str, Any]:
    """Return all that is written but the artifacts."""
    rows = tokenization()
    return {
        "made": VERSIONS,
        "canonical": canonical_planes(),
        "texts": rows,
        "key": KEY.hex(),
        "releases": releases(rows),
        "redraws": list(redraws()),
        "million": million(),
    }


def written(found: dict[str, Any]) -> bytes:
    """Return the bytes of the file, unpacked."""
    return (json.dumps(found, separators=(",", ":")) + "\n").encode()


def files() -> Iterator[tuple[Path, bytes]]:
    """Yield each file and what is to be in it, unpacked."""
    for name in ARTIFACTS:
        yield FOLDER / f"{name}.mdg.gz", build(name)
    yield FOLDER / "vectors.json.gz", written(vectors())
    yield FOLDER / "policies.json.gz", written({"variants": policies()})


def main() -> int:
    """Write the files, or compare them."""
    stale = 0
    for path, data in files():
        if "--check" in sys.argv:
            stale += gzip.decompress(path.read_bytes()) != data
        else:
            path.write_bytes(gzip.compress(data, 9, mtime=0))
    return stale


if __name__ == "__main__":
    sys.exit(main())
