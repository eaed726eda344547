"""``mondegreen attack``: what an attacker recovers, in plain words and as JSON."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from mondegreen.cli import options
from mondegreen.cli.options import File, argument, command, option
from mondegreen.cli.render import echo_json, say, shower, table
from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    PrivacyError,
    SourceError,
)
from mondegreen.io.guess import Format, guess_format
from mondegreen.settings import Same, Settings
from mondegreen.wording import amount, figure

if TYPE_CHECKING:
    import numpy as np

    from mondegreen.arrays import Ids, Weights
    from mondegreen.attacks.attack import Attack
    from mondegreen.attacks.pairs import Pairs
    from mondegreen.attacks.printed import AbstractPrintedRows
    from mondegreen.attacks.reader import Knowledge
    from mondegreen.attacks.related_rows import Beside
    from mondegreen.attacks.sensitive import InDomainReader
    from mondegreen.guarantee import Guarantee
    from mondegreen.io.base import AbstractSource
    from mondegreen.language.ngrams import NGrams
    from mondegreen.mechanisms.base import State
    from mondegreen.passes import Pass
    from mondegreen.policy.policy import Policy
    from mondegreen.report.sarif import Finding
    from mondegreen.text.tokenizer import TokenizedBatch
    from mondegreen.wording import Kind

_Each = TypeVar("_Each")

_OWN: Final = (
    "Computed from your texts: if the texts are private, keep these numbers private."
)
_ABOUT_WORST: Final = (
    "most exposed word: the chance that the attacker guesses one word, the easiest to "
    "guess, where it was written. It is not a share of your words."
)
_ABOUT_FEW: Final = (
    "Few texts: the share of an attack can be anywhere between its numbers in brackets."
)
_ABOUT_NAMES: Final = (
    "without release: the share that a guess without the release gets right.\n"
    "In brackets: the NAME of each attack for --fail-above NAME=VALUE."
)
_ABOUT_BESIDE: Final = (
    "not counted: these words are no part of the share above. number: numbers and "
    "codes. rest: words on no list, without a capital."
)
_WIDE: Final = 0.2
"""An interval of more than 20 points comes from about 100 words or texts, or fewer."""
SENSITIVE: Final = "share of sensitive words"

_PLACES: Final = 10
"""Places that are printed at most."""

_HEADINGS: Final = {
    "sensitive_words": "sensitive words, from their context",
    "single_word": "single word",
    "reader": "attacker who reads sentences",
    "learning_reader": "attacker who learns from the release",
    "worst_word": "most exposed word",
    "categories": "categories of words",
    "mutual_information": "mutual information",
    "linkage": "linkage",
    "averaging": "repeated releases",
    "survivors": "unchanged sensitive words or spans",
    "partly_left": "spans that are left in part",
    "unchanged_rows": "unchanged rows",
    "displaced_rows": "rows in the wrong place",
    "unpaired_rows": "rows of another length",
    "other_columns": "originals in other columns",
    "surrogates": "consistent surrogates",
    "attribute": "inferred attribute",
    "identity": "singled out by what is left",
}

_WITHOUT_EPSILON: Final = frozenset(
    "displaced_rows partly_left surrogates attribute identity".split()
)
_WITH_EPSILON: Final = frozenset(
    "sensitive_words single_word worst_word mutual_information".split()
)
_WITH_POLICY_ALL: Final = frozenset("learning_reader categories averaging".split())


@command()
def attack(
    sample: File = argument(),
    release: File | None = argument(required=False),
    columns: tuple[options.Column, ...] = options.COLUMNS,
    format: Format | None = options.FORMAT,
    sheet: str | None = options.SHEET,
    encoding: str | None = options.ENCODING,
    settings: Settings = options.settings(
        *options.LAW,
        *options.POLICY,
        *("same", "numbers", "near"),
        optional=["epsilon"],
    ),
    corpus: tuple[File, ...] = option(
        "PUBLIC texts from the domain of SAMPLE that the attacker knows, in the same "
        "columns. Repeatable.  [default: half of SAMPLE, which is then not attacked; "
        "none with --policy all]"
    ),
    language: options.LanguageName | None = options.KNOWN_LANGUAGE,
    texts: int = option(
        "Number of texts to attack. With --epsilon: the first N. Without: a random "
        "sample. Survivors, and results that count rows, always use all texts.",
        default=2000,
    ),
    spans: str | None = option(
        "Field of SAMPLE with annotated spans, for a release of any tool. Formats: "
        "JSON offsets [[start, end, kind], ...], Presidio, spaCy and CoNLL.",
        "--spans FIELD",
    ),
    label: options.Column | None = option(
        "Column of SAMPLE with an attribute that the attacker infers, for a release of "
        "any tool.",
        "--label COLUMN",
    ),
    time: options.Column | None = option(
        "Column of times in SAMPLE and in RELEASE, by which the attacker links them, "
        "for a release of any tool: numbers, or ISO 8601.",
        "--time COLUMN",
    ),
    places: bool = option(
        "List the hidden words that the attacker is more than 50 % sure about, "
        "by number of text and word. For a RELEASE of mondegreen, with --epsilon."
    ),
    html: options.File | None = option("Write a page with the result.", "--html FILE"),
    sarif: options.File | None = option(
        "Write the unchanged sensitive words and the exceeded limits as SARIF 2.1.0: "
        "rows and kinds, no text.",
        "--sarif FILE",
    ),
    fail_above: tuple[str, ...] = option(
        "Exit with code 4 if the upper end of an interval is above VALUE, such as "
        "survivors=0.01 for 1 %, or if the attack has no result. For rows, VALUE is a "
        "number of rows: unchanged_rows=0. reader.CLASS limits one class of words: "
        "reader.health=0.2. Any limit also fails if another column of "
        "RELEASE holds originals (other_columns). Repeatable.\n\n"
        "NAME without --epsilon: survivors, unchanged_rows, displaced_rows, reader, "
        "surrogates, linkage, attribute. With --spans: also partly_left, "
        "identity.\n\n"
        "NAME with --epsilon: sensitive_words, single_word, reader, worst_word, "
        "mutual_information, linkage. With a RELEASE: also survivors, "
        "unchanged_rows, unpaired_rows. With --policy all: also learning_reader, "
        "categories, averaging, but no survivors.",
        "--fail-above NAME=VALUE",
    ),
    show: bool = option(
        "Show the remaining units of the riskiest rows, on a terminal only."
    ),
    force: bool = options.FORCE,
    seed: options.Seed = option("Seed of the attack's own random choices.", default=0),
    more: tuple[options.AttackName, ...] = option(
        "Run an attack from a plug-in. Repeatable.", "--attack NAME"
    ),
    as_json: bool = options.JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Measure what an attacker recovers of SAMPLE from its release.

    Without --epsilon, RELEASE may come from any tool. The command aligns its words with
    those of SAMPLE. It counts sensitive words or annotated spans that are unchanged,
    guesses the hidden ones, finds names that always get the same surrogate, and links
    releases to their originals. RELEASE has the rows of SAMPLE, in their order. Run the
    command once for each pair of files: it takes no folders.

    With --epsilon, the attackers know the exact probabilities of the mechanism. If you
    give no RELEASE, the command draws one. The attacker sees the ordinary words, knows
    other texts of the domain, and guesses the sensitive words. The same fixed list of
    sensitive words is used for all policies.

    With --policy all, or a mechanism on a space: single-word guessing, sentence
    decoding and linkage. Give a RELEASE that was printed with --read none.

    Attackers know the mechanism and public text, but no key. The numbers hold for these
    texts and these attackers. An attacker who knows more recovers more.

    \b
    mondegreen attack notes.csv redacted.csv --column note
    mondegreen attack notes.jsonl redacted.jsonl --column note --spans spans --json
    mondegreen attack reviews.csv --column review --epsilon 12
    mondegreen attack reviews.csv drawn.csv --column review --epsilon 12 --json
    mondegreen attack reviews.csv --column review --policy all --epsilon 10
    """  # noqa: D301
    from mondegreen.cli.attack_any_tool import Asked, attack_any_tool, check_any_tool
    from mondegreen.policy.policy import find_policy

    _check_files(sample, release)
    limits = read_limits(fail_above)
    files = Files(sample, release, columns, format, sheet, encoding)
    pages = Pages(html, sarif)
    pages.check(files, force=force)
    if settings.epsilon is None:
        check_any_tool(settings, release, more, has_places=places)
        asked = Asked(
            texts=texts,
            seed=seed,
            corpus=corpus,
            spans=spans,
            label=label,
            time=time,
            language=language,
            shows_text=show,
            lists_left=sarif is not None,
        )
        made = attack_any_tool(settings, files, asked, shower(quiet))
        _finish(made, files, pages, limits, spans, as_json=as_json, force=force)
        return
    if places and release is None:
        raise ConfigurationError("--places needs a RELEASE")
    if spans or label or time or show:
        raise ConfigurationError(
            "--spans, --label, --time and --show are for a release of any tool: leave "
            "out --epsilon"
        )
    policy = find_policy(settings.resolve())
    _check_policy_options(policy, language, more)
    if policy is None:
        made = _attack_space(
            settings,
            files,
            texts,
            seed,
            language,
            corpus,
            more,
            shower(quiet),
            has_places=places,
        )
    else:
        made = _attack_policy(
            policy,
            settings,
            files,
            texts,
            seed,
            corpus,
            shower(quiet),
            has_places=places,
        )
    _finish(made, files, pages, limits, as_json=as_json, force=force)


