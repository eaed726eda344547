"""pypantera as callables ``word -> word``; runs in an environment of its own.

Runs of an audit must be independent. Where a mechanism keeps something between calls
(the random vector of an unknown word), it is forgotten before each call, as in a fresh
process.
"""

import os
from pathlib import Path

import src  # the name under which the wheel installs itself
from src.EmbeddingPerturbationMechanism.cmp import CMP
from src.EmbeddingPerturbationMechanism.mahalanobis import Mahalanobis
from src.EmbeddingPerturbationMechanism.vickrey import VickreyCMP
from src.SamplingPerturbationMechanism.custext import CusText
from src.SamplingPerturbationMechanism.santext import SanText
from src.SamplingPerturbationMechanism.tem import TEM

assert src.__file__ is not None

EPSILON = float(os.environ["PEERS_EPSILON"])
BUILD = {"embPath": os.environ["PEERS_HEADLESS"], "epsilon": EPSILON}
_made = {}


def _mechanism(cls, options):
    key = cls.__name__, str(options)
    if key not in _made:
        mechanism = cls({**BUILD, **options})
        _made[key] = mechanism, set(mechanism.vocab.embeddings)
        lines = Path(BUILD["embPath"]).read_text().splitlines()
        assert len(_made[key][1]) == len(lines), "the loader lost words"
    mechanism, known = _made[key]
    for word in set(mechanism.vocab.embeddings) - known:
        del mechanism.vocab.embeddings[word]
    return mechanism


def _noise(cls, word, **options):
    mechanism = _mechanism(cls, options)
    return mechanism.processText(mechanism.noisyEmb([word]))


def cmp(word):
    """Call CMP."""
    return _noise(CMP, word)


def mahalanobis(word):
    """Call Mahalanobis."""
    return _noise(Mahalanobis, word, lam=0.2)


def mahalanobis_long(word):
    """Call Mahalanobis with more of the covariance."""
    return _noise(Mahalanobis, word, lam=0.9)


def vickrey(word):
    """Call Vickrey."""
    return _noise(VickreyCMP, word, t=0.5)


def tem(word):
    """Call TEM."""
    return _mechanism(TEM, {"beta": 0.001}).processText([word])


def tem_wide(word):
    """With a larger chance to leave the neighbourhood."""
    return _mechanism(TEM, {"beta": 0.5}).processText([word])


def santext(word):
    """Call SanText."""
    mechanism = _mechanism(SanText, {})
    mechanism.prob_matrix.clear()
    return mechanism.processText([word])


def custext(word):
    """Call CusText."""
    mechanism = _mechanism(CusText, {"k": 20, "distance": "euclidean"})
    mechanism._simWordDict.clear()
    mechanism._pDict.clear()
    return mechanism.processText([word])
