"""``mondegreen explain``: tables, JSON, pictures, and words that need a remark."""

import json
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import mondegreen as mg
from commands import run_command
from mondegreen.cli.main import cli
from mondegreen.space.binarize import with_codes
from mondegreen.space.store import save_space

WORDS = ["cold", "cool", "warm", "hot", "not", "a$b$"]
POINTS = [[0.0], [1.0], [3.0], [4.5], [20.0], [30.0]]


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "line.safetensors"
    save_space(mg.Space.from_arrays("line", WORDS, POINTS), path)

    def invoke(*arguments, expect=0):
        given = ["explain", *arguments, "--policy", "all", "--space", path]
        return run_command(*given, expect=expect)

    return invoke


def test_a_table_says_what_the_law_does(run):
    shown = run("cold", "-e", 2, "-m", "exponential").stdout
    assert shown.startswith("cold: exponential (epsilon 2) on line; exact\n")
    state = mg.mechanism("exponential", epsilon=2.0).prepare(
        mg.Space.from_arrays("line", WORDS, POINTS)
    )
    stay = float(np.exp(state.log_prob(np.array([0], dtype=np.int32)))[0, 0])
    assert f"chance to stay    {100 * stay:.3g} %" in shown
    assert "cold (itself)" in shown
    assert "near  cold or cool, 1 apart" in shown
    assert "limit of the proof: at most 7.39 to 1 (2 nats)" in shown
    logs = state.log_prob(np.array([0, 1], dtype=np.int32))
    realised = float(np.abs(logs[0] - logs[1]).max())
    assert f"({realised:.3g} nats)" in shown.partition("true value: ")[2]
    assert "loss of a text of 100 words" in shown


def test_odds_in_another_norm_name_their_distance(tmp_path):
    path = tmp_path / "plane.safetensors"
    points = [[0.0, 0], [1, 1], [5, 5]]
    save_space(mg.Space.from_arrays("plane", WORDS[:3], points), path)
    common = ["explain", "cold", "-e", 2, "-m", "laplace", "--policy", "all"]
    common += ["--space", path, "--runs", 400]
    shown = run_command(*common, "--set", "norm=manhattan").stdout
    assert "\nodds, in Manhattan distance (above: Euclidean distance)\n" in shown
    assert "near  cold or cool, 2 apart" in shown
    assert "limit of the proof: at most 54.6 to 1 (4 nats)" in shown
    shown = run_command(*common).stdout
    assert "\nodds\n" in shown
    assert "near  cold or cool, 1.41 apart" in shown


def test_json_holds_the_same_numbers(run):
    found = json.loads(run("cold", "-e", 2, "--words", 3, "--top", 2, "--json").stdout)
    assert found["looked_up_as"] == "cold"
    assert [output["word"] for output in found["outputs"]] == ["cold", "cool"]
    assert found["document"]["words"] == 3
    assert found["guarantee"]["epsilon"] == 2.0
    assert found["runs"] is None


PLAIN = [
    cls
    for cls in mg.mechanisms()
    if "euclidean" in cls.space_metrics and cls.family != "binary"
]


@pytest.mark.parametrize("cls", PLAIN, ids=lambda cls: cls.name)
def test_every_mechanism_can_be_explained(run, cls):
    options = [] if cls.is_private else ["--allow-unproved"]
    epsilon = 9 if cls.is_private else 99  # small ones are refused by one of them
    options += ["--runs", 400, "--seed", 0]
    shown = run("cold", "-m", cls.name, "-e", epsilon, *options).stdout
    assert "chance to stay" in shown
    assert "near  cold or" in shown
    assert ("NOT PRIVATE" in shown) == (not cls.is_private)
    assert ("loss of a text of" in shown) == cls.is_private


@pytest.mark.slow("another mechanism", but="hyperbolic")
@pytest.mark.parametrize("name", ["brr", "hyperbolic"])
def test_other_spaces_can_be_explained(run, name, tmp_path):
    metric = "poincare" if name == "hyperbolic" else "euclidean"
    points = np.random.default_rng(0).uniform(-0.5, 0.5, size=(6, 2))
    space = mg.Space.from_arrays("other", WORDS, points, metric=metric)
    if name == "brr":
        space = with_codes(space, bits=16, method="hyperplane")
    save_space(space, tmp_path / "line.safetensors", force=True)
    shown = run("cold", "-m", name, "-e", 3, "--runs", 400).stdout
    assert "near  cold or" in shown


def test_an_estimate_shows_its_interval_and_its_runs(run):
    shown = run("cold", "-e", 2, "-m", "laplace", "--runs", 500, "--seed", 1).stdout
    assert "500 runs, 95 % intervals" in shown
    assert " to " in next(x for x in shown.splitlines() if "chance to stay" in x)
    again = run("cold", "-e", 2, "-m", "laplace", "--runs", 500, "--seed", 1).stdout
    assert shown == again


