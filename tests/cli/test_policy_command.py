"""``mondegreen policy`` and ``explain --policy``: lists, and exact odds."""

import json
import math
import re
from pathlib import Path

import pytest

from commands import run_command
from mondegreen.policy.policy import load_policy
from mondegreen.settings import Settings

KEYS = {"word", "class", "group", "hides_among", "outputs", "examples", "at_start"} | {
    "known_words",
    "capitalized",
    "in_capitals",
}


run = run_command


def found(*arguments):
    return json.loads(run(*arguments, "--json").stdout)


def show(*words, **options):
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    given = ["policy", "show", "--json", *flags, "--", *words]
    return json.loads(run(*given).stdout)


def test_a_word_in_capitals_is_shown_as_in_a_line_in_capitals():
    (us,), (price,), (hello,) = show("US"), show("PRICE"), show("HELLO")
    assert us["class"] == "place"
    assert us["in_capitals"]["class"] == "ordinary"
    assert price["class"] == "surname"
    assert price["in_capitals"] is hello["in_capitals"] is None
    assert "in a line in capitals: ordinary" in run("policy", "show", "US").stdout


def test_list_counts_what_each_policy_shows():
    rows = {row["name"]: row for row in found("policy", "list")}
    assert set(rows) == {"sensitive", "names", "all"}
    for name in ("sensitive", "names"):
        assert rows[name]["ordinary"] == len(load_policy(name).ordinary)
    assert rows["sensitive"]["ordinary"] < rows["names"]["ordinary"]
    assert "sensitive" in run("policy", "list").stdout


def test_info_has_every_class_with_its_groups():
    facts = found("policy", "info", "names")
    assert facts["digest"] == load_policy("names").digest
    classes = {row["class"]: row for row in facts["classes"]}
    assert classes["health"]["is_open"]
    assert not classes["surname"]["is_open"]
    assert sum(row["groups"] for row in classes.values()) == facts["groups"]
    assert "digest" in run("policy", "info").stdout


@pytest.mark.parametrize("name", ["sensitive", "names"])
def test_one_number_is_what_a_word_hides_among(name):
    """The smallest group is the same in the guarantee, the lists and for its words."""
    flags = ["--policy", name]
    word = "Easter"
    shown = {each["word"]: each["hides_among"] for each in show(word, policy=name)}
    facts = found("policy", "info", name)
    least = facts["hides_among"]
    # Number words, weekdays and months are formats, which are smaller.
    formats = ("format", "number_word", "time")
    groups = [r["least"] for r in facts["classes"] if r["class"] not in formats]
    assert shown[word] == least <= min(each for each in groups if each)
    assert facts["hide_among"] == Settings().hide_among > least
    table = run("policy", "info", name).stdout
    assert re.search(rf"smallest group \(without numbers and dates\) +{least}\n", table)
    assert re.search(r"target for a group \(--hide-among\) +100\n", table)
    among = f"hides among the {least} words of group"
    assert among in run("policy", "show", word, *flags).stdout
    stated = run("explain", word, "-e", "12", *flags).stdout
    assert f"hides among at least {least} words of its group" in stated
    page = Path(__file__).parents[2] / "docs" / "how-to" / "choose-a-policy.md"
    text = " ".join(page.read_text("utf-8").split())
    assert f"*smallest group of words* has {least} words in" in text


def test_show_says_of_tokens_as_spelled_what_they_are():
    the, illness, may, unknown = show("the", "diabetes", "May", "zorblax")
    assert set(the) >= KEYS
    assert (the["class"], the["hides_among"], the["examples"]) == (
        "ordinary",
        None,
        ["the"],
    )
    assert illness["class"] == "health"
    assert illness["hides_among"] == illness["outputs"] >= len(illness["examples"])
    assert illness["known_words"] > illness["hides_among"]
    assert len(illness["examples"]) == 10
    assert may["class"] == "time"
    assert may["at_start"]["class"] == "ordinary"
    assert not unknown["is_known"]
    assert unknown["class"] == "rest"


def test_one_digit_is_singular():
    assert "format '1 digit'; hides among all 10" in run("policy", "show", "7").stdout


def test_show_says_what_a_name_is_behind_a_full_stop_and_behind_a_sign():
    (hope,), (will,), (small,) = (show(word) for word in ("Hope", "Will", "hope"))
    assert hope["at_start"]["class"] == "ordinary"
    assert hope["behind_stop"]["class"] == hope["behind_sign"]["class"] == "first_name"
    assert will["behind_stop"] is None  # as a first word, which "Will" often is
    assert will["behind_sign"]["class"] == "first_name"
    assert small["behind_stop"] is small["behind_sign"] is None
    told = run("policy", "show", "Hope").stdout
    assert "behind a full stop, as in Mr. Hope: first_name" in told
    assert "after a sign, as in (Hope), or alone on a line: first_name" in told


