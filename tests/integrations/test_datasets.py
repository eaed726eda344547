"""Datasets of Hugging Face: noise is never cached, and never that of another worker."""

from __future__ import annotations

import json
import warnings

import pytest

import mondegreen as mg
from contract.adapters import Adapter, AdapterContract
from contract.test_adapters import at_path, table_of
from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    MondegreenError,
    OptionalDependencyError,
)
from mondegreen.integrations.datasets import privatize
from mondegreen.space.store import save_space

pytestmark = pytest.mark.filterwarnings("ignore:ids repeat")  # some records do

CANARY = "zyxwoldemorth"
LONG = "aa bb cc " * 60
VARIABLE = "KEY_OF_THESE_TESTS"
LINE = "mondegreen: "


@pytest.fixture(scope="module", autouse=True)
def hf(tmp_path_factory):
    """The library, offline and with a cache of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("HF_HOME", str(tmp_path_factory.mktemp("hf")))
        found = pytest.importorskip("datasets")
        found.disable_progress_bars()
        yield found


@pytest.fixture(scope="module")
def privatizer(tmp_path_factory):
    vectors = [[0.0], [1.0], [2.0]]
    path = tmp_path_factory.mktemp("space") / "three.safetensors"
    save_space(mg.Space.from_arrays("three", ["aa", "bb", "cc"], vectors), path)
    return mg.Privatizer(mg.mechanism("tem", epsilon=1.0), mg.load_space(path))


@pytest.fixture
def keyed(privatizer, monkeypatch):
    monkeypatch.setenv(VARIABLE, bytes(range(32)).hex())
    return privatizer.with_noise(mg.KeyedNoise.from_env(VARIABLE))


@pytest.fixture
def features(hf):
    label = hf.ClassLabel(names=["good", "bad"])
    return hf.Features(
        {"id": hf.Value("int32"), "text": hf.Value("string"), "label": label}
    )


@pytest.fixture
def given(hf, features):
    rows = {"id": range(400), "text": [LONG] * 400, "label": [0, 1] * 200}
    return hf.Dataset.from_dict(rows, features=features)


@pytest.fixture
def stored(given, hf, tmp_path):
    """On the disk, where ``map`` looks for what it has made before."""
    given.save_to_disk(tmp_path / "raw")
    return hf.load_from_disk(tmp_path / "raw")


def promise(dataset):
    (line,) = (x for x in dataset.info.description.splitlines() if x.startswith(LINE))
    return json.loads(line.removeprefix(LINE))


def test_features_format_and_other_columns_stay(given, privatizer):
    given.set_format("numpy", columns=["label"], output_all_columns=True)
    given.info.description = f"What it is.\n{CANARY}"
    safe = privatize(given, "text", privatizer)
    assert safe.features == given.features
    assert safe.format == given.format
    assert safe.with_format(None)["id"][:] == list(range(400))
    assert len(set(safe.with_format(None)["text"][:])) == 400
    assert given.with_format(None)["text"][0] == LONG
    assert safe.info.description.startswith("mondegreen: [")
    assert "\n" not in safe.info.description
    assert CANARY not in safe.info.description
    assert given.info.description.startswith("What it is.")


def test_columns_are_a_list_or_a_mapping_and_none_is_named_twice(hf, keyed):
    given = hf.Dataset.from_dict({"id": [7], "a": [LONG], "b": [LONG]})
    safe = privatize(given, ["a", "b"], keyed, id_column="id")
    for name in "ab":
        assert safe[name][0] == keyed(LONG, id=7, column=name).text
    assert [each["column"] for each in promise(safe)] == ["a", "b"]
    for wrong in (["a", "a"], {"a": "text", "b": "text"}):
        with pytest.raises(InvalidParameterError, match="columns"):
            privatize(given, wrong, keyed, id_column="id")


def test_ids_without_a_key_are_refused(hf, given, privatizer):
    for dataset in (given, hf.DatasetDict(train=given)):
        with pytest.raises(ConfigurationError, match="ids need keyed noise"):
            privatize(dataset, "text", privatizer, id_column="id")
    stream, once = given.to_iterable_dataset(), {"unkeyed": "write-once"}
    with pytest.raises(ConfigurationError, match="ids need keyed noise"):
        privatize(stream, "text", privatizer, id_column="id", **once)


@pytest.mark.filterwarnings("ignore:the raw texts stay")
def test_a_second_call_finds_no_noise_in_the_cache(stored, privatizer):
    first, second = (privatize(stored, "text", privatizer) for _ in range(2))
    assert not set(first["text"]) & set(second["text"])
    assert first._fingerprint != second._fingerprint != stored._fingerprint


@pytest.mark.filterwarnings("ignore:the raw texts stay")
def test_the_cache_is_not_asked_even_for_an_equal_fingerprint(
    stored, privatizer, monkeypatch
):
    monkeypatch.setattr("secrets.token_hex", lambda n: "7" * 2 * n)
    first, second = (privatize(stored, "text", privatizer)["text"][0] for _ in "ab")
    assert first != second


@pytest.mark.filterwarnings("ignore:the raw texts stay")
def test_why_a_plain_map_is_not_enough(stored, privatizer):
    """The trap: a second ``map`` returns the noise of the first."""

    def work(batch):
        return {"text": [r.text for r in privatizer.batch(batch["text"])]}

    first, second = (stored.map(work, batched=True) for _ in range(2))
    assert list(first["text"]) == list(second["text"])


@pytest.mark.slow("two processes")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_two_processes_share_no_noise_and_repeat_keyed_noise(given, privatizer, keyed):
    safe = privatize(given, "text", privatizer, num_proc=2)
    assert len(set(safe["text"])) == 400
    assert list(safe["id"]) == list(range(400))
    safe = privatize(given, "text", keyed, id_column="id", num_proc=2)
    assert list(safe["text"]) == [keyed(LONG, id=i).text for i in range(400)]


def test_a_key_that_cannot_be_named_is_not_sent_to_processes(given, privatizer):
    held = privatizer.with_noise(mg.KeyedNoise(bytes(range(32))))
    with pytest.raises(ConfigurationError, match="from_file"):
        privatize(given, "text", held, id_column="id", num_proc=2)
    safe = privatize(given, "text", held, id_column="id")
    assert safe["text"][7] == held(LONG, id=7).text


def test_every_split_is_released(hf, given, privatizer):
    splits = hf.DatasetDict(train=given, test=given.select(range(5)))
    safe = privatize(splits, "text", privatizer)
    assert isinstance(safe, hf.DatasetDict)
    assert {name: len(set(split["text"])) for name, split in safe.items()} == {
        "train": 400,
        "test": 5,
    }
    assert all(len(promise(split)) == 1 for split in safe.values())


@pytest.mark.parametrize("shape", ["one", "dictionary"])
def test_what_streams_needs_a_key_since_it_draws_in_every_epoch(
    hf, given, privatizer, keyed, shape
):
    stream = given.to_iterable_dataset(num_shards=2)
    many = stream if shape == "one" else hf.IterableDatasetDict(train=stream)
    for wrong in ({"id_column": "id"}, {}):
        with pytest.raises(ConfigurationError, match="IterableDataset is computed"):
            privatize(many, "text", privatizer, **wrong)

    def epoch(found):
        return [row["text"] for row in (found if shape == "one" else found["train"])]

    safe = privatize(many, "text", keyed, id_column="id")
    assert type(safe) is type(many)
    assert epoch(safe) == epoch(safe) == [keyed(LONG, id=i).text for i in range(400)]
    drawn = privatize(many, "text", privatizer, unkeyed="write-once")
    assert not set(epoch(drawn)) & set(epoch(drawn))
    assert promise(drawn if shape == "one" else drawn["train"])
    assert LINE not in (stream.info.description or "")
    with pytest.raises(InvalidParameterError, match="num_proc"):
        privatize(many, "text", keyed, id_column="id", num_proc=2)


def test_a_stream_keeps_its_format_and_features(given, keyed):
    stream = given.to_iterable_dataset().with_format("numpy")
    safe = privatize(stream, "text", keyed, id_column="id")
    assert safe.features == given.features
    assert type(next(iter(safe))["id"]) is type(next(iter(stream))["id"])


def test_a_word_on_the_raw_cache_where_there_is_one(given, stored, privatizer):
    with pytest.warns(UserWarning, match="raw texts stay in cache files"):
        privatize(stored, "text", privatizer)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        privatize(given, "text", privatizer)


@pytest.mark.filterwarnings("ignore:the raw texts stay")
def test_the_description_carries_every_pass_to_the_disk(
    hf, stored, privatizer, tmp_path
):
    titled = stored.add_column("title", [CANARY] * 400)
    once = privatize(titled, "text", privatizer)
    again = privatize(once, "title", privatizer.with_noise(mg.Seeded(1)))
    again.save_to_disk(tmp_path / "safe")
    found = promise(hf.load_from_disk(tmp_path / "safe"))
    assert [each["column"] for each in found] == ["text", "title"]
    assert [each["protection"] == "none" for each in found] == [False, True]
    assert [each["column"] for each in promise(once)] == ["text"]
    both = privatize(hf.concatenate_datasets([once, again]), "text", privatizer)
    assert [each["column"] for each in promise(both)].count("text") == 3


@pytest.mark.slow("two processes")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("num_proc", [None, 2])
def test_errors_cross_processes_and_hold_no_text(hf, privatizer, num_proc):
    strict = mg.Privatizer(privatizer.mechanism, privatizer.space, unknown="fail")
    given = hf.Dataset.from_dict({"text": ["aa", CANARY] * 5, "n": [1] * 10})
    for column, p in (("text", strict), ("absent", privatizer), ("n", privatizer)):
        with pytest.raises(MondegreenError) as caught:
            privatize(given, column, p, num_proc=num_proc)
        assert CANARY not in f"{caught.value!r}{caught.value.__context__!r}"


@pytest.mark.parametrize("dataset", [None, 7, CANARY, [CANARY], {"text": [CANARY]}])
def test_what_is_no_dataset_is_refused_by_its_type(dataset, privatizer):
    with pytest.raises(InvalidParameterError) as caught:
        privatize(dataset, "text", privatizer)
    assert CANARY not in str(caught.value)


def test_without_the_library_it_says_what_to_install(monkeypatch, privatizer):
    monkeypatch.setitem(__import__("sys").modules, "datasets", None)
    with pytest.raises(OptionalDependencyError, match=r"'\.\[datasets\]'"):
        privatize(None, "text", privatizer)


# The contract


def dataset_of(records):
    from datasets import Dataset

    table = table_of(records or [{"text": ""}])
    found = Dataset.from_dict({n: table[n].to_pylist() for n in table.column_names})
    return found if records else found.select([])


def released(records, job, made=lambda dataset: dataset):
    columns = {job.column: job.logical or job.column}
    dataset = made(dataset_of(records))
    options = {"id_column": job.id_column}
    if dataset.__class__.__name__ == "IterableDataset" and not job.key_path:
        options["unkeyed"] = "write-once"
    return privatize(dataset, columns, job.privatizer(), **options)


def by_dataset(records, job):
    return at_path(released(records, job).with_format("arrow")[:], job.column)


def by_stream(records, job):
    safe = released(records, job, lambda dataset: dataset.to_iterable_dataset())
    return at_path(table_of(list(safe)), job.column)


class TestDatasets(AdapterContract):
    @pytest.fixture(params=["dataset", "stream"])
    def adapter(self, request):
        if request.param == "stream":
            return Adapter("stream", by_stream, None, frozenset({"unique", "empty"}))
        return Adapter(
            "dataset",
            by_dataset,
            lambda records, job: promise(released(records, job)),
            frozenset({"unique"}),
        )
