"""Options that several commands share: what the Tab key offers, what values mean."""

from __future__ import annotations

import functools
import inspect
import io
import itertools
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, NoneType
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    NewType,
    get_args,
    get_origin,
    get_type_hints,
)

import click

from mondegreen.errors import (
    ConfigurationError,
    DataError,
    InvalidParameterError,
    MissingColumnError,
    SourceError,
    UnprovedGuaranteeError,
)
from mondegreen.files import read_bytes, read_lines
from mondegreen.io.guess import guess_format
from mondegreen.settings import (
    POLICIES,
    Option,
    Settings,
    is_policy_path,
    list_options,
)

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from mondegreen.sampling.noise import KeyedNoise

_HEAD_BYTES: Final = 1 << 16

_CONVERT: Final = "convert it to UTF-8, such as with iconv -f {} -t utf-8"
"""Advice where ``--encoding`` does not apply: it is of the originals alone."""

_OTHER_SHEET: Final = "--sheet names another"
_FIRST_SHEET: Final = "this command reads the first sheet only; others"
"""Advice of commands with and without the option ``--sheet``."""

# A word to every shell: what is offered is put on the line as it is, unquoted.
_PLAIN: Final = re.compile(r"[^\W\d][\w.-]{0,63}")


class _Epsilon(click.types.FloatParamType):
    """A number; one that is absent has a proposal."""

    def get_missing_message(self, *_: Any, **__: Any) -> str:
        """Say which numbers to begin with."""
        return "Use --epsilon 12, or 10 with --policy all."


