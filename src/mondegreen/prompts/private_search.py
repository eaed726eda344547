"""A search whose server sees a released question; your machine orders the result."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    MondegreenError,
    PrivacyError,
)
from mondegreen.guarantee import Guarantee
from mondegreen.privatizer.build import build_privatizer
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.settings import Settings
from mondegreen.text.tokenizer import canonical, tokenize

Search: TypeAlias = Callable[[str, int], Sequence[Any]]
"""From a released question and a number k to k passages, best first."""

Score: TypeAlias = Callable[[str, Sequence[str]], Sequence[float]]
"""From the true question and passages to a score of each; larger is nearer."""

_ALL_FETCHED: Final = (
    "the number of passages that are fetched does not depend on the question, and all "
    "of them are fetched",
    "nothing else depends on the true question: a click, a follow-up question, and "
    "passages that were chosen by it and sent on are second releases, with no bound "
    "on the loss",
)


class SecondReleaseError(PrivacyError):
    """Raised when chosen passages would be sent on without saying so."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Passage:
    """One passage.

    Parameters
    ----------
    value : object
        What ``search`` returned.
    text : str
        Its text.
    score : float
        How near it is to the true question. Private.
    place : int
        Its place in the answer of the server, from 0.
    """

    value: Any
    text: str
    score: float
    place: int

    def __repr__(self) -> str:
        return f"Passage(<{len(self.text)} characters>)"


@final
@dataclass(frozen=True, slots=True, repr=False)
class SecondRelease:
    r"""Passages that were chosen by the true question, on their way to somebody else.

    Parameters
    ----------
    values : tuple
        What ``search`` returned for them, in the order of the server: your own order
        would disclose more.
    choices : int
        How many choices there were: :math:`\binom{k}{n}` for ``n`` of ``k`` passages.
        A receiver who also saw the released question guesses the question right at
        most so many times as often. The loss of two questions that lead to different
        choices has no bound.
    """

    values: tuple[Any, ...]
    choices: int

    def __repr__(self) -> str:
        return f"SecondRelease(passages={len(self.values)}, choices={self.choices})"


@final
@dataclass(frozen=True, slots=True, repr=False)
class PrivateSearch:
    """What a private search found.

    Parameters
    ----------
    released : str
        The question that the server saw.
    passages : tuple of Passage
        Best first, by the true question. Their order is private.
    guarantee : Guarantee
        What the search promises, as long as nothing else is sent.
    """

    released: str
    passages: tuple[Passage, ...]
    guarantee: Guarantee

    def fetch(self) -> tuple[Any, ...]:
        """Return all passages in the order of the server: sending these adds nothing.

        They are a function of the released question alone.

        Returns
        -------
        tuple
            Passages, as the server returned them.
        """
        return tuple(p.value for p in sorted(self.passages, key=lambda p: p.place))

    def send_on(
        self, ranks: Iterable[int], *, is_second_release: bool = False
    ) -> SecondRelease:
        """Return chosen passages, for a language model or a click on a link.

        Parameters
        ----------
        ranks : iterable of int
            Places in ``passages``.
        is_second_release : bool
            Say that you know it: the choice depends on the true question.

        Returns
        -------
        SecondRelease
            The chosen passages, and among how many choices.

        Raises
        ------
        SecondReleaseError
            If ``is_second_release`` is not set.

        Examples
        --------
        >>> base = ["Cats sleep.", "Dogs bark.", "Cars drive."]
        >>> found = private_search(
        ...     "Do dogs bark?", lambda asked, k: base[:k], epsilon=12.0, fetch=3
        ... )
        >>> found.passages[0].text
        'Dogs bark.'
        >>> found.send_on([0])
        Traceback (most recent call last):
        mondegreen.prompts.private_search.SecondReleaseError: sending 1 of 3 ...
        >>> found.send_on([0], is_second_release=True)
        SecondRelease(passages=1, choices=3)
        """
        chosen = sorted(set(ranks))
        count = len(self.passages)
        if not all(0 <= rank < count for rank in chosen):
            raise InvalidParameterError("ranks", "others", f"places from 0 to {count}")
        if not is_second_release:
            raise SecondReleaseError(
                f"sending {len(chosen)} of {count} passages is a second release: the "
                "choice depends on the true question, and its loss has no bound. Send "
                "all of them (fetch()), or pass is_second_release=True"
            )
        passages = sorted((self.passages[r] for r in chosen), key=lambda p: p.place)
        values = tuple(passage.value for passage in passages)
        return SecondRelease(values, math.comb(count, len(chosen)))

    def __repr__(self) -> str:
        return f"PrivateSearch(passages={len(self.passages)})"


