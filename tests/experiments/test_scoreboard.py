"""The scoreboard: controls come out where they must, and any tool can be added."""

import json
import math
import re
import shlex
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

pytest.importorskip("sklearn")

from mondegreen.attacks.any_tool.spans import Annotation
from mondegreen.cli.main import cli
from mondegreen.errors import ConfigurationError, DataError, SourceError
from mondegreen.policy.policy import load_policy
from mondegreen_experiments.bench import Bench
from mondegreen_experiments.papers import BOARD, list_names, recipe_named
from mondegreen_experiments.scoreboard import board, peers, sets, table, tools
from mondegreen_experiments.scoreboard.board import Asked, build_recipe
from mondegreen_experiments.scoreboard.measure import measure
from mondegreen_experiments.scoreboard.peers import run_command
from mondegreen_experiments.scoreboard.published import count_verbatim
from mondegreen_experiments.scoreboard.table import Column, compute_cell, find_best

FIRST = "Ann Bob Carl Dora Emma Fred Gina Hans Ivan Jane Karl Lena Mark Nina".split()
CITIES = "Oslo Paris Rome Berlin Madrid Vienna Prague Dublin Lisbon Athens".split()
NOUNS = "car house dog book garden window kitchen letter ticket lamp".split()
ECHO = "import sys; [print(line, end='') for line in sys.stdin]"


def invented(count):
    """Make texts with two units each: a name of one word, and a place of two."""
    rows = []
    for i in range(count):
        name, noun = FIRST[i % len(FIRST)], NOUNS[i // 3 % len(NOUNS)]
        place = f"{CITIES[i % len(CITIES)]} {CITIES[i // 7 % len(CITIES)]}"
        text = f"{name} called from {place} about the {noun} and about item {i}."
        start = text.index(place)
        spans = [[0, len(name), "PERSON"], [start, start + len(place), "PLACE"]]
        rows.append({"text": text, "spans": json.dumps(spans), "label": noun})
    return rows


@pytest.fixture
def notes(tmp_path):
    path = tmp_path / "notes.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in invented(300)))
    return path


@pytest.fixture
def few(monkeypatch, tmp_path):
    """Keep two controls and a policy, and no environment of another package."""
    names = ("nothing", "everything", "sensitive")
    kept = {name: tools.TOOLS[name] for name in names}
    for module in (tools, table, board):
        monkeypatch.setattr(module, "TOOLS", kept)
    monkeypatch.setattr("mondegreen_experiments.scoreboard.measure.TOOLS", kept)


def at(path, tool, **more):
    return {"tool": tool, "set": "notes", "file": str(path), "spans": "spans"} | {
        "texts": 300,
        **more,
    }


def test_masking_nothing_leaves_everything(notes):
    found = measure(Bench(), at(notes, "nothing"), 0)
    for name in ("survivors", "reader", "linkage", "others"):
        assert found[f"notes: {name}"] == 1
    assert "speed" not in found


def test_masking_all_leaves_nothing_and_links_by_chance(notes):
    found = measure(Bench(), at(notes, "everything"), 0)
    assert found["notes: survivors"] == found["notes: others"] == 0
    assert found["notes: reader"] < 0.2
    assert found["notes: linkage"] == pytest.approx(1 / 300)


def test_masking_at_random_leaves_what_chance_leaves(notes):
    found = measure(Bench(), at(notes, "half"), 0)
    # Half of the names, and a quarter of the places, which are two words. Five standard
    # deviations: a false alarm in less than one of a million runs.
    reach = 5 * math.sqrt((0.25 + 3 / 16) / 4 / 300)
    assert found["notes: survivors"] == pytest.approx((0.5 + 0.25) / 2, abs=reach)
    assert found["notes: others"] == pytest.approx(0.5, abs=5 * 0.5 / math.sqrt(2400))
    assert found["notes: reader"] >= found["notes: survivors"]


def test_a_command_is_a_tool(notes):
    command = shlex.join([sys.executable, "-c", ECHO])
    found = measure(Bench(), at(notes, "mine", command=command), 0)
    assert found["notes: survivors"] == 1
    assert found["speed"] > 0
    assert found["nats"] == "none"


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("raise ValueError('Ann')", "exit code 1: ValueError, <string>:1$"),
        ("import os; os.kill(os.getpid(), 15)", "SIGTERM: it printed no error$"),
        ('print(\'{"text": "x"}\')', "printed 1 lines for 2 texts"),
        ("print('Ann'); print('Ann')", "printed a line that is not"),
        ("print('{\"text\": 1}'); print('{}')", "printed a line that is not"),
    ],
)
def test_a_command_that_fails_is_told_without_a_text(code, problem):
    with pytest.raises(DataError, match=problem) as raised:
        run_command([sys.executable, "-c", code], ["Ann met Bob.", "x"])
    assert "Ann" not in str(raised.value)