def test_show_looks_at_each_token_of_an_argument():
    words = [each["word"] for each in show("anna@example.org", "+49 170", "12/05/2021")]
    assert words == ["anna", "example", "org", "49", "170", "12/05/2021"]
    groups = [each["group"] for each in show("12/05/2021", "12")]
    assert groups[0] != groups[1]  # the slashes make a date of numbers


def test_show_takes_the_options_of_a_policy(tmp_path):
    (tmp_path / "own.txt").write_text("zorblax\n")
    (opened,) = show("diabetes", open="health")
    (added,) = show("zorblax", ordinary=tmp_path / "own.txt")
    (hidden,) = show("zorblax", sensitive=tmp_path / "own.txt")
    (names,) = show("diabetes", policy="names")
    assert {opened["class"], added["class"], names["class"]} == {"ordinary"}
    assert hidden["class"] == "rest"


def test_an_own_word_that_is_a_name_is_reported_with_its_spelling(tmp_path):
    small, capital = tmp_path / "small.txt", tmp_path / "capital.txt"
    small.write_text("port\nrouter\n")
    capital.write_text("Port\nrouter\n")
    (port,) = show("port", ordinary=small)
    assert (port["class"], port["capitalized"]["class"]) == ("ordinary", "place")
    (port,) = show("port", ordinary=capital)
    assert (port["class"], port["capitalized"]) == ("ordinary", None)
    line = "as Port inside a sentence: place"
    assert line in run("policy", "show", "port", "--ordinary", small).stdout
    done = run("explain", "port", "-e", "12", "--ordinary", small)
    assert line in done.stdout
    assert "still replaced if they have a capital: Port. To show" in done.stderr
    assert "still replaced" not in run("explain", "port", "-e", "12").stderr
    done = run("explain", "Port", "-e", "12", "--ordinary", capital)
    assert "ordinary, shown" in done.stdout
    assert "still replaced" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["policy", "show", "x", "--policy", "all"], "mondegreen explain WORD"),
        (["policy", "show", "..."], "no WORD"),
        (["policy", "show", "x", "--open", "illness"], "choose one of"),
        (["explain", "the cat", "--policy", "names", "-e", "12"], "policy show"),
        (["explain", "x", "--policy", "names", "-e", "12", "--read", "words"], "guess"),
        (
            ["explain", "x", "--policy", "names", "-e", "12", "--plot", "x.svg"],
            "--json",
        ),
        (["explain", "x", "--policy", "names", "-e", "12", "--space", "x"], "policy"),
    ],
)
def test_what_a_policy_does_not_have_is_refused(arguments, says):
    assert says in run(*arguments, expect=2).stderr


@pytest.mark.slow("two policies of the whole vocabulary")
def test_diff_lists_the_words_that_change_class():
    rows = found("policy", "diff", "sensitive", "sensitive", "--open", "health")
    changes = {(row["from"], row["to"]): row for row in rows}
    # With a capital inside a sentence, an ordinary word is a part of some name.
    assert set(changes) == {("health", "ordinary"), ("health", "other_name")}
    shown = changes["health", "ordinary"]
    assert "diabetes" in shown["words"]
    assert shown["count"] == len(shown["words"])
    assert "no word changes" in run("policy", "diff", "names", "names").stdout
    names = found("policy", "diff", "sensitive", "names")
    assert ("ordinary", "rest") not in {(row["from"], row["to"]) for row in names}


def explain(word, mechanism="urr", policy="sensitive"):
    flags = ["--policy", policy, "-m", mechanism, "-e", "12"]
    return found("explain", word, *flags)


@pytest.mark.parametrize("mechanism", ["urr", "krr"])
@pytest.mark.parametrize("word", ["diabetes", "the", "Okafor", "4711", "7", "ab12"])
def test_chances_of_a_word_sum_to_one(word, mechanism):
    law = explain(word, mechanism)
    assert law["stay"] + sum(law["become"].values()) == pytest.approx(1)
    listed = {each["word"].lower(): each["probability"] for each in law["outputs"]}
    assert listed.get(word.lower(), law["stay"]) == pytest.approx(law["stay"])
    assert len(listed) == 10


