"""One string or many, as text or as Arrow: the same path, and nothing leaks from it."""

import concurrent.futures
import copy
import itertools
import multiprocessing
import os
import pickle
import re
import subprocess
import sys
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

import mondegreen as mg
from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    MissingColumnError,
    MondegreenError,
    OutOfVocabularyError,
    UnprovedGuaranteeError,
)
from mondegreen.mechanisms.base import AbstractMechanism, parameter
from mondegreen.privatizer.parallel import privatize_batches

WORDS = tuple(f"{a}{b}" for a in ("cold", "warm", "mild", "hot") for b in "abcdefgh")
CANARY = "Zyxwoldemorth"
KEY = bytes(range(32))
TEXT = f"Colda, {CANARY} warmb\nmildc HOTD!"


@pytest.fixture(scope="module")
def space():
    vectors = np.random.default_rng(1).normal(size=(len(WORDS), 4))
    return mg.Space.from_arrays("thirty-two", WORDS, vectors)


@pytest.fixture
def make(space):
    def build(epsilon=2.0, mechanism="tem", **options):
        return mg.Privatizer(mg.mechanism(mechanism, epsilon=epsilon), space, **options)

    return build


def keyed():
    return mg.KeyedNoise(KEY)


def words_of(text):
    return re.findall(r"\w+", text)


def texts_of(releases):
    return [release and release.text for release in releases]


@dataclass(frozen=True, slots=True)
class Unproved(AbstractMechanism):
    """Tem, pretending that nobody has proved anything."""

    epsilon: float = parameter(range="(0, inf)", help="that of tem")

    name: ClassVar[str] = "unproved"
    family: ClassVar[str] = "selection"
    metric: ClassVar[str] = "none"
    is_private: ClassVar[bool] = False

    def prepare(self, space):
        return mg.mechanism("tem", epsilon=self.epsilon).prepare(space)


@dataclass(frozen=True)
class BrokenState:
    """A prepared mechanism that returns what it likes."""

    inner: object
    answer: object
    digests: object = field(default_factory=dict)

    @property
    def guarantee(self):
        return self.inner.guarantee

    @property
    def output_count(self):
        return self.inner.output_count

    def sample(self, ids, rng):
        return self.answer(ids)


