"""The component of spaCy under the contract of all adapters."""

from __future__ import annotations

import json
import os

import pytest

pytest.importorskip("spacy")
import spacy

from contract.adapters import Adapter, AdapterContract, Refused
from mondegreen.integrations import spacy as _component  # noqa: F401

VARIABLE = "MONDEGREEN_CONTRACT_KEY"


def pipeline(job):
    config = {"spec": job.spec, "column": job.logical or job.column}
    if job.key_path is not None:
        # The keys of the suite are of any length: this one is what 64 digits can say.
        key = job.key_path.read_bytes()[:32]
        job.key_path.write_bytes(key)
        os.environ[VARIABLE] = key.hex()
        config["key_env"] = VARIABLE
    nlp = spacy.blank("en")
    nlp.add_pipe("mondegreen", config=config)
    return nlp


def values(records, name):
    if any(name not in record for record in records):
        raise Refused(f"no column {name}")
    return [record[name] for record in records]


def by_pipe(records, job, **options):
    texts = values(records, job.column)
    ids = [None] * len(texts)
    if job.id_column is not None:
        ids = values(records, job.id_column)
    pairs = zip(texts, ids, strict=True)
    docs = pipeline(job).pipe(pairs, as_tuples=True, **options)
    return [doc._.private_text for doc, _ in docs]


def by_two_processes(records, job):
    try:
        size = max(1, len(records) // 4)
        return by_pipe(records, job, n_process=2, batch_size=size)
    except ValueError as error:  # spaCy tells what a worker raised in one of these
        raise Refused(str(error)) from error


def by_call(records, job):
    nlp = pipeline(job)
    ids = (
        [None] * len(records)
        if job.id_column is None
        else values(records, job.id_column)
    )
    found = []
    for text, record in zip(values(records, job.column), ids, strict=True):
        doc = nlp.make_doc(text)
        doc._.record_id = record
        found.append(nlp(doc)._.private_text)
    return found


def promises(records, job):
    return json.loads(json.dumps(pipeline(job).meta["mondegreen"]))


LACKS = frozenset({"nulls", "lists", "paths", "types", "unique"})


@pytest.mark.parametrize(
    "adapter",
    [
        pytest.param(Adapter("pipe", by_pipe, promises, LACKS), id="pipe"),
        pytest.param(Adapter("call", by_call, promises, LACKS), id="call"),
    ],
)
class TestSpacy(AdapterContract):
    """Docs in a pipeline, one by one and in batches."""


@pytest.mark.slow("starts processes for every test")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
class TestTwoProcesses(AdapterContract):
    """Docs that go to two processes and come back."""

    # Thousands of Docs, each packed twice; test_spacy_component.py has some dozens.
    test_order_is_kept = None
    test_two_records_of_one_id_and_text_repeat_each_other_or_are_refused = None

    @pytest.fixture
    def adapter(self):
        return Adapter("two processes", by_two_processes, promises, LACKS | {"empty"})