class _Offered(click.types.StringParamType):
    """A name that the Tab key offers; whatever is typed is taken as it is."""

    def __init__(self, offer: Callable[[click.Context], Iterable[str]]) -> None:
        self._offer = offer

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Offer those names that begin as the word on the line does, or else files.

        Whatever goes wrong, nothing is offered and nothing is said: somebody is in the
        middle of a line.
        """
        from click.shell_completion import CompletionItem

        try:
            names = [name for name in self._offer(ctx) if name.startswith(incomplete)]
        except Exception:
            names = []
        items = [CompletionItem(name) for name in names]
        is_path = "path" in self.name
        return items or ([CompletionItem(incomplete, type="file")] if is_path else [])


def _columns(ctx: click.Context) -> list[str]:
    """Read the columns of the file that is on the line: names, and nothing else."""
    # click leaves arguments unread where the last option on the line lacks its value.
    read = [ctx.params.get(name) for name in ("input", "sample", "original")]
    several = ctx.params.get("inputs") or ()
    path = Path(next(filter(None, [*ctx.args, *several, *read])))
    if not path.is_file():  # a pipe has one reader
        return []
    form = ctx.params.get("format") or guess_format(path.name)
    if form == "parquet":
        import pyarrow.parquet as pq

        names = list(_paths(pq.read_schema(path)))
    elif form == "jsonl":
        from pyarrow import json as arrow_json

        first = _head(path).partition(b"\n")[0]
        names = list(_paths(arrow_json.read_json(io.BytesIO(first)).schema))
    else:
        names = _header(path, ctx.params) if form in ("csv", "tsv") else []
    return [name for name in dict.fromkeys(names) if _PLAIN.fullmatch(name)]


def _paths(fields: Any, prefix: str = "") -> Iterator[str]:
    """Yield the dotted path of every leaf of an Arrow schema, lists left out."""
    from pyarrow.types import is_struct

    for field in fields:
        kind = field.type
        while hasattr(kind, "value_type"):
            kind = kind.value_type
        if is_struct(kind):
            yield from _paths(kind, f"{prefix}{field.name}.")
        else:
            yield prefix + field.name


def _header(path: Path, options: dict[str, Any]) -> list[str]:
    """Read the first row of a CSV, if it can be a header."""
    import csv

    text = _head(path).decode(options.get("encoding") or "utf-8-sig", errors="replace")
    first = text.partition("\n")[0]
    delimiter = options.get("delimiter") or max(",;\t", key=first.count)
    row = next(csv.reader(io.StringIO(text), delimiter=delimiter))
    # Values rather than names: a number, nothing, or the same twice.
    is_header = len(set(row)) == len(row) and not any(c[:1].isdecimal() for c in row)
    return row if is_header and all(row) else []


def _head(path: Path) -> bytes:
    import gzip

    opened = gzip.open if path.suffix.lower() == ".gz" else open
    with opened(path, "rb") as stream:
        head: bytes = stream.read(_HEAD_BYTES)
    if b"\n" not in head and len(head) == _HEAD_BYTES:
        raise ValueError
    return head


AttackName = NewType("AttackName", str)
Column = NewType("Column", str)
File = NewType("File", str)  # that is read or written, or - where that makes sense
LanguageName = NewType("LanguageName", str)
MechanismName = NewType("MechanismName", str)
PolicyName = NewType("PolicyName", str)
ScoreName = NewType("ScoreName", str)
Seed = NewType("Seed", int)  # 0 or more
SpaceName = NewType("SpaceName", str)

# What a parameter of a command may be: its click type, and how the help calls that.
_KINDS: Final[Mapping[Any, tuple[click.ParamType[Any], str]]] = {
    float: (click.types.FloatParamType(), "number"),
    int: (click.IntRange(min=1), "n"),
    AttackName: (
        _Offered(lambda ctx: import_module("mondegreen.attacks").names()),
        "name",
    ),
    Column: (_Offered(_columns), "name"),
    File: (click.Path(path_type=str), "file"),
    LanguageName: (
        _Offered(
            lambda ctx: import_module("mondegreen.language.store").language_names()
        ),
        "name|path",
    ),
    MechanismName: (
        _Offered(lambda ctx: import_module("mondegreen.mechanisms").names()),
        "name",
    ),
    PolicyName: (_Offered(lambda ctx: POLICIES), "name|path"),
    Path: (click.Path(exists=True, dir_okay=False, path_type=Path), "file"),
    ScoreName: (
        _Offered(lambda ctx: import_module("mondegreen.scores").names()),
        "name",
    ),
    Seed: (click.IntRange(min=0), "n"),
    SpaceName: (
        _Offered(lambda ctx: import_module("mondegreen.space.store").space_names()),
        "name|path",
    ),
}
for _type, _name in _KINDS.values():
    _type.name = _name

# What a setting names: its kind on the command line.
_NAMED: Final[Mapping[str, Any]] = {
    "language": LanguageName,
    "mechanism": MechanismName,
    "policy": PolicyName,
    "space": SpaceName,
    "words": File,
}


def option(help: str, shown: str = "", **more: Any) -> Any:
    """Declare an option where a parameter of a command has its default.

    ``shown`` holds its flags, by default the name of the parameter, and its metavar,
    such as ``"-m --mechanism NAME"``. All else follows from the type of the parameter:
    whether it is a flag, repeatable, one of several words (by default the first), or
    required; unless ``more``, which is what ``click.Option`` takes, says otherwise.
    """
    given: dict[str, Any] = {"help": help, **more}
    flags = [part for part in shown.split() if part.startswith("-")]
    if metavar := shown.split()[len(flags) :]:
        given["metavar"] = metavar[0]

    def declare(name: str, kind: Any) -> click.Parameter:
        names = [*(flags or [f"--{name.replace('_', '-')}"]), name]
        return click.Option(names, **_parse_types(kind, given))

    return declare


class InputPath(click.Path):
    """A file to read, or ``-`` for standard input."""

    def get_missing_message(self, *_: Any, **__: Any) -> str:
        """Say what to write in a pipe."""
        return "Use - for standard input."


def argument(**more: Any) -> Any:
    """Declare an argument where a parameter of a command has its default."""
    return lambda name, kind: click.Argument([name], **_parse_types(kind, more))


def command(**how: Any) -> Callable[[Callable[..., None]], click.Command]:
    """Turn a function into a command; its parameters declare its options, each once.

    A parameter whose default is :func:`settings` stands for many options, and gets the
    :class:`Settings` that they make.
    """

    def decorate(function: Callable[..., None]) -> click.Command:
        kinds = get_type_hints(function)
        params: list[click.Parameter] = []
        groups: dict[str, list[str]] = {}
        for name, each in inspect.signature(function).parameters.items():
            if isinstance(each.default, _SettingsOptions):
                groups[name] = [option.name for option in each.default.options]
                params += map(_click_option, each.default.options)
            else:
                params.append(each.default(name, kinds[name]))

        @functools.wraps(function)
        def call(**values: Any) -> None:
            for group, names in groups.items():
                given = {name: values.pop(name) for name in names}
                values[group] = _read_settings(given)
            try:
                function(**values)
            except (SourceError, MissingColumnError) as error:
                _advise(error, values)
                raise

        as_command: Any = click.command(params=params, **how)
        made: click.Command = as_command(call)
        return made

    return decorate


def _advise(error: SourceError | MissingColumnError, given: Mapping[str, Any]) -> None:
    """Change a hint that names an option which the command does not have.

    Where a command looked for its default column, the hint names the option.
    """
    has_option = "encoding" in given and error.path != given.get("release")
    if "--encoding" in error.hint and not has_option:
        error.advise(_CONVERT.format("utf-16" if "utf-16" in error.hint else "cp1252"))
    looked = given.get("columns") or (given.get("column"),)
    if isinstance(error, MissingColumnError) and error.column == "text" in looked:
        error.advise("; ".join(filter(None, (error.hint, "use --column NAME"))))
    if _OTHER_SHEET in error.hint and "sheet" not in given:
        error.advise(error.hint.replace(_OTHER_SHEET, _FIRST_SHEET))


class _SettingsOptions:
    """Stands where a command takes options that make :class:`Settings`."""

    def __init__(
        self,
        names: Iterable[str],
        otherwise: Mapping[str, str],
        optional: Collection[str],
    ) -> None:
        declared = list_options()
        self.options = [
            replace(
                declared[name],
                otherwise=otherwise.get(name, declared[name].otherwise),
                is_required=declared[name].is_required and name not in optional,
            )
            for name in names
        ]


def settings(
    *names: str,
    without: Collection[str] = (),
    otherwise: Mapping[str, str] = MappingProxyType({}),
    optional: Collection[str] = (),
) -> Any:
    """Declare the options of some settings where a command has a parameter of them.

    By default all of them; ``without`` leaves some out. ``otherwise`` says which
    default a command gives to settings that are None; ``optional`` names settings that
    this command can do without.
    """
    named = names or tuple(list_options())
    chosen = (name for name in named if name not in without)
    return _SettingsOptions(chosen, otherwise, optional)


def _click_option(declared: Option) -> click.Option:
    """Offer a field of settings on the command line."""
    more: dict[str, Any] = {"default": declared.default, "show_default": True}
    if declared.is_required:
        more = {"required": True}
    elif declared.otherwise or declared.default in ((), {}):
        more = {"default": None, "show_default": False}
    help = declared.help
    if declared.otherwise:
        help += f"  [default: {declared.otherwise}]"
    kind = _NAMED.get(declared.names, declared.kind)
    if get_origin(kind) in (tuple, Mapping):
        kind = tuple[str, ...]
    if declared.name == "epsilon":
        more["type"] = _Epsilon()
    made: click.Option = option(help, declared.flags, **more)(declared.name, kind)
    return made


def _read_settings(given: dict[str, Any]) -> Settings:
    """Make settings of what the options of a command hold."""
    from mondegreen.text.lookup import read_keep_list

    for name, value in given.items():
        declared = list_options()[name]
        if declared.names == "words":
            given[name] = () if value is None else read_keep_list(value)
            if value is not None and not given[name]:
                raise ConfigurationError(
                    f"{value}: holds no words. Leave out the option that names it, or "
                    "write one word per line"
                )
        elif get_origin(declared.kind) is Mapping:
            given[name] = collect_parameters(value)
    return Settings(**given)


def word_files() -> list[str]:
    """Return the files of words or policies that the running command's options name."""
    values = click.get_current_context().params
    declared = (name for name, each in list_options().items() if each.names == "words")
    found = [values[name] for name in declared if values.get(name) is not None]
    policy = values.get("policy")
    return found + [policy] * (policy is not None and is_policy_path(policy))