class HalfNoise:
    """Noise for the first half of the texts only."""

    is_secret = True

    def describe(self):
        return "half"

    def streams(self, batch):
        yield range(len(batch.texts) // 2), np.random.default_rng(0)


# --- one text ---------------------------------------------------------------------


def test_every_word_of_a_text_is_replaced_and_its_structure_stays(make):
    text = make()(TEXT).text
    assert re.sub(r"\w+", "W", text) == "W, W W\nW W!"
    assert set(words_of(text)) <= set(WORDS)


@pytest.mark.parametrize(
    "text", ["", " ", "\n\t ...", "\xa0", "¿?", "\r\n", "«»", "—…", "$ € ="]
)
def test_a_text_without_words_is_passed_on(make, text):
    release = make()(text)
    assert (release.text, release.spans) == (text, ())


@pytest.mark.parametrize(
    "text",
    ["\ud800", "👩‍👩‍👧", "a" * 100_000, "é" * 3000, "١٢٣", "\U0010ffff", "ａ", "ﬁ"],
)
def test_any_word_whatever_becomes_a_word_of_the_space(make, text):
    assert make()(text).text in WORDS


def test_the_repr_of_a_release_shows_no_text(make):
    release = make(keep=[CANARY])(TEXT, include_originals=True)
    for shown in (repr(release), f"{release!r}", repr([release])):
        assert not any(word in shown.lower() for word in (*WORDS, CANARY.lower()))
    assert not any(word in repr(release.spans).lower() for word in words_of(TEXT))


@pytest.mark.parametrize("case", ["lower", "restore"])
@pytest.mark.parametrize("unknown", ["word", "mask", "drop"])
def test_spans_say_where_the_output_words_are(make, unknown, case):
    release = make(unknown=unknown, case=case, keep=["warmb"])(TEXT)
    shown = [release.text[span.start : span.end] for span in release.spans]
    status = [span.status for span in release.spans]
    second = {"word": "replaced", "mask": "masked", "drop": "dropped"}[unknown]
    assert status == ["replaced", second, "kept", "replaced", "replaced"]
    assert shown[2] == "warmb"
    assert (shown[1] == "[unk]") == (unknown == "mask")
    assert (shown[1] == "") == (unknown == "drop")
    replaced = [w for w, s in zip(shown, status, strict=True) if s == "replaced"]
    assert {word.lower() for word in replaced} <= set(WORDS)
    ends = [0, *itertools.chain.from_iterable((s.start, s.end) for s in release.spans)]
    assert ends == sorted(ends)
    assert ends[-1] <= len(release.text)


def test_spans_carry_originals_only_where_they_are_asked_for(make):
    privatizer = make()
    assert {span.original for span in privatizer(TEXT).spans} == {None}
    asked = privatizer(TEXT, include_originals=True).spans
    assert [span.original for span in asked] == words_of(TEXT)


def test_unknown_words_have_the_status_of_known_ones(make):
    spans = make()(f"colda {CANARY}").spans
    assert [span.status for span in spans] == ["replaced", "replaced"]


def test_unknown_words_cannot_be_told_apart_by_their_noise(make):
    first, second = (make(noise=mg.Seeded(3)) for _ in range(2))
    assert first(f"{CANARY} x y").text == second("Lisbon 4711 🐱").text


def test_fail_stops_at_an_unknown_word_without_quoting_it(make):
    with pytest.raises(OutOfVocabularyError) as caught:
        make(unknown="fail").batch(["colda", None, f"warmb {CANARY}"])
    assert not any(char.isdigit() for char in str(caught.value))
    assert CANARY.lower() not in repr(caught.value).lower()
    assert make(unknown="fail")("colda warmb").text


def test_kept_words_pass_and_only_they(make):
    text = make(keep=["Oslo"], epsilon=1e-6)("Oslo oslo Bergen OSLO").text.split()
    assert [w == "Oslo" for w in text] == [True, True, False, True]


def test_kept_words_show_no_more_of_how_they_were_typed_than_their_case(make):
    text = "oSLo OSlo oslO oslo Oslo OSLO Os\xadlo"
    for case, expected in (
        ("lower", ["Oslo"] * 7),
        ("restore", [*["Oslo"] * 5, "OSLO", "Oslo"]),
    ):
        assert make(keep=["Oslo"], case=case)(text).text.split() == expected


def test_keyed_noise_differs_by_the_spelling_of_a_kept_word(make):
    texts = {
        make(noise=keyed(), keep=[entry])("colda " * 20, id="1").text
        for entry in ("Oslo", "oslo")
    }
    assert len(texts) == 2


@pytest.mark.parametrize(
    "text",
    [
        *("₳₦₦₳ met ₱₳₮", "∀∩∩∀ met ∂∀∨", "\x01\x0e\x0e\x01", "\x00", "\u2028"),
        *("$€¥", "⸨⸩⸪⸫", "\u2000\u2001", "=" * 9, "\u0378", "^´¨"),
    ],
)
def test_what_is_spelled_in_signs_is_replaced_like_words(make, text):
    released = make(epsilon=1e-6)(text).text
    assert set(words_of(released)) <= set(WORDS)
    assert not set(released) & (set(text) - set(" =^met"))
    assert not any(piece in released for piece in text.split())


def test_keep_refuses_one_string_instead_of_keeping_its_letters(make):
    with pytest.raises(InvalidParameterError, match="keep"):
        make(keep="oslo")


def test_case_is_lower_unless_restore_is_declared(make):
    text = "Colda COLDA colda"
    assert make()(text).text.islower()
    shapes = make(case="restore")(text).text.split()
    assert [w.istitle() for w in shapes] == [True, False, False]
    assert [w.isupper() for w in shapes] == [False, True, False]


@pytest.mark.parametrize(
    "options", [{"unknown": "keep"}, {"case": "upper"}, {"keep": ["two words"]}]
)
def test_wrong_options_are_refused(make, options):
    with pytest.raises(InvalidParameterError):
        make(**options)


@pytest.mark.parametrize("text", [None, b"colda", 7, ["colda"]])
def test_what_is_no_string_is_refused(make, text):
    with pytest.raises(InvalidParameterError):
        make()(text)


def test_one_string_is_no_batch(make):
    with pytest.raises(InvalidParameterError):
        make().batch("colda warmb")


# --- batches and streams ------------------------------------------------------------


def test_a_batch_keeps_order_length_and_nulls(make):
    texts = ["colda.", None, "", "x, y; z", None]
    releases = make().batch(texts)
    shapes = [r and re.sub(r"\w+", "W", r.text) for r in releases]
    assert shapes == ["W.", None, "", "W, W; W", None]
    assert make().batch([]) == []


def test_a_batch_is_refused_where_ids_do_not_match(make):
    with pytest.raises((InvalidParameterError, ConfigurationError)):
        make(noise=keyed()).batch(["a", "b"], ids=["1"])
    with pytest.raises(ConfigurationError):
        make(noise=keyed()).batch(["a", "b"])
    with pytest.raises(InvalidParameterError):
        make(noise=keyed()).batch(["a"], ids=[7.0])


def test_a_stream_reads_no_more_than_a_chunk_ahead(make):
    def source():
        yield from itertools.repeat("colda", 1024)
        raise AssertionError("read too early")

    releases = make().stream(source())
    assert all(words_of(next(releases).text) for _ in range(1024))
    with pytest.raises(AssertionError, match="too early"):
        next(releases)


def test_a_stream_reads_nothing_before_it_is_asked(make):
    def source():
        raise AssertionError("read too early")
        yield ""

    make().stream(source())


def test_a_stream_holds_no_more_than_a_chunk(make):
    alive = 0

    class Text(str):
        def __new__(cls, value):
            nonlocal alive
            alive += 1
            return super().__new__(cls, value)

        def __del__(self):
            nonlocal alive
            alive -= 1

    most = count = 0
    for release in make().stream(Text("colda warmb") for _ in range(10_000)):
        most, count = max(most, alive), count + (release is not None)
    assert count == 10_000
    assert most <= 2 * 1024


def test_a_stream_of_nulls_and_ids_is_that_of_the_batch(make):
    texts = ["colda x", None, "warmb"] * 700
    ids = [str(i) for i in range(len(texts))]
    streamed = make(noise=keyed()).stream(iter(texts), iter(ids))
    assert texts_of(streamed) == texts_of(make(noise=keyed()).batch(texts, ids))


# --- Arrow --------------------------------------------------------------------------


ARROW_TYPES = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.dictionary(pa.int32(), pa.string()),
    pa.dictionary(pa.int8(), pa.large_string()),
]