def _check_files(*paths: str | None) -> None:
    """Refuse a file beside itself, and folders, which other commands take."""
    for path in paths:
        if path is not None and Path(path).is_dir():
            raise ConfigurationError(
                f"{path} is a folder, and attack takes one pair of files: run it once "
                "for each pair"
            )
    if len(set(paths)) < len(paths):
        raise ConfigurationError("SAMPLE and RELEASE must be two files")
    if None in paths:
        return
    for path in map(str, paths):
        if path == "-" or (Path(path).exists() and not Path(path).is_file()):
            raise ConfigurationError(
                f"{path} is a stream, and attack reads a SAMPLE and its RELEASE more "
                "than once: name two files"
            )


def _check_policy_options(
    policy: Policy | None, language: str | None, more: tuple[str, ...]
) -> None:
    """Refuse options that attacks under a policy have no use for."""
    if policy is not None and more:
        raise ConfigurationError(
            "--attack cannot be combined with a policy: attacks of plug-ins expect a "
            "space. Add --policy all"
        )
    if policy is not None and language is not None:
        raise ConfigurationError(
            "--language cannot be combined with a policy. Give in-domain texts with "
            "--corpus FILE, or add --policy all"
        )


def _finish(
    made: Made,
    files: Files,
    pages: Pages,
    limits: Mapping[str, float],
    spans: str | None = None,
    *,
    as_json: bool,
    force: bool,
) -> None:
    """Print what was found, write the page, and check it against the limits."""
    from mondegreen.cli.attack_rows import (
        attack_other_columns,
        find_rows,
        limit_unpaired,
    )

    if files.release is not None and (others := attack_other_columns(files, spans)):
        made = replace(made, found={**made.found, others.name: others})
        if limits:  # no other limit says anything about a file that holds originals
            limits = {others.name: 0.0, **limits}
    if limits and made.about.get("release_problem"):
        # Attacks on the law alone have a result, which says nothing of these rows.
        limits = {"unchanged_rows": 0.0, **limits}
    if limits:
        limits = {**limit_unpaired(made.found), **limits}
    if as_json:
        shown = {key: each.to_dict() for key, each in made.found.items()}
        echo_json({**made.about, "note": _OWN, **shown})
    else:
        texts, words = made.about["texts"], made.about["words"]
        size = f"{amount(texts, 'text')}, {amount(words, 'word')}"
        head = f"{files.sample}: {size}; {made.setting}"
        listed = _lines_of_places(made.about.get("exposed_places"))
        hints = [made.about["hint"]] if "hint" in made.about else []
        lines = [head, "", *_lines(made.found), *listed, "", *hints, _OWN]
        click.echo("\n".join(lines))
    classes = find_classes(made.found, limits)
    check_names({**made.found, **classes}, limits)
    limited = add_missing({**made.found, **classes}, limits)
    names = {name: _HEADINGS.get(name, name) for name in limited}
    if pages.html is not None:
        from mondegreen.report.attack_page import write_attack_page

        labels = {name: label_attack(name) for name in limited}
        names_of_files = {
            "sample": Path(files.sample).name,
            "release": files.release and Path(files.release).name,
        }
        about = {**made.about, **names_of_files, "setting": made.setting}
        write_attack_page(
            pages.html, limited, labels, about, limits=limits, force=force
        )
    if pages.sarif is not None:
        from mondegreen.report.sarif import write_sarif

        write_sarif(
            pages.sarif,
            limited,
            [
                *made.findings,
                *find_rows(made.found),
                *_list_findings(made.about.get("exposed_places")),
            ],
            limits,
            names=names,
            release=files.release or files.sample,
            format=files.format or guess_format(files.release or files.sample),
            force=force,
        )
    check_limits(limited, limits)


