"""Mechanisms side by side on texts of one's own: what is read, measured and written."""

import csv
import json
import os
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import mondegreen as mg
from mondegreen.attacks.pairs import build_pairs
from mondegreen.attacks.sensitive import attack_with_corpus
from mondegreen.cli.main import cli
from mondegreen.errors import ConfigurationError, MissingColumnError, SourceError
from mondegreen.policy.policy import load_policy
from mondegreen.privatizer.build import build_privatizer
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.settings import Settings
from mondegreen.text.lookup import Lookup
from mondegreen.text.tokenizer import tokenize
from mondegreen_experiments.choices import digest_of
from mondegreen_experiments.compare import command
from mondegreen_experiments.compare.attack import attack_release, channel_of
from mondegreen_experiments.compare.contenders import (
    Contender,
    read_contender,
    read_contenders,
    registered_name,
)
from mondegreen_experiments.compare.data import read_texts
from mondegreen_experiments.compare.measure import macro_f1
from mondegreen_experiments.compare.report import rows, to_csv, to_latex
from mondegreen_experiments.result import Mean

GOOD = "a good and happy film about paris , we liked it"
BAD = "an awful and boring film about london , we hated it"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Write eighty texts whose words tell their labels."""
    path = tmp_path_factory.mktemp("data") / "films.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["words", "stars", "part"])
        for i in range(80):
            part = ("train", "train", "validation", "test")[i // 2 % 4]
            writer.writerow([GOOD if i % 2 else BAD, 5 if i % 2 else 1, part])
    return path


def run(data, folder, *more):
    given = ["benchmark", str(data), "--label", "stars", "--column", "words"]
    given += ["--runs", str(folder), "--quiet", *more]
    return CliRunner().invoke(cli, given, catch_exceptions=False)


def test_contenders_are_read_with_parameters_policies_and_epsilons():
    found = read_contender("vickrey,t=0.25,epsilon=5,epsilon=10")
    assert (found.name, dict(found.parameters)) == ("vickrey", {"t": 0.25})
    assert found.epsilons == (5.0, 10.0)
    colon, comma = map(read_contender, ("tem:beta=0.01,epsilon=5", "tem,beta=0.01"))
    assert (colon.parameters, colon.epsilons) == (comma.parameters, (5.0,))
    assert read_contender("coin:Coin,epsilon=5").name == "coin:Coin"
    both = read_contenders(["tem"], ["names"])
    assert [each.label for each in both] == ["tem", "urr, policy names"]
    chosen = both[1].settings(8.0, None)
    assert (chosen.policy, chosen.mechanism, chosen.epsilon) == ("names", "urr", 8.0)
    # A space is for mechanisms that work on one, and all words are those of the tree.
    assert both[1].settings(8.0, "small").space is None
    assert both[0].settings(8.0, "small").space == "small"
    every = read_contenders([], ["all,epsilon=10"])[0].settings(10.0, "small")
    assert (every.mechanism, every.policy, every.space) == ("tree", "all", "small")
    for bad in ("", "tem,t", "krr,policy=names,policy=all", "tem,epsilon=much"):
        with pytest.raises(ConfigurationError):
            read_contender(bad)
    with pytest.raises(ConfigurationError, match="twice"):
        read_contenders(["tem", "tem"], [])
    with pytest.raises(ConfigurationError, match="nothing to compare"):
        read_contenders([], [])


def test_a_class_of_the_folder_is_found_and_a_missing_one_is_named(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    with pytest.raises(ConfigurationError, match="no module not_there"):
        registered_name("not_there:Law")
    with pytest.raises(ConfigurationError, match="json has no Law"):
        registered_name("json:Law")
    with pytest.raises(ConfigurationError, match="write mine:Law, and call from the"):
        registered_name("mine.py:Law")
    assert registered_name("santext") == "exponential"


def test_a_table_says_who_proves_a_mechanism(tmp_path, monkeypatch):
    (tmp_path / "coined.py").write_text(
        "from mondegreen.mechanisms.symbols.krr import Krr as KRR\n"
        "class ClaimedHere(KRR):\n"
        "    name = 'claimed_here'\n"
        "    is_private = True\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    registry = __import__("sys").modules["mondegreen.mechanisms"]._PLUGINS
    monkeypatch.setattr(registry, "_registered", {})
    assert read_contender("tem").proof == "ours"
    assert read_contender("vickrey_literal").proof == "none"
    assert read_contender("coined:ClaimedHere").proof == "its author's"
    means = {"accuracy tf-idf": Mean(0.5, 0.4, 0.6, 5)}
    points = [
        ({"contender": name, "mechanism": name, "epsilon": 5.0}, means)
        for name in ("none", "tem", "vickrey_literal")
    ]
    result = SimpleNamespace(means=points)
    assert [each["mechanism"] for each in rows(result)] == [
        "none",
        "tem",
        "vickrey_literal (no proof)",
    ]
    assert r"vickrey\_literal (no proof) & 5 &" in to_latex(result)
    assert to_csv(result).splitlines()[-1].endswith(",5,none")


@pytest.mark.parametrize(
    ("known", "corpus", "shown"),
    [(1.0, 4000, "0.200"), (0.0, 4000, "≥ 0.200"), (1.0, 3999, "≥ 0.200")],
)
def test_a_table_marks_what_a_weaker_attacker_recovered(known, corpus, shown, capsys):
    means = {
        "chance": Mean(0.5, 0.5, 0.5, 5),
        "recovered": Mean(0.2, 0.2, 0.2, 5),
        "law_known": Mean(known, known, known, 5),
        "corpus_texts": Mean(corpus, corpus, corpus, 5),
    }
    points = [({"contender": "tem", "mechanism": "tem", "epsilon": 5.0}, means)]
    result = SimpleNamespace(means=points)
    assert rows(result)[0]["sensitive recovered"] == shown
    is_weak = shown != "0.200"
    latex = to_latex(result)
    assert (r"$\geq$ 20.0" in latex) is is_weak
    assert (r"$\geq$: a better attacker recovers more." in latex) is is_weak
    assert f"Corpus of the attacker: {corpus:,} texts." in latex
    assert latex.index("Corpus of the attacker") > latex.index("\\bottomrule")
    command._print(result)
    told = " ".join(capsys.readouterr().err.split())
    assert f"Corpus of the attacker: {corpus:,} texts, the training texts." in told
    assert ("this corpus is small" in told) is (corpus < 4000)
    assert ("estimated the probabilities" in told) is (known < 1)


def test_kept_runs_are_of_the_files_as_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    policy = tmp_path / "mine.policy"
    policy.write_text("one")
    own = Contender("krr", {}, str(policy))
    before = own.files(None)
    digest_of.cache_clear()
    policy.write_text("two")
    after = own.files(None)
    assert before[0] == after[0]  # of the class
    assert before[1] != after[1]
    assert Contender("tem", {}).files(None) != Contender("laplace", {}).files(None)


def test_parts_are_those_of_the_split_or_others_for_each_seed(data):
    texts = read_texts(str(data), "words", "stars", "part", "csv")
    parts = texts.parts(0, 0)
    assert {name: len(rows) for name, rows in parts.items()} == {
        "train": 40, "valid": 20, "test": 20,
    }  # fmt: skip
    assert {name: len(rows) for name, rows in texts.parts(0, 40).items()} == {
        "train": 20, "valid": 10, "test": 10,
    }  # fmt: skip
    drawn = read_texts(str(data), "words", "stars", None, "csv")
    one, same, other = (drawn.parts(seed, 0) for seed in (0, 0, 1))
    assert sorted(np.concatenate(list(one.values()))) == list(range(80))
    assert all((one[name] == same[name]).all() for name in one)
    assert set(one["test"]) != set(other["test"])


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([{"words": "a", "stars": None}] * 30, "row 1: no value in column 'stars'"),
        ([{"words": "", "stars": 1}] * 30, "row 1: no value in column 'words'"),
        ([{"words": "a", "stars": 1}] * 30, "one label"),
        ([{"words": "a", "stars": i} for i in range(3)], "fewer than 20 texts"),
    ],
)
def test_data_that_cannot_be_compared_is_refused_without_its_text(
    tmp_path, rows, problem
):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    with pytest.raises(SourceError, match=re.escape(problem)):
        read_texts(str(path), "words", "stars", None, "parquet")
    with pytest.raises(MissingColumnError):
        read_texts(str(path), "words", "label", None, "parquet")


def test_text_that_is_not_utf8_is_refused_with_advice_that_can_be_followed(tmp_path):
    pytest.importorskip("sklearn")  # is asked for before the file is read
    path = tmp_path / "films.csv"
    path.write_bytes(b"words,stars\n" + b"caf\xe9,1\nbad,0\n" * 20)
    done = run(path, tmp_path / "runs", "-m", "tem", "-e", "5")
    assert done.exit_code == 3
    assert "row 1: not valid UTF-8" in done.stderr
    assert "iconv -f cp1252 -t utf-8" in done.stderr
    assert "--encoding" not in done.stderr


def test_a_split_of_other_words_is_refused(tmp_path):
    rows = [{"words": "a", "stars": i % 2, "part": "mine"} for i in range(30)]
    path = tmp_path / "data.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    with pytest.raises(SourceError, match="the split is none of train"):
        read_texts(str(path), "words", "stars", "part", "parquet")


def test_f1_is_the_mean_over_true_classes():
    told = np.eye(3)[[0, 0, 1, 1]]
    assert macro_f1(told, np.array([0, 0, 1, 1])) == 1.0
    assert macro_f1(told, np.array([0, 1, 1, 2])) == pytest.approx(
        (2 / 3 + 1 / 2 + 0) / 3
    )


@pytest.mark.slow("builds an in-domain language model for each run")
def test_tables_have_intervals_and_no_text_and_kept_runs_are_used(data, tmp_path):
    pytest.importorskip("sklearn")
    outputs = [tmp_path / f"table.{end}" for end in ("csv", "tex", "parquet")]
    # A law whose certificate is shipped: to compute one takes half a minute.
    given = ["-m", "tem,epsilon=12", "--policy", "sensitive", "-e", "30"]
    given += ["--seeds", "2", "--attacked", "10"]
    for path in outputs:
        given += ["-o", str(path)]
    done = run(data, tmp_path / "runs", *given, "--json")
    assert done.exit_code == 0, done.output
    told = {each["mechanism"]: each for each in json.loads(done.stdout)["results"]}
    assert list(told) == ["none", "tem", "urr, policy sensitive"]
    assert told["tem"]["epsilon"] == 12
    assert told["none"]["measures"]["accuracy tf-idf"]["value"] == 1.0
    assert told["none"]["measures"]["unchanged"]["value"] == 1.0
    # At such an epsilon nearly all is left, and is recovered.
    assert told["tem"]["measures"]["unchanged"]["value"] > 0.9
    assert told["tem"]["measures"]["recovered"]["value"] > 0.8
    assert all(each["measures"]["law_known"]["value"] == 1 for each in told.values())
    assert "corpus_texts" not in told["none"]["measures"]
    assert told["tem"]["measures"]["corpus_texts"]["value"] == 56
    # The policy replaces two places, and shows the other words.
    assert 0.8 < told["urr, policy sensitive"]["measures"]["unchanged"]["value"] < 1
    for path in outputs[:2]:
        text = path.read_text("utf-8")
        assert not {"paris", "london", "awful"} & set(re.findall(r"\w+", text))
    lines = list(csv.DictReader(outputs[0].read_text("utf-8").splitlines()))
    names = "mechanism epsilon measure value low high runs proof".split()
    assert list(lines[0]) == names
    assert {r["proof"] for r in lines} == {"", "ours"}
    assert all(float(r["low"]) <= float(r["value"]) <= float(r["high"]) for r in lines)
    latex = outputs[1].read_text("utf-8")
    body = latex[latex.index("\\toprule") :]
    # Shares are in percent; the cosine is none.
    places = [h.strip(" \\") for h in body.splitlines()[1].split(" & ")]
    clear = body.splitlines()[3].strip(" \\").split(" & ")
    found = dict(zip(places, clear, strict=True))
    assert (found["Words unchanged"], found["Cosine"]) == ("100.0", "1.000")
    columns = {line.count(" & ") for line in body.splitlines() if line.endswith(r"\\")}
    assert columns == {5}
    table = pq.read_table(outputs[2])
    assert table.num_rows == sum(int(r["runs"]) for r in lines)
    assert set(table["version"].to_pylist()) == {mg.__version__}
    digests = {
        json.loads(point)["mechanism"]: digest
        for point, digest in zip(
            table["point"].to_pylist(), table["policy_digest"].to_pylist(), strict=True
        )
    }
    digest = load_policy("sensitive").digest
    assert digests == {"none": None, "tem": None, "urr, policy sensitive": digest}
    # Again, from what was kept; an output is not replaced unless asked.
    assert run(data, tmp_path / "runs", *given).exit_code == 2
    kept = (tmp_path / "runs" / "own-data.jsonl").read_text()
    assert run(data, tmp_path / "runs", *given, "--force").exit_code == 0
    assert (tmp_path / "runs" / "own-data.jsonl").read_text() == kept


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (["-m", "tem"], "tem has no epsilon. Use --epsilon NUMBER, or -m tem,epsilon="),
        (["--policy", "names"], "or -m urr,policy=names,epsilon=12."),
        (["-m", "nothing", "-e", "5"], "mechanism"),
        (["-m", "vickrey_literal", "-e", "5"], "no proof"),
        (["-m", "tem", "-e", "-1"], "above 0"),
        (["-m", "tem", "-e", "5", "-o", "table.doc"], "table.doc"),
        (["-m", "tem", "-e", "5", "--classifier", "nowhere"], "nowhere"),
        (["-m", "krr,policy=nothing", "-e", "5"], "nothing"),
    ],
)
def test_mistakes_are_found_before_anything_is_measured(data, tmp_path, more, problem):
    pytest.importorskip("sklearn")
    done = CliRunner().invoke(
        cli,
        ["benchmark", str(data), "--label", "stars", "--column", "words",
         "--runs", str(tmp_path / "runs"), *more],
    )  # fmt: skip
    assert done.exit_code in (2, 4), done.output
    assert problem in done.stderr
    assert not (tmp_path / "runs").exists()


def test_the_attacker_of_a_corpus_recovers_as_much_as_that_of_all_words(small_space):
    """Where the corpus has all words, the channel of some is that of all."""
    state = mg.mechanism("tem", epsilon=3.0).prepare(small_space)
    texts = ["paris and london", "rome or paris", "we met in oslo"] * 10
    pairs = build_pairs(texts, Lookup(small_space))
    pairs = pairs.sample(state, np.random.default_rng(0))
    corpus = [" ".join(small_space.words)] * 3 + texts
    whole = attack_with_corpus(state, pairs, tokenize(texts), corpus)
    made = Privatizer(state_mechanism(state), small_space)
    some = attack_release(made, texts, corpus, 0).sensitive
    assert some.n == whole.n > 0
    assert abs(some.value - whole.value) < 0.25
    assert some.value > 0.2


def state_mechanism(state):
    return mg.mechanism("tem", epsilon=state.guarantee.epsilon)


def test_texts_with_times_are_attacked_under_a_policy():
    """A policy cuts a time into other words than a space does."""
    texts = ["Ann from Leeds won 3-2 on Friday, at 12:30"] * 5
    chosen = Settings(policy="sensitive", epsilon=12.0).resolve()
    read = attack_release(build_privatizer(chosen), texts, texts, 0)
    assert read.sensitive.n > 0


def test_the_channel_of_draws_is_near_that_of_the_law(small_space):
    words = ["paris", "london", "rome"]
    tem = mg.mechanism("tem", epsilon=2.0).prepare(small_space)
    pairs = build_pairs(words, Lookup(small_space)).sample(
        tem, np.random.default_rng(1)
    )
    every = np.arange(small_space.vocab_size, dtype=np.int32)
    prior = np.full(small_space.vocab_size + 1, 1 / (small_space.vocab_size + 1))
    exact = channel_of(tem, pairs, every, prior)

    class Drawn:
        """The same law, of which nobody knows a closed form."""

        space = small_space

        def log_prob(self, ids):
            raise mg.errors.LawUnknownError("none")

        def sample(self, ids, rng):
            return tem.sample(ids, rng)

    drawn = channel_of(Drawn(), pairs, every, prior)
    for output in np.unique(pairs.outputs):
        row, other = exact.observation[output], drawn.observation[output]
        assert exact.candidates[row, 0] == drawn.candidates[other, 0]
        assert exact.log_law[row, 0] == pytest.approx(drawn.log_law[other, 0], abs=0.2)


@pytest.fixture
def small_space():
    words = ["paris", "london", "rome", "oslo", "and", "or", "we", "met", "in", "film"]
    vectors = np.random.default_rng(3).normal(size=(len(words), 5)) * 2
    return mg.Space.from_arrays("small", words, vectors)


def test_the_folder_of_the_call_is_behind_what_is_installed(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise RuntimeError")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    with pytest.raises(ConfigurationError, match="json has no Law"):
        registered_name("json:Law")
    assert os.fspath(tmp_path) in __import__("sys").path


def test_the_default_classifier_needs_an_extra_without_torch(monkeypatch):
    import mondegreen_experiments.libraries as libraries

    monkeypatch.setattr(libraries, "find_spec", lambda name: None)
    needed = {
        ("sklearn",): "sklearn (pip install './experiments[sklearn]')",
        ("torch",): "torch (pip install './experiments[models]')",
        ("torch", "sklearn"): "torch, sklearn (pip install './experiments[models]')",
    }
    for names, said in needed.items():
        assert libraries.describe_absent(names) == said
    extras = (Path(__file__).parents[2] / "experiments/pyproject.toml").read_text()
    found = tomllib.loads(extras)["project"]["optional-dependencies"]
    assert [each.partition(">")[0] for each in found["sklearn"]] == ["scikit-learn"]
    assert {"sklearn", "models"} <= found.keys()
