"""What a setting leaves of public text, and what an attacker recovers: measured.

A preview is no guarantee. It says what happened to public words, by one draw with a
fixed seed, and says nothing of other text or of better attackers.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, slices
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms.base import State
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.protection import LEVELS, Protection, protection, worst
from mondegreen.space.metric import distances
from mondegreen.space.space import Space
from mondegreen.space.store import load_tree
from mondegreen.text.lookup import KEEP, Lookup
from mondegreen.text.tokenizer import tokenize

if TYPE_CHECKING:
    from mondegreen.policy.policy import Policy
    from mondegreen.privatizer.reading import Reading
    from mondegreen.settings import Same

_FOLDER: Final = Path(__file__).parents[1] / "text" / "data"
ORDINARY_WORDS: Final = _FOLDER / "ordinary.txt"
SENTENCES: Final = _FOLDER / "sentences.txt"
MEASURED: Final = Path(__file__).parent / "data" / "previews.json"
"""Previews of default settings, written by ``benchmarks/ship/ship_previews.py``."""

ATTACKED: Final = Path(__file__).parent / "data" / "attacked_policies.json"
"""What attackers recovered under the shipped policies, by the same script from the
results of ``benchmarks/measure/policies.py``: docs/explanation/policies.md."""

_NEAREST: Final = 24
"""Words that count as near in meaning: about as many as a group of the tree has."""

_SEED: Final = 20_202
"""The draws are of public words and go nowhere, so anyone may repeat them."""

_BLOCK: Final = 64
_MOST_KEPT: Final = 64
_measured: Final[dict[tuple[str, type[State], bool], Preview]] = {}


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What one setting does to public words, and what an attacker recovers of them.

    Parameters
    ----------
    of : str
        Whose words these are, such as ``"ordinary English sentences"``.
    words : int
        How many were released; a share is right to 0.03 or better (95 %).
    unchanged : float
        Share of words that are the same in the release.
    near : float or None
        Share that is unchanged or becomes a word of near meaning; None in a space
        without vectors.
    recovered : float or None
        Share that an attacker recovers. The attacker knows the mechanism and the public
        language model of the package, and reads whole sentences. None where nobody has
        tried: see ``mondegreen attack``.
    shown : float or None
        Under a policy, the share of words that are ordinary and shown; all other
        shares are of the sensitive words then. None where every word is sensitive.
    in_domain : tuple of float, float, int or None
        Under a shipped policy, what an attacker with other texts of the same domain
        recovered of the sensitive words of several kinds of texts: the least and the
        largest share, and how many kinds. None where that was not measured. The
        attacker and the texts are on docs/explanation/policies.md.
    """

    of: str
    words: int
    unchanged: float
    near: float | None
    recovered: float | None = None
    shown: float | None = None
    in_domain: tuple[float, float, int] | None = None

    @property
    def level(self) -> Protection:
        """The word for these shares alone, without the guarantee.

        Under a policy, attackers of the same domain count too, but make it no worse
        than ``weak``: no output tells the words of one group apart.
        """
        most = max(self.unchanged, self.recovered or 0.0)
        if self.in_domain is not None:
            most = max(most, min(self.in_domain[1], LEVELS[-1].recovered))
        return protection(recovered=most, near=self.near or 0.0)

    def protection(self, guarantee: Guarantee) -> Protection:
        """The worst of what the guarantee proves and of what is measured here."""
        return worst((guarantee.protection, self.level))

    def _of_policy(self) -> str:
        shown = 100 * (self.shown or 0.0)
        line = f"Preview ({self.of}): {shown:.0f} of 100 words are ordinary and shown"
        if self.in_domain is None:
            return f"{line}. To measure an attacker: mondegreen attack."
        least, most, kinds = self.in_domain
        return (
            f"{line}. In {kinds} kinds of texts, an attacker with other texts from "
            f"the same domain recovered {100 * least:.0f} to {100 * most:.0f} of 100 "
            "sensitive words. To measure yours: mondegreen attack."
        )

    @property
    def warning(self) -> str:
        """What a person must know before a release, or "": that it can be read."""
        if self.level != "vacuous":
            return ""
        share, become = self.unchanged, "are unchanged"
        if share <= LEVELS[-1].recovered and self.near is not None:
            share, become = self.near, "are unchanged or become a word of near meaning"
        if (self.recovered or 0.0) > max(LEVELS[-1].recovered, self.unchanged):
            share, become = self.recovered or 0.0, "are recovered by an attacker"
        return (
            f"WARNING: {_of_100(share)} of {self.of} {become}. The release shows most "
            "of what was written. Use a smaller epsilon."
        )

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON values; those of policies are there under a policy alone."""
        values = asdict(self)
        if self.shown is None:
            del values["shown"], values["in_domain"]
        return values

    def __str__(self) -> str:
        if self.shown is not None:
            return self._of_policy()
        line = f"Preview ({self.of}): {_of_100(self.unchanged)} are unchanged"
        if self.near is not None:
            line += f", {100 * self.near:.0f} are unchanged or near in meaning"
        if self.recovered is None:
            return f"{line}."
        return (
            f"{line}. An attacker with the same language model recovers "
            f"{_of_100(self.recovered)}."
        )


def preview_policy(state: State, lookup: PolicyLookup, same: Same) -> Preview:
    """Measure what a policy shows of public sentences, and which words are unchanged.

    From one draw with a fixed seed. What an attacker recovers depends on the domain:
    ``mondegreen attack`` measures it. What is shipped holds for places: in a wider
    scope (``same``) an attacker sees more.
    """
    batch = lookup.cut(SENTENCES.read_text(encoding="utf-8").splitlines())
    symbols = lookup.codes(batch)
    policy = lookup.policy
    rng = np.random.Generator(np.random.PCG64(_SEED))
    outputs = policy.draw_members(state.sample(symbols, rng), rng)
    is_hidden = policy.alphabet.is_group(symbols)
    pairs = zip(outputs.tolist(), batch.words(), strict=True)
    is_same = np.array(
        [policy.print(code).lower() == word.lower() for code, word in pairs]
    )
    return Preview(
        of="ordinary English sentences",
        words=len(symbols),
        unchanged=float(is_same[is_hidden].mean()) if is_hidden.any() else 0.0,
        near=None,
        shown=float((is_same & ~is_hidden).mean()),
        in_domain=_find_attacked(state, policy) if same == "place" else None,
    )


def _find_attacked(state: State, policy: Policy) -> tuple[float, float, int] | None:
    """Find what attackers recovered under this policy, law and epsilon."""
    of = [policy.digest, state.guarantee.mechanism, state.guarantee.epsilon]
    return _load_attacked().get(json.dumps(of))


def _of_100(share: float) -> str:
    return f"{100 * share:.0f} of 100 words"


def preview(
    state: State, lookup: Lookup, reading: Reading, *, with_attacker: bool = False
) -> Preview:
    """Measure a setting, or look it up where it was measured with the package.

    ``with_attacker`` loads a language model to try the attacker where that takes
    seconds; without it the attacker is tried only where ``reading`` reads anyway.
    A process that has measured a setting, with its fixed seeds, knows it.
    """
    key = preview_key(state, lookup, reading)
    if shipped := _load_shipped().get(key):
        return shipped
    setting = key, type(state), with_attacker
    if setting not in _measured:
        found = measure(state, lookup, reading, with_attacker=with_attacker)
        if len(_measured) >= _MOST_KEPT:
            _measured.clear()
        _measured[setting] = found
    return _measured[setting]


def measure(
    state: State, lookup: Lookup, reading: Reading, *, with_attacker: bool
) -> Preview:
    """Measure a setting, whether the package has its preview or not."""
    of_sentences = None
    if reading.read != "none":
        of_sentences = _preview_sentences(state, lookup, reading)
    found = of_sentences or _preview_words(state, lookup)
    if with_attacker and found.recovered is None:
        return replace(found, recovered=_estimate_recovered(state, lookup))
    return found


@functools.cache
def _load_attacked() -> Mapping[str, tuple[float, float, int]]:
    rows = json.loads(ATTACKED.read_text(encoding="utf-8"))
    return {
        json.dumps([row["policy"], row["mechanism"], row["epsilon"]]): (
            row["least"],
            row["most"],
            row["kinds"],
        )
        for row in rows
    }


@functools.cache
def _load_shipped() -> Mapping[str, Preview]:
    rows = json.loads(MEASURED.read_text(encoding="utf-8"))
    return {row["key"]: Preview(**row["preview"]) for row in rows}


def preview_key(state: State, lookup: Lookup, reading: Reading) -> str:
    """Digest all that a preview is a function of, besides the code and its data."""
    model = reading.judge or reading.language
    values = {
        "mechanism": [state.guarantee.mechanism, dict(state.guarantee.parameters)],
        "space": state.space.digest,
        "public": dict(state.digests),
        "unknown": lookup.unknown,
        "keep": lookup.keep_digest,
        "read": reading.read,
        "language": None if model is None else model.digest,
    }
    text = json.dumps(values, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def ordinary_words() -> tuple[str, ...]:
    """Read 1,000 running words of public text, alike ones side by side.

    They stand for 16 million words of openly licensed English, which NOTICE names:
    each word as often as its share of them.
    """
    lines = ORDINARY_WORDS.read_text(encoding="utf-8").splitlines()
    pairs = (line.split() for line in lines)
    return tuple(word for word, share in pairs for _ in range(int(share)))


def _preview_words(state: State, lookup: Lookup) -> Preview:
    """Release single words: those of ordinary English, or of a foreign vocabulary.

    The vocabulary is taken where the space knows less than half of the ordinary words.
    Kept words are unchanged; masked and dropped ones are not.
    """
    words, of = ordinary_words(), "ordinary English text"
    known = [word for word in words if word in state.space.index]
    if len(known) < len(words) / 2:
        # A few words have as many draws as a thousand: one draw of each shows nothing.
        times = max(1, len(words) // state.space.vocab_size)
        known, of = list(state.space.words[: len(words)]) * times, "its vocabulary"
    elif lookup.unknown != "fail":  # that releases known words alone
        known = list(words)
    codes = lookup.codes(tokenize(known))
    through = codes >= 0
    unchanged, near = shares_kept(state, codes[through])
    kept, share = float(np.mean(codes == KEEP)), float(np.mean(through))
    return Preview(
        of=of,
        words=len(codes),
        unchanged=kept + share * unchanged,
        near=None if near is None else kept + share * near,
    )


def _preview_sentences(
    state: State, lookup: Lookup, reading: Reading
) -> Preview | None:
    """Release and read sentences, and let an attacker recover their words.

    The embedded language model wrote them, with a fixed seed: on them an attacker with
    this model is at its best. None where the space knows less than half of their words.
    """
    batch = tokenize(SENTENCES.read_text(encoding="utf-8").splitlines())
    codes = lookup.codes(batch)
    through = (codes >= 0) & (codes < lookup.vocab_size)
    if np.mean(through) < 1 / 2:
        return None
    rng = np.random.Generator(np.random.PCG64(_SEED))
    drawn = np.where(codes < 0, codes, 0).astype(np.int32)
    drawn[codes >= 0] = state.sample(codes[codes >= 0], rng)
    read = reading(drawn, batch, "keep")
    unchanged = (read == codes) & ((codes >= 0) | (codes == KEEP))
    near: float | None = None
    if state.space.has_vectors:
        is_near = unchanged.copy()
        is_near[through] |= near_words(state, codes[through], read[through])
        near = float(is_near.mean())
    return Preview(
        of="ordinary English sentences",
        words=len(codes),
        unchanged=float(unchanged.mean()),
        near=near,
        recovered=reading.compute_recovered(drawn, batch, codes),
    )


def _estimate_recovered(state: State, lookup: Lookup) -> float | None:
    """Estimate the share of words of sentences that our language model recovers.

    None where that takes long, as for all laws but those of trees, and where the model
    has other words than the space.
    """
    from mondegreen.decode.decoder import CANDIDATES
    from mondegreen.language.store import load_language
    from mondegreen.privatizer.reading import Reading

    language = load_language()
    if not language.is_for(state.space):
        return None
    if state.channel(language.frequencies(), CANDIDATES) is None:
        return None
    reading = Reading(state, "sentence", language)
    found = _preview_sentences(state, lookup, reading)
    return None if found is None else found.recovered


def shares_kept(state: State, ids: Ids) -> tuple[float, float | None]:
    """Estimate which share of words stays, and which stays or is near in meaning.

    From one draw for each word, with a fixed seed: with 1,000 of them either is right
    to 0.03 (95 %). The second is None in a space without vectors.

    >>> import mondegreen as mg
    >>> state = mg.mechanism("tree", epsilon=10.0).prepare(mg.load_space())
    >>> same, near = shares_kept(state, np.arange(1000, dtype=np.int32))
    >>> same < 0.1 < 0.8 < near
    True
    """
    if not len(ids):
        return 0.0, 0.0 if state.space.has_vectors else None
    drawn = state.sample(ids, np.random.Generator(np.random.PCG64(_SEED)))
    same = drawn == ids
    if not state.space.has_vectors:
        return float(same.mean()), None
    near = same | near_words(state, ids, drawn)
    return float(same.mean()), float(near.mean())


def near_words(state: State, ids: Ids, outputs: Ids) -> NDArray[np.bool_]:
    """Tell whether each output is near its input in meaning.

    That is: in its group of the word tree, if there is one, or among its 24 nearest
    words by distance (1 % of the words, in a small space). The unknown word has no
    meaning to be near to.
    """
    space = state.space
    near = np.zeros(len(ids), dtype=bool)
    known = ids < space.vocab_size
    tree = state.tree or load_tree(space)
    if tree is not None and tree.levels > 1:
        group = tree.nodes[1]
        near[known] = group[ids[known]] == group[outputs[known]]
    asked = np.flatnonzero(known & ~near & (ids != outputs))
    near[asked] = _among_nearest(space, ids[asked], outputs[asked])
    return near


def _among_nearest(space: Space, ids: Ids, outputs: Ids) -> NDArray[np.bool_]:
    """Whether at most 23 other words are nearer to an input than its output."""
    allowed = min(_NEAREST, space.vocab_size // 100)
    found = np.empty(len(ids), dtype=bool)
    words = space.vectors.astype(np.float32)  # as good as ranks need, and quicker
    squares = np.einsum("ij,ij->i", words, words)
    for block in slices(len(ids), _BLOCK):
        table: NDArray[np.floating[Any]]
        if space.metric == "euclidean":
            table = words[ids[block]] @ words.T
            table *= -2
            table += squares
        else:
            table = distances(space.metric, space.points(ids[block]), space.vectors)
        own = np.arange(len(table))
        gaps = table[own, outputs[block]]
        table[own, ids[block]] = np.inf  # the word itself is not another
        found[block] = np.count_nonzero(table < gaps[:, None], axis=1) < allowed
    return found
