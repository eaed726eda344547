"""Presidio under the contract of all adapters."""

from __future__ import annotations

import pytest

pytest.importorskip("presidio_anonymizer")
from presidio_anonymizer import AnonymizerEngine
from presidio_anonymizer.entities import OperatorConfig, RecognizerResult

from contract.adapters import Adapter, AdapterContract, Refused
from mondegreen.integrations.presidio import PrivateTextOperator, privatize


def values(records, name):
    if any(name not in record for record in records):
        raise Refused(f"no column {name}")
    return [record[name] for record in records]


def whole(text):
    """Results of an analyzer that finds everything."""
    return [RecognizerResult("ALL", 0, len(text), 1.0)] if isinstance(text, str) else []


def by_function(**options):
    def run(records, job):
        texts = values(records, job.column)
        ids = None if job.id_column is None else values(records, job.id_column)
        column = job.logical or job.column
        results = [[] if options else whole(text) for text in texts]
        named = {"ids": ids, "column": column}
        return privatize(texts, results, job.privatizer(), **named, **options).text

    return run


def by_operator(records, job):
    engine = AnonymizerEngine()
    engine.add_anonymizer(PrivateTextOperator)
    config = {"DEFAULT": OperatorConfig("mondegreen", {"spec": job.spec})}
    return [
        engine.anonymize(text, whole(text), config).text
        for text in values(records, job.column)
    ]


PLAIN = frozenset({"lists", "paths", "unique"})


@pytest.mark.parametrize(
    "adapter",
    [
        pytest.param(Adapter("spans", by_function(), lacks=PLAIN), id="spans"),
        pytest.param(
            Adapter("rest", by_function(also_rest=True), lacks=PLAIN), id="rest"
        ),
        pytest.param(
            Adapter("operator", by_operator, lacks=PLAIN | {"ids", "nulls", "types"}),
            id="operator",
        ),
    ],
)
class TestPresidio(AdapterContract):
    """Texts that are found whole, or not at all."""
