"""``mondegreen attack``: what adversaries recover, in plain words and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

import click

from mondegreen.cli import options
from mondegreen.cli.options import File, argument, command, option
from mondegreen.cli.render import echo_json, say, shower, table
from mondegreen.errors import ConfigurationError, SourceError
from mondegreen.io.guess import Format
from mondegreen.settings import Settings
from mondegreen.wording import amount, figure

if TYPE_CHECKING:
    from mondegreen.attacks.attack import Attack
    from mondegreen.attacks.pairs import Pairs
    from mondegreen.attacks.reader import Knowledge
    from mondegreen.guarantee import Guarantee
    from mondegreen.io.base import AbstractSource
    from mondegreen.mechanisms.base import State
    from mondegreen.passes import Pass
    from mondegreen.wording import Kind

_OWN: Final = (
    "Computed from the texts themselves: where these are private, so are these numbers."
)
_HEADINGS: Final = {
    "single_word": "one word by itself",
    "reader": "a reader of sentences",
    "learning_reader": "one who learns from the release",
    "worst_word": "the worst word",
    "categories": "categories of words",
    "mutual_information": "mutual information",
    "linkage": "linkage",
    "averaging": "repeated releases",
}


@command()
def attack(
    sample: File = argument(),
    release: File | None = argument(required=False),
    columns: tuple[options.Column, ...] = options.COLUMNS,
    format: Format | None = options.FORMAT,
    settings: Settings = options.settings(*options.LAW),
    language: options.LanguageName | None = options.KNOWN_LANGUAGE,
    texts: int = option("How many texts to attack, from the first.", default=2000),
    seed: options.Seed = option(
        "Fixes what is drawn, for the attack alone.", default=0
    ),
    more: tuple[options.AttackName, ...] = option(
        "Another attack, which a plug-in offers. Repeatable.", "--attack NAME"
    ),
    as_json: bool = options.JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Measure what adversaries recover of SAMPLE from its release.

    Whoever guesses words by themselves, whoever reads sentences, whoever looks for the
    text that a release belongs to; which word is worst off, and how much an output
    tells at all. All know the mechanism and public text, none a key. Without RELEASE
    one is drawn, and thrown away; RELEASE is one of this setting, in the order of
    SAMPLE, and printed with --read none: not all attacks work on one that was read.
    The numbers hold for these texts and these adversaries: who knows more recovers
    more.

    \b
    mondegreen attack reviews.csv --column review --epsilon 10
    mondegreen attack reviews.csv drawn.csv --column review --epsilon 10 --json
    """  # noqa: D301
    import numpy as np

    from mondegreen.attacks.run import attack_all
    from mondegreen.privatizer.build import build_mechanism
    from mondegreen.privatizer.spec import find_space

    if sample == release:
        raise ConfigurationError("SAMPLE and RELEASE must be two files")
    mechanism = build_mechanism(settings)
    options.check_proved(mechanism, allow_unproved=settings.allow_unproved)
    loaded, show = find_space(settings.space), shower(quiet)
    state = mechanism.prepare(loaded)
    pairs = _read(sample, release, columns, format, state, texts)
    problem: str | None = None
    if release is None:
        pairs = pairs.drawn(state, np.random.default_rng(seed))
    else:
        pairs, problem = _checked(pairs, state)
    show("the channel")
    knowledge = _knowledge(state, pairs, language)
    found = attack_all(state, pairs, knowledge, show, more)
    show("")
    if as_json:
        about = {
            "texts": pairs.texts,
            "words": len(pairs.inputs),
            "left_out": pairs.left_out,
            "release_problem": problem,
            "note": _OWN,
        }
        echo_json({**about, **{key: each.to_dict() for key, each in found.items()}})
        return
    size = f"{amount(pairs.texts, 'text')}, {amount(len(pairs.inputs), 'word')}"
    head = f"{sample}: {size}; {state.stated.setting} on {loaded.name}"
    click.echo("\n".join([head, "", *_lines(found), "", _OWN]))


