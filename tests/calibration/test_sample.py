"""The sample that settings are measured on holds all speakers of a conversation."""

from mondegreen.calibration.policies import PolicySample
from mondegreen.calibration.sample import Passage


def test_parts_of_a_conversation_hold_what_both_speakers_say():
    texts = ["agent", "customer"] * 2000
    sample = PolicySample.of("x", texts)
    for part in (sample.corpus, sample.look, sample.check):
        assert 0.4 < part.count("agent") / len(part) < 0.6


def test_a_passage_of_a_conversation_holds_what_both_speakers_say():
    texts = ["agent", "customer"] * 2000
    passage = Passage(100)
    passage.add(texts, [1] * len(texts))
    assert 25 < len(passage.texts) <= 100
    assert 0.3 < passage.texts.count("agent") / len(passage.texts) < 0.7


def test_a_passage_keeps_one_text_that_is_too_long_and_the_order_of_others():
    passage = Passage(10)
    for text in "abc":
        passage.add([text], [1000])
    assert len(passage.texts) == 1
    many = Passage(50)
    many.add([f"{i:03}" for i in range(400)], [1] * 400)
    assert many.texts == sorted(many.texts)
    assert 12 < len(many.texts) <= 50
