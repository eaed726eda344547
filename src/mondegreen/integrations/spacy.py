"""spaCy: a pipeline component that writes ``doc._.private_text``.

The tokens of a ``Doc`` stay what they are: the private text is the string beside them,
and is all that may leave.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from mondegreen.errors import (
    ConfigurationError,
    OptionalDependencyError,
)
from mondegreen.guarantee import Guarantee
from mondegreen.integrations.options import OPTIONS, build_with_options
from mondegreen.integrations.spec import check_ids
from mondegreen.passes import METADATA_KEY, Pass
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.sampling.noise import KeyedNoise
from mondegreen.sampling.records import record_id
from mondegreen.settings import take_settings

try:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.util import minibatch
except ModuleNotFoundError as error:
    raise (OptionalDependencyError.from_import(error) or error) from None

_FILE: Final = "mondegreen.json"


class PrivateTextComponent:
    """Writes the private text of a ``Doc`` into ``doc._.private_text``.

    It is made by ``nlp.add_pipe("mondegreen", config={"epsilon": 12.0})``; options are
    those of :data:`mondegreen.integrations.options.OPTIONS`, and ``column``, the
    logical column for keyed noise.

    With ``key_env``, noise depends on the id of the record: ``doc._.record_id``, or the
    context of ``nlp.pipe(pairs, as_tuples=True)`` if it is a string or an integer. A
    ``Doc`` without one is refused; so is one that has a private text, since a second
    draw tells more of the same words.

    Parameters
    ----------
    nlp : Language
        The pipeline, whose ``meta`` gets the guarantee.
    name : str
        The name of the component in it.
    options : mapping
        See above.
    column : str
        The logical column.

    Examples
    --------
    >>> import spacy
    >>> nlp = spacy.blank("en")
    >>> component = nlp.add_pipe("mondegreen", config={"epsilon": 12.0})
    >>> len(nlp("I met Ann in Oslo.")._.private_text.split())
    5
    >>> component.guarantee.epsilon
    12.0
    """

    def __init__(
        self, nlp: Any, name: str, options: Mapping[str, Any], column: str = "text"
    ) -> None:
        self.name = name
        self._meta = nlp.meta
        self._nlp = nlp
        self._setup(build_with_options(options), options.get("key_env"), column)

    @property
    def guarantee(self) -> Guarantee:
        """What every private text of this component promises."""
        return self._privatizer.guarantee

    def __call__(self, doc: Doc) -> Doc:
        """Write the private text of one ``Doc``."""
        self._write([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Write the private texts of many, whose words are drawn together."""
        for docs in minibatch(stream, size=batch_size):
            self._write(docs)
            yield from docs

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Write the settings, with the name of a key and never a key.

        Raises
        ------
        ConfigurationError
            If the vocabulary of spaCy, which is written beside it, holds strings that
            the components do not bring, nor the folder that it was loaded from.
        """
        if self._nlp is None:
            raise ConfigurationError(
                "this copy is outside its pipeline and does not know the pipeline's "
                "words. Write the original pipeline"
            )
        if not _list_known_strings(self._nlp).issuperset(self._nlp.vocab.strings):
            raise ConfigurationError(
                "spaCy keeps words of the texts in the vocabulary of the pipeline, "
                "and would write them to disk. Write a pipeline before it reads "
                "texts, or read texts within nlp.memory_zone()"
            )
        return json.dumps(self._settings).encode()

    def from_bytes(
        self, data: bytes, *, exclude: Iterable[str] = ()
    ) -> PrivateTextComponent:
        """Take settings that :meth:`to_bytes` wrote."""
        try:
            found = json.loads(data)
            given = found["spec"], found["key_env"], found["column"]
        except (ValueError, KeyError, TypeError):
            raise ConfigurationError(
                "these are not settings of this component"
            ) from None
        spec, key_env, column = given
        options = {"spec": spec, "key_env": key_env}
        self._setup(build_with_options(options), key_env, column)
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the settings into a folder."""
        folder = Path(path)
        folder.mkdir(exist_ok=True)
        (folder / _FILE).write_bytes(self.to_bytes())

    def from_disk(
        self, path: str | Path, *, exclude: Iterable[str] = ()
    ) -> PrivateTextComponent:
        """Take the settings of a folder."""
        return self.from_bytes((Path(path) / _FILE).read_bytes())

    def _setup(self, privatizer: Privatizer, key_env: str | None, column: str) -> None:
        self._privatizer = privatizer
        self._column = column
        self._settings = {
            "spec": privatizer.to_dict(),
            "key_env": key_env,
            "column": column,
        }
        self._meta[METADATA_KEY] = [Pass(column, self.guarantee).to_dict()]

    def __getstate__(self) -> dict[str, Any]:
        # Its vocabulary holds words of texts, which workers have no need of.
        return {**self.__dict__, "_nlp": None}

    def _write(self, docs: list[Doc]) -> None:
        if any(doc._.private_text is not None for doc in docs):
            raise ConfigurationError(
                "a Doc already has a private text. A second release discloses more "
                "about the same words. Run the component once, on new Docs"
            )
        ids = None
        if isinstance(self._privatizer.noise, KeyedNoise):
            ids = [_record_id(doc) for doc in docs]
        for doc in docs:
            check_ids(self._privatizer, doc._.record_id)
        texts = [doc.text for doc in docs]
        released, _ = self._privatizer.texts(texts, ids, self._column)
        for doc, text in zip(docs, released, strict=True):
            doc._.private_text = text


def _record_id(doc: Doc) -> str:
    """Read the id of a record; the context is that of ``nlp.pipe(as_tuples=True)``."""
    own, context = doc._.record_id, doc._context
    found = own if own is not None else context
    if found is None:
        raise ConfigurationError(
            "keyed noise needs an id for every Doc: set doc._.record_id, or pass pairs "
            "of text and id to nlp.pipe(pairs, as_tuples=True)"
        )
    record = record_id(found)
    if isinstance(context, str | int) and record_id(context) != record:
        raise ConfigurationError(
            "a Doc has two ids: doc._.record_id and its context. Give one"
        )
    return record


def _list_known_strings(nlp: Any) -> set[str]:
    """List the strings of a pipeline of these settings that has read nothing."""
    ours = [k for k, c in nlp.components if isinstance(c, PrivateTextComponent)]
    fresh = type(nlp).from_config(nlp.config, exclude=ours)
    fresh.from_bytes(nlp.to_bytes(exclude=["vocab", *ours]), exclude=["vocab"])
    known = set(fresh.vocab.strings)
    if nlp.path is not None:
        loaded = Path(nlp.path) / "vocab" / "strings.json"
        known.update(json.loads(loaded.read_bytes()) if loaded.is_file() else ())
    return known


@Language.factory(
    "mondegreen",
    assigns=["doc._.private_text"],
    default_config={**OPTIONS, "keep": [], "column": "text"},
)
@take_settings
def make_private_text(
    nlp: Any, name: str, *, spec: Any, key_env: Any, column: str, **settings: Any
) -> PrivateTextComponent:
    """Make the component; spaCy reads its options from this signature."""
    options = {**settings, "spec": spec, "key_env": key_env}
    return PrivateTextComponent(nlp, name, options, column)


for _name in ("private_text", "record_id"):
    if not Doc.has_extension(_name):
        Doc.set_extension(_name, default=None)