def test_seconds_of_a_command_are_its_own_where_it_tells_them():
    line = '{"text": null, "seconds": 0.25}'
    told = f"import sys; [print('{line}') for _ in sys.stdin]"
    printed = run_command([sys.executable, "-c", told], ["a", "b"])
    assert printed == peers.Printed(["", ""], 0.5)
    with pytest.raises(ConfigurationError, match="cannot be run"):
        run_command(["no-such-command"], ["a"])


CELLS = {"survivors": 0.5, "survivors low": 0.4, "survivors high": 0.7}


def test_the_best_is_bold_and_controls_are_not_in_the_race():
    column = Column("units left", "survivors", ["a"], "least")
    values = {"everything": 0.0, "names": 0.201, "sensitive": 0.199, "all": 0.4}
    found = {name: {"a": {**CELLS, "survivors": x}} for name, x in values.items()}
    assert find_best(column, found) == {"names", "sensitive"}  # equal as printed
    cell = compute_cell(column, {"a": CELLS})
    assert cell.write(bold=True) == "**0.50** [0.40, 0.70]"
    assert table.write_rows(found, [column], {})[1][1].startswith("**0.20**")
    assert "**" not in table.write_rows(found, [column], {})[0][1]


def test_a_mean_of_sets_needs_all_of_them_and_has_a_narrower_interval():
    column = Column("units left", "survivors", ["a", "b"], "least")
    assert compute_cell(column, {"a": CELLS}) is None
    cell = compute_cell(column, {"a": CELLS, "b": CELLS})
    assert cell.value == 0.5
    assert cell.low == pytest.approx(0.5 - 0.1 / math.sqrt(2))
    assert cell.high == pytest.approx(0.5 + 0.2 / math.sqrt(2))


def test_verbatim_annotations_are_counted_as_their_maker_does():
    spans = [[Annotation(0, 3, "person"), Annotation(10, 14, "place")]]
    found = count_verbatim(spans, ["Ann is in Oslo."], ["Who is Ann?"])
    assert (found["verbatim person"], found["verbatim place"]) == (1, 0)
    assert found["verbatim person n"] == 1


@pytest.fixture
def folder(tmp_path):
    """Make a tiny copy of every set of the bench."""
    made = tmp_path / "data"
    (made / "private_text").mkdir(parents=True)
    rows = invented(30)
    for each in sets.SETS.values():
        split = each.split or "train"
        parts = [dict(row, split=split) for row in rows]
        parts += [dict(row, split="train") for row in rows if each.use]
        pq.write_table(pa.Table.from_pylist(parts), made / f"{each.file}.parquet")
    return made


def run(*arguments):
    return CliRunner().invoke(cli, ["reproduce", *map(str, arguments)])


@pytest.mark.slow("attacks on twenty releases")
def test_the_board_of_a_tiny_bench_is_printed_and_kept(folder, notes, few, tmp_path):
    notes.write_text("".join(json.dumps(row) + "\n" for row in invented(30)))
    given = ["scoreboard", "--data", folder, "--runs", tmp_path / "runs"]
    given += ["--set", f"own={notes}", "--spans", "spans"]
    first = run(*given)
    assert first.exit_code == 0, first.output
    assert "all sets" in first.output
    assert "mondegreen sensitive " in first.output  # no Markdown on a terminal
    assert "Less is better: units left, reader, linkage." in first.output
    assert "left out: CluSanT" in first.stderr
    lines = (tmp_path / "runs" / "scoreboard.jsonl").read_text().splitlines()
    assert len(lines) == 3 * 2
    assert not any(re.search("Ann|Oslo|called", line) for line in lines)
    again = json.loads(run(*given, "--json").stdout)
    assert again["recipe"] == "scoreboard"
    assert (tmp_path / "runs" / "scoreboard.jsonl").read_text().splitlines() == lines
    points = table.sort_points(
        {**each, "values": {k: m["value"] for k, m in each["measures"].items()}}
        for each in again["points"]
    )
    assert (
        points["nothing"]["news"]["accuracy"] > points["everything"]["news"]["accuracy"]
    )
    assert points["nothing"]["insurance questions"]["retrieval"] == 1
    assert points["everything"]["insurance questions"]["retrieval"] == 0


@pytest.mark.slow("attacks on a few releases")
def test_a_tool_and_texts_of_ones_own_need_no_data(tmp_path, few):
    script, texts = tmp_path / "mine.py", tmp_path / "own.csv"
    script.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    text = json.loads(line)['text']\n"
        "    print(json.dumps({'text': text.replace('Oslo', '[PLACE]')}))\n"
    )
    texts.write_text('text\nAnn is in Oslo.\n"Bob, 🙂 left."\nCarl met Dora.\n')
    command = shlex.join([sys.executable, str(script)])
    given = ["--set", f"own={texts}", "--tool", f"mine={command}", "--json"]
    found = run("scoreboard", "--runs", tmp_path / "runs", *given)
    assert found.exit_code == 0, found.output
    board = {
        each["point"]["tool"]: each["measures"]
        for each in json.loads(found.stdout)["points"]
    }
    assert set(board) == {"nothing", "everything", "sensitive", "mine"}
    # Of Ann, Oslo, Bob, Carl and Dora, the tool masks Oslo.
    assert board["mine"]["own: survivors"]["value"] == pytest.approx(4 / 5)


