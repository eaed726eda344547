"""``mondegreen language adapt``: from a release to a model that reads it better."""

import csv
import json

import numpy as np
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from mondegreen.cli.main import cli
from mondegreen.language.store import load_language
from strategies import WORDS

SECRET = "zyxwoldemorth"
SETTING = "--epsilon", "30", "--mechanism", "exponential"


def write(path, rows):
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([["id", "text"], *enumerate(rows)])


def chained(count, step, seed):
    rng, found = np.random.default_rng(seed), []
    for _ in range(count):
        start = int(rng.integers(len(WORDS)))
        found.append(" ".join(WORDS[(start + step * i) % len(WORDS)] for i in range(6)))
    return found


@pytest.fixture
def run(folder, space_file):
    write(folder / "public.csv", chained(200, 1, 0))
    write(folder / "mine.csv", chained(300, 3, 1))
    (folder / "k").write_bytes(bytes(range(32)))
    (folder / "k").chmod(0o600)

    def invoke(*arguments):
        given = [*arguments, "--space", str(space_file), "--column", "text"]
        return CliRunner().invoke(cli, given)

    def done(*arguments):
        found = invoke(*arguments)
        assert found.exit_code == 0, (found.output, found.exception)
        return found

    done.fails = invoke
    done("language", "build", "public.csv", "-o", "public.lm")
    done(*private("raw.csv", "--read", "none"))
    return done


def private(out, *more):
    key = "--key-file", "k", "--id", "id"
    return "privatize", "mine.csv", "-o", out, *SETTING, *key, *more


def adapted(run, *more, source="raw.csv"):
    model = "--language", "public.lm", "-o", "my.lm"
    return run("language", "adapt", source, *SETTING, *model, "--json", *more)


@pytest.mark.slow("learns a model")
def test_a_model_learns_from_a_release_and_reads_its_very_draws(run, folder):
    done = adapted(run)
    assert "never an original" in done.stderr
    assert "losses of two releases add up" in done.stderr
    made = json.loads(done.stdout)
    model = load_language(folder / "my.lm")
    assert made["digest"] == model.digest
    assert made["weight"] < 1
    assert made["nats_after"] < made["nats_before"]
    assert made["sources"][-1].startswith("a release of ")
    claimed = "exponential (epsilon 30) as was claimed, as they were guessed"
    assert claimed in made["sources"][-1]  # a CSV carries no guarantee
    assert made["path"] == "my.lm"
    assert "Nothing was learned" not in done.stderr
    read = "--read", "sentence", "--language", "my.lm"
    said = run(*private("safe.csv", *read, "--report", "g.json"))
    assert "the losses of both add up" in said.stderr
    promise = json.dumps(json.loads((folder / "g.json").read_text()))
    assert "a release of " in promise
    assert "whose loss is added" in promise
    # What is read is a function of raw.csv: the key draws the same words again.
    run(*private("again.csv", "--read", "none"))
    assert (folder / "again.csv").read_text() == (folder / "raw.csv").read_text()
    shares = []
    for language in ("public.lm", "my.lm"):
        given = "attack", "mine.csv", "raw.csv", *SETTING, "--language", language
        shares.append(json.loads(run(*given, "--json").stdout))
    plain, learned = (each["reader"]["value"] for each in shares)
    assert learned >= plain
    assert shares[0]["learning_reader"]["value"] == pytest.approx(learned, abs=0.05)


def test_an_original_is_refused_and_shown_nothing_of(run, folder):
    write(folder / "original.csv", [f"ba {SECRET}", *chained(20, 3, 1)])
    refused = adapted(run.fails, source="original.csv")
    assert refused.exit_code == 3
    assert "never an original" in refused.output
    assert SECRET not in refused.output
    assert not (folder / "my.lm").exists()


def test_a_model_that_exists_is_kept(run, folder):
    (folder / "my.lm").write_text("mine")
    assert adapted(run.fails).exit_code == 3
    assert (folder / "my.lm").read_text() == "mine"
    adapted(run, "--force")
    assert load_language(folder / "my.lm").about.releases


