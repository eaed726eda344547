"""How often a word is printed again: counted at its own place, and nowhere else."""

from mondegreen.scores.printed import CARRIERS, count_printed


def test_every_carrier_has_one_place():
    assert all(carrier.count("{}") == 1 for carrier in CARRIERS)


def test_half_of_the_releases_that_print_it_count_half():
    def release(texts):
        return [t.replace("flu", "pox") if i % 2 else t for i, t in enumerate(texts)]

    found = count_printed("flu", release, 400)
    assert found.value == 0.5
    assert found.low < 0.5 < found.high


def test_the_word_at_another_place_does_not_count():
    def release(texts):
        return [text.replace("flu", "pox") + " flu" for text in texts]

    assert count_printed("flu", release, 80).value == 0
