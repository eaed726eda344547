"""A warning of texts whose words are hardly in the vocabulary: another language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from mondegreen.cli.render import say
from mondegreen.text.tokenizer import canonical

if TYPE_CHECKING:
    import pyarrow as pa

    from mondegreen.io.base import AbstractSource
    from mondegreen.privatizer.privatizer import Privatizer

_TEXTS: Final = 200
_FEWEST_WORDS: Final = 10
_SHARE: Final = 0.6
"""Known words of English text: 82 to 97 of 100 on tweets, messages, reviews and news;
of German, Spanish and French sentences, 35 to 55."""

_words = re.compile(r"[^\W\d_]+").findall


def warn_of_other_language(
    source: AbstractSource, privatizer: Privatizer, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Pass batches on; look at the first one, before any of it is written, and warn.

    The warning is for the owner of the texts. It is in no report: a share of unknown
    words depends on private words.
    """
    for number, batch in enumerate(batches):
        if not number:
            _warn(privatizer, source.texts(batch.slice(0, _TEXTS)))
        yield batch


def _warn(privatizer: Privatizer, texts: Iterable[str]) -> None:
    found = [word for text in texts for word in _words(text)]
    if len(found) < _FEWEST_WORDS:
        return
    policy = privatizer.policy
    known = privatizer.space.index if policy is None else policy.symbols
    share = sum(canonical(word) in known for word in found) / len(found)
    if share < _SHARE:
        say(
            f"Warning: only {100 * share:.0f} of 100 words of the first texts are in "
            "the vocabulary, which is English unless it is your own. Other words are "
            "replaced too, so the release may be of little use.",
        )
