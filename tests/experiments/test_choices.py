"""Vectors, models, seeds and epsilons of one's own in place of a recipe's."""

import os
import signal
import struct

import numpy as np
import pytest
from click.testing import CliRunner

from mondegreen.cli.main import cli
from mondegreen.errors import ConfigurationError, MondegreenError
from mondegreen.plugins import blame
from mondegreen_experiments.adapt import adapted
from mondegreen_experiments.bench import Bench
from mondegreen_experiments.choices import (
    Choices,
    check_choices,
    digest_of,
    given_spaces,
)
from mondegreen_experiments.measures.preprocess import _of_nouns, preprocess
from mondegreen_experiments.papers import recipe_named
from mondegreen_experiments.recipe import Recipe, Shape, curve, least_step
from mondegreen_experiments.result import HOLDS, UNTOLD, Result
from mondegreen_experiments.run import run_all, runs_of

WORDS = ["film", "good", "bad", "paris", "london"]
VECTORS = np.random.default_rng(0).normal(size=(5, 300)).astype(np.float32)


def as_glove(path, header=""):
    rows = (f"{w} {' '.join(map(str, v))}" for w, v in zip(WORDS, VECTORS, strict=True))
    path.write_text(header + "\n".join(rows) + "\n", encoding="utf-8")


def as_binary(path):
    rows = [
        word.encode() + b" " + struct.pack("300f", *vector) + b"\n"
        for word, vector in zip(WORDS, VECTORS, strict=True)
    ]
    path.write_bytes(b"5 300\n" + b"".join(rows))


@pytest.mark.parametrize("kind", ["glove", "fasttext", "word2vec"])
def test_vectors_of_each_format_take_the_place_of_ours(tmp_path, kind):
    path = tmp_path / {"glove": "g.txt", "fasttext": "f.vec", "word2vec": "w.bin"}[kind]
    if kind == "word2vec":
        as_binary(path)
    else:
        as_glove(path, "5 300\n" if kind == "fasttext" else "")
    told = []
    spaces = given_spaces([f"glove={path}"], 0, tmp_path / "runs", told.append)
    assert told == [f"{path}: 5 words read, 0 bad rows left out"]
    bench = Bench(choices=Choices(spaces))
    space = bench.space("glove-300")
    assert list(space.words) == WORDS
    assert np.allclose(space.vectors, VECTORS, atol=1e-6)
    assert bench.space("glove-3").dim == 3  # by PCA
    told.clear()
    assert given_spaces([f"glove={path}"], 0, tmp_path / "runs", told.append) == spaces
    assert told == []  # read once
    (few,) = given_spaces([f"glove={path}"], 2, tmp_path / "runs", told.append)
    assert Bench(choices=Choices((few,))).space("glove-300").vocab_size == 2


def test_a_space_of_other_dimensions_or_words_is_refused(tmp_path):
    as_glove(tmp_path / "g.txt")
    with pytest.raises(ConfigurationError, match="has 300 dimensions, and glove"):
        given_spaces([f"glove-50={tmp_path / 'g.txt'}"], 0, tmp_path / "runs", print)
    low = VECTORS[:, :50]
    rows = (f"{w} {' '.join(map(str, v))}" for w, v in zip(WORDS, low, strict=True))
    (tmp_path / "low.txt").write_text("\n".join(rows))
    with pytest.raises(ConfigurationError, match="50 dimensions, and glove needs 300"):
        given_spaces([f"glove={tmp_path / 'low.txt'}"], 0, tmp_path / "runs", print)
    (given,) = given_spaces(
        [f"glove-50={tmp_path / 'low.txt'}"], 0, tmp_path / "runs", print
    )
    with pytest.raises(ConfigurationError, match="words are not those of glove-300"):
        Bench(choices=Choices((given,))).space("glove-50")
    for bad in ("glove", "mine=x", f"glove-many={tmp_path / 'g.txt'}", "glove=nowhere"):
        with pytest.raises(MondegreenError):
            given_spaces([bad], 0, tmp_path / "runs", print)


def test_vectors_that_lack_a_word_of_a_paper_name_it(tmp_path):
    as_glove(tmp_path / "g.txt")
    given = ["reproduce", "cmp-words", "--runs", str(tmp_path / "runs")]
    given += ["--space", f"glove={tmp_path / 'g.txt'}", "--seeds", "1"]
    done = CliRunner().invoke(cli, given)
    assert done.exit_code == 2
    assert "the vectors lack 'encryption', a word of the paper" in done.stderr