def test_odds_are_those_of_the_guarantee():
    for mechanism in ("urr", "krr"):
        odds = {each["pair"]: each for each in explain("diabetes", mechanism)["odds"]}
        assert odds["group"]["realised"] == odds["group"]["promised"] == 0
        for pair in ("sensitive", "ordinary"):
            assert odds[pair]["hidden"] <= odds[pair]["promised"] <= 12
            assert odds[pair]["hidden"] == pytest.approx(12)
        # Under urr an ordinary word that is printed was that word.
        shows = odds["ordinary"]["realised"] is None
        assert shows == (mechanism == "urr")
    (_, ordinary) = explain("the")["odds"]
    assert (ordinary["realised"], ordinary["promised"]) == (None, None)


@pytest.mark.parametrize(
    ("mechanism", "says"),
    [("urr", "differ only in sensitive words"), ("krr", "ordinary ones included")],
)
def test_the_loss_of_a_text_adds_up_and_says_between_which_texts(mechanism, says):
    """Under urr another ordinary word is excluded by what is printed; see the odds."""
    flags = ["explain", "the", "-e", "12", "-m", mechanism, "--words", "10"]
    stated = found(*flags)
    loss = stated["document"]["any"]
    assert loss == pytest.approx(120)
    assert loss == 10 * stated["guarantee"]["certified"]
    assert says in stated["document"]["note"]
    ordinary = next(odds for odds in stated["odds"] if odds["pair"] == "ordinary")
    assert (ordinary["realised"] is None) == ("sensitive" in says)  # no bound
    assert "loss of a text of 10 words: at most 120 nats. Bound" in run(*flags).stdout


def test_the_chance_to_stay_is_that_of_the_draw():
    policy = load_policy("sensitive")
    law = explain("diabetes", "krr")
    m = policy.alphabet.size
    kept = math.exp(12) / (math.exp(12) + m - 1)
    size = policy.sizes[policy.symbols["diabetes"]]
    assert law["stay"] == pytest.approx(kept / size, rel=1e-9)
    assert explain("Okafor-free".split("-")[0])["become"]["group"] > 0.99
    assert explain("7")["stay"] == pytest.approx(0.1, rel=0.01)


def test_people_read_the_class_the_chances_and_the_guarantee():
    shown = run("explain", "diabetes", "--policy", "sensitive", "-e", "12").stdout
    for text in ("health", "printed unchanged", "not changed by any output", "Preview"):
        assert text in shown
    start = run("explain", "May", "--policy", "sensitive", "-e", "12").stdout
    assert "as the first word of a sentence: ordinary, shown" in start


def test_names_shows_numbers_in_words_and_says_so():
    words = ("five", "twenty", "thousand")
    by_names = show(*words, policy="names")
    assert {row["class"] for row in by_names} == {"ordinary"}
    hidden = show(*words, policy="names", hide="number_word")
    assert {row["class"] for row in hidden} == {"number_word"}
    assert "numbers in digits" in run("policy", "list").stdout
    page = Path(__file__).parents[2] / "docs" / "how-to" / "choose-a-policy.md"
    assert "`--hide number_word`" in page.read_text("utf-8")


DISGUISES = [
    "J\u200bonathan",
    "Jo\xadnathan",
    "Jon\u0430than",
    "JONATHAN",
    "jonathan",
    "J\xf3nath\xe1n",
    "Jon\u0336athan",
    "\u200fJonathan",
    "J0nathan",
    "JonathanSmith",
    "nahtanoJ",
    "am9uYXRoYW4",
    "\U0001d409\U0001d428\U0001d427\U0001d41a\U0001d42d\U0001d421\U0001d41a\U0001d427",
    "\u24bf\u24de\u24dd\u24d0\u24e3\u24d7\u24d0\u24dd",
    "\uff2a\uff4f\uff4e\uff41\uff54\uff48\uff41\uff4e",
    "https://example.com/jonathan-smith",
    "jonathan.smith@example.com",
    "#JonathanSmith",
    "@jonathan_smith",
    "jonathan_smith.pdf",
]


@pytest.mark.parametrize("policy", ["sensitive", "names"])
def test_a_disguised_name_is_never_shown(policy):
    """What is ordinary in a disguise is of the address, not of the name."""
    passes = {"https", "com", "pdf"}
    for disguise in DISGUISES:
        shown = [
            r["word"] for r in show(disguise, policy=policy) if r["class"] == "ordinary"
        ]
        assert set(shown) <= passes, (disguise, shown)
