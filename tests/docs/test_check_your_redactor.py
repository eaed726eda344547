"""The page about checking a redactor says what the command finds on the examples."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from mondegreen.attacks.attack import wilson
from mondegreen.cli.main import cli

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/how-to/check-your-redactor.md").read_text(encoding="utf-8")


def attack(name):
    files = [str(ROOT / f"examples/{each}.jsonl") for each in ("notes", name)]
    command = ["attack", *files, "--column", "note", "--spans", "spans", "--json"]
    done = CliRunner().invoke(cli, command)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    kinds = found["survivors"]["by_kind"]
    shares = {name: kinds[name]["value"] for name in kinds}
    shares["all annotated units"] = found["survivors"]["value"]
    shares["linked to their original by words"] = found["linkage"]["value"]
    return shares


@pytest.mark.slow("attacks")
def test_the_table_holds_what_the_command_finds():
    table = dict(re.findall(r"^\| ([\w ]+) \| ([\d. %|]+) \|$", PAGE, re.MULTILINE))
    by_pattern, by_name = attack("notes_by_pattern"), attack("notes_by_name")
    assert table.keys() == by_pattern.keys()
    for name, cells in table.items():
        printed = [float(cell.strip(" %")) for cell in cells.split("|")]
        wanted = [100 * by_pattern[name], 100 * by_name[name]]
        assert [f"{x:.3g}" for x in printed] == [f"{x:.3g}" for x in wanted], name


def test_the_texts_of_the_page_are_those_of_the_examples():
    for name in ("notes", "notes_by_pattern", "notes_by_name"):
        path = ROOT / f"examples/{name}.jsonl"
        first = path.read_text(encoding="utf-8").splitlines()[0]
        assert f"| {json.loads(first)['note']} |" in PAGE


def commands_of(section):
    text = PAGE.split(f"## {section}\n")[1].split("\n## ")[0].replace("\\\n", " ")
    lines = re.findall(r"^\$ (mondegreen attack .*)", text, re.MULTILINE)
    return [shlex.split(re.split(r" \|\| | > ", line)[0])[1:] for line in lines]


@pytest.mark.slow("attacks")
def test_limits_that_are_derived_pass_a_good_release_and_stop_a_bad_one(monkeypatch):
    monkeypatch.chdir(ROOT / "examples")
    measure, keep, fail = commands_of("Derive your limits")
    codes = [CliRunner().invoke(cli, each).exit_code for each in (keep, fail)]
    assert codes == [0, 4]
    found = json.loads(CliRunner().invoke(cli, measure).stdout)
    shown = re.search(
        r"that is ([\d.]+) for `survivors` and `partly_left`, ([\d.]+) for `reader`, "
        r"and (\d) for `unchanged_rows` and\s`displaced_rows`",
        PAGE,
    )
    for name, high in (
        ("survivors", shown[1]),
        ("partly_left", shown[1]),
        ("reader", shown[2]),
    ):
        assert f"{found[name]['high']:.3f}" == high
    for name in ("unchanged_rows", "displaced_rows"):
        assert f"{found[name]['high']:g}" == shown[3]


def test_the_units_that_a_limit_needs_are_those_of_the_interval():
    table = PAGE.split("<!-- units_needed -->")[1].split("<!-- end of")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[3:]]
    assert len(rows) == 4
    for limit, *counts in rows:
        for share, count in zip((0, 0.5, 0.8), counts, strict=True):
            left, units = share * float(limit), int(count.replace(",", ""))
            assert wilson(left * units, units)[1] <= float(limit)
            assert wilson(left * (units - 1), units - 1)[1] > float(limit)


def test_the_time_of_all_rows_is_the_one_that_was_measured():
    page = (ROOT / "docs/how-to/attack-a-release.md").read_text(encoding="utf-8")
    found = json.loads((ROOT / "benchmarks/results/attack_rows.json").read_text())
    speed = found["speed"]
    said = (
        rf"{speed['rows']:,} rows of {speed['words']} words took "
        rf"{speed['seconds']:.1f} seconds of one core and\s{speed['megabytes']:.0f} MB"
    )
    assert re.search(said, page)


@pytest.mark.slow("attacks")
def test_every_code_of_the_table_is_that_of_an_attack(tmp_path, monkeypatch):
    """Codes 1, 130 and 141 are those of every command."""
    table = PAGE.split("## Exit codes\n")[1].split("\n## ")[0]
    codes = re.findall(r"^\| (\d+) \|.*\| ((?:not )?written) \|$", table, re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    for number, (code, said) in enumerate(codes):
        if code in ("1", "130", "141"):
            continue
        (tmp_path / f"old{number}").write_text("")
        page = f"page{number}"
        more = {
            "0": ["--html", page],
            "2": ["--html", page, "--fail-above", "reeder=1"],
            "3": ["--html", f"old{number}", "--sarif", page],
            "4": ["--html", page, "--fail-above", "survivors=0"],
        }[code]
        files = [str(ROOT / f"examples/{n}.jsonl") for n in ("notes", "notes_by_name")]
        done = CliRunner().invoke(cli, ["attack", *files, "-c", "note", *more])
        assert done.exit_code == int(code), done.output
        assert (tmp_path / page).exists() == (said == "written")
    assert [code for code, _ in codes] == ["0", "1", "2", "3", "4", "130", "141"]


def test_the_workflow_is_valid_and_its_commands_run(tmp_path, monkeypatch):
    yaml = pytest.importorskip("yaml")
    text = (ROOT / "examples/check_redactor.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    # YAML 1.1 reads the key "on" as true.
    assert workflow.keys() == {"name", True, "permissions", "jobs"}
    (job,) = workflow["jobs"].values()
    assert job["runs-on"]
    for step in job["steps"]:
        assert ("uses" in step) != ("run" in step)
        assert step.keys() <= {"name", "uses", "with", "run", "if"}
        assert re.fullmatch(r"[\w-]+/[\w/-]+@v\d+", step.get("uses", "a/b@v1"))
    runs = [shlex.split(step["run"]) for step in job["steps"] if "run" in step]
    assert [words[0] for words in runs] == ["pip", "cp", "mondegreen"]
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    shutil.copy(*runs[1][1:])
    done = CliRunner().invoke(cli, runs[2][1:])
    assert done.exit_code == 0, done.output
    uploads = [step["with"] for step in job["steps"] if "upload" in str(step)]
    for path in (uploads[0]["sarif_file"], uploads[1]["path"]):
        assert (tmp_path / path).is_file()
    # The same workflow fails for the tool that hides less.
    shutil.copy("examples/notes_by_pattern.jsonl", "redacted.jsonl")
    done = CliRunner().invoke(cli, [*runs[2][1:], "--force"])
    assert done.exit_code == 4
