"""The searches that a noise mechanism can decode with, by name."""

from __future__ import annotations

from typing import Final

from mondegreen.arrays import Vectors
from mondegreen.errors import InvalidParameterError
from mondegreen.space.neighbours.base import NeighbourSearch

__all__ = ["DECODERS", "check_decoder", "decoder_search"]

DECODERS: Final = ("exact", "fast", "torch")


def check_decoder(decoder: str) -> None:
    """Refuse a name that is no decoder's."""
    if decoder not in DECODERS:
        raise InvalidParameterError("decoder", decoder, " or ".join(DECODERS))


def decoder_search(decoder: str, vectors: Vectors) -> NeighbourSearch:
    """Build a search over public vectors; libraries are imported here.

    Parameters
    ----------
    decoder : {"exact", "fast", "torch"}
        Exhaustive float32 search with faiss; the same words through 8-bit products;
        exhaustive float32 search with torch, on a GPU where there is one.
    vectors : array, shape (V, n)
        Public vectors of the words.

    Raises
    ------
    MissingExtraError
        If torch is needed and not installed.
    """
    if decoder == "fast":
        from mondegreen.space.neighbours.certified import CertifiedSearch

        return CertifiedSearch(vectors)
    if decoder == "torch":
        from mondegreen.space.neighbours.torch import TorchSearch

        return TorchSearch(vectors)
    from mondegreen.space.neighbours.faiss import FaissSearch

    return FaissSearch(vectors)
