"""How a privatizer prints: settings, guarantee, keyed noise, files and scores."""

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import mondegreen as mg
from mondegreen.cli.main import cli
from mondegreen.errors import ConfigurationError
from mondegreen.scores.corpus import CorpusScorer
from mondegreen.text.never_printed import never_printed

KEY = bytes(range(32))
TEXTS = ["He didn't see Ann's \"cat\" -- did he?\nNo.", "", None, "...", "Oslo, 3.5"]
WAYS = [
    {"case": case, "structure": structure, "print_all": print_all}
    for case in ("lower", "truecase")
    for structure in ("keep", "plain")
    for print_all in (True, False)
]


@pytest.fixture(scope="module")
def space():
    return mg.load_space()


def build(space=None, epsilon=10.0, **options):
    noise = mg.KeyedNoise(KEY)
    return mg.Privatizer(
        mg.mechanism("tree", epsilon=epsilon), space, noise=noise, **options
    )


def released(privatizer, texts, ids):
    """The texts of a batch, and the words that its spans show."""
    found = privatizer.batch(texts, ids)
    shown = [
        [release.text[span.start : span.end] for span in release.spans]
        for release in found
        if release is not None
    ]
    return [release and release.text for release in found], shown


def test_printing_changes_no_draw_of_keyed_noise(space):
    """Under one key all ways print the same released words."""
    ids, scopes, words = range(len(TEXTS)), set(), set()
    for way in WAYS:
        p = build(space, **way)
        scopes.add(p._scope("text"))
        _, codes = p._release(TEXTS, [str(i) for i in ids], "text", None)
        words.add(tuple(codes.tolist()))
    assert len(scopes) == len(words) == 1
    assert build(space, case="restore")._scope("text") not in scopes


def test_every_way_in_prints_the_same(space):
    ids = [str(i) for i in range(len(TEXTS))]
    for way in (WAYS[3], WAYS[4]):  # each of the settings both ways
        p = build(space, **way)
        texts, _ = released(p, TEXTS, ids)
        assert p.texts(TEXTS, ids, "text")[0] == texts
        assert p.column(pa.array(TEXTS), ids).to_pylist() == texts
        assert (
            mg.privatize(
                TEXTS,
                epsilon=10.0,
                policy="all",
                noise=mg.KeyedNoise(KEY),
                ids=ids,
                **way,
            )
            == texts
        )
        again = mg.Privatizer.from_dict(json.loads(json.dumps(p.to_dict())), p.noise)
        assert again.to_dict() == p.to_dict()
        assert released(again, TEXTS, ids)[0] == texts


def test_settings_of_another_type_are_refused_by_their_name(space):
    spec = build(space, print_all=True).to_dict()
    for field, value, allowed in (
        ("structure", 1, "structure must be one of keep, plain"),
        ("print_all", "no", "print_all must be true or false"),
        ("prints", True, "no setting named 'prints'; choose one of: print_all"),
    ):
        with pytest.raises(ConfigurationError, match=allowed):
            mg.Privatizer.from_dict({**spec, field: value})


def test_the_spans_of_any_way_are_those_of_the_words(space):
    texts = [*TEXTS[:2], "Ann Xyzzyplugh met him."]
    for way in WAYS[1::2]:
        p = build(space, unknown="drop", keep=["Ann"], **way)
        _, shown = released(p, texts, [1, 2, 3])
        assert shown[2][:2] == ["Ann", ""]
        assert all(word and " " not in word for word in shown[0])


def test_a_plain_release_discloses_the_number_of_words_alone(space):
    found = build(space, structure="plain").guarantee
    assert [line.partition(":")[0] for line in found.disclosed] == ["number of words"]
    assert "Disclosed: number of words." in found.summary()
    keep = build(space).guarantee
    assert "white space and punctuation" in "\n".join(keep.disclosed)
    assert any("print forms" in each for each in found.assumptions)
    raw = build(space, print_all=True).guarantee
    assert not any("print forms" in each for each in raw.assumptions)
    with_policy = build(space, structure="plain", unknown="mask", keep=["Ann"])
    names = [line.partition(":")[0] for line in with_policy.guarantee.disclosed]
    assert names == ["number of words", "which words are unknown", "kept words"]


