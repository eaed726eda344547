"""What the service answers."""

import json
import pickle

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
pytest.importorskip("prometheus_client")

from click.testing import CliRunner
from clients import CANARY

import mondegreen as mg
from mondegreen.cli.main import cli
from mondegreen.errors import ConfigurationError
from mondegreen.privatizer.build import build_privatizer
from mondegreen.serve.api_keys import ApiKeys
from mondegreen.serve.explained import explain_text
from mondegreen.serve.forms import ExplainAnswer
from mondegreen.serve.limits import Limits
from mondegreen.serve.service_settings import ServiceSettings
from mondegreen.settings import Settings
from strategies import WORDS


def test_texts_are_privatized_in_order_and_nulls_stay(serve):
    found = serve().privatize(f"{WORDS[0]} {CANARY}!", None, "", WORDS[1])
    assert found.status_code == 200
    first, null, empty, last = found.json()["texts"]
    assert (null, empty) == (None, "")
    assert set(first.rstrip("!").split()) <= set(WORDS)
    assert first.endswith("!")
    assert last in WORDS
    assert found.headers["cache-control"] == "no-store"


def test_no_texts_are_no_texts(serve):
    assert serve().privatize().json()["texts"] == []


def test_the_guarantee_is_that_of_the_privatizer(serve, privatizer):
    stated = serve().privatize(CANARY).json()["guarantee"]
    assert mg.Guarantee.from_dict(stated) == privatizer.guarantee


def test_keyed_noise_gives_what_the_command_gives(
    serve, privatizer, key_file, tmp_path, space_file
):
    texts = [" ".join(WORDS), f"{CANARY} bad", "", "Ünï 🐈 ①"]
    records = [{"id": i, "review": text} for i, text in enumerate(texts)]
    given, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    given.write_text("".join(json.dumps(each) + "\n" for each in records))
    command = ["privatize", str(given), "-o", str(output), "-q", "-c", "review"]
    command += ["-m", "tem", "-e", "0.01", "--space", space_file, "--read", "none"]
    command += ["--key-file", str(key_file), "--id", "id"]
    done = CliRunner().invoke(cli, command)
    assert done.exit_code == 0, done.output
    expected = [json.loads(line)["review"] for line in output.read_text().splitlines()]
    keyed = serve(privatizer.with_noise(mg.KeyedNoise.from_file(key_file)))
    found = keyed.privatize(*texts, ids=[0, 1, 2, "3"], column="review")
    assert found.json()["texts"] == expected
    assert keyed.privatize(*texts, ids=[0, 1, 2, 3]).json()["texts"] != expected


@pytest.mark.parametrize("ids", [["7"], None])
def test_ids_without_a_key_change_nothing(serve, ids):
    found = serve().privatize("bad " * 40, ids=ids), serve().privatize("bad " * 40)
    first, second = (each.json() for each in found)
    assert first["texts"] != second["texts"]
    assert "operating system" in str(first["guarantee"])


def test_an_id_that_is_null_is_refused(serve):
    found = serve().privatize("bad", ids=[None])
    assert found.status_code == 422
    assert "ids" in found.json()["error"]


def test_keyed_noise_without_ids_is_refused(serve, privatizer, key_file):
    keyed = serve(privatizer.with_noise(mg.KeyedNoise.from_file(key_file)))
    found = keyed.privatize(CANARY)
    assert found.status_code == 422
    assert "ids" in found.json()["error"]
    assert keyed.privatize(CANARY, ids=["a", "b"]).status_code == 422


def test_seeded_noise_is_refused(privatizer):
    with pytest.raises(ConfigurationError, match="seed"):
        ServiceSettings(privatizer.with_noise(mg.Seeded(1)))


def test_settings_go_to_other_processes_without_a_key(privatizer, key_file, api_keys):
    keyed = privatizer.with_noise(mg.KeyedNoise.from_file(key_file))
    sent = pickle.dumps(ServiceSettings(keyed, ApiKeys.from_file(api_keys)))
    assert bytes(range(32)) not in sent
    assert b"b" * 40 not in sent
    found = pickle.loads(sent)
    assert found.api_keys.number(b"b" * 40) == 1
    assert found.privatizer.noise == keyed.noise
    assert "first-key" not in repr(found)
    with pytest.raises(ConfigurationError, match="privatizer"):
        ServiceSettings(privatizer.to_dict())


@pytest.mark.parametrize("name", ["body", "texts", "words", "seconds", "concurrent"])
def test_a_limit_is_a_positive_number(name):
    for bad in (0, -1, float("inf"), float("nan"), True):
        with pytest.raises(ConfigurationError, match=name):
            Limits(**{name: bad})


def test_a_word_is_explained_as_by_the_command(serve, space_file):
    found = serve().post("/v1/explain", {"word": WORDS[3]}).json()
    command = ["explain", WORDS[3], "-m", "tem", "-e", "0.01", "--space", space_file]
    shown = json.loads(CliRunner().invoke(cli, [*command, "--json", "-q"]).output)
    assert found.pop("is_kept") is False
    assert found.pop("guarantee") == shown["guarantee"]
    assert found == {name: shown[name] for name in found}
    assert "outputs" in found