def _list_findings(places: list[dict[str, Any]] | None) -> list[Finding]:
    """Make a finding of each place that its context gives away."""
    from mondegreen.report.sarif import Finding

    return [
        Finding(
            "reader",
            f"The context gives a word of the class {place['kind']!r} away in text "
            f"{place['text']}, with a posterior of {place['posterior']:.2f}.",
            place["text"],
            place["word"],
            place["kind"],
        )
        for place in places or ()
    ]


def read_limits(given: Sequence[str]) -> dict[str, float]:
    """Read the limits that --fail-above states."""
    limits = {}
    for each in given:
        name, _, value = each.partition("=")
        if name in limits:
            raise InvalidParameterError("--fail-above", each, "one limit for each NAME")
        try:
            limits[name] = float(value)
        except ValueError:
            limits[name] = math.nan
        if not 0 <= limits[name] < math.inf:
            allowed = "NAME=VALUE, a value of 0 or more, such as survivors=0.01"
            raise InvalidParameterError("--fail-above", each, allowed)
    return limits


def find_classes(
    found: Mapping[str, Attack], limits: Mapping[str, float]
) -> dict[str, Attack]:
    """Make an attack of each class of words that has a limit, such as reader.health."""
    reader, made = found.get("reader"), {}
    details = {} if reader is None else reader.details
    classes = details.get("by_class") or details.get("by_kind") or {}
    for name in limits:
        attack, _, of = name.partition(".")
        if attack != "reader" or not of:
            continue
        if reader is None or of not in classes:
            raise ConfigurationError(
                f"--fail-above {name}: there are no words of this class here; choose "
                "one of: " + (", ".join(f"reader.{each}" for each in classes) or "none")
            )
        way = classes[of]
        made[name] = replace(
            reader,
            name=name,
            value=way["value"],
            low=way["low"],
            high=way["high"],
            chance=None,
            n=way["n"],
            details={},
        )
    return made


def check_names(found: Mapping[str, Attack], limits: Mapping[str, float]) -> None:
    """Refuse limits that name no attack, and limits that no share can pass."""
    for name, limit in limits.items():
        if name not in found and name not in _HEADINGS:
            raise ConfigurationError(
                f"--fail-above {name}: there is no such attack here; choose one of: "
                + ", ".join(found)
            )
        if limit > 1 and name in found and _is_share(found[name]):
            allowed = "a share of at most 1: write 10 % as 0.1"
            raise InvalidParameterError("--fail-above", f"{name}={limit:g}", allowed)


def add_missing(
    found: Mapping[str, Attack], limits: Mapping[str, float]
) -> dict[str, Attack]:
    """Add attacks that have a limit and no result: what is not known is not below."""
    from mondegreen.attacks.attack import Attack

    missing = {
        name: Attack(name, _explain_missing(name, found), None, None, None, None, 0, "")
        for name in limits
        if name not in found
    }
    return {**found, **missing}


def _explain_missing(name: str, found: Mapping[str, Attack]) -> str:
    """Say why an attack has no result, and what to do."""
    is_any_tool = "displaced_rows" in found
    if name in _WITHOUT_EPSILON and not is_any_tool:
        advice = "leave out --epsilon and name a RELEASE"
    elif name == "survivors":
        advice = "it needs a RELEASE, of a policy or of any tool"
    elif name in _WITH_POLICY_ALL:
        advice = "it needs --epsilon and --policy all"
    elif name in _WITH_EPSILON and is_any_tool:
        advice = "it needs --epsilon, with the value of the release"
    elif name == "attribute":
        advice = "it needs --label COLUMN"
    elif name == "partly_left":
        advice = "it needs --spans FIELD"
    else:
        advice = f"remove this limit, or choose one of: {', '.join(found)}"
    return f"has no result for these files and options: {advice}"


