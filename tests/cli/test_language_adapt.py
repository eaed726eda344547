"""``mondegreen language adapt``: from a release to a model that reads it better."""

import csv
import json

import numpy as np
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
    read = "--read", "sentence", "--language", "my.lm"
    said = run(*private("safe.csv", *read, "--report", "g.json"))
    assert said.exit_code == 0
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
