"""The service hides and restores conversations."""

from __future__ import annotations

import contextlib

import pytest

pytest.importorskip("fastapi")
from fastapi.testclient import TestClient

import mondegreen as mg
from mondegreen.prompts.conversation_file import ConversationFile
from mondegreen.prompts.conversation_guard import ConversationGuard
from mondegreen.serve.api_keys import ApiKeys
from mondegreen.serve.app import create_app
from mondegreen.serve.service_settings import ServiceSettings

KEYS = [b"key-one-aaaaaaaaaaaaaaaa", b"key-two-aaaaaaaaaaaaaaaa"]
SAID = "I am Okonkwo of Ibadan, on 07/05/1961."


@pytest.fixture(scope="module")
def privatizer():
    return mg.Privatizer(mg.mechanism("urr", epsilon=10.0), policy="names")


@pytest.fixture(scope="module")
def client(privatizer):
    guard = ConversationGuard()
    app = create_app(ServiceSettings(privatizer, ApiKeys(KEYS), conversations=guard))
    with TestClient(app) as found:
        yield found
    app.state.batcher.close()


def post(client, path, key=0, **body):
    head = {"x-api-key": KEYS[key].decode()}
    return client.post(f"/v1/{path}", json=body, headers=head)


def test_texts_are_hidden_and_restored(client):
    made = post(client, "privatize", texts=[SAID, None], scope="conversation").json()
    assert "Okonkwo" not in made["texts"][0]
    assert "1961" not in made["texts"][0]
    assert made["texts"][1] is None
    token = made["conversation"]
    more = {"scope": "conversation", "conversation": token}
    again = post(client, "privatize", texts=[SAID], **more).json()
    assert again["texts"][0] == made["texts"][0]
    shown = post(client, "restore", texts=made["texts"], conversation=token).json()
    assert shown == {"texts": [SAID, None]}
    name = made["texts"][0].split()[2]
    text = f'{{"a": "x\\n{name}"}}'
    shown = post(
        client, "restore", texts=[text], conversation=token, json_texts=True
    ).json()
    assert shown["texts"] == ['{"a": "x\\nOkonkwo"}']
    assert "the same" in " ".join(made["guarantee"]["lines"])


def test_a_file_keeps_conversations_over_a_restart(privatizer, tmp_path):
    guard, noise = ConversationGuard(), mg.KeyedNoise(bytes(range(32)))

    def ask(path, key=0, **body):
        with contextlib.closing(ConversationFile(tmp_path / "f", noise, guard)) as file:
            settings = ServiceSettings(
                privatizer,
                ApiKeys(KEYS),
                conversations=guard,
                conversation_file=file,
            )
            app = create_app(settings)
            with TestClient(app) as client:
                found = post(client, path, key, **body)
            app.state.batcher.close()
            return found

    made = ask("privatize", texts=[SAID], scope="conversation").json()
    back = {"texts": made["texts"], "conversation": made["conversation"]}
    assert ask("restore", **back).json() == {"texts": [SAID]}
    assert ask("restore", 1, **back).status_code == 404
    more = {"scope": "conversation", "conversation": made["conversation"]}
    assert ask("privatize", texts=[SAID], **more).json()["texts"] == made["texts"]


def test_a_conversation_is_of_one_key_and_ends(client):
    made = post(client, "privatize", texts=[SAID], scope="conversation").json()
    token = made["conversation"]
    body = {"texts": made["texts"], "conversation": token}
    assert post(client, "restore", 1, **body).status_code == 404
    path = f"/v1/conversations/{token}"
    other, own = ({"x-api-key": key.decode()} for key in reversed(KEYS))
    assert client.delete(path, headers=other).status_code == 404
    assert client.delete(path).status_code == 401
    assert client.delete(path, headers=own).status_code == 204
    assert post(client, "restore", **body).status_code == 404
    assert token not in client.get("/metrics", headers=own).text


@pytest.mark.parametrize(
    "body",
    [
        {"scope": "table"},
        {"conversation": "x"},
        {"scope": "conversation", "ids": [1]},
    ],
)
def test_what_does_not_go_together_is_refused(client, body):
    found = post(client, "privatize", texts=["a"], **body)
    assert found.status_code == 422
    assert "scope" in found.text


def test_an_unknown_token_is_an_error_and_no_new_conversation(client):
    more = {"scope": "conversation", "conversation": "mine"}
    found = post(client, "privatize", texts=[SAID], **more)
    assert found.status_code == 404
    assert "texts" not in found.json()
    said = found.json()["error"]
    assert said.startswith("Unknown or expired conversation. Nothing was released.")
    assert "without the field conversation" in said
    assert "header" not in said


def test_several_workers_have_no_conversations(privatizer):
    app = create_app(ServiceSettings(privatizer))
    with TestClient(app) as client:
        body = {"texts": [SAID], "scope": "conversation"}
        found = client.post("/v1/privatize", json=body)
        assert found.status_code == 422
        assert "--workers 1" in found.json()["error"]
    app.state.batcher.close()