@pytest.mark.parametrize("kind", ARROW_TYPES, ids=str)
def test_arrow_text_of_any_type_keeps_schema_nulls_and_other_columns(make, kind):
    given = ["colda, x", None, "", f"{CANARY}!"]
    batch = pa.record_batch(
        {"n": [1, 2, 3, 4], "text": pa.array(given, kind), "other": [CANARY] * 4}
    )
    released = make().arrow(batch)
    assert released.schema.equals(batch.schema, check_metadata=True)
    released.validate(full=True)
    shapes = [t and re.sub(r"\w+", "W", t) for t in released.column("text").to_pylist()]
    assert shapes == ["W, W", None, "", "W!"]
    assert CANARY.lower() not in str(released.column("text").to_pylist()).lower()
    for name in ("n", "other"):
        assert released.column(name).equals(batch.column(name))


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.string()),
        pa.large_list(pa.large_string()),
        pa.list_(pa.string_view()),
        pa.list_(pa.dictionary(pa.int32(), pa.string())),
    ],
    ids=str,
)
def test_arrow_lists_keep_lengths_and_nulls_at_both_levels(make, kind):
    given = [["colda", None, "x y"], None, [], [f"{CANARY}"]]
    batch = pa.record_batch({"text": pa.array(given, kind)})
    released = make().arrow(batch)
    assert released.schema.equals(batch.schema)
    found = released.column(0).to_pylist()
    assert [t and [s and len(s.split()) for s in t] for t in found] == [
        [1, None, 2],
        None,
        [],
        [1],
    ]
    assert CANARY.lower() not in str(found).lower()


