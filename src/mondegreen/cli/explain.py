"""``mondegreen explain`` and ``mondegreen mechanisms``: what there is, what it does."""

from __future__ import annotations

import inspect
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from mondegreen.cli import options
from mondegreen.cli.options import File, argument, command, option
from mondegreen.cli.render import (
    describe_spellings,
    describe_symbol,
    echo_json,
    echo_table,
    prepare_privatizer,
    same_lines,
    say,
    table,
)
from mondegreen.errors import ConfigurationError
from mondegreen.settings import Settings
from mondegreen.wording import amount, factor, figure, figures, nats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mondegreen.guarantee import Guarantee
    from mondegreen.privatizer.privatizer import Privatizer
    from mondegreen.scores.policy_word import PolicyOdds, PolicyWordScores
    from mondegreen.scores.printed import Printed
    from mondegreen.scores.word import DocumentLoss, Odds, WordScores
    from mondegreen.wording import Kind

_RUNS: Final = 400
"""Public sentences that are released with ``--read``."""

_ROUNDING: Final = 1e-9  # nats: of logarithms of the law


@command()
def explain(
    word: str = argument(metavar="WORD|FILE"),
    settings: Settings = options.settings(
        *options.LAW, *options.SHOWN_POLICY, "keep", "print_all", "language"
    ),
    columns: tuple[options.Column, ...] = option(
        "For a FILE: column with text. Repeatable.  [default: text]",
        "-c --column",
        default=(),
    ),
    sheet: str | None = options.SHEET,
    encoding: str | None = options.ENCODING,
    texts: int = option("For a FILE: how many texts to read.", default=200),
    corpus: tuple[File, ...] = option(
        "For a FILE: PUBLIC texts from its domain, which the attacker knows. "
        "Repeatable.  [default: none; the attacker knows --language]"
    ),
    words: int = option(
        "Number of words of the document whose loss is printed.", default=100
    ),
    top: int = option("Number of most likely outputs to list.", default=10),
    eta: float = option(
        "Total probability of the outputs that do not count as likely.",
        default=0.05,
        type=click.FloatRange(min=0, max=1, max_open=True),
    ),
    runs: int = option(
        "Number of outputs to draw if probabilities cannot be computed.",
        default=20_000,
        type=click.IntRange(min=2),
    ),
    seed: options.Seed | None = option("Seed, to repeat the runs."),
    read: Literal["none", "words", "sentence"] = option(
        "Add what a public language model guesses from the outputs. words: from each "
        "output alone. sentence: from the output and its neighbors. Also print how "
        "often privatize prints WORD again, from runs in public sentences.",
    ),
    plot: File | None = option("Draw the most likely outputs, as .png or .svg."),
    force: bool = options.FORCE,
    as_json: bool = options.JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Show what a setting does to a WORD, or to the texts of a FILE.

    For a WORD under a policy, it shows whether WORD is ordinary or sensitive, and its
    class. It shows the exact probability that privatize prints WORD itself, another
    word of its group, or any other word. It reads public data only.

    For a WORD with --policy all, or a mechanism on a space, it shows how often WORD
    stays, and which outputs are likely. It shows how far an output changes the odds
    between WORD and another word, and the loss of a document. The figures are exact if
    probabilities can be computed. Otherwise they come from runs, with 95 % confidence
    intervals. With --read, it shows how often privatize prints WORD again, from runs in
    sentences.

    For a FILE, it shows which hidden words the context gives away, before you release
    the file. An attacker is more than 50 % sure about these words.
    The attacker knows the setting and a public language model (--language, or
    --corpus). On a terminal, the command prints these words. They are ORIGINALS, for
    the owner of the texts. Elsewhere it prints counts.

    \b
    mondegreen explain diabetes --epsilon 12
    mondegreen explain notes.csv --column note --epsilon 12
    mondegreen explain doctor --epsilon 10 --policy all
    mondegreen explain doctor --epsilon 12 --mechanism laplace --plot doctor.svg
    """  # noqa: D301
    import numpy as np

    from mondegreen.cli.explain_file import TextFile, explain_file, is_text_file
    from mondegreen.scores.policy_word import score_policy_word
    from mondegreen.scores.word import score_word
    from mondegreen.text.lookup import KEEP, Lookup
    from mondegreen.text.never_printed import never_printed

    if is_text_file(word, columns):
        explain_file(
            TextFile(word, columns, corpus, texts, sheet, encoding),
            settings,
            as_json=as_json,
            quiet=quiet,
        )
        return
    target = _picture(plot, force=force)
    privatizer = prepare_privatizer(replace(settings, read=read), quiet=quiet)
    if privatizer.policy is not None:
        _refuse_picture(
            target,
            "--plot cannot be combined with a policy: use --json, or --policy all",
        )
        scored = score_policy_word(privatizer.state, privatizer.policy, word, top=top)
        _explain_with_policy(privatizer, word, scored, words, as_json=as_json)
        return
    code, form = Lookup(privatizer.space, keep=settings.keep).find_code(word)
    facts = {"word": word, "looked_up_as": form, "is_kept": code == KEEP}
    if code == KEEP:
        _refuse_picture(target, "--plot: a word of the keep list has one output")
        _explain_kept(facts, as_json=as_json)
        return
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
    readings = _readings(privatizer, code, runs, seed)[:top]
    printed = _find_printed(replace(settings, read=read), word, seed)
    preview = privatizer.preview(with_attacker=True)
    if target is not None:
        from mondegreen.report.charts import picture, picture_format
        from mondegreen.report.figures import word_bars

        own = word if word in privatizer.space.index else form
        shown = f"{guarantee.setting} on {guarantee.space}"
        kind = picture_format(plot or "")
        target.write_whole(picture(word_bars(scores, own, shown), kind))
    if as_json:
        stated = {"guarantee": guarantee.to_dict()}
        read_as = [{"word": word, "probability": share} for word, share in readings]
        more = {
            "readings": read_as or None,
            "printed": printed and printed.to_dict(),
            "preview": preview.to_dict(),
            "protection": preview.protection(guarantee),
        }
        echo_json({**facts, **stated, **scores.to_dict(), **more})
    else:
        listed = frozenset() if settings.print_all else never_printed()
        click.echo("\n".join(_lines(word, form, scores, guarantee, listed)))
        if readings:
            rows = [(word, f"{figure(share, 'percent')} %") for word, share in readings]
            heading = "a language model guesses, without context"
            click.echo("\n".join(["", heading, *table(rows, indent="  ")]))
        if printed is not None:
            click.echo(
                f"\nprinted again, in public sentences: {_format_share(printed)}"
            )
        click.echo(f"\n{preview.warning or preview}")
        click.echo(f"Protection: {preview.protection(guarantee)}.")


def _explain_kept(facts: dict[str, Any], *, as_json: bool) -> None:
    """Say that a word of the keep list has no protection."""
    if as_json:
        echo_json({**facts, "guarantee": None, "stay": 1.0})
    else:
        clear = "It passes unchanged, every time. It has no guarantee."
        click.echo(f"{facts['word']}: on the keep list. {clear}")


def _refuse_picture(target: Any, why: str) -> None:
    if target is not None:
        raise ConfigurationError(why)


def _find_printed(settings: Settings, word: str, seed: int | None) -> Printed | None:
    """How often the command prints a word again, where a reader has the last word."""
    if settings.read == "none":
        return None
    from mondegreen.privatizer.build import build_privatizer
    from mondegreen.sampling.noise import Seeded
    from mondegreen.scores.printed import count_printed

    noise = None if seed is None else Seeded(seed)
    privatizer = build_privatizer(settings, noise)

    def release(texts: list[str]) -> list[str]:
        return [each.text if each else "" for each in privatizer.batch(texts)]

    return count_printed(word, release, _RUNS)


def _format_share(printed: Printed) -> str:
    value, ends = (
        figure(printed.value, "percent"),
        figures(printed.low, printed.high, "percent"),
    )
    return f"{value} % ({ends}, {amount(printed.runs or 0, 'run')})"


def _explain_with_policy(
    privatizer: Privatizer,
    word: str,
    scores: PolicyWordScores,
    words: int,
    *,
    as_json: bool,
) -> None:
    """Show what a policy and its mechanism do with one word."""
    from mondegreen.scores.printed import Printed

    guarantee, same = privatizer.guarantee, privatizer.settings.same
    printed = Printed.exactly(scores.stay).describe(
        same, is_ordinary=scores.is_ordinary
    )
    preview = privatizer.preview()
    document = guarantee.describe_text_loss(words)
    if as_json:
        echo_json(
            {
                "word": word,
                "is_kept": False,
                "guarantee": guarantee.to_dict(),
                "document": document,
                **scores.to_dict(),
                "printed": printed,
                "preview": preview.to_dict(),
                "protection": preview.protection(guarantee),
            }
        )
        return
    lines = [*_policy_lines(scores, guarantee), *same_lines(same)]
    click.echo("\n".join(lines))
    if not scores.is_ordinary:
        places, chance = printed["repeated"].values()
        often = figure(chance, "percent", digits=4)
        click.echo(
            f"\nin a text that has the word {places} times (--same {same}): the word "
            f"shows at least once in {often} % of releases"
        )
    text = f"a text of {amount(words, 'word')}: at most {figure(document['any'])} nats"
    click.echo(f"\nloss of {text}. {document['note']}")
    click.echo(f"\n{guarantee.summary()}\n{preview}")
    click.echo(f"Protection: {preview.protection(guarantee)}.")


def _policy_lines(scores: PolicyWordScores, guarantee: Guarantee) -> Iterator[str]:
    shown, law = scores.shown, guarantee.setting
    yield f"{shown.word}: {law} over policy {guarantee.space}; exact"
    yield describe_symbol(shown.inside)
    yield from describe_spellings(shown)
    chances = [("printed unchanged", scores.stay)]
    if not scores.is_ordinary:
        chances += [("printed as another word of its group", scores.group)]
    chances += [
        ("printed as a word of another group", scores.sensitive),
        (f"printed as {_other(scores)} word", scores.ordinary),
    ]
    rows = [
        (text, f"{figure(chance, 'percent', digits=4)} %") for text, chance in chances
    ]
    yield from ["", *table(rows, indent="  "), "", "outputs, for example"]
    listed = [
        (each.word, f"{figure(each.probability, 'percent')} %")
        for each in scores.outputs
    ]
    yield from [*table(listed, indent="  "), "", "odds"]
    for odds in scores.odds:
        other = _OTHERS.get(odds.pair, f"{_other(scores)} word")
        yield f"  {shown.word} or {other}, such as {odds.other}"
        yield f"        {_policy_limit(odds)}"


_OTHERS: Final = {
    "group": "another word of its group",
    "sensitive": "a word of another group",
}


def _other(scores: PolicyWordScores) -> str:
    return "another ordinary" if scores.is_ordinary else "an ordinary"


def _policy_limit(odds: PolicyOdds) -> str:
    """By how much an output can change odds, exactly."""
    if odds.realised is not None and odds.realised == 0.0:
        return "not changed by any output (0 nats)"
    if odds.realised is not None:
        return _limit(odds.realised)
    shown = "if an ordinary word is printed: certain"
    if not odds.hidden:
        return f"{shown}. If a sensitive word is printed: not changed"
    return f"{shown}. Otherwise {_limit(odds.hidden)}"


def _readings(
    privatizer: Privatizer, code: int, runs: int, seed: int | None
) -> list[tuple[str, float]]:
    """What the outputs of a word are read as, by falling probability."""
    if privatizer.reading.read == "none":
        return []
    import numpy as np

    from mondegreen.decode.released import Released
    from mondegreen.errors import LawUnknownError

    state, words = privatizer.state, privatizer.space.words
    ids = np.arange(len(words), dtype=np.int32)
    read = privatizer.reading.decoder.words(Released(ids, ids >= 0))
    try:
        law = np.exp(state.log_prob(np.array([code], dtype=np.int32))[0])
    except LawUnknownError:
        repeats = np.full(runs, code, dtype=np.int32)
        drawn = state.sample(repeats, np.random.default_rng(seed))
        law = np.bincount(drawn, minlength=len(words)) / runs
    shares = np.bincount(read, law, len(words))
    order = np.argsort(-shares, kind="stable")
    return [(words[i], float(shares[i])) for i in order[shares[order] > 0].tolist()]


def _picture(plot: str | None, *, force: bool) -> Any:
    """Where the picture goes; refuses now what could not be written later."""
    if plot is None:
        return None
    from mondegreen.io.target import Target
    from mondegreen.report.charts import picture_format
    from mondegreen.report.svg import check_drawing

    picture_format(plot)
    check_drawing("--plot")
    return Target(plot, force=force)


def _lines(
    word: str,
    form: str,
    scores: WordScores,
    guarantee: Guarantee,
    listed: frozenset[str],
) -> Iterator[str]:
    runs = scores.runs
    how = "exact" if runs is None else f"{amount(runs, 'run')}, 95 % intervals"
    yield f"{word}: {guarantee.setting} on {guarantee.space}; {how}"
    if not guarantee.is_proved:
        yield "NOT PRIVATE: this mechanism does not keep the promise it claims"
    if not scores.is_known:
        yield "not in the vocabulary: treated as the unknown word, like all such words"
    elif form != word:
        yield f"looked up as: {form}"
    yield from ["", *table([*_facts(scores)], indent="  "), "", "most likely outputs"]
    rows = []
    own = word if word in [output.word for output in scores.outputs] else form
    for output in scores.outputs:
        itself = " (itself)" if scores.is_known and output.word == own else ""
        away = "" if output.distance is None else f"{output.distance:.3g} away"
        name = "(never printed)" if output.word in listed else output.word
        rows.append((name + itself, _format_value(output.probability, "percent"), away))
    yield from [*table(rows, indent="  "), "", _head_odds(guarantee)]
    for odds in scores.odds:
        yield from _odds(odds, word)
    if scores.document is not None:
        yield from ["", *_document(scores.document)]


def _head_odds(guarantee: Guarantee) -> str:
    """Say which distance is meant, where it is not the one of the words above."""
    from mondegreen.space.metric import NORMS

    other = {NORMS["manhattan"], NORMS["chebyshev"]} & {guarantee.metric}
    above = NORMS["euclidean"]
    return f"odds, in {guarantee.metric} (above: {above})" if other else "odds"


def _odds(odds: Odds, word: str) -> Iterator[str]:
    """How sure somebody can become that the word was this one, not the other."""
    far = odds.distance
    apart = f"{far:.3g} apart" if math.isfinite(far) else "infinitely far"
    yield (
        f"  {odds.pair:<4}  {word} or {odds.other}, {apart}; "
        "seeing the output turns even odds into"
    )
    none = "anything: nothing is promised"
    yield f"        limit of the proof: {_limit(odds.promised, none)}"
    if odds.realised is not None:
        sure = "certainty, for some outputs"
        yield f"        true value: {_limit(odds.realised, sure)}"
        if odds.promised is not None and odds.realised > odds.promised + _ROUNDING:
            yield "        BROKEN: the law exceeds its promise; run mondegreen audit"


def _limit(loss: float | None, without: str = "") -> str:
    """By how much an output can change odds."""
    if loss is None or not math.isfinite(loss):
        return without
    return f"at most {factor(loss)} to 1 ({nats(loss)})"


def _facts(scores: WordScores) -> Iterator[tuple[str, str]]:
    """One row for each score."""
    if scores.is_known:
        yield "chance to stay", _format_value(scores.stay, "percent")
    support = amount(_format_value(scores.support, "count"), "word")
    share = f"{100 * (1 - scores.eta):.4g} % of the probability"
    yield "likely outputs", f"{support} hold {share}"
    if scores.distinct is not None:
        yield "distinct outputs", f"{scores.distinct:,} in these runs"
    shannon, least = scores.entropies["entropy_1"], scores.entropies["entropy_inf"]
    drawn = amount(_format_value(shannon), "nat")
    if isinstance(shannon, float):
        size = math.exp(shannon)
        fair = figure(size, "count" if size >= 10 else "number")
        drawn += f", as of a fair draw among {amount(fair, 'word')}"
    yield "entropy", drawn
    yield (
        "smallest entropy",
        f"{amount(_format_value(least), 'nat')}, by the most likely output",
    )
    if scores.distance is not None and scores.rank is not None:
        yield "distance moved", f"{_format_value(scores.distance)} on average"
        yield "closer words", f"{_format_value(scores.rank, 'count')} on average"


def _document(loss: DocumentLoss) -> list[str]:
    """What a document adds up to."""
    rows = [
        ("each by its nearest neighbour", nats(loss.nearest)),
        ("each by a word at the mean distance", nats(loss.mean)),
        ("each by any word", nats(loss.any)),
    ]
    if loss.any_delta < loss.any:
        rows.append((f"  except with chance {loss.delta:g}", nats(loss.any_delta)))
    words = amount(loss.words, "word")
    head = f"loss of a text of {words}, all replaced: n nats change odds by e^n at most"
    return [head, *table(rows, indent="  ")]


def _format_value(value: Any, kind: Kind = "number") -> str:
    """A number, with its interval where it is an estimate."""
    unit = " %" if kind == "percent" else ""
    if isinstance(value, float):
        return figure(value, kind) + unit
    bounds = " to ".join(figure(end, kind) for end in (value.low, value.high))
    if value.estimate is None:
        return bounds + unit
    return f"{figure(value.estimate, kind)}{unit} ({bounds})"


@command()
def mechanisms(as_json: bool = options.JSON) -> None:
    """List the mechanisms with their guarantees and parameters.

    \b
    mondegreen mechanisms
    mondegreen mechanisms --json
    """  # noqa: D301
    from mondegreen.mechanisms import mechanisms as registry

    rows: list[dict[str, Any]] = []
    for cls in registry(tell=say):
        row: dict[str, Any] = {"name": cls.name, "aliases": list(cls.aliases)}
        row |= {"family": cls.family, "metric": cls.metric}
        rows.append(row)
        if as_json:
            row |= {"is_private": cls.is_private, "claimed_by": cls.author()}
            row["parameters"] = cls.parameters()
            row["summary"] = (inspect.getdoc(cls) or "").partition("\n")[0]
            continue
        is_claim = cls.is_private and cls.author()
        proved = "claimed" if is_claim else cls.is_private
        row |= {"aliases": ", ".join(cls.aliases), "proved": proved}
        row["parameters"] = ", ".join(
            each["name"] + ("" if each["required"] else f"={each['default']}")
            for each in cls.parameters()
        )
    echo_table(rows, as_json=as_json)
