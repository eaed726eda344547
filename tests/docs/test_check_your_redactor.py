"""The page about checking a redactor says what the command finds on the examples."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

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