def test_arrow_slices_are_privatized_as_what_they_show(make):
    batch = pa.record_batch(
        {
            "text": ["x x x", "colda", None, "colda warmb", "x x x"],
            "tags": [["x"] * 9, ["a"], [], None, ["x"] * 9],
        }
    ).slice(1, 3)
    released = make().arrow(batch, ["text", "tags"])
    counts = [t and len(t.split()) for t in released.column("text").to_pylist()]
    assert counts == [1, None, 2]
    assert [t and len(t) for t in released.column("tags").to_pylist()] == [1, [], None]


def test_arrow_releases_several_columns_with_separate_noise(make):
    texts = [" ".join(WORDS)] * 20
    batch = pa.record_batch({"a": texts, "b": texts, "id": list(range(20))})
    for privatizer in (make(noise=keyed()), make(noise=mg.Seeded(0)), make()):
        released = privatizer.arrow(batch, ["a", "b"], id_column="id")
        assert released.column("a").to_pylist() != released.column("b").to_pylist()


@pytest.mark.parametrize("kind", [pa.string(), pa.list_(pa.string())], ids=str)
def test_arrow_passes_an_empty_batch(make, kind):
    batch = pa.record_batch({"text": pa.array([], kind)})
    assert make().arrow(batch).equals(batch)


@pytest.mark.parametrize(
    "array",
    [
        pa.array([1, 2]),
        pa.array([b"colda", b"x"]),
        pa.array([{"a": "x"}, {"a": "y"}]),
        pa.array([["x"], ["y"]], pa.list_(pa.string(), 1)),
        pa.array([[["x"]], [["y"]]]),
        pa.nulls(2),
    ],
    ids=lambda array: str(array.type),
)
def test_arrow_refuses_a_column_that_is_no_text(make, array):
    with pytest.raises(InvalidParameterError, match="strings or lists of strings"):
        make().arrow(pa.record_batch({"text": array}))


def test_arrow_names_the_columns_that_exist_where_one_is_missing(make):
    batch = pa.record_batch({"a": ["x"], "b": ["y"]})
    for options in ({}, {"columns": ["a", "c"]}, {"columns": ["a"], "id_column": "c"}):
        with pytest.raises(MissingColumnError, match="Columns: 'a', 'b'"):
            make().arrow(batch, **options)


def test_arrow_refuses_one_string_for_the_columns(make):
    with pytest.raises(InvalidParameterError, match="columns"):
        make().arrow(pa.record_batch({"text": ["x"]}), "text")


def test_arrow_releases_a_column_that_is_named_twice_once(make):
    batch = pa.record_batch({"text": ["colda x"], "id": ["7"]})
    once, twice = (
        make(noise=keyed()).arrow(batch, ["text"] * n, id_column="id") for n in (1, 2)
    )
    assert once.equals(twice)


def test_arrow_needs_an_id_in_every_row(make):
    batch = pa.record_batch({"text": ["x", "y"], "id": ["1", None]})
    with pytest.raises(InvalidParameterError, match="identifier in every row"):
        make(noise=keyed()).arrow(batch, id_column="id")


@pytest.mark.parametrize("kind", [pa.string(), pa.list_(pa.string())], ids=str)
def test_a_dictionary_too_narrow_for_its_release_is_widened(space, kind):
    privatizer = mg.Privatizer(mg.mechanism("tem", epsilon=1e-6), space)
    narrow = pa.dictionary(pa.int8(), pa.string())
    texts = [f"{CANARY} {CANARY} {CANARY}"] * 1000
    given = pa.array(texts, narrow)
    if pa.types.is_list(kind):
        given = pa.ListArray.from_arrays(list(range(1001)), given)
    batch = pa.record_batch({"text": given})
    released = privatizer.arrow(batch)
    released.validate(full=True)
    kind = released.column(0).type
    inner = kind.value_type if pa.types.is_list(kind) else kind
    assert inner == pa.dictionary(pa.int32(), pa.string())
    assert len(set(map(str, released.column(0).to_pylist()))) > 128
    few = pa.record_batch({"text": given.slice(0, 9)})
    assert privatizer.arrow(few).schema.equals(few.schema)


