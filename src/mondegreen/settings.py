"""Settings: everything that shapes a release, declared once for every interface.

The command line, HTTP, data frames, Spark, scikit-learn, spaCy, DuckDB and the device
take their options, defaults and checks from the fields of :class:`Settings`. To add an
option, declare a field here, and use it where the release is made.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import (
    Any,
    Final,
    Literal,
    Self,
    TypeAlias,
    TypeVar,
    Union,
    final,
    get_args,
    get_origin,
    get_type_hints,
)

from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    UnknownNameError,
)
from mondegreen.wording import DEFAULT_SPACE

Case: TypeAlias = Literal["lower", "truecase", "restore"]
Numbers: TypeAlias = Literal["hide", "near", "plain"]
Same: TypeAlias = Literal["place", "record", "key"]
Policy: TypeAlias = str  # one of POLICIES, or the path of a policy file
Read: TypeAlias = Literal["none", "words", "sentence"]
Structure: TypeAlias = Literal["keep", "plain"]
Unknown: TypeAlias = Literal["word", "mask", "drop", "fail"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

DEFAULT_LANGUAGE: Final = "english"
"""The public language model that comes with the package."""

DEFAULT_POLICY: Final = "sensitive"
"""The policy that is meant where neither a policy nor a mechanism is named."""

DEFAULT_MECHANISM: Final = "urr"
"""The mechanism that is meant where none is named, and words stay.