def test_a_call_says_what_is_its_own(tmp_path):
    as_glove(tmp_path / "g.txt")
    given = ["reproduce", "tem-threshold", "--runs", str(tmp_path / "runs")]
    given += ["--space", f"glove={tmp_path / 'g.txt'}", "--seeds", "1"]
    done = CliRunner().invoke(cli, given)
    assert done.exit_code == 0, done.output
    assert "In place of that: your vectors for glove." in done.stderr
    assert "cannot be told here\n" in done.stdout
    assert "  why: one run has no interval" in done.stdout
    assert "counted apart\n  test: margin " in done.stdout
    choices = Choices(classifier="/somewhere/bert", sentence_model="m:f")
    assert choices.names() == ["the classifier bert", "the sentence model m:f"]


def test_models_that_are_not_there_are_refused(tmp_path):
    assert check_choices("lstm", "") == ("lstm", "")
    for classifier, model in (("nothing", ""), ("", str(tmp_path)), ("", "nothing:f")):
        with pytest.raises(ConfigurationError):
            check_choices(classifier, model)


def test_keys_cover_data_and_choices(tmp_path):
    recipe = recipe_named("cmp-words")
    point = recipe.points["quick"][0]
    (tmp_path / "imdb.parquet").write_bytes(b"one")
    keys = [recipe.key(point, 0, Bench(tmp_path).key(["imdb"]))]
    digest_of.cache_clear()
    (tmp_path / "imdb.parquet").write_bytes(b"two")
    keys.append(recipe.key(point, 0, Bench(tmp_path).key(["imdb"])))
    for choices in (Choices(classifier="lstm"), Choices(preprocess=("lemmas",))):
        keys.append(recipe.key(point, 0, Bench(tmp_path, choices=choices).key([])))
    assert len(set(keys)) == len(keys)
    assert Bench(tmp_path).key(["imdb"]) == Bench(tmp_path).key(["imdb"])


def test_stop_words_go_and_nouns_become_lemmas(tmp_path):
    (tmp_path / "nltk_words").mkdir()
    stops = tmp_path / "nltk_words" / "stopwords-english.txt"
    stops.write_text("the\nof\n")
    texts = ["The films of Oslo!", ""]
    assert preprocess(texts, (), tmp_path.joinpath) == texts
    found = preprocess(texts, ("stop-words",), tmp_path.joinpath)
    assert found == ["films oslo", ""]
    with pytest.raises(MondegreenError, match="no nouns of WordNet"):
        preprocess(texts, ("lemmas",), tmp_path.joinpath)
    lemma = _of_nouns({"box", "wolf", "bus", "film"}, {"mice": "mouse"})
    given = ["boxes", "mice", "bus", "films", "ran"]
    assert [lemma(each) for each in given] == ["box", "mouse", "bus", "film", "ran"]


def measure(bench, point, seed):
    """Give a line."""
    return {"y": point["epsilon"] + seed / 10}


def line(**changed):
    grid = [
        {"law": "none", "epsilon": 0},
        *({"law": "a", "epsilon": e} for e in (1, 2)),
    ]
    fields = {
        "name": "line", "paper": "Nobody", "title": "A line", "differs": "Nothing.",
        "measure": measure, "points": {"quick": grid}, "seeds": {"quick": 2},
        "shapes": [
            Shape("Text", "y rises",
                  lambda t: least_step(curve(t, "epsilon", "y", law="a"))),
            Shape("Text", "y is large at 2",
                  lambda t: next(m["y"] for p, m in t if p["epsilon"] == 2) - 1),
        ],
    }  # fmt: skip
    return Recipe(**{**fields, **changed})


def test_a_recipe_has_other_seeds_and_epsilons(tmp_path):
    found = adapted(line(), "quick", 3, [5.0, 7.0])
    assert found.seeds["quick"] == 3
    points = found.points["quick"]
    assert [(p["law"], p["epsilon"]) for p in points] == [
        ("none", 0), ("a", 5.0), ("a", 7.0),
    ]  # fmt: skip
    runs = runs_of(found, "quick", Bench(), tmp_path, lambda message: None)
    verdicts = [each.verdict for each in Result.of(found, runs).shapes]
    assert verdicts == [HOLDS, UNTOLD]  # nothing was measured at 2
    one = adapted(line(), "quick", None, [5.0])
    runs = runs_of(one, "quick", Bench(), tmp_path, lambda message: None)
    assert [each.verdict for each in Result.of(one, runs).shapes] == [UNTOLD, UNTOLD]
    same = adapted(line(), "quick", None, [])
    runs = runs_of(same, "quick", Bench(), tmp_path, lambda message: None)
    assert [each.verdict for each in Result.of(same, runs).shapes] == [HOLDS, HOLDS]
    no_epsilon = line(points={"quick": [{"law": "a"}]})
    for recipe, epsilons in ((no_epsilon, [1.0]), (line(), [0.0]), (line(), [np.inf])):
        with pytest.raises(ConfigurationError):
            adapted(recipe, "quick", None, epsilons)


