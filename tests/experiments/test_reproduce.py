"""Recipes are run, kept, gone on with, and compared with what was published."""

import importlib
import itertools
import json
import math
import os
import pickle
import signal
import sys
import time
from collections import Counter
from multiprocessing import active_children
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import mondegreen as mg
from mondegreen.cli.main import cli
from mondegreen.errors import ConfigurationError, SourceError, UnknownNameError
from mondegreen.processes import SPAWN
from mondegreen_experiments import code, kept
from mondegreen_experiments.bench import Bench, reduced
from mondegreen_experiments.choices import digest_of
from mondegreen_experiments.code import code_of
from mondegreen_experiments.kept import table_of, write_parquet
from mondegreen_experiments.papers import BOARD, NAMES, recipe_named
from mondegreen_experiments.recipe import Published, Recipe, Shape, curve, place, rises
from mondegreen_experiments.result import FAILS, HOLDS, Mean, Result
from mondegreen_experiments.run import _next, _Task, run_all, runs_of
from waiting import wait_until

CALLS = []
BROKEN = {}


def measure(bench, point, seed):
    """Give a line."""
    if point["x"] in BROKEN:
        raise BROKEN[point["x"]]
    CALLS.append((point["x"], seed))
    return {"y": point["x"] + seed / 10}


def unread(bench, point, seed):
    raise SourceError("made-up", "it has no rows")


def where(bench, point, seed):
    return {"process": os.getpid(), "begun": time.time(), "y": point["x"]}


def killed(bench, point, seed):
    os.kill(os.getpid(), signal.SIGKILL)


def lasts(bench, point, seed):
    Path(os.environ["KEPT_PIDS"], f"{os.getpid()}.pid").touch()
    time.sleep(600)


def where_it_waits(bench, point, seed):
    found = where(bench, point, seed)
    time.sleep(0.3)
    return {**found, "ended": time.time()}


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
            Published("Table 1", {"x": 1}, "y", 1.05, 0.7),
            Published("Table 1", {"x": 2}, "y", 9.0, 0.5),
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
    BROKEN.clear()


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


def test_runs_of_other_code_are_not_used(tmp_path):
    run(tmp_path)
    run(tmp_path, measure=unread_no_more)
    assert len(CALLS) == 4
    run(tmp_path, title="Another", differs="Much.", published=[], shapes=[])
    assert len(CALLS) == 4


FACTOR = 3


def worded(bench, point, seed):
    return {"y": point["x"], "said": f"word {seed}"}


def unread_no_more(bench, point, seed):
    """Give what a function gives that uses a number of this file."""
    return {"y": longer(point["x"])}


def longer(x):
    # A comment is no part of the code.
    return FACTOR * x


def test_code_is_what_a_function_uses_of_its_file_without_words():
    code = code_of(unread_no_more)
    assert "FACTOR = 3" in code
    assert "def longer(x)" in code
    assert "comment" not in code
    assert "Give what" not in code
    assert "CALLS" not in code
    assert "CALLS = []" in code_of(measure)


def lazily(bench, point, seed):
    from mondegreen_experiments.kept import kept as read
    from mondegreen_experiments.recipe import rises

    return {"y": len(read(bench, point)), "z": rises([seed])}


def test_code_is_also_what_other_files_of_the_experiments_hold():
    code = code_of(lazily)
    for used in ("def kept(", "def _lines(", "class Run"):
        assert used in code
    for other in ("def keep(", "def rises(", "class Recipe"):
        assert other not in code


def attacking(bench: Bench, point, seed):
    from mondegreen.attacks.learnt import membership
    from mondegreen.mechanisms import mechanism
    from mondegreen.scores.interval import bound_mean

    law = mechanism("tem", epsilon=point["epsilon"])
    return {"y": bound_mean(membership.features(bench, law)).value}


