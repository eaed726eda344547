"""A conversation: one surrogate for each sensitive word, and the way back."""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NoReturn, Self, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, Weights
from mondegreen.errors import ConfigurationError, DataError, InvalidParameterError
from mondegreen.mechanisms.symbols.urr import Urr
from mondegreen.policy.detection import Detector, DetectorLookup
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import HIDE_AMONG, Policy, load_policy
from mondegreen.policy.scope import Sample, Surrogates
from mondegreen.policy.sealing import seal, unseal
from mondegreen.prompts.echoes import learn_echoes
from mondegreen.prompts.restore import JsonRestorer, Restorer
from mondegreen.prompts.units import Kind, Units
from mondegreen.settings import Numbers, Settings, list_options
from mondegreen.text.tokenizer import TokenizedBatch

Marks = NDArray[np.bool_]

_FORMAT: Final = 1
_TAKEN: Final = (
    "policy", "ordinary", "sensitive", "most_ordinary", "opened", "hidden",
    "hide_among", "epsilon", "numbers", "near",
)  # fmt: skip


@final
@dataclass(frozen=True, slots=True, repr=False)
class HiddenText:
    """A text and its hidden form, word by word. It holds the original.

    Parameters
    ----------
    batch : TokenizedBatch
        The original: structure and words come in turn.
    symbols : int32 array, shape (words,)
        What is disclosed of each word: the symbol of an ordinary word, or that of the
        surrogate.
    sent : tuple of str
        The hidden form, in as many parts as the original.
    hidden : bool array, shape (words,)
        Which words are replaced by a surrogate.
    """

    batch: TokenizedBatch
    symbols: Ids
    sent: tuple[str, ...]
    hidden: Marks

    @property
    def parts(self) -> list[str]:
        """The parts of the original."""
        return self.batch.parts[0] or []

    def __str__(self) -> str:
        """Return the hidden form."""
        return "".join(self.sent)

    def __repr__(self) -> str:
        return f"HiddenText(words={len(self.symbols)})"


