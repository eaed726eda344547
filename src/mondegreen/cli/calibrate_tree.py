"""``mondegreen calibrate -m tree -o``: the tree that keeps most of a text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, final

import click

from mondegreen.cli.options import option
from mondegreen.cli.render import (
    echo_facts,
    echo_json,
    echo_table,
    read_public,
    say,
    shower,
)
from mondegreen.errors import ConfigurationError
from mondegreen.io.guess import Format
from mondegreen.wording import amount, figure, privatize_command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mondegreen.arrays import Floats
    from mondegreen.calibration.sample import Sample
    from mondegreen.mechanisms.selection.tree import Tree, TreeState
    from mondegreen.space.space import Space


_SHOWN: Final = 3  # words that stand for a class
# What people read in place of keys of the JSON.
_LABELS: Final = {
    "success": "a single word is guessed",
    "reader": "a reader recovers",
    "success, no output seen": "before any output",
    "nats, by level": "loss n by level (odds e^n)",
}

_ROUNDING: Final = 1e-9  # of sums over all words in float64
_HALF: Final = 20_000  # words that a reader is tried on


TREE_POWER: Final = option(
    "For -m tree with -o: how strongly similar words are preferred, as a power of the "
    "cosine. Below 1, fewer words stay and more move to a similar word.",
    default=1.0,
    type=click.FloatRange(0, 10, min_open=True),
)
TREE_ALIKE: Final = option(
    "For -m tree with -o: use the same probabilities for every class of words. This "
    "keeps more grammar and less meaning."
)


def tune_tree(
    sample: str,
    output: str,
    *,
    target: tuple[str, float],
    epsilon: float,
    power: float,
    alike: bool,
    columns: tuple[str, ...],
    format: Format | None,
    sheet: str | None,
    encoding: str | None,
    space: str,
    language: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Find with which chances the tree keeps most of a text under two bounds.

    The tree draws a word of the same group, or of the same branch, ..., or any word.
    The privacy budget bounds any text. The success of the best guess of one word is
    bounded for texts with the word frequencies of the sample: the target
    ``("success", share)``. An attacker who uses context recovers more words:
    ``("reader", share)`` bounds that one, for the named language model and texts from
    the same domain.
    """
    from mondegreen.calibration.tree_levels import best_tree, tfidf_weights
    from mondegreen.io.target import Target
    from mondegreen.mechanisms import mechanism
    from mondegreen.space.store import load_space, tree_for

    mechanism("tree", epsilon=epsilon)  # refuses a bad epsilon before work starts
    key, share = target
    written, loaded = Target(output, force=force), load_space(space)
    keep = 2 * _HALF if key == "reader" else 0
    how: dict[str, Any] = {"quiet": quiet, "keep": keep}
    how |= {"sheet": sheet, "encoding": encoding}
    read = read_public(sample, format, columns, loaded, **how)
    words = amount(read.words, "word")
    if read.words < loaded.vocab_size:
        say(
            f"SAMPLE is small: {words}, for a vocabulary of {loaded.vocab_size:,}. "
            "The bound on guesses holds for the word frequencies of SAMPLE only. In "
            "other texts, a guess may be right more often."
        )
    raw, spread = read.expectations()
    everyone = read.priors()["sample"]  # words that are not in the sample count too

    def build_tuned(success: float) -> Tree:
        return best_tree(
            loaded,
            tree_for(loaded),
            raw,
            success=success,
            epsilon=epsilon,
            also=(spread,),
            weights=tfidf_weights(everyone),
            power=power,
            by_class=not alike,
        )

    against, success = None, share
    if key == "reader":
        against = _Reader(read, loaded, language, shower(quiet))
        success = against.success(share, build_tuned, max(raw.max(), spread.max()))
    found = build_tuned(success)
    state = found.prepare(loaded)
    reached = _check(state, (raw, spread), success)
    given = found.to_dict()["parameters"]
    kept = {k: v for k, v in given.items() if k != "epsilon" and v is not None}
    written.write_whole(json.dumps(kept, indent=1).encode() + b"\n")
    if output == "-":
        return
    facts = {
        "sample": f"{read.name}: {amount(read.texts, 'text')}, {words}",
        "success": round(reached, 6),
        **({} if against is None else {"reader": against.check(state)}),
        "success, no output seen": round(float(raw.max()), 6),
        "nats, by level": ", ".join(figure(x, digits=4) for x in state.law.losses()),
        "tree": state.tree.digest,
        "output": output,
        "command": privatize_command("tree", found.epsilon, output, space=space),
    }
    if as_json:
        echo_json({**facts, "classes": _classes(state, loaded)})
        return
    command = facts.pop("command")
    echo_facts({_LABELS.get(key, key): fact for key, fact in facts.items()})
    click.echo("\nprobability of a word of the same ..., by class:")
    echo_table(_classes(state, loaded))
    click.echo(f"\ntake:\n  {command}")


