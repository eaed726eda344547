"""Recipes are run, kept, gone on with, and compared with what was published."""

import json
import math

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import mondegreen as mg
from mondegreen.cli.main import cli
from mondegreen.errors import ConfigurationError, UnknownNameError
from mondegreen.experiments.bench import Bench, reduced
from mondegreen.experiments.papers import NAMES, recipe_named
from mondegreen.experiments.recipe import Published, Recipe, Shape, curve, rises
from mondegreen.experiments.result import Mean, Result
from mondegreen.experiments.run import runs_of, write_parquet

CALLS = []


def measure(bench, point, seed):
    CALLS.append((point["x"], seed))
    return {"y": point["x"] + seed / 10}


def recipe(**changed):
    fields = {
        "name": "made-up",
        "paper": "Nobody 2026",
        "title": "A line",
        "differs": "Nothing.",
        "measure": measure,
        "points": {"quick": [{"x": 1}, {"x": 2}], "full": [{"x": x} for x in range(4)]},
        "seeds": {"quick": 2, "full": 3},
        "published": [
            Published("Table 1", {"x": 1}, "y", 1.05, 0.0),
            Published("Table 1", {"x": 2}, "y", 9.0, 0.5, "another line"),
            Published("Table 1", {"x": 3}, "y", 3.0, 0.0),
        ],
        "shapes": [
            Shape("Figure 1", "y rises", lambda t: rises(curve(t, "x", "y"))),
            Shape("Figure 1", "y falls", lambda t: rises(curve(t, "x", "y")[::-1])),
        ],
    }
    return Recipe(**{**fields, **changed})


@pytest.fixture(autouse=True)
def forget():
    CALLS.clear()


def run(folder, scale="quick", **changed):
    return runs_of(recipe(**changed), scale, Bench(), folder, lambda message: None)


def test_each_run_is_made_once_and_shared_by_the_scales(tmp_path):
    first = run(tmp_path)
    assert CALLS == [(1, 0), (1, 1), (2, 0), (2, 1)]
    assert run(tmp_path) == first
    assert len(CALLS) == 4
    assert len(run(tmp_path, "full")) == 12
    assert len(CALLS) == 12


def test_a_line_that_was_cut_short_is_no_run(tmp_path):
    run(tmp_path)
    path = tmp_path / "made-up.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    CALLS.clear()
    assert [each.measured["y"] for each in run(tmp_path)] == [1, 1.1, 2, 2.1]
    assert CALLS == [(2, 1)]
    assert run(tmp_path)
    assert CALLS == [(2, 1)]  # what was added behind the cut line is read


def test_runs_of_another_version_are_not_used(tmp_path):
    run(tmp_path)
    run(tmp_path, version=2)
    assert len(CALLS) == 8


def test_an_interrupted_experiment_keeps_what_is_done(tmp_path):
    def interrupted(bench, point, seed):
        if point["x"] == 2:
            raise KeyboardInterrupt
        return measure(bench, point, seed)

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, measure=interrupted)
    CALLS.clear()
    run(tmp_path)
    assert CALLS == [(2, 0), (2, 1)]


def test_an_interrupted_command_says_where_finished_runs_are(tmp_path, monkeypatch):
    def interrupted(bench, point, seed):
        raise KeyboardInterrupt

    found = recipe(measure=interrupted)
    monkeypatch.setattr("mondegreen.experiments.papers.recipe_named", lambda _: found)
    done = CliRunner().invoke(cli, ["reproduce", "made-up", "--runs", str(tmp_path)])
    assert done.exit_code == 130 or isinstance(done.exception, SystemExit | None)
    assert str(tmp_path) in done.stderr


def test_a_number_agrees_within_our_interval_and_its_tolerance(tmp_path):
    result = Result.of(recipe(), run(tmp_path))
    assert [each.agrees for each in result.compared] == [True, False, None]
    assert [holds for *_, holds in result.shapes] == [True, False]
    said = result.to_dict()
    assert json.loads(json.dumps(said)) == said


def test_the_interval_of_a_mean_holds_it_nineteen_times_in_twenty():
    rng = np.random.default_rng(0)
    means = [Mean.of(rng.normal(3, 2, 4).tolist()) for _ in range(2000)]
    inside = np.mean([each.low <= 3 <= each.high for each in means])
    assert inside == pytest.approx(0.95, abs=0.015)
    assert Mean.of([7.0]) == Mean(7.0, 7.0, 7.0, 1)


