"""The README: two set-up commands, of which CI runs the second."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import mondegreen as mg
from benchmarks.pages import linkage_page, policy_page, readme_table
from benchmarks.pages.page import filled

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def set_up_commands():
    section = README.split("## Set up\n")[1].split("\n## ")[0]
    return re.findall(r"```sh\n(.*?)\n```", section, re.DOTALL)


def test_there_are_exactly_two_set_up_commands_of_one_line():
    commands = set_up_commands()
    assert len(commands) == 2
    assert not any("\n" in command for command in commands)
    assert all(command.startswith("python3 -m venv .venv && ") for command in commands)


def test_ci_runs_the_second():
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    again = " || again .venv"  # what failed, once more
    assert set_up_commands()[1] in [line.removesuffix(again) for line in lines]


def test_ci_checks_before_it_tests_and_prints_what_each_stage_took():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    stages = re.findall(r'^next_stage "(.*?)"$', script, re.MULTILINE)
    assert stages[:2] == ["environment", "lint and types"]
    lists = set(re.findall(r"allow_skips (\w+)$", script, re.MULTILINE)) | {
        "everywhere"
    }
    assert {path.stem for path in (ROOT / ".ci" / "skips").iterdir()} == lists


@pytest.fixture
def again(tmp_path):
    """Return what runs `again` of CI where some tests have failed."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    function = re.search(r"^again\(\) \{\n.*?^\}\n", script, re.DOTALL | re.MULTILINE)[
        0
    ]
    (tmp_path / "venv").symlink_to(sys.prefix)
    (tmp_path / ".pytest_cache" / "v" / "cache").mkdir(parents=True)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "tests").mkdir()

    def run(names, body, status=1):
        failed = json.dumps({name: True for name in names})
        (tmp_path / ".pytest_cache/v/cache/lastfailed").write_text(failed)
        for name in names:
            path = tmp_path / name.split("::")[0]
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"def {name.split('::')[1]}():\n    {body}\n")
        setting = "set -euo pipefail; failures=.pytest_cache/v/cache/lastfailed"
        code = f"{setting}\n{function}\n(exit {status}) || again venv\n"
        return subprocess.run(
            ["bash", "-c", code], cwd=tmp_path, capture_output=True, text=True,
            check=False, timeout=120,
        )  # fmt: skip

    return run


@pytest.mark.slow("runs pytest in pytest")
def test_what_fails_once_is_called_flaky_with_its_name(again):
    done = again(["tests/test_some.py::test_pipe"], "pass")
    assert done.returncode == 0, done.stderr
    assert "FLAKY" in done.stdout
    assert "tests/test_some.py::test_pipe" in done.stdout.partition("FLAKY")[2]


@pytest.mark.slow("runs pytest in pytest")
def test_what_fails_twice_fails(again):
    done = again(["tests/test_some.py::test_pipe"], "assert False")
    assert done.returncode == 1
    assert "FLAKY" not in done.stdout


@pytest.mark.parametrize(
    "name",
    [
        "tests/sampling/test_noise.py::test_x",
        "tests/mechanisms/test_tree.py::test_x",
        "tests/audit/test_exact_audit.py::test_x",
        "tests/test_canary.py::test_x",
        "tests/test_some.py::test_no_canary_is_there",
    ],
)
def test_what_is_about_chance_or_leaks_is_not_forgiven(again, name):
    done = again(["tests/test_some.py::test_pipe", name], "pass")
    assert done.returncode == 1
    assert "not run again" in done.stderr


@pytest.mark.parametrize("status", [2, 3, 5, 6])
def test_what_is_no_failed_test_is_not_run_again(again, status):
    done = again(["tests/test_some.py::test_pipe"], "pass", status)
    assert done.returncode == status
    assert done.stdout == ""


def test_ci_names_tests_that_exist_for_other_pythons():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    named = re.search(r'^way="(.*?)"$', script, re.DOTALL | re.MULTILINE)[1].split()
    assert "tests/io" in named
    assert all((ROOT / each).exists() for each in named)


def test_the_main_job_of_the_first_runs():
    main_job = set_up_commands()[0].split(" && ")[-1]
    program, *arguments = shlex.split(main_job)
    assert program == ".venv/bin/mondegreen"
    installed = Path(sys.executable).with_name("mondegreen")
    run = subprocess.run(
        [installed, *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    lines = run.stdout.splitlines()
    original = (ROOT / "examples" / "reviews.csv").read_text(encoding="utf-8")
    assert lines[0] == "id,stars,review"
    assert len(lines) == len(original.splitlines())
    assert run.stdout != original
    assert run.stderr.startswith("Privacy guarantee")


def test_every_local_link_leads_somewhere():
    for target in re.findall(r"\]\((?!http)([^)#]+)", README):
        assert (ROOT / target).exists(), target


def test_the_story_hides_and_stays_as_it_says():
    (stays,) = re.findall(r"`--policy names`, \*(.*?)\*\s+stays", README)
    assert stays in policy_page.STORY
    assert policy_page.marked("names", stays) == stays
    (default,) = re.findall(r"The default hides (.*?)\.", README)
    hidden = re.findall(r"\*(\w+)\*", default)
    marked = policy_page.marked("sensitive", stays)
    assert hidden == re.findall(r"\[(\w+)\]", marked)


def test_what_is_said_to_be_read_is_what_is_read():
    """The table of the page on reading."""
    page = (ROOT / "docs/how-to/read-a-release.md").read_text(encoding="utf-8")
    table = dict(re.findall(r"^\| (in|drawn|read) \| (.*?) \|$", page, re.M))
    privatizer = mg.Privatizer(
        mg.mechanism("tree", epsilon=10.0),
        noise=mg.Seeded(3),
        read="sentence",
        case="truecase",
    )
    assert privatizer(table["in"]).text == table["read"]
    raw = mg.Privatizer(mg.mechanism("tree", epsilon=10.0), noise=mg.Seeded(3))
    assert raw(table["in"]).text == table["drawn"]


def test_the_speed_section_comes_from_the_results():
    assert readme_table.START + readme_table.table() + readme_table.END in README


def test_the_figures_of_linkage_are_those_of_the_results():
    linked = {row["collection"]: row["linked"] for row in linkage_page.rows()}
    questions, films = linked["insurance questions"], linked["film reviews"]
    page = (ROOT / "docs/guide/not-protected.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"97 % of\s7-word questions .*?3 % and 100 %\.", page, re.S)
    figures = [float(each) for each in re.findall(r"(\d+) %", shown)]
    ways = ("all words", "structure")
    wanted = [each[way] for way in ways for each in (questions, films)]
    assert figures == [round(100 * share) for share in wanted]


def test_the_example_of_a_policy_is_what_it_really_gives():
    assert filled(README, policy_page.IN_README) == README