def check_limits(found: Mapping[str, Attack], limits: Mapping[str, float]) -> None:
    """Stop with a privacy error where an attack may reach more than its limit.

    That is where the upper end of its interval does: few texts show little.
    """
    from mondegreen.cli.attack_rows import name_columns

    over, advice = [], ""
    for name, limit in limits.items():
        attack = found[name]
        if said := attack.say_excess(limit):
            why = f"; {attack.adversary}" if attack.value is None else ""
            over.append(f"{name} {said} (limit {limit:g}{why}){name_columns(attack)}")
            if "may be up to" in said:
                advice = ". Only the upper end of an interval is above: attack more "
                advice += "texts"
    if over:
        raise PrivacyError(f"above --fail-above: {'; '.join(over)}{advice}")


@dataclass(frozen=True)
class Files:
    """What to attack."""

    sample: str
    release: str | None
    columns: tuple[str, ...]
    format: Format | None
    sheet: str | None = None
    encoding: str | None = None  # of the originals

    @property
    def paths(self) -> list[str]:
        return [self.sample] + ([] if self.release is None else [self.release])

    def open(self, path: str) -> AbstractSource:
        from mondegreen.io.open import open_source

        return open_source(
            path,
            format=self.format,
            columns=self.columns,
            missing="pass",
            sheet=self.sheet,
            encoding=self.encoding if path == self.sample else None,
        )

    def field(self, path: str, name: str) -> Iterator[Any]:
        """Yield the values of a field, row by row."""
        from mondegreen.io.fields import read_field

        encoding = self.encoding if path == self.sample else None
        return read_field(path, name, self.format, encoding=encoding, sheet=self.sheet)

    def texts(self, path: str) -> Iterator[str]:
        """Yield the texts of a file that are there."""
        from mondegreen.cli.related_rows import iterate_texts

        with self.open(path) as source:
            yield from chain.from_iterable(iterate_texts(source))


@dataclass(frozen=True)
class Made:
    """The attacks that were made, what is said about all of them, and the setting."""

    found: Mapping[str, Attack]
    about: dict[str, Any]
    setting: str
    findings: Sequence[Finding] = ()


@dataclass(frozen=True)
class Pages:
    """The files that are written beside what is printed."""

    html: str | None
    sarif: str | None

    def check(self, files: Files, *, force: bool) -> None:
        """Refuse before the work what could not be written after it."""
        from mondegreen.io.target import Target, is_same_file

        written: list[str] = []
        for path in filter(None, (self.html, self.sarif)):
            Target(path, force=force)
            if any(is_same_file(other, path) for other in files.paths + written):
                raise ConfigurationError(
                    f"{path}: is read or written by this command already; name another "
                    "file"
                )
            written.append(path)


def _attack_space(
    settings: Settings,
    files: Files,
    most: int,
    seed: int,
    language: str | None,
    corpus: tuple[str, ...],
    more: tuple[str, ...],
    show: Callable[[str], object],
    *,
    has_places: bool,
) -> Made:
    """Attack a mechanism over the words of a space."""
    import numpy as np

    from mondegreen.attacks.pairs import build_pairs
    from mondegreen.attacks.printed import SpaceRows
    from mondegreen.attacks.run import attack_all
    from mondegreen.attacks.sensitive import attack_with_corpus
    from mondegreen.cli.attack_rows import (
        attack_rows,
        describe_reading,
        read_all_rows,
    )
    from mondegreen.privatizer.build import build_mechanism
    from mondegreen.privatizer.spec import find_space
    from mondegreen.text.lookup import Lookup
    from mondegreen.text.tokenizer import tokenize

    mechanism = build_mechanism(settings)
    options.check_proved(mechanism, allow_unproved=settings.allow_unproved)
    loaded = find_space(settings.space)
    state = mechanism.prepare(loaded)
    texts, releases = _read(files, state, most)
    pairs = build_pairs(texts, Lookup(loaded), releases)
    check_words(pairs, files)
    problem: str | None = None
    if releases is None:
        pairs = pairs.sample(state, np.random.default_rng(seed))
    else:
        pairs, problem = _check(pairs, state)
    show("likely originals of each word")
    knowledge = _knowledge(state, pairs, language, show)
    found = attack_all(state, pairs, knowledge, show, more)
    numbers = [each.row for each in _read_rows(files, texts, releases)]
    found |= _link_rows(found, state, pairs, numbers, show)
    rows = SpaceRows(Lookup(loaded), state) if releases is not None else None
    if rows is not None:
        read_all_rows(files, rows, show)
    found |= attack_rows(rows, is_drawn=problem is None)
    about = _about(pairs, problem) | describe_reading(rows)
    if has_places:
        show("exposed places")
        about["exposed_places"] = _list_exposed_places(
            texts, releases, settings, pairs, language
        )
    if corpus and pairs.released is not None:
        show("sensitive words")
        known = read_corpus(files, corpus, frozenset(texts))
        say_known_texts(known, frozenset(texts))
        read = attack_with_corpus(state, pairs, tokenize(_choose(texts, pairs)), known)
        found = {read.name: read, **found}
        words = read.details["corpus_words"]
        about["corpus"] = _corpus(known, words, is_held_out=False)
    show("")
    return Made(found, about, f"{state.stated.setting} on {loaded.name}")


