"""Models that score a sentence: our trigrams, or a neural model of yours."""

from __future__ import annotations

import hashlib
import importlib
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Final, Protocol, final

import numpy as np

from mondegreen.arrays import Floats
from mondegreen.errors import LanguageError, OptionalDependencyError
from mondegreen.language.ngrams import NGrams
from mondegreen.space.space import Space

_ROWS: Final = 16  # that a network reads together


class SentenceScorer(Protocol):
    """Scores sentences: natural logarithms of probabilities, larger is likelier.

    Only sentences of as many words are compared by it. It must be a public function:
    it must never have seen the private texts.
    """

    def log_probs(self, sentences: Sequence[Sequence[str]]) -> Floats:
        """Score sentences, each a list of words; returns a number for each.

        Parameters
        ----------
        sentences : sequence of sequences of str
            Words of each sentence.

        Returns
        -------
        float64 array, nats
            One log-probability per sentence.
        """
        ...


@final
class NGramScorer:
    """Scores sentences by trigrams over the words of a space.

    Parameters
    ----------
    model : NGrams
    space : Space
        The space whose words the model is over.

    Raises
    ------
    LanguageError
        Where the model is over other words.

    Examples
    --------
    >>> import mondegreen as mg
    >>> from mondegreen.language.store import load_language
    >>> scorer = NGramScorer(load_language(), mg.load_space())
    >>> good, bad = scorer.log_probs([["of", "the", "day"], ["the", "of", "day"]])
    >>> bool(good > bad)
    True
    """

    def __init__(self, model: NGrams, space: Space) -> None:
        model.check_space(space)
        self._model, self._index = model, space.index

    def log_probs(self, sentences: Sequence[Sequence[str]]) -> Floats:
        """Score sentences; one without words has the score 0.

        Parameters
        ----------
        sentences : sequence of sequences of str
            Words of each sentence.

        Returns
        -------
        float64 array, nats
            One log-probability per sentence.
        """
        unknown = self._model.vocab_size
        words = chain.from_iterable(sentences)
        ids = [self._index.get(word, unknown) for word in words]
        lengths = np.array([len(sentence) for sentence in sentences], np.int64)
        ends = np.zeros(len(ids), np.bool_)
        ends[np.cumsum(lengths[lengths > 0]) - 1] = True
        scores = np.zeros(len(lengths))
        found = self._model.sentence_log_probs(np.array(ids, np.int32), ends)
        scores[lengths > 0] = found
        return scores


