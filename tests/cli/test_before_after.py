"""Originals beside releases: on a terminal, and nowhere else."""

import io
import os
import pty
import re
import subprocess
import sysconfig
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from mondegreen.cli.before_after import show_before_after
from mondegreen.cli.demo import SENTENCES
from mondegreen.cli.main import cli
from mondegreen.cli.render import prepare_privatizer
from mondegreen.settings import Settings

if os.name != "posix":
    pytest.skip("a terminal of POSIX", allow_module_level=True)

SCRIPT = str(Path(sysconfig.get_path("scripts"), "mondegreen"))
CANARY = "Zyxwoldemorth"
ROWS = (
    f"id,text\n1,My doctor met {CANARY} in \x1b]0;title\x07Boston.\n2,Fine.\n3,Bye.\n"
)
HIDDEN, PRINTED = "\x1b[1;31m", "\x1b[1;32m"


def on_terminal(*arguments, width=100, piped=(), **environment):
    """Run with standard streams on a terminal; return its text and what was piped."""
    ours, theirs = pty.openpty()
    streams = {"stdout": theirs, "stderr": theirs}
    streams |= dict.fromkeys(piped, subprocess.PIPE)
    given = {"COLUMNS": str(width), "TERM": "xterm-256color", **environment}
    process = subprocess.Popen(
        [SCRIPT, *arguments],
        stdin=subprocess.DEVNULL,
        env={**os.environ, **given},
        **streams,
    )
    os.close(theirs)
    found = b""
    try:
        while part := _read(ours):
            found += part
        others = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return process.returncode, found.decode(), b"".join(filter(None, others)).decode()


def _read(terminal):
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # how Linux says that the other end is closed
        return b""


@pytest.fixture
def table(folder):
    Path("in.csv").write_text(ROWS)
    return ["privatize", "in.csv", "--epsilon", "12", "--show", "2"]


def words_in(style, shown):
    return re.findall(re.escape(style) + r"(\S+?)\x1b", shown)


@pytest.mark.slow("a process")
def test_demo_shows_both_on_a_terminal():
    code, shown, _ = on_terminal("demo")
    assert code == 0
    assert {"doctor", "Boston", "diabetes", "340"} <= set(words_in(HIDDEN, shown))
    assert "found" not in words_in(HIDDEN, shown)
    assert len(words_in(PRINTED, shown)) == len(words_in(HIDDEN, shown))
    assert "Privacy guarantee" in shown
    assert shown.count("Next: ") == 1
    assert re.search("before.*after.*\\n", shown)


@pytest.mark.parametrize("forced", [{}, {"FORCE_COLOR": "1", "TTY_COMPATIBLE": "1"}])
def test_demo_pipes_its_invented_sentences_with_their_releases(forced):
    done = CliRunner().invoke(cli, ["demo"], env=forced)
    assert done.exit_code == 0
    assert all(f"before  {each}\nafter   " in done.stdout for each in SENTENCES)
    assert len(re.findall(r"^after   .*found the", done.stdout, re.MULTILINE)) == 1


@pytest.mark.parametrize("forced", [False, True])
def test_a_console_that_is_no_terminal_gets_releases_alone(forced):
    privatizer = prepare_privatizer(Settings(epsilon=12.0), quiet=True)
    console = Console(file=io.StringIO(), force_terminal=forced, color_system=None)
    releases = ["My friend in Rome found the plum early."]
    show_before_after(console, privatizer, [SENTENCES[0]], releases)
    shown = console.file.getvalue()
    assert releases[0] in shown
    assert "on a terminal only" in shown
    assert "Boston" not in shown


@pytest.mark.slow("a process")
def test_show_prints_the_first_texts_on_the_terminal_alone(table):
    report = ["--report", "told.json"]
    code, shown, _ = on_terminal(*table, *report, "-o", "out.csv")
    assert code == 0, shown
    assert CANARY in words_in(HIDDEN, shown)
    assert "Fine." in shown
    assert "Bye." not in shown  # the third text
    assert "\x1b]0;" not in shown  # a text does not command the terminal
    assert "\x07" not in shown
    for written in ("out.csv", "told.json"):
        assert CANARY.lower() not in Path(written).read_text().lower()
    release = Path("out.csv").read_text()
    assert all(word in release for word in words_in(PRINTED, shown))
    assert "Next: read out.csv" in shown


@pytest.mark.slow("a process")
def test_show_sets_texts_under_each_other_on_a_narrow_terminal(table):
    code, shown, _ = on_terminal(*table, "-o", "out.csv", width=60)
    assert code == 0
    assert len(re.findall(r"(?m)^.*before", shown)) == 2
    assert CANARY in words_in(HIDDEN, shown)


def test_show_keeps_originals_out_of_a_piped_release(table):
    code, shown, piped = on_terminal(*table, piped=["stdout"])
    assert code == 0
    assert CANARY in shown
    assert piped.startswith("id,text\n")
    assert CANARY not in piped


@pytest.mark.slow("a process each", but="forced0")
@pytest.mark.parametrize("forced", [{}, {"FORCE_COLOR": "1", "TTY_COMPATIBLE": "1"}])
def test_show_is_refused_without_a_terminal(table, forced):
    code, shown, piped = on_terminal(
        *table, "-o", "out.csv", "--report", "r.json", piped=["stderr"], **forced
    )
    assert code == 2
    assert "--show prints original texts" in piped
    assert CANARY not in shown + piped
    assert [each.name for each in Path().iterdir()] == ["in.csv"]


@pytest.mark.parametrize(
    "command",
    [
        ["privatize", "in.csv", "-e", "12", "--show", "2", "-o", "out.csv"],
        ["proxy", "--upstream", "http://127.0.0.1:9", "--restore", "--dry-run"],
    ],
)
def test_quiet_prints_no_originals_on_a_terminal_either(table, command):
    if command[0] == "proxy":
        pytest.importorskip("anyio")
    code, shown, _ = on_terminal(*command, "--quiet")
    assert code == 2
    assert "and --quiet prints warnings only" in " ".join(shown.split())
    assert CANARY not in shown
    assert not Path("out.csv").exists()


@pytest.mark.slow("a process")
def test_show_colors_what_a_policy_of_all_words_hides(table):
    code, shown, _ = on_terminal(*table, "--policy", "all", "-o", "out.csv")
    assert code == 0
    assert {"met", CANARY, "in"} <= set(words_in(HIDDEN, shown))


@pytest.mark.slow("a process")
def test_a_warning_stands_on_a_line_of_its_own_beside_the_progress_bar(table):
    code, shown, _ = on_terminal(*table, "-o", "out.csv")
    assert code == 0
    assert "left\r\x1b[KWarning: in.csv: columns that look" in shown