@final
class Conversation:
    r"""Hides the sensitive words of one conversation, and puts them back.

    Each sensitive word is replaced by one surrogate of its group throughout, by
    :class:`Surrogates <mondegreen.policy.scope.Surrogates>`. Ordinary words and
    punctuation pass as they are written.

    Parameters
    ----------
    policy : str
        ``names`` or ``sensitive``.
    ordinary, sensitive : iterable of str
        *Public* words that the policy shows, and that it must hide.
    most_ordinary : int, optional
        Show the most frequent ordinary words of the policy only; all by default.
    opened, hidden : iterable of str
        Classes of the policy that are shown, and hidden.
    hide_among : int
        Words that each group of the policy has at least, where its class has them.
    epsilon : float, optional
        Draw the group of each surrogate by ``urr``, so that the kind of a word is
        hidden too, with this loss. Without it the kind is disclosed.
    numbers : {"hide", "near"}
        Whether amounts hide among all numbers of their format, or the surrogate of an
        amount that stands alone is a number near it.
    near : float, nats per cell
        Loss of amounts for a factor of 1.26, with ``numbers="near"``.
    public : iterable of str
        *Public* texts, such as system prompts. Their words are never surrogates.
    in_links : bool
        Put originals into links, images, tags and square brackets too, which may send
        them to other servers.
    detector : tuple of (callable, str), optional
        A detector that reads each text first, and its public name and version; see
        :data:`Detector <mondegreen.policy.detection.Detector>` and
        :func:`mondegreen.integrations.detectors.load_presidio`. A word that it finds
        has a surrogate of its type. If it fails, :meth:`hide` raises an error.

    Raises
    ------
    ConfigurationError
        If the policy has no ordinary words, or ``numbers`` is ``plain``.

    Notes
    -----
    *Privacy.* Proof: ``docs/proofs/scopes.md``, claim (c). :attr:`guarantee` states
    what is disclosed. The object holds the original words: keep it where they may be.

    Examples
    --------
    >>> with conversation(policy="names") as c:
    ...     sent = c.hide("My name is Okonkwo.")
    ...     answer = sent.replace("My", "Your")
    ...     print("Okonkwo" in sent or c.restore(answer))
    Your name is Okonkwo.
    """

    def __init__(
        self,
        policy: str = "names",
        *,
        ordinary: Iterable[str] = (),
        sensitive: Iterable[str] = (),
        most_ordinary: int | None = None,
        opened: Iterable[str] = (),
        hidden: Iterable[str] = (),
        hide_among: int = HIDE_AMONG,
        epsilon: float | None = None,
        numbers: Numbers = Settings.numbers,
        near: float = Settings.near,
        public: Iterable[str] = (),
        in_links: bool = False,
        detector: tuple[Detector, str] | None = None,
    ) -> None:
        if policy == "all":
            raise ConfigurationError(
                "a conversation needs a policy with ordinary words: names or sensitive"
            )
        if numbers == "plain":
            raise ConfigurationError(
                "numbers plain cannot be combined with restoring: use hide or near"
            )
        self._settings: dict[str, Any] = {
            "policy": policy,
            "ordinary": sorted(ordinary),
            "sensitive": sorted(sensitive),
            "most_ordinary": most_ordinary,
            "opened": sorted(opened),
            "hidden": sorted(hidden),
            "hide_among": hide_among,
            "epsilon": epsilon,
            "numbers": numbers,
            "near": near,
        }
        self._policy = load_policy(
            policy,
            ordinary=tuple(self._settings["ordinary"]),
            sensitive=tuple(self._settings["sensitive"]),
            most_ordinary=most_ordinary,
            opened=tuple(self._settings["opened"]),
            hidden=tuple(self._settings["hidden"]),
            hide_among=hide_among,
            numbers=numbers,
            near=near,
        )
        self._in_links = in_links
        self._detector = None if detector is None else detector[1]
        self._lookup = _build_lookup(self._policy, detector)
        self._sample = _sampler(self._policy, epsilon)
        words = self._lookup.cut(list(public)).words()
        self._surrogates = Surrogates.new(
            self._policy, sample=self._sample, public=words
        )
        self._units = Units()
        self._lock = threading.Lock()
        self._is_closed = False

    def hide(self, text: str, *, author: str = "") -> str:
        """Replace each sensitive word of a text by its surrogate.

        The same text has the same result again. Words of another ``author`` have
        surrogates of their own, so that they show nothing of the user's words.

        Parameters
        ----------
        text : str
            Text of one author.
        author : str
            Who wrote it; empty for the user.

        Returns
        -------
        str
            The text to send.
        """
        return str(self.hide_words(text, author=author))

    def hide_words(self, text: str, *, author: str = "") -> HiddenText:
        """Hide a text as :meth:`hide` does, and return it word by word.

        Parameters
        ----------
        text : str
            Text of one author.
        author : str
            Who wrote it; empty for the user.

        Returns
        -------
        HiddenText
            The text to send, with its words.

        Raises
        ------
        InvalidParameterError
            If the text is no string.
        MondegreenError
            If the detector fails.
        """
        return self._hide(text, partial(self._surrogates.hide, author=author))

    def hide_echoes(
        self, text: str, place: str, find: Callable[[Sequence[str]], list[bool]]
    ) -> str:
        """Hide a text in which others may repeat what a language model said.

        Such is the result of a tool that quotes its arguments. ``find`` tells which
        words the model has said. They are hidden as by :meth:`hide_apart`, and all
        others as by :meth:`hide`.

        Parameters
        ----------
        text : str
            Text that a program has written.
        place : str
            Names the text: the same one has the same result again.
        find : callable
            Takes the words of the text, and returns a mark for each.

        Returns
        -------
        str
            The text to send.
        """

        def draw(batch: TokenizedBatch, symbols: Ids) -> Weights:
            marks = find(batch.words())
            return self._surrogates.hide(batch, symbols, apart=marks, place=place)

        return str(self._hide(text, draw))

    def hide_apart(self, text: str, place: str) -> str:
        """Hide a text that may hold words of the user beside planted candidates.

        Such is a turn of a language model that was changed. Each sensitive word has a
        surrogate of its own, at each place: nothing shows which words are equal.

        Parameters
        ----------
        text : str
            Text of another author, who may have seen hidden words.
        place : str
            Names the text: the same one has the same result again.

        Returns
        -------
        str
            The text to send.
        """
        return str(self._hide(text, partial(self._surrogates.hide_apart, place=place)))

    def _hide(
        self, text: str, draw: Callable[[TokenizedBatch, Ids], Weights]
    ) -> HiddenText:
        """Hide a text by what draws its output numbers."""
        if not isinstance(text, str):
            raise InvalidParameterError("text", type(text).__name__, "a string")
        batch = self._lookup.cut([text])
        symbols = np.array(self._lookup.codes(batch))
        parts = batch.parts[0] or []
        sent = parts.copy()
        hidden = self._policy.alphabet.is_group(symbols)
        with self._lock:
            self._check_open()
            codes = draw(batch, symbols).tolist()
            kinds: list[Kind | None] = [None] * len(codes)
            for i in np.flatnonzero(hidden).tolist():
                sent[2 * i + 1] = self._surrogates.print(codes[i])
                symbols[i] = self._policy.symbol_at(codes[i])
                kinds[i] = self._policy.describe(int(symbols[i]))[:2]
            self._units.learn(parts, sent, kinds)
            learn_echoes(self._units, parts, sent, kinds, self._begin)
        return HiddenText(batch, symbols, tuple(sent), hidden)

    def bar(self, public: Iterable[str]) -> None:
        """Never give out the words of these *public* texts from now on.

        Parameters
        ----------
        public : iterable of str
            PUBLIC texts. Words of private ones would show in what is left out.
        """
        with self._lock:
            self._surrogates.bar(self._lookup.cut(list(public)).words())

    def restore(self, answer: str, *, is_json: bool = False) -> str:
        """Put the original words back into an answer.

        A surrogate is found in any case, as the plural of a name and before ``'s``.
        Numbers come back as whole amounts, dates and phone numbers. A number of one
        digit comes back only beside the word it was sent with.

        Parameters
        ----------
        answer : str
            What was written about the hidden texts.
        is_json : bool
            Whether the answer is JSON, which stays valid.

        Returns
        -------
        str
            The answer to show to the user.

        Raises
        ------
        InvalidParameterError
            If the answer is no string.
        """
        if not isinstance(answer, str):
            raise InvalidParameterError("answer", type(answer).__name__, "a string")
        return "".join(self.restore_stream([answer], is_json=is_json))

    def restore_stream(
        self, pieces: Iterable[str], *, is_json: bool = False
    ) -> Iterator[str]:
        """Put the original words back into an answer that comes in pieces.

        A surrogate may be cut anywhere. No more is held back than the longest
        surrogate and the word beside it.

        Parameters
        ----------
        pieces : iterable of str
            Parts of one answer, in order.
        is_json : bool
            Whether the answer is JSON, which stays valid.

        Yields
        ------
        str
            Parts of the restored answer.
        """
        restorer = self.restorer(is_json=is_json)
        for piece in pieces:
            if shown := restorer.feed(piece):
                yield shown
        if shown := restorer.end():
            yield shown

    def restorer(
        self, *, is_json: bool = False, in_links: bool | None = None
    ) -> Restorer | JsonRestorer:
        """Make what restores one answer, piece by piece.

        Parameters
        ----------
        is_json : bool
            Whether the answer is JSON, which stays valid.
        in_links : bool, optional
            Restore inside links too; as for the conversation if not given.

        Returns
        -------
        Restorer or JsonRestorer
            An object with ``feed`` and ``end``.
        """
        in_links = self._in_links if in_links is None else in_links
        begin = partial(self._begin, in_links=in_links)
        self._check_open()
        return JsonRestorer(begin) if is_json else begin()

    def _begin(self, *, in_links: bool = False) -> Restorer:
        return Restorer(self._surrogates, self._units, self._policy, in_links=in_links)

    @property
    def guarantee(self) -> tuple[str, ...]:
        """What the reader of the hidden texts learns, and what not, in lines."""
        lines = _guarantee(self._policy, self._settings["epsilon"])
        if isinstance(self._lookup, DetectorLookup):
            return (*lines, *self._lookup.assumptions)
        return lines

    @property
    def policy(self) -> Policy:
        """The policy, which is public."""
        return self._policy

    def to_bytes(self, key: bytes) -> bytes:
        """Write the conversation, encrypted under 32 secret bytes of the user.

        Parameters
        ----------
        key : bytes, 32
            Secret key of the user.

        Returns
        -------
        bytes
            Encrypted and authenticated.
        """
        with self._lock:
            self._check_open()
            content = {
                "format": _FORMAT,
                "settings": self._settings,
                "detector": self._detector,
                "surrogates": self._surrogates.to_bytes(key).hex(),
                "units": self._units.to_json(),
            }
            return seal(json.dumps(content).encode(), key)

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        key: bytes,
        *,
        in_links: bool = False,
        detector: tuple[Detector, str] | None = None,
    ) -> Conversation:
        """Read what :meth:`to_bytes` wrote, with the same key and detector.

        Parameters
        ----------
        data : bytes
            What :meth:`to_bytes` wrote.
        key : bytes
            The key it was written with.
        in_links : bool
            Restore inside links too.

        Returns
        -------
        Conversation
            The conversation, ready to go on.

        Raises
        ------
        DataError
            If the key is another one, the bytes were changed, or the policy of that
            name is another one in this version.
        ConfigurationError
            If the conversation had another detector.
        """
        content = json.loads(unseal(data, key))
        if content.get("format") != _FORMAT:
            raise DataError("the conversation was written by another version")
        found = cls(**content["settings"], in_links=in_links, detector=detector)
        if content.get("detector") != found._detector:
            known = content.get("detector") or "no detector"
            raise ConfigurationError(
                f"the conversation was hidden with {known}. Use the same detector"
            )
        found._surrogates = Surrogates.from_bytes(
            bytes.fromhex(content["surrogates"]),
            key,
            found._policy,
            sample=found._sample,
        )
        found._units = Units.from_json(content["units"])
        return found

    def close(self) -> None:
        """Forget the words. Later calls are refused."""
        with self._lock:
            self._is_closed = True
            self._surrogates = Surrogates.new(self._policy)
            self._units = Units()

    def _check_open(self) -> None:
        if self._is_closed:
            raise ConfigurationError("the conversation is closed; begin another one")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._surrogates)

    def __bool__(self) -> bool:
        return True

    def __reduce__(self) -> NoReturn:
        raise TypeError("a conversation holds private words: write it with to_bytes")

    def __repr__(self) -> str:
        return f"Conversation({self._policy!r}, words={len(self)})"