@final
class TransformersScorer:
    """Scores sentences by a causal or masked model of yours, from a local folder.

    A causal model gives the probability of the tokens of a sentence, each behind those
    before it; a masked one the product, over its tokens, of the probability of each
    among all others (pseudo-likelihood: Salazar et al., "Masked Language Model
    Scoring", ACL 2020). Nothing is ever downloaded, and no code of the folder is run.

    Parameters
    ----------
    path : str or Path
        Folder with the model, its weights in the safetensors format, and its tokenizer.

    Raises
    ------
    OptionalDependencyError
        Where ``torch`` or ``transformers`` is not installed.
    LanguageError
        Where the folder holds no such model.

    Examples
    --------
    >>> scorer = TransformersScorer("models/gpt2")  # doctest: +SKIP
    >>> scorer.log_probs([["it", "is", "cold"], ["it", "is", "coal"]])  # doctest: +SKIP
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).resolve()
        self._torch = _import_transformers("torch")
        transformers = _import_transformers("transformers")
        folder = Path(path)
        local = {"local_files_only": True, "trust_remote_code": False}
        if not (folder / "config.json").is_file():
            raise LanguageError(
                f"{path}: not the folder of a model: config.json is missing"
            )
        try:
            config = transformers.AutoConfig.from_pretrained(folder, **local)
            self._is_masked = _is_masked(config.architectures, path)
            kind = "AutoModelForMaskedLM" if self._is_masked else "AutoModelForCausalLM"
            model = getattr(transformers, kind).from_pretrained(
                folder, use_safetensors=True, **local
            )
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **local)
        except (OSError, ValueError, KeyError) as error:
            raise LanguageError(f"{path}: the model cannot be read") from error
        device = "cuda" if self._torch.cuda.is_available() else "cpu"
        self._model, self._tokenizer = model.eval().to(device), tokenizer
        if self._is_masked and tokenizer.mask_token_id is None:
            raise LanguageError(f"{path}: its tokenizer has no mask")
        self._start = tokenizer.bos_token_id
        if self._start is None:
            self._start = tokenizer.eos_token_id
        if not self._is_masked and self._start is None:
            raise LanguageError(f"{path}: its tokenizer has no token for a start")

    @cached_property
    def digest(self) -> str:
        """SHA-256, in hex, of all files in the folder and below it, and their names.

        What stands in a folder below, such as another tokenizer, may be read too.
        """
        found = hashlib.sha256()
        for name, path in sorted(_files(self.path)):
            with path.open("rb") as stream:
                content = hashlib.file_digest(stream, "sha256").hexdigest()
            found.update(os.fsencode(f"{name}\0{content}\n"))
        return found.hexdigest()

    def log_probs(self, sentences: Sequence[Sequence[str]]) -> Floats:
        """Score sentences; words are joined by spaces.

        Parameters
        ----------
        sentences : sequence of sequences of str
            Words of each sentence.

        Returns
        -------
        float64 array, nats
            One log-probability per sentence.
        """
        rows = self._mask_rows if self._is_masked else self._causal_rows
        found, total = rows(sentences), np.zeros(len(sentences))
        for start in range(0, len(found), _ROWS):
            part = found[start : start + _ROWS]
            for (owner, _, _), score in zip(part, self._scores(part), strict=True):
                total[owner] += score
        return total

    def _causal_rows(self, sentences: Sequence[Sequence[str]]) -> list[Any]:
        """A row for each sentence: which it is, its tokens, and which are wanted."""
        rows = []
        for owner, sentence in enumerate(sentences):
            ids = self._tokenizer.encode(" ".join(sentence), add_special_tokens=False)
            wanted = dict(enumerate(ids))  # place i predicts token i, behind the start
            rows.append((owner, [self._start, *ids], wanted))
        return rows

    def _mask_rows(self, sentences: Sequence[Sequence[str]]) -> list[Any]:
        """The same, a row for each token, which is masked in it."""
        rows = []
        for owner, sentence in enumerate(sentences):
            ids = self._tokenizer.encode(" ".join(sentence))
            special = set(self._tokenizer.all_special_ids)
            for place, token in enumerate(ids):
                if token not in special or token == self._tokenizer.unk_token_id:
                    masked = [*ids]
                    masked[place] = self._tokenizer.mask_token_id
                    rows.append((owner, masked, {place: token}))
        return rows

    def _scores(self, rows: list[Any]) -> Floats:
        """Read rows together, and add up the logarithms of what is wanted of each."""
        torch, device = self._torch, self._model.device
        longest = max(len(ids) for _, ids, _ in rows)
        padded = [[*ids, *[ids[0]] * (longest - len(ids))] for _, ids, _ in rows]
        mask = [[1] * len(ids) + [0] * (longest - len(ids)) for _, ids, _ in rows]
        with torch.no_grad():
            logits = self._model(
                input_ids=torch.tensor(padded, device=device),
                attention_mask=torch.tensor(mask, device=device),
            ).logits.double()
        logs = torch.log_softmax(logits, dim=-1).cpu().numpy()
        return np.array(
            [
                sum(logs[row, place, token] for place, token in wanted.items())
                for row, (_, _, wanted) in enumerate(rows)
            ]
        )


def _files(
    folder: Path, name: str = "", above: frozenset[Path] = frozenset()
) -> Iterator[tuple[str, Path]]:
    """Yield every file below a folder with its name there; links are followed."""
    place = folder.resolve()
    if place in above:  # a link to a folder that it lies in
        return
    for path in folder.iterdir():
        if path.is_dir():
            yield from _files(path, f"{name}{path.name}/", above | {place})
        elif path.is_file():
            yield name + path.name, path


def _is_masked(architectures: Sequence[str] | None, path: str | Path) -> bool:
    """Whether a model fills gaps; refuses one that does neither."""
    names = architectures or ()
    if any("MaskedLM" in name for name in names):
        return True
    if any("CausalLM" in name or "LMHead" in name for name in names):
        return False
    raise LanguageError(f"{path}: neither a causal nor a masked language model")


def _import_transformers(name: str) -> Any:
    """Import a library of the extra ``transformers``, or say how to install it."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise OptionalDependencyError(
            name, "transformers", feature="a model of the library transformers"
        ) from None