def test_a_changed_file_is_measured_again(notes, few, tmp_path):
    def points():
        asked = Asked(sets=[f"own={notes}"])
        return build_recipe(asked, Bench(), "quick", lambda line: None).points["quick"]

    first = points()
    assert points() == first
    notes.write_text(notes.read_text() + json.dumps(invented(1)[0]) + "\n")
    assert points() != first


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (["cmp-words", "--peers"], "go with the name scoreboard"),
        (["scoreboard", "--spans", "spans"], "goes with --set"),
        (["scoreboard"], "there is no set of texts"),
        (["scoreboard", "--set", "own"], "write NAME=FILE"),
        (["scoreboard", "--set", "own=nothing.csv"], "is no file"),
        (
            ["scoreboard", "--set", "own=FILE", "--tool", "sensitive=cat"],
            "NAME=COMMAND",
        ),
        (["scoreboard", "--set", "own=FILE", "--only", "presido"], "presido"),
        (["scoreboard", "--set", "own=FILE", "-o", "table.tex"], "it holds Parquet"),
    ],
)
def test_what_cannot_be_read_is_refused(given, problem, notes, few):
    found = run(*[each.replace("FILE", str(notes)) for each in given])
    assert found.exit_code == 2
    assert problem in " ".join(found.stderr.split())


def test_spans_that_cannot_be_read_are_refused(notes):
    with pytest.raises(SourceError, match="field 'label'"):
        measure(Bench(), at(notes, "nothing", spans="label"), 0)


def test_a_field_of_spans_that_no_text_has_is_refused(notes):
    with pytest.raises(SourceError, match="no text has the field 'spns' of --spans"):
        measure(Bench(), at(notes, "nothing", spans="spns"), 0)


def test_chosen_tools_run_and_no_others(notes, monkeypatch):
    installed = []
    monkeypatch.setattr(
        board, "install_peers", lambda names, tell: installed.extend(names)
    )
    monkeypatch.setattr(board, "has_peer", lambda name: True)
    asked = Asked(sets=[f"own={notes}"], only=["names", "presidio-small"])
    told = []
    made = build_recipe(asked, Bench(), "quick", told.append).points["quick"]
    assert [each["tool"] for each in made] == ["names", "presidio-small"]
    assert installed == ["presidio-small"]
    assert not any("CluSanT" in line for line in told)


def test_the_speed_of_the_policy_that_others_are_divided_by_is_never_best():
    cells = {"sensitive": {"all sets": {"speed": 1.7}}}
    cells |= {"names": {"all sets": {"speed": 1.2}}}
    column = next(each for each in table.COLUMNS if each.title == "speed")
    assert find_best(column, cells) == {"names"}


def test_the_board_runs_by_its_name_alone():
    assert BOARD not in list_names()
    assert recipe_named(BOARD).name == BOARD
    assert "scoreboard" in run("--list").output


REQUIREMENTS = Path(peers.__file__).parent / "requirements"


@pytest.mark.parametrize("path", sorted(REQUIREMENTS.iterdir()), ids=lambda p: p.stem)
def test_other_packages_are_pinned_and_models_by_their_digest(path):
    lines = [x for x in path.read_text().splitlines() if x and not x.startswith("#")]
    assert lines
    for line in lines:
        assert re.match(r"[A-Za-z0-9_.-]+==[\w.]+", line)
        assert not path.stem.endswith("models") or "--hash=sha256:" in line


def test_each_tool_of_others_has_an_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("MONDEGREEN_HOME", str(tmp_path))
    others = [name for name, each in tools.TOOLS.items() if each.kind == "peer"]
    for name in others:
        assert not peers.has_peer(name)
        with pytest.raises(ConfigurationError, match="add --peers"):
            peers.run_peer(name, ["a"])
    assert len({peers.compute_digest(name) for name in others}) >= 5


def test_an_environment_with_other_pins_is_not_used(monkeypatch, tmp_path):
    monkeypatch.setenv("MONDEGREEN_HOME", str(tmp_path))
    ready = tmp_path / "peers" / "scrubadub" / "ready"
    ready.parent.mkdir(parents=True)
    ready.write_text((REQUIREMENTS / "scrubadub.txt").read_text())
    assert peers.has_peer("scrubadub")
    ready.write_text("scrubadub==1.0\n")
    assert not peers.has_peer("scrubadub")


def test_a_kept_run_of_a_policy_is_of_its_lists():
    """New lists are another point, so that no run with old ones stands for them."""
    lists = {name: board._point_of_tool(name).get("lists") for name in tools.TOOLS}
    for name in ("names", "sensitive"):
        assert lists[name] == load_policy(name).digest[:12]
    assert lists["nothing"] is lists["all"] is None