# --- noise --------------------------------------------------------------------------


def test_two_privatizers_draw_different_noise(make):
    # 32 words at epsilon 1e-6 are nearly uniform: equal with chance below 1e-40.
    text = " ".join(WORDS)
    releases = {make(epsilon=1e-6)(text).text for _ in range(2)}
    privatizer = make(epsilon=1e-6)
    releases |= {privatizer(text).text for _ in range(2)}
    assert len(releases) == 4


def test_a_seed_repeats_and_stamps_the_release(make):
    first, second = (make(noise=mg.Seeded(5)) for _ in range(2))
    assert first(TEXT).text == second(TEXT).text
    assert first(TEXT).text != first(TEXT).text  # the number of the batch counts on
    assert first.guarantee.is_void
    assert str(first.guarantee).startswith("NOT PRIVATE")
    assert not make().guarantee.is_void


def test_keyed_noise_repeats_a_record_whatever_surrounds_it(make):
    texts = [f"{a} {b} x" for a in WORDS for b in WORDS[:4]]
    ids = [str(i) for i in range(len(texts))]
    whole = texts_of(make(noise=keyed()).batch(texts, ids))
    privatizer = make(noise=keyed())
    alone = [privatizer(text, id=i).text for text, i in zip(texts, ids, strict=True)]
    assert alone == whole
    order = np.random.default_rng(0).permutation(len(texts)).tolist()
    shuffled = privatizer.batch([texts[i] for i in order], [ids[i] for i in order])
    assert texts_of(shuffled) == [whole[i] for i in order]


def test_keyed_noise_differs_by_id_text_key_and_setting(make):
    text = " ".join(WORDS)
    releases = [
        make(noise=keyed())(text, id="1").text,
        make(noise=keyed())(text, id="2").text,
        make(noise=keyed())(text + " x", id="1").text,
        make(noise=mg.KeyedNoise(KEY[::-1]))(text, id="1").text,
        make(noise=keyed(), epsilon=2.1)(text, id="1").text,
        make(noise=keyed(), unknown="mask")(text, id="1").text,
    ]
    assert len(set(releases)) == len(releases)


@pytest.fixture(scope="module")
def batches():
    texts = [f"{a} {b} x {CANARY}" for a in WORDS for b in WORDS[:8]]
    table = pa.table({"text": texts, "id": [f"r{i}" for i in range(len(texts))]})
    return table.to_batches(max_chunksize=37)


def released_texts(privatizer, batches, jobs):
    parts = privatize_batches(privatizer, batches, ["text"], id_column="id", jobs=jobs)
    return [t for batch, _ in parts for t in batch.column("text").to_pylist()]


@pytest.mark.slow("starts workers")
def test_jobs_change_neither_order_nor_keyed_nor_seeded_noise(make, batches, tmp_path):
    path = tmp_path / "key"
    path.write_bytes(KEY)
    path.chmod(0o600)
    for noise in (mg.KeyedNoise.from_file(path), mg.Seeded(1)):
        one, two = (
            released_texts(make(noise=noise), batches, jobs=jobs) for jobs in (1, 2)
        )
        assert one == two
        again = released_texts(make(noise=noise), batches[:1], jobs=1)
        assert one[:37] == again


@pytest.mark.slow("starts workers")
def test_workers_take_order_and_fresh_noise(make, batches):
    privatizer = make(mechanism="laplace", epsilon=1e6, unknown="mask")
    words = released_texts(privatizer, batches, jobs=2)
    assert words == [f"{a} {b} [unk] [unk]" for a in WORDS for b in WORDS[:8]]
    same = pa.record_batch({"text": [" ".join(WORDS)], "id": ["1"]})
    drawn = released_texts(make(epsilon=1e-6), [same] * 12, jobs=2)
    assert len(set(drawn)) == 12


