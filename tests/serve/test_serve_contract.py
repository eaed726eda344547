"""The service under the contract of all adapters."""

import json

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
pytest.importorskip("prometheus_client")

from clients import Client

from contract.adapters import Adapter, AdapterContract, Refused
from mondegreen.serve.app import create_app
from mondegreen.serve.service_settings import ServiceSettings

TEXTS = 2000


def answers(records, job):
    """Send the records in several requests, and return the answers."""
    if any(job.column not in record for record in records):
        raise Refused(f"no column {job.column}")
    if job.id_column and any(job.id_column not in record for record in records):
        raise Refused(f"no column {job.id_column}")
    client = Client(create_app(ServiceSettings(job.privatizer())))
    parts = [records[i : i + TEXTS] for i in range(0, len(records), TEXTS)] or [[]]
    try:
        return [answer(client, part, job) for part in parts]
    finally:
        client.app.state.batcher.close()


def answer(client, records, job):
    body = {"texts": [record[job.column] for record in records]}
    body["column"] = job.logical or job.column
    if job.id_column:
        body["ids"] = [record[job.id_column] for record in records]
    try:
        data = json.dumps(body).encode()
    except TypeError:
        raise Refused("no JSON") from None
    found = client.post("/v1/privatize", data)
    if not found.is_success:
        raise Refused(found.json()["error"])
    return found.json()


def texts(records, job):
    return [text for found in answers(records, job) for text in found["texts"]]


def promises(records, job):
    (found,) = answers(records, job)
    return [{"column": job.column, "guarantee": found["guarantee"]}]


class TestService(AdapterContract):
    """Records as JSON over HTTP; the names of columns are those of the caller."""

    @pytest.fixture
    def adapter(self):
        return Adapter("service", texts, promises, {"lists", "paths", "unique"})