def _attack_policy(
    policy: Policy,
    settings: Settings,
    files: Files,
    most: int,
    seed: int,
    corpus: tuple[str, ...],
    show: Callable[[str], object],
    *,
    has_places: bool,
) -> Made:
    """Attack randomized response over the symbols of a policy."""
    import numpy as np

    from mondegreen.attacks.linked import link_printed
    from mondegreen.attacks.pairs import build_pairs
    from mondegreen.attacks.parts import draw_parts
    from mondegreen.attacks.policies import attack_policy
    from mondegreen.attacks.printed import PolicyRows
    from mondegreen.attacks.sensitive import InDomainReader
    from mondegreen.cli.attack_rows import (
        attack_rows,
        check_pairing,
        describe_reading,
        read_all_rows,
    )
    from mondegreen.privatizer.build import build_mechanism

    law: Any = build_mechanism(settings)
    state = law.prepare(policy.alphabet)
    texts, releases = _read(files, state, most if corpus else 2 * most)
    whole = texts, releases
    beside = _read_beside(policy, state, files, *whole, seed)
    numbers = [each.row for each in beside]
    if corpus:
        known = read_corpus(files, corpus, frozenset(texts))
        say_known_texts(known, frozenset(texts))
        known_beside = _read_beside_corpus(policy, files, corpus, known)
    else:
        halves = draw_parts(len(texts))
        mine = np.flatnonzero(halves == 0).tolist()
        known = [*compress(texts, halves)]
        known_beside = [*compress(beside, halves)]
        beside = [beside[i] for i in mine]
        texts = [texts[i] for i in mine]
        releases = None if releases is None else [releases[i] for i in mine]
    if not known:
        raise _without_corpus(files)
    show("the corpus of the attacker")
    reader = InDomainReader(policy, known, state.response, beside=known_beside)
    pairs = build_pairs(texts, reader.lookup, releases)
    check_words(pairs, files)
    trouble: str | None = None
    rows: PolicyRows | None = None
    batch, same = reader.lookup.cut(_choose(texts, pairs)), settings.same
    rng, links = np.random.default_rng(seed), None
    if releases is None:
        pairs, links = _draw(policy, state, batch, pairs, same, rng)
    else:
        printed = reader.lookup.cut(_choose(releases, pairs))
        _check_scope(files, pairs, batch, printed, policy, same)
        rows = PolicyRows(reader.lookup, same)
        read_all_rows(files, rows, show)
        check_pairing(files, rows)
        pairs, trouble = _check(pairs, state, rows)
        if pairs.released is not None and same != "place":
            links = link_printed(reader.lookup, printed, pairs.released, same)
    found = attack_policy(
        policy,
        state,
        reader,
        batch,
        pairs,
        links=links,
        beside=_choose(beside, pairs),
        is_public=bool(corpus),
        tell=show,
    )
    every = pairs
    if has_places or _has_several(numbers):
        every = _pair_all(policy, state, reader, whole, same, rng)
        every = every if trouble is None else every.as_printed()
    found |= _link_rows(found, state, every, numbers, show)
    show("what is left")
    found |= _read_shown(files, found, most, seed, corpus)
    found |= attack_rows(rows, is_drawn=trouble is None)
    about = _about(pairs, trouble) | describe_reading(rows)
    if has_places and pairs.released is not None:
        show("exposed places")
        # Without a corpus of its own, the attacker on places knows public text alone:
        # then no text of SAMPLE is held out.
        model = _domain_model(known, is_public=bool(corpus))
        about["exposed_places"] = _list_exposed_places(*whole, settings, every, model)
    show("")
    about["corpus"] = _corpus(known, reader.corpus_words, is_held_out=not corpus)
    whence = "other files" if corpus else "SAMPLE, held out"
    size = f"{amount(len(known), 'text')}, {amount(reader.corpus_words, 'word')}"
    setting = (
        f"{state.stated.setting} under policy {policy.name}\n"
        f"corpus of the attacker: {size}, of {whence}"
    )
    return Made(found, about, setting)


def _has_several(rows: Sequence[int]) -> bool:
    """Whether a row has several texts."""
    return len(set(rows)) < len(rows)


def _link_rows(
    found: Mapping[str, Attack],
    state: State,
    pairs: Pairs,
    rows: Sequence[int],
    show: Callable[[str], object],
) -> dict[str, Attack]:
    """Link whole rows, where a row has several texts."""
    from mondegreen.attacks.linkage import link_rows

    if not _has_several(rows):
        return {}
    show("linkage of rows")
    chosen = _choose(rows, pairs)
    return {"linkage": link_rows(found["linkage"], state, pairs, chosen)}


def _pair_all(
    policy: Policy,
    state: Any,
    reader: InDomainReader,
    whole: tuple[list[str], list[str] | None],
    same: Same,
    rng: np.random.Generator,
) -> Pairs:
    """Pair all texts, those that the attacker learns from too, and draw their release.

    A release that is at hand is taken as it is.
    """
    from mondegreen.attacks.pairs import build_pairs

    texts, releases = whole
    pairs = build_pairs(texts, reader.lookup, releases)
    if releases is not None:
        return pairs
    return _draw(policy, state, reader.lookup.cut(texts), pairs, same, rng)[0]


def _draw(
    policy: Policy,
    state: Any,
    batch: TokenizedBatch,
    pairs: Pairs,
    same: Same,
    rng: np.random.Generator,
) -> tuple[Pairs, Weights | None]:
    """Draw a release, and tell which of its places are linked by equal words."""
    from mondegreen.attacks.linked import draw_linked

    if same == "place":
        return pairs.sample(state, rng), None
    released, links = draw_linked(policy, state, batch, pairs.inputs, same, rng)
    return replace(pairs, released=released, shapes=pairs.structures), links


