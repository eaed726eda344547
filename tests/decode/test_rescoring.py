"""A model that judges sentences chooses among what the trigrams propose."""

import numpy as np
from tests.decode.conftest import WORDS
from tests.decode.test_decoder import released

from mondegreen.decode.decoder import Decoder
from mondegreen.decode.released import Released
from mondegreen.decode.rescoring import rescore

NAMES = [f"w{i}" for i in range(WORDS)]


class Judge:
    """Likes one word."""

    def __init__(self, liked, weight):
        self.liked, self.weight = liked, weight

    def log_probs(self, sentences):
        assert all(word in NAMES for sentence in sentences for word in sentence)
        return np.array([self.weight * s.count(self.liked) for s in sentences], float)


def test_the_judge_decides_where_the_channel_leaves_it_open(language, channel):
    decoder = Decoder(channel, language)
    rng = np.random.default_rng(0)
    seen = released(*(rng.integers(0, WORDS, 3).tolist() for _ in range(60)))
    liked = [
        int((rescore(decoder, seen, Judge("w2", weight), NAMES) == 2).sum())
        for weight in (-20.0, 0.0, 20.0)
    ]
    assert liked[0] < liked[1] < liked[2]


def test_it_repeats_itself_and_keeps_codes(language, channel):
    decoder = Decoder(channel, language)
    seen = released([3, 1, -1, 2], [0, -2, 4])
    first, again = (rescore(decoder, seen, Judge("w1", 1.0), NAMES) for _ in range(2))
    assert first.tolist() == again.tolist()
    assert first[2] == -1
    assert first[5] == -2


def test_the_channel_scores_inputs(language, law, channel):
    decoder = Decoder(channel, language)
    outputs, inputs = [3, 1, 0], np.array([0, 4, 2], dtype=np.int32)
    scores = decoder.log_law(released(outputs), inputs)
    assert np.abs(scores - np.log(law[inputs, outputs])).max() < 1e-3


def test_a_sentence_is_read_the_same_whatever_is_beside_it(language, channel):
    decoder = Decoder(channel, language)
    rng = np.random.default_rng(0)
    sentences = [
        released(rng.integers(0, WORDS, 2 + i % 4).tolist()) for i in range(30)
    ]
    alone = [rescore(decoder, each, Judge("w1", 1.0), NAMES) for each in sentences]
    together = Released(
        np.concatenate([each.ids for each in sentences]),
        np.concatenate([each.ends for each in sentences]),
    )
    both = rescore(decoder, together, Judge("w1", 1.0), NAMES)
    np.testing.assert_array_equal(both, np.concatenate(alone))