def test_public_texts_and_models_are_not_replaced_by_what_is_made_of_them(run, folder):
    for name, given in {
        "raw.csv": ("build", "raw.csv", "--column", "text"),
        "held.csv": ("mix", "public.lm", "public.lm", "--on", "held.csv"),
        "public.lm": ("mix", "public.lm", "public.lm", "--on", "raw.csv"),
    }.items():
        path = folder / name
        if not path.exists():
            path.write_text("text\nof course\n")
        before = path.read_bytes()
        refused = run.fails("language", *given, "-o", name, "--force")
        assert refused.exit_code == 2
        assert "a separate file" in refused.stderr
        assert path.read_bytes() == before


def test_an_original_is_no_output(run, folder):
    before = (folder / "raw.csv").read_bytes()
    (folder / "link.lm").hardlink_to(folder / "raw.csv")
    model = "--language", "public.lm", "--force"
    for output in ("raw.csv", "link.lm"):
        given = "language", "adapt", "raw.csv", *SETTING, *model, "-o", output
        refused = run.fails(*given)
        assert refused.exit_code == 2
        assert "a separate file" in refused.stderr
        assert (folder / output).read_bytes() == before


def parquet(run, folder, *more):
    pq.write_table(pa_csv.read_csv(folder / "mine.csv"), folder / "mine.parquet")
    made = "privatize", "mine.parquet", "-o", "raw.parquet", "--force"
    run(*made, "--mechanism", "exponential", *more)


@pytest.mark.slow("adapts a model")
def test_what_a_release_says_of_itself_holds(run, folder):
    read = "--read", "sentence", "--language", "public.lm"
    for made, problem in (
        (("--epsilon", "14"), "another setting made it, as its guarantee says"),
        (("--epsilon", "30", "--seed", "1"), "it is not private, as its guarantee"),
        (("--epsilon", "30", *read), "it was read by a language model"),
    ):
        parquet(run, folder, *made)
        refused = adapted(run.fails, source="raw.parquet")
        assert refused.exit_code == 3
        assert problem in refused.stderr
        assert not (folder / "my.lm").exists()
    parquet(run, folder, "--epsilon", "30")
    made = json.loads(adapted(run, source="raw.parquet").stdout)
    assert "exponential (epsilon 30), as they were guessed" in made["sources"][-1]


def test_a_release_of_a_policy_is_refused(run):
    given = "language", "adapt", "raw.csv", "-o", "other.lm", "--column", "text"
    refused = CliRunner().invoke(cli, [*given, "--epsilon", "12"])
    assert refused.exit_code == 2
    assert "--policy all" in refused.stderr


def test_the_last_pass_drew_the_words(run, folder):
    parquet(run, folder, "--epsilon", "30")
    again = "privatize", "raw.parquet", "-o", "again.parquet", "--epsilon", "5"
    run(*again, "--mechanism", "exponential")
    refused = adapted(run.fails, source="again.parquet")
    assert refused.exit_code == 3
    assert "another setting made it" in refused.stderr


def test_masked_words_are_named_where_they_are_refused(run, folder):
    write(folder / "mine.csv", [f"ba {SECRET}", *chained(20, 3, 1)])
    run(*private("masked.csv", "--read", "none", "--unknown", "mask"))
    refused = adapted(run.fails, source="masked.csv")
    assert refused.exit_code == 3
    assert "without --unknown mask" in refused.stderr


def test_where_nothing_is_learned_that_is_said(run, folder):
    write(folder / "few.csv", chained(2, 3, 1))
    done = adapted(run, source="few.csv")
    made = json.loads(done.stdout)
    assert made["weight"] == 1
    assert made["path"] == "my.lm"
    assert made["bytes"] == (folder / "my.lm").stat().st_size
    assert "Nothing was learned: my.lm is the public model as it was." in done.stderr


@pytest.mark.slow("adapts a model")
def test_what_has_no_proof_stays_not_private(run, folder):
    law = "--mechanism", "custext", "--epsilon", "30", "--allow-unproved"
    run("privatize", "mine.csv", "-o", "free.csv", *law)
    pq.write_table(pa_csv.read_csv(folder / "mine.csv"), folder / "mine.parquet")
    run("privatize", "mine.parquet", "-o", "free.parquet", *law)
    model = "--language", "public.lm", "--json", "-o"
    for source, known in (("csv", " as was claimed"), ("parquet", "")):
        given = f"free.{source}", *law, *model, f"{source}.lm"
        made = json.loads(run("language", "adapt", *given).stdout)
        assert f"){known} (NOT PRIVATE), as they were guessed" in made["sources"][-1]
