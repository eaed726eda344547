"""From released words to text that a person can read: post-processing, and no more."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, final

import numpy as np

from mondegreen.arrays import Ids
from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.mechanisms.base import Progress, State, no_progress
from mondegreen.settings import DEFAULT_LANGUAGE, Read, Structure
from mondegreen.text.lookup import DROP
from mondegreen.text.plain import SentenceEnds, last_alone
from mondegreen.text.sentences import find_ends
from mondegreen.text.tokenizer import TokenizedBatch

if TYPE_CHECKING:
    from mondegreen.decode.decoder import Decoder
    from mondegreen.decode.released import Released
    from mondegreen.language.ngrams import NGrams
    from mondegreen.language.scorer import TransformersScorer

Models: TypeAlias = "tuple[NGrams | None, TransformersScorer | None]"
Language: TypeAlias = "NGrams | TransformersScorer | str | Path"
"""A model, its name, its file, or the folder of a model of the library transformers."""


@final
class Reading:
    """Reads what a mechanism drew, with a public language model.

    ``words`` takes the most likely input of each released word, ``sentence`` the most
    likely sentence: noisy-channel decoding. Both are functions of released words, of
    the structure that passes unchanged, and of public things, and cost no epsilon.
    """

    def __init__(self, state: State, read: Read, language: Language | None) -> None:
        self.read: Read = read
        self._state = state
        self._decoder: Decoder | None = None
        self.language, self.judge = self.models = open_models(read, language)
        if self.language is not None:
            self.language.check_space(state.space)

    @property
    def decoder(self) -> Decoder:
        """The decoder of the mechanism; see :meth:`warm_up`."""
        return self.warm_up()

    def warm_up(self, progress: Progress = no_progress) -> Decoder:
        """Make the decoder, once: soon for a tree, in a minute for other laws."""
        if self._decoder is not None:
            return self._decoder
        from mondegreen.decode.channel import load_channel
        from mondegreen.decode.decoder import CANDIDATES, Decoder

        if self.language is None:
            raise InvalidParameterError("read", self.read, "words or sentence")
        channel = load_channel(self._state, self.language, CANDIDATES, progress)
        self._decoder = Decoder(channel, self.language)
        return self._decoder

    def __call__(self, codes: Ids, batch: TokenizedBatch, structure: Structure) -> Ids:
        """Read the codes of texts; this uses only the structure of the batch."""
        if self.read == "none" or not len(codes):
            return codes
        from mondegreen.decode.released import Released

        if structure == "keep":
            return self._read(Released(codes, find_ends(batch)))
        # Where a word was dropped is not shown, so the reader must not know it.
        shown, found = codes != DROP, codes.copy()
        text = np.repeat(np.arange(len(batch.parts)), batch.counts())[shown]
        is_last = np.append(text[1:] != text[:-1], True)[: len(text)]
        found[shown] = self._read(Released(codes[shown], is_last))
        return found

    def _read(self, released: Released) -> Ids:
        if self.read == "words":
            return self.decoder.words(released)
        if self.judge is None:
            return self.decoder.sentence(released)
        from mondegreen.decode.rescoring import rescore

        words = self._state.space.words
        return rescore(self.decoder, released, self.judge, words)

    def compute_recovered(
        self, codes: Ids, batch: TokenizedBatch, inputs: Ids
    ) -> float:
        """Tell which share of PUBLIC inputs a reader of sentences guesses right."""
        from mondegreen.decode.released import Released

        guess = self.decoder.guesses(Released(codes, find_ends(batch)))
        return float(np.mean((guess == inputs)[codes >= 0]))

    @property
    def ends(self) -> SentenceEnds:
        """Where sentences end that are printed without the structure of the input."""
        if self.language is None:
            return last_alone
        from mondegreen.decode.segment import likely_ends

        return functools.partial(likely_ends, self.language)

    @property
    def notice(self) -> str:
        """Say before work starts that what is printed is a guess, and whose."""
        guesses = {"words": "each word", "sentence": "each sentence"}
        if self.language is None:
            return ""
        model = self.judge or self.language
        name = "in memory" if model.path is None else Path(model.path).stem
        learned = ""
        if self.language.about.releases:
            learned = (
                " The model learned from a release. If that was another release of "
                "these texts, the losses of both add up."
            )
        return (
            f"Read: {guesses[self.read]} is a guess of the original words, by the "
            f"public language model {name} (sha256 {model.digest[:16]}). Fluent "
            f"output is not evidence of what was written.{learned}"
        )

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What must hold for reading to cost nothing."""
        if self.language is None:
            return ()
        judged = ""
        if self.judge is not None:
            judged = f" and the model in a folder of sha256 {self.judge.digest[:16]}"
        unit = {"words": "word by word", "sentence": "sentence by sentence"}[self.read]
        made = "public text alone"
        if learned := "; ".join(self.language.about.releases):
            made = f"public text and {learned} (which, if it is of these texts and not "
            made += "of these very draws, is a release more, whose loss is added)"
        return (
            f"reading: released words are decoded {unit} with the public language "
            f"model sha256 {self.language.digest[:16]}{judged}, made from {made} and "
            "not from any text that is privatized. Fluent output is not evidence of "
            "what was written",
        )


def open_models(read: Read, language: Language | None) -> Models:
    """Open the models that texts are read with; None where they are not.

    A folder holds one that judges what the embedded trigrams propose.
    """
    if read == "none":
        if language is not None:
            allowed = 'absent with read="none": it would not be used'
            raise InvalidParameterError("language", "a model", allowed)
        return None, None
    if language in (None, DEFAULT_LANGUAGE):
        return _load_embedded(), None
    from mondegreen.language.ngrams import NGrams
    from mondegreen.language.scorer import TransformersScorer
    from mondegreen.language.store import language_names, load_language

    if isinstance(language, str | Path):
        is_folder = Path(language).is_dir() and language not in language_names()
        reads = TransformersScorer if is_folder else load_language
        language = reads(language)
    if isinstance(language, NGrams):
        return language, None
    if read != "sentence":
        allowed = "an n-gram model, to read words: a folder judges sentences"
        raise InvalidParameterError("language", "a folder", allowed)
    return _load_embedded(), language


@functools.cache
def _load_embedded() -> NGrams:
    from mondegreen.language.store import load_language

    return load_language()


def find_language_name(models: Models) -> str:
    """Return how another process finds a model: its name, or the path of its file."""
    language = models[1] or models[0]
    if language is None or language.path is None:
        raise ConfigurationError(
            "the language model is only in memory. For other processes, write it with "
            "save_language and read it with load_language"
        )
    from mondegreen.language.store import DEFAULT

    is_embedded = language.path == DEFAULT.resolve()
    return DEFAULT_LANGUAGE if is_embedded else str(language.path)