def test_the_case_of_the_input_and_plain_structure_exclude_each_other(space):
    with pytest.raises(ConfigurationError, match="--case restore"):
        build(space, case="restore", structure="plain")


def test_nothing_of_a_plain_text_but_its_length_shows(space):
    """Texts of as many words, whatever their shape: equal but for what is drawn."""
    p = build(space, structure="plain", case="truecase")
    texts = ["a b c d", "A, b: (C)\n\n-- D!!!", "X's y's \"z\" 7$...", "U\tV\r\nW\xa0X"]
    shown = [text.text for text in p.batch(texts, [1, 2, 3, 4])]
    for text in shown:
        assert len(text.split(" ")) == 4
        assert text.endswith(".")
        assert not set(text) & set('\n\t\r\xa0"$,:()!-')


FORMATS = ("txt", "csv", "jsonl", "parquet")


def write(folder, format, texts):
    path = folder / f"in.{format}"
    if format == "txt":
        path.write_text("".join(f"{text}\n" for text in texts))
    elif format == "parquet":
        pq.write_table(pa.table({"text": texts}), path)
    elif format == "jsonl":
        path.write_text("".join(json.dumps({"text": t}) + "\n" for t in texts))
    else:
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([["text"], *([text] for text in texts)])
    return path


def read(path):
    if path.suffix == ".txt":
        return path.read_text().split("\n")[:-1]
    if path.suffix == ".parquet":
        return pq.read_table(path)["text"].to_pylist()
    if path.suffix == ".jsonl":
        return [json.loads(line)["text"] for line in path.read_text().splitlines()]
    with path.open(newline="") as file:
        return [row[0] if row else "" for row in csv.reader(file)][1:]


def privatize(*args, policy="all"):
    law = ["--policy", policy, "--epsilon", "10"]
    done = CliRunner().invoke(cli, ["privatize", *map(str, args), *law])
    return done.exit_code, done.stderr


@pytest.mark.parametrize("format", FORMATS)
def test_files_are_printed_plain_record_for_record(tmp_path, format):
    texts = ["One, two -- three?", 'A "b" c\'s d!', "Yes. No. Perhaps.", "..."]
    given = write(tmp_path, format, texts)
    out = tmp_path / f"out.{format}"
    how = ["--structure", "plain", "--case", "truecase", "--seed", "3"]
    code, said = privatize(given, "-o", out, "--read", "none", *how)
    assert code == 0, said
    found = read(out)
    assert [len(text.split()) for text in found] == [3, 4, 3, 0]
    for text in found[:3]:
        assert text.endswith(".")
        assert text[0] == text[0].upper()
        assert not set(text) & set(',"-?!\n')
    p = mg.Privatizer(
        mg.mechanism("tree", epsilon=10.0),
        noise=mg.Seeded(3),
        structure="plain",
        case="truecase",
    )
    assert found == p.texts(texts, None, "text", number=0)[0]


@pytest.mark.parametrize("policy", ["all", "sensitive"])
@pytest.mark.parametrize("format", FORMATS)
def test_plain_files_hold_no_trace_of_what_was_between_words(tmp_path, format, policy):
    """Other punctuation and the same words, under the same noise: the same bytes."""
    outs = []
    for texts in (["a b c", "d"], ['a, "b"\' c!', "-- d?"]):
        given = write(tmp_path, format, texts)
        outs.append(tmp_path / f"out{len(outs)}.{format}")
        how = ["--structure", "plain", "--seed", "3"]
        assert privatize(given, "-o", outs[-1], *how, policy=policy)[0] == 0
    assert outs[0].read_bytes() == outs[1].read_bytes()


