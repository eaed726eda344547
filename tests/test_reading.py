"""Reading a release with a language model: after the draws, and of them alone."""

import pickle
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import mondegreen as mg
from mondegreen.cli.main import cli
from mondegreen.errors import ConfigurationError, InvalidParameterError, LanguageError
from mondegreen.language.counts import Counter
from mondegreen.language.ngrams import NGrams
from mondegreen.language.store import load_language
from mondegreen.mechanisms.base import State
from mondegreen.space.store import save_space

KEY = bytes(range(32))
TEXTS = [
    "The acting was wonderful, but the plot made no sense after the first hour.",
    None,
    'I met my doctor in Oslo. He said: "It\'s nothing!"',
    "",
    "one",
    "?!",
    "Zyxxy told us that the storm took the roof of the house",
]
IDS = [f"r{i}" for i in range(len(TEXTS))]


def privatizer(**how):
    noise = how.pop("noise", mg.KeyedNoise(KEY))
    return mg.Privatizer(mg.mechanism("tree", epsilon=10.0), noise=noise, **how)


def texts_of(releases):
    return [None if each is None else each.text for each in releases]


def test_it_reads_what_was_drawn_and_draws_no_other():
    raw, read = privatizer(), privatizer(read="sentence")
    codes = raw._release(TEXTS, IDS, "text", None)[1]
    assert raw._scope("text") == read._scope("text")
    from mondegreen.decode.released import Released
    from mondegreen.text.sentences import sentence_ends
    from mondegreen.text.tokenizer import tokenize

    ends = [e for p in tokenize(TEXTS).parts if p for e in sentence_ends(p[2::2])]
    expected = read.reading.decoder.sentence(Released(codes, np.array(ends)))
    assert read._release(TEXTS, IDS, "text", None)[1].tolist() == expected.tolist()
    assert (expected != codes).any()


class Fixed(State):
    """Draws the same whatever it is given."""

    def __init__(self, inner):
        self._inner, self.space = inner, inner.space
        self.guarantee = inner.guarantee

    def sample(self, ids, rng):
        return np.random.default_rng(5).integers(0, 2000, len(ids)).astype(np.int32)

    def channel(self, prior, count):
        return self._inner.channel(prior, count)


@pytest.mark.parametrize("read", ["words", "sentence"])
@pytest.mark.parametrize(
    ("structure", "one", "other"),
    [
        ("keep", "We saw a film. It was bad!", "My aunt is ill. She has cancer!"),
        ("plain", "We saw a film. It was bad!", "my aunt; is... ill (she has) cancer"),
    ],
)
def test_of_the_input_it_sees_what_passes_in_clear(read, structure, one, other):
    made = privatizer(read=read, structure=structure, case="truecase")
    made.state = Fixed(made.state)
    (first,), (second,) = made.batch([one], ["a"]), made.batch([other], ["a"])
    assert first.text == second.text


def test_plain_structure_hides_where_a_word_was_dropped():
    made = privatizer(read="sentence", structure="plain", unknown="drop")
    made.state = Fixed(made.state)
    texts = ["We saw zyxxy a film with my aunt", "We saw a film with zyxxy my aunt"]
    (first,), (second,) = made.batch(texts[:1], ["a"]), made.batch(texts[1:], ["a"])
    assert first.text == second.text


