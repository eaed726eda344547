"""What every adapter must do, whatever carries the records. No adapter is named here.

An adapter is a function that takes records and returns the texts of a column. A test
module subclasses :class:`AdapterContract`, gives it the fixture ``adapter``, and has
all tests; what an adapter cannot carry it says in ``lacks``, and these are skipped.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import mondegreen as mg
from mondegreen.errors import MondegreenError
from mondegreen.space.store import save_space
from mondegreen.text.never_printed import never_printed

__all__ = ["Adapter", "AdapterContract", "Job", "Refused"]

WORDS = tuple(f"{a}{b}{c}" for a in "bdfgklmn" for b in "aeiou" for c in "dgkm")
CANARY = "zyxwoldemorth"
KEYS = {"a": bytes(range(32)), "b": bytes(range(50, 90))}
IDS = ["7", "naïve", "x,y", '"q"', "0", "-12", "a b", "8" * 30]
TEXTS = ["Badda BAG, dad.", f"{CANARY} bam", "", "bad " * 40, "Ünï 🐈 ①", '"bad", ok']


class Refused(Exception):
    """Raised by an adapter that tells of an error otherwise than by an exception."""


@dataclass(frozen=True)
class Job:
    """What an adapter is asked to do.

    Attributes
    ----------
    spec : dict
        Settings, as ``Privatizer.to_dict`` returns them.
    column : str
        Where the text is; ``a.b`` is a field of an object.
    id_column : str or None
        Where the record ids are, if noise is keyed.
    key_path : Path or None
        The key file, if noise is keyed.
    logical : str or None
        The logical name of the column, if it is another.
    unique_ids : bool
        Whether ids that occur twice are refused.
    """

    spec: dict[str, Any]
    column: str = "text"
    id_column: str | None = None
    key_path: Path | None = None
    logical: str | None = None
    unique_ids: bool = False

    def privatizer(self) -> mg.Privatizer:
        """Return the privatizer of an adapter that runs in this process."""
        noise = (
            None if self.key_path is None else mg.KeyedNoise.from_file(self.key_path)
        )
        return mg.Privatizer.from_dict(self.spec, noise)


Records = Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Adapter:
    """One way for records to go through a privatizer.

    Attributes
    ----------
    name : str
        What tests call it.
    run : callable
        Takes records and a job, and returns the value of the column in each record.
    promises : callable or None
        Takes the same, and returns the list of guarantees that travels with the data.
    lacks : set of str
        What it cannot carry: ``ids``, ``nulls``, ``lists``, ``paths``, ``integers``
        and ``types`` (ids or texts that are no strings), ``names`` (columns, or
        logical names of them), ``unique``, ``empty`` (no records at all).
    """

    name: str
    run: Callable[[Records, Job], list[Any]]
    promises: Callable[[Records, Job], list[dict[str, Any]]] | None = None
    lacks: frozenset[str] = field(default_factory=frozenset)


@functools.cache
def settings_in(folder: Path) -> dict[str, Any]:
    """Write the space of the suite; return settings on it."""
    vectors = np.random.default_rng(5).normal(size=(len(WORDS), 6))
    path = folder / "contract.safetensors"
    save_space(mg.Space.from_arrays("contract", WORDS, vectors), path)
    law = mg.mechanism("tem", epsilon=0.1)
    return mg.Privatizer(law, mg.load_space(path)).to_dict()


def chain_of(error: BaseException | None) -> str:
    """Everything that an error and what it came from may show."""
    shown = ""
    while error is not None:
        shown += f"{error!r} {error} {getattr(error, '__notes__', '')}"
        error = error.__cause__ or error.__context__
    return shown.lower()


class AdapterContract:
    """The tests. Subclasses give the fixture ``adapter``."""

    @pytest.fixture
    def adapter(self) -> Adapter:
        raise NotImplementedError

    @pytest.fixture
    def spec(self, tmp_path_factory):
        """Settings under which words of the space change, nearly evenly."""
        return settings_in(tmp_path_factory.getbasetemp())

    @pytest.fixture
    def job(self, spec):
        return Job(spec)

    @pytest.fixture
    def keyed(self, spec, tmp_path, adapter):
        """A job with a key; others by changing its fields."""
        needs(adapter, "ids")
        path = tmp_path / "contract.key"
        path.write_bytes(KEYS["a"])
        path.chmod(0o600)
        return Job(spec, id_column="id", key_path=path)

    # What comes out

    def test_every_text_is_replaced_in_its_place(self, adapter, job):
        records = [
            {"id": str(i), "text": f"{w} {w}, {CANARY}!"} for i, w in enumerate(WORDS)
        ]
        released = adapter.run(records, job)
        assert len(released) == len(records)
        for text in released:
            words = text.replace(",", "").rstrip("!\n").split()
            assert len(words) == 3
            assert set(words) <= set(WORDS)
        assert released != [record["text"] for record in records]

    @pytest.mark.slow("every way in")
    def test_order_is_kept(self, adapter, job):
        sharp = {**job.spec, "epsilon": 1e6}
        some = [word for word in WORDS if word not in never_printed()][:60]
        records = [
            {"id": i, "text": f"{a} {b}"}
            for i, (a, b) in enumerate(itertools.product(some, some))
        ]
        released = adapter.run(records, Job(sharp))
        pairs = zip(released, records, strict=True)
        stayed = sum(text.rstrip("\n") == record["text"] for text, record in pairs)
        assert stayed > 0.98 * len(records)  # tem lets one word in a thousand go far

    def test_nulls_stay_nulls_and_only_they(self, adapter, job):
        needs(adapter, "nulls")
        records = [
            {"id": i, "text": text}
            for i, text in enumerate(["bad", None, "", None, "dad"])
        ]
        released = adapter.run(records, job)
        assert [text is None for text in released] == [False, True, False, True, False]
        assert released[2] == ""

    def test_nothing_in_is_nothing_out(self, adapter, job):
        needs(adapter, "empty")
        assert adapter.run([], job) == []

    def test_two_runs_draw_different_noise(self, adapter, job):
        records = [{"id": i, "text": " ".join(WORDS)} for i in range(4)]
        first, second = (adapter.run(records, job) for _ in range(2))
        assert len({*first, *second}) == 8  # uniform, but for chance below 1e-300

    # Keyed noise

    def test_a_record_has_the_release_that_the_library_gives_it(self, adapter, keyed):
        records = [{"id": i, "text": t} for i, t in itertools.product(IDS, TEXTS)]
        assert adapter.run(records, keyed) == by_the_library(records, keyed)

    @pytest.mark.slow("every way in, several times")
    def test_a_retry_repeats_whole_in_part_and_in_another_order(self, adapter, keyed):
        records = [{"id": str(i), "text": " ".join(WORDS[i:])} for i in range(40)]
        whole = adapter.run(records, keyed)
        assert adapter.run(records, keyed) == whole
        assert adapter.run(records[::-1], keyed) == whole[::-1]
        assert adapter.run(records[7:9], keyed) == whole[7:9]

    def test_noise_differs_by_id_text_column_and_key(self, adapter, keyed, tmp_path):
        needs(adapter, "names")
        text = " ".join(WORDS)
        records = [{"id": "1", "text": text}, {"id": "2", "text": text}]
        records += [{"id": "1", "text": f"{text} {text}"}]
        renamed = [{"id": r["id"], "other": r["text"]} for r in records]
        path = tmp_path / "another.key"
        path.write_bytes(KEYS["b"])
        path.chmod(0o600)
        found = [
            *adapter.run(records, keyed),
            *adapter.run(renamed, changed(keyed, column="other")),
            *adapter.run(records, changed(keyed, key_path=path)),
        ]
        assert len({text[:200] for text in found}) == 9

    @pytest.mark.slow("every way in, several times")
    def test_keys_and_fresh_noise_do_not_mix_in_one_process(
        self, adapter, keyed, tmp_path
    ):
        records = [{"id": str(i), "text": " ".join(WORDS)} for i in range(3)]
        path = tmp_path / "another.key"
        path.write_bytes(KEYS["b"])
        path.chmod(0o600)
        other, fresh = changed(keyed, key_path=path), Job(keyed.spec)
        jobs = (keyed, fresh, other, keyed, fresh, other)
        found = [adapter.run(records, job) for job in jobs]
        assert found[0] == found[3] == by_the_library(records, keyed)
        assert found[2] == found[5] == by_the_library(records, other)
        assert found[0] != found[2]
        assert len({*found[1], *found[4], *found[0]}) == 9

    def test_a_renamed_column_repeats_its_release_under_its_old_name(
        self, adapter, keyed
    ):
        needs(adapter, "names")
        records = [{"id": i, "text": text} for i, text in enumerate(TEXTS)]
        renamed = [{"id": r["id"], "review": r["text"]} for r in records]
        job = changed(keyed, column="review", logical="text")
        assert adapter.run(renamed, job) == adapter.run(records, keyed)

    def test_a_plain_text_and_a_list_of_one_are_one_record(self, adapter, keyed):
        needs(adapter, "lists")
        records = [{"id": str(i), "text": text} for i, text in enumerate(TEXTS)]
        listed = [{"id": r["id"], "text": [r["text"]]} for r in records]
        plain = adapter.run(records, keyed)
        assert [[text] for text in plain] == adapter.run(listed, keyed)

    def test_items_of_a_list_have_noise_by_their_place(self, adapter, keyed):
        needs(adapter, "lists")
        text = " ".join(WORDS)
        records = [{"id": "1", "text": [text, text]}, {"id": "2", "text": [text] * 3}]
        first, second = adapter.run(records, keyed)
        assert len({*first, *second}) == 5
        assert adapter.run(records[1:], keyed) == [second]
        assert [first, second] == by_the_library(records, keyed)

    def test_what_lies_in_objects_is_reached_by_its_path(self, adapter, keyed):
        needs(adapter, "paths")
        plain = [{"id": str(i), "text": text} for i, text in enumerate(TEXTS)]
        inner = [{"id": r["id"], "msg": {"body": r["text"], "n": 1}} for r in plain]
        job = changed(keyed, column="msg.body", logical="text")
        assert adapter.run(inner, job) == adapter.run(plain, keyed)

    def test_texts_of_objects_in_lists_are_counted_without_the_absent(
        self, adapter, keyed
    ):
        needs(adapter, "paths", "lists")
        records = [
            {"id": "1", "msgs": [{"body": t} for t in ("bad dad", None, "bad dad")]},
            {"id": "2", "msgs": [{"body": "bad dad"}]},
        ]
        job = changed(keyed, column="msgs.body", logical="text")
        without = [
            {"id": "1", "text": ["bad dad", "bad dad"]},
            {"id": "2", "text": ["bad dad"]},
        ]
        expected = by_the_library(without, keyed)
        expected[0].insert(1, None)
        assert adapter.run(records, job) == expected

    # Ids

    def test_an_integer_and_its_digits_are_one_id(self, adapter, keyed):
        needs(adapter, "integers")
        numbers = [0, 7, -12, 2**40]
        records = [{"id": i, "text": " ".join(WORDS)} for i in numbers]
        named = [{"id": str(i), "text": " ".join(WORDS)} for i in numbers]
        assert adapter.run(records, keyed) == adapter.run(named, keyed)

    @pytest.mark.parametrize("bad", [7.0, 1.5, True, None], ids=repr)
    def test_an_id_of_another_type_is_refused(self, adapter, keyed, bad):
        needs(adapter, "types")
        refused(adapter, [{"id": bad, "text": CANARY}], keyed)

    @pytest.mark.slow("every way in, with every kind of record")
    def test_two_records_of_one_id_and_text_repeat_each_other_or_are_refused(
        self, adapter, keyed
    ):
        # 160 to the 6th releases: two of 2,500 are one once in five million keys.
        text = " ".join(WORDS[:6])
        records = [{"id": str(i % 2500), "text": text} for i in range(2501)]
        found = adapter.run(records, keyed)
        assert len(set(found)) == 2500
        assert found[0] == found[2500]
        needs(adapter, "unique")
        unique = changed(keyed, unique_ids=True)
        assert "2501" in refused(adapter, records, unique)
        assert adapter.run(records[1:], unique) == found[1:]

    # The promise

    def test_the_guarantee_travels_with_the_data(self, adapter, job):
        if adapter.promises is None:
            pytest.skip("has no room for a guarantee")
        records = [{"id": "1", "text": CANARY}]
        (entry,) = adapter.promises(records, job)
        expected = mg.Privatizer.from_dict(job.spec).guarantee
        assert entry["column"] == "text"
        assert mg.Guarantee.from_dict(entry["guarantee"]) == expected
        assert CANARY not in str(entry)

    # Bad input

    def test_a_column_that_is_missing_is_named_and_nothing_else(self, adapter, job):
        needs(adapter, "names")
        records = [{"id": CANARY, "text": CANARY}]
        assert "absent" in refused(adapter, records, changed(job, column="absent"))

    def test_ids_that_are_missing_are_refused(self, adapter, keyed):
        needs(adapter, "names")
        records = [{"id": CANARY, "text": CANARY}]
        refused(adapter, records, changed(keyed, id_column="absent"))
        refused(adapter, records, changed(keyed, id_column=None))

    @pytest.mark.parametrize("bad", [7, 1.5, True, b"bad", {"a": CANARY}], ids=repr)
    def test_what_is_no_text_is_refused_without_being_quoted(self, adapter, job, bad):
        needs(adapter, "types")
        if isinstance(bad, bytes) and "bytes" in adapter.lacks:
            pytest.skip("has no bytes")
        records = [{"id": "1", "text": bad}]
        refused(adapter, records, job)

    def test_unknown_words_under_fail_stop_without_being_quoted(self, adapter, job):
        strict = Job({**job.spec, "unknown": "fail"})
        assert adapter.run([{"id": "1", "text": "bad"}], strict)
        refused(adapter, [{"id": "1", "text": f"bad {CANARY}"}], strict)


def needs(adapter: Adapter, *features: str) -> None:
    """Skip what the adapter cannot carry."""
    absent = adapter.lacks & set(features)
    if absent:
        pytest.skip(f"{adapter.name} has no {', '.join(absent)}")


def changed(job: Job, **fields: Any) -> Job:
    return Job(**{**vars(job), **fields})


def refused(adapter: Adapter, records: Records, job: Job) -> str:
    """Run what must fail; return what it says, which must hold no text."""
    with pytest.raises((MondegreenError, Refused)) as caught:
        adapter.run(records, job)
    shown = chain_of(caught.value)
    assert CANARY not in shown
    return shown


def by_the_library(records: Records, job: Job) -> list[Any]:
    """The releases by the simplest call, one list or text at a time."""
    p, found = job.privatizer(), []
    for record in records:
        value, column = record[job.column], job.logical or job.column
        if isinstance(value, list):
            array = pa.array([value], pa.list_(pa.string()))
            found += p.column(array, [record["id"]], column=column).to_pylist()
        else:
            found.append(p(value, id=record["id"], column=column).text)
    return found
