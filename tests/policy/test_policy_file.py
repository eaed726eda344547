"""Policy files of one's own: built, checked, carried through doors, and refused."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner

import doors
import mondegreen as mg
from mondegreen.cli.main import cli
from mondegreen.errors import ConfigurationError, InvalidParameterError, SourceError
from mondegreen.policy import policy_file
from mondegreen.policy.lexicon import SHIPPED, load_lexicon
from mondegreen.policy.policy import Policy
from mondegreen.policy.policy_file import (
    build_policy_file,
    read_policy_file,
    write_policy_file,
)
from mondegreen.settings import Settings

PROJECTS = ["pro" + a + b for a, b in product("bdfgk", ["lan", "mon", "tep", "ruk"])]
SOURCE = f"""# words of our field
[ordinary]
router modem diabetes
[project]
{" ".join(PROJECTS)}
"""
LAW = {"mechanism": "urr", "epsilon": 12.0}


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv(doors.VARIABLE, doors.KEY.hex())


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("policy")
    (folder / "terms.txt").write_text(SOURCE, "utf-8")
    given = ["policy", "build", str(folder / "terms.txt"), "--license", "CC0-1.0"]
    done = CliRunner().invoke(cli, [*given, "-o", str(folder / "my.policy"), "--json"])
    assert done.exit_code == 0, done.output
    return folder / "my.policy", json.loads(done.stdout)


def write(folder: Path, body: str, **header) -> Path:
    path = folder / "some.policy"
    head = {"name": "some", "version": "1", **header}
    path.write_bytes(write_policy_file(head, body))
    return path


def body(ordinary="the and of", names=tuple(PROJECTS), more=""):
    return f"[ordinary]\n{ordinary}\n[words project s]\n{' '.join(names)}\n{more}"


# --- what a file is


@pytest.mark.slow("builds a policy")
def test_a_built_policy_says_what_it_is_made_of(built):
    path, facts = built
    lexicon = read_policy_file(path)
    assert lexicon.header["licenses"] == ["CC0-1.0"]
    base, own = lexicon.header["sources"]
    assert base["sha256"] == load_lexicon().digest
    assert own["file"] == "terms.txt"
    assert {"router", "modem", "diabetes"} <= set(lexicon.ordinary)
    assert set(lexicon.words["project", "s"]) == set(PROJECTS)
    done = CliRunner().invoke(cli, ["policy", "info", str(path), "--json"])
    info = json.loads(done.stdout)
    assert info["digest"] == facts["digest"]
    assert info["policy"] == "my"
    assert "project" in {row["class"] for row in info["classes"]}


@pytest.mark.slow("builds policies", seconds=2)
def test_diff_finds_what_the_source_changed_and_nothing_else(built):
    given = ["policy", "diff", "sensitive", str(built[0]), "--json"]
    rows = json.loads(CliRunner().invoke(cli, given).stdout)
    changed = {word.lower() for row in rows for word in row["words"]}
    assert changed <= {"router", "modem", "diabetes", *PROJECTS}
    assert {"diabetes", *PROJECTS} <= changed


def test_the_list_of_the_package_is_a_file_like_others(tmp_path):
    """So an old version stays loadable by its file."""
    path = tmp_path / "old.policy"
    path.write_bytes(SHIPPED.read_bytes())
    made = doors.made({**LAW, "policy": str(path)}).policy
    own = doors.made({**LAW, "policy": "sensitive"}).policy
    assert made.symbols == own.symbols
    assert made.words == own.words


def test_a_small_policy_without_a_base_hides_all_but_its_words(tmp_path):
    path = write(tmp_path, body())
    made = doors.made({**LAW, "epsilon": 30.0, "policy": str(path)}, mg.OSNoise())
    for _ in range(20):
        (the, first, of, second) = made("the Okafor of zorblax").text.lower().split()
        assert (the, of) == ("the", "of")
        assert {first, second} <= set(PROJECTS)


# --- doors


@pytest.mark.parametrize("door", [d for d in doors.DOORS if d != "guard"])
def test_every_door_takes_a_policy_file(door, built, tmp_path):
    settings = {**LAW, "policy": str(built[0])}
    text = "Our router near prodlan has diabetes, says Anna."
    released = doors.DOORS[door](settings, text, tmp_path)
    assert released == doors.privatizer(settings, text, tmp_path)
    assert "diabetes" in released
    assert "prodlan" not in released


def test_specs_carry_the_path_and_a_digest_that_is_checked(tmp_path):
    path = write(tmp_path, body())
    made = doors.made({**LAW, "policy": str(path)})
    spec = json.loads(json.dumps(made.to_dict()))
    assert spec["policy"] == str(path)
    assert spec["digests"] == {"policy": made.policy.digest}
    assert made.guarantee.space_digest == made.policy.digest
    assert mg.Privatizer.from_dict(spec).policy.digest == made.policy.digest
    keyed = mg.KeyedNoise.from_env(doors.VARIABLE)
    pickled = pickle.dumps(made.with_noise(keyed))
    release = made("the probmon", id="1").text
    assert pickle.loads(pickled)("the probmon", id="1").text == release
    write(tmp_path, body("the and of zeta"))
    with pytest.raises(ConfigurationError, match="differs from the one"):
        mg.Privatizer.from_dict(spec)
    with pytest.raises(ConfigurationError, match="differs from the one"):
        pickle.loads(pickled)


def test_a_relative_path_means_the_same_in_another_folder(tmp_path, monkeypatch):
    write(tmp_path, body())
    monkeypatch.chdir(tmp_path)
    made = doors.made({**LAW, "policy": "some.policy"})
    monkeypatch.chdir("/")
    assert mg.Privatizer.from_dict(made.to_dict()).policy.digest == made.policy.digest


def test_spark_executors_check_the_digest(tmp_path):
    pytest.importorskip("pyspark")
    import pyarrow as pa

    from mondegreen.integrations.spark import release as spark

    path = write(tmp_path, body())
    spec = doors.made({**LAW, "policy": str(path)}).to_dict()
    batch = pa.RecordBatch.from_pydict({"id": ["1"], "text": ["the probmon"]})
    how = {"columns": {"text": "text"}, "id_column": "id", "names": ["id", "text"]}
    how |= {"needed": [0, 1], "left": [1], "secret": doors.VARIABLE}
    (done,) = spark.release_batches([batch], spec, **how)
    expected = doors.made({**LAW, "policy": str(path)})("the probmon", id="1").text
    assert done["text"][0].as_py() == expected
    path.write_bytes(write(tmp_path, body("the and")).read_bytes())
    with pytest.raises(ConfigurationError, match="differs from the one"):
        list(spark.release_batches([batch], spec, **how))


# --- what is refused

BROKEN = {
    "not a lexicon": (b"hello\n", "not a policy"),
    "empty": (b"", "not a policy"),
    "not UTF-8": (b"mondegreen-lexicon 1\n{}\n[ordinary]\n\xff\n", "not UTF-8"),
    "a header that is no object": (b"mondegreen-lexicon 1\n[1]\n", "not a policy"),
    "deep": (b"mondegreen-lexicon 1\n" + b"[" * 10**5, "not a policy"),
}


@pytest.mark.parametrize(("data", "message"), BROKEN.values(), ids=BROKEN)
def test_files_that_are_no_policies_are_refused(data, message, tmp_path):
    (tmp_path / "x.policy").write_bytes(data)
    with pytest.raises(SourceError, match=message):
        doors.made({**LAW, "policy": str(tmp_path / "x.policy")})


WRONG = {
    "forged words": (body().replace("the", "thee"), {"digest": "0" * 64}, "digest"),
    "overlap of groups": (
        body(more="[words place s]\nprobmon oslo\n"),
        {},
        "'probmon' is in two lists: 'project s' and 'place s'",
    ),
    "ordinary and hidden": (body("the probmon"), {}, "'probmon' is in two lists"),
    "twice in a list": (body("the the"), {}, "twice in the list 'ordinary'"),
    "an empty group": (body(more="[words place s]\n\n"), {}, "'place s' is empty"),
    "too few words": (body(names=PROJECTS[:5]), {}, "needs 20 sensitive words"),
    "no form": (body(more="[words place]\noslo\n"), {}, "names 2 things"),
    "an unknown form": (body(more="[words place q]\noslo\n"), {}, "class and a form"),
    "an unknown section": (body(more="[wrods place s]\noslo\n"), {}, "begin with"),
    "two words": (body("the new-york"), {}, "not one word"),
    "a capital": (body(more="[words place s]\nOslo\n"), {}, "not one word in small"),
    "a format": (body(more="[words place s]\n1985\n"), {}, "printed for a format"),
    "a long number": (body("the 123456789"), {}, "printed for a format"),
    "a code": (body("the xy1234"), {}, "printed for a format"),
    "a slur": (body(more="[words body s]\nshit\n"), {}, "never printed"),
    "a mark alone": (body(more="[cased]\nzorblax\n"), {}, "has a mark"),
    "a name of the package": (body(), {"name": "names"}, "name of the policy"),
    "no name": (body(), {"name": None}, "name of the policy"),
    "an unknown class": (body(), {"opened": ["helth"]}, "opens a class"),
}


@pytest.mark.parametrize(("text", "header", "message"), WRONG.values(), ids=WRONG)
def test_lists_that_make_no_policy_are_refused(text, header, message, tmp_path):
    path = write(tmp_path, text, **header)
    if "digest" in header:
        path.write_bytes(path.read_bytes().replace(b"thee", b"them"))
    with pytest.raises(SourceError, match=message):
        doors.made({**LAW, "policy": str(path)})


def test_a_forged_header_is_refused(built, tmp_path):
    data = built[0].read_bytes().replace(b"CC0-1.0", b"CC0-9.9", 1)
    (tmp_path / "x.policy").write_bytes(data)
    with pytest.raises(SourceError, match="digest in the header"):
        read_policy_file(tmp_path / "x.policy")


def test_huge_files_are_refused(monkeypatch, tmp_path):
    path = write(tmp_path, body())
    monkeypatch.setattr(policy_file, "LARGEST", 100)
    with pytest.raises(SourceError, match="at most"):
        read_policy_file(path)


def test_absent_files_and_unknown_names_are_refused(tmp_path):
    with pytest.raises(SourceError, match="cannot be read"):
        doors.made({**LAW, "policy": str(tmp_path / "none.policy")})
    with pytest.raises(InvalidParameterError, match="a path such as"):
        Settings(policy="sensible")


NAMES = ["first_name", "surname", "place", "time", "organization", "other_name"]
"""The classes of words that the policy of this name hides."""


def test_opening_every_class_is_refused(tmp_path):
    path = write(tmp_path, body())
    with pytest.raises(ConfigurationError, match="no class of words is hidden"):
        doors.made({**LAW, "policy": str(path), "opened": ["project"]})
    with pytest.raises(ConfigurationError, match="leave out one --open"):
        doors.made({**LAW, "policy": "names", "opened": NAMES})
    doors.made({**LAW, "policy": "names", "opened": NAMES[1:]})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("router", "a word without a list"),
        ("[ordinary", "no heading"),
        ("[words health s]\nflu", "no heading"),
        ("[health q]\nflu", "no heading"),
        ("[health sq]\nflu", "no heading"),
        ("[ordinary]\nNew-York", "is not one word"),
        ("[ordinary]\nrouter\n[product]\nrouter", "'router' is in two lists"),
    ],
)
def test_sources_that_are_none_are_refused(text, message, tmp_path):
    source = tmp_path / "source.txt"
    source.write_text(text, "utf-8")
    with pytest.raises(SourceError, match=message):
        build_policy_file([source], name="x", version="1", base=load_lexicon())


def test_a_source_can_name_a_part_of_a_class(tmp_path):
    source = tmp_path / "source.txt"
    source.write_text("[health st]\nzorblaxine", "utf-8")
    data = build_policy_file([source], name="x", version="1", base=load_lexicon())
    (tmp_path / "x.policy").write_bytes(data)
    made = Policy(read_policy_file(tmp_path / "x.policy"), "x")
    symbols = {made.symbols[word] for word in ("zorblaxine", "aspirin")}
    assert {made.describe(symbol)[:2] for symbol in symbols} == {
        ("health", "singular, treatment")
    }


def test_every_form_and_part_that_a_policy_knows_can_be_written():
    groups = Policy(load_lexicon(), "sensitive").groups
    forms = {group.form for group in groups}
    assert {form[:1] for form in forms} <= policy_file.FORMS
    parts = {form[1:] for form in forms if len(form) > 1}
    assert parts == policy_file.PARTS


def test_a_name_without_a_form_reads_as_a_singular(tmp_path):
    """Files of earlier versions say no form of names."""
    path = write(tmp_path, body(more="[capital project]\nand\n"))
    assert read_policy_file(path).capital == {("project", "s"): ("and",)}


def test_sources_that_are_not_utf8_are_refused(tmp_path):
    (tmp_path / "s.txt").write_bytes(b"[ordinary]\n\xff")
    with pytest.raises(SourceError, match="not UTF-8"):
        build_policy_file([tmp_path / "s.txt"], name="x", version="1", base=None)


def test_a_policy_that_would_not_load_is_not_written(tmp_path):
    (tmp_path / "s.txt").write_text("[project]\nprobmon\n")
    target = tmp_path / "x.policy"
    given = ["policy", "build", str(tmp_path / "s.txt"), "-o", str(target)]
    done = CliRunner().invoke(cli, [*given, "--base", "none"])
    assert done.exit_code == 3
    assert "needs 20 sensitive words" in done.output
    assert not target.exists()


def test_build_replaces_a_file_by_force_alone(built):
    given = ["policy", "build", str(built[0].with_name("terms.txt"))]
    done = CliRunner().invoke(cli, [*given, "-o", str(built[0])])
    assert done.exit_code == 3
    assert "--force" in done.output


@pytest.mark.slow("builds a policy")
def test_a_policy_like_names_opens_the_classes_of_names(tmp_path):
    (tmp_path / "s.txt").write_text("[ordinary]\nrouter\n")
    target = tmp_path / "x.policy"
    given = ["policy", "build", str(tmp_path / "s.txt"), "-o", str(target)]
    assert CliRunner().invoke(cli, [*given, "--like", "names"]).exit_code == 0
    made = doors.made({**LAW, "policy": str(target)}).policy
    own = doors.made({**LAW, "policy": "names"}).policy
    assert made.opened == own.opened & {*own.lexicon.classes}
    assert len(made.groups) == len(own.groups)
    assert replace(made.alphabet, name="", digest="", ordinary=0) == replace(
        own.alphabet, name="", digest="", ordinary=0
    )