@pytest.mark.parametrize("word", ["Anna", "the", "May", "12", "zyxgh"])
def test_every_field_of_an_explanation_is_described(serve, word):
    """The model allows no other fields; docs/reference/http.md is made from it."""
    client = serve(build_privatizer(Settings(epsilon=12.0)))
    found = client.post("/v1/explain", {"word": word})
    ExplainAnswer.model_validate(found.json())


@pytest.mark.parametrize("law", ["tem", "cmp", "tree"])
def test_every_field_of_an_explanation_of_a_law_is_described(space_file, law):
    space = None if law == "tree" else mg.load_space(space_file)
    word = "good" if law == "tree" else WORDS[3]
    privatizer = mg.Privatizer(mg.mechanism(law, epsilon=1.0), space)
    ExplainAnswer.model_validate(explain_text(privatizer, word))


def test_a_kept_word_passes_in_clear(serve, space_file):
    law = mg.mechanism("tem", epsilon=1.0)
    kept = mg.Privatizer(law, mg.load_space(space_file), keep=["Oslo"])
    found = serve(kept).post("/v1/explain", {"word": "oslo"}).json()
    assert found == {"is_kept": True, "guarantee": None, "stay": 1.0}


@pytest.mark.parametrize("bad", ["", "two words", "!", "a" * 201])
def test_what_is_not_one_word_is_not_explained(serve, bad):
    assert serve().post("/v1/explain", {"word": bad}).status_code == 422


def test_it_says_that_it_lives_and_is_ready(serve, privatizer, key_file):
    for client in (
        serve(),
        serve(privatizer.with_noise(mg.KeyedNoise.from_file(key_file))),
    ):
        assert client.get("/healthz").json() == {"status": "ok"}
        assert client.get("/readyz").json() == {"status": "ready"}


def test_it_describes_itself(serve):
    found = serve().get("/openapi.json").json()
    paths = {"/v1/privatize", "/v1/explain", "/v1/settings"}
    paths |= {"/v1/restore", "/v1/conversations/{token}"}
    paths |= {"/healthz", "/readyz", "/metrics"}
    assert set(found["paths"]) == paths
    posted = found["paths"]["/v1/privatize"]["post"]
    schema = posted["requestBody"]["content"]["application/json"]["schema"]
    names = {"texts", "ids", "column", "scope", "conversation"}
    assert set(schema["properties"]) == names
    assert "$defs" not in schema
    assert "422" not in posted["responses"]


def test_to_say_that_it_is_ready_counts_as_no_work(serve):
    client = serve()
    assert client.get("/readyz").is_success
    found = client.get("/metrics").text
    assert "mondegreen_words_total 0.0" in found
    assert "mondegreen_texts_total 0.0" in found
    assert "mondegreen_batch_texts_count 0.0" in found


def test_refusals_are_counted_by_reason(serve):
    limits = Limits(body=200, texts=2, rate=1e-9)
    client = serve(limits=limits, api_keys=ApiKeys([b"first-key", b"b" * 20]))
    key = {"authorization": "Bearer first-key"}
    other = {"authorization": f"Bearer {'b' * 20}"}
    client.get("/v1/privatize")
    client.get(f"/{CANARY}", headers=key)
    client.get("/metrics", headers=key)
    metrics = serve(limits=Limits(body=200, texts=2))
    metrics.get(f"/{CANARY}")
    metrics.get("/v1/privatize")
    metrics.privatize("bad " * 100)
    metrics.privatize("bad", "bad", "bad")
    metrics.post("/v1/privatize", b"{")
    metrics.privatize(3)
    metrics.post("/v1/privatize", b"", headers={"content-type": "text/plain"})
    once = "path method bytes texts body field media_type".split()
    assert refusals(metrics.get("/metrics").text) == dict.fromkeys(once, "1.0")
    found = client.get("/metrics", headers=other).text
    assert refusals(found) == {"key": "1.0", "path": "1.0", "rate": "1.0"}


def refusals(counts):
    name = 'mondegreen_refusals_total{reason="'
    rows = [row for row in counts.splitlines() if row.startswith(name)]
    return dict(row.removeprefix(name).split('"} ') for row in rows)


def test_an_unknown_path_and_a_wrong_method_say_where_to_look(serve):
    found = serve().get(f"/{CANARY}")
    assert found.status_code == 404
    assert found.json() == {"error": "Unknown path. See /openapi.json."}
    found = serve().get("/v1/privatize")
    assert (found.status_code, found.headers["allow"]) == (405, "POST")
    says = "Method not allowed. Use POST. See /openapi.json."
    assert found.json() == {"error": says}


def test_metrics_count_and_hold_no_text(serve):
    client = serve()
    client.privatize(f"{WORDS[0]} {CANARY}", WORDS[1])
    client.privatize(3)
    client.get(f"/{CANARY}")
    found = client.get("/metrics").text
    assert 'mondegreen_requests_total{path="/v1/privatize",status="200"} 1.0' in found
    assert 'mondegreen_requests_total{path="/v1/privatize",status="422"} 1.0' in found
    assert 'mondegreen_requests_total{path="other",status="404"} 1.0' in found
    assert "mondegreen_words_total 3.0" in found
    assert "mondegreen_texts_total 2.0" in found
    assert 'mondegreen_request_seconds_count{path="/v1/privatize"} 2.0' in found
    assert "mondegreen_batch_texts_count 1.0" in found
    assert CANARY not in found