def test_code_is_also_that_of_attacks_scores_and_data():
    code = code_of(attacking)
    for used in (
        "def bound_mean(",
        "class Interval",
        "def features(",
        "def confidence(",
    ):
        assert used in code
    assert "def _written(self" in code  # how texts are read
    for other in ("def mechanism(", "class Recipe"):
        assert other not in code


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Recipes of others: a package with an entry point, as pip installs it."""
    folder = tmp_path / "site" / "lines"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "slopes.py").write_text(
        "def slope(point):\n    return point['x']\ndef height(seed):\n    return seed\n"
    )
    (folder / "made.py").write_text(
        "from mondegreen_experiments.recipe import Recipe\n"
        "from lines import slopes\n"
        "from .slopes import slope\n"
        "def measure(bench, point, seed):\n"
        "    return {'y': slope(point) + slopes.height(seed)}\n"
        "RECIPE = Recipe(\n"
        "    name='our-line', paper='Nobody 2026', title='A line', differs='All.',\n"
        "    measure=measure, points={'quick': [{'x': 1}]}, seeds={'quick': 1},\n"
        ")\n"
    )
    info = tmp_path / "site" / "lines-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lines\nVersion: 1\n")

    def give(**entries):
        lines = [f"{name} = {to}" for name, to in entries.items()]
        told = "\n".join(["[mondegreen.recipes]", *lines, ""])
        (info / "entry_points.txt").write_text(told)

    give(**{"our-line": "lines.made:RECIPE"})
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    yield give
    for name in [each for each in sys.modules if each.partition(".")[0] == "lines"]:
        del sys.modules[name]


def test_recipes_of_other_distributions_are_listed_and_measured(tmp_path, package):
    listed = CliRunner().invoke(cli, ["reproduce", "--list", "--json"])
    names = [row["name"] for row in json.loads(listed.stdout)]
    assert names == [*NAMES, "our-line", BOARD]
    done = invoke(tmp_path, "our-line", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["points"][0]["measures"]["y"]["value"] == 1
    code = code_of(recipe_named("our-line").measure)
    assert "def slope(" in code
    assert "def height(" in code


LINE = """
{first}
from mondegreen_experiments.recipe import Recipe

def measure(bench, point, seed):
    return {{"y": {value} + point["x"]}}

