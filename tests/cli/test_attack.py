"""``mondegreen attack``: what it prints, what it refuses, and that it shows no text."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from commands import run_command
from mondegreen import __version__
from mondegreen.attacks.printed import PolicyRows
from mondegreen.cli.main import cli
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import load_policy
from mondegreen.privatizer.build import build_privatizer
from mondegreen.sampling.noise import Seeded
from mondegreen.settings import Settings
from strategies import WORDS

REVIEWS = Path(__file__).parents[2] / "examples" / "reviews.csv"
SECRET = "zyxwoldemorth"
NAMES = (
    "single_word",
    "reader",
    "worst_word",
    "categories",
    "mutual_information",
    "linkage",
    "averaging",
)


@pytest.fixture
def run(folder, space_file):
    rng = np.random.default_rng(0)
    shares = 1 / np.arange(1, len(WORDS) + 1)
    texts = [
        " ".join(rng.choice(WORDS, 9, p=shares / shares.sum())) + ", so." * (i % 2)
        for i in range(80)
    ]
    texts[7] += f" {SECRET}"
    with (folder / "sample.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["text"], *([text] for text in texts)])

    def invoke(*arguments, expect=0):
        given = [*arguments, "--space", str(space_file)]
        given += ["--policy", "all"] if arguments[0] in ("attack", "privatize") else []
        return run_command(*given, expect=expect, secret=SECRET)

    return invoke


def attacked(run, *arguments):
    return json.loads(run("attack", "sample.csv", *arguments, "--json").stdout)


def test_every_attack_is_in_the_json(run):
    found = attacked(run, "--epsilon", "4")
    assert (found["texts"], found["words"]) == (80, 761)
    for name in NAMES:
        assert found[name].keys() >= {
            *("value", "low", "high", "chance", "adversary", "n", "unit")
        }
    for name in ("single_word", "reader", "linkage", "averaging"):
        assert 0 <= found[name]["low"] <= found[name]["value"] <= found[name]["high"]
    assert found["worst_word"]["words"] == []  # with frequencies of the sample itself


def test_attacks_are_at_chance_where_nothing_is_told_and_succeed_without_noise(run):
    blind = attacked(run, "--epsilon", "0.001")
    for name in ("single_word", "reader", "linkage", "averaging"):
        assert abs(blind[name]["value"] - blind[name]["chance"]) < 0.05
    assert blind["mutual_information"]["value"] < 0.01
    clear = attacked(run, "--epsilon", "800")
    for name in ("single_word", "reader", "linkage", "averaging", "worst_word"):
        assert clear[name]["value"] > 0.9


@pytest.mark.slow("an attack")
def test_a_reader_is_never_worse_than_the_release_as_it_stands(run, model):
    found = attacked(run, "--epsilon", "5", *model)["reader"]
    as_they_are = found["readers"]["takes the released words as they are"]
    assert 0 < as_they_are <= found["value"]
    assert [way["by"] for way in found["by"]] == [
        *("whole sentences", "learning from the release")
    ]


@pytest.mark.slow("all words of the embedded space", seconds=9)
def test_a_limit_on_single_words_counts_who_knows_the_exact_frequencies(folder):
    command = "attack", str(REVIEWS), "--column", "review", "--policy", "all"
    given = *command, "--epsilon", "12", "--json"
    done = run_command(*given, "--fail-above", "single_word=0.4", expect=4)
    found = json.loads(done.stdout)["single_word"]
    assert found["high"] < 0.4 < found["exactly_these_frequencies"]
    assert "by the exact word frequencies of these texts" in done.stderr


def test_a_table_says_it_to_people(run):
    said = run("attack", "sample.csv", "--epsilon", "4").stdout
    assert re.search(r"mutual information \[mutual_information\] +\S+ nats", said)
    for words in ("attacker who reads sentences", "mutual information", "linked by"):
        assert words in said
    assert "keep these numbers private" in said
    assert "words guessed most often" not in said  # they are words of the sample


def test_the_table_says_what_each_source_gives_away(folder):
    command = "attack", str(REVIEWS), "--column", "review", "--epsilon", "12"
    said = run_command(*command).stdout
    by = json.loads(run_command(*command, "--json").stdout)["sensitive_words"]["by"]
    ways = ["whole sentences", "the group alone", "the other words alone"]
    assert [each["by"] for each in by] == [
        *ways,
        "the most similar known text",
        "the words of the whole text",
        "the best of these for each class",
    ]
    for each in by:
        assert f"recovered from {each['by']}: {100 * each['value']:.3g} %\n" in said


def test_a_release_is_read_back(run):
    run("privatize", "sample.csv", "-o", "out.csv", "--epsilon", "4")
    found = attacked(run, "out.csv", "--epsilon", "4")
    drawn = attacked(run, "--epsilon", "4")
    assert found["words"] == drawn["words"]
    assert abs(found["reader"]["value"] - drawn["reader"]["value"]) < 0.1
    assert found["linkage"]["value"] is not None
    assert found["release_problem"] is drawn["release_problem"] is None


def test_a_release_that_states_another_setting_is_refused(run, folder):
    texts = pa_csv.read_csv(folder / "sample.csv")
    pq.write_table(texts, folder / "sample.parquet")
    made = "sample.parquet", "-o", "out.parquet", "--epsilon", "4"
    run("privatize", *made)
    attack = "attack", "sample.parquet", "out.parquet"
    assert json.loads(run(*attack, "--epsilon", "4", "--json").stdout)["texts"] == 80
    for other in (("4.001",), ("4", "-m", "tem")):
        done = run(*attack, "--epsilon", *other, "--json", expect=3)
        assert "its guarantee says: column text: tree (epsilon 4)" in done.stderr
        assert done.stdout == ""


@pytest.mark.slow("an attack")
def test_the_json_says_how_many_texts_are_left_out(run, folder):
    run("privatize", "sample.csv", "-o", "out.csv", "--epsilon", "4")
    rows = (folder / "out.csv").read_text().splitlines()
    rows[3] += " unheardof"
    (folder / "out.csv").write_text("\n".join(rows) + "\n")
    found = attacked(run, "out.csv", "--epsilon", "4")
    assert (found["texts"], found["left_out"]) == (79, 1)
    assert attacked(run, "--epsilon", "4")["left_out"] == 0
    said = run("attack", "sample.csv", "out.csv", "--epsilon", "4").stderr
    assert "1 text was skipped because the words could not be paired with" in said


def test_another_setting_did_not_draw_a_release(run):
    run("privatize", "sample.csv", "-o", "out.csv", "--epsilon", "100")
    done = run("attack", "sample.csv", "out.csv", "--epsilon", "1", "--json")
    assert "made with another setting" in done.stderr
    found = json.loads(done.stdout)
    assert found["release_problem"] in done.stderr
    assert "as it is printed" in found["reader"]["adversary"]
    assert found["reader"]["value"] > 0.1
    assert found["linkage"]["value"] is None
    assert {way["by"] for way in found["linkage"]["by"]} == {
        *("structure", "number of words")
    }


@pytest.mark.slow("seconds")
def test_where_the_law_is_not_closed_some_attacks_are_not_known(run):
    arguments = "--epsilon", "4", "--mechanism", "laplace"
    found = attacked(run, *arguments)
    assert found["mutual_information"]["value"] is None
    assert found["worst_word"]["value"] is None
    assert 0 < found["single_word"]["value"] <= 1
    assert "not known" in run("attack", "sample.csv", *arguments).stdout


@pytest.fixture
def model(run, folder):
    run("language", "build", "sample.csv", "-o", "m.lm")
    return "--language", "m.lm"


@pytest.mark.slow("an attack with a model")
def test_a_language_model_makes_a_reader_and_names_words(run, model):
    found = attacked(run, "--epsilon", "30", *model)
    readers = found["reader"]["readers"]
    assert len(readers) == 3
    assert found["reader"]["value"] == max(readers.values())
    assert "model m" in found["reader"]["adversary"]
    words = found["worst_word"]["words"]
    assert len(words) == 10
    assert words[0][1] == found["worst_word"]["value"]
    assert (
        "words guessed most often"
        in run("attack", "sample.csv", "--epsilon", "30", *model).stdout
    )


@pytest.mark.slow("a bisection of linear programs", seconds=15)
def test_chances_are_found_for_a_reader(run, model):
    arguments = "sample.csv", "-o", "c.json", "--epsilon", "9", "--json"
    tree, bound = ("calibrate", "--mechanism", "tree", "--target"), "reader=0.5"
    done = run(*tree, bound, *arguments, *model)
    found = json.loads(done.stdout)
    assert abs(found["reader"]["value"] - 0.5) < 0.15  # on the other half
    both = "--target", "success=0.5"
    run(*tree, bound, *arguments, *both, *model, "--force", expect=2)
    low = run(*tree, "reader=0.001", *arguments, *model, "--force", expect=2)
    assert "cannot be reached" in low.output


@pytest.mark.slow("a search with some twenty measurements")
def test_calibrate_takes_a_reader_and_the_worst_word_as_targets(run, model):
    targets = "--target", "reader=0.4", "--target", "worst_word=0.9"
    arguments = "sample.csv", "--mechanism", "exponential", *targets, *model
    found = json.loads(run("calibrate", *arguments, "--quick", "--json").stdout)
    scores = found["chosen"]["scores"]
    assert scores["reader"][1] <= 0.4
    assert scores["worst_word"][1] <= 0.9
    said = run("calibrate", *arguments, "--quick").stdout
    assert "reader of sentences recovers at most 0.4" in said
    assert "worst word" in said


def test_a_reader_needs_a_language_model_of_the_space(run):
    done = run("calibrate", "sample.csv", "--target", "reader=0.4", expect=3)
    assert "language build" in done.output


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (("sample.csv", "sample.csv"), 2, "two files"),
        (("sample.csv", "--column", "body"), 3, "body"),
        (("absent.csv",), 3, "absent.csv"),
    ],
)
def test_what_cannot_be_attacked_is_refused(run, arguments, code, problem):
    done = run("attack", *arguments, "--epsilon", "4", expect=code)
    assert problem in done.output


@pytest.mark.slow("learns a model")
def test_who_learns_from_the_release_is_an_adversary_of_its_own(run, model):
    found = attacked(run, "--epsilon", "800", *model)["learning_reader"]
    assert found["value"] > 0.9
    assert 0 <= found["chance"] <= found["low"] <= found["value"] <= found["high"]
    blind = attacked(run, "--epsilon", "0.001", *model)["learning_reader"]
    assert abs(blind["value"] - blind["chance"]) < 0.05
    said = run("attack", "sample.csv", "--epsilon", "800", *model).stdout
    assert "attacker who learns from the release" in said
    # Without a model there is nothing that could learn.
    assert "learning_reader" not in attacked(run, "--epsilon", "4")


@pytest.fixture
def of_policy(folder):
    """Texts with illnesses, for attacks on a policy, which needs no space."""
    ends = {"diabetes": "since then", "asthma": "for long", "cancer": "at last"}
    rows = [[f"I have {name} {end}."] for name, end in ends.items()] * 30
    rows[40] = [f"I have {SECRET}."]
    with (folder / "ill.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["text"], *rows])
    with (folder / "public.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["text"], *rows[:30], ["We have asthma, too."]])

    def invoke(*arguments, expect=0):
        given = "ill.csv", *arguments, "--policy", "sensitive", "--epsilon", "30"
        done = CliRunner().invoke(cli, ["attack", *given])
        assert done.exit_code == expect, (done.output, done.exception)
        assert SECRET not in done.output
        return done

    return invoke


def test_a_policy_is_attacked_with_a_held_out_half(of_policy):
    found = json.loads(of_policy("--json").stdout)
    assert found["corpus"] == {
        "texts": 45,
        "words": 225,
        "held_out_of_sample": True,
    }
    assert found["texts"] == 45
    assert found["sensitive_words"]["value"] > 0.9  # neighbors tell
    assert found["single_word"]["value"] < 0.5
    assert found["reader"]["value"] == found["sensitive_words"]["value"]
    assert found["reader"]["unit"] == "share of sensitive words"
    for name in (
        "single_word",
        "reader",
        "worst_word",
        "mutual_information",
        "linkage",
    ):
        assert found[name].keys() >= {"value", "low", "high", "chance"}
    assert found["worst_word"]["words"] == []  # half of SAMPLE is not public
    said = of_policy("--html", "page.html").stdout
    page = Path("page.html").read_text()
    for words in (
        "<td>ill.csv",
        f"<td>mondegreen {__version__}",
        "under policy sensitive",
        "<th>without release",
        "<th>recovered from",
        "<th>linked by",
        "<td>rest (not counted)",
    ):
        assert words in page
    assert "<th>chance" not in page
    best = found["reader"]["by_class"]["health"]["value"]
    assert best == max(
        way["by_class"]["health"]["value"] for way in found["reader"]["by"]
    )
    (shown,) = re.findall(r"<tr><td>health<td class=.n.>([0-9.]+) %", page)
    assert float(shown) == pytest.approx(100 * best, abs=0.1)
    assert "the best of these for each class" in page
    assert "one word, the easiest to guess, where it was written. It is not a" in said
    assert "45 texts, 225 words, of SAMPLE, held out" in said
    assert "rest (not counted)" in said
    assert "not counted: these words are no part of the share above." in said
    assert "attacker who reads sentences [reader]" in said


@pytest.mark.slow("an attack")
def test_a_release_is_also_read_by_one_who_knows_no_setting(folder):
    """Of a few rows, half teach little: public text and what is left tell more."""
    rows = [("Will Ortega", "Will from support has asthma.")] * 2
    rows += [("Art Miller", "Art called on Friday about kidneys.")] * 2
    with Path("in.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([("agent", "text"), *rows])
    made = "-o", "out.csv", "-c", "text", "-e", "12", "--quiet"
    assert CliRunner().invoke(cli, ["privatize", "in.csv", *made]).exit_code == 0
    given = ["attack", "in.csv", "out.csv", "-c", "text", "-e", "12"]
    found = json.loads(CliRunner().invoke(cli, [*given, "--json"]).stdout)
    shown = json.loads(CliRunner().invoke(cli, [*given[:-2], "--json"]).stdout)
    assert found["survivors"] == shown["survivors"]
    assert found["survivors"]["by_kind"]["known_name"]["value"] > 0
    ways = {way["by"]: way["value"] for way in found["reader"]["by"]}
    assert ways["what is left, and public text"] == shown["reader"]["value"]
    assert found["reader"]["value"] == max(ways.values())
    assert found["reader"]["value"] >= found["sensitive_words"]["value"]
    for each in found["sensitive_words"]["by_class"].values():
        assert each["low"] <= each["value"] <= each["high"]
    limit = "--fail-above", "survivors=0.1"
    assert CliRunner().invoke(cli, [*given, *limit]).exit_code == 4


def test_a_class_has_a_limit_of_its_own(of_policy):
    done = of_policy("--fail-above", "reader.health=0.2", expect=4)
    assert re.search(r"reader\.health is \S+ \(limit 0\.2\)", done.stderr)
    of_policy("--fail-above", "reader.health=1")
    wrong = of_policy("--fail-above", "reader.helth=0.2", expect=2)
    assert "no words of this class here; choose one of: reader.health" in wrong.stderr


def test_a_public_corpus_names_public_words_and_leaves_sample_whole(of_policy):
    done = of_policy("--corpus", "public.csv", "--json")
    found = json.loads(done.stdout)
    assert found["texts"] == 90
    assert found["corpus"] == {"texts": 31, "words": 154, "held_out_of_sample": False}
    named = [word for word, _ in found["worst_word"]["words"]]
    assert named == ["asthma"]
    # Texts of SAMPLE that the attacker knows are texts that the attacker reads.
    said = "--corpus: 3 texts of SAMPLE are in it, so the attacker knows what they say"
    assert done.stderr.count(said) == 1


def test_a_release_under_a_policy_is_read_back(of_policy, folder):
    for name, epsilon in (("out.csv", "30"), ("noisy.csv", "0.01")):
        made = "-o", name, "--policy", "sensitive", "--epsilon", epsilon
        done = CliRunner().invoke(cli, ["privatize", "ill.csv", *made])
        assert done.exit_code == 0, done.output
    found = json.loads(of_policy("out.csv", "--json").stdout)
    assert found["release_problem"] is None
    assert found["sensitive_words"]["value"] > 0.9
    noisy = json.loads(of_policy("noisy.csv", "--json").stdout)
    assert "made with another setting" in noisy["release_problem"]
    assert "sensitive_words" not in noisy


@pytest.mark.parametrize("policy", ["names", None])
def test_what_no_policy_drew_is_no_release_under_one(folder, policy):
    """Originals, and words that another policy shows, have a law of their own."""
    ask = str(REVIEWS), "-c", "review", "--epsilon", "12"
    made = "-o", "other.csv", "--policy", str(policy)
    if policy is None:
        (folder / "other.csv").write_bytes(REVIEWS.read_bytes())
    else:
        done = CliRunner().invoke(cli, ["privatize", *ask, *made])
        assert done.exit_code == 0, done.output
    limit = "--fail-above", "sensitive_words=0.9"
    done = CliRunner().invoke(cli, ["attack", ask[0], "other.csv", *ask[1:], *limit])
    assert done.exit_code == 4, done.output
    assert "made with another setting" in done.output


def test_a_limit_on_the_law_alone_fails_for_words_that_it_did_not_draw(folder):
    (folder / "other.csv").write_bytes(REVIEWS.read_bytes())
    ask = "attack", str(REVIEWS), "other.csv", "-c", "review", "--epsilon", "0.1"
    limit = "--policy", "all", "--fail-above", "worst_word=1"
    done = CliRunner().invoke(cli, [*ask, *limit])
    assert done.exit_code == 4, done.output
    assert "unchanged_rows" in done.output


@pytest.mark.slow("minutes")
@pytest.mark.parametrize("policy", ["sensitive", "names"])
@pytest.mark.parametrize("mechanism", ["urr", "krr"])
@pytest.mark.parametrize("same", ["place", "record"])
def test_what_a_policy_drew_is_never_refused(policy, mechanism, same):
    with REVIEWS.open(encoding="utf-8", newline="") as stream:
        texts = [row["review"] for row in csv.DictReader(stream)] * 9
    settings = Settings(policy=policy, mechanism=mechanism, same=same, epsilon=12.0)
    lookup = PolicyLookup(load_policy(policy))
    for seed in range(20):
        made = build_privatizer(settings, Seeded(seed)).batch(texts)
        rows = PolicyRows(lookup, same)
        rows.add(range(1, len(texts) + 1), texts, [each.text for each in made])
        assert rows.unpaired < 5  # a stray such as 've is not read as a word
        assert rows.looks_drawn
        assert rows.make_attack().value == 0


@pytest.mark.slow("attacks", but="more0-0.9")
@pytest.mark.parametrize(
    ("more", "least"), [(("--same", "record"), 0.9), (("--numbers", "near"), 0.6)]
)
def test_scopes_and_numbers_of_a_release_are_attacked(of_policy, folder, more, least):
    """Nothing tells the word behind "paid 120 for", but its other place in a record."""
    rows = (folder / "ill.csv").read_text().splitlines()
    changed = [rows[0], *(f"{row} I paid 120 for {row.split()[2]}" for row in rows[1:])]
    (folder / "ill.csv").write_text("\n".join(changed) + "\n")
    drawn = json.loads(of_policy(*more, "--json").stdout)
    made = "-o", "out.csv", "--policy", "sensitive", "--epsilon", "30", *more
    done = CliRunner().invoke(cli, ["privatize", "ill.csv", *made])
    assert done.exit_code == 0, done.output
    found = json.loads(of_policy("out.csv", *more, "--json").stdout)
    assert found["release_problem"] is None
    for each in (drawn, found):
        assert least < each["sensitive_words"]["value"] <= least + 0.1
        assert each["sensitive_words"]["beside"]["number"]["n"] == 45


def test_options_of_a_policy_need_epsilon(folder, of_policy):
    command = ["attack", "ill.csv", "public.csv", "--same", "record"]
    done = CliRunner().invoke(cli, command)
    assert done.exit_code == 2
    assert "Missing option '--epsilon'" in done.output


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--language", "english"), "--corpus FILE"),
        (("--mechanism", "tem"), "works on a space"),
    ],
)
def test_what_a_policy_has_no_meaning_for_is_refused(of_policy, arguments, problem):
    assert problem in of_policy(*arguments, expect=2).output


def test_a_mechanism_that_is_not_installed_is_refused_with_the_way(folder):
    given = "attack", "ill.csv", "--mechanism", "coin:Coin", "--epsilon", "5"
    (folder / "ill.csv").write_text("text\nbad\n")
    said = CliRunner().invoke(cli, given).stderr
    assert "only audit and benchmark take MODULE:CLASS" in said
    assert "entry point of a package" in said


@pytest.mark.slow("an attack with a model")
def test_a_corpus_adds_sensitive_words_to_every_mechanism(run, folder):
    lines = (folder / "sample.csv").read_text().splitlines()
    plain = [line.replace('"', "").replace(",", "") for line in lines[1:40]]
    other = "\n".join([lines[0], *(f"{line} so" for line in plain)])
    (folder / "other.csv").write_text(other + "\n")
    found = attacked(run, "--epsilon", "800", "--corpus", "other.csv")
    assert found["corpus"]["texts"] == 39
    read = found["sensitive_words"]
    assert read["n"] > 50
    assert read["known_only"]["value"] > 0.95
    blind = attacked(run, "--epsilon", "0.001", "--corpus", "other.csv")
    assert blind["sensitive_words"]["known_only"]["value"] < 0.5
    assert found["reader"]["unit"] == "share of words"
    assert "sensitive_words" not in attacked(run, "--epsilon", "800")
    run("attack", "sample.csv", "--epsilon", "4", "--corpus", "sample.csv", expect=3)


# Under `all`, a reader of the whole vocabulary is made.
@pytest.mark.slow("an attack with a model")
@pytest.mark.parametrize(
    "policy", ["sensitive", pytest.param("all", marks=pytest.mark.slow)]
)
def test_the_places_that_context_gives_away_are_listed_by_number(policy, folder):
    def invoke(*arguments, expect=0):
        given = [*arguments, "--policy", policy, "--epsilon", "30"]
        done = CliRunner().invoke(cli, given)
        assert done.exit_code == expect, done.output
        return done

    lines = ["text", *["It rained.", "It is cold.", "I live in the United States."] * 4]
    (folder / "notes.csv").write_text("\n".join(lines) + "\n")
    invoke("privatize", "notes.csv", "-o", "notes_out.csv")
    release = "attack", "notes.csv", "notes_out.csv", "--places"
    found = json.loads(invoke(*release, "--json").stdout)["exposed_places"]
    assert found
    assert {*found[0]} == {"text", "word", "kind", "posterior"}
    # The half that is a corpus for other attacks is looked at too.
    assert {place["text"] for place in found} == {3, 6, 9, 12}
    assert {place["kind"] for place in found} == {"place"}
    assert {5, 6} <= {place["word"] for place in found}
    assert all(place["posterior"] > 0.5 for place in found)
    if policy == "all":
        return  # what is printed is made of the same places
    said = invoke(*release).stdout
    assert "with a posterior above 0.5" in said
    assert "United" not in said
    invoke("attack", "notes.csv", "--places", expect=2)  # no release


@pytest.fixture
def long_files(folder):
    """Write 4,100 rows and an honest release; return them, to be spoiled."""
    with REVIEWS.open(encoding="utf-8", newline="") as stream:
        texts = [row["review"] for row in csv.DictReader(stream)]
    originals = (texts * 342)[:4100]
    made = build_privatizer(Settings(policy="sensitive", epsilon=12.0), Seeded(5))
    released = [each.text for each in made.batch(originals)]
    write_texts(folder / "o.csv", originals)
    return folder, originals, released


def write_texts(path, texts, *more, names=("text",)):
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([names, *zip(texts, *more, strict=True)])


def attack_long(*more, expect=0):
    ask = "attack", "o.csv", "r.csv", "--epsilon", "12", "--texts", "40"
    return run_command(*ask, "--quiet", *more, expect=expect)


@pytest.mark.slow("seconds")
def test_raw_rows_are_found_wherever_they_are(long_files):
    """The attack reads the first rows, and holds every other one out."""
    folder, originals, released = long_files
    limit = "--fail-above", "unchanged_rows=0"
    write_texts(folder / "r.csv", released)
    found = json.loads(attack_long(*limit, "--json").stdout)
    assert found["rows"] == 4100
    assert found["unchanged_rows"]["n"] == 3416  # others have no word to hide
    assert found["unchanged_rows"]["value"] == found["foreign_rows"] == 0
    for row in (0, 1, 3996):  # attacked, held out, and beyond what is read
        bad = [*released]
        bad[row] = originals[row].upper() + "  !"
        write_texts(folder / "r.csv", bad)
        done = attack_long(*limit, "--json", expect=4)
        rows = json.loads(done.stdout)["unchanged_rows"]
        assert (rows["value"], rows["rows"]) == (1, [row + 1])
        assert "unchanged_rows is 1 (limit 0)" in done.stderr
        assert originals[row][:20].lower() not in (done.output + done.stderr).lower()


@pytest.mark.slow("seconds")
def test_rows_with_words_of_no_group_are_named(long_files):
    folder, _, released = long_files
    released[4000] += " Zyxwoldemorth"
    released[3000] = released[3000].replace(" the ", " Zyxwoldemorth ")
    write_texts(folder / "r.csv", released)
    done = attack_long("--fail-above", "sensitive_words=1", expect=4)
    # The row with one word more is not paired, and may be read in another way.
    assert "1 row has words that this setting never prints: 3001." in done.stderr
    assert re.search(r"rows of another length \[unpaired_rows\] +1 row ", done.stdout)
    limit = "--fail-above", "unpaired_rows=0"
    assert "unpaired_rows is 1 (limit 0)" in attack_long(*limit, expect=4).stderr


@pytest.mark.slow("seconds")
def test_files_of_other_lengths_are_refused(long_files):
    folder, _, released = long_files
    write_texts(folder / "r.csv", released)
    with (folder / "r.csv").open("a") as stream:
        stream.write("one more\n")
    done = attack_long("--fail-above", "unchanged_rows=0", expect=3)
    assert "o.csv: it ends after 4,100 rows; r.csv has more" in done.stderr


@pytest.mark.slow("seconds")
def test_a_release_of_other_rows_is_refused(long_files):
    """As without --epsilon: a gate must not pass a file that it did not compare."""
    folder, originals, released = long_files
    others = ["It rained all day and all night", "The sun was out"] * 2050
    for rows in (released[1:] + released[:1], others):
        write_texts(folder / "r.csv", rows)
        for limit in ((), ("--fail-above", "unchanged_rows=0")):
            done = attack_long(*limit, expect=3)
            assert "of 4,100 rows have another number of words" in done.stderr
            assert "give both files in the same order" in done.stderr
    # Other texts of the same length: no limit is kept by what was not compared.
    words = [re.sub(r"\w+", "rain", text) for text in originals]
    write_texts(folder / "r.csv", words)
    attack_long("--fail-above", "unchanged_rows=0", expect=4)


@pytest.mark.slow("seconds")
def test_many_rows_that_cannot_be_paired_fail_every_limit(long_files):
    folder, _, released = long_files
    longer = [f"{text} too" for text in released[-411:]]
    write_texts(folder / "r.csv", released[:-411] + longer)
    done = attack_long("--fail-above", "sensitive_words=1", expect=4)
    assert "unpaired_rows is 411 (limit 410)" in done.stderr
    own = "--fail-above", "unpaired_rows=411"
    attack_long("--fail-above", "sensitive_words=1", *own)
    write_texts(folder / "r.csv", released[:-410] + longer[1:])
    attack_long("--fail-above", "sensitive_words=1")


@pytest.mark.slow("seconds")
def test_originals_in_another_column_fail_every_limit(long_files):
    folder, originals, released = long_files
    write_texts(folder / "r.csv", released, originals, names=("text", "text_raw"))
    assert "column 'text_raw' of the release: originals in" in attack_long().stdout
    done = attack_long("--fail-above", "linkage=1", expect=4)
    assert "(limit 0): column 'text_raw' of the release" in done.stderr
    assert originals[0][:20] not in done.output


def test_without_a_release_no_row_is_known_to_be_hidden(of_policy):
    done = of_policy("--fail-above", "unchanged_rows=0", expect=4)
    assert "unchanged_rows is not known" in done.stderr


@pytest.mark.slow("an attack")
def test_rows_of_a_space_are_compared_with_its_law(run, folder):
    run("privatize", "sample.csv", "-o", "out.csv", "--epsilon", "4")
    limit = "--epsilon", "4", "--fail-above", "unchanged_rows=0"
    run("attack", "sample.csv", "out.csv", *limit)
    mine, theirs = (
        (folder / name).read_text().splitlines() for name in ("sample.csv", "out.csv")
    )
    theirs[70] = mine[70]
    (folder / "out.csv").write_text("\n".join(theirs) + "\n")
    done = run("attack", "sample.csv", "out.csv", *limit, "--json", expect=4)
    assert json.loads(done.stdout)["unchanged_rows"]["rows"] == [70]
    law = "--epsilon", "4", "--mechanism", "laplace"
    run("privatize", "sample.csv", "-o", "far.csv", *law)
    found = json.loads(run("attack", "sample.csv", "far.csv", *law, "--json").stdout)
    assert found["unchanged_rows"]["value"] is None
    assert "no closed form" in found["unchanged_rows"]["adversary"]


def test_the_table_of_places_says_what_it_leaves_out():
    from mondegreen.cli.attack import _lines_of_places

    place = {"text": 1, "word": 2, "kind": "place", "posterior": 0.9}
    said = "\n".join(_lines_of_places([place] * 12))
    assert "12 places with a posterior above 0.5; the 10 most certain ones" in said
    assert "counted from 1" in said
    assert "most certain" not in "\n".join(_lines_of_places([place] * 3))


@pytest.mark.slow("an attack")
def test_a_plain_structure_has_no_result_and_the_reason_is_said(folder):
    """A limit that nobody can check fails."""
    rows = [f"* Ann (of Oslo) -- met Bob {i} times:  twice." for i in range(1, 41)]
    Path("o.csv").write_text("text\n" + "".join(f"{row}\n" for row in rows))
    setting = "--column", "text", "--epsilon", "12"
    plain = "-o", "plain.csv", "--structure", "plain"
    run_command("privatize", "o.csv", *setting, *plain)
    limit = "--fail-above", "linkage=1"
    done = run_command("attack", "o.csv", "plain.csv", *setting, *limit, expect=4)
    assert "printed with --read none --structure keep" in done.stderr
    assert "linkage is not known" in done.stderr