def _check_scope(
    files: Files,
    pairs: Pairs,
    batch: TokenizedBatch,
    printed: TokenizedBatch,
    policy: Policy,
    same: Same,
) -> None:
    """Refuse a release whose equal words have equal replacements, if none was said."""
    from mondegreen.attacks.linked import find_scope

    if pairs.released is None:
        return
    found = find_scope(batch, printed, policy.alphabet.is_group(pairs.inputs))
    if found == "place" or same in (found, "key"):
        return
    where = "a text" if found == "record" else "the file"
    raise SourceError(
        str(files.release),
        f"equal words of {where} have equal replacements",
        hint=f"add --same {found}: attackers can count these replacements",
    )


def _read_beside(
    policy: Policy,
    state: Any,
    files: Files,
    texts: Sequence[str],
    releases: Sequence[str] | None,
    seed: int,
) -> list[Beside]:
    """Read what the release shows beside each text: columns, and texts of its row.

    Without a RELEASE, the columns of SAMPLE count, and a release is drawn.
    """
    import numpy as np

    rows = _read_rows(files, texts, releases)
    draw = None
    if releases is None:
        draw = functools.partial(state.response.sample, rng=np.random.default_rng(seed))
    return _add_signs(policy, rows, releases or texts, draw)


def _read_rows(
    files: Files, texts: Sequence[str], releases: Sequence[str] | None
) -> list[Beside]:
    """Read the row of each text, and what stands beside it."""
    from mondegreen.cli.related_rows import iterate_beside_pairs, read_beside_sample

    if releases is None:
        return read_beside_sample(files, texts)
    return [*islice(iterate_beside_pairs(files), len(texts))]


def _read_beside_corpus(
    policy: Policy, files: Files, corpus: Sequence[str], known: Sequence[str]
) -> list[Beside]:
    """Read what is beside each text that the attacker knows, in the same columns."""
    from mondegreen.cli.related_rows import read_beside_corpus

    rows = read_beside_corpus(files, corpus, known, with_words=False)
    return _add_signs(policy, rows, known)


def _add_signs(
    policy: Policy,
    beside: list[Beside],
    texts: Sequence[str],
    draw: Callable[[Ids], Ids] | None = None,
) -> list[Beside]:
    """Add what the other texts of each row show: words, or groups of hidden ones."""
    import numpy as np

    from mondegreen.attacks.related_rows import add_signs
    from mondegreen.policy.lookup import PolicyLookup

    if len({each.row for each in beside}) == len(beside):
        return beside
    lookup = PolicyLookup(policy)
    batch = lookup.cut(texts)
    symbols = lookup.codes(batch)
    if draw is not None:
        symbols = draw(symbols)
    own = np.split(symbols, batch.begins[1:-1])
    return add_signs(beside, (each.tolist() for each in own))


def _read_shown(
    files: Files,
    found: Mapping[str, Attack],
    texts: int,
    seed: int,
    corpus: tuple[str, ...],
) -> dict[str, Attack]:
    """Count what a release leaves, and read it as one of any tool."""
    from mondegreen.attacks.policies import strongest_reader
    from mondegreen.cli.attack_any_tool import read_at_face_value

    if files.release is None:
        return {}
    seen = read_at_face_value(files, texts, seed, corpus)
    if "reader" not in found:
        return {"survivors": seen["survivors"]}
    reader = strongest_reader(found["reader"], seen["reader"])
    return {"reader": reader, "survivors": seen["survivors"]}


def _list_exposed_places(
    texts: Sequence[str],
    releases: Sequence[str] | None,
    settings: Settings,
    pairs: Pairs,
    language: NGrams | str | None,
) -> list[dict[str, Any]] | None:
    """List the places whose word the context gives away, numbered from 1."""
    from mondegreen.attacks.context import certify_context
    from mondegreen.privatizer.build import build_privatizer

    if releases is None or pairs.released is None:
        return None
    numbers = list(range(1, len(texts) + 1))
    if pairs.chosen is not None:
        marks = pairs.chosen.tolist()
        texts, releases = list(compress(texts, marks)), list(compress(releases, marks))
        numbers = list(compress(numbers, marks))
    found = certify_context(
        texts, build_privatizer(settings), releases=releases, language=language
    )
    return [
        {
            "text": numbers[place.text],
            "word": place.word + 1,
            "kind": place.kind,
            "posterior": place.posterior,
        }
        for place in found.find_exposed()
    ]


def _domain_model(known: Sequence[str], *, is_public: bool) -> NGrams | None:
    """Build the in-domain model that the attacker on places knows, of a corpus."""
    from mondegreen.attacks.sensitive import in_domain_language
    from mondegreen.space.store import load_space

    return in_domain_language(known, load_space()) if is_public else None


def read_corpus(
    files: Files, corpus: Sequence[str], attacked: frozenset[str]
) -> list[str]:
    """Read the texts that the attacker knows, those that are attacked included.

    At least one must be another one, since SAMPLE itself recovers everything.
    """
    known = [*chain.from_iterable(map(files.texts, corpus))]
    if attacked.issuperset(known):
        hint = "give other texts of the domain with --corpus FILE"
        problem = "it has no texts besides those of SAMPLE"
        raise SourceError(corpus[0], problem, hint=hint)
    return known


