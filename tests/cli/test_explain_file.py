"""``explain FILE`` and ``privatize --certify``: counts, and places on a terminal."""

import json
import os

import pytest
from click.testing import CliRunner

from mondegreen.cli.main import cli

NOTE = "President Barack Obama lives in the United States of America."
ROWS = f"id,note\n1,{NOTE}\n2,\n3,It rained \x1b]0;title\x07.\n"
SECRET = ("Barack", "Obama", "America", "United")


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.csv").write_text(ROWS)
    return "notes.csv"


def invoke(*arguments, expect=0):
    done = CliRunner().invoke(cli, [str(each) for each in arguments])
    assert done.exit_code == expect, done.output
    return done


def test_a_file_has_counts_and_no_words_off_a_terminal(file):
    plain = invoke("explain", file, "-c", "note", "-e", 12)
    found = json.loads(invoke("explain", file, "-c", "note", "-e", 12, "--json").stdout)
    assert found["exposed"] >= 3
    assert found["computed"] == "before a draw"
    assert f"gives {found['exposed']} of them away" in plain.stdout
    assert "on a terminal only" in plain.stdout
    for word in SECRET:
        assert word not in plain.output + json.dumps(found)


def test_it_says_that_it_read_the_first_texts_only(file):
    given = "explain", file, "-c", "note", "-e", 12
    said = invoke(*given, "--texts", 1).stdout
    assert said.startswith(
        "notes.csv: the first 1 text (--texts N reads more), 10 words"
    )
    assert invoke(*given).stdout.startswith("notes.csv: 3 texts, ")
    assert invoke(*given, "--texts", 3).stdout.startswith("notes.csv: 3 texts, ")


def test_the_rows_of_classes_add_up(file, tmp_path):
    words = "Boston diabetes Monday lawyer mother gay Muslim $500 Anna Smith army Paris"
    kinds = "breast ballet vodka guitar IBM divorce 4711 French senator robbery"
    (tmp_path / "many.csv").write_text(f"note\n{words} {kinds} iPad horse\n")
    found = json.loads(
        invoke("explain", "many.csv", "-c", "note", "-e", 12, "--json").stdout
    )
    said = invoke("explain", "many.csv", "-c", "note", "-e", 12).stdout
    assert len(found["by_class"]) > 11
    rows = said[said.index("class ") :].splitlines()[1:12]
    assert rows[-1].startswith("others")
    for column, name in ((-2, "hidden_words"), (-1, "exposed")):
        assert sum(int(row.split()[column]) for row in rows) == found[name]


@pytest.mark.slow("a process")
@pytest.mark.skipif(os.name != "posix", reason="a terminal of POSIX")
def test_a_terminal_shows_the_places(file):
    from tests.cli.test_before_after import on_terminal

    status, shown, _ = on_terminal("explain", file, "-c", "note", "-e", "12")
    assert status == 0, shown
    assert "Obama" in shown
    assert "\x1b]0;" not in shown


def test_no_release_differs_by_the_option_that_counts(file, tmp_path):
    outputs = []
    for certify in (0, 5):
        name = f"out{certify}.csv"
        given = ["privatize", file, "-c", "note", "-e", 12, "-o", name, "--seed", 3]
        report = ["--report", f"{name}.json", "--certify", certify]
        done = invoke(*given, *report)
        outputs.append((tmp_path / name).read_bytes())
        written = json.loads((tmp_path / f"{name}.json").read_text())
        assert ("context" in written) == bool(certify)
    assert outputs[0] == outputs[1]
    assert written["context"]["computed"] == "of this release"
    assert written["context"]["exposed"] >= 3
    assert "is more than 50 % sure of them" in done.stderr
    quiet = invoke(*given, *report, "--force", "-q")
    assert "names them" not in quiet.stderr
    for word in SECRET:
        assert word not in json.dumps(written)


@pytest.mark.slow("builds a model")
def test_a_corpus_of_the_domain_recovers_more(file, tmp_path):
    (tmp_path / "notes.csv").write_text("note\nThe zebra met Zorro at noon.\n")
    lines = ["The zebra met Zorro at night."] * 40
    (tmp_path / "other.csv").write_text("\n".join(["note", *lines]))
    shares = [
        json.loads(invoke(*given, "--json").stdout)["mean_posterior"]
        for given in (
            ("explain", file, "-c", "note", "-e", 12),
            ("explain", file, "-c", "note", "-e", 12, "--corpus", "other.csv"),
        )
    ]
    assert shares[1] > shares[0] + 0.1
    hint = "To measure it: mondegreen attack."
    given = "explain", file, "-c", "note", "-e", 12
    assert hint in invoke(*given).stdout
    assert hint not in invoke(*given, "--corpus", "other.csv").stdout
    both = ["--corpus", "other.csv", "--language", "english"]
    invoke("explain", file, "-c", "note", "-e", 12, *both, expect=2)


def test_what_is_no_text_is_refused_without_words_of_it(file, tmp_path):
    invoke("explain", file, "-c", "body", "-e", 12, expect=3)
    invoke("explain", "missing.csv", "-c", "note", "-e", 12, expect=3)
    (tmp_path / "empty.csv").write_text("note\n\n")
    invoke("explain", "empty.csv", "-c", "note", "-e", 12, expect=3)
    (tmp_path / "bad.csv").write_bytes(b"note\nBarack \xff\n")
    done = invoke("explain", "bad.csv", "-c", "note", "-e", 12, expect=3)
    assert "Barack" not in done.output


def test_what_cannot_be_certified_is_refused_before_any_work(file, tmp_path):
    given = ["privatize", file, "-c", "note", "-o", "o.csv", "--certify", 3]
    law = ["--policy", "all", "--epsilon", 10]
    invoke(*given, *law, "--read", "words", expect=2)
    invoke(*given, *law, "--unknown", "drop", expect=2)
    assert not (tmp_path / "o.csv").exists()
    done = invoke(*given, *law)
    assert "is more than 50 % sure of them" in done.stderr


@pytest.mark.parametrize("name", ["a.txt", "a.json", "a.jsonl", "a.tsv"])
def test_every_format_of_text_has_a_certificate(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = {
        "a.txt": f"{NOTE}\n",
        "a.json": json.dumps([{"text": NOTE}]),
        "a.jsonl": json.dumps({"text": NOTE}) + "\n",
        "a.tsv": f"text\tn\n{NOTE}\t1\n",
    }
    (tmp_path / name).write_text(data[name])
    found = json.loads(invoke("explain", name, "-e", 12, "--json").stdout)
    assert found["exposed"] >= 3


def test_a_word_is_still_explained(file):
    assert "diabetes" in invoke("explain", "diabetes", "-e", 12).stdout