def _read(
    sample: str,
    release: str | None,
    columns: tuple[str, ...],
    format: Format | None,
    state: State,
    most: int,
) -> Pairs:
    """Read the first texts, and their releases if these are at hand."""
    from mondegreen.attacks.pairs import pairs_of
    from mondegreen.cli.score import text_pairs
    from mondegreen.io.open import open_source
    from mondegreen.text.lookup import Lookup

    def opened(path: str) -> AbstractSource:
        return open_source(path, format=format, columns=columns, missing="pass")

    releases = None
    with opened(sample) as mine:
        if release is None:
            found = chain.from_iterable(map(mine.texts, mine.batches()))
            texts = list(islice(found, most))
        else:
            with opened(release) as theirs:
                check_stated(theirs, state)
                both = (zip(*chunk, strict=True) for chunk in text_pairs(mine, theirs))
                rows = (row for row in chain.from_iterable(both) if None not in row)
                chosen = list(islice(rows, most))
            texts = [str(text) for text, _ in chosen]
            releases = [str(found) for _, found in chosen]
    pairs = pairs_of(texts, Lookup(state.space), releases)
    if not len(pairs.inputs):
        raise SourceError(sample, "it has no words in these columns")
    return pairs


def _knowledge(state: State, pairs: Pairs, language: str | None) -> Knowledge:
    """What adversaries know: a public model, or, of words without one, the texts."""
    from mondegreen.attacks.reader import Knowledge
    from mondegreen.language.store import load_language

    model = load_language(language)
    if language is None and not model.is_for(state.space):
        return Knowledge.of_texts(pairs.frequencies(state.space.vocab_size + 1))
    return Knowledge.of_language(state, model)


def check_stated(release: AbstractSource, state: State) -> list[list[Pass]]:
    """Refuse a release whose own guarantee says that another setting made it.

    Returns what is stated of each column, oldest first: nothing of most files.
    """
    from mondegreen.passes import from_json

    def setting(stated: Guarantee) -> str:
        given = [stated.mechanism, dict(stated.parameters), stated.space_digest]
        return json.dumps(given, sort_keys=True)

    found, passes = [], from_json(release.earlier)
    for column in release.text_columns:
        made = [p for p in passes if p.column in (column, None)]
        said = [setting(p.guarantee) for p in made if p.guarantee is not None]
        if said and setting(state.stated) != said[-1]:  # the last one drew the words
            problem = f"another setting made it, as its guarantee says: {made[-1]}"
            hint = "give that one, and its space"
            raise SourceError(release.name, problem, hint=hint)
        found.append(made)
    return found


def _checked(pairs: Pairs, state: State) -> tuple[Pairs, str | None]:
    """Leave released words out where this setting did not draw them; say so."""
    from mondegreen.attacks.outputs import has_closed_law
    from mondegreen.attacks.pairs import looks_drawn

    problem = None
    if pairs.released is None:
        problem = "its texts are not those of SAMPLE word for word"
    elif has_closed_law(state) and not looks_drawn(state, pairs):
        problem = "this setting did not draw its words: another did, or it was read"
        pairs = pairs.as_printed()
    elif pairs.left_out:
        left = amount(pairs.left_out, "text")
        say(f"RELEASE: {left} left out, which are not those of SAMPLE word for word.")
    if problem is not None:
        problem += (
            ". Attacks that need the sampled words are left out: they take a release "
            "printed with --read none"
        )
        say(f"RELEASE: {problem}.")
    return pairs, problem


def _lines(found: Mapping[str, Attack]) -> Iterator[str]:
    """A row for each attack, and what is behind the largest numbers."""
    rows = [["attack", "reaches", "without release", "who attacks, and how"]]
    for name, each in found.items():
        is_share = each.unit.startswith(("share", "chance"))
        kind: Kind = "percent" if is_share else "number"
        sign = " %" if is_share else ""
        shown = "not known"
        if each.value is not None and each.low is not None and each.high is not None:
            shown = figure(each.value, kind) + sign
            if each.low < each.high:
                ends = figure(each.low, kind), figure(each.high, kind)
                shown += f" ({ends[0]} to {ends[1]})"
        chance = "" if each.chance is None else figure(each.chance, kind) + sign
        rows.append([_HEADINGS.get(name, name), shown, chance, each.adversary])
    yield from table(rows, align="<>><")
    own = found.get("single_word")
    if own is not None and "exactly_these_frequencies" in own.details:
        share = figure(own.details["exactly_these_frequencies"], "percent")
        yield f"\none word by itself, knowing how frequent each word is here: {share} %"
    if "worst_word" in found and (words := found["worst_word"].details.get("words")):
        listed = ", ".join(f"{word} {100 * share:.0f} %" for word, share in words)
        yield f"words guessed most often: {listed}"
    for way in found["linkage"].details["by"]:
        chance = figure(way["chance"], "percent")
        value = figure(way["value"], "percent")
        yield f"linked by {way['by']}: {value} % (by chance {chance} %)"
