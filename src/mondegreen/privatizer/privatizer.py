"""The one way of the data: texts to words, words through a mechanism, back to texts."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast, final

import numpy as np

from mondegreen.arrays import Codes
from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    UnprovedGuaranteeError,
)
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms.base import AbstractMechanism, State
from mondegreen.passes import Pass
from mondegreen.policy.detection import Detector, DetectorLookup
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import Policy as SymbolPolicy
from mondegreen.policy.policy import find_policy
from mondegreen.policy.printing import PolicyPrinter
from mondegreen.policy.scope import Scope, make_scope, scope_class
from mondegreen.privatizer.reading import Language, Reading, find_language_name
from mondegreen.privatizer.release import (
    Release,
    build_guarantee,
    draw,
    list_texts,
    releases,
)
from mondegreen.privatizer.spec import (
    build_scope,
    find_space_name,
    settings_digest,
    write_spec,
)
from mondegreen.sampling.noise import Batch, NoiseSource, OSNoise
from mondegreen.sampling.records import (
    BatchNumbers,
    SeenIds,
    check_order,
    record_ids,
)
from mondegreen.settings import (
    Case,
    Numbers,
    Policy,
    Read,
    Same,
    Settings,
    Structure,
    Unknown,
    is_policy_path,
)
from mondegreen.space.space import Space
from mondegreen.space.store import load_space
from mondegreen.text.detokenizer import Detokenizer
from mondegreen.text.lookup import Lookup
from mondegreen.text.never_printed import replacements
from mondegreen.text.tokenizer import TokenizedBatch

if TYPE_CHECKING:
    import pyarrow as pa

    from mondegreen.privatizer.arrow import Counts, Replace
    from mondegreen.scores.preview import Preview

_STREAM_TEXTS: Final = 1024

_SAME_KEY: Final = b"mondegreen --same key"
"""Purpose of the key under which a sensitive word has one replacement."""


@final
class Privatizer:
    """Replaces sensitive words by a mechanism on a policy, or every word on a space.

    Parameters
    ----------
    mechanism : AbstractMechanism
        Such as ``mg.mechanism("urr", epsilon=12.0)`` on a policy, or
        ``mg.mechanism("tree", epsilon=10.0)`` on a space.
    space : Space, str or path, optional
        A space, its name, or its file, for mechanisms on a space; by default the
        embedded one.
    unknown : {"word", "mask", "drop", "fail"}
        What happens to words outside the vocabulary; see
        :class:`mondegreen.text.lookup.Lookup`. They are never copied to the output.
    keep : iterable of str
        *Public* words that pass unchanged. The guarantee says so.
    case : {"lower", "restore", "truecase"}, optional
        ``restore`` copies the case of each input word, and the guarantee says so.
        ``truecase`` writes names, first words and contractions by public statistics.
        By default ``truecase``. On a space ``lower``, unless ``read`` is set.
    structure : {"keep", "plain"}
        ``keep`` copies punctuation and spaces, and the guarantee says so. ``plain``
        prints single spaces and full stops instead.
    print_all : bool
        Print obscenities and slurs of a public list too. By default, another word is
        printed instead.
    read : {"none", "words", "sentence"}
        Print the most likely original words, guessed by a public language model: each
        word alone, or the whole sentence. The model uses only the released words and
        public data, so this costs no epsilon.
    language : NGrams, str or path, optional
        A model of PUBLIC text, for ``read``; the embedded one if not given. A folder
        holds a model of the library transformers, which scores sentences.
    noise : NoiseSource, optional
        :class:`OSNoise` if not given.
    allow_unproved : bool
        Needed for mechanisms without a proof.
    policy : {"sensitive", "names", "all"} or path, optional
        Which words are sensitive. By default ``sensitive`` for ``krr`` and ``urr``, and
        ``all`` for mechanisms on a space. For your own policy, give a file that
        ``mondegreen policy build`` wrote.
    ordinary, sensitive : iterable of str
        *Public* words that the policy shows, and that it must hide.
    most_ordinary : int, optional
        Show the most frequent ordinary words of the policy only; all by default.
    opened, hidden : iterable of str
        Classes of the policy that are shown, and hidden.
    hide_among : int
        Target number of words in a group. A class with fewer words is one group.
    numbers : {"hide", "near", "plain"}
        Whether amounts hide in their format, are printed near their value, or pass.
    near : float, nats per cell
        Loss of amounts for a factor of 1.26, with ``numbers="near"``.
    same : {"place", "record", "key"}
        Whether a sensitive word is replaced anew at each place of a record, or has one
        replacement throughout a record, or in all texts under the key of ``noise``.

    Raises
    ------
    UnprovedGuaranteeError
        If the mechanism has no proof and ``allow_unproved`` is not set.

    Notes
    -----
    *Privacy.* The mechanism gets words as integers, and nothing else. It draws every
    output word, or the guarantee says that the word passes unchanged. An error stops
    the batch. No original text is ever returned instead of its release.

    Examples
    --------
    >>> import mondegreen as mg
    >>> words = ["i", "met", "saw", "in"]
    >>> space = mg.Space.from_arrays("line", words, [[0], [9], [8], [20]])
    >>> p = mg.Privatizer(mg.mechanism("tem", epsilon=1.0), space, noise=mg.Seeded(1))
    >>> release = p("I met Ann in Oslo.")
    >>> release
    Release(<17 characters>, <5 words>)
    >>> release.text
    'i met met in met.'
    """

    def __init__(
        self,
        mechanism: AbstractMechanism,
        space: Space | str | None = None,
        *,
        unknown: Unknown = Settings.unknown,
        keep: Iterable[str] = Settings.keep,
        case: Case | None = Settings.case,
        structure: Structure = Settings.structure,
        print_all: bool = Settings.print_all,
        read: Read = Settings.read,
        language: Language | None = Settings.language,
        noise: NoiseSource | None = None,
        allow_unproved: bool = Settings.allow_unproved,
        policy: Policy | None = Settings.policy,
        ordinary: Iterable[str] = Settings.ordinary,
        sensitive: Iterable[str] = Settings.sensitive,
        most_ordinary: int | None = Settings.most_ordinary,
        opened: Iterable[str] = Settings.opened,
        hidden: Iterable[str] = Settings.hidden,
        hide_among: int = Settings.hide_among,
        numbers: Numbers = Settings.numbers,
        near: float = Settings.near,
        same: Same = Settings.same,
    ) -> None:
        if not isinstance(mechanism, AbstractMechanism):
            raise InvalidParameterError("mechanism", mechanism, "mg.mechanism(...)")
        if not mechanism.is_private and not allow_unproved:
            raise UnprovedGuaranteeError(
                f"{mechanism.name} has no proof of metric privacy; to compare with it "
                "anyway, pass allow_unproved=True (--allow-unproved)"
            )
        law = mechanism.to_dict()["parameters"]
        # Without the names of space and language, which may be in memory alone.
        self._settings = Settings(
            mechanism=mechanism.name,
            epsilon=law.pop("epsilon"),
            parameters=law,
            unknown=unknown,
            keep=keep,  # type: ignore[arg-type]  # any collection becomes a tuple
            case=case,
            structure=structure,
            print_all=print_all,
            read=read,
            allow_unproved=not mechanism.is_private,
            policy=policy,
            ordinary=ordinary,  # type: ignore[arg-type]
            sensitive=sensitive,  # type: ignore[arg-type]
            most_ordinary=most_ordinary,
            opened=opened,  # type: ignore[arg-type]
            hidden=hidden,  # type: ignore[arg-type]
            hide_among=hide_among,
            numbers=numbers,
            near=near,
            same=same,
        ).resolve()
        if is_policy_path(str(self._settings.policy)):  # from whatever folder
            path = str(Path(str(self._settings.policy)).absolute())
            self._settings = replace(self._settings, policy=path)
        self.mechanism = mechanism
        self.noise: NoiseSource = OSNoise() if noise is None else noise
        chosen = self._settings
        self._policy = find_policy(chosen)
        if self._policy is not None:
            if space is not None:
                raise ConfigurationError("a policy has its own words: leave space out")
            self._space: Space | None = None
            self.state: State = mechanism.prepare(self._policy.alphabet)  # type: ignore[arg-type]
            self._lookup: Lookup | PolicyLookup | DetectorLookup = PolicyLookup(
                self._policy
            )
            self.reading = Reading(self.state, "none", None)
            self._detokenizer: Detokenizer | PolicyPrinter = PolicyPrinter(
                self._policy, chosen.structure, chosen.same
            )
        else:
            if not isinstance(space, Space):
                space = load_space(space or str(self._settings.space))
            self._space = space
            self.state = mechanism.prepare(space)
            lookup = Lookup(space, chosen.unknown, chosen.keep)
            self._lookup = lookup
            self.reading = Reading(self.state, chosen.read, language)
            self._detokenizer = Detokenizer(
                space.words,
                chosen.case or "lower",
                lookup.keep,
                replaced={} if chosen.print_all else replacements(space),
                structure=chosen.structure,
                ends=self.reading.ends,
            )
        self._guarantee: Guarantee | None = None
        self._stated: list[Guarantee] = []  # whatever the noise, so copies share it
        self._numbers = BatchNumbers()

    @property
    def space(self) -> Space:
        """The space that words are drawn from.

        Raises
        ------
        ConfigurationError
            If words are drawn from a policy.
        """
        if self._space is None:
            raise ConfigurationError(
                f"policy {self._settings.policy!r} has no space: its words are drawn "
                "from the policy; use policy='all' (--policy all) for this"
            )
        return self._space

    @property
    def policy(self) -> SymbolPolicy | None:
        """The policy that words are drawn from; None where every word is sensitive."""
        return self._policy

    @property
    def lookup(self) -> Lookup | PolicyLookup | DetectorLookup:
        """What turns the words of texts into the inputs of the mechanism."""
        return self._lookup

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of every release of this privatizer."""
        if self._guarantee is None:
            if not self._stated:
                has_policy = self._policy is not None
                same = scope_class(self._settings.same) if has_policy else None
                parts = (self._lookup, self._detokenizer, self.reading, same)
                stated = build_guarantee(self.state, *parts)
                self._stated.append(self.mechanism.sign(stated))
            self._guarantee = self._stated[0].with_noise(
                self.noise.describe(), is_secret=self.noise.is_secret
            )
        return self._guarantee

    def preview(self, *, with_attacker: bool = False) -> Preview:
        """Measure what this setting does to public words; this is not a guarantee.

        Parameters
        ----------
        with_attacker : bool
            Try an attacker with the public language model too, where that takes
            seconds. A privatizer that reads tries one anyway.

        Returns
        -------
        Preview
            Shares of words, with their sample sizes.

        Examples
        --------
        >>> import mondegreen as mg
        >>> made = mg.Privatizer(mg.mechanism("tree", epsilon=10.0))
        >>> made.preview().unchanged < 0.1, made.preview().protection(made.guarantee)
        (True, 'weak')
        """
        from mondegreen.scores.preview import preview, preview_policy

        if self._policy is not None:  # of words alone, which no detector reads
            lookup = PolicyLookup(self._policy)
            return preview_policy(self.state, lookup, self._settings.same)
        parts = self.state, cast(Lookup, self._lookup), self.reading
        return preview(*parts, with_attacker=with_attacker)

    def __call__(
        self, text: str, *, id: str | int | None = None, **options: Any
    ) -> Release:
        """Privatize one text; options are those of :meth:`batch`."""
        (release,) = self.batch([text], None if id is None else [id], **options)
        if release is None:
            raise InvalidParameterError("text", type(text).__name__, "a string")
        return release

    def batch(
        self,
        texts: Sequence[Any],
        ids: Sequence[str | int] | None = None,
        *,
        column: str = "text",
        number: int | None = None,
        unique_ids: bool = False,
        include_originals: bool = False,
    ) -> list[Release | None]:
        """Privatize texts; a null becomes ``None`` and order is kept.

        Parameters
        ----------
        texts : sequence of str or null
            ``None``, NaN, ``pandas.NA`` and ``pandas.NaT`` are nulls.
        ids : sequence of str or int, optional
            One identifier per text; needed by keyed noise. ``7`` and ``"7"`` are the
            same record. Two records of one id and one text repeat each other.
        column : str
            Logical column, for keyed noise: a text has other noise in another column,
            and the same in one of this name wherever it is stored.
        number : int, optional
            Number of the batch, for seeded noise; counted if not given, but not in a
            copy of the privatizer.
        unique_ids : bool
            Refuse an id that occurs twice.
        include_originals : bool
            Put the input words into the spans, which are private from then on.

        Returns
        -------
        list of Release or None
            One for each text, in their order.

        Raises
        ------
        InvalidParameterError, DataError
            If a text is neither a string nor a null, or an id neither a string nor an
            integer; if texts or ids are a set or a mapping; or if an id occurs twice
            under ``unique_ids``.
        """
        given = list_texts(texts, "texts[{}]".format)
        records = record_ids(ids, len(given), SeenIds() if unique_ids else None)
        return self.releases(
            given,
            records,
            column,
            number=number,
            include_originals=include_originals,
        )

    def releases(
        self,
        texts: Sequence[Any],
        records: Sequence[str] | None,
        column: str,
        places: Sequence[int] | None = None,
        *,
        number: int | None = None,
        include_originals: bool = False,
    ) -> list[Release | None]:
        """Privatize texts as :meth:`texts` does, and tell where their words are.

        Parameters
        ----------
        texts : sequence of str or null
            Texts of one column.
        records : sequence of str, optional
            Identifier of the record of each text; needed by keyed noise.
        column : str
            Logical column, for keyed noise.
        places : sequence of int, optional
            Place of each text in its record; 0 if not given.
        number : int, optional
            Number of the batch, for seeded noise.
        include_originals : bool
            Put the input words into the spans, which are private from then on.

        Returns
        -------
        list of Release or None
            One for each text, in their order.
        """
        tokens, codes = self._release(texts, records, column, number, places)
        shown = {"include_originals": include_originals}
        return releases(self._detokenizer, tokens, codes, self.guarantee, **shown)

    def stream(
        self,
        texts: Iterable[Any],
        ids: Iterable[str | int] | None = None,
        *,
        column: str = "text",
        unique_ids: bool = False,
    ) -> Iterator[Release | None]:
        """Privatize any number of texts in constant memory, order kept.

        Texts are read as far as the releases are asked for, in chunks of 1,024.
        Rejecting an id that occurs twice takes about 110 bytes of memory per record.
        Parameters are those of :meth:`batch`.

        Yields
        ------
        Release or None
            One for each text, in their order.
        """
        check_order("texts", texts)
        check_order("ids", ids)
        iterator, names = iter(texts), None if ids is None else iter(ids)
        seen, first = SeenIds() if unique_ids else None, 0
        while chunk := list(itertools.islice(iterator, _STREAM_TEXTS)):
            some = None if names is None else itertools.islice(names, len(chunk))
            records = record_ids(some, len(chunk), seen)
            checked = list_texts(chunk, "texts[{}]".format, first)
            yield from self.batch(checked, records, column=column)
            first += len(chunk)

    def column(
        self,
        array: pa.Array | pa.ChunkedArray,
        ids: Any = None,
        *,
        column: str = "text",
        number: int | None = None,
        unique_ids: bool = False,
    ) -> pa.Array | pa.ChunkedArray:
        """Privatize an Arrow array of strings, or of lists of strings.

        The same kind, type and chunks come back, nulls kept; a dictionary that has no
        room for the released texts gets indices of 32 bits. ``ids`` may be an array;
        parameters are those of :meth:`batch`.

        Parameters
        ----------
        array : pyarrow.Array or ChunkedArray
            Strings, or lists of strings.
        ids : sequence or array, optional
            One identifier per row; needed by keyed noise.
        column : str
            Logical column, for keyed noise.
        number : int, optional
            Number of the batch, for seeded noise.
        unique_ids : bool
            Refuse an id that occurs twice.

        Returns
        -------
        pyarrow.Array or ChunkedArray
            The released texts.

        Raises
        ------
        InvalidParameterError, DataError
            If the array does not hold text, or ids are no ids.
        """
        from mondegreen.privatizer.arrow import replace_in_array

        replace = self._replace(number)
        return replace_in_array(replace, array, ids, column, unique_ids=unique_ids)

    def arrow(
        self,
        batch: pa.RecordBatch,
        columns: Sequence[str] | Mapping[str, str] = ("text",),
        *,
        id_column: str | None = None,
        number: int | None = None,
        unique_ids: bool = False,
        metadata: bool = False,
    ) -> pa.RecordBatch:
        """Privatize text columns of a record batch; everything else is passed on.

        Parameters
        ----------
        batch : pyarrow.RecordBatch
            Nulls, rows and types stay, but for a dictionary that has no room. Metadata
            of the schema may hold text and is dropped, and so are values of
            dictionaries that no row has.
        columns : sequence of str, or mapping of str to str
            Columns of strings or of lists of strings; ``msg.body`` is a field of a
            struct, or of the structs of a list. A mapping gives each its logical
            name: a renamed column repeats its release under the name it had.
        id_column : str, optional
            Column with a stable identifier per row, of strings or integers; needed by
            keyed noise. It may be a field of a struct.
        number, unique_ids
            As for :meth:`batch`.
        metadata : bool
            Add the guarantee of each column to the metadata of the schema, under
            ``mondegreen``; what is there already is extended.

        Returns
        -------
        pyarrow.RecordBatch
            The same rows and columns, with released texts.

        Raises
        ------
        MissingColumnError, InvalidParameterError
            If a column is absent, or holds anything but text, or ids are no ids.
        """
        from mondegreen.privatizer.arrow import replace_in_batch, with_passes

        replace = self._replace(number)
        batch, _ = replace_in_batch(
            replace, batch, columns, id_column, unique_ids=unique_ids
        )
        made = [Pass(name, self.guarantee) for name in columns] if metadata else []
        return with_passes(batch, made)

    def arrow_with_count(
        self,
        batch: pa.RecordBatch,
        columns: Sequence[str] | Mapping[str, str],
        *,
        id_column: str | None = None,
        number: int | None = None,
    ) -> tuple[pa.RecordBatch, Counts]:
        """Do as :meth:`arrow`, and count words by row; a dot in a name is a dot.

        Parameters
        ----------
        batch : pyarrow.RecordBatch
            Rows with text columns.
        columns : sequence of str, or mapping of str to str
            Names of columns, or their logical names.
        id_column : str, optional
            Column with identifiers; needed by keyed noise.
        number : int, optional
            Number of the batch, for seeded noise.

        Returns
        -------
        tuple of RecordBatch and Counts
            The released rows, and how many words each had.
        """
        from mondegreen.privatizer.arrow import replace_in_batch

        replace = self._replace(number)
        return replace_in_batch(replace, batch, columns, id_column, dotted=False)

    def _replace(self, number: int | None) -> Replace:
        return functools.partial(self.texts, number=self._numbers.next(number))

    def texts(
        self,
        texts: Sequence[Any],
        records: Sequence[str] | None,
        column: str,
        places: Sequence[int] | None = None,
        *,
        number: int | None = None,
    ) -> tuple[list[str | None], list[int]]:
        """Privatize texts, and count the words of each; see :data:`arrow.Replace`.

        Parameters
        ----------
        texts : sequence of str or null
            Texts of one column.
        records : sequence of str, optional
            Identifier of the record of each text; needed by keyed noise.
        column : str
            Logical column, for keyed noise.
        places : sequence of int, optional
            Place of each text in its record; 0 if not given.
        number : int, optional
            Number of the batch, for seeded noise.

        Returns
        -------
        tuple of list of str or None, and list of int
            Released texts, and the number of words of each.
        """
        tokens, codes = self._release(texts, records, column, number, places)
        return self._detokenizer.join(tokens, codes), tokens.counts()

    def with_noise(self, noise: NoiseSource | None) -> Privatizer:
        """Share the prepared state, with other noise: :class:`OSNoise` if None.

        Parameters
        ----------
        noise : NoiseSource or None
            Noise of the copy.

        Returns
        -------
        Privatizer
            A copy that shares everything else.
        """
        other = Privatizer.__new__(Privatizer)
        other.__dict__.update(self.__dict__)
        other.noise = OSNoise() if noise is None else noise
        other._guarantee, other._numbers = None, self._numbers.fresh()
        other.__dict__.pop("_same", None)  # it may hold the key of this noise
        return other

    def with_detector(self, detector: Detector, name: str) -> Privatizer:
        """Put a detector in front of the policy: what it finds is sensitive too.

        Words that it finds hide among the words of their type. All words go through
        the policy, found or not. The copy does not travel to other processes.

        Parameters
        ----------
        detector : callable
            From a text to spans with ``start``, ``end``, ``entity_type`` and ``score``.
        name : str
            Its public name and version, which the guarantee states.

        Returns
        -------
        Privatizer
            A copy with the detector.

        Raises
        ------
        ConfigurationError
            If there is no policy, or a detector already.

        Examples
        --------
        >>> import mondegreen as mg
        >>> from types import SimpleNamespace
        >>> def find_boat(text):
        ...     start = text.find("Merry Widow")
        ...     span = {"start": start, "end": start + 11, "score": 0.9}
        ...     return [SimpleNamespace(entity_type="SHIP", **span)]
        >>> law = mg.mechanism("urr", epsilon=12.0)
        >>> p = mg.Privatizer(law, policy="names").with_detector(find_boat, "boats 1")
        >>> "widow" in p("we sailed on the Merry Widow").text.lower()
        False
        """
        if not isinstance(self._lookup, PolicyLookup):
            has = "a detector already" if self._policy else "no policy"
            raise ConfigurationError(
                f"a detector needs a policy; found {has}: use policy='names' or "
                "policy='sensitive', and one detector"
            )
        other = self.with_noise(self.noise)
        other.__dict__.pop("digest", None)  # another law, so other keyed noise
        other._lookup = DetectorLookup(self._lookup.policy, detector, name)
        other._stated = []
        return other

    @property
    def detector(self) -> str | None:
        """Name and version of the detector in front of the policy, if there is one."""
        return self._lookup.name if isinstance(self._lookup, DetectorLookup) else None

    @property
    def drops_unknown(self) -> bool:
        """Whether unknown words are left out, so that a release has fewer words."""
        return self._settings.unknown == "drop"

    @property
    def settings(self) -> Settings:
        """Everything that shapes a release, defaults filled in.

        Raises
        ------
        ConfigurationError
            If the space or the language model is in memory alone, without a name.
        """
        if self._policy is not None:
            return self._settings
        language = None
        if self.reading.language is not None:
            language = find_language_name(self.reading.models)
        space = find_space_name(self.space)
        return replace(self._settings, space=space, language=language)

    def to_dict(self) -> dict[str, Any]:
        """Write the settings as JSON values, from which another process can build it.

        They are those of :meth:`Settings.to_dict`, and the digests of space and
        language model. A space of your own is named by its path; one in memory alone is
        refused. The keep-list is public and is in it. Noise is not, and no key. One
        with a detector is refused: settings do not hold it.

        Returns
        -------
        dict of str to JSON values
            Settings, and digests of what they name.

        Raises
        ------
        ConfigurationError
            If the space is in memory alone, or there is a detector.
        """
        self._check_no_detector()
        if self._policy is not None:
            return write_spec(self.settings, {"policy": self._policy.digest})
        digests = {"space": self.space.digest}
        language = self.reading.judge or self.reading.language
        if language is not None:
            digests["language"] = language.digest
        return write_spec(self.settings, digests)

    @classmethod
    def from_dict(
        cls, spec: Mapping[str, Any], noise: NoiseSource | None = None
    ) -> Privatizer:
        """Build from what :meth:`to_dict` returned; once per process and settings.

        Noise, :class:`OSNoise` if not given, is no part of what is kept.

        Parameters
        ----------
        spec : mapping
            What :meth:`to_dict` returned.
        noise : NoiseSource, optional
            Noise; that of the operating system if not given.

        Returns
        -------
        Privatizer
            The same object for the same settings and noise.

        Raises
        ------
        ConfigurationError, SpaceIntegrityError
            If it is not what :meth:`to_dict` returns, or the space of that name has
            another digest here.

        Examples
        --------
        >>> import mondegreen as mg
        >>> spec = mg.Privatizer(mg.mechanism("tree", epsilon=10.0)).to_dict()
        >>> one, two = mg.Privatizer.from_dict(spec), mg.Privatizer.from_dict(spec)
        >>> one.state is two.state
        True
        """
        from mondegreen.privatizer.build import build_from_spec

        return build_from_spec(spec, noise)

    @property
    def keep(self) -> tuple[str, ...]:
        """The public words that pass unchanged."""
        return self._settings.keep

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the settings; the heavy state is prepared again where it is used.

        A copy does not know which numbers of batches are taken.
        """
        self._check_no_detector()
        uncounted = {"_numbers": BatchNumbers(is_counting=False)}
        if is_policy_path(str(self._settings.policy)):
            # The other process checks the digest: it reads the file again.
            return Privatizer.from_dict, (self.to_dict(), self.noise), uncounted
        options: dict[str, Any] = {
            name: getattr(self._settings, name)
            for name in inspect.signature(Privatizer).parameters
            if name not in ("mechanism", "space", "noise")
        }
        options["language"] = self.reading.judge or self.reading.language
        options["noise"] = self.noise
        build = functools.partial(Privatizer, **options)
        return build, (self.mechanism, self._space), uncounted

    def _check_no_detector(self) -> None:
        """Refuse to write settings that would lose a layer."""
        if isinstance(self._lookup, DetectorLookup):
            raise ConfigurationError(
                "a privatizer with a detector stays in its process: its settings do "
                "not hold the detector. Call with_detector where it is used"
            )

    def _release(
        self,
        texts: Sequence[Any],
        records: Sequence[str] | None,
        column: str,
        number: int | None,
        places: Sequence[int] | None = None,
    ) -> tuple[TokenizedBatch, Codes]:
        """Cut the texts into tokens, and draw the codes that replace them."""
        same = self._same  # which may lack its key: nothing is drawn then
        scope, number = self._scope(column), self._numbers.next(number)
        batch = Batch(number, scope, list_texts(texts), records, places)
        tokens, codes = draw(self.state, self._lookup, self.noise, batch, same)
        if self._policy is not None:  # sensitive places are printed as they were drawn
            return tokens, codes
        drawn = codes.astype(np.int32, copy=False)
        return tokens, self.reading(drawn, tokens, self._detokenizer.structure)

    @functools.cached_property
    def digest(self) -> bytes:
        """Digest all that shapes a release besides column, text, id and key."""
        if self._policy is not None:
            same = self._settings.same
            named = self._policy.digest + ("" if same == "place" else f" {same}")
        else:
            named = self.space.digest
        parts = self._settings, self.mechanism, named, self.state
        return settings_digest(*parts, self._lookup.keep_digest)

    @functools.cached_property
    def _same(self) -> Scope | None:
        """Where equal sensitive words get equal outputs.

        Under ``key`` that is in all columns, by a key of its own that the noise makes.
        """
        policy = self._policy
        if policy is None:
            return None
        # Other sources have no key; one that holds a keyed source hands on its method.
        derive = getattr(self.noise, "subkey", None)
        return make_scope(
            self._settings.same,
            policy,
            repeating=policy.alphabet.cells,
            key=None if derive is None else derive(_SAME_KEY),
            context=self.digest,
        )

    def check_noise(self) -> None:
        """Refuse noise without a key where the settings need one, before any text.

        Raises
        ------
        ConfigurationError
            If ``same`` is ``"key"`` and the noise has no key.
        """
        self._same  # noqa: B018 - making it is the check

    def _scope(self, column: str) -> bytes:
        """Digest the settings and the logical column."""
        return build_scope(self.digest, column)

    def __repr__(self) -> str:
        return (
            f"Privatizer({self.mechanism!r}, {self.state.guarantee.space!r}, "
            f"unknown={self._settings.unknown!r}, case={self._settings.case!r})"
        )