def test_lines_of_plain_text_all_end(tmp_path):
    given, out = tmp_path / "in.txt", tmp_path / "out.txt"
    given.write_bytes(b"One\r\n\n(Two)\nThree, four")
    assert privatize(given, "-o", out, "--structure", "plain")[0] == 0
    lines = out.read_bytes().split(b"\n")
    assert [len(line.split()) for line in lines] == [1, 0, 1, 2, 0]
    assert b"\r" not in out.read_bytes()


@pytest.mark.slow("seconds")
def test_explain_names_no_listed_word_unless_told_to():
    for how in ((), ("--print-all",)):
        args = [
            "explain",
            "crotch",
            "--policy",
            "all",
            "--epsilon",
            "8",
            "--top",
            "200",
            *how,
        ]
        done = CliRunner().invoke(cli, args)
        assert done.exit_code == 0, done.stderr
        found = never_printed() & set(done.stdout.split())
        assert bool(found) == bool(how)
        assert ("(never printed)" in done.stdout) == (not how)


@pytest.mark.slow("two processes")
def test_two_jobs_print_as_one_does(tmp_path):
    texts = ["One, two -- three?", "london i doesn't"] * 50
    given, outs = write(tmp_path, "csv", texts), []
    for jobs in (1, 2):
        outs.append(tmp_path / f"out{jobs}.csv")
        how = ["--structure", "plain", "--case", "truecase", "--print-all"]
        how += ["--seed", 3, "--jobs", jobs]
        assert privatize(given, "-o", outs[-1], *how)[0] == 0
    assert outs[0].read_bytes() == outs[1].read_bytes()


def test_the_command_refuses_the_case_of_the_input_in_plain_text(tmp_path):
    given = write(tmp_path, "txt", ["One"])
    how = ["--structure", "plain", "--case", "restore"]
    code, said = privatize(given, "-o", tmp_path / "out.txt", *how)
    assert code == 2
    assert "--case restore" in said
    assert not (tmp_path / "out.txt").exists()


def test_the_command_prints_no_listed_word_unless_told_to(tmp_path, space):
    listed = sorted(never_printed())
    given = write(tmp_path, "txt", [" ".join(listed)] * 20)
    for how, is_clean in (((), True), (("--print-all",), False)):
        out = tmp_path / "out.txt"
        args = (given, "-o", out, "--seed", 1, "--force", *how)
        assert privatize(*args)[0] == 0
        found = set(out.read_text().split())
        assert found.isdisjoint(listed) == is_clean


@pytest.mark.slow("scores")
def test_a_printed_release_is_scored_word_for_word(space):
    words = ["doesn", "don", "im", "ll", "i", "london", "cant", "whats", "hers"]
    text = " ".join(words * 3) + "."
    p = build(space, epsilon=40.0, case="truecase")
    release = p(text, id=1).text
    assert "n't" in release
    scorer = CorpusScorer(space)
    scorer.add([text], [release])
    scores = scorer.scores()
    assert (scores.unaligned, scores.paired) == (0, len(words) * 3)


@pytest.mark.alone
def test_the_text_path_of_print_forms_is_quick(space):
    """Far below what it does alone on a machine: some 900,000 words a second."""
    import time

    from mondegreen.text.detokenizer import Detokenizer
    from mondegreen.text.tokenizer import tokenize

    batch = tokenize(["Some words, and it's a sentence. Then others follow!"] * 20_000)
    codes = np.random.default_rng(1).integers(0, 30_000, sum(batch.counts()))
    for structure in ("keep", "plain"):
        detokenizer = Detokenizer(space.words, "truecase", structure=structure)
        start = time.process_time()
        detokenizer.join(batch, codes.astype(np.int32))
        assert len(codes) / (time.process_time() - start) > 250_000
