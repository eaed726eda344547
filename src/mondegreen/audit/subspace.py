"""A part of a space, on which exact methods apply."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mondegreen.errors import InvalidParameterError, SpaceError, SpaceIntegrityError
from mondegreen.space.codes import Codes
from mondegreen.space.space import Space
from mondegreen.space.store import load_codes


def subspace(space: Space, words: int) -> Space:
    """Take so many words of a space, evenly chosen, so that exact methods apply."""
    if words >= space.vocab_size:
        return space
    if words < 1:
        raise InvalidParameterError("words", words, "at least 1")
    ids = np.unique(np.linspace(0, space.vocab_size - 1, words).astype(np.int32))
    names = [space.words[i] for i in ids]
    name = f"{space.name}-{len(ids)}-words"
    codes = None
    try:
        whole = load_codes(space)
        codes = Codes.of(whole.table[ids], whole.unknown, whole.method)
    except SpaceIntegrityError:
        raise
    except SpaceError:  # the space has none
        pass
    if not space.has_vectors and codes is not None:
        return Space.from_codes(name, names, codes)
    part = Space.from_arrays(name, names, space.vectors[ids], metric=space.metric)
    return part if codes is None else replace(part, codes=codes)
