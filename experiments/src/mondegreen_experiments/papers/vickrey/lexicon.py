"""Vickrey, product reviews: inference error and loss among words of opinion."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mondegreen.files import read_lines
from mondegreen.space.space import Space
from mondegreen_experiments.bench import Bench
from mondegreen_experiments.measures.neighbours import SETTINGS, Neighbours
from mondegreen_experiments.papers.vickrey.claims import LOSS, TS, WORDS
from mondegreen_experiments.reasons import either, other_vectors
from mondegreen_experiments.recipe import Found, Point, Published, Recipe


@functools.lru_cache(maxsize=4)
def opinions(bench: Bench, vectors: str) -> tuple[Space, NDArray[np.bool_]]:
    """A space of the words of the lexicon, and which of them are positive."""
    found: dict[str, bool] = {}
    for name in ("positive", "negative"):
        for word in read_lines(bench.path(f"opinion_lexicon/{name}-words.txt")):
            if word and not word.startswith(";"):
                found[word] = name == "positive"
    words, table = bench.vectors(vectors)
    place = {word: i for i, word in enumerate(words)}
    known = [word for word in found if word in place]
    space = Space.from_arrays("opinions", known, table[[place[each] for each in known]])
    return space, np.array([found[word] for word in known])


@functools.lru_cache(maxsize=5)
def _near(
    bench: Bench, vectors: str, noise: str, epsilon: float, runs: int, seed: int
) -> Neighbours:
    """All runs of all words: kept, since every choice among neighbors needs them."""
    space, _ = opinions(bench, vectors)
    inputs = np.tile(np.arange(space.vocab_size, dtype=np.int32), runs)
    rng = np.random.default_rng(seed)
    return Neighbours.of(space, noise, epsilon, inputs, rng)


def measure(bench: Bench, point: Point, seed: int) -> Found:
    """E_M by the posterior of one half of the runs on the other; L_M, flips of opinion.

    All words are equally likely. ``e_bayes`` is the error of the adversary that names
    the most likely word instead of drawing from the posterior, as the paper's does: at
    most half of E_M below it, and the stronger one. ``promise`` is what is proved.
    """
    space, signs = opinions(bench, str(point["vectors"]))
    noise, choice = SETTINGS[str(point["law"])]
    epsilon, runs = float(point["epsilon"]), int(point["runs"])
    near = _near(bench, str(point["vectors"]), noise, epsilon, runs, seed)
    e_m, e_bayes = near.errors(choice)
    promise = choice.mechanism(noise, epsilon).prepare(space).guarantee
    everyone = np.arange(space.vocab_size)
    return {
        "e_m": e_m,
        "e_bayes": e_bayes,
        "l_m": 1 - float(near.alike(choice, signs).mean()),
        "n_w": float(near.alike(choice, everyone).mean()),
        "promise": f"{epsilon:g} per unit" if promise.is_proved else "infinite loss",
    }


def _grid(
    vectors: str, epsilons: Sequence[int], runs: int, laws: Sequence[str]
) -> list[Point]:
    """A grid where laws that share their noise follow each other."""
    order = sorted(laws, key=lambda law: SETTINGS[law][0])
    return [
        {"law": law, "vectors": vectors, "epsilon": epsilon, "runs": runs}
        for noise, epsilon in itertools.product(("Laplace", "Mahalanobis"), epsilons)
        for law in order
        if SETTINGS[law][0] == noise
    ]


_MAIN: Final = ("Laplace", "Mahalanobis", *TS)
_QUICK, _FULL = (5, 10, 15, 20, 40, 100), (5, 10, 15, 20, 30, 40, 60, 80, 100)
_FEWER_WORDS: Final = (
    "4,074 of the paper's 6,789 words have a vector here; how often a second neighbor "
    "is taken, and has the other sign, depends on both"
)
_REGULARIZED: Final = (
    "4,074 of the paper's 6,789 words have a vector here; our distance is regularized "
    "(lambda 0.2), and the paper prints it without"
)

RECIPE: Final = Recipe(
    name="vickrey-lexicon",
    shares=(
        "e_m",
        "e_bayes",
        "l_m",
        "n_w",
    ),
    paper="Xu et al. 2021",
    title="Inference error and loss among the words of opinion",
    differs=(
        "The paper has 300-d GloVe and fastText for all 6,789 words; here are the "
        "4,074 that the embedded GloVe 840B has, and 5,947 with vectors of film "
        "reviews for fastText (where a nearest neighbor has the other sign for one "
        "word in 4, so that losses are larger). The mechanism may return the word "
        "itself, as the theorem needs; 'printed' may not. Given a noisy point the "
        "chance of each output is known, so outputs are weighted by it and not drawn."
        " E_M is measured on other runs than those that the posterior was counted on."
        " Figure 3 always takes the k-th neighbor of the noisy point, and so do "
        "'neighbor 2' to 'neighbor 5' here. Quick: 8 noisy points a word, not 100 "
        "runs, and fewer epsilons."
    ),
    measure=measure,
    points={
        "quick": [
            *_grid("glove-300", _QUICK, 8, tuple(SETTINGS)),
            *_grid("w2v-300", (100,), 6, _MAIN),
        ],
        "full": [
            *_grid("glove-300", _FULL, 100, tuple(SETTINGS)),
            *_grid("w2v-300", _FULL, 100, _MAIN),
        ],
    },
    seeds={"quick": 3, "full": 5},
    data=("opinion_lexicon", "vectors"),
    published=[
        Published(
            "Product reviews, least loss at epsilon 100",
            {"law": law, "vectors": "glove-300", "epsilon": 100, "runs": runs},
            "l_m",
            loss,
            0.01,
            either(
                other_vectors,
                _REGULARIZED if law == "Mahalanobis" else _FEWER_WORDS,
            ),
        )
        for runs in (8, 100)
        for law, loss in LOSS.items()
    ],
    shapes=WORDS,
    axes=("l_m", "law", "e_m"),
    spaces=lambda point: [str(point["vectors"])],
    version=3,
)