def test_workers_are_handed_no_more_than_two_batches_each(make, batches):
    taken = 0

    def source():
        nonlocal taken
        for batch in itertools.cycle(batches):
            taken += 1
            yield batch

    parts = privatize_batches(make(), source(), ["text"], jobs=2)
    next(parts)
    assert taken <= 4
    parts.close()
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_of_a_batch_ends_the_run_and_the_workers(make, batches, jobs):
    parts = privatize_batches(make(unknown="fail"), batches, ["text"], jobs=jobs)
    with pytest.raises(OutOfVocabularyError) as caught:
        list(parts)
    error = caught.value
    while error is not None:
        assert CANARY.lower() not in f"{error!r} {error}".lower()
        error = error.__cause__ or error.__context__
    assert multiprocessing.active_children() == []


def test_a_key_without_a_file_never_reaches_a_worker(make, batches):
    parts = privatize_batches(
        make(noise=keyed()), batches, ["text"], id_column="id", jobs=2
    )
    with pytest.raises((TypeError, MondegreenError)) as caught:
        list(parts)
    assert CANARY.lower() not in repr(caught.value).lower()


# --- pickling and threads -------------------------------------------------------------


@pytest.mark.slow("a process each", but="tem")
@pytest.mark.parametrize("mechanism", ["tem", "exponential", "laplace", "vickrey"])
def test_a_pickled_privatizer_works_in_a_fresh_process(make, mechanism):
    given = make(mechanism=mechanism, unknown="mask", keep=["Oslo"], case="restore")
    code = (
        "import pickle, sys; p = pickle.load(sys.stdin.buffer);"
        "print(p('Oslo Xx').text); print(p.guarantee.to_json())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=pickle.dumps(given),
        capture_output=True,
        check=True,
    )
    text, guarantee = done.stdout.decode().splitlines()
    assert text == "Oslo [unk]"
    assert guarantee == given.guarantee.to_json()


def test_the_text_of_a_release_is_its_string(make):
    release = make()(TEXT)
    assert f"{release}" == str(release) == release.text


def test_keep_entries_that_change_in_canonical_form_survive_pickling(make):
    copy = pickle.loads(pickle.dumps(make(keep=["½", "Straße", "ﬁn", "don"])))
    assert copy("½").text == make(keep=["½"])("½").text


def test_pickled_bytes_hold_no_private_text_and_no_key(make, tmp_path):
    path = tmp_path / "key"
    path.write_bytes(KEY)
    path.chmod(0o600)
    noise = mg.KeyedNoise.from_file(path)
    privatizer = make(noise=noise)
    privatizer.batch([TEXT, f"{CANARY.lower()} {CANARY.upper()}"], ["id-4711", "i"])
    data = pickle.dumps(privatizer)
    for secret in (CANARY.lower(), CANARY.upper(), CANARY, "HOTD", "id-4711"):
        assert secret.encode() not in data
    assert KEY not in data
    assert noise._key not in data
    with pytest.raises(TypeError, match="never pickled"):
        pickle.dumps(make(noise=keyed()))


def test_unpickled_copies_draw_different_noise(make):
    data = pickle.dumps(make(epsilon=1e-6))
    text = " ".join(WORDS)
    assert len({pickle.loads(data)(text).text for _ in range(3)}) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_forked_children_draw_different_noise(make):
    privatizer, text = make(epsilon=1e-6), " ".join(WORDS)
    seen = set()
    for _ in range(3):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writer, privatizer(text).text.encode())
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as stream:
            seen.add(stream.read())
        os.waitpid(child, 0)
    assert len(seen) == 3
    assert "" not in seen


