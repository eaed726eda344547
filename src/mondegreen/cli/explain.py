"""``mondegreen explain``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mondegreen.cli.options import (
    built,
    epsilon_option,
    mechanism_option,
    settings_option,
    space_option,
)
from mondegreen.errors import ConfigurationError

if TYPE_CHECKING:
    from mondegreen.guarantee import Guarantee
    from mondegreen.privatizer.privatizer import Privatizer
    from mondegreen.scores.word import WordScores


@click.command()
@click.argument("word")
@epsilon_option
@mechanism_option
@settings_option
@space_option
@click.option(
    "--keep",
    type=click.Path(path_type=str),
    metavar="FILE",
    help="PUBLIC words, one a line, that pass in clear, as spelled there.",
)
@click.option(
    "--words",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    metavar="N",
    help="Words of a document whose loss is added up.",
)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="Likeliest outputs to list.",
)
@click.option(
    "--eta",
    type=click.FloatRange(min=0, max=1, max_open=True),
    default=0.05,
    show_default=True,
    help="Probability that the effective number of outputs may leave out.",
)
@click.option(
    "--runs",
    type=click.IntRange(min=2),
    default=20_000,
    show_default=True,
    help="Outputs to draw where the law has no closed form.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Repeat the same runs.")
@click.option(
    "--plot",
    type=click.Path(path_type=str),
    metavar="FILE",
    help="Draw the likeliest outputs, as .png or .svg.",
)
@click.option("--force", is_flag=True, help="Replace a picture that exists.")
@click.option(
    "--allow-unproved", is_flag=True, help="Permit a mechanism without a proof."
)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def explain(
    word: str,
    epsilon: float,
    name: str,
    settings: tuple[str, ...],
    space: str,
    keep: str | None,
    words: int,
    top: int,
    eta: float,
    runs: int,
    seed: int | None,
    plot: str | None,
    force: bool,
    allow_unproved: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Show what one setting means for WORD.

    How often it stays, how many outputs are likely and which, how far an output moves
    the odds between it and another word, and what a document adds up to. Exact where
    the law has a closed form; else from runs, with 95 % confidence intervals. Nothing
    is read but public data.

    \b
    mondegreen explain doctor --epsilon 10
    mondegreen explain doctor --epsilon 12 --mechanism laplace --plot doctor.svg
    """  # noqa: D301
    import numpy as np

    from mondegreen.cli.explain_text import lines_of
    from mondegreen.cli.privatize import _certify
    from mondegreen.cli.render import echo_json
    from mondegreen.privatizer.privatizer import Privatizer
    from mondegreen.scores.word import score_word
    from mondegreen.text.policy import KEEP, read_keep_list

    target = _picture(plot, force=force)
    kept = read_keep_list(keep) if keep else frozenset()
    privatizer = Privatizer(
        built(name, epsilon, settings),
        space,
        keep=kept,
        allow_unproved=allow_unproved,
    )
    code, form = _code_of(word, privatizer, kept)
    facts = {
        "word": word,
        "looked_up_as": form,
        "is_kept": code == KEEP,
        "guarantee": None,
    }
    if code == KEEP:
        if target is not None:
            raise ConfigurationError("--plot: a word of the keep list has one output")
        if as_json:
            echo_json({**facts, "stay": 1.0})
        else:
            click.echo(
                f"{word}: on the keep list. It passes in clear, every time; nothing is "
                "promised for it."
            )
        return
    _certify(privatizer, quiet=quiet)
    scores = score_word(
        privatizer.state,
        code,
        np.random.default_rng(seed),
        runs=runs,
        eta=eta,
        top=top,
        document=words,
    )
    guarantee = privatizer.guarantee
    if target is not None:
        own = word if word in privatizer.space.index else form
        _draw(target, plot or "", scores, own, guarantee)
    if as_json:
        facts["guarantee"] = guarantee.to_dict()
        echo_json({**facts, **scores.to_dict()})
    else:
        click.echo("\n".join(lines_of(word, form, scores, guarantee)))


def _picture(plot: str | None, *, force: bool) -> Any:
    """Return where the picture goes, refusing now what could not be written later."""
    if plot is None:
        return None
    from mondegreen.io.target import Target
    from mondegreen.report.charts import picture_format
    from mondegreen.report.svg import check_drawing

    picture_format(plot)
    check_drawing("--plot")
    return Target(plot, force=force)


def _draw(
    target: Any, plot: str, scores: WordScores, word: str, guarantee: Guarantee
) -> None:
    """Write the picture, whole or not at all."""
    import contextlib

    from mondegreen.report.charts import picture, picture_format
    from mondegreen.report.figures import word_bars

    shown = f"{guarantee.setting} on {guarantee.space}"
    data = picture(word_bars(scores, word, shown), picture_format(plot))
    with contextlib.closing(target):
        target.open()
        target.write(data)
        target.commit()


def _code_of(
    word: str, privatizer: Privatizer, kept: frozenset[str]
) -> tuple[int, str]:
    """Return the code of the one word that was typed, and its canonical form."""
    from mondegreen.text.policy import Lookup
    from mondegreen.text.tokenizer import canonical, tokenize

    batch = tokenize([word])
    found = batch.words()
    if len(found) != 1:
        raise ConfigurationError(
            f"WORD reads as {len(found)} words; give one, such as: doctor"
        )
    codes = Lookup(privatizer.space, keep=kept).codes(batch)
    return int(codes[0]), canonical(found[0])