At epsilon 8 to 14 it keeps more words than ``krr`` does, at nearly the same recovery of
sensitive words: see ``docs/explanation/policies.md``.
"""

EVERY_WORD_MECHANISM: Final = "tree"
"""The mechanism that is meant for policy ``all``, which replaces every word."""

POLICIES: Final = ("sensitive", "names", "all")
"""The policies that come with the package."""

SYMBOL_MECHANISMS: Final = ("krr", "urr")
"""Mechanisms that work on the symbols of a policy."""


def setting(
    default: Any,
    help: str,
    flags: str = "",
    *,
    otherwise: str = "",
    names: str = "",
    is_required: bool = False,
) -> Any:
    """Declare a field of :class:`Settings`; all else follows from its type.

    Parameters
    ----------
    default : object
        What holds where the option is not given; None if :meth:`Settings.resolve`
        chooses it by the other settings. A callable makes a new value.
    help : str
        What the option does, for people.
    flags : str
        Flags and metavar of the command line, if they are not ``--name``.
    otherwise : str
        The default in words, where it is None.
    names : {"", "mechanism", "space", "policy", "language", "words"}
        What a text names: the command line completes such names, and reads ``words``
        from a file.
    is_required : bool
        Whether a command needs it.
    """
    metadata = {
        "help": help,
        "flags": flags,
        "otherwise": otherwise,
        "names": names,
        "is_required": is_required,
    }
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


@final
@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that shapes a release, besides its key, record ids and column.

    Parameters
    ----------
    mechanism : str, optional
        A name that ``mondegreen.mechanisms()`` lists. By default ``urr``; ``tree``
        with policy ``all``.
    epsilon : float, optional
        Privacy budget of the mechanism. It has no default: :func:`build_privatizer
        <mondegreen.privatizer.build.build_privatizer>` needs one.
    parameters : mapping
        Other parameters of the mechanism.
    space : str, optional
        The name or file of a space, for policy ``all``. By default the embedded one.
    policy : {"sensitive", "names", "all"} or path, optional
        Which words are sensitive, and so replaced. ``all``: every word. By default
        ``sensitive``, and ``all`` for a mechanism that works on a space.
    ordinary, sensitive : iterable of str
        *Public* words that the policy shows, and that it must hide.
    most_ordinary : int, optional
        How many ordinary words the policy shows at most, the most frequent ones; rarer
        ones hide. Words of ``ordinary`` and of classes that are shown do not count.
    opened, hidden : iterable of str
        Classes of the policy that are shown, and hidden.
    hide_among : int
        Target number of words in a group of the policy. A class with fewer words is one
        group.
    numbers : {"hide", "near", "plain"}
        Whether amounts hide among all numbers of their format, are printed near their
        value, or pass unchanged.
    near : float, nats per cell
        Loss of amounts for a factor of 1.26, with ``numbers="near"``.
    same : {"place", "record", "key"}
        Whether a sensitive word is replaced anew at each place of a record, or has one
        replacement throughout a record, or in all texts under one key.
    unknown : {"word", "mask", "drop", "fail"}
        What happens to words outside the vocabulary.
    keep : iterable of str
        *Public* words that pass unchanged. They are sorted, each once.
    case : {"lower", "truecase", "restore"}, optional
        How words are printed. By default ``truecase``. With policy ``all``, ``lower``
        unless ``read`` is set.
    structure : {"keep", "plain"}
        Whether punctuation and spaces of the input are printed.
    read : {"none", "words", "sentence"}
        Whether to print the most likely original words instead of the released words.
    language : str, optional
        The name or file of a public language model, for ``read``.
    print_all : bool
        Whether obscenities and slurs are printed.
    allow_unproved : bool
        Whether the mechanism may lack a proof.

    Raises
    ------
    InvalidParameterError
        If a value has the wrong type, or is not one of those that are allowed.

    Examples
    --------
    >>> chosen = Settings(epsilon=12.0).resolve()
    >>> chosen.policy, chosen.mechanism, chosen.case
    ('sensitive', 'urr', 'truecase')
    >>> Settings(epsilon=10.0, policy="all").resolve().mechanism
    'tree'
    >>> Settings(unknown="maks")
    Traceback (most recent call last):
    mondegreen.errors.InvalidParameterError: unknown must be one of word, mask, ...
    """

    mechanism: str | None = setting(
        None,
        "Method that draws the replacements. List: mondegreen mechanisms.",
        "-m --mechanism",
        otherwise=f"{DEFAULT_MECHANISM}; {EVERY_WORD_MECHANISM} with --policy all",
        names="mechanism",
    )
    epsilon: float | None = setting(
        None,
        "Limit on what a replacement reveals, in nats. Under a policy, it limits only "
        "what the replacement reveals about the group of its word. With urr, an "
        "attacker recovers about as much at any value from 8 to 14. With --policy all, "
        "a smaller value is more private and less readable. There is no default. Use "
        "12, or 10 with --policy all. Mechanisms other than urr, krr and tree need "
        "other values.",
        "-e --epsilon",
        is_required=True,
    )
    parameters: Mapping[str, Any] = setting(
        dict,
        "Set another parameter of the mechanism, such as t=0.25. `mondegreen "
        "mechanisms` lists them. @FILE is a JSON object of parameters. Repeatable.",
        "--set NAME=VALUE|@FILE",
    )
    space: str | None = setting(
        None,
        "Vocabulary of the replacements, for --policy all. List: mondegreen space "
        "list.",
        otherwise=f"{DEFAULT_SPACE} with --policy all",
        names="space",
    )
    policy: Policy | None = setting(
        None,
        "Choose which words are replaced. sensitive: names, places, numbers, health, "
        "family, work, belief, money, crime and all rare words. names: who, where, "
        "when, numbers in digits and unknown words. all: every word. FILE: a policy "
        "made by `mondegreen policy build`. List: mondegreen policy list.",
        "--policy NAME|FILE",
        otherwise=f"{DEFAULT_POLICY}; all with a mechanism that works on a space",
        names="policy",
    )
    ordinary: tuple[str, ...] = setting(
        (),
        "PUBLIC words to show as ordinary, one per line. A list made from private "
        "texts discloses what they hold.",
        names="words",
    )
    sensitive: tuple[str, ...] = setting(
        (),
        "PUBLIC words to hide, one per line.",
        names="words",
    )
    most_ordinary: int | None = setting(
        None,
        "Show only the N most frequent ordinary words of the policy, and hide rarer "
        "words. Words of --ordinary and of shown classes are shown in addition.",
        "--most-ordinary N",
        otherwise="all ordinary words",
    )
    opened: tuple[str, ...] = setting(
        (),
        "Show this class of the policy, such as health. Repeatable.",
        "--open CLASS",
    )
    hidden: tuple[str, ...] = setting(
        (),
        "Hide this class, which the policy shows. Repeatable.",
        "--hide CLASS",
    )
    hide_among: int = setting(
        100,
        "Target number of words in a group of the policy. A class with fewer "
        "words becomes one group. A class with very few words is added to another "
        "group.",
        "--hide-among N",
    )
    numbers: Numbers = setting(
        "hide",
        "How to print amounts, ages and measures. hide: any number of the same "
        "format. near: a number near the true one, on a public grid from 1 to "
        "1,000,000. plain: unchanged. Years from 1900 to 2099, dates, and numbers with "
        "signs such as : or - between them are always hidden. Do not use near for "
        "texts with phone or card numbers: 555 12 34 counts as three amounts.",
    )
    near: float = setting(
        0.5,
        "For --numbers near: how much an amount reveals. A larger number prints a "
        "closer amount. Two amounts that differ by a factor of 1.26 lose this many "
        "nats. Maximum: 0.6.",
        "--near NATS",
    )
    same: Same = setting(
        "place",
        "How long a sensitive word keeps its replacement. place: a word gets a new "
        "draw each time that it occurs. record: one replacement in each text of a "
        "record, which discloses which of its sensitive words are equal. key: one "
        "replacement in all texts under one key. That is a cipher: an attacker "
        "with many texts learns the originals. key needs a key and record ids.",
    )
    unknown: Unknown = setting(
        "word",
        "What to do with words outside the vocabulary, with --policy all. word: "
        "replace them. mask: print [unk]. drop: remove them. fail: stop.",
    )
    keep: tuple[str, ...] = setting(
        (),
        "PUBLIC words to print unchanged, one per line, with the spelling of this "
        "list. For --policy all.",
        names="words",
    )
    case: Case | None = setting(
        None,
        "How to print capital letters. lower: as in the space. truecase: from public "
        "statistics, which discloses nothing. restore: as in the input, which "
        "discloses the case of each word.",
        otherwise="truecase; lower with --policy all and without --read",
    )
    structure: Structure = setting(
        "keep",
        "keep: print punctuation and spaces unchanged. They can identify a text. "
        "plain: print single spaces and full stops. The release still discloses the "
        "number of words, and sometimes that a sign such as ( stood before a word: a "
        "capital after such a sign counts as a name.",
    )
    print_all: bool = setting(
        False,
        "Print obscenities and slurs too. By default, the words of a public list are "
        "never printed.",
    )
    read: Read = setting(
        "none",
        "Print the most likely original words, guessed by a public language model, "
        "for --policy all. words: each word by itself. sentence: the whole sentence. "
        "none: print the sampled words. The guess uses only the release and public "
        "data, so privacy is unchanged. Fluent output is not evidence of what was "
        "written.",
    )
    language: str | None = setting(
        None,
        "Language model of PUBLIC text, for --read. Or the folder of a model of the "
        "library transformers, which then scores sentences. List: mondegreen language "
        "list.",
        otherwise=f"{DEFAULT_LANGUAGE}, with --read",
        names="language",
    )
    allow_unproved: bool = setting(False, "Allow a mechanism without a proof.")

    def __post_init__(self) -> None:
        """Check each value by the type of its field."""
        for name, option in list_options().items():
            value = getattr(self, name)
            if value is not option.default:
                object.__setattr__(self, name, option.check(value))
        if self.policy is not None:
            object.__setattr__(self, "policy", _check_policy_name(self.policy))
        if "epsilon" in self.parameters:
            given, allowed = "epsilon", "those of the mechanism besides epsilon"
            raise InvalidParameterError("parameters", given, allowed)

    def resolve(self) -> Self:
        """Fill in every default that depends on another setting.

        Without a mechanism and a policy: policy ``sensitive`` with ``urr``. A policy
        chooses its mechanism; a mechanism on a space means policy ``all``. No other
        option chooses either: one that has no meaning under the policy is an error.

        Returns
        -------
        Settings
            A copy in which no default is left open.

        Raises
        ------
        ConfigurationError
            If settings do not go together; the message says what to do.
        """
        is_read = self.read != "none"
        on_space = self.mechanism not in (None, *SYMBOL_MECHANISMS)
        policy = self.policy or ("all" if on_space else DEFAULT_POLICY)
        has_policy = policy != "all"
        defaults: dict[str, Any] = {
            "mechanism": DEFAULT_MECHANISM if has_policy else EVERY_WORD_MECHANISM,
            "space": None if has_policy else DEFAULT_SPACE,
            "policy": policy,
            "case": "truecase" if is_read or has_policy else "lower",
            "language": DEFAULT_LANGUAGE if is_read else None,
        }
        missing = {
            name: value
            for name, value in defaults.items()
            if value is not None and getattr(self, name) is None
        }
        found = replace(self, **missing) if missing else self
        found.check_policy()
        return found

    def check_policy(self) -> None:
        """Refuse settings that a policy has no meaning for, or no policy has.

        Raises
        ------
        ConfigurationError
            If they do not go together; the message says what to do.
        """
        over_symbols = self.mechanism in SYMBOL_MECHANISMS
        if self.policy == "all":
            beside = [
                name for name in _OF_POLICY if getattr(self, name) != _find_given(name)
            ]
            if over_symbols or beside:
                shown = beside[0] if beside else f"mechanism {self.mechanism}"
                raise ConfigurationError(
                    f"{shown} needs a policy with ordinary words: use --policy "
                    "sensitive or --policy names"
                )
            return
        if not over_symbols:
            raise ConfigurationError(
                f"mechanism {self.mechanism} works on a space, not on policy "
                f"{self.policy!r}: use urr or krr, or --policy all"
            )
        if self.parameters:
            raise ConfigurationError(
                f"{', '.join(self.parameters)}: neither a setting nor a parameter of "
                f"{self.mechanism}, which has only epsilon. Check the spelling. "
                "Parameters of other mechanisms need --mechanism NAME, or "
                f"--policy all, which means {EVERY_WORD_MECHANISM}"
            )
        for name, why in _NOT_OF_POLICY.items():
            if getattr(self, name) != _WITH_POLICY.get(name, _find_given(name)):
                raise ConfigurationError(
                    f"{name} cannot be combined with policy {self.policy!r}: {why}. "
                    f"Leave {name} out, or add --policy all to replace every word"
                )
        self._check_numbers()

    def _check_numbers(self) -> None:
        if self.numbers == "plain" and self.structure == "plain":
            raise ConfigurationError(
                "--numbers plain needs --structure keep: amounts pass with the "
                "structure"
            )
        if self.numbers != "near" and self.near != _find_given("near"):
            raise ConfigurationError("--near needs --numbers near")

    def to_dict(self) -> dict[str, Any]:
        """Write the settings as JSON values, by the names of the fields.

        Returns
        -------
        dict of str to JSON values
            One entry per field.
        """
        found = {name: getattr(self, name) for name in list_options()}
        return {name: _as_json(value) for name, value in found.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read settings; those that are absent have their defaults.

        Parameters
        ----------
        values : mapping of str to JSON values
            Settings by the names of the fields.

        Returns
        -------
        Settings
            Not resolved yet.

        Raises
        ------
        UnknownNameError
            If there is no setting of a name: one that is lost would matter.
        InvalidParameterError
            If a value has the wrong type.

        Examples
        --------
        >>> settings = Settings(epsilon=10.0, keep=["Oslo"])
        >>> Settings.from_dict(settings.to_dict()) == settings
        True
        """
        if not isinstance(values, Mapping):
            allowed = "an object of settings by their names"
            raise InvalidParameterError("settings", type(values).__name__, allowed)
        check_names(values, list_options())
        return cls(**values)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Describe the settings as a JSON Schema.

        Returns
        -------
        dict
            JSON Schema of an object, with types, ranges and help of each field.
        """
        properties = {
            name: {**option.schema, "description": option.help}
            for name, option in list_options().items()
        }
        return {
            "type": "object",
            "description": "Everything that shapes a release, besides its key.",
            "additionalProperties": False,
            "properties": properties,
        }


_OF_POLICY: Final = (
    "ordinary",
    "sensitive",
    "most_ordinary",
    "opened",
    "hidden",
    "hide_among",
    "numbers",
    "near",
    "same",
)

_WITH_POLICY: Final = {"case": "truecase"}

_NOT_OF_POLICY: Final = {
    "space": "its words come from the policy",
    "unknown": "unknown words hide among other words of their group",
    "keep": "name ordinary words with --ordinary FILE",
    "case": "names and first words are printed with a capital, by public rules",
    "read": "it would print the best guess of a sensitive word",
    "language": "it is for --read, which works with --policy all only",
    "print_all": "slurs and obscenities are never printed",
}
"""Settings that have their defaults where there is a policy, and why."""


def is_policy_path(policy: str) -> bool:
    """Whether a policy is named by the path of its file.

    >>> is_policy_path("names"), is_policy_path("my.policy"), is_policy_path("a/b")
    (False, True, True)
    """
    return os.sep in policy or "/" in policy or policy.endswith(".policy")


def _check_policy_name(policy: str) -> str:
    if policy in POLICIES or is_policy_path(policy):
        return policy
    allowed = f"one of {', '.join(POLICIES)}, or a path such as ./my.policy"
    raise InvalidParameterError("policy", policy, allowed)


def _find_given(name: str) -> Any:
    """The default of a setting, before others decide."""
    return list_options()[name].default


@final
@dataclass(frozen=True)
class Option:
    """What a field of :class:`Settings` declares, for a door that offers it."""

    name: str
    kind: Any
    """Its type, without None."""
    takes_none: bool
    default: Any
    help: str
    flags: str
    otherwise: str
    names: str
    is_required: bool

    def check(self, value: Any) -> Any:
        """Return the value as it is kept; refuse one that has another type."""
        if value is None and self.takes_none:
            return None
        try:
            return _CHECKS[self._form](self.kind, value)
        except (TypeError, OverflowError):
            pass
        is_choice = self._form is Literal and isinstance(value, str)
        given = value if is_choice else type(value).__name__
        raise InvalidParameterError(self.name, given, self.allowed)

    @property
    def offered(self) -> Any:
        """The default where libraries ask for one that cannot be changed."""
        return None if isinstance(self.default, Mapping) else self.default

    @property
    def allowed(self) -> str:
        """The values that it takes, in words."""
        if self._form is Literal:
            return "one of " + ", ".join(get_args(self.kind))
        return _ALLOWED[self._form]

    @property
    def schema(self) -> dict[str, Any]:
        """Its values as a JSON Schema, with the default if it has one."""
        if self._form is Literal:
            choices = [*get_args(self.kind), *([None] if self.takes_none else [])]
            found: dict[str, Any] = {"enum": choices}
        else:
            kind = _SCHEMAS[self._form]
            found = {"type": [kind, "null"] if self.takes_none else kind}
        if self._form is tuple:
            found["items"] = {"type": "string"}
        if self.default is not None:
            found["default"] = _as_json(self.default)
        return found

    @functools.cached_property
    def _form(self) -> Any:
        return get_origin(self.kind) or self.kind


@functools.cache
def list_options() -> Mapping[str, Option]:
    """Return what the fields of settings declare, by their names."""
    kinds = get_type_hints(Settings)
    found = {}
    for each in fields(Settings):
        kind, takes_none = kinds[each.name], False
        if get_origin(kind) in (Union, UnionType):
            takes_none = True
            (kind,) = (part for part in get_args(kind) if part is not NoneType)
        made = each.default_factory
        default = each.default if made is MISSING else made()
        found[each.name] = Option(each.name, kind, takes_none, default, **each.metadata)
    return found


def take_settings(function: _Function) -> _Function:
    """Show the fields of settings in the signature of a function, as keywords.

    It takes them as ``**settings``. Libraries that read a signature, such as
    scikit-learn and spaCy, find there each option with its default.
    """
    shown = inspect.signature(function)
    own = list(shown.parameters.values())
    rest = [each for each in own if each.kind is inspect.Parameter.VAR_KEYWORD]
    mine = [each for each in own if each not in rest]
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option.offered)
        for name, option in list_options().items()
        if name not in shown.parameters
    ]
    function.__signature__ = shown.replace(  # type: ignore[attr-defined]
        parameters=[*mine, *more]
    )
    return function


