"""Who learns from a half of the rows learns from every person of a conversation."""

import mondegreen as mg
from mondegreen.attacks.any_tool.labels import infer_labels
from mondegreen.attacks.any_tool.rows import Given, read_rows
from mondegreen.attacks.any_tool.run import read_release
from mondegreen.attacks.related_rows import Beside
from mondegreen.language.store import load_language


def test_the_reader_knows_the_words_of_customers_where_agents_speak_in_turn():
    # "zolpidix" is in no vocabulary: who does not hear a customer say it never guesses.
    said = "Good morning, this is the pharmacy.", "I take zolpidix for my insomnia."
    hidden = said[0], "I take [DRUG] for my insomnia."
    rows = [
        Given(i + 1, said[i % 2], hidden[i % 2], [(7, 15, "DRUG")] * (i % 2))
        for i in range(40)
    ]
    found = read_release(rows, load_language(), mg.load_space())
    assert found["survivors"].value == 0
    assert found["reader"].value == 1
    assert found["reader"].n == 20


def test_labels_are_guessed_from_all_questions_of_a_survey():
    # Each person answers five questions; the words of a question stand in it alone.
    good = "tasty", "clean", "quick", "quiet", "cheap"
    bad = "bland", "dirty", "slow", "loud", "costly"
    rows = [
        Given(i + 1, words[i % 5], words[i % 5], label=label)
        for i in range(200)
        for label, words in [("no", bad) if i // 5 % 3 else ("yes", good)]
    ]
    found = infer_labels([*read_rows(rows)])
    assert found is not None
    assert found.value is not None
    assert found.value > 0.95 > 0.7 > found.chance


def test_signs_that_replace_a_word_are_no_word():
    # What is left of two short masks is read as a word, and has none.
    texts = [
        ("The powers US, UK, and Spain", "The powers **, **, and *****"),
        ("She has asthma in Leeds.", "She has ****** in *****."),
    ]
    rows = [
        Given(number, *text, beside=Beside(number, {}))
        for number, text in enumerate(texts, 1)
    ]
    found = read_release(rows, load_language(), mg.load_space())
    assert found["reader"].value == 0