@pytest.mark.slow("another unit", but="words")
@pytest.mark.parametrize("read", ["words", "sentence"])
def test_every_way_in_reads_the_same(read, tmp_path):
    made = privatizer(read=read)
    expected = texts_of(made.batch(TEXTS, IDS))
    assert expected != texts_of(privatizer().batch(TEXTS, IDS))
    assert [
        texts_of(made.batch([t], [i]))[0] for t, i in zip(TEXTS, IDS, strict=True)
    ] == expected
    assert texts_of(made.stream(TEXTS, IDS)) == expected
    table = pa.record_batch({"id": IDS, "text": TEXTS})
    assert made.arrow(table, id_column="id").column("text").to_pylist() == expected
    again = mg.Privatizer.from_dict(made.to_dict(), mg.KeyedNoise(KEY))
    assert texts_of(again.batch(TEXTS, IDS)) == expected
    travelled = pickle.loads(pickle.dumps(made.with_noise(None)))  # a key never does
    keyed = travelled.with_noise(mg.KeyedNoise(KEY))
    assert texts_of(keyed.batch(TEXTS, IDS)) == expected
    noise = mg.KeyedNoise(KEY)
    one = mg.privatize(
        TEXTS, epsilon=10.0, policy="all", ids=IDS, noise=noise, read=read
    )
    assert one == expected


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_command_reads_as_the_library_does(tmp_path, jobs):
    from pyarrow import parquet

    key, source, target = (tmp_path / name for name in ("k", "in.parquet", "o.parquet"))
    key.write_bytes(KEY)
    key.chmod(0o600)
    parquet.write_table(pa.table({"id": IDS, "text": TEXTS}), source)
    options = (
        f"--policy all --epsilon 10 --read sentence --key-file {key} --id id -j {jobs}"
    )
    run = CliRunner().invoke(
        cli, ["privatize", str(source), "-o", str(target), *options.split()]
    )
    assert run.exit_code == 0, run.output
    made = privatizer(read="sentence", case="truecase")
    expected = texts_of(made.batch(TEXTS, IDS))
    assert parquet.read_table(target).column("text").to_pylist() == expected


@pytest.fixture
def command(tmp_path):
    """Return a function that releases TEXTS under a key, and tells what is said."""
    from pyarrow import parquet

    key, source, target = (tmp_path / name for name in ("k", "in.parquet", "o.parquet"))
    key.write_bytes(KEY)
    key.chmod(0o600)
    parquet.write_table(pa.table({"id": IDS, "text": TEXTS}), source)

    def run(*options):
        how = ["--key-file", str(key), "--id", "id", "--force", "-o", str(target)]
        given = ["privatize", str(source), *how, *options]
        done = CliRunner().invoke(cli, given)
        assert done.exit_code == 0, done.output
        return parquet.read_table(target).column("text").to_pylist(), done.stderr

    return run


def test_the_command_says_what_it_reads_and_how_not_to(command):
    texts, said = command("--policy", "all", "--epsilon", "10", "--read", "sentence")
    made = privatizer(read="sentence")
    assert texts == texts_of(made.batch(TEXTS, IDS))
    assert f"language model english (sha256 {load_language().digest[:16]})" in said
    assert "is a guess of the original words" in said
    assert "--read none" in said
    quiet = ("--policy", "all", "--epsilon", "10", "--read", "sentence", "--quiet")
    lines = command(*quiet)[1].splitlines()
    assert [line[:8] for line in lines] == ["Warning:"]  # that the ids are released


@pytest.mark.slow("reads four releases by a language model")
@pytest.mark.parametrize("mechanism", [("10", "tree"), ("2.5", "tem")], ids=str)
@pytest.mark.parametrize("read", [(), ("--read", "none")], ids=str)
def test_the_command_prints_the_sampled_words_unless_it_is_told_to_read(
    command, mechanism, read
):
    epsilon, name = mechanism
    texts, said = command("--epsilon", epsilon, "-m", name, *read)
    law = mg.mechanism(name, epsilon=float(epsilon))
    made = mg.Privatizer(law, noise=mg.KeyedNoise(KEY))
    assert texts == texts_of(made.batch(TEXTS, IDS))
    assert "guess of" not in said
    assert "--read none" not in said


def test_a_case_that_is_named_goes_with_what_is_read(command):
    texts, _ = command(
        "--policy", "all", "--epsilon", "10", "--read", "sentence", "--case", "lower"
    )
    made = privatizer(read="sentence", case="lower")
    assert texts == texts_of(made.batch(TEXTS, IDS))


