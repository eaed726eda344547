"""``mondegreen chances``: the chances of the levels of a tree, by a target."""

from __future__ import annotations

import contextlib
import json
import shlex
from typing import TYPE_CHECKING, Any, Final

import click

from mondegreen.cli.options import built, columns_option, space_option
from mondegreen.cli.render import echo_facts, echo_json, echo_table
from mondegreen.cli.sample import PUBLIC_SAMPLE, counted
from mondegreen.wording import amount

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from mondegreen.calibration.sample import Sample
    from mondegreen.mechanisms.selection.tree import Tree
    from mondegreen.mechanisms.selection.tree_state import TreeState
    from mondegreen.space.space import Space

    Floats = NDArray[np.float64]


_SHOWN: Final = 3
"""Words that stand for a class."""

_ROUNDING: Final = 1e-9
"""Of sums over all words in float64."""


@click.command()
@click.argument("sample", type=click.Path(allow_dash=True, path_type=str))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=str),
    metavar="FILE",
    help="JSON to write, for --set @FILE of the other commands.",
)
@click.option(
    "--success",
    required=True,
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="How often the best guess of a single word is right, at most, in texts with "
    "the word frequencies of SAMPLE: who guesses sees one output, without its context, "
    "and knows the mechanism and these frequencies.",
)
@click.option(
    "-e",
    "--epsilon",
    required=True,
    type=float,
    metavar="NUMBER",
    help="Loss in nats for any two words, at most.",
)
@click.option(
    "--power",
    type=click.FloatRange(0, 10, min_open=True),
    default=1.0,
    show_default=True,
    help="What a word nearby is worth: its cosine to this power. Below 1, fewer words "
    "stay as they are and more come out near.",
)
@click.option(
    "--alike",
    is_flag=True,
    help="The same chances for every class of words: more grammar, less meaning.",
)
@columns_option
@click.option(
    "--format",
    type=click.Choice(["txt", "csv", "tsv", "jsonl", "parquet"]),
    help="Of SAMPLE.  [default: what the name tells; txt for -]",
)
@space_option
@click.option("--force", is_flag=True, help="Replace an output that exists.")
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def chances(
    sample: str,
    output: str,
    success: float,
    epsilon: float,
    power: float,
    alike: bool,
    columns: tuple[str, ...],
    format: Any,
    space: str,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Find the chances of the tree that keep most of a text.

    SAMPLE is PUBLIC text of the kind that is to be privatized. The mechanism "tree"
    draws a word of the same group, or of the same branch, ..., or any word; this finds
    with which chances, by class of words, so that both bounds hold. The loss is then
    bounded for any text, the guess for texts with the word frequencies of SAMPLE: a
    small SAMPLE has not those of other texts, so take a large one. Who reads more than
    one word may guess better.

    \b
    mondegreen chances public.csv --success 0.2 --epsilon 10 -o chances.json
    mondegreen privatize notes.csv -o safe.csv -m tree -e 10 --set @chances.json
    """  # noqa: D301
    from mondegreen.calibration.tree_levels import best_tree, tfidf_weights
    from mondegreen.cli.progress import say
    from mondegreen.io.target import Target
    from mondegreen.mechanisms.selection.tree import tree_for
    from mondegreen.space.store import load_space

    built("tree", epsilon, ())  # refuses an epsilon that is none, before work starts
    target, loaded = Target(output, force=force), load_space(space)
    tree = tree_for(loaded)
    read = counted(sample, format, columns, loaded, quiet=quiet)
    if not quiet:
        say(PUBLIC_SAMPLE)
    if read.words < loaded.vocab_size:
        say(_small(read, loaded))
    raw, spread = read.expectations()
    found = best_tree(
        loaded,
        tree,
        raw,
        success=success,
        epsilon=epsilon,
        also=(spread,),
        weights=tfidf_weights(
            read.priors()["sample"]
        ),  # words not in the sample count too
        power=power,
        by_class=not alike,
    )
    state = found.prepare(loaded)
    reached = _checked(state, (raw, spread), success)
    with contextlib.closing(target):
        target.open()
        target.write(json.dumps(_settings(found), indent=1).encode() + b"\n")
        target.commit()
    if output == "-":
        return
    facts = {
        "sample": f"{read.name}: {amount(read.texts, 'text')}, "
        f"{amount(read.words, 'word')}",
        "success": round(reached, 6),
        "success, no output seen": round(float(raw.max()), 6),
        "nats, by level": ", ".join(f"{loss:.4g}" for loss in state.law.losses()),
        "tree": tree.digest,
        "output": output,
        "command": _command(found, output, space),
    }
    if as_json:
        echo_json({**facts, "classes": _classes(state, loaded)})
        return
    *shown, command = facts
    echo_facts({key: facts[key] for key in shown})
    click.echo("\nchance of a word of the same ... by class:")
    echo_table(_classes(state, loaded))
    click.echo(f"\ntake:\n  {facts[command]}")


def _small(read: Sample, space: Space) -> str:
    """Say that the frequencies of a small sample are its own."""
    return (
        f"SAMPLE is small: {amount(read.words, 'word')}, for a vocabulary of "
        f"{space.vocab_size:,}. The success holds for just its frequencies; those of "
        "other texts differ, and there a guess may be right more often."
    )


def _checked(state: TreeState, priors: Iterable[Floats], success: float) -> float:
    """Return how often a guess is right with the first prior; refuse too often."""
    from mondegreen.calibration.guess import vulnerability
    from mondegreen.errors import ConfigurationError

    reached = [vulnerability(state.law, prior) for prior in priors]
    if not max(reached) <= success * (1 + _ROUNDING):
        raise ConfigurationError(
            f"success {success:g} was not reached: with the chances found the best "
            f"guess is right with probability {max(reached):.6g}"
        )
    return reached[0]


def _settings(found: Tree) -> dict[str, Any]:
    """Return the parameters but epsilon, which a command names itself."""
    given: dict[str, Any] = found.to_dict()["parameters"]
    return {
        key: value
        for key, value in given.items()
        if key != "epsilon" and value is not None
    }


def _classes(state: TreeState, space: Space) -> list[dict[str, object]]:
    """Return the chances of every class, which frequent words name.

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
        rows.append(
            {
                "words": len(members),
                "such as": words,
                **dict(zip(names, shares, strict=True)),
            }
        )
    return rows


def _command(found: Tree, output: str, space: str) -> str:
    """Return the command that privatizes with these chances."""
    from mondegreen.space.store import DEFAULT_SPACE

    parts = ["mondegreen", "privatize", "INPUT", "-o", "OUTPUT", "--mechanism", "tree"]
    parts += ["--epsilon", f"{found.epsilon:.10g}", "--set", f"@{output}"]
    if space != DEFAULT_SPACE:
        parts += ["--space", space]
    return shlex.join(parts)