conversation = Conversation
"""Begins a :class:`Conversation`: ``with mg.conversation(policy="names") as c``."""


def conversation_settings(settings: Settings) -> dict[str, Any]:
    """Take the parameters of a :class:`Conversation` out of settings.

    The policy is ``names`` where none is named.

    Raises
    ------
    ConfigurationError
        If a setting is given that a conversation has no meaning for.
    """
    usual = Settings()
    for name in list_options():
        given = getattr(settings, name)
        if name not in (*_TAKEN, "mechanism") and given != getattr(usual, name):
            raise ConfigurationError(
                f"{name} cannot be combined with restoring: leave it out"
            )
    if settings.mechanism not in (None, "urr"):
        raise ConfigurationError("restoring needs mechanism urr, or none")
    return {name: getattr(settings, name) for name in _TAKEN} | {
        "policy": settings.policy or "names"
    }


def settings_of_policy(settings: Settings) -> dict[str, Any]:
    """Take the parameters of a :class:`Conversation` out of those of a service.

    A service with a policy keeps its policy and, with ``urr``, its epsilon. Another one
    has policy ``names`` for conversations.
    """
    chosen = settings.resolve()
    if chosen.policy == "all":
        return {"policy": "names"}
    found = {name: getattr(chosen, name) for name in _TAKEN}
    if chosen.numbers == "plain":  # an amount that passes could not be told from others
        found["numbers"] = "hide"
    return found if chosen.mechanism == "urr" else {**found, "epsilon": None}