def test_runs_are_written_as_rows(tmp_path):
    write_parquet(tmp_path / "runs.parquet", recipe(), run(tmp_path))
    rows = pq.read_table(tmp_path / "runs.parquet").to_pylist()
    assert [(json.loads(r["point"])["x"], r["seed"], r["value"]) for r in rows] == [
        (1, 0, 1.0),
        (1, 1, 1.1),
        (2, 0, 2.0),
        (2, 1, 2.1),
    ]


def test_texts_are_kept_shown_and_not_averaged(tmp_path):
    def worded(bench, point, seed):
        return {"y": point["x"], "said": f"word {seed}"}

    for _ in range(2):  # once measured, once read again
        found = run(tmp_path, measure=worded)
        result = Result.of(recipe(), found)
        assert set(result.means[0][1]) == {"y"}
        assert result.to_dict()["points"][1]["texts"] == {"said": "word 0"}
    write_parquet(tmp_path / "runs.parquet", recipe(), found)
    rows = pq.read_table(tmp_path / "runs.parquet").to_pylist()
    assert [(row["value"], row["text"]) for row in rows[:2]] == [
        (1.0, None),
        (None, "word 0"),
    ]


@pytest.mark.parametrize("name", NAMES)
def test_recipes_are_whole(name):
    found = recipe_named(name)
    assert found.name == name
    assert found.points["quick"]
    assert found.points["full"]
    for each in found.published:
        assert math.isfinite(each.value)
        assert each.tolerance >= 0
        every = [*found.points["quick"], *found.points["full"]]
        assert dict(each.point) in [dict(point) for point in every], each


def test_projected_spaces_keep_the_longest_directions():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(200, 6)) * [9, 5, 1, 1, 1, 1]
    space = mg.Space.from_arrays("whole", [f"w{i}" for i in range(200)], vectors)
    two = reduced(space, 2, "two")
    assert two.dim == 2
    before = np.linalg.norm(vectors[0] - vectors[1])
    after = np.linalg.norm(two.vectors[0].astype(float) - two.vectors[1])
    assert after <= before * (1 + 1e-6)
    assert two.vectors.var(axis=0).sum() == pytest.approx(81 + 25, rel=0.3)
    assert reduced(space, 6, "six") is space
    with pytest.raises(ConfigurationError, match="only 6"):
        reduced(space, 7, "seven")


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match="--data"):
        Bench().table("imdb")
    with pytest.raises(ConfigurationError, match=r"imdb\.parquet"):
        Bench(tmp_path).table("imdb")
    with pytest.raises(UnknownNameError):
        recipe_named("cmp-magic")


def test_the_command_lists_and_measures(tmp_path, monkeypatch):
    listed = CliRunner().invoke(cli, ["reproduce", "--list", "--json"])
    assert [row["name"] for row in json.loads(listed.stdout)] == list(NAMES)
    monkeypatch.setattr(
        "mondegreen.experiments.papers.recipe_named", lambda _: recipe()
    )
    options = ["reproduce", "made-up", "--runs", str(tmp_path), "--json"]
    done = CliRunner().invoke(cli, [*options, "-o", str(tmp_path / "out.parquet")])
    assert done.exit_code == 0, done.output
    assert [each["agrees"] for each in json.loads(done.stdout)["published"]] == [
        True,
        False,
        None,
    ]
    again = CliRunner().invoke(cli, [*options, "-o", str(tmp_path / "out.parquet")])
    assert again.exit_code == 2
    assert "--force" in again.stderr
    shown = CliRunner().invoke(cli, options[:-1])
    assert "does NOT hold" in shown.stdout
    assert CliRunner().invoke(cli, ["reproduce"]).exit_code == 2


def test_points_without_some_measures_are_printed_beside_others(tmp_path, monkeypatch):
    def some(bench, point, seed):
        return {"y": 1.0} if point["x"] == 1 else {"z": 2.0, "why": "not reached"}

    found = recipe(measure=some, shapes=[])
    monkeypatch.setattr("mondegreen.experiments.papers.recipe_named", lambda _: found)
    done = CliRunner().invoke(cli, ["reproduce", "made-up", "--runs", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "not reached" in done.stdout