@final
class _Reader:
    """A reader of public sentences: one half of them to tune by, the other to check."""

    def __init__(
        self,
        read: Sample,
        space: Space,
        language: str | None,
        show: Callable[[str], None],
    ) -> None:
        from mondegreen.attacks.pairs import build_pairs
        from mondegreen.language.store import load_language
        from mondegreen.text.lookup import Lookup

        self._model, self._space, self._show = load_language(language), space, show
        self._model.check_space(space)
        pairs = build_pairs(read.passage, Lookup(space))
        self._own, self._other = (pairs.every(2, first) for first in (0, 1))

    def success(
        self, reader: float, tuned: Callable[[float], Tree], least: float
    ) -> float:
        """Find the success of a single guess at which the reader recovers so much."""
        from mondegreen.attacks.adversary import success_against

        def prepare(success: float) -> TreeState:
            self._show(f"the reader, where a word is guessed with {success:.3f}")
            return tuned(success).prepare(self._space)

        least *= 1 + _ROUNDING
        found = success_against(reader, prepare, self._own, self._model, least)
        self._show("")
        return found

    def check(self, state: TreeState) -> dict[str, float | int]:
        """Measure the reader on the half that nothing was chosen by."""
        import numpy as np

        from mondegreen.attacks.adversary import read

        found = read(state, self._other, self._model, np.random.default_rng(1))
        ends = {"value": found.value, "low": found.low, "high": found.high}
        rounded = {key: round(end, 4) for key, end in ends.items() if end is not None}
        return {**rounded, "words": found.n}


def _check(state: TreeState, priors: Iterable[Floats], success: float) -> float:
    """How often a guess is right with the first prior; refuses too often."""
    from mondegreen.calibration.guess import vulnerability

    reached = [vulnerability(state.law, prior) for prior in priors]
    if not max(reached) <= success * (1 + _ROUNDING):
        raise ConfigurationError(
            f"success {success:g} was not reached: with the best probabilities found, "
            f"a guess is right with probability {max(reached):.6g}"
        )
    return reached[0]


def _classes(state: TreeState, space: Space) -> list[dict[str, object]]:
    """The chances of every class, which frequent words name.

    A level whose nodes are those of the one below is counted with that one.
    """
    from mondegreen.sampling.integers import TOTAL

    tree, rows = state.tree, []
    names = ["word", *(f"level {n}" for n in range(1, tree.levels)), "any"]
    for node, weights in enumerate(state.law.by_child()):
        members = sorted(tree.members(tree.levels - 1, node).tolist())
        words = " ".join(space.words[word] for word in members[:_SHOWN])
        counts = [len(set(tree.nodes[level, members])) for level in range(tree.levels)]
        merged = [0] * len(weights)
        for level, weight in enumerate(weights):
            merged[counts.index(counts[level]) if level < tree.levels else -1] += weight
        shares = [f"{weight / TOTAL:.4f}" for weight in merged]
        by_level = dict(zip(names, shares, strict=True))
        rows.append({"words": len(members), "such as": words, **by_level})
    return rows
