"""Mechanisms, attacks and scores of other packages, as the how-tos say to write them.

The files and the entry points of the pages are laid out in a folder on the path, as
an installer does. Then they are used through every door.
"""

from __future__ import annotations

import csv
import doctest
import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass, make_dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import mondegreen as mg
from commands import run_command
from mondegreen import attacks, plugins, scores
from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    PluginError,
    UnknownNameError,
    UnprovedGuaranteeError,
)
from mondegreen.mechanisms import AbstractMechanism, epsilon_parameter, parameter
from mondegreen.space.store import save_space

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
WORDS = ["red", "green", "blue", "cat", "dog"]
MODULES = ("coin", "lazy_reader", "same_length")
SECRET = "zyxwoldemorth"


def blocks(page, language):
    text = (HOW_TO / page).read_text("utf-8")
    found = re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)
    return [block for block in found if ">>>" not in block]


def offer(folder, name, *entries, version="1.0"):
    """Write what an installer leaves of a package: its metadata and entry points."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (info / "METADATA").write_text(about)
    (info / "entry_points.txt").write_text("\n".join(entries) + "\n")


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """Forget what a test registers or loads."""
    registry = sys.modules["mondegreen.mechanisms"]._PLUGINS
    for each in (registry, attacks.PLUGINS, scores.PLUGINS):
        monkeypatch.setattr(each, "_registered", {})
        monkeypatch.setattr(each, "_loaded", {})
    for name in MODULES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield
    for name in MODULES:
        sys.modules.pop(name, None)


@pytest.fixture(scope="session")
def package(tmp_path_factory):
    """Lay out the package of the pages as an installer does."""
    target = tmp_path_factory.mktemp("target")
    (target / "coin.py").write_text(blocks("your-own-mechanism.md", "python")[0])
    attack, score = blocks("your-own-attack.md", "python")
    (target / "lazy_reader.py").write_text(attack)
    (target / "same_length.py").write_text(score)
    tables = blocks("your-own-mechanism.md", "toml") + blocks(
        "your-own-attack.md", "toml"
    )
    project = tomllib.loads("\n".join(tables))["project"]
    lines = []
    for group, entries in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {at}" for name, at in entries.items())]
    offer(target, project["name"], *lines, version=project["version"])
    return target


@pytest.fixture
def installed(package, monkeypatch):
    monkeypatch.syspath_prepend(str(package))
    return package


@pytest.fixture
def space(tmp_path):
    path = tmp_path / "five.safetensors"
    points = np.random.default_rng(0).normal(size=(5, 2))
    save_space(mg.Space.from_arrays("five", WORDS, points), path)
    return mg.load_space(path)


@pytest.fixture
def sample(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "sample.csv"
    with path.open("w", newline="") as stream:
        rows = [[" ".join(rng.choice(WORDS, 7))] for _ in range(60)]
        csv.writer(stream).writerows([["text"], *rows, [SECRET]])
    return path


def run(*arguments, expect=0):
    return run_command(*arguments, expect=expect, secret=SECRET)


# --- a mechanism of another package, through every door


def test_it_is_found_by_name(installed):
    assert repr(mg.mechanism("coin", epsilon=2.0)) == "Coin(epsilon=2.0)"
    assert "coin" in [cls.name for cls in mg.mechanisms()]
    with pytest.raises(UnknownNameError, match="choose one of: coin"):
        mg.mechanism("coins", epsilon=2.0)
    with pytest.raises(ConfigurationError, match="coin has no parameter t"):
        mg.mechanism("coin", epsilon=2.0, t=1)


def test_the_command_lists_it_and_says_who_claims_its_proof(installed):
    done = run("mechanisms", "--json")
    (row,) = [row for row in json.loads(done.stdout) if row["name"] == "coin"]
    assert row["claimed_by"] == "the author of coin.Coin"
    assert row["parameters"][0]["name"] == "epsilon"
    assert not done.stderr
    assert re.search(r"^coin .*claimed", run("mechanisms").stdout, re.M)


def test_its_guarantee_says_who_claims_it(installed, space):
    made = mg.Privatizer(mg.mechanism("coin", epsilon=2.0), space)
    claimed = "claimed by the author of coin.Coin"
    assert made.guarantee.summary().startswith(f"Privacy guarantee, {claimed}: coin")
    assert claimed in str(made.guarantee)
    assert made.guarantee.proof == ""
    ours = mg.Privatizer(mg.mechanism("tem", epsilon=2.0), space).guarantee
    assert "claimed" not in ours.summary() + str(ours) + ours.to_json()


def test_settings_lead_to_it(installed, space):
    made = mg.Privatizer(mg.mechanism("coin", epsilon=40.0), space)
    again = mg.Privatizer.from_dict(json.loads(json.dumps(made.to_dict())))
    assert again.mechanism == made.mechanism
    assert again("A red cat.").text.split()[1:] == ["red", "cat."]


def test_the_functions_take_it(installed, space):
    texts = ["red cat", None, "blue dog"]
    found = mg.privatize(texts, mechanism="coin", epsilon=40.0, space=str(space.path))
    assert list(found) == texts


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_command_releases_with_it_in_each_worker(installed, space, sample, jobs):
    out = sample.with_name("out.csv")
    law = ["-m", "coin", "-e", "40", "--space", space.path, "--column", "text"]
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, "-m", "mondegreen", "privatize", sample, "-o", out]
    done = subprocess.run(
        [*map(str, command), *map(str, law), "--jobs", str(jobs)],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert "claimed by the author of coin.Coin" in done.stderr
    before, after = sample.read_text().splitlines(), out.read_text().splitlines()
    assert after[:-1] == before[:-1]  # at epsilon 40 known words stay
    assert after[-1] in WORDS


def test_it_is_attacked_explained_audited_and_calibrated(installed, space, sample):
    law = ["--mechanism", "coin", "--epsilon", "2", "--space", space.path]
    found = json.loads(run("attack", sample, "--column", "text", *law, "--json").stdout)
    assert found["single_word"]["value"] is not None
    assert json.loads(run("explain", "red", *law, "--json").stdout)
    assert run("audit", *law, "--json").exit_code == 0
    run("audit", *law, "--claim", "1", expect=4)
    common = ["--column", "text", "--space", space.path, "--json"]
    target = ["--mechanism", "coin", "--target", "bayes_risk=0.3", "--quick"]
    chosen = json.loads(run("calibrate", sample, *common, *target).stdout)
    assert chosen["chosen"]["mechanism"] == "coin"
    # Its author claims an epsilon. Nobody certified it.
    assert "certified_epsilon" not in json.dumps(chosen)
    target[3] = "certified_epsilon=3"
    nothing = run("calibrate", sample, *common, *target, expect=2)
    assert "coin: certified_epsilon is not known for it" in nothing.stderr


def test_a_law_that_breaks_its_promise_is_called_broken(installed, space, monkeypatch):
    law = ["--mechanism", "coin", "--epsilon", "2", "--space", space.path]
    assert "BROKEN" not in run("explain", "red", *law).stdout
    kind = type(mg.mechanism("coin", epsilon=2.0).prepare(mg.load_space(space.path)))
    true_law = kind.log_prob

    def exceed(self, ids):
        table = 4 * true_law(self, ids)
        return table - np.log(np.exp(table).sum(axis=1, keepdims=True))

    monkeypatch.setattr(kind, "log_prob", exceed)
    said = run("explain", "red", *law).stdout
    assert "BROKEN: the law exceeds its promise; run mondegreen audit" in said


def test_an_attack_asks_for_each_law_three_times_and_says_how_far_it_is(
    installed, monkeypatch
):
    from mondegreen.attacks import outputs
    from mondegreen.attacks.pairs import build_pairs
    from mondegreen.attacks.reader import Knowledge
    from mondegreen.attacks.run import attack_all
    from mondegreen.language.build import build_language
    from mondegreen.text.lookup import Lookup

    rng, size = np.random.default_rng(0), 300
    words = [f"{a}{b}{c}g" for a in "bdfklmnprs" for b in "aeiou" for c in "bdfklm"]
    space = mg.Space.from_arrays("many", words, rng.normal(size=(size, 4)))
    texts = [" ".join(rng.choice(words[:9], 6)) + "." for _ in range(40)]
    language = build_language([texts], space)
    state = mg.mechanism("coin", epsilon=6.0).prepare(space)
    asked, shares, lines = [], [], []
    law = type(state).log_prob

    def count_rows(self, ids):
        asked.append(len(ids))
        return law(self, ids)

    monkeypatch.setattr(type(state), "log_prob", count_rows)
    # This law takes no distances, and these cost more than it does.
    monkeypatch.setattr(outputs, "compute_distances", fails)
    knowledge = Knowledge.of_language(state, language, shares.append)
    pairs = build_pairs(texts, Lookup(space)).sample(state, rng)
    found = attack_all(state, pairs, knowledge, lines.append)
    assert found["learning_reader"].value is not None
    assert sum(asked) < 3.1 * (size + 1)
    assert shares[-1] == 1.0
    assert {"single words 100%", "repeated releases 100%"} <= set(lines)


def test_what_is_measured_of_it_is_not_kept(installed, space, monkeypatch, tmp_path):
    from mondegreen.calibration import score_bounds
    from mondegreen.calibration.evaluate import Evaluator

    kept = []
    monkeypatch.setattr(score_bounds, "keep", lambda *given: kept.append(given))
    evaluator = Evaluator(space, {"uniform": np.full(6, 1 / 6)})
    evaluator.measure([mg.mechanism("coin", epsilon=2.0)])
    assert not kept
    evaluator.measure([mg.mechanism("tem", epsilon=2.0123)])
    assert kept


def test_scikit_learn_takes_it(installed, space):
    pytest.importorskip("sklearn")
    sklearn = pytest.importorskip("mondegreen.integrations.sklearn")
    options = {"mechanism": "coin", "epsilon": 40.0, "space": str(space.path)}
    made = sklearn.PrivateText(**options)
    assert list(made.fit_transform(["red cat", "blue dog"])) == ["red cat", "blue dog"]


# --- names, and packages that are broken


def test_a_name_of_the_package_cannot_be_taken(tmp_path, monkeypatch):
    offer(tmp_path, "evil", "[mondegreen.mechanisms]", "tree = evil:Evil")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert mg.mechanism("tree", epsilon=1.0).author() == ""
    done = run("mechanisms")
    assert "the package evil 1.0 offers the mechanism 'tree'" in done.stderr
    with pytest.raises(ConfigurationError, match="mondegreen has a mechanism of that"):
        mg.register(flip("laplace"))
    with pytest.raises(ConfigurationError, match="mondegreen has a mechanism of that"):
        mg.register(flip("flip", aliases=("cmp",)))
    with pytest.raises(UnknownNameError):  # and nothing of it was added
        mg.mechanism("flip", epsilon=1.0)


def test_an_alias_does_not_smuggle_a_name_of_the_package_in(tmp_path, monkeypatch):
    (tmp_path / "smuggler.py").write_text(
        "from mondegreen.mechanisms.selection.tem import Tem\n"
        "class Flip(Tem):\n name, aliases = 'tree', ('flip',)\n"
    )
    offer(tmp_path, "smuggler", "[mondegreen.mechanisms]", "flip = smuggler:Flip")
    monkeypatch.syspath_prepend(str(tmp_path))
    (found,) = [cls for cls in mg.mechanisms(print) if cls.name == "tree"]
    assert found.author() == ""
    with pytest.raises(PluginError, match="mondegreen has a mechanism named 'tree'"):
        mg.mechanism("flip", epsilon=1.0)


def test_two_packages_with_one_name_are_neither_used(tmp_path, monkeypatch):
    for name in ("one", "two"):
        offer(tmp_path, name, "[mondegreen.mechanisms]", f"flip = {name}:Flip")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(PluginError, match=r"one 1\.0 and of the package two 1\.0"):
        mg.mechanism("flip", epsilon=1.0)
    with pytest.raises(ConfigurationError, match="another mechanism has that name"):
        mg.register(flip("flip"))


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import nothing_like_it", "ModuleNotFoundError: No module named"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("Flip = 3", "it is no subclass of mondegreen.mechanisms.AbstractMechanism"),
        ("pass", "AttributeError"),
        (
            "from mondegreen.mechanisms import AbstractMechanism as A\n"
            "class Flip(A): name = family = metric = 'flip'",
            "it has no method prepare",
        ),
        (
            "from mondegreen.mechanisms import AbstractMechanism as A\n"
            "class Flip(A):\n name = family = metric = 'flip'\n prepare = print",
            "no frozen dataclass with a field epsilon",
        ),
        (
            "from mondegreen.mechanisms import AbstractMechanism as A\n"
            "class Flip(A):\n name = family = metric = 'flop'\n prepare = print",
            "its class is named 'flop'",
        ),
    ],
)
def test_a_broken_package_costs_one_line(tmp_path, monkeypatch, code, problem):
    (tmp_path / "broken.py").write_text(code)
    offer(tmp_path, "mondegreen-broken", "[mondegreen.mechanisms]", "flip=broken:Flip")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "broken", raising=False)
    with pytest.raises(PluginError, match=re.escape(problem)) as caught:
        mg.mechanism("flip", epsilon=1.0)
    assert "'flip' of the package mondegreen-broken 1.0" in str(caught.value)
    assert caught.value.exit_code == 2
    done = run("mechanisms", "--json")
    assert "tree" in [row["name"] for row in json.loads(done.stdout)]
    assert len(done.stderr.splitlines()) == 1
    with pytest.warns(UserWarning, match="mondegreen-broken"):
        assert "tree" in [cls.name for cls in mg.mechanisms()]
    refused = run("privatize", "-", "-m", "flip", "-e", "1", expect=2)
    assert "mondegreen-broken" in refused.stderr


def test_nothing_is_loaded_before_it_is_asked_for(tmp_path):
    (tmp_path / "loud.py").write_text("raise SystemExit('loaded')")
    offer(tmp_path, "loud", "[mondegreen.mechanisms]", "loud = loud:Loud")
    code = (
        "import sys, mondegreen as mg; mg.mechanism('tem', epsilon=1.0)\n"
        "from mondegreen.cli.main import cli\n"
        "cli(['privatize', '--help'], standalone_mode=False)\n"
        "found = 'importlib.metadata' in sys.modules\n"
        "cli(['--help'], standalone_mode=False)\n"  # which lists commands of others
        "sys.exit(found or 'loud' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr


# --- what is registered in a process


def flip(named, proved=None, **more):
    """Make a class of a mechanism, as a cell of a notebook does."""
    from coin_law import CoinState

    class Flip(AbstractMechanism):
        epsilon: float = epsilon_parameter("nats")

        name: ClassVar[str] = named
        family: ClassVar[str] = "selection"
        metric: ClassVar[str] = "discrete distance"

        def prepare(self, space):
            scale = dict.fromkeys(("closest", "nearest", "mean", "diameter"), 1.0)
            return CoinState(space, self.promise(space, scale=scale))

    for key, value in more.items():
        setattr(Flip, key, value)
    if proved is not None:
        Flip.is_private = proved
    return dataclass(frozen=True, slots=True)(Flip)


@pytest.fixture(autouse=True, scope="module")
def law():
    """The state of the page, as a module of its own."""
    import types

    module = types.ModuleType("coin_law")
    sys.modules["coin_law"] = module
    (code,) = blocks("your-own-mechanism.md", "python")
    exec(compile(code, "coin_law.py", "exec", dont_inherit=True), module.__dict__)
    yield
    del sys.modules["coin_law"]


def test_without_a_word_on_its_proof_it_has_none(space):
    cls = mg.register(flip("flip"))
    assert mg.mechanism("flip", epsilon=1.0) == cls(epsilon=1.0)
    with pytest.raises(UnprovedGuaranteeError, match="flip has no proof"):
        mg.Privatizer(mg.mechanism("flip", epsilon=1.0), space)
    made = mg.Privatizer(cls(epsilon=1.0), space, allow_unproved=True)
    assert made.guarantee.is_void
    assert made("red cat").guarantee.summary().startswith("NOT PRIVATE: flip has no")
    assert made.guarantee.claimed_by.endswith("Flip")


def test_a_subclass_does_not_inherit_a_proof(space):
    from mondegreen.mechanisms.selection.tem import Tem

    @dataclass(frozen=True, slots=True)
    class Mine(Tem):
        name: ClassVar[str] = "mine"

    assert Tem.is_private
    assert not Mine.is_private
    with pytest.raises(UnprovedGuaranteeError):
        mg.Privatizer(Mine(epsilon=1.0), space)


def counting(annotation):
    """Make a class with a field of a type, as ``from __future__`` writes it or not."""

    count = parameter(50, range="[1, 100]", help="how many", within=(1, 100))
    return make_dataclass(
        "Counting",
        [("epsilon", float, epsilon_parameter("nats")), ("count", annotation, count)],
        bases=(AbstractMechanism,),
        namespace={"prepare": print},
        frozen=True,
    )


@pytest.mark.parametrize("annotation", [int, "int", int | None, "int | None"])
@pytest.mark.parametrize("given", [50, 50.0, np.int64(50), np.float32(50)])
def test_a_count_stays_an_integer(annotation, given):
    made = counting(annotation)(epsilon=1, count=given)
    assert (made.count, type(made.count)) == (50, int)
    assert type(counting(annotation)(epsilon=1).count) is int
    assert type(made.epsilon) is float
    for wrong in (2.5, 0, 101, "50", True, float("nan")):
        with pytest.raises(InvalidParameterError, match="an integer in"):
            counting(annotation)(epsilon=1, count=wrong)


@pytest.mark.parametrize("annotation", [float, "float | None", "int | float"])
def test_any_other_number_is_kept_as_a_float(annotation):
    made = counting(annotation)(epsilon=1, count=np.int64(7))
    assert (made.count, type(made.count)) == (7.0, float)


def test_a_guarantee_made_by_hand_says_who_claims_it_too(space):
    cls = flip("flip", proved=True)
    state = cls(epsilon=1.0).prepare(space)
    forged = replace(state.guarantee, claimed_by="", certified_how="proof")
    made = flip(
        "flip", True, prepare=lambda self, space: replace(state, guarantee=forged)
    )
    assert mg.Privatizer(made(epsilon=1.0), space).guarantee.claimed_by


def test_a_cell_may_run_again_and_its_new_lines_count(space):
    first = mg.register(flip("flip", proved=True))
    made = mg.Privatizer(mg.mechanism("flip", epsilon=1.0), space)
    spec = made.to_dict()
    assert type(mg.Privatizer.from_dict(spec).mechanism) is first
    second = mg.register(flip("flip", proved=True))
    assert type(mg.Privatizer.from_dict(spec).mechanism) is second
    with pytest.raises(ConfigurationError, match="another mechanism has that name"):
        mg.register(dataclass(frozen=True)(type("Other", (second,), {})))


def test_workers_that_cannot_find_a_class_are_not_started(space):
    import pyarrow as pa

    from mondegreen.privatizer.parallel import privatize_batches

    made = mg.Privatizer(flip("flip", proved=True)(epsilon=1.0), space)
    batch = pa.record_batch({"text": ["red"]})
    with pytest.raises(ConfigurationError, match="put it into a module"):
        list(privatize_batches(made, [batch], ["text"], jobs=2))


# --- attacks and scores


def test_an_attack_of_another_package_runs_where_it_is_named(installed, space, sample):
    law = ["--mechanism", "tem", "--epsilon", "2", "--space", space.path]
    common = ["attack", sample, "--column", "text", *law]
    found = json.loads(run(*common, "--json", "--attack", "lazy_reader").stdout)
    assert 0 < found["lazy_reader"]["value"] < 1
    assert "lazy_reader" not in json.loads(run(*common, "--json").stdout)
    assert "lazy_reader" in run(*common, "--attack", "lazy_reader").stdout
    refused = run(*common, "--attack", "lazy", expect=2)
    assert "choose one of: lazy_reader" in refused.stderr


def test_a_score_of_another_package_runs_where_it_is_named(installed, space, sample):
    out = sample.with_name("out.csv")
    out.write_text(sample.read_text().replace("red ", "red red ", 1))
    common = ["score", sample, out, "--column", "text", "--space", space.path]
    found = json.loads(run(*common, "--score", "same_length", "--json").stdout)
    assert found["same_length"] == pytest.approx(60 / 61)
    assert "same_length" in run(*common, "--score", "same_length").stdout
    assert "same_length" not in json.loads(run(*common, "--json").stdout)
    run(*common, "--score", "same", expect=2)


def fails(*given):
    raise ValueError(SECRET)


@pytest.mark.parametrize("kind", ["attack", "score"])
def test_an_error_of_theirs_quotes_no_text(space, sample, kind):
    common = ["--column", "text", "--space", space.path]
    if kind == "attack":
        attacks.register("mine", fails)
        done = run(
            "attack",
            sample,
            *common,
            "-e",
            "2",
            "-m",
            "tem",
            "--attack",
            "mine",
            expect=2,
        )
    else:
        scores.register("mine", fails)
        out = sample.with_name("out.csv")
        out.write_text(sample.read_text())
        done = run("score", sample, out, *common, "--score", "mine", expect=2)
    assert "failed: ValueError in fails, test_plugins.py:" in done.stderr


@pytest.mark.parametrize("returned", [[1.0], [float("inf")] * 61, ["x"] * 61, None])
def test_a_score_that_returns_no_numbers_is_refused(space, sample, returned):
    scores.register("mine", lambda originals, releases: returned)
    out = sample.with_name("out.csv")
    out.write_text(sample.read_text())
    arguments = ["score", sample, out, "--column", "text", "--space", space.path]
    assert "score 'mine'" in run(*arguments, "--score", "mine", expect=2).stderr


def test_the_names_of_scores_are_taken():
    names = {
        field.name
        for field in mg.errors and scores.CorpusScores.__dataclass_fields__.values()
    }
    assert names <= set(scores._TAKEN)


# --- errors in the code of others


BROKEN = """
from dataclasses import dataclass
import numpy as np
from coin import Coin, CoinState

