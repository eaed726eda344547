"""``mondegreen chances``: the tree that keeps most of a text under two bounds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import click

from mondegreen.cli import options
from mondegreen.cli.options import File, argument, command, option
from mondegreen.cli.render import echo_facts, echo_json, echo_table, read_public, say
from mondegreen.errors import ConfigurationError
from mondegreen.io.guess import Format
from mondegreen.wording import amount, figure, privatize_command

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mondegreen.arrays import Floats
    from mondegreen.mechanisms.selection.tree import TreeState
    from mondegreen.space.space import Space


_SHOWN: Final = 3  # words that stand for a class
# What people read in place of keys of the JSON.
_LABELS: Final = {
    "success": "attack success",
    "success, no output seen": "before any output",
    "nats, by level": "loss n by level (odds e^n)",
}

_ROUNDING: Final = 1e-9  # of sums over all words in float64


@command()
def chances(
    sample: File = argument(),
    output: File = option(
        "JSON to write, for --set @FILE of the other commands.", "-o --output"
    ),
    success: float = option(
        "Attack success: how often the best guess of a single word may be right, in "
        "texts with the word frequencies of SAMPLE. Who guesses sees one output, "
        "without its context, and knows the mechanism and these frequencies.",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
    ),
    epsilon: float = option(
        "Privacy budget: smaller is more private. An output changes the odds between "
        "any two words by a factor of at most e^NUMBER.",
        "-e --epsilon",
    ),
    power: float = option(
        "How much a word of similar meaning counts as kept: its cosine to this power. "
        "Below 1, fewer words stay as they are and more come out near.",
        default=1.0,
        type=click.FloatRange(0, 10, min_open=True),
    ),
    alike: bool = option(
        "The same chances for every class of words: more grammar, less meaning."
    ),
    columns: tuple[options.Column, ...] = options.COLUMNS,
    format: Format | None = options.FORMAT,
    space: options.SpaceName = options.SPACE,
    force: bool = options.FORCE,
    as_json: bool = options.JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Tune the default mechanism, "tree", so that it keeps most of a text.

    SAMPLE is PUBLIC text of the kind that is to be privatized. The tree draws a word
    of the same group, or of the same branch, ..., or any word; this finds with which
    chances, by class of words, so that both bounds hold. The privacy budget bounds any
    text; attack success is bounded for texts with the word frequencies of SAMPLE. A
    small SAMPLE has not those of other texts, so take a large one. Who reads more than
    one word may guess better.

    \b
    mondegreen chances public.csv --success 0.2 --epsilon 10 -o chances.json
    mondegreen privatize notes.csv -o safe.csv -m tree -e 10 --set @chances.json
    """  # noqa: D301
    from mondegreen.calibration.tree_levels import best_tree, tfidf_weights
    from mondegreen.io.target import Target
    from mondegreen.space.store import load_space, tree_for

    options.built("tree", epsilon, ())  # refuses a bad epsilon before work starts
    target, loaded = Target(output, force=force), load_space(space)
    read = read_public(sample, format, columns, loaded, quiet=quiet)
    words = amount(read.words, "word")
    if read.words < loaded.vocab_size:
        say(
            f"SAMPLE is small: {words}, for a vocabulary of {loaded.vocab_size:,}. "
            "Attack success is bounded for its frequencies alone; those of other texts "
            "differ, and there a guess may be right more often."
        )
    raw, spread = read.expectations()
    everyone = read.priors()["sample"]  # words that are not in the sample count too
    found = best_tree(
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
    state = found.prepare(loaded)
    reached = _checked(state, (raw, spread), success)
    given = found.to_dict()["parameters"]
    kept = {k: v for k, v in given.items() if k != "epsilon" and v is not None}
    target.write_whole(json.dumps(kept, indent=1).encode() + b"\n")
    if output == "-":
        return
    facts = {
        "sample": f"{read.name}: {amount(read.texts, 'text')}, {words}",
        "success": round(reached, 6),
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
    click.echo("\nchance of a word of the same ... by class:")
    echo_table(_classes(state, loaded))
    click.echo(f"\ntake:\n  {command}")


def _checked(state: TreeState, priors: Iterable[Floats], success: float) -> float:
    """How often a guess is right with the first prior; refuses too often."""
    from mondegreen.calibration.guess import vulnerability

    reached = [vulnerability(state.law, prior) for prior in priors]
    if not max(reached) <= success * (1 + _ROUNDING):
        raise ConfigurationError(
            f"success {success:g} was not reached: with the chances found the best "
            f"guess is right with probability {max(reached):.6g}"
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