def private_search(
    query: str,
    search: Search,
    *,
    epsilon: float | None = None,
    policy: Any = "sensitive",
    fetch: int = 50,
    score: Score | None = None,
    text_of: Callable[[Any], str] | None = None,
    privatizer: Privatizer | None = None,
    **settings: Any,
) -> PrivateSearch:
    r"""Search with a released question, and order the passages by the true question.

    The question is released once, :math:`y = M(q)`. The server gets :math:`y` and
    :math:`k`. All that it returns is a function of :math:`y`, and the true question is
    used only on your machine. So the search loses what one release of the question
    loses.

    Parameters
    ----------
    query : str
        The true question. ``search`` does not get it.
    search : callable
        ``search(released, k)`` returns at most k passages. It is called once.
    epsilon : float
        That of the mechanism; there is no default. Left out with ``privatizer``.
    policy : {"sensitive", "names", "all"}
        What is sensitive in the question.
    fetch : int
        How many passages are fetched. Choose it before you see the question.
    score : callable, optional
        ``score(query, passages)`` returns a number for each. Run it on your machine: a
        model on a server would see the question. By default the cosine of TF-IDF, with
        the frequencies of words among the fetched passages.
    text_of : callable, optional
        Takes the text out of what ``search`` returns. By default, ``search`` returns
        strings.
    privatizer : Privatizer, optional
        In place of epsilon, policy and settings; it may have its own noise.
    **settings
        Other fields of :class:`mondegreen.settings.Settings`.

    Returns
    -------
    PrivateSearch
        Its ``send_on`` says what a choice of passages costs before it is made.

    Raises
    ------
    InvalidParameterError
        If ``search`` returns more than k passages, or no list of them; if a passage
        has no text; or if ``score`` does not return one number for each.

    Examples
    --------
    >>> base = ["Cats sleep all day.", "Gout is a disease of joints.", "Cars drive."]
    >>> found = private_search(
    ...     "What is gout?", lambda asked, k: base[:k], epsilon=12.0, fetch=3
    ... )
    >>> found.passages[0].text
    'Gout is a disease of joints.'
    >>> found.guarantee.mechanism
    'urr'
    """
    if not isinstance(query, str):
        raise InvalidParameterError("query", type(query).__name__, "a string")
    if not isinstance(fetch, int) or isinstance(fetch, bool) or fetch < 1:
        raise InvalidParameterError("fetch", fetch, "a whole number, at least 1")
    if privatizer is None:
        if epsilon is None:
            raise ConfigurationError("private_search needs epsilon, or a privatizer")
        privatizer = build_privatizer(
            Settings(epsilon=epsilon, policy=policy, **settings)
        )
    elif epsilon is not None or settings:
        raise ConfigurationError(
            "a privatizer holds all settings: leave out the other settings"
        )
    released = privatizer(query).text
    values = _check(search(released, fetch), fetch)
    texts = _list_texts(values, text_of)
    return PrivateSearch(
        released,
        order_passages(query, values, texts, score),
        privatizer.guarantee.with_text((), (), _ALL_FETCHED),
    )


def order_passages(
    query: str, values: Sequence[Any], texts: Sequence[str], score: Score | None = None
) -> tuple[Passage, ...]:
    """Order passages by the true question, best first.

    Parameters
    ----------
    query : str
        The true question.
    values, texts : sequence
        What the server returned, and the text of each.
    score : callable, optional
        As of :func:`private_search`.

    Returns
    -------
    tuple of Passage
        Where two are equally near, in the order of the server.
    """
    scores = _scores(score or tf_idf_cosine, query, texts)
    best = sorted(range(len(values)), key=lambda i: -scores[i])
    return tuple(Passage(values[i], texts[i], scores[i], i) for i in best)


def tf_idf_cosine(query: str, passages: Sequence[str]) -> list[float]:
    r"""Score passages by the cosine of TF-IDF.

    The weight of a word that is :math:`t` times in a text, and in :math:`f` of the
    :math:`n` passages, is :math:`t\,(\ln\frac{1 + n}{1 + f} + 1)`. Words are compared
    folded.

    Examples
    --------
    >>> tf_idf_cosine("red cats", ["Red cats!", "dogs"])
    [1.0, 0.0]
    """
    counts = [Counter(_words(text)) for text in passages]
    frequency = Counter(word for words in counts for word in words)
    weight = {
        word: math.log((1 + len(passages)) / (1 + found)) + 1
        for word, found in frequency.items()
    }
    asked = {w: t * weight[w] for w, t in Counter(_words(query)).items() if w in weight}
    length = math.hypot(*asked.values()) if asked else 0.0
    scores = []
    for words in counts:
        mine = {word: t * weight[word] for word, t in words.items()}
        product = sum(value * mine.get(word, 0.0) for word, value in asked.items())
        norm = length * math.hypot(*mine.values()) if mine else 0.0
        scores.append(min(product / norm, 1.0) if norm else 0.0)
    return scores


def _words(text: str) -> list[str]:
    return [canonical(word) for word in tokenize([text]).words()]


def _check(found: Sequence[Any], fetch: int) -> list[Any]:
    if isinstance(found, str | bytes):
        given = "one string" if isinstance(found, str) else "bytes"
        raise InvalidParameterError("search", given, "a list of passages")
    if not isinstance(found, Iterable) or isinstance(found, Set | Mapping):
        allowed = "a list of passages, best first"
        raise InvalidParameterError("search", type(found).__name__, allowed)
    values = list(found)
    if len(values) > fetch:
        allowed = f"at most {fetch}, as it was asked"
        raise InvalidParameterError("search", f"{len(values)} passages", allowed)
    return values


def _list_texts(
    values: Sequence[Any], text_of: Callable[[Any], str] | None
) -> list[str]:
    """Take the text out of each passage; errors name the type and place alone."""
    texts = []
    for place, value in enumerate(values):
        text = value if text_of is None else text_of(value)
        if not isinstance(text, str):
            name, allowed = f"text_of of passage {place}", "a string"
            if text_of is None:
                name = f"passage {place}"
                allowed = "a string, or pass text_of= to take its text out"
            raise InvalidParameterError(name, type(text).__name__, allowed)
        texts.append(text)
    return texts


def _scores(score: Score, query: str, texts: Sequence[str]) -> list[float]:
    if not texts:
        return []
    try:
        scores = [float(value) for value in score(query, texts)]
    except Exception as error:  # its message may hold the true question
        kind = type(error).__name__
        raise MondegreenError(f"the score function failed: {kind}") from None
    if len(scores) != len(texts) or not all(map(math.isfinite, scores)):
        allowed = f"a finite number for each of {len(texts)} passages"
        raise InvalidParameterError("score", "others", allowed)
    return scores
