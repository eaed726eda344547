"""``mondegreen calibrate``: targets, matches, output, and work that is interrupted."""

import json
import re
import shlex

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import mondegreen as mg
from commands import run_command
from mondegreen.calibration import evaluate
from mondegreen.cli.main import cli
from mondegreen.space.store import save_space

WORDS = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in "dgkm"]
SECRET = "zyxwoldemorth"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MONDEGREEN_HOME", str(tmp_path / "home"))
    vectors = np.random.default_rng(0).normal(size=(len(WORDS), 3))
    save_space(
        mg.Space.from_arrays("small", WORDS, vectors), tmp_path / "s.safetensors"
    )
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(WORDS, 6)) for _ in range(50)]
    texts[7] += f" {SECRET}"
    (tmp_path / "sample.txt").write_text("\n".join(texts) + "\n")
    (tmp_path / "sample.csv").write_text("note\n" + "\n".join(texts) + "\n")
    pq.write_table(pa.table({"note": texts}), tmp_path / "sample.parquet")
    lines = [json.dumps({"a": {"note": text}}) for text in texts]
    (tmp_path / "sample.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.fixture
def run(folder):
    def invoke(*arguments, sample="sample.txt", expect=0):
        given = ["calibrate", sample, *arguments, "--space", "s.safetensors"]
        return run_command(*given, expect=expect, secret=SECRET)

    return invoke


def found(run, *arguments, **options):
    return json.loads(run(*arguments, "--json", **options).stdout)


def test_a_target_gives_a_setting_that_keeps_it(run):
    result = found(run, "--target", "n_w=0.5", "-m", "exponential")
    (row,) = result["rows"]
    assert row["measurement"]["scores"]["n_w_95"][1] <= 0.5
    # and one that is not much smaller than it could be
    space = mg.load_space("s.safetensors")
    state = mg.mechanism("exponential", epsilon=1.02 * row["epsilon"]).prepare(space)
    ids = np.arange(len(WORDS), dtype=np.int32)
    stay = np.exp(state.log_prob(ids))[ids, ids]
    assert np.quantile(stay, 0.95, method="higher") > 0.5


@pytest.mark.parametrize("over", ["worst", "P50", "mean"])
@pytest.mark.slow("calibrates several times")
def test_over_says_which_words_count(run, over):
    target = ["-t", "n_w=0.5", "-m", "exponential"]
    wide = found(run, *target, "--over", over)["rows"][0]
    usual = found(run, *target)["rows"][0]
    if over == "worst":
        assert wide["epsilon"] < usual["epsilon"]
        assert wide["measurement"]["scores"]["n_w_max"][1] <= 0.5
    else:
        assert wide["epsilon"] > usual["epsilon"]


@pytest.mark.slow(
    "a search each",
    seconds=0.2,
    but=(
        "tem-s_w=5-s_w_05-True",
        "tem-certified_epsilon=2-certified_epsilon-False",
        "laplace-certified_epsilon=2-certified_epsilon-False",
        "laplace-worst_loss=9-worst_loss-False",
    ),
)
@pytest.mark.parametrize(
    ("target", "score", "least"),
    [
        ("s_w=5", "s_w_05", True),
        ("bayes_risk=0.6", "bayes_risk_sample", True),
        ("certified_epsilon=2", "certified_epsilon", False),
        ("worst_loss=9", "worst_loss", False),
        ("utility_loss=0.4", "utility_loss_share_sample", False),
    ],
)
@pytest.mark.parametrize("name", ["tem", "laplace"])
def test_every_target_is_kept_at_the_wrong_end(run, target, score, least, name):
    result = found(run, "-t", target, "-m", name, "--quick")
    low, high = result["rows"][0]["measurement"]["scores"][score]
    value = float(target.partition("=")[2])
    assert low >= value if least else high <= value


def test_several_targets_hold_together(run):
    result = found(run, "-t", "n_w=0.5", "-t", "certified_epsilon=1.5", "-m", "tem")
    scores = result["chosen"]["scores"]
    assert scores["n_w_95"][1] <= 0.5
    assert scores["certified_epsilon"][1] <= 1.5


@pytest.mark.slow("searches")
def test_the_best_of_several_mechanisms_is_taken(run):
    result = found(run, "-t", "n_w=0.5", "-m", "tem", "-m", "laplace", "--quick")
    losses = {
        row["mechanism"]: row["measurement"]["scores"]["utility_loss_share_sample"][1]
        for row in result["rows"]
    }
    assert result["chosen"]["mechanism"] == min(losses, key=losses.get)


@pytest.mark.slow("searches")
def test_the_command_that_is_printed_runs_that_setting(run, folder):
    done = run("-t", "n_w=0.5", "-m", "vickrey:t=0.25", "--quick")
    line = done.stdout.splitlines()[-1].strip()
    words = shlex.split(line)
    assert words[:2] == ["mondegreen", "privatize"]
    words[words.index("INPUT")] = "sample.txt"
    words[words.index("OUTPUT")] = "out.txt"
    privatized = CliRunner().invoke(cli, words[1:])
    assert privatized.exit_code == 0, privatized.output
    assert "epsilon" in privatized.stderr
    assert "t 0.25" in privatized.stderr


@pytest.mark.slow("searches", but="sample.csv-note")
@pytest.mark.parametrize(
    ("sample", "column"),
    [("sample.csv", "note"), ("sample.parquet", "note"), ("sample.jsonl", "a.note")],
)
def test_a_sample_may_have_any_format(run, sample, column):
    first = found(run, "-t", "bayes_risk=0.5", "-m", "tem")
    again = found(run, "-t", "bayes_risk=0.5", "-m", "tem", "-c", column, sample=sample)
    assert again["rows"][0]["epsilon"] == first["rows"][0]["epsilon"]
    assert again["sample"]["words"] == 301
    assert again["sample"]["unknown"] == 1
    assert f"--column {column}" in again["command"]


@pytest.mark.slow("searches")
def test_the_prior_is_the_sample_or_uniform(run, folder):
    skewed = "\n".join([" ".join([WORDS[0]] * 50)] * 20)
    (folder / "sample.txt").write_text(skewed)
    target = ["-t", "bayes_risk=0.05", "-m", "tem"]
    known = found(run, *target)["rows"][0]["epsilon"]
    alike = found(run, *target, "--prior", "uniform")["rows"][0]["epsilon"]
    assert known < alike


@pytest.mark.slow("searches")
def test_a_match_may_be_to_another_space(run, folder):
    # Twice the distances: half of the epsilon is the same law.
    near = mg.load_space("s.safetensors")
    far = mg.Space.from_arrays("far", WORDS, 2 * near.vectors.astype(float))
    save_space(far, folder / "far.safetensors")
    arguments = ["-m", "exponential", "--match", "bayes_risk", "--to", "exponential:1"]
    same = found(run, *arguments)["rows"][0]["epsilon"]
    result = found(run, *arguments, "--to-space", "far.safetensors")
    assert same <= 1 < 1.9 < result["rows"][0]["epsilon"] <= 2
    assert result["reference_space"] == "far"
    shown = run(*arguments, "--to-space", "far.safetensors").stdout
    assert "match   exponential at epsilon 1 on far: the same error" in shown


def test_epsilons_of_two_spaces_are_not_matched(run, folder):
    near = mg.load_space("s.safetensors")
    far = mg.Space.from_arrays("far", WORDS, 2 * near.vectors.astype(float))
    save_space(far, folder / "far.safetensors")
    arguments = ["--match", "certified_epsilon", "--to", "exponential:1"]
    done = run(*arguments, "--to-space", "far.safetensors", expect=2)
    assert "have different units" in done.stderr


@pytest.mark.slow("searches")
def test_a_match_is_named_for_what_it_is(run):
    arguments = ["-m", "calibrated", "--match", "bayes_risk", "--to", "exponential:3"]
    shown = run(*arguments).stdout
    assert "the same error of the best guess" in shown
    result = found(run, *arguments)
    wanted = result["reference"]["scores"]["bayes_risk_sample"][1]
    assert result["targets"][0]["value"] == wanted
    assert result["chosen"]["scores"]["bayes_risk_sample"][0] >= wanted


@pytest.mark.slow("searches")
def test_equal_labels_are_no_advice(run):
    arguments = ["-m", "calibrated", "--match", "privacy_ratio", "--to", "laplace:3"]
    shown = run(*arguments).stdout
    assert "take:" not in shown
    assert "makes labels equal, not privacy" in shown
    result = found(run, *arguments)
    assert result["command"] is None
    assert result["rows"][0]["command"]


def test_without_a_target_the_curves_are_printed(run):
    shown = run("-m", "tem").stdout
    rows = [line for line in shown.splitlines() if line.startswith("tem ")]
    assert len(rows) == 8
    assert "take:" not in shown
    result = found(run, "-m", "tem", "-e", 1, "-e", 2)
    assert [each["epsilon"] for each in result["curves"]] == [1.0, 2.0]


def test_a_target_out_of_reach_names_the_best_and_exits_2(run):
    done = run("-t", "bayes_risk=0.9999", "-m", "tem", expect=2)
    assert "the highest value of bayes_risk_sample that the search" in done.stderr
    assert "Your target is at least 0.9999" in done.stderr
    assert not done.stdout


@pytest.mark.slow("searches")
def test_a_mechanism_that_fails_leaves_the_others(run):
    # tight needs an epsilon that this target forbids
    shown = run("-t", "certified_epsilon=0.2", "-m", "tight", "-m", "tem").stdout
    assert "tight: no epsilon." in shown
    assert "--mechanism tem" in shown


def test_unproved_mechanisms_must_be_asked_for(run):
    done = run("-t", "n_w=0.5", "-m", "vickrey_literal", expect=4)
    assert "--allow-unproved" in done.stderr
    options = ["-m", "custext", "--allow-unproved", "-e", 3]
    assert found(run, *options)["curves"][0]["mechanism"] == "custext"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-t", "n_w"], "KEY=VALUE"),
        (["-t", "nw=1"], "no target named"),
        (["-m", "nothing"], "no mechanism named"),
        (["-m", "vickrey:t=7"], "t must be"),
        (["-m", "tem:delta=1"], "no parameter delta"),
        (["--match", "n_w"], "--to"),
        (["--to-space", "s.safetensors"], "--to-space needs --to"),
        (["--match", "n_w", "--to", "laplace"], "NAME:EPSILON"),
        (["--sentences", "sample.txt"], "--html"),
    ],
)
def test_what_makes_no_sense_is_refused_before_work(run, arguments, says):
    assert says in run(*arguments, expect=2).stderr


