"""dp-diffractor with one list as callables; runs in an environment of its own."""

import os
import secrets

from diffractor import Diffractor, DiffractorConfig

EPSILON = float(os.environ["PEERS_EPSILON"])
_made = {}


def _call(word, **options):
    key = str(options)
    if key not in _made:
        seed = {} if "seed" in options else {"seed": secrets.randbits(63)}
        if options.pop("default_seed", False):
            seed = {}
        config = DiffractorConfig(epsilon=EPSILON, verbose=False, **seed, **options)
        _made[key] = Diffractor(config, model_names=[os.environ["PEERS_MODEL"]])
    return _made[key].rewrite(word)[0]


def default(word):
    """As constructed, with its own seed."""
    return _call(word, default_seed=True)


def geometric(word):
    """With a fresh seed, and stop words privatized."""
    return _call(word, replace_stopwords=True)


def tem(word):
    """Call the other method."""
    return _call(word, replace_stopwords=True, method="TEM")


def misspelt(word):
    """With a method name that does not exist."""
    return _call(word, replace_stopwords=True, method="laplace")
