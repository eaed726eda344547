"""Guards of prompts, under the contract of all adapters."""

import pytest

from contract.adapters import Adapter, AdapterContract, Refused
from mondegreen.prompts.guard import PromptGuard

LACKS = "ids nulls lists paths integers types names unique".split()


def texts_in(records, job):
    if any(job.column not in record for record in records):
        raise Refused(f"no column {job.column}")
    return [record[job.column] for record in records]


def by_messages(records, job):
    """Every record is a message of one request."""
    said = [{"role": "user", "content": text} for text in texts_in(records, job)]
    body = {"model": "stub", "messages": said}
    made = PromptGuard(job.privatizer()).request("chat/completions", body)
    return [message["content"] for message in made["messages"]]


def by_embeddings(records, job):
    """Every record is a text of one request for vectors."""
    body = {"model": "stub", "input": texts_in(records, job)}
    return PromptGuard(job.privatizer()).request("embeddings", body)["input"]


def by_prompts(records, job):
    """Every record is a request of its own, with fresh noise."""
    guard = PromptGuard(job.privatizer(), fresh=True)
    return [
        guard.request("completions", {"model": "stub", "prompt": text})["prompt"]
        for text in texts_in(records, job)
    ]


GUARDS = {"messages": by_messages, "embeddings": by_embeddings, "prompts": by_prompts}


class TestGuards(AdapterContract):
    @pytest.fixture(params=GUARDS)
    def adapter(self, request):
        lacks = frozenset(LACKS)
        return Adapter(request.param, GUARDS[request.param], lacks=lacks)