def test_words_that_the_model_does_not_have_are_refused_and_not_left_unread(tmp_path):
    rng = np.random.default_rng(0)
    space = mg.Space.from_arrays("other", ["a", "b", "c", "d"], rng.normal(size=(4, 3)))
    save_space(space, tmp_path / "other.safetensors")
    given = [
        "privatize",
        "-",
        "--policy",
        "all",
        "-e",
        "2",
        "--space",
        str(tmp_path / "other.safetensors"),
    ]
    assert CliRunner().invoke(cli, given, input="a b\n").exit_code == 0
    done = CliRunner().invoke(cli, [*given, "--read", "sentence"], input="a b\n")
    assert done.exit_code == 3
    assert "language build" in done.output


@pytest.mark.slow("processes")
def test_lines_that_are_read_come_out_one_by_one(start_process):
    given = [sys.executable, "-m", "mondegreen", "privatize", "-", "-e", "10", "-q"]
    process = start_process(given, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for line in (b"I met my doctor.\n", b"\n", b"It rains in Oslo\n"):
        process.stdin.write(line)
        process.stdin.flush()  # and stays open
        assert len(process.stdout.readline().split()) == len(line.split())
    process.stdin.close()
    assert process.wait(120) == 0


def test_the_guarantee_names_the_model_and_what_must_hold():
    made = privatizer(read="sentence")
    (line,) = [a for a in made.guarantee.assumptions if a.startswith("reading")]
    assert load_language().digest[:16] in line
    assert "public text alone" in line
    found = made.preview()
    assert found.unchanged <= found.recovered + 0.05 <= found.near
    assert "recovers" in str(found)
    assert "recovers" not in made.guarantee.summary()
    assert not any("reading" in a for a in privatizer().guarantee.assumptions)
    assert privatizer().guarantee.epsilon == made.guarantee.epsilon


@pytest.mark.slow("seconds")
def test_less_is_recovered_of_more_noise():
    recovered = [
        mg.Privatizer(mg.mechanism("tree", epsilon=e), read="sentence").preview()
        for e in (2.0, 10.0, 14.0)
    ]
    low, middle, high = (each.recovered for each in recovered)
    assert low < 0.1 < middle < high


@pytest.mark.parametrize("unknown", ["word", "mask", "drop"])
def test_other_policies_hold(unknown):
    made = privatizer(read="sentence", unknown=unknown, keep=["Oslo"])
    (release,) = made.batch(["Zyxxy is in Oslo, and it rains."], ["a"])
    statuses = [span.status for span in release.spans]
    assert statuses[3] == "kept"
    assert "Oslo" in release.text
    assert (
        statuses[0]
        == {"word": "replaced", "mask": "masked", "drop": "dropped"}[unknown]
    )
    assert "yxxy" not in release.text


def test_what_does_not_fit_is_refused(tmp_path):
    with pytest.raises(InvalidParameterError, match="read"):
        privatizer(read="all")
    with pytest.raises(InvalidParameterError, match="language"):
        privatizer(language="english")
    other = mg.Space.from_arrays("two", ["a", "b"], [[0.0], [1.0]])
    with pytest.raises(LanguageError, match="language build"):
        mg.Privatizer(mg.mechanism("tem", epsilon=1.0), other, read="sentence")
    counter = Counter(2)
    counter.add(np.array([0, 1], np.int32), [False, True])
    memory = NGrams.from_counts(counter.finish(), other)
    made = mg.Privatizer(
        mg.mechanism("tem", epsilon=1.0), other, read="words", language=memory
    )
    assert made("a b").text.split()
    with pytest.raises(ConfigurationError, match="save_language"):
        made.to_dict()


def test_a_model_that_was_exchanged_is_refused(tmp_path):
    spec = privatizer(read="sentence").to_dict()
    spec["digests"]["language"] = "0" * 64
    with pytest.raises(LanguageError, match="differs from"):
        mg.Privatizer.from_dict(spec)


def test_settings_that_read_name_their_model():
    spec = privatizer(read="sentence").to_dict()
    assert spec["language"] == "english"
    for change in ({"digests": {"space": spec["digests"]["space"]}}, {"read": "none"}):
        with pytest.raises(ConfigurationError, match="digests"):
            mg.Privatizer.from_dict({**spec, **change})
