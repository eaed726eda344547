import json
import os

import numpy as np
import pytest
from click.testing import CliRunner
from corpora import SPACE, WORDS, sentences

from mondegreen.cli.public.language import language as command
from mondegreen.errors import DataError, LanguageError, UnknownNameError
from mondegreen.language.store import load_language
from mondegreen.space.space import Space
from mondegreen.space.store import save_space


def run(*arguments, ok=True):
    result = CliRunner().invoke(command, [str(each) for each in arguments])
    if ok:
        assert result.exit_code == 0, (result.output, result.exception)
    return result


def lines(seed):
    names = [*WORDS, "other"]
    return [" ".join(names[word] for word in s) for s in sentences(seed)]


@pytest.fixture
def files(tmp_path):
    """Give a space, three CSVs of public texts, and a folder to write to."""
    save_space(SPACE, tmp_path / "s.safetensors")
    for name, seed in (("a", 1), ("b", 2), ("held", 3)):
        rows = [f"{i},{line}." for i, line in enumerate(lines(seed))]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,body", *rows]) + "\n")
    return tmp_path


def build(files, *sources, out="m.lm", more=()):
    paths = [files / f"{name}.csv" for name in sources]
    where = ["--column", "body", "--space", files / "s.safetensors"]
    return run("build", *paths, *where, "-o", files / out, *more)


def test_a_model_is_built_and_described(files):
    about = ["--source", "dice", "--source", "coins", "--licence", "CC0 1.0"]
    made = build(files, "a", "b", more=["--json", "--least", 2, *about])
    facts = json.loads(made.stdout)
    assert "PUBLIC" in made.stderr
    assert "never build one from the texts that you privatize" in made.stderr.lower()
    model = load_language(files / "m.lm")
    expected = sum(len(line.split()) for seed in (1, 2) for line in lines(seed))
    assert facts["words"] == model.about.words == expected
    assert (facts["least"], facts["sources"]) == (2, ["dice", "coins"])
    assert facts["digest"] == model.digest
    assert facts["bytes"] == (files / "m.lm").stat().st_size
    assert json.loads(run("info", files / "m.lm", "--json").stdout) == facts
    shown = run("info", files / "m.lm").stdout
    assert model.digest in shown
    assert "dice; coins" in shown


def test_building_twice_gives_the_same_bytes(files):
    for name in ("one.lm", "two.lm"):
        build(files, "a", out=name)
    assert (files / "one.lm").read_bytes() == (files / "two.lm").read_bytes()


def test_an_output_that_exists_is_kept(files):
    build(files, "a")
    before = (files / "m.lm").read_bytes()
    where = ["-o", files / "m.lm", "--space", files / "s.safetensors"]
    again = run("build", files / "b.csv", *where, "--column", "body", ok=False)
    assert isinstance(again.exception, DataError)
    assert (files / "m.lm").read_bytes() == before
    build(files, "b", more=["--force"])
    assert (files / "m.lm").read_bytes() != before


@pytest.mark.skipif(os.name != "posix", reason="needs named pipes")
def test_a_device_is_not_replaced_by_a_model(files):
    os.mkfifo(files / "pipe.lm")
    where = ["--column", "body", "--space", files / "s.safetensors", "--force"]
    found = run("build", files / "a.csv", *where, "-o", files / "pipe.lm", ok=False)
    assert isinstance(found.exception, LanguageError)
    assert "device or a pipe" in str(found.exception)
    assert (files / "pipe.lm").is_fifo()


def test_models_are_mixed_by_what_suits_held_back_text(files):
    for name in ("a", "b"):
        build(files, name, out=f"{name}.lm")
    where = ["--column", "body", "--space", files / "s.safetensors", "--json"]
    where += ["--on", files / "held.csv", "-o", files / "both.lm"]
    made = run("mix", files / "a.lm", files / "b.lm", *where)
    assert "PUBLIC" in made.stderr
    facts = json.loads(made.stdout)
    assert 0 < facts["weight"] < 1
    first, second, both = facts["perplexities"]
    assert both < min(first, second)
    assert facts["digest"] == load_language(files / "both.lm").digest
    assert len(facts["mixed"]) == 2
    shown = run(
        "mix", files / "a.lm", files / "b.lm", *where[:4], *where[5:], "--force"
    ).stdout
    assert f"{both:,.1f}" in shown
    assert "perplexity of both" in shown


def test_a_model_of_other_words_is_not_mixed(files):
    build(files, "a", out="a.lm")
    other = Space.from_arrays("other", WORDS[::-1], np.arange(12.0)[:, None])
    save_space(other, files / "o.safetensors")
    where = ["--column", "body", "--space", files / "o.safetensors"]
    where += ["--on", files / "held.csv", "-o", files / "x.lm"]
    found = run("mix", files / "a.lm", files / "a.lm", *where, ok=False)
    assert isinstance(found.exception, LanguageError)
    assert not (files / "x.lm").exists()


def test_models_are_listed(files, monkeypatch):
    monkeypatch.setenv("MONDEGREEN_HOME", str(files))
    (files / "languages").mkdir()
    build(files, "a", out="languages/mine.lm")
    names = [row["name"] for row in json.loads(run("list", "--json").stdout)]
    assert names == ["english", "mine"]
    assert "english" in run("list").stdout
    assert json.loads(run("info", "mine", "--json").stdout)["space"] == "twelve"
    missing = run("info", "mime", ok=False)
    assert isinstance(missing.exception, UnknownNameError)


def test_errors_hold_no_text(files):
    secret = "Zaphod lives in Oslo"
    (files / "bad.lm").write_text(secret)
    found = run("info", files / "bad.lm", ok=False)
    assert isinstance(found.exception, LanguageError)
    assert "Zaphod" not in str(found.exception)