def _parse_types(kind: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Add to what is given what the type of a parameter tells."""
    parts = [each for each in get_args(kind) if each not in (NoneType, ...)]
    if kind is bool:
        return {"is_flag": True, **given}
    if get_origin(kind) is tuple:
        many = {} if "nargs" in given else {"multiple": True}
        return {"type": _parse_types(parts[0], {})["type"], **many, **given}
    if get_origin(kind) is Literal:
        return {"type": click.Choice(parts), "default": parts[0], **given}
    if parts:
        return {"type": _parse_types(parts[0], {})["type"], **given}
    own = _KINDS[kind][0] if kind in _KINDS else kind
    return {"type": own, "required": "default" not in given, **given}


FORMAT: Final = option("Input format.  [default: from the file name; txt for -]")


def _of_setting(name: str) -> Any:
    """Declare an option of a command on a space by a field of settings."""
    declared = list_options()[name]
    default = getattr(Settings(policy="all").resolve(), name)
    more = {} if declared.default in ((), {}) else {"default": default}
    return option(declared.help, declared.flags, **more)


POLICY: Final = (
    "policy",
    "ordinary",
    "sensitive",
    "most_ordinary",
    "opened",
    "hidden",
    "hide_among",
)
"""The settings that choose a policy."""

SHOWN_POLICY: Final = (*POLICY, "numbers", "near", "same")
"""Those, and what is printed for its words."""

LAW: Final = ("mechanism", "epsilon", "parameters", "space", "allow_unproved")
"""The settings of a law, for commands that print no texts."""

PARAMETERS: Final = _of_setting("parameters")
SPACE: Final = _of_setting("space")
UNPROVED: Final = _of_setting("allow_unproved")
KNOWN_LANGUAGE: Final = option(
    "Public language model of the attacker. An in-domain model makes the attacker "
    "stronger. List: mondegreen language list.  [default: the model of the package]",
    "--language",
)
COLUMNS: Final = option(
    "Column with text. JSON and struct paths such as msg.body are allowed. Repeatable.",
    "-c --column",
    default=("text",),
)
SHEET: Final = option(
    "Sheet of the Excel workbooks that this command reads.  [default: the first]",
    "--sheet NAME",
)
ENCODING: Final = option(
    "Encoding of the originals, such as cp1252.  [default: UTF-8]",
    "--encoding NAME",
)
DROP: Final = option(
    "Column to leave out of the output, such as names or the id. Repeatable.",
    "--drop COLUMN",
)
FORCE: Final = option("Overwrite an existing output.")
JSON: Final = option("Print JSON instead of a table.", "--json")
QUIET: Final = option("Print no progress.", "-q --quiet")
DETECT: Final = option(
    "Run a detector on each text first. A word that it finds hides among words of its "
    "type. Every word goes through the policy. presidio finds names only with "
    "--detect-model. Needs --policy names or sensitive, or no --policy.",
    "--detect",
)
DETECT_MODEL: Final = option(
    "Installed spaCy model for --detect presidio, such as en_core_web_sm.  "
    "[default: none. Without a model, no names are found]",
    "--detect-model NAME",
)


def build_keyed_noise(key_file: str | None, key_env: str | None) -> KeyedNoise | None:
    """Read the key that --key-file or --key-env names; None without either."""
    from mondegreen.sampling.noise import KeyedNoise

    if key_file is not None and key_env is not None:
        raise ConfigurationError("--key-file and --key-env cannot be combined")
    if key_file is not None:
        return KeyedNoise.from_file(key_file)
    return None if key_env is None else KeyedNoise.from_env(key_env)


def check_proved(mechanism: Any, *, allow_unproved: bool) -> None:
    """Refuse a mechanism, or a class of them, without a proof."""
    if not mechanism.is_private and not allow_unproved:
        raise UnprovedGuaranteeError(
            f"{mechanism.name} has no proof of privacy; to measure it anyway, pass "
            "--allow-unproved"
        )


def split_mechanism(text: str) -> tuple[str, str]:
    """Split a mechanism from its parameters, behind a colon or a comma.

    >>> split_mechanism("vickrey:t=0.25,k=3"), split_mechanism("vickrey,t=0.25")
    (('vickrey', 't=0.25,k=3'), ('vickrey', 't=0.25'))
    >>> split_mechanism("coin:Coin,epsilon=5")
    ('coin:Coin', 'epsilon=5')
    """
    name = re.split(r"[:,](?=\w+=)|,", text, maxsplit=1)
    return name[0], "".join(name[1:])


def collect_parameters(settings: tuple[str, ...]) -> dict[str, Any]:
    """Read the parameters that NAME=VALUE strings and @FILEs describe."""
    parameters: dict[str, Any] = {}
    for setting in settings:
        if setting.startswith("@"):
            parameters.update(_load_stored(setting[1:]))
            continue
        key, equals, value = setting.partition("=")
        if not equals or key == "epsilon":
            raise InvalidParameterError(
                "--set", setting, "NAME=VALUE, NAME other than epsilon"
            )
        try:
            parameters[key] = json.loads(value)
        except ValueError:
            if not re.fullmatch(r"\w+", value):
                raise InvalidParameterError(
                    f"--set {key}", value, "a number, a name, [0.1,0.2], or null"
                ) from None
            parameters[key] = value  # a name, such as decoder=fast, needs no quotes
    return parameters


def _load_stored(path: str) -> dict[str, Any]:
    try:
        found = json.loads(read_bytes(path))
    except ValueError:  # not JSON, or not UTF-8
        found = None
    if not isinstance(found, dict) or "epsilon" in found:
        raise InvalidParameterError(
            "--set", f"@{path}", "a JSON object of parameters other than epsilon"
        )
    return found


_SEPARATE: Final = "a separate file, different from all other files of this command"


def check_separate(
    input: str,
    output: str,
    beside: Mapping[str, str | None],
    read: Sequence[str | None],
) -> None:
    """Refuse to write one file over another of the same run, --force or not.

    ``beside`` holds what is written besides ``output``, by option; ``read`` what is
    read besides ``input``.
    """
    from mondegreen.io.target import is_same_file

    written = {name: path for name, path in beside.items() if path}
    clashes = [("--output", output, path) for path in read]
    clashes += [(n, path, each) for n, path in written.items() for each in read]
    clashes += [(name, path, input) for name, path in written.items()]
    if output != "-":
        clashes += [(name, path, output) for name, path in written.items()]
    named = list(written.items())
    clashes += [(*one, other) for one, (_, other) in itertools.combinations(named, 2)]
    for name, path, other in clashes:
        if path and other and is_same_file(other, path):
            raise InvalidParameterError(name, path, _SEPARATE)
    for name, path in named:
        if path == "-" and (output == "-" or name == "--map"):
            raise InvalidParameterError(name, path, _SEPARATE)


def check_output(
    output: Path, read: Iterable[str | Path | None], *, force: bool
) -> None:
    """Refuse to replace a file that is read, and any other without --force.

    It is a usage error (exit code 2) to name as output one of the files in ``read``.
    """
    from mondegreen.io.target import is_same_file

    if not output.exists():
        return
    if any(path and is_same_file(str(path), str(output)) for path in read):
        raise InvalidParameterError("--output", str(output), _SEPARATE)
    if not force:
        raise DataError(f"{output} already exists. Use another name, or --force")


def read_option_lines(path: str | None) -> tuple[str, ...]:
    """Read the lines of a public text that an option names; none without a file."""
    lines = () if path is None else read_lines(path)
    return tuple(line.strip() for line in lines if line.strip())