def check_names(given: Iterable[object], known: Iterable[str]) -> None:
    """Refuse the first name that is not a known one; the error lists those.

    What does not look like a name is not quoted: it may be text of a record.
    """
    known = list(known)
    for name in given:
        if name not in known:
            shown = name if isinstance(name, str) and name.isidentifier() else "?"
            raise UnknownNameError("setting", shown, known)


def _as_json(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_as_json(each) for each in value]
    if isinstance(value, Mapping):
        return {key: _as_json(each) for key, each in value.items()}
    return value


def _as_choice(kind: Any, value: Any) -> str:
    if isinstance(value, str) and value in get_args(kind):
        return value
    raise TypeError


def _as_text(kind: Any, value: Any) -> str:
    text = os.fspath(value)
    if not isinstance(text, str):
        raise TypeError
    # A path stays one where a text without a separator would be a name.
    return text if isinstance(value, str) or os.sep in text else f".{os.sep}{text}"


def _as_switch(kind: Any, value: Any) -> bool:
    if isinstance(value, bool) or type(value).__name__ == "bool":  # that of numpy
        return bool(value)
    raise TypeError


def _as_number(kind: Any, value: Any) -> float:
    if isinstance(value, Real) and not isinstance(value, bool):
        return float(value)
    raise TypeError


def _as_count(kind: Any, value: Any) -> int:
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    raise TypeError


def _as_words(kind: Any, value: Any) -> tuple[str, ...]:
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise TypeError
    words = set(value)
    if all(isinstance(each, str) for each in words):
        return tuple(sorted(words))
    raise TypeError


def _as_object(kind: Any, value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return dict(value)
    raise TypeError


# By the form of a type: how a value is checked, what is allowed, and its JSON name.
_CHECKS: Final[Mapping[Any, Callable[[Any, Any], Any]]] = {
    Literal: _as_choice,
    str: _as_text,
    bool: _as_switch,
    int: _as_count,
    float: _as_number,
    tuple: _as_words,
    Mapping: _as_object,
}
_ALLOWED: Final[Mapping[Any, str]] = {
    str: "a string",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    tuple: "a list of strings",
    Mapping: "an object of names and values",
}
_SCHEMAS: Final[Mapping[Any, str]] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    tuple: "array",
    Mapping: "object",
}