@pytest.mark.parametrize("mechanism", ["tem", "laplace", "mahalanobis"])
def test_one_privatizer_serves_eight_threads(make, mechanism):
    privatizer = make(mechanism=mechanism, epsilon=1e-6)
    text = " ".join([*WORDS, CANARY])

    def work(_):
        return [privatizer(text).text for _ in range(25)]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        texts = list(itertools.chain.from_iterable(pool.map(work, range(8))))
    assert all(set(words_of(text)) <= set(WORDS) for text in texts)
    assert all(len(words_of(text)) == len(WORDS) + 1 for text in texts)
    # uniform over 32^33 texts: 200 of them are distinct but for chance 1e-40
    assert mechanism == "mahalanobis" or len(set(texts)) == 200


def test_a_seed_counts_on_in_its_process_and_needs_numbers_in_a_copy(make):
    given = make(noise=mg.Seeded(5))
    first = [given(TEXT).text for _ in range(3)]
    again = make(noise=mg.Seeded(5))
    assert [again.batch([TEXT], number=i)[0].text for i in range(3)] == first
    table = pa.record_batch({"text": [TEXT]})
    for copied in (pickle.loads(pickle.dumps(given)), copy.deepcopy(given)):
        for call in (
            lambda p: p(TEXT),
            lambda p: p.batch([TEXT]),
            lambda p: next(p.stream([TEXT])),
            lambda p: p.arrow(table),
            lambda p: p.column(table["text"]),
            lambda p: p.with_noise(mg.Seeded(6))(TEXT),
        ):
            with pytest.raises(ConfigurationError, match="number="):
                call(copied)
        assert [copied(TEXT, number=i).text for i in range(3)] == first
        released = copied.arrow(table, number=2).column("text")
        assert released.to_pylist() == [first[2]]
        assert copied.column(table["text"], number=2).to_pylist() == [first[2]]
    assert given(TEXT).text not in first  # and it goes on


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_a_seed_needs_numbers_in_a_fork(make):
    given = make(noise=mg.Seeded(5))
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = given(TEXT).text
        except ConfigurationError:
            answer = given(TEXT, number=0).text
        except BaseException as error:
            answer = repr(error)
        os.write(writer, answer.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        assert stream.read() == given(TEXT).text
    os.waitpid(child, 0)


@pytest.mark.slow("starts workers of joblib")
def test_a_seed_needs_numbers_under_joblib(make):
    joblib = pytest.importorskip("joblib")
    given = make(noise=mg.Seeded(5))

    def work(privatizer, number):
        return privatizer(TEXT, number=number).text

    job = joblib.delayed(work)
    run = joblib.Parallel(n_jobs=2, backend="loky")
    with pytest.raises(ConfigurationError, match="number="):
        run(job(given, None) for _ in range(2))
    assert run(job(given, i) for i in range(3)) == [given(TEXT).text for _ in range(3)]
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)  # its workers would outlive the test


# --- what it promises -----------------------------------------------------------------


def test_a_mechanism_without_proof_runs_only_where_it_is_allowed(space):
    with pytest.raises(UnprovedGuaranteeError, match="allow_unproved"):
        mg.Privatizer(Unproved(2.0), space)
    privatizer = mg.Privatizer(Unproved(2.0), space, allow_unproved=True)
    assert privatizer("colda").text in WORDS
    assert privatizer.guarantee.is_void


def test_the_guarantee_lists_all_that_passes_in_clear(make):
    plain = make().guarantee
    assert len(plain.disclosed) == 3
    options = {"unknown": "mask", "keep": ["oslo"], "case": "restore"}
    disclosed = make(**options)("colda").guarantee.disclosed
    assert set(plain.disclosed) < set(disclosed)
    added = " ".join(set(disclosed) - set(plain.disclosed))
    for part in ("[unk]", "public list of 1 entry", "case: of each word"):
        assert part in added
    shown = str(make(**options).guarantee)
    assert all(one in shown for one in disclosed)
    for unknown in ("drop", "fail"):
        assert len(make(unknown=unknown).guarantee.disclosed) == 4