@dataclass(frozen=True, slots=True)
class Dented(Coin):
    name = "dented"
    is_private = True

    def prepare(self, space):
        return DentedState(space, Coin(self.epsilon).prepare(space).guarantee)

class DentedState(CoinState):
    def sample(self, ids, rng):
        WHAT
"""


@pytest.fixture
def offer_dented(installed, tmp_path, monkeypatch):
    """Offer a package whose mechanism does something wrong when it samples."""

    def make(what):
        folder = tmp_path / "dented"
        folder.mkdir()
        (folder / "dented.py").write_text(BROKEN.replace("WHAT", what))
        entry = "dented = dented:Dented"
        offer(folder, "mondegreen-dented", "[mondegreen.mechanisms]", entry)
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.delitem(sys.modules, "dented", raising=False)
        return folder

    yield make
    sys.modules.pop("dented", None)


def privatize_in_a_process(folders, space, sample, *options):
    """Run the command as a user does: the whole of standard error, and its code."""
    command = [sys.executable, "-m", "mondegreen", "privatize", sample, "--force"]
    command += ["-o", sample.with_name("out.csv"), "-m", "dented", "-e", "40"]
    command += ["--space", space.path, "--column", "text", *options]
    path = os.pathsep.join(map(str, folders))
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, env=environment
    )
    assert SECRET not in done.stdout + done.stderr
    assert not sample.with_name("out.csv").exists()
    return done.returncode, done.stderr


@pytest.mark.slow("a process each", but="return np.take([], ids)")
@pytest.mark.parametrize(
    "what", [f"raise ValueError('{SECRET}')", "return np.take([], ids)"]
)
def test_an_error_inside_a_plugin_names_its_package(
    offer_dented, installed, space, sample, what
):
    folders = offer_dented(what), installed
    code, told = privatize_in_a_process(folders, space, sample)
    assert code == 2
    blamed = "the mechanism 'dented' of the package mondegreen-dented 1.0 failed: "
    assert blamed in told
    assert re.search(
        r"(ValueError|IndexError) in sample, dented\.py:\d+; ask its", told
    )
    assert "this is a bug" not in told


def test_an_error_inside_a_plugin_in_a_worker_names_its_module():
    from mondegreen.privatizer.parallel import _guard

    assert "this is a bug" in str(_guard(fails))
    flip("flip")  # as a worker that unpickles a class and asks for no plug-in
    told = _guard(fails)
    assert isinstance(told, PluginError)
    assert re.search(r"the mechanism .*Flip failed: ValueError in fails", str(told))
    assert "in a worker process; its batch was not released" in str(told)
    assert SECRET not in str(told)


@pytest.mark.slow("a process")
def test_what_a_plugin_returns_wrong_may_be_its_fault(
    offer_dented, installed, space, sample
):
    folders = offer_dented("return None"), installed
    code, told = privatize_in_a_process(folders, space, sample)
    assert code == 1
    assert "this is a bug, of mondegreen or of the mechanism 'dented' of the" in told


def test_our_own_errors_are_ours():
    def fail():
        raise KeyError(SECRET)

    def blame_of(function):
        try:
            function()
        except Exception as error:
            return plugins.blame(error)

    problem, is_of_plugin = blame_of(fail)
    assert not is_of_plugin
    assert re.fullmatch(
        r"this is a bug: KeyError in fail, test_plugins\.py:\d+", problem
    )
    plugins.remember_plugin(__name__, "the attack 'mine'")
    problem, is_of_plugin = blame_of(fail)
    assert is_of_plugin
    assert problem.startswith(
        "the attack 'mine' failed: KeyError in fail, test_plugins"
    )
    # Code of ours that a plug-in calls: the fault may be on either side.
    problem, is_of_plugin = blame_of(lambda: mg.load_space(object()))
    assert not is_of_plugin
    assert problem.startswith("this is a bug, of mondegreen or of the attack 'mine': ")


# --- the pages


@pytest.mark.parametrize("page", ["your-own-mechanism.md", "your-own-attack.md"])
def test_the_examples_of_the_page_run(installed, page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(HOW_TO / page), module_relative=False)
    assert (failed, tried > 3) == (0, True)


def test_the_mechanism_of_the_page_is_some_40_lines():
    (code,) = blocks("your-own-mechanism.md", "python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 45


def test_names_are_plain():
    with pytest.raises(ConfigurationError, match="lower-case letters"):
        attacks.register("Mine!", fails)
    assert plugins.find_function_problem("mine", 3)
