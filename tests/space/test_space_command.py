import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from mondegreen.cli.public.space import space as command
from mondegreen.errors import (
    DataError,
    EmbeddingFormatError,
    SpaceIntegrityError,
)
from mondegreen.space.space import Space
from mondegreen.space.store import load_space

SHARED = Path(__file__).parents[2] / "../shared/data/vectors"


def run(*arguments, ok=True):
    result = CliRunner().invoke(command, [str(each) for each in arguments])
    if ok:
        assert result.exit_code == 0, (result.output, result.exception)
    return result


@pytest.fixture
def glove(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("the 1 2\nOslo 3 4\nto 5 7\n")
    return path


def test_a_space_is_built_described_and_verified(glove, tmp_path):
    out = tmp_path / "mine.safetensors"
    made = run("build", glove, "-o", out, "--about", "licence=CC0-1.0", "--json")
    facts = json.loads(made.stdout)
    assert (facts["name"], facts["words"], facts["dim"]) == ("mine", 3, 2)
    assert "words with an upper case letter: 1;" in made.stderr
    assert facts["digest"] == load_space(out).digest
    assert facts["about.licence"] == "CC0-1.0"
    assert json.loads(run("info", out, "--json").stdout)["digest"] == facts["digest"]
    assert facts["digest"] in run("info", out).stdout
    verified = run("verify", out, "--deep", "--digest", facts["digest"], "--json")
    assert json.loads(verified.stdout)[0]["verified"] is True
    other = run("verify", out, "--digest", "0" * 64, ok=False)
    assert isinstance(other.exception, SpaceIntegrityError)


def test_building_twice_gives_the_same_digest(glove, tmp_path):
    outs = [tmp_path / name for name in ("one.safetensors", "two.safetensors")]
    for out in outs:
        run("build", glove, "--name", "same", "-o", out)
    assert outs[0].read_bytes() == outs[1].read_bytes()


def test_build_and_from_arrays_agree(glove, tmp_path):
    out = tmp_path / "x.safetensors"
    run("build", glove, "-o", out)
    vectors = np.array([[1, 2], [3, 4], [5, 7]], np.float32)
    direct = Space.from_arrays("x", ["the", "Oslo", "to"], vectors)
    assert load_space(out).digest == direct.digest


def test_an_existing_output_needs_force(glove, tmp_path):
    out = tmp_path / "mine.safetensors"
    out.write_text("old")
    refused = run("build", glove, "-o", out, ok=False)
    assert isinstance(refused.exception, DataError)
    assert out.read_text() == "old"
    run("build", glove, "-o", out, "--force")
    assert load_space(out).vocab_size == 3


def test_a_bad_file_leaves_no_output(glove, tmp_path):
    glove.write_text("the 1 2\nOslo 3\n")
    refused = run("build", glove, "-o", tmp_path / "mine.safetensors", ok=False)
    assert isinstance(refused.exception, EmbeddingFormatError)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["glove.txt"]


def test_words_filter_text_and_name_the_rows_of_an_array(glove, tmp_path):
    words = tmp_path / "w.txt"
    words.write_text("to\nthe\nabsent\n")
    out = tmp_path / "mine.safetensors"
    made = run("build", glove, "--words", words, "-o", out)
    assert load_space(out).words == ("the", "to")
    assert "1 of the words asked for are not in the file" in made.stderr
    array = tmp_path / "v.npy"
    np.save(array, np.eye(3, dtype=np.float16))
    run("build", array, "--words", words, "-o", out, "--force")
    assert load_space(out).words == ("to", "the", "absent")
    keep = tmp_path / "keep.txt"
    keep.write_text("the\n")
    options = ("--word-list", words, "--words", keep, "--dtype", "float32")
    run("build", array, *options, "-o", out, "--force")
    assert load_space(out).words == ("the",)


def test_the_list_shows_what_is_there_and_what_can_be_fetched(monkeypatch, tmp_path):
    monkeypatch.setenv("MONDEGREEN_HOME", str(tmp_path))
    rows = json.loads(run("list", "--json").stdout)
    assert rows[0]["name"] == "glove-840b-34k"
    assert rows[0]["words"] == 33_860
    assert {"glove-6b-50d", "glove-840b-300d"} <= {row["name"] for row in rows}
    assert "33,860" in run("list").stdout


def test_wrong_options_are_usage_errors(glove, tmp_path):
    out = tmp_path / "x.safetensors"
    assert run("build", glove, ok=False).exit_code == 2
    assert run("build", glove, "-o", out, "--about", "x", ok=False).exit_code == 2
    assert run("build", glove, "-o", out, "--limit", "0", ok=False).exit_code == 2
    assert run("build", tmp_path / "no", "-o", out, ok=False).exit_code == 2


@pytest.mark.parametrize("name", ["list", "info", "build", "verify", "fetch"])
def test_every_help_has_an_example(name):
    assert f"Example: mondegreen space {name}" in run(name, "--help").stdout


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared vectors are not here")
@pytest.mark.slow("builds the embedded space again")
def test_the_embedded_default_is_built_by_our_own_command(tmp_path):
    source = SHARED / "glove-840b-300d-34k.f16.npy"
    refused = run("build", source, "-o", tmp_path / "x.safetensors", ok=False)
    assert "words.txt, line 29012: the word holds a no-break" in str(refused.exception)
    out = tmp_path / "glove-840b-34k.safetensors"
    run("build", source, "--allow-nbsp", "-o", out)
    assert load_space(out).digest == load_space().digest


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared vectors are not here")
def test_skip_bad_drops_the_words_with_a_no_break_space(tmp_path):
    words = SHARED / "glove-840b-300d-34k.words.txt"
    lines = words.read_text(encoding="utf-8").split("\n")
    keep = tmp_path / "keep.txt"
    odd = [line for line in lines if "\u00a0" in line]
    keep.write_text("\n".join([*odd, "the", "of"]), encoding="utf-8")
    out = tmp_path / "x.safetensors"
    source = SHARED / "glove-840b-300d-34k.f16.npy"
    options = ("--word-list", words, "--words", keep, "--skip-bad", "--json")
    made = run("build", source, *options, "-o", out)
    problem = "the word holds a no-break space (U+00A0)"
    assert json.loads(made.stdout)["dropped"] == {problem: 11}
    assert load_space(out).words == ("the", "of")