OWN = '''
from mondegreen_experiments.recipe import Recipe
def measure(bench, point, seed):
    """Give a number."""
    return {"y": point["epsilon"] + seed}
RECIPE = Recipe(name="my-own", paper="I", title="Mine", differs="", measure=measure,
                points={"quick": [{"epsilon": 1}]}, seeds={"quick": 2})
'''


@pytest.mark.slow("processes")
def test_a_recipe_of_a_file_is_run_also_by_other_processes(tmp_path):
    (tmp_path / "my_own_recipe.py").write_text(OWN)
    path = str(tmp_path / "my_own_recipe.py")
    given = ["reproduce", path, "--runs", str(tmp_path / "runs"), "--epsilon", "4"]
    done = CliRunner().invoke(cli, [*given, "--jobs", "2"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "4.5" in done.stdout  # the mean of 4 and 5


def test_an_error_of_a_recipe_of_a_file_names_the_file(tmp_path):
    path = tmp_path / "failing_recipe.py"
    path.write_text(OWN.replace('return {"y"', 'return {}["a text"] or {"y"'))
    recipe = recipe_named(str(path))
    with pytest.raises(KeyError) as caught:
        runs_of(recipe, "quick", Bench(), tmp_path, lambda message: None)
    problem, is_of_plugin = blame(caught.value)
    assert is_of_plugin
    assert problem.startswith(f"the recipe of {path} failed: KeyError in measure, fail")
    assert "a text" not in problem


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("empty_recipe.py", "", "has no RECIPE"),
        ("not-a-name.py", OWN, "name must be one of a module"),
        ("string.py", OWN, "string is a module already"),
        ("taken.py", OWN.replace("my-own", "cmp-words"), "name of another recipe"),
    ],
)
def test_a_file_that_is_no_recipe_is_refused(tmp_path, name, text, problem):
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigurationError, match=problem):
        recipe_named(str(tmp_path / name))
    with pytest.raises(ConfigurationError, match="there is no file"):
        recipe_named(str(tmp_path / "nowhere.py"))


def dies_once(bench, point, seed):
    """Give a number, but in one process."""
    if point["epsilon"] == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"y": 1.0}


@pytest.mark.slow("processes", seconds=2)
def test_a_process_that_is_killed_ends_one_run_and_no_other(tmp_path):
    some = line(measure=dies_once, shapes=(), seeds={"quick": 1})
    other = line(name="other", shapes=(), seeds={"quick": 1})
    found = run_all([some, other], "quick", Bench(), tmp_path, lambda m: None, jobs=2)
    assert isinstance(found["line"], ConfigurationError)
    assert "a process was killed" in str(found["line"])
    assert len(found["other"]) == 3
    kept = (tmp_path / "line.jsonl").read_text().splitlines()
    assert len(kept) == 2  # all but the one that was killed


def dies_when_done(bench, point, seed):
    """Give a number, and die a little later."""
    import threading

    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGKILL)).start()
    return {"y": 1.0}


@pytest.mark.slow("processes")
def test_a_process_that_dies_idle_costs_no_run(tmp_path):
    import time

    alone = line(measure=dies_when_done, shapes=(), seeds={"quick": 1}, alone=True)

    def wait(message):
        if "1 of 3" in message:
            time.sleep(1.5)  # it dies in the meantime

    found = run_all([alone], "quick", Bench(), tmp_path, wait)
    assert not isinstance(found["line"], Exception), found["line"]
    assert len(found["line"]) == 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write a transformer with random weights, of one small layer."""
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    path = tmp_path_factory.mktemp("model")
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS]
    words = {word: i for i, word in enumerate(names)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, "[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]"
    ).save_pretrained(path)
    config = transformers.BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1,
        num_attention_heads=2, intermediate_size=16,
    )  # fmt: skip
    transformers.BertForSequenceClassification(config).save_pretrained(path)
    return path


@pytest.mark.slow("trains a transformer of one layer")
@pytest.mark.filterwarnings("ignore")
def test_a_transformer_of_a_folder_learns_and_compares_texts(folder):
    from mondegreen_experiments.models.training import Training
    from mondegreen_experiments.models.transformer import fit_transformer, mean_pooled

    texts, labels = ["good film", "bad film"] * 40, np.array([1, 0] * 40)
    given = (texts, labels), (texts[:10], labels[:10]), 2
    training = Training(epochs=20, batch=16, rate=3e-2, patience=5, longest=8)
    tell = fit_transformer(folder, *given, 0, training)
    assert (tell(texts).argmax(axis=1) == labels).mean() == 1.0
    again = fit_transformer(folder, *given, 0, training)
    assert np.array_equal(tell(texts), again(texts))
    encode = mean_pooled(folder)
    vectors = encode(["good film", "good film", "bad"])
    assert vectors.shape == (3, 16)
    assert np.allclose(vectors[0], vectors[1])
    assert not np.allclose(vectors[0], vectors[2])
    with pytest.raises(ConfigurationError, match="transformers can load"):
        mean_pooled(folder.parent)
