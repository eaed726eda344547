"""From released words to text that a person can read: post-processing, and no more."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Literal, TypeAlias, final, get_args

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids
from mondegreen.decode.channel import kept_channel
from mondegreen.decode.decoder import CANDIDATES, Decoder
from mondegreen.decode.released import Released
from mondegreen.decode.segment import likely_ends
from mondegreen.errors import ConfigurationError, InvalidParameterError, LanguageError
from mondegreen.language.ngrams import NGrams
from mondegreen.language.store import DEFAULT, load_language
from mondegreen.mechanisms.base import Progress, State, no_progress
from mondegreen.text.plain import SentenceEnds, last_alone
from mondegreen.text.policy import Structure
from mondegreen.text.sentences import sentence_ends
from mondegreen.text.tokenizer import TokenizedBatch

Read: TypeAlias = Literal["none", "words", "sentence"]


@final
class Reading:
    """Reads what a mechanism drew, with a public language model.

    ``words`` takes the likeliest input of each released word, ``sentence`` the
    likeliest sentence: noisy-channel decoding. Both are functions of released words, of
    the structure that passes in clear, and of public things, and cost no epsilon.
    """

    def __init__(
        self, state: State, read: Read, language: NGrams | str | Path | None
    ) -> None:
        if read not in get_args(Read):
            allowed = "one of " + ", ".join(get_args(Read))
            raise InvalidParameterError("read", read, allowed)
        if read == "none" and language is not None:
            allowed = 'none with read="none": it would not be used'
            raise InvalidParameterError("language", str(language), allowed)
        self.read: Read = read
        self._state = state
        self.language: NGrams | None = None
        if read != "none":
            if not isinstance(language, NGrams):
                language = load_language(language)
            language.check_space(state.space)
            self.language = language

    @cached_property
    def decoder(self) -> Decoder:
        """The decoder of the mechanism; see :meth:`warm_up`."""
        return self.warm_up()

    def warm_up(self, progress: Progress = no_progress) -> Decoder:
        """Make the decoder: at once for a tree, in a minute for other laws."""
        if self.language is None:
            raise InvalidParameterError("read", self.read, "words or sentence")
        channel = kept_channel(self._state, self.language, CANDIDATES, progress)
        self.__dict__["decoder"] = found = Decoder(channel, self.language)
        return found

    def __call__(self, codes: Ids, batch: TokenizedBatch, structure: Structure) -> Ids:
        """Read the codes of texts; of the batch, only its structure is looked at."""
        if self.read == "none" or not len(codes):
            return codes
        released = Released(codes, _ends(batch, structure))
        if self.read == "words":
            return self.decoder.words(released)
        return self.decoder.sentence(released)

    @property
    def ends(self) -> SentenceEnds:
        """Where sentences end that are printed without the structure of the input."""
        if self.language is None:
            return last_alone
        return functools.partial(likely_ends, self.language)

    def to_dict(self) -> dict[str, str]:
        """Name the model, for another process; nothing where there is none."""
        if self.language is None:
            return {}
        path, digest = self.language.path, self.language.digest
        if path is None:
            raise ConfigurationError(
                "the language model is in memory alone, where no other process finds "
                "it: write it with save_language and read it with load_language"
            )
        name = "english" if path == DEFAULT.resolve() else str(path.absolute())
        return {"name": name, "digest": digest}

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What must hold for reading to cost nothing."""
        if self.language is None:
            return ()
        unit = {"words": "word by word", "sentence": "sentence by sentence"}[self.read]
        return (
            f"reading: released words are read {unit} with the public language model "
            f"sha256 {self.language.digest[:16]}, made from public text alone and not "
            "from any text that is privatized; what reads well need not be what was "
            "written",
        )


def named_language(named: Mapping[str, str]) -> NGrams | None:
    """Open the model that settings name, if it is the same one here."""
    if not named:
        return None
    found = load_language(named["name"])
    if found.digest != named["digest"]:
        raise LanguageError(
            f"the language model {named['name']!r} is another one here than the "
            f"settings name: its digest is {found.digest[:12]}, not "
            f"{named['digest'][:12]}"
        )
    return found


def _ends(batch: TokenizedBatch, structure: Structure) -> NDArray[np.bool_]:
    """Where sentences end: as the structure says if it passes in clear, else texts."""
    if structure == "keep":
        texts = (sentence_ends(parts[2::2]) for parts in batch.parts if parts)
        return np.fromiter(chain.from_iterable(texts), dtype=bool)
    counts = np.array(batch.counts())
    ends = np.zeros(int(counts.sum()), dtype=bool)
    ends[np.cumsum(counts)[counts > 0] - 1] = True
    return ends
