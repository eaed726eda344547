"""Texts of which an attacker knows one half, and reads the release of the other."""

import numpy as np

import mondegreen as mg
from mondegreen.attacks.parts import draw_parts
from mondegreen.attacks.sensitive import (
    InDomainReader,
    guess_hidden_words,
    sensitive_words,
)
from mondegreen.policy.policy import load_policy
from mondegreen.text.tokenizer import tokenize


def attack_half(texts, **more):
    """Read half of the texts, with the other half as the corpus."""
    halves = draw_parts(len(texts))
    own, known = (
        [text for text, part in zip(texts, halves, strict=True) if part == half]
        for half in (0, 1)
    )
    policy, rng = load_policy("sensitive"), np.random.default_rng(4)
    state = mg.mechanism("urr", epsilon=14.0).prepare(policy.alphabet)
    reader, batch = InDomainReader(policy, known, state.response), tokenize(own)
    released = state.sample(reader.lookup.codes(batch), rng)
    guesses = guess_hidden_words(reader, batch, released, **more)
    return sensitive_words(batch, guesses)