def say_known_texts(known: Sequence[str], attacked: frozenset[str]) -> None:
    """Say how many of the attacked texts are known to the attacker."""
    if shared := len(attacked.intersection(known)):
        texts = "text of SAMPLE is" if shared == 1 else "texts of SAMPLE are"
        say(
            f"--corpus: {shared:,} {texts} in it, so the attacker knows what they say. "
            "Remove them if nobody outside has them."
        )


def _without_corpus(files: Files) -> SourceError:
    hint = "give a larger SAMPLE, or other texts with --corpus FILE"
    problem = "it leaves no texts for the corpus of the attacker"
    return SourceError(files.sample, problem, hint=hint)


def _choose(texts: Sequence[_Each], pairs: Pairs) -> list[_Each]:
    """Take the texts that are among the pairs, or what belongs to each of them."""
    if pairs.chosen is None:
        return [*texts]
    return list(compress(texts, pairs.chosen.tolist()))


def _corpus(known: list[str], words: int, *, is_held_out: bool) -> dict[str, Any]:
    return {"texts": len(known), "words": words, "held_out_of_sample": is_held_out}


def _about(pairs: Pairs, problem: str | None) -> dict[str, Any]:
    return {
        "texts": pairs.texts,
        "words": len(pairs.inputs),
        "left_out": pairs.left_out,
        "release_problem": problem,
    }


def _read(files: Files, state: State, most: int) -> tuple[list[str], list[str] | None]:
    """Read the first texts, and their releases if these are at hand."""
    from mondegreen.cli.score import text_pairs

    if files.release is None:
        return list(islice(files.texts(files.sample), most)), None
    with files.open(files.sample) as mine, files.open(files.release) as theirs:
        check_stated(theirs, state)
        both = (zip(*chunk, strict=True) for chunk in text_pairs(mine, theirs))
        rows = (row for row in chain.from_iterable(both) if None not in row)
        chosen = list(islice(rows, most))
    return [str(text) for text, _ in chosen], [str(found) for _, found in chosen]


def check_words(pairs: Pairs, files: Files) -> None:
    """Refuse texts without words."""
    if not len(pairs.inputs):
        raise SourceError(files.sample, "it has no words in these columns")


def _knowledge(
    state: State, pairs: Pairs, language: str | None, show: Callable[[str], object]
) -> Knowledge:
    """What adversaries know: a public model, or, of words without one, the texts."""
    from mondegreen.attacks.reader import Knowledge
    from mondegreen.language.store import load_language

    model = load_language(language)
    if language is None and not model.is_for(state.space):
        return Knowledge.of_texts(pairs.frequencies(state.space.vocab_size + 1))
    return Knowledge.of_language(
        state, model, lambda share: show(f"likely originals of each word {share:.0%}")
    )


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


def _check(
    pairs: Pairs, state: State, rows: AbstractPrintedRows | None = None
) -> tuple[Pairs, str | None]:
    """Leave released words out where this setting did not draw them; say so."""
    from mondegreen.attacks.outputs import has_closed_law
    from mondegreen.attacks.pairs import looks_drawn
    from mondegreen.cli.attack_rows import say_foreign

    problem = None
    if pairs.released is None:
        problem = (
            "its words could not be paired with those of SAMPLE, or are of another "
            "--space"
        )
    elif (rows is not None and not rows.looks_drawn) or (
        has_closed_law(state) and not looks_drawn(state, pairs)
    ):
        problem = "it was made with another setting, or with --read"
        if rows is not None and rows.foreign:
            problem += f". {say_foreign(rows)}"
        pairs = pairs.as_printed()
    elif pairs.left_out:
        left = amount(pairs.left_out, "text")
        were = "was" if pairs.left_out == 1 else "were"
        say(
            f"RELEASE: {left} {were} skipped because the words could not be paired "
            "with those of SAMPLE."
        )
    if problem is not None:
        problem += (
            ". Attacks that need the sampled words are left out: they take a release "
            "printed with --read none --structure keep"
        )
        say(f"RELEASE: {problem}.")
    return pairs, problem


def label_attack(name: str) -> str:
    """Name an attack for people, with the name that --fail-above takes in brackets.

    >>> label_attack("survivors"), label_attack("mine")
    ('unchanged sensitive words or spans [survivors]', 'mine [mine]')
    """
    return f"{_HEADINGS.get(name, name)} [{name}]"


def _is_share(attack: Attack) -> bool:
    return attack.unit.startswith(("share", "chance"))


def _is_wide(attack: Attack) -> bool:
    """Whether so few words or texts were attacked that the share says little."""
    low, high = attack.low, attack.high
    if low is None or high is None or not _is_share(attack):
        return False
    return high - low > _WIDE


def _row(name: str, attack: Attack) -> list[str]:
    """What one attack reaches, and who attacks."""
    kind: Kind = "percent" if _is_share(attack) else "number"
    sign = " %" if _is_share(attack) else " nats" * attack.unit.startswith("nats")
    shown, (low, high) = "not known", (attack.low, attack.high)
    if attack.unit == "rows" and attack.value is not None:
        shown = amount(int(attack.value), "row")
    elif attack.value is not None and low is not None and high is not None:
        shown = figure(attack.value, kind) + sign
        if low < high:
            shown += f" ({figure(low, kind)} to {figure(high, kind)})"
    chance = "" if attack.chance is None else figure(attack.chance, kind) + sign
    return [label_attack(name), shown, chance, attack.adversary]