def test_an_unknown_word_is_the_unknown_word(run):
    shown = run("Oslo", "-e", 2).stdout
    assert "treated as the unknown word" in shown
    assert "chance to stay" not in shown
    assert json.loads(run("Oslo", "-e", 2, "--json").stdout)["is_known"] is False


def test_a_word_is_looked_up_in_its_canonical_form(run):
    assert "looked up as: cold" in run("COLD", "-e", 2).stdout


def test_a_kept_word_passes_in_clear(run, tmp_path):
    keep = tmp_path / "keep.txt"
    keep.write_text("cold\n")
    assert "passes unchanged" in run("Cold", "-e", 2, "--keep", keep).stdout
    found = json.loads(run("cold", "-e", 2, "--keep", keep, "--json").stdout)
    assert (found["is_kept"], found["stay"]) == (True, 1.0)


@pytest.mark.parametrize("text", ["isn't", "two words", "...", ""])
def test_anything_but_one_word_is_a_usage_error(run, text):
    assert "WORD reads as" in run(text, "-e", 2, expect=2).stderr


def test_an_unproved_mechanism_needs_permission(run):
    run("cold", "-e", 2, "-m", "santext_plus", expect=4)


def test_epsilon_has_no_default(run):
    assert "--epsilon" in run("cold", expect=2).stderr


@pytest.mark.parametrize(("suffix", "magic"), [("png", b"\x89PNG"), ("svg", b"<svg")])
def test_a_picture_is_drawn_by_suffix(run, tmp_path, suffix, magic):
    path = tmp_path / f"cold.{suffix}"
    for options in ([], ["--force"]):
        run("cold", "-e", 0.1, "-m", "laplace", "--plot", path, *options)
        assert path.read_bytes().startswith(magic)
    run("cold", "-e", 2, "--plot", path, expect=3)  # without --force it stays


def test_a_picture_of_another_kind_is_refused(run, tmp_path):
    assert ".png or .svg" in run("cold", "-e", 2, "--plot", "x.pdf", expect=2).stderr


def test_without_matplotlib_the_extra_is_named(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    path = tmp_path / "cold.svg"
    done = run("cold", "-e", 2, "--plot", path, expect=2)
    assert "'.[report]'" in done.stderr
    assert not path.exists()


@pytest.mark.slow("seconds")
def test_what_outputs_are_read_as_is_a_law_of_its_own():
    def explained(*options):
        command = [
            "explain",
            "doctor",
            "-e",
            "10",
            "--policy",
            "all",
            "--json",
            "--top",
            "50000",
        ]
        done = CliRunner().invoke(cli, [*command, *options])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)["readings"]

    shares = [each["probability"] for each in explained("--read", "words")]
    assert sum(shares) == pytest.approx(1, abs=1e-6)
    assert shares == sorted(shares, reverse=True)
    assert explained() is None


@pytest.mark.slow("seconds")
def test_what_a_reader_recovers_is_said_where_that_is_known_soon(run):
    def shares(epsilon, *more):
        command = [
            "explain",
            "doctor",
            "-e",
            str(epsilon),
            "--policy",
            "all",
            "--json",
            *more,
        ]
        done = CliRunner().invoke(cli, command)
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)["preview"]["recovered"]

    assert shares(1) < 0.1 < 0.3 < shares(10) < 0.5
    assert "attacker" not in run("cold", "-e", 2).stdout  # other words


def explained(*options, expect=0):
    done = CliRunner().invoke(cli, ["explain", *options])
    assert done.exit_code == expect, done.output
    return done


def test_the_chance_that_the_command_prints_a_word_is_exact_under_a_policy():
    command = ["diabetes", "--policy", "sensitive", "-e", "12", "--json"]
    found = {
        same: json.loads(explained(*command, "--same", same).stdout)
        for same in ("place", "record")
    }
    stay = found["place"]["stay"]
    for same, each in found.items():
        assert each["printed"]["value"] == each["printed"]["high"] == stay
        assert (each["printed"]["runs"], each["printed"]["same"]) == (None, same)
    repeated = {k: v["printed"]["repeated"] for k, v in found.items()}
    # One draw for the record, and one for each of five places.
    assert repeated["record"]["at_least_once"] == pytest.approx(stay)
    assert repeated["place"]["at_least_once"] == pytest.approx(1 - (1 - stay) ** 5)


@pytest.mark.slow("reads sentences")
def test_what_a_reader_prints_again_is_counted_in_runs():
    command = ["diabetes", "--policy", "all", "-e", "10", "--json", "--seed", "1"]
    assert json.loads(explained(*command).stdout)["printed"] is None
    found = json.loads(explained(*command, "--read", "sentence").stdout)
    printed = found["printed"]
    assert printed["low"] < printed["value"] < printed["high"]
    assert printed["runs"] == 400
    # The reader puts in the commonest word of the group more often than the law does.
    assert printed["low"] > found["stay"]