RECIPE = Recipe(
    name="beside", paper="Nobody 2026", title="A line", differs="All.",
    measure=measure, points={{"quick": [{{"x": 1}}]}}, seeds={{"quick": 1}},
)
"""


@pytest.mark.parametrize(
    ("first", "value"),
    [
        ("from steps_beside import step", "step"),
        ("import steps_beside", "steps_beside.step"),
        ("import steps_beside as own", "own.step"),
    ],
)
def test_runs_of_a_file_are_also_of_the_modules_beside_it(
    tmp_path, monkeypatch, first, value
):
    path = tmp_path / "line_alone.py"
    path.write_text(LINE.format(first=first, value=value))
    monkeypatch.syspath_prepend(tmp_path)
    found = []
    for step in (1, 7):
        (tmp_path / "steps_beside.py").write_text(f"step = {step}  # {'-' * step}\n")
        for cached in (code._file, code.code_of):
            cached.cache_clear()
        for name in ("line_alone", "steps_beside"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        done = invoke(tmp_path, str(path), "--json")
        assert done.exit_code == 0, done.output
        found.append(json.loads(done.stdout)["points"][0]["measures"]["y"]["value"])
    assert found == [2, 8]


def test_runs_of_other_plugins_are_not_used(tmp_path, monkeypatch):
    site, info = tmp_path / "site", tmp_path / "site" / "coins-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: coins\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[mondegreen.mechanisms]\ncoin_here = coin_here:Coin\n"
    )
    (site / "coin_here.py").write_text("Coin = 1\n")
    monkeypatch.syspath_prepend(str(site))
    before = code.code_of_plugins()
    assert "coin_here" in before
    (site / "coin_here.py").write_text("Coin = 2\n")
    digest_of.cache_clear()
    assert code.code_of_plugins() != before


def test_an_entry_point_that_is_no_recipe_of_its_name_is_an_error_of_usage(
    tmp_path, package
):
    package(**{"their-line": "lines.made:RECIPE", "cmp-words": "lines.made:RECIPE"})
    assert recipe_named("cmp-words").name == "cmp-words"  # ours is not replaced
    done = invoke(tmp_path, "their-line")
    assert done.exit_code == 2
    assert "lines.made:RECIPE is no recipe of that name" in done.stderr


def test_code_of_what_stands_in_no_file_tells_functions_apart():
    one, two, same = (
        eval(text, {"__name__": "__nowhere__"})
        for text in ("lambda x: x + 1", "lambda x: x + 2", "lambda x: x + 1")
    )
    assert code_of(one) == code_of(same) != code_of(two)


def test_a_place_is_the_same_however_it_is_written():
    first, second = recipe(), recipe()
    assert first.key({"a": 1, "b": "x"}, 0) == second.key({"b": "x", "a": 1.0}, 0)
    assert first.key({"a": 1}, 0) != first.key({"a": 1}, 1)
    assert first.key({"a": True}, 0) != first.key({"a": 1}, 0)


def test_an_interrupted_experiment_keeps_what_is_done(tmp_path):
    BROKEN[2] = KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    CALLS.clear()
    BROKEN.clear()
    run(tmp_path)
    assert CALLS == [(2, 0), (2, 1)]


def every(folder, recipes, **how):
    return run_all(recipes, "quick", Bench(), folder, lambda message: None, **how)


def test_an_error_ends_its_recipe_and_no_other(tmp_path):
    told = []
    found = every(
        tmp_path,
        [recipe(name="bad", measure=unread), recipe(name="good")],
        finished=lambda recipe, outcome: told.append((recipe.name, type(outcome))),
    )
    assert isinstance(found["bad"], SourceError)
    assert [each.measured["y"] for each in found["good"]] == [1, 1.1, 2, 2.1]
    assert told == [("bad", SourceError), ("good", list)]


@pytest.mark.slow("starts processes")
def test_processes_give_what_one_gives_and_what_measures_time_runs_alone(tmp_path):
    alone = recipe(name="alone", measure=where_it_waits, alone=True)
    several = recipe(name="several", measure=where_it_waits)
    bad = recipe(name="bad", measure=unread)
    found = every(tmp_path, [alone, bad, several], jobs=2)
    assert isinstance(found["bad"], SourceError)
    by_name = {name: [r.measured for r in found[name]] for name in ("alone", "several")}
    ids = {name: {m["process"] for m in each} for name, each in by_name.items()}
    assert os.getpid() not in ids["alone"] | ids["several"]
    assert len(ids["several"]) == 2
    assert len(ids["alone"]) == 1
    ends = sorted((m["begun"], m["ended"]) for m in by_name["alone"])
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(ends))
    assert max(m["ended"] for m in by_name["several"]) <= ends[0][0]
    again = every(tmp_path, [alone, several], jobs=2)
    assert again["several"] == found["several"]  # read, in the order of the grid


@pytest.mark.slow("starts processes")
def test_a_process_that_is_killed_ends_its_recipe_and_no_other(tmp_path):
    recipes = [recipe(name="bad", measure=killed), recipe(name="good", measure=where)]
    found = every(tmp_path, recipes, jobs=2)
    assert isinstance(found["bad"], ConfigurationError)
    assert "fewer --jobs" in str(found["bad"])
    assert len(found["good"]) == 4


def _measure_for_long(folder):
    every(folder, [recipe(name="long", measure=lasts)], jobs=2)


@pytest.mark.slow("starts processes", seconds=3)
def test_no_process_goes_on_when_the_command_is_killed(tmp_path, monkeypatch):
    monkeypatch.setenv("KEPT_PIDS", str(tmp_path))
    command = SPAWN.Process(target=_measure_for_long, args=(tmp_path,))
    command.start()
    try:
        wait_until(lambda: len(list(tmp_path.glob("*.pid"))) == 2)
    finally:
        command.kill()
        command.join()
    pids = [int(path.stem) for path in tmp_path.glob("*.pid")]
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


def test_a_worker_stays_with_a_recipe_and_helps_where_none_is_left():
    one, two = recipe(name="one"), recipe(name="two")
    left = [_Task(one, {"x": 1}, 0, "a"), _Task(one, {"x": 2}, 0, "b")]
    left += [_Task(two, {"x": 1}, 0, "c"), _Task(two, {"x": 2}, 0, "d")]
    assert _next(left, "", ()).key == "a"
    assert _next(left, "two", {"one"}).key == "c"
    assert _next(left, "", {"one"}).key == "c"
    assert _next(left, "", {"one", "two"}).key == "d"


def test_a_worker_stays_with_a_seed_where_the_points_of_a_seed_share_work(tmp_path):
    one = recipe(name="one", by_seed=True)
    left = [_Task(one, {"x": x}, seed, f"{seed}{x}") for seed in (0, 1) for x in (1, 2)]
    assert _next(left, "", ()).key == "01"
    assert _next(left, "", {left[0].room}).key == "11"
    assert _next(left[1:], left[0].room, {left[2].room}).key == "02"
    assert left[0].room != left[2].room


def test_all_points_of_a_seed_come_before_the_next_where_a_recipe_says_so(tmp_path):
    for by_seed, seeds in ((False, [0, 1, 0, 1]), (True, [0, 0, 1, 1])):
        one = recipe(name=f"one-{by_seed}", by_seed=by_seed)
        found = every(tmp_path, [one])[one.name]
        assert [run.seed for run in found] == seeds
        assert (
            sorted(str(run.point) for run in found[:2])
            == sorted(str(run.point) for run in found[2:])
            or not by_seed
        )


@pytest.mark.slow("starts processes")
def test_an_interrupt_ends_the_processes_and_keeps_what_is_done(tmp_path):
    def interrupt(message):
        if message.startswith("1 of"):
            raise KeyboardInterrupt

    before = set(active_children())
    with pytest.raises(KeyboardInterrupt):
        run_all([recipe(measure=where)], "quick", Bench(), tmp_path, interrupt, jobs=2)
    assert set(active_children()) <= before
    lines = (tmp_path / "made-up.jsonl").read_text().splitlines()
    assert len(lines) == 1


def test_it_says_how_far_it_is_and_how_long_the_rest_takes(tmp_path):
    told = []
    run_all([recipe()], "quick", Bench(), tmp_path, told.append)
    assert told[0] == "0 of 4 runs"
    assert told[1] == "1 of 4 runs, about 1 min left: made-up, x=1"
    assert "4 of 4 runs: made-up, x=2" in told
    long = recipe(name="long", points={"quick": [{"x": x} for x in range(60)]})
    told.clear()
    kept.keep(
        tmp_path,
        long,
        long.key({"x": 0}, 0, Bench().key(())),
        kept.Run({"x": 0}, 0, {"y": 0}, 60.0),
    )
    BROKEN[1] = KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        run_all([long], "quick", Bench(), tmp_path, told.append)
    assert told[0] == "1 of 120 runs, about 119 min left"


def test_an_interrupted_command_says_where_finished_runs_are(tmp_path, monkeypatch):
    found = recipe()
    monkeypatch.setattr("mondegreen_experiments.papers.recipe_named", lambda _: found)
    for broken, is_said in {1: False, 2: True}.items():  # none is finished, or some are
        BROKEN[broken] = KeyboardInterrupt
        done = invoke(tmp_path, "made-up")
        assert done.exit_code == 130 or isinstance(done.exception, SystemExit | None)
        assert (f"are in the folder {tmp_path}. Run the same" in done.stderr) is is_said
        BROKEN.clear()


def test_a_number_agrees_within_our_interval_and_its_tolerance(tmp_path):
    result = Result.of(recipe(), run(tmp_path))
    assert [each.agrees for each in result.compared] == [HOLDS, FAILS, None]
    assert [each.verdict for each in result.shapes] == [HOLDS, FAILS]
    said = result.to_dict()
    assert json.loads(json.dumps(said)) == said


def test_the_interval_of_a_mean_holds_it_nineteen_times_in_twenty():
    rng = np.random.default_rng(0)
    means = [Mean.of(rng.normal(3, 2, 4).tolist()) for _ in range(2000)]
    inside = np.mean([each.low <= 3 <= each.high for each in means])
    assert inside == pytest.approx(0.95, abs=0.015)
    assert Mean.of([7.0]) == Mean(7.0, 7.0, 7.0, 1)


def test_the_interval_of_a_share_is_within_the_shares(tmp_path):
    free, cut = (Mean.of([0.02, 0.5, 0.97], is_share=each) for each in (False, True))
    assert free.low < 0
    assert free.high > 1
    assert (cut.low, cut.high) == (0, 1)
    assert Mean.of([0.5, 1.5], is_share=True) == Mean.of([0.5, 1.5])  # is none
    found = run(tmp_path, points={"quick": [{"x": 0}]})
    whole, share = (
        Result.of(recipe(shares=names), found).means[0][1]["y"] for names in ((), "y")
    )
    assert whole.low < 0 == share.low
    assert whole.high == share.high


def test_runs_are_written_as_rows(tmp_path):
    write_parquet(
        tmp_path / "runs.parquet", table_of("quick", [(recipe(), run(tmp_path))])
    )
    rows = pq.read_table(tmp_path / "runs.parquet").to_pylist()
    assert [(json.loads(r["point"])["x"], r["seed"], r["value"]) for r in rows] == [
        (1, 0, 1.0),
        (1, 1, 1.1),
        (2, 0, 2.0),
        (2, 1, 2.1),
    ]


def test_texts_are_kept_shown_and_not_averaged(tmp_path):
    for _ in range(2):  # once measured, once read again
        found = run(tmp_path, measure=worded)
        result = Result.of(recipe(), found)
        assert set(result.means[0][1]) == {"y"}
        assert result.to_dict()["points"][1]["texts"] == {"said": "word 0"}
    write_parquet(tmp_path / "runs.parquet", table_of("quick", [(recipe(), found)]))
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
    assert pickle.loads(pickle.dumps(found.measure)) is found.measure  # for processes
    assert code_of(found.measure)
    for each in found.published:
        assert math.isfinite(each.value)
        assert each.tolerance >= 0
        every = [*found.points["quick"], *found.points["full"]]
        assert place(each.point) in map(place, every), each


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
    assert [row["name"] for row in json.loads(listed.stdout)] == [*NAMES, BOARD]
    monkeypatch.setattr(
        "mondegreen_experiments.papers.recipe_named", lambda _: recipe()
    )
    options = ["reproduce", "made-up", "--runs", str(tmp_path), "--json"]
    done = CliRunner().invoke(cli, [*options, "-o", str(tmp_path / "out.parquet")])
    assert done.exit_code == 0, done.output
    assert [each["agrees"] for each in json.loads(done.stdout)["published"]] == [
        HOLDS,
        FAILS,
        None,
    ]
    again = CliRunner().invoke(cli, [*options, "-o", str(tmp_path / "out.parquet")])
    assert again.exit_code == 2
    assert "--force" in again.stderr
    shown = CliRunner().invoke(cli, options[:-1])
    assert "Figure 1: y falls: does not hold\n" in shown.stdout
    told = CliRunner().invoke(cli, [*options[:-1], "--seeds", "1"])
    assert told.stdout.count("why: one run has no interval") == 2


@pytest.fixture
def two(monkeypatch):
    """Two recipes: one that can always be measured, and one that this test changes."""
    found = {"first": recipe(name="first"), "second": recipe(name="second")}
    monkeypatch.setattr("mondegreen_experiments.papers.NAMES", tuple(found))
    monkeypatch.setattr("mondegreen_experiments.papers.recipe_named", found.get)
    return found


def invoke(folder, *options):
    return CliRunner().invoke(cli, ["reproduce", "--runs", str(folder), *options])


def test_without_a_name_all_are_measured_that_can_be(tmp_path, two):
    done = invoke(tmp_path, "-o", str(tmp_path / "all.parquet"))
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[1:] == [
        "first   1 of 2            1 of 2              0",
        "second  1 of 2            1 of 2              0",
    ]
    table = pq.read_table(tmp_path / "all.parquet")
    assert set(table["recipe"].to_pylist()) == {"first", "second"}
    two["second"] = recipe(name="second", data=["nowhere"])
    two["first"] = recipe(name="first", needs=["no_such_library"])
    assert invoke(tmp_path).exit_code == 2  # nothing can be measured
    alone = invoke(tmp_path, "first")
    assert alone.exit_code == 2
    assert "needs no_such_library (pip install './experiments[models]')" in alone.stderr
    two["first"] = recipe(name="first")
    done = invoke(tmp_path, "--json")
    said = json.loads(done.stdout)
    assert done.exit_code == 0
    assert [each["recipe"] for each in said["results"]] == ["first"]
    assert list(said["skipped"]) == ["second"]
    assert "second is left out: no nowhere" in done.stderr


def test_a_recipe_that_fails_is_named_and_the_exit_code_says_so(tmp_path, two):
    two["second"] = recipe(name="second", measure=unread)
    done = invoke(tmp_path)
    assert done.exit_code == 3
    assert "second FAILED: made-up" in done.stderr
    assert done.stdout.splitlines()[1].startswith("first ")
    assert invoke(tmp_path, "second").exit_code == 3
    BROKEN[2] = ValueError("a text of somebody")
    done = invoke(tmp_path / "other", "first", "second")
    assert done.exit_code == 3
    assert "first FAILED: a bug, ValueError" in done.stderr
    assert "somebody" not in done.output


def test_a_claim_that_cannot_be_judged_ends_its_recipe_and_no_other(tmp_path, two):
    two["first"] = recipe(name="first", shapes=[Shape("Here", "so", lambda t: t["so"])])
    done = invoke(tmp_path)
    assert done.exit_code == 1
    assert "first FAILED: a bug, TypeError" in done.stderr
    assert done.stdout.splitlines()[1].startswith("second")
    assert len(CALLS) == 8


def test_several_names_are_shown_in_full_and_together(tmp_path, two):
    done = invoke(tmp_path, "first", "second", "first")
    assert done.stdout.count("y falls: does not hold") == 2
    assert done.stdout.splitlines()[-1].startswith("second")


def test_data_is_here_or_it_is_lacking(tmp_path):
    (tmp_path / "imdb.parquet").touch()
    (tmp_path / "vectors").mkdir()
    names = ("imdb", "vectors", "ag_news")
    assert Bench(tmp_path).lacks(names) == ["ag_news"]
    assert Bench().lacks(names) == list(names)
    again = pickle.loads(pickle.dumps(Bench(tmp_path, fetch=True)))
    assert again.lacks(("imdb", "nowhere")) == ["nowhere"]


def test_points_without_some_measures_are_printed_beside_others(tmp_path, monkeypatch):
    def some(bench, point, seed):
        return {"y": 1.0} if point["x"] == 1 else {"z": 2.0, "why": "not reached"}

    found = recipe(measure=some, shapes=[])
    monkeypatch.setattr("mondegreen_experiments.papers.recipe_named", lambda _: found)
    done = CliRunner().invoke(cli, ["reproduce", "made-up", "--runs", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "not reached" in done.stdout


class Fetched:
    """A data set as the library ``datasets`` gives it: sorted by class."""

    def __init__(self, split):
        count = {"train": 400, "test": 100, "unsupervised": 50}[split]
        self.columns = {
            "text": [f"{split} {i}" for i in range(count)],
            "label": [-1] * count
            if split == "unsupervised"
            else [i // (count // 2) for i in range(count)],
        }

    def __getitem__(self, name):
        return self.columns[name]


def test_what_is_fetched_has_all_splits_and_its_classes_are_mixed(monkeypatch):
    splits = ("train", "test", "unsupervised")
    library = SimpleNamespace(load_dataset=lambda _: {s: Fetched(s) for s in splits})
    monkeypatch.setitem(sys.modules, "datasets", library)
    table = Bench(fetch=True).table("imdb")
    assert Counter(table["split"]) == {"train": 360, "valid": 40, "test": 100}
    assert len(set(table["text"])) == 500
    for split in ("train", "valid", "test"):
        labels = [
            label
            for label, each in zip(table["label"], table["split"], strict=True)
            if each == split
        ]
        assert set(labels[:20]) == {0, 1}
    assert Bench(fetch=True).table("imdb") == table


def test_runs_of_data_that_were_fetched_are_kept_apart(tmp_path, two):
    assert invoke(tmp_path, "first").exit_code == 0
    assert invoke(tmp_path, "first", "--fetch").exit_code == 0
    kept_in = [path.parent for path in tmp_path.rglob("first.jsonl")]
    assert sorted(kept_in) == [tmp_path, tmp_path / "fetched"]
    assert len(CALLS) == 8


def test_a_recipe_that_is_named_says_at_once_what_it_lacks(tmp_path, two):
    two["second"] = recipe(name="second", data=["nowhere"])
    refused = invoke(tmp_path, "first", "second")
    assert refused.exit_code == 2
    assert "second needs nowhere" in refused.stderr
    assert CALLS == []


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("nowhere/x.parquet", "create it first"),
        ("here/a-file/x.parquet", "create it first"),
        ("here", "is a folder; name a file"),
        ("-", "name a file"),
        ("/dev/null", "name a file"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused_at_once(
    tmp_path, two, monkeypatch, output, said
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "a-file").touch()
    refused = invoke(tmp_path / "runs", "first", "--force", "-o", output)
    assert refused.exit_code == 2
    assert output in refused.stderr
    assert said in refused.stderr
    assert CALLS == []


def test_an_output_is_checked_without_a_trace(tmp_path, two, monkeypatch):
    BROKEN[1] = SourceError("made-up", "it has no rows")
    monkeypatch.chdir(tmp_path)
    assert invoke("runs", "first", "-o", "x.parquet").exit_code == 3
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def test_an_output_that_is_a_link_stays_one(tmp_path, two):
    link, file = tmp_path / "link.parquet", tmp_path / "file.parquet"
    file.touch()
    link.symlink_to(file)
    assert invoke(tmp_path, "first", "-o", str(link)).exit_code == 2
    assert invoke(tmp_path, "first", "--force", "-o", str(link)).exit_code == 0
    assert link.is_symlink()
    assert pq.read_table(file).num_rows == 4


@pytest.mark.parametrize("runs", ["a-file", "a-file/in-it", "/dev/null", "/proc/x"])
def test_a_folder_where_runs_cannot_be_kept_is_refused_at_once(
    tmp_path, two, monkeypatch, runs
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a-file").touch()
    refused = invoke(runs, "first")
    assert refused.exit_code == 2
    assert runs in refused.stderr
    assert "--runs" in refused.stderr
    assert "bug" not in refused.stderr
    assert CALLS == []


def test_a_file_of_runs_that_cannot_be_read_is_named(tmp_path, two):
    (tmp_path / "second.jsonl").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "first.jsonl").mkdir()
    for name, why in {"first": "Is a directory", "second": "it is no text"}.items():
        refused = invoke(tmp_path, name)
        assert refused.exit_code == 2
        assert f"{name}.jsonl" in refused.stderr
        assert why in refused.stderr
    assert CALLS == []


@pytest.mark.parametrize(
    "changed",
    [
        {"measured": {}},
        {"measured": [1.0]},
        {"measured": {"y": math.nan}},
        {"measured": {"y": -math.inf}},
        {"measured": {"y": None}},
        {"measured": {"y": True}},
        {"measured": {"y": [1.0]}},
        {"seed": 0.5},
        {"seed": "0"},
        {"measured": {"y": 10**400}},
        {"seconds": None},
        {"seconds": math.inf},
        {"point": None},
        {"key": []},
    ],
    ids=lambda changed: str(changed)[:40],
)
def test_a_kept_line_that_is_no_run_is_measured_again(tmp_path, changed):
    whole, path = run(tmp_path), tmp_path / "made-up.jsonl"
    first, *others = path.read_text().splitlines()
    line = json.dumps({**json.loads(first), **changed})
    path.write_text("\n".join([line, "[" * 10**5, "7", *others]) + "\n")
    CALLS.clear()
    again = run(tmp_path)
    assert CALLS == [(1, 0)]
    assert [each.measured for each in again] == [each.measured for each in whole]


def read_imdb(bench, point, seed):
    texts, labels = bench.written("imdb", "test")
    return {"y": len(texts) + len(labels)}


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (None, "cannot be read as Parquet; write it again"),
        ({"label": [0, 1]}, "needs a column text, with a text in each row"),
        ({"text": ["a", "b"]}, "needs a column label, with a label in"),
        ({"text": ["a", None], "label": [0, 1]}, "needs a column text"),
        ({"text": [1, 2], "label": [0, 1]}, "needs a column text"),
        ({"text": ["a", "b"], "label": [0, None]}, "needs a column label"),
    ],
    ids=str,
)
def test_a_file_of_data_that_cannot_be_used_is_named(tmp_path, two, columns, said):
    file = tmp_path / "imdb.parquet"
    file.write_text("a text of somebody")
    if columns is not None:
        pq.write_table(pa.table(columns), file)
    two["first"] = recipe(name="first", data=["imdb"], measure=read_imdb)
    refused = invoke(tmp_path, "first", "--data", str(tmp_path))
    assert refused.exit_code == 3
    assert f"{file}: it " in refused.stderr
    assert said in refused.stderr
    assert "somebody" not in refused.stderr


def test_strings_that_are_no_text_are_named(tmp_path):
    texts = pa.array([b"\xff"]).view(pa.string())
    table = pa.table({"text": texts, "label": [0]})
    pq.write_table(table, tmp_path / "imdb.parquet")
    with pytest.raises(SourceError, match=r"imdb\.parquet: it cannot be read"):
        Bench(tmp_path).table("imdb")


def test_to_fetch_is_advised_for_what_can_be_fetched_alone(tmp_path, two, monkeypatch):
    two["second"] = recipe(name="second", data=["vectors"])
    assert "no vectors (--data FOLDER)\n" in invoke(tmp_path).stderr
    assert "needs vectors (--data FOLDER)\n" in invoke(tmp_path, "second").stderr
    two["second"] = recipe(name="second", data=["imdb"])
    assert "no imdb (--data FOLDER, or --fetch for imdb)\n" in invoke(tmp_path).stderr
    two["second"] = recipe(name="second", data=["imdb", "wordnet"])
    told = "no imdb, wordnet (--data FOLDER, or --fetch for imdb)\n"
    assert told in invoke(tmp_path).stderr
    monkeypatch.setattr("mondegreen_experiments.bench.find_spec", lambda _: None)
    assert "./experiments[fetch]" in invoke(tmp_path, "--fetch").stderr
    with pytest.raises(
        ConfigurationError, match=r"mrpc.parquet is not here \(--data FOLDER\)"
    ):
        Bench().table("mrpc")