def test_a_sample_without_words_is_a_data_error(run, folder):
    (folder / "sample.txt").write_text("... !\n")
    assert "no words" in run("-t", "n_w=0.5", expect=3).stderr


def test_it_says_that_the_sample_must_be_public(run):
    assert "must be PUBLIC" in run("-t", "n_w=0.5", "-m", "tem").stderr
    assert not run("-t", "n_w=0.5", "-m", "tem", "-q").stderr


@pytest.mark.slow("searches twice")
def test_the_same_seed_gives_the_same_result(run, folder):
    arguments = ["-t", "n_w=0.5", "-m", "laplace", "--quick"]
    first = run(*arguments).stdout
    for path in (folder / "home").rglob("*.json"):
        path.unlink()
    assert run(*arguments).stdout == first


def test_an_interrupt_keeps_what_was_measured(run, folder, monkeypatch):
    arguments = ["-m", "laplace", "-e", 1, "-e", 2, "-e", 3, "--quick"]
    true, begun = evaluate.monte_carlo, []

    def interrupted(*given, **options):
        begun.append(1)
        if len(begun) == 3:
            raise KeyboardInterrupt
        return true(*given, **options)

    monkeypatch.setattr(evaluate, "monte_carlo", interrupted)
    done = CliRunner().invoke(
        cli,
        ["calibrate", "sample.txt", *map(str, arguments), "--space", "s.safetensors"],
    )
    assert done.exit_code != 0
    assert not done.stdout
    # a third may be under way beside these two, and is lost
    assert re.search(r"Stored in .*home.*: [12] new measurements?\.", done.stderr)
    run(*arguments)
    assert len(begun) == 4


