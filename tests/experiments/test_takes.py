"""An option that an experiment does not take is refused, and never passed over."""

import numpy as np
import pytest
from click.testing import CliRunner

from mondegreen.cli.main import cli
from mondegreen.errors import ConfigurationError
from mondegreen_experiments.bench import Bench, spaces_of
from mondegreen_experiments.choices import Choices
from mondegreen_experiments.papers import NAMES, recipe_named
from mondegreen_experiments.recipe import Recipe
from mondegreen_experiments.takes import check_taken, list_unused

GLOVE = (("glove", "g.safetensors"),)
GLOVE_50 = (("glove-50", "g.safetensors"),)


def unused(name, scale="quick", **choices):
    return [option for option, _ in list_unused(named(name), scale, Choices(**choices))]


def named(name):
    return recipe_named(name)


@pytest.mark.parametrize(
    ("name", "choices", "found"),
    [
        ("cmp-words", {"spaces": GLOVE}, []),
        ("cmp-words", {"spaces": GLOVE_50}, ["--space glove-50"]),
        ("cmp-words", {"classifier": "lstm"}, ["--classifier"]),
        ("cmp-words", {"preprocess": ("lemmas",)}, ["--preprocess"]),
        ("cmp-utility", {"classifier": "lstm", "preprocess": ("lemmas",)}, []),
        ("cmp-utility", {"sentence_model": "m:f"}, ["--sentence-model"]),
        ("benchmark-scores", {"classifier": "lstm", "sentence_model": "m:f"}, []),
        ("benchmark-axes", {"preprocess": ("lemmas",), "spaces": GLOVE}, []),
        ("benchmark-regression", {"spaces": GLOVE_50}, []),
        ("cmp-deniability", {"spaces": (("w2v", "w"), ("w2v_frequent", "w"))}, []),
        ("vickrey-lexicon", {"spaces": (("w2v_frequent", "w"),)}, ["--space w2v_f"]),
    ],
)
def test_options_that_change_nothing_are_found(name, choices, found):
    options = unused(name, **choices)
    assert len(options) == len(found)
    assert all(a.startswith(b) for a, b in zip(options, found, strict=True))


def test_what_another_scale_takes_is_taken_there():
    assert unused("cmp-words", "full", spaces=GLOVE_50) == []


def test_an_option_that_no_experiment_takes_is_refused():
    told = []
    recipes = [named("cmp-words"), named("cmp-utility")]
    choices = Choices(classifier="lstm")
    check_taken(recipes, "quick", choices, told.append)
    why = "--classifier changes nothing for cmp-words takes no other classifier"
    assert told == [why]
    with pytest.raises(ConfigurationError, match="takes glove-300 at quick scale"):
        check_taken(recipes[:1], "quick", Choices(GLOVE_50), told.append)
    check_taken(recipes, "quick", Choices(), told.append)
    assert len(told) == 1


def test_the_command_refuses_an_option_that_changes_nothing(tmp_path):
    given = ["reproduce", "cmp-words", "--runs", str(tmp_path)]
    done = CliRunner().invoke(cli, [*given, "--classifier", "lstm"])
    assert done.exit_code == 2
    why = "--classifier would change nothing: cmp-words takes no other classifier"
    assert why in done.stderr
    assert list(tmp_path.iterdir()) == []  # nothing was measured


def test_a_recipe_of_another_package_may_take_anything():
    def measure(bench, point, seed):
        """Give a number."""
        return {"y": 1.0}

    measure.__module__ = "somewhere.else"
    recipe = Recipe("x", "I", "", "", measure, {"quick": [{}]}, {"quick": 2})
    assert list(list_unused(recipe, "quick", Choices(GLOVE, "lstm", "m:f"))) == []


WITHOUT = ("none", "krr", "urr")
"""Laws that need no space."""


class Asked(Exception):
    """A space was asked for."""


@pytest.fixture
def asking(monkeypatch, tmp_path):
    """A bench with a few texts, which ends at the first space."""

    def ask(self, name):
        raise Asked(name)

    monkeypatch.setattr(Bench, "_space", ask)
    texts = (["a b c", "d e f"] * 10, np.arange(20) % 2)
    monkeypatch.setattr(Bench, "_written", lambda self, *given: texts)
    lexicon = tmp_path / "opinion_lexicon"
    lexicon.mkdir()
    for name in ("positive", "negative"):
        (lexicon / f"{name}-words.txt").write_text("good\n")
    vectors = tmp_path / "vectors"
    vectors.mkdir()
    (vectors / "w2v_imdb.words.txt").write_text("good\n")
    np.save(vectors / "w2v_imdb_300d.npy", np.zeros((1, 300)))
    return Bench(tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_a_run_asks_for_a_space_that_its_recipe_declares(name, asking):
    recipe, asked = named(name), set()
    for library in recipe.needs:
        pytest.importorskip(library)
    for scale in ("quick", "full"):
        points = [p for p in recipe.points[scale] if p.get("law") not in WITHOUT]
        kinds = {recipe.spaces_of([each]): each for each in points}
        assert kinds
        for spaces, point in kinds.items():
            if point.get("vectors") == "w2v-300" and name == "vickrey-lexicon":
                continue  # its vectors are read from the files beside it
            with pytest.raises(Asked) as caught:
                recipe.measure(asking, point, 0)
            asked.add(str(caught.value))
            assert str(caught.value) in spaces
    assert asked


def test_spaces_of_word2vec_are_read_from_larger_ones():
    assert spaces_of("glove", 50) == ["glove-50"]
    assert spaces_of("w2v", 300) == ["w2v-300"]
