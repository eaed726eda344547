"""Words find their counterparts through deletions, masks, surrogates and rewriting."""

import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mondegreen.attacks.alignment import GONE, align, read_tokens


def aligned(original, release):
    """Pair words with what is printed for them."""
    tokens = read_tokens(release, original=original)
    words = read_tokens(original).keys
    found = align(words, tokens)
    return [
        (word, None if place == GONE else tokens.keys[place])
        for word, place in zip(words, found, strict=True)
    ]


@pytest.mark.parametrize(
    "mask",
    [
        *("[REDACTED]", "<PERSON>", "***", "[unk]", "{{NAME}}", "XXXX", "[NAME_1]"),
        *("<PERSON_2>", "█████", "____", "[Name]", "<unk>", "XXX-XX-XXXX"),
    ],
)
def test_a_mask_stands_for_the_words_that_it_hides(mask):
    found = aligned("I met Ann Smith in Oslo.", f"I met {mask} in Oslo.")
    assert [word for word, printed in found if printed == mask] == ["ann", "smith"]
    assert all(w == p for w, p in found if p != mask)
    assert read_tokens(mask, original="").is_mask == [True]


def test_a_mask_of_the_original_is_plain_text():
    text = "Press [CTRL] and call Ann."
    tokens = read_tokens("Press [CTRL] and call [NAME].", original=text)
    assert [k for k, m in zip(tokens.keys, tokens.is_mask, strict=True) if m] == [
        "[NAME]"
    ]


def test_deleted_words_have_no_counterpart():
    found = aligned("the old man and the sea by Ernest", "the man and the sea by")
    assert [word for word, printed in found if printed is None] == ["old", "ernest"]


def test_surrogates_of_another_length_stay_in_their_place():
    text = "Please call Ann Smith about the lease in Oslo today"
    release = "Please call Maria van der Berg about the lease in Rome today"
    found = dict(aligned(text, release))
    assert found["oslo"] == "rome"
    assert found["about"] == "about"
    assert found["ann"] in ("maria", "van", "der", "berg")


def test_a_rewritten_sentence_keeps_its_neighbors():
    text = "One two three. My doctor says I have asthma. Seven eight nine."
    release = "One two three. According to the doctor it is asthma. Seven eight nine."
    found = dict(aligned(text, release))
    for word in ("one", "three", "doctor", "asthma", "seven", "nine"):
        assert found[word] == word


def test_words_that_all_change_are_paired_by_their_place():
    rng = random.Random(0)
    words = [f"w{i}" for i in range(300)]
    noise = words.copy()
    rng.shuffle(noise)  # every word is in both texts once, out of order
    tokens = read_tokens(" ".join(noise))
    assert align(words, tokens) == list(range(300))


@given(st.lists(st.sampled_from("abcde"), max_size=30), st.data())
def test_counterparts_rise_and_deletions_alone_are_found(words, data):
    kept = [w for w in words if data.draw(st.booleans())]
    found = align(words, read_tokens(" ".join(kept)))
    places = [place for place in found if place != GONE]
    assert places == sorted(set(places))
    assert sum(place != GONE for place in found) == len(kept)
    assert all(kept[p] == words[i] for i, p in enumerate(found) if p != GONE)


@pytest.mark.slow("long texts")
def test_memory_grows_with_the_length_and_not_with_its_square():
    def peak(count):
        words = ["a", "b"] * count
        tokens = read_tokens(" ".join(["b", "c"] * count))
        tracemalloc.start()
        align(words, tokens)
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    peak(4)  # what is kept from the first call on is not of these texts
    small, large = peak(100), peak(400)  # both wider than the band
    assert large < 8 * small  # 5.4 times; with the whole square it is 10.8 times


@pytest.mark.parametrize("sign", [" ", ".", "-"])
def test_letters_that_are_set_apart_are_a_word_of_a_release(sign):
    text = "She has diabetes in the U.S.A. or A B C"
    release = text.replace("diabetes", sign.join("Diabetes"))
    tokens = read_tokens(release, original=text)
    assert tokens.keys == read_tokens(text).keys
    assert not any(tokens.is_mask)
    assert release[tokens.starts[2] : tokens.ends[2]] == sign.join("Diabetes")
    spelled = f"It is {sign.join('okay')} here"
    assert "okay" not in read_tokens(spelled, original=spelled).keys
    assert len(read_tokens(sign.join("abc"), original="").keys) == 3


@pytest.mark.parametrize("count", [1000, 1600, 5000, 40_000])
def test_a_release_may_be_far_longer_than_its_original(count):
    """Bands of neighboring words must meet, or the table of edits has holes."""
    for words in (["a"], ["a", "b"], ["a", "b", "c"], ["a", "b", "c"] * 3):
        found = align(words, read_tokens("x y " * count))
        assert found == sorted(found)
        assert len(set(found)) == len(words)
