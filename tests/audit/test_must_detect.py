"""The must-detect list: each mistake is caught, and its sound version is not.

A sound version is called broken with probability at most ``ALPHA`` (1e-3) an audit;
the seeds are fixed, and nothing is retried.
"""

from __future__ import annotations

import pytest
from mutants import ALPHA, MUTANTS, evidence_of

NEEDED = [
    "literal Vickrey",
    "candidates that depend on the input",
    "wrong bottom weight in TEM",
    "input returned on failure",
    "re-normalised Mahalanobis direction",
    "squared distances",
    "Gaussian instead of Laplace",
    "ball instead of sphere",
    "Gamma(n - 1)",
    "epsilon doubled",
    "fixed seed",
    "noise reused across workers",
    "unknown words verbatim",
    "lost tails, float32",
    "lost tails, 53 bits",
    "urr: noise too small",
    "krr: noise too small",
    "urr: noise too small, outputs only",
    "urr: a sampler of another law",
    "krr: wrong stray probability, outputs only",
    "urr: strays that avoid a group, outputs only",
    "urr: an ordinary word that never hides",
    "urr: an ordinary word that is never sampled anew",
    "a group that is not uniform",
    "a word of a group that is never printed",
    "numbers that are not uniform",
    "a word that hides in another group",
]
BY_DEFAULT = (  # one of each way to audit, and too little noise in each kind of law
    "literal Vickrey",
    "candidates that depend on the input",
    "squared distances",
    "lost tails, 53 bits",
    "Gaussian instead of Laplace",
    "ball instead of sphere",
    "Gamma(n - 1), against its law",
    "epsilon doubled",
    "epsilon doubled, outputs only",
    "fixed seed",
    "unknown words verbatim",
    "krr: noise too small",
)
every = pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
slow = pytest.mark.slow("audits", but=BY_DEFAULT)


def test_the_list_is_complete():
    assert set(NEEDED) <= {mutant.name for mutant in MUTANTS}
    assert ALPHA == 1e-3


@slow
@every
def test_a_mistake_is_caught(mutant):
    report = mutant.broken(0)
    assert report.verdict == "broken"
    assert evidence_of(report)


@slow
@every
def test_the_sound_version_passes(mutant):
    report = mutant.sound(1)
    assert report.verdict in ("holds", "not rejected")
    assert report.found <= report.claimed * (1 + 1e-9)


@pytest.mark.long
@every
def test_the_sound_version_passes_on_many_seeds(mutant):
    assert not any(mutant.sound(seed).is_broken for seed in range(2, 30))