@functools.lru_cache(maxsize=8)
def _build_lookup(
    policy: Policy, detector: tuple[Detector, str] | None
) -> PolicyLookup | DetectorLookup:
    return (
        PolicyLookup(policy) if detector is None else DetectorLookup(policy, *detector)
    )


@functools.lru_cache(maxsize=8)
def _sampler(policy: Policy, epsilon: float | None) -> Sample | None:
    if epsilon is None:
        return None
    return Urr(epsilon).prepare(policy.alphabet).sample


def _guarantee(policy: Policy, epsilon: float | None) -> tuple[str, ...]:
    kind = "their kind"
    loss = (
        "the kind of a sensitive word is disclosed. Two words of one kind have the "
        "same output probabilities: the loss between them is 0"
    )
    if epsilon is not None:
        kind = "how many there are"
        loss = (
            f"the kind of a sensitive word is hidden with loss {epsilon:g} for each "
            "different word. Two words of one kind lose 0"
        )
    return (
        f"policy: {policy.name}, digest {policy.digest[:16]}",
        "disclosed: which sensitive words of the conversation are the same, up to "
        f"case, {kind}, all ordinary words as they are written, and punctuation",
        f"hidden: {loss}. Only context, counts and originals that the reader already "
        "knows can show which candidate a word was",
        *_guarantee_amounts(policy),
        "known plaintext: the author of a text that you hide for somebody else, such "
        "as the result of a tool, knows its words and learns their surrogates",
        "assumption: an attacker cannot tell ChaCha20 and BLAKE2b from random "
        "functions, and does not have the map",
    )


def _guarantee_amounts(policy: Policy) -> Iterator[str]:
    """State what surrogates of amounts disclose, if they are near their originals."""
    near = policy.alphabet.near
    if near is None:
        return
    grid, loss = near.grid, near.certified
    worst, factor = loss * (grid.cells - 1), 10 ** (1 / grid.per_decade)
    yield (
        f"amounts: a number that stands alone has one near it, from {grid.print(0)} "
        f"to {grid.print(grid.cells - 1)}. Each different amount loses {loss:.4g} nats "
        f"for a factor of {factor:.4g} between two amounts, at most {worst:.4g} nats. "
        "That it is an amount is disclosed, and so are its sign and unit"
    )