@pytest.mark.parametrize(
    ("options", "condition"),
    [
        ({}, ""),
        ({"unknown": "mask"}, "both in the vocabulary or both outside it"),
        ({"unknown": "drop"}, "both in the vocabulary or both outside it"),
        ({"unknown": "fail"}, "in the vocabulary"),
        ({"keep": ["oslo"]}, "not on the public list of kept words"),
        ({"case": "restore"}, "in the same case"),
    ],
)
def test_the_promise_is_made_within_what_passes_in_clear(make, options, condition):
    guarantee = make(**options).guarantee
    assert bool(guarantee.conditions) == bool(condition)
    assert condition in str(guarantee).partition("for any words")[2].partition("\n")[0]
    assert all("meet the conditions" in e for e in guarantee.equivalents) or not options


def test_the_preview_says_what_stays_of_the_vocabulary(make):
    kept = make(keep=list(WORDS)).preview()
    assert (kept.unchanged, kept.near, kept.of) == (1.0, 1.0, "its vocabulary")
    masked = make(unknown="mask").preview()
    assert masked == make().preview()
    assert 0 < masked.unchanged <= masked.near < 1


def test_the_guarantee_survives_json(make):
    guarantee = make().guarantee
    assert mg.Guarantee.from_dict(guarantee.to_dict()) == guarantee


# --- fail closed ----------------------------------------------------------------------


def test_texts_that_get_no_noise_are_not_released(make):
    for texts in (["colda", "warmb"], ["colda", f"colda {CANARY}"], ["x"]):
        with pytest.raises(MondegreenError, match="nothing was released") as caught:
            make(noise=HalfNoise()).batch(texts)
        assert CANARY.lower() not in str(caught.value).lower()
    assert make(noise=HalfNoise())("...").text == "..."


@pytest.mark.parametrize(
    "answer",
    [
        lambda ids: np.full_like(ids, -1),
        lambda ids: np.full_like(ids, -3),
        lambda ids: np.full_like(ids, len(WORDS)),
        lambda ids: np.full_like(ids, 10_000),
        lambda ids: ids[:1],
        lambda ids: np.zeros((len(ids), 1), dtype=np.int32),
    ],
    ids=["kept", "dropped", "unknown", "beyond", "one for all", "matrix"],
)
def test_a_mechanism_that_draws_no_word_cannot_print_the_original(make, answer):
    privatizer = make()
    privatizer.state = BrokenState(privatizer.state, answer)
    with pytest.raises(MondegreenError, match="nothing was released"):
        privatizer("colda warmb Zyx")


def test_an_error_of_the_mechanism_releases_nothing(make):
    def explode(ids):
        raise FloatingPointError

    privatizer = make()
    privatizer.state = BrokenState(privatizer.state, explode)
    with pytest.raises(FloatingPointError):
        privatizer(TEXT)
    with pytest.raises(FloatingPointError):
        privatizer.arrow(pa.record_batch({"text": [TEXT]}))


UNORDERED = [{"w1", "w2"}, frozenset({"w1", "w2"}), {"w1": 1, "w2": 2}]


@pytest.mark.parametrize("given", UNORDERED, ids=lambda given: type(given).__name__)
def test_what_has_no_order_is_refused(make, given):
    """Releases come back in the order of the texts: a set has none."""
    made, kind = make(noise=keyed()), type(given).__name__
    said = f"texts must be in an order, such as a list; got {kind}"
    with pytest.raises(InvalidParameterError, match=said):
        made.batch(given, [1, 2])
    with pytest.raises(InvalidParameterError, match=said):
        list(made.stream(given, [1, 2]))
    with pytest.raises(InvalidParameterError, match=said.replace("texts", "ids")):
        made.batch(["w1", "w2"], given)
    with pytest.raises(InvalidParameterError, match=said.replace("texts", "ids")):
        list(made.stream(["w1", "w2"], given))


def test_a_text_of_the_wrong_type_is_named_by_its_place(make):
    made = make()
    with pytest.raises(InvalidParameterError, match=r"texts\[1\] must .*got int"):
        made.batch(["w1", 7])
    many = ["w1"] * 1500
    with pytest.raises(InvalidParameterError, match=r"texts\[1500\] must .*got int"):
        list(made.stream([*many, 7]))


def test_keyed_noise_without_ids_names_both_arguments(make):
    with pytest.raises(ConfigurationError, match="id= for one text, ids= for several"):
        make(noise=keyed())("w1")