class Clock:
    """Every look at it takes a while."""

    def __init__(self, seconds):
        self.now, self.seconds = 0.0, seconds

    def __call__(self):
        self.now += self.seconds
        return self.now


@pytest.mark.slow("searches", but="target1-10.0-True")
@pytest.mark.parametrize(("seconds", "says"), [(0.01, False), (10.0, True)])
@pytest.mark.parametrize("target", [["-t", "n_w=0.5"], []])
def test_work_of_more_than_a_minute_is_announced(
    run, monkeypatch, seconds, says, target
):
    from mondegreen.calibration import plan

    clock = Clock(seconds)
    monkeypatch.setattr(plan, "perf_counter", clock)
    shown = run("-m", "laplace", "--quick", *target).stderr
    assert ("up to about" in shown) is says
    assert shown.count("up to about") <= 1
    assert "minute" not in run("-m", "laplace", "--quick", "-q", *target).stderr


@pytest.mark.slow("draws a whole page")
def test_a_report_is_written_whole_and_holds_no_text(run, folder):
    arguments = ["-t", "n_w=0.5", "-m", "tem", "--html", "r.html", "-e", 1, "-e", 2]
    run(*arguments)
    page = (folder / "r.html").read_text("utf-8")
    assert "no word stays with probability above 0.5" in page
    assert SECRET not in page
    assert "--force" in run(*arguments, expect=3).stderr
    run(*arguments, "--force")


@pytest.mark.slow("calibrates")
def test_sentences_are_shown_before_and_after(run, folder):
    (folder / "public.txt").write_text("bad bed\n\nkum fog\n")
    run("-m", "tem", "-e", 9, "--html", "r.html", "--sentences", "public.txt")
    page = (folder / "r.html").read_text("utf-8")
    assert "<blockquote><bdi>bad bed</bdi></blockquote>" in page
    assert "kum fog" in page


@pytest.mark.slow("measures many settings")
def test_sentences_are_shown_at_the_ends_of_a_curve_and_between(run, folder):
    (folder / "public.txt").write_text("bad bed\n")
    epsilons = [part for epsilon in range(1, 8) for part in ("-e", epsilon)]
    arguments = ["-m", "tem", *epsilons, "-m", "laplace", "--quick"]
    run(*arguments, "--html", "r.html", "--sentences", "public.txt")
    page = (folder / "r.html").read_text("utf-8")
    table = page[page.index("Sentence 1 under every setting") :]
    rows = re.findall(r"ε = </span>(\d+)", table[: table.index("</table>")])
    assert rows == ["1", "3", "5", "7"] * 2


@pytest.mark.slow("calibrates")
def test_neither_the_cache_nor_the_report_holds_the_sample(run, folder):
    run("-t", "n_w=0.5", "-m", "tem", "--html", "r.html", "-e", 2)
    kept = [path for path in (folder / "home").rglob("*") if path.is_file()]
    assert kept
    for path in [*kept, folder / "r.html"]:
        assert SECRET.encode() not in path.read_bytes()
