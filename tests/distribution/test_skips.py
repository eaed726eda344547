"""CI fails where a test is skipped for a reason that no list allows.

What passed in one environment it leaves out of the next one.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = """
import pytest

def test_passes():
    pass

def test_is_skipped_as_allowed():
    pytest.skip("no 'node' here")

@pytest.mark.skipif({other}, reason="a reason [of its own]")
def test_is_skipped():
    pass

@pytest.mark.xfail(strict=True)
def test_fails_as_expected():
    assert False
"""


def run(folder, *options, other, allowed="*", **variables):
    (folder / "tests").mkdir(exist_ok=True)
    for name in (
        "conftest.py",
        "skips.py",
        "passed.py",
        "families.py",
        "strategies.py",
    ):
        (folder / "tests" / name).write_bytes((ROOT / "tests" / name).read_bytes())
    (folder / "tests" / "test_some.py").write_text(TESTS.format(other=other))
    (folder / "tests" / "test_module.py").write_text(
        "import pytest\npytest.importorskip('no_such_module')\n"
    )
    (folder / "allowed.txt").write_text(allowed)
    return run_again(folder, *options, ALLOWED_SKIPS="allowed.txt", **variables)


def run_again(folder, *options, **variables):
    """Run what is there, without the variables of a run of CI around this one."""
    ours = ("ALLOWED_SKIPS", "RECORD_PASSED", "LEAVE_OUT_PASSED")
    inherited = {k: v for k, v in os.environ.items() if k not in ours}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *options, "tests"],
        env={**inherited, **variables}, cwd=folder,
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


@pytest.mark.slow("runs pytest in pytest")
@pytest.mark.parametrize("options", [("-n", "0"), ("-n", "1")], ids=str)
def test_a_reason_that_is_not_listed_fails_the_run(tmp_path, options):
    allowed = "# programs\nno '*' here\n"
    done = run(tmp_path, *options, other=True, allowed=allowed)
    assert done.returncode == 6, done.stdout
    assert "no list allows it: a reason [of its own] (1: tests/test_some.py" in (
        done.stdout
    )
    assert "no list allows it: could not import 'no_such_module'" in done.stdout
    assert "no 'node' here" not in done.stdout


@pytest.mark.slow("runs pytest in pytest")
def test_reasons_that_are_listed_do_not(tmp_path):
    allowed = "no '*' here\n\na reason [[]of its own]\ncould not import 'no_such_*\n"
    done = run(tmp_path, "-n", "0", other=True, allowed=allowed)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow("runs pytest in pytest")
@pytest.mark.parametrize("options", [("-n", "0"), ("-n", "1")], ids=str)
def test_what_passed_before_is_left_out_and_nothing_else(tmp_path, options):
    done = run(tmp_path, *options, other=True, RECORD_PASSED="passed.txt")
    assert done.returncode == 0, done.stdout
    passed = (tmp_path / "passed.txt").read_text()
    assert passed == "tests/test_some.py::test_passes\n"
    # In this environment nothing is missing, so that what was skipped can fail.
    broken = TESTS.replace(
        "test_is_skipped():\n    pass", "test_is_skipped():\n    1 / 0"
    )
    assert broken != TESTS
    (tmp_path / "tests" / "test_some.py").write_text(broken.format(other=False))
    (tmp_path / "tests" / "test_module.py").unlink()
    done = run_again(tmp_path, *options, LEAVE_OUT_PASSED="passed.txt")
    assert "1 failed, 1 skipped, 1 xfailed" in done.stdout.replace(", 1 deselected", "")
    assert done.returncode == 1


def test_every_list_says_why():
    for path in (ROOT / ".ci" / "skips").iterdir():
        assert path.read_text("utf-8").startswith("# ")
