"""A mechanism refuses a space that it is not made for, and says what to do."""

from __future__ import annotations

import numpy as np
import pytest

import mondegreen as mg
from mondegreen.errors import SpaceError
from mondegreen.space.binarize import with_codes

POINTS = np.random.default_rng(0).uniform(-0.4, 0.4, size=(20, 3))
WORDS = [f"w{i}" for i in range(20)]
EVERY = [cls for cls in mg.mechanisms() if cls.space_metrics and cls.name != "brr"]
every = pytest.mark.parametrize("cls", EVERY, ids=lambda cls: cls.name)


def space_of(metric):
    return mg.Space.from_arrays(metric, WORDS, POINTS, metric=metric)


@every
@pytest.mark.parametrize("metric", ["euclidean", "poincare"])
def test_the_metric_decides(cls, metric):
    mechanism = cls(epsilon=200.0)
    if metric in cls.space_metrics:
        state = mechanism.prepare(space_of(metric))
        expected = {"euclidean": "Hyperbolic", "poincare": "Euclidean"}[metric]
        assert expected.lower() not in state.guarantee.metric.lower()
        return
    hint = "calibrated" if metric == "poincare" else "--metric poincare"
    with pytest.raises(SpaceError, match=hint):
        mechanism.prepare(space_of(metric))


@every
def test_codes_alone_serve_binary_mechanisms_only(cls):
    coded = with_codes(space_of("euclidean"), bits=8)
    alone = mg.Space.from_codes("codes", coded.words, coded.codes)
    with pytest.raises(SpaceError, match="no vectors: use brr"):
        cls(epsilon=200.0).prepare(alone)
    assert mg.mechanism("brr", epsilon=1.0).prepare(alone).space is alone


def test_brr_needs_codes_whatever_the_metric():
    brr = mg.mechanism("brr", epsilon=1.0)
    for metric in ("euclidean", "poincare"):
        with pytest.raises(SpaceError, match="mondegreen space binarize"):
            brr.prepare(space_of(metric))
        state = brr.prepare(with_codes(space_of(metric), bits=8))
        assert state.guarantee.metric == "Hamming distance of 8-bit codes"