def _lines(found: Mapping[str, Attack]) -> Iterator[str]:
    """A row for each attack, and what is behind the largest numbers."""
    from mondegreen.attacks.policies import take_classes
    from mondegreen.cli.attack_rows import describe_rows

    rows = [["attack", "reaches", "without release", "attacker"]]
    rows += [_row(name, each) for name, each in found.items()]
    yield from table(rows, align="<>><")
    yield _ABOUT_NAMES
    if any(_is_wide(each) for each in found.values()):
        yield _ABOUT_FEW
    if "worst_word" in found and found["worst_word"].value is not None:
        yield _ABOUT_WORST
    if "sensitive_words" in found:
        yield from _of_classes(take_classes(found))
    own = found.get("single_word")
    if own is not None and "exactly_these_frequencies" in own.details:
        share = figure(own.details["exactly_these_frequencies"], "percent")
        yield f"\nsingle word, knowing how frequent each word is here: {share} %"
    if "worst_word" in found and (words := found["worst_word"].details.get("words")):
        listed = ", ".join(f"{word} {100 * share:.0f} %" for word, share in words)
        yield f"words guessed most often: {listed}"
    if "survivors" in found:
        yield from _of_survivors(found)
    yield from describe_rows(found)
    for way in found["linkage"].details.get("by", ()):
        chance = figure(way["chance"], "percent")
        value = figure(way["value"], "percent")
        of = amount(way["n"], "text")
        yield f"linked by {way['by']}: {value} % of {of} (without release {chance} %)"


def _lines_of_places(places: list[dict[str, Any]] | None) -> Iterator[str]:
    """How many places are guessed, and the ten most certain ones."""
    if places is None:
        return
    shown = places[:_PLACES]
    cut = f"; the {len(shown)} most certain ones (--json lists all)"
    yield (
        f"\n{amount(len(places), 'place')} with a posterior above 0.5"
        f"{cut if len(shown) < len(places) else ''}"
    )
    if places:
        rows = [["text", "word", "class", "posterior"]]
        rows += [
            [str(p["text"]), str(p["word"]), p["kind"], figure(p["posterior"])]
            for p in shown
        ]
        yield from table(rows, align=">><>")
        yield "Texts and words are counted from 1. A header is not counted."
        yield "Choose another setting for the whole release, not for single places."


def _say_rank(rank: float | None) -> str:
    """Write a median rank; the reader ranks the best candidates only."""
    from mondegreen.attacks.any_tool.reader import CANDIDATES

    if rank is None:
        return "not known"
    return f"{rank:,.0f}" if rank <= CANDIDATES else f"above {CANDIDATES:,}"


def _of_survivors(found: Mapping[str, Attack]) -> Iterator[str]:
    """What is left by kind, how hidden words rank, and the riskiest rows by number."""
    from mondegreen.attacks.any_tool.known_names import KNOWN_NAME

    survivors = found["survivors"]
    rows = [["kind", "left", "units"]]
    for name, kind in survivors.details["by_kind"].items():
        rows.append([name, f"{figure(kind['value'], 'percent')} %", f"{kind['n']:,}"])
    yield ""
    yield from table(rows, align="<>>")
    if KNOWN_NAME in survivors.details["by_kind"]:
        yield (
            f"{KNOWN_NAME}: ordinary words that are a name in another column of the "
            "same row"
        )
    numbers = survivors.details["by_class"].get("number")
    if numbers is not None and survivors.unit == SENSITIVE:
        left, count = figure(numbers["value"], "percent"), numbers["n"]
        yield f"numbers and codes, not counted above: {left} % of {count:,} left"
    hidden = found["reader"].details.get("hidden_words") if "reader" in found else None
    if hidden is not None and hidden["n"]:
        first, ten = (
            figure(hidden[k]["value"], "percent") for k in ("top_1", "top_10")
        )
        yield (
            f"\n{hidden['n']:,} hidden words: first guess right {first} %, right among "
            f"ten guesses {ten} %, median rank {_say_rank(hidden['median_rank'])}"
        )
    for name, what in (("survivors", "left"), ("reader", "guessed")):
        details = found[name].details if name in found else {}
        if worst := details.get("riskiest_rows"):
            listed = ", ".join(f"{each['row']} ({each[what]})" for each in worst[:10])
            more = ", ..." if len(worst) > 10 else ""
            yield f"riskiest rows (units {what}): {listed}{more}"
    if found["survivors"].details["riskiest_rows"]:
        yield "Row 1 is the first row of data: a header is not counted."
    yield ""


def _of_classes(attack: Attack) -> Iterator[str]:
    """What stands behind the share of sensitive words: of each class, the best way."""
    from mondegreen.attacks.related_rows import RELATED

    details, hidden = attack.details, attack.details["hidden_only"]
    yield f"\nsensitive words: {attack.n:,}"
    if hidden["n"] < attack.n:
        yield (
            f"recovered of those that the policy hides ({hidden['n']:,}): "
            f"{figure(hidden['value'], 'percent')} %"
        )
    known = details["known_only"]
    yield (
        f"counting only words that the attacker has seen before ({known['n']:,}): "
        f"{figure(known['value'], 'percent')} %"
    )
    for way in details["by"]:
        has_column = way["by"] == RELATED and "column" in details
        most = f", most by {details['column']!r}" if has_column else ""
        yield f"recovered from {way['by']}{most}: {figure(way['value'], 'percent')} %"
    classes = [*details["by_class"].items()]
    classes += [(f"{name} (not counted)", of) for name, of in details["beside"].items()]
    rows = [["class", "recovered", "at most (95 %)", "words"]]
    for name, of in classes:
        most = f"{figure(of['high'], 'percent')} %" if "high" in of else ""
        rows.append([name, f"{figure(of['value'], 'percent')} %", most, f"{of['n']:,}"])
    yield ""
    yield from table(rows, align="<>>>")
    yield _ABOUT_BESIDE
