"""Studies for tests: made up, of the shape that real ones have."""

from __future__ import annotations

import math

from mondegreen.calibration.score_bounds import ScoreBounds
from mondegreen.report.study import SampleRelease, Study

EPSILONS = (0.5, 1.0, 2.0, 4.0)


def measurement(mechanism="tem", epsilon=1.0, *, spread=0.0, without=(), **more):
    """Return what a switch at epsilon 1.5 would look like, exact unless spread."""
    stay = 1 / (1 + math.exp(6 - 4 * epsilon))
    middles = {
        "n_w_mean": stay,
        "n_w_95": min(1.0, stay * 1.2),
        "n_w_sample": stay * 0.9,
        "s_w_05": 1 + 999 * (1 - stay),
        "bayes_risk_uniform": 0.999 * (1 - stay),
        "bayes_risk_sample": 0.9 * (1 - stay),
        "prior_risk_uniform": 0.999,
        "prior_risk_sample": 0.9,
        "utility_loss_uniform": 9 * (1 - stay),
        "utility_loss_sample": 8 * (1 - stay),
        "utility_loss_share_uniform": 1 - stay,
        "utility_loss_share_sample": 0.95 * (1 - stay),
        "certified_epsilon": 0.9 * epsilon,
        "near_loss": 4.5 * epsilon,
        "worst_loss": 15 * epsilon,
    }
    fields = {
        "mechanism": mechanism,
        "parameters": {},
        "epsilon": epsilon,
        "metric": "Euclidean distance",
        "is_exact": not spread,
        "scores": {
            name: (value * (1 - spread), value * (1 + spread))
            for name, value in middles.items()
            if name not in without
        },
        "n_w": tuple(stay * place / 100 for place in range(101)),
        "s_w": tuple(1 + 9.99 * place for place in range(101)),
        "worst": (("hapax", stay), ("rare", stay * 0.9)),
    }
    return ScoreBounds(**{**fields, **more})


def study(mechanisms=("calibrated", "tem"), epsilons=EPSILONS, **more):
    """Return a study of every mechanism at every epsilon, and a choice."""
    found = tuple(measurement(name, each) for name in mechanisms for each in epsilons)
    fields = {
        "space": "toy",
        "space_digest": "0" * 64,
        "vocab_size": 1000,
        "measurements": found,
        "scale": {"closest": 1.0, "nearest": 5.0, "mean": 9.0, "diameter": 16.0},
        "sample": "tweets",
        "sample_texts": 7613,
        "sample_words": 100_000,
        "chosen": found[0],
        "target": "at most a third of the words stay",
        "neighbours": {
            "k": [1, 2, 5],
            "percentiles": [5, 50, 95],
            "distances": [[1, 2, 3], [2, 3, 4], [3, 4, 5]],
            "words": 500,
            "vocab_size": 1000,
        },
        "sentences": ("I met Ann.", "It was cold."),
        "releases": tuple(
            SampleRelease(name, {}, each, ("i saw bob.", "it was hot."))
            for name in mechanisms
            for each in epsilons
        ),
        "seed": 1,
        "version": "0.0",
    }
    return Study(**{**fields, **more})


def bare():
    """Return a study of which nothing is known but that it was made."""
    return Study(space="toy", space_digest="", vocab_size=1, measurements=())
