"""``mondegreen policy``: list, describe and compare policies, and look up words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from mondegreen.cli import options
from mondegreen.cli.options import File, PolicyName, argument, command, option
from mondegreen.cli.public.policy_export import export
from mondegreen.cli.render import (
    describe_spellings,
    describe_symbol,
    echo_facts,
    echo_json,
    echo_table,
    same_lines,
)
from mondegreen.errors import ConfigurationError
from mondegreen.settings import DEFAULT_POLICY, POLICIES, Settings

if TYPE_CHECKING:
    from mondegreen.policy.policy import Policy
    from mondegreen.policy.shown import ShownWord


_CHOSEN: Final = options.settings(
    *options.SHOWN_POLICY, otherwise={"policy": DEFAULT_POLICY}
)

_BESIDE: Final = options.settings(
    *(name for name in options.POLICY if name != "policy")
)

_OF_INFO: Final = options.settings(
    *(name for name in options.POLICY if name != "policy"), "numbers", "near"
)

_ABOUT: Final = {
    "sensitive": "hides names, places, numbers, personal facts and rare words",
    "names": "hides who, where, when, numbers in digits and unknown words",
    "all": "hides every word, in the groups of the word tree",
}

_SHOWN: Final = 10


@click.group()
def policy() -> None:
    """List, show, compare and build policies.

    A policy says which words are ordinary and shown, and which are sensitive and
    replaced by another word of their group.

    Example: mondegreen policy show diabetes Anna 4711
    """


@command(name="list")
def list_policies(as_json: bool = options.JSON) -> None:
    """List the policies that come with the package.

    Example: mondegreen policy list --json
    """
    rows: list[dict[str, Any]] = []
    for name in POLICIES:
        counts = dict.fromkeys(("ordinary", "groups", "hides_among"))
        if name != "all":
            found = _load(Settings(policy=name)).alphabet
            counts = {key: getattr(found, key) for key in counts}
        rows.append({"name": name, "about": _ABOUT[name], **counts})
    echo_table(rows if as_json else [_label(row) for row in rows], as_json=as_json)


@command()
def info(
    name: PolicyName = argument(default=DEFAULT_POLICY, metavar="[NAME|FILE]"),
    settings: Settings = _OF_INFO,
    as_json: bool = options.JSON,
) -> None:
    """Describe a policy: its classes, its groups, its sources and its digest.

    \b
    mondegreen policy info names
    mondegreen policy info --open health
    mondegreen policy info my.policy
    """  # noqa: D301
    from mondegreen.policy.shown import PolicyView

    found = _load(replace(settings, policy=name))
    facts = {
        "policy": found.name,
        "digest": found.digest,
        "ordinary": len(found.ordinary),
        "groups": found.alphabet.groups,
        "hides_among": found.alphabet.hides_among,
        "hide_among": found.hide_among,
        "lexicon": dict(found.lexicon.header),
        "lexicon_digest": found.lexicon.digest,
    }
    rows = PolicyView(found).classes()
    if as_json:
        echo_json({**facts, "classes": rows})
        return
    echo_facts(_label(facts))
    click.echo()
    echo_table([_label(row) for row in rows])


@command(short_help="Show what a policy does with words.")
def show(
    words: tuple[str, ...] = argument(nargs=-1, required=True),
    settings: Settings = _CHOSEN,
    as_json: bool = options.JSON,
) -> None:
    """Show what a policy does with each WORD, as spelled.

    Print its class, the number of words it hides among, and examples of outputs.
    Capital letters and digits matter. A WORD may consist of several, such as an e-mail
    address. The command reads the public policy only.

    \b
    mondegreen policy show diabetes May "anna@example.org" "+49 170 5551234"
    mondegreen policy show diabetes --open health --json
    """  # noqa: D301
    from mondegreen.policy.shown import PolicyView

    view = PolicyView(_load(settings))
    found = [each for word in words for each in view.words(word)]
    if not found:
        raise ConfigurationError(
            "no WORD given. Punctuation, and amounts under --numbers plain, pass "
            "unchanged"
        )
    if as_json:
        echo_json([each.to_dict() for each in found])
        return
    for each in found:
        click.echo("\n".join(_lines(each)))
    for line in same_lines(settings.same):
        click.echo(line)


@command(short_help="Compare two policies.")
def diff(
    first: PolicyName = argument(metavar="A"),
    second: PolicyName = argument(metavar="B"),
    settings: Settings = _BESIDE,
    as_json: bool = options.JSON,
) -> None:
    """List the words whose class differs between policies A and B.

    A and B are names or files, such as that of an old version. The options change B,
    not A. Words are compared as they are, and with a capital.
    The table shows ten words of each change, and --json all of them.

    \b
    mondegreen policy diff sensitive names
    mondegreen policy diff sensitive ./my.policy
    mondegreen policy diff sensitive sensitive --open health --json
    """  # noqa: D301
    from mondegreen.policy.shown import compare

    one = _load(Settings(policy=first))
    other = _load(replace(settings, policy=second))
    changes = sorted(compare(one, other).items(), key=lambda each: -len(each[1]))
    rows: list[dict[str, Any]] = [
        {"from": kinds[0], "to": kinds[1], "count": len(found), "words": found}
        for kinds, found in changes
    ]
    if as_json:
        echo_json(rows)
    elif rows:
        shown = [{**row, "words": " ".join(row["words"][:_SHOWN])} for row in rows]
        echo_table(shown)
    else:
        click.echo("no word changes its class")


@command(short_help="Build a policy file from lists of words.")
def build(
    sources: tuple[File, ...] = argument(nargs=-1, required=True, metavar="SOURCE..."),
    output: Path = option(
        "Policy file to write, such as my.policy.",
        "-o --output FILE",
        required=True,
        type=click.Path(path_type=Path),
    ),
    base: Literal["english", "none"] = option(
        "english: add to the lists of the package. none: use SOURCE alone."
    ),
    like: Literal["sensitive", "names"] = option(
        "Show the classes that this policy shows, with --base english."
    ),
    opened: tuple[str, ...] = option(
        "Show this class of SOURCE. Repeatable.", "--open CLASS"
    ),
    name: str | None = option(
        "Name of the policy.  [default: the name of FILE, without its ending]"
    ),
    version: str = option("Version of the policy.", default="1"),
    licenses: tuple[str, ...] = option(
        "License of the lists of SOURCE, such as CC0-1.0. Repeatable.",
        "--license NAME",
    ),
    force: bool = options.FORCE,
    as_json: bool = options.JSON,
) -> None:
    """Build a policy file from PUBLIC lists of words.

    SOURCE is UTF-8 text. A heading stands before its words: [ordinary], a class such as
    [health], or [health p] for plurals and [health b] for verbs. # begins a comment.
    Words of SOURCE are removed from the lists of the base. A list made from private
    texts discloses what they hold.

    \b
    mondegreen policy build terms.txt -o my.policy --license CC0-1.0
    mondegreen privatize INPUT -o OUTPUT --policy ./my.policy --epsilon 12
    """  # noqa: D301
    from mondegreen.files import whole_file
    from mondegreen.policy.lexicon import load_lexicon
    from mondegreen.policy.policy import Policy, list_opened
    from mondegreen.policy.policy_file import build_policy_file, check_policy_file

    options.check_output(output, [str(each) for each in sources], force=force)
    lexicon = load_lexicon() if base == "english" else None
    inherited = list_opened(like).intersection(lexicon.classes if lexicon else ())
    data = build_policy_file(
        sources,
        name=output.stem if name is None else name,
        version=version,
        licenses=licenses,
        opened=[*{*opened, *inherited}],
        base=lexicon,
    )
    checked = check_policy_file(data, output)
    made = Policy(checked, str(checked.header["name"]))
    with whole_file(output, mode=0o644) as file:
        file.write(data)
    facts = {
        "file": str(output),
        "policy": made.name,
        "digest": made.digest,
        "ordinary": len(made.ordinary),
        "groups": made.alphabet.groups,
        "hides_among": made.alphabet.hides_among,
    }
    echo_facts(facts if as_json else _label(facts), as_json=as_json)


for _verb in (list_policies, info, show, diff, build, export):
    policy.add_command(_verb)


_LABELS: Final = {
    "hides_among": "words of the smallest group (without numbers and dates)",
    "hide_among": "target for a group (--hide-among)",
    "least": "words of the smallest",
}


def _label(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Name facts in the words of the guarantee, for people."""
    return {_LABELS.get(name, name): value for name, value in facts.items()}


def _load(settings: Settings) -> Policy:
    """Make the policy that the options choose; ``all`` has no words of its own."""
    from mondegreen.policy.policy import find_policy

    found = find_policy(settings.resolve())
    if found is None:
        raise ConfigurationError(
            "policy 'all' replaces every word by the word tree, and has no classes: "
            "use mondegreen explain WORD, or mondegreen space info --branch WORD"
        )
    return found


def _lines(shown: ShownWord) -> list[str]:
    lines = [f"{shown.word}: {describe_symbol(shown.inside)}"]
    if shown.inside.hides_among is not None:
        lines.append(f"  printed, for example: {', '.join(shown.examples)}")
    return lines + [f"  {line}" for line in describe_spellings(shown)]
