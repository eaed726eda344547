"""Searches of vector stores: what the server sees, and what the user gets."""

from __future__ import annotations

import json

import pytest

openai = pytest.importorskip("openai")
httpx = pytest.importorskip("httpx")
pytest.importorskip("uvicorn")

from click.testing import CliRunner  # noqa: E402
from language_model import WAIT, running  # noqa: E402
from starlette.applications import Starlette  # noqa: E402
from starlette.responses import JSONResponse, PlainTextResponse  # noqa: E402
from starlette.routing import Route  # noqa: E402

import mondegreen as mg  # noqa: E402
from mondegreen.cli.main import cli  # noqa: E402
from mondegreen.errors import InvalidParameterError  # noqa: E402
from mondegreen.prompts.conversation_guard import ConversationGuard  # noqa: E402
from mondegreen.prompts.guard import PromptGuard  # noqa: E402
from mondegreen.prompts.private_search import tf_idf_cosine  # noqa: E402
from mondegreen.prompts.store_search import SEARCH, StoreSearch  # noqa: E402
from mondegreen.serve.proxy import ProxySettings, create_proxy  # noqa: E402
from mondegreen.serve.searches import HEADER  # noqa: E402
from mondegreen.serve.upstream import Upstream  # noqa: E402

QUERY = "Does Okonkwo of Ibadan have gout in the big toe?"
PASSAGES = (
    "A letter to a landlord about the heating.",
    "Gout is a disease of joints, often of the big toe.",
    "Malacca is a town by the sea.",
    "Okonkwo wrote of Ibadan.",
    "Cats sleep all day.",
)
SETTINGS = StoreSearch(frozenset({"vs_docs", "vs_more"}), fetch=4)


class Store:
    """A vector store that returns its first passages, whatever it is asked."""

    def __init__(self):
        self.received, self.answer = [], None
        route = Route("/v1/vector_stores/{store}/search", self._serve, methods=["POST"])
        self.app = Starlette(routes=[route])

    async def _serve(self, request):
        body = await request.json()
        self.received.append((request.url.path, body, dict(request.headers)))
        if self.answer is not None:
            return self.answer
        return JSONResponse(page(PASSAGES[: body["max_num_results"]], body["query"]))


def page(passages, query=""):
    data = [
        {
            "file_id": f"file-{i}",
            "filename": f"{i}.txt",
            "score": 1 - i / 10,
            "attributes": {"year": 2020.0},
            "content": [{"type": "text", "text": text}],
        }
        for i, text in enumerate(passages)
    ]
    kind = "vector_store.search_results.page"
    return {
        "object": kind,
        "search_query": query,
        "data": data,
        "has_more": True,
        "next_page": "cursor",
    }


def build(kind, search=SETTINGS):
    if kind == "restoring":
        return ConversationGuard(search=search)
    words = "does have in the big toe gout of heating".split()
    space = mg.Space.from_arrays("search", words, [[i] for i in range(len(words))])
    privatizer = mg.Privatizer(mg.mechanism("tem", epsilon=1.0), space)
    return PromptGuard(privatizer, search=search)


@pytest.fixture(scope="module", params=["restoring", "noisy"])
def started(request):
    store = Store()
    with running(store.app) as upstream:
        settings = ProxySettings(build(request.param), Upstream(upstream))
        with running(create_proxy(settings)) as address:
            yield store, address


@pytest.fixture
def found(started):
    store, address = started
    store.received.clear()
    store.answer = None
    return store, address


def post(address, body, store="vs_docs"):
    where = f"{address}/vector_stores/{store}/search"
    return httpx.post(where, json=body, timeout=WAIT)


def test_an_unchanged_client_gets_the_order_of_its_true_question(found):
    store, address = found
    with openai.OpenAI(base_url=address, api_key="sk-one", max_retries=0) as client:
        results = client.vector_stores.search(
            "vs_docs", query=QUERY, max_num_results=2, rewrite_query=False
        ).data
    scores = tf_idf_cosine(QUERY, PASSAGES[:4])
    best = sorted(range(4), key=lambda i: -scores[i])[:2]
    assert best != [0, 1]
    assert [each.content[0].text for each in results] == [PASSAGES[i] for i in best]
    assert [each.score for each in results] == [scores[i] for i in best]
    assert [each.filename for each in results] == [f"{i}.txt" for i in best]
    ((path, body, headers),) = store.received
    assert path == "/v1/vector_stores/vs_docs/search"
    assert body.keys() == {"query", "rewrite_query", "max_num_results"}
    assert body["max_num_results"] == 4  # never what the client asked for
    assert headers["openai-beta"] == "assistants=v2"
    assert headers["authorization"] == "Bearer sk-one"
    for word in ("Okonkwo", "Ibadan"):
        assert word not in json.dumps(body)


def test_what_is_sent_does_not_depend_on_how_many_are_wanted(found):
    store, address = found
    counts = [
        len(post(address, {"query": "gout", **more}).json()["data"])
        for more in ({}, {"max_num_results": 1}, {"max_num_results": 50})
    ]
    assert counts == [4, 1, 4]
    assert len({body["max_num_results"] for _, body, _ in store.received}) == 1


def test_an_answer_says_that_a_choice_is_a_second_release(found):
    _, address = found
    answer = post(address, {"query": [QUERY, "gout"]})
    said = answer.json()
    assert answer.headers[HEADER] == "fetched=4; sorted=here; choosing=second-release"
    assert said["mondegreen"]["fetched"] == 4
    assert "second releases" in said["mondegreen"]["notice"]
    assert said["search_query"] == [QUERY, "gout"]
    assert said["has_more"] is False
    assert said["next_page"] is None


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"query": None},
        {"query": 5},
        {"query": [["gout"]]},
        {"query": "gout", "max_num_results": 0},
        {"query": "gout", "max_num_results": 5551234},
        {"query": "gout", "filters": {"type": "eq", "key": "name", "value": "Ann"}},
        {"query": "gout", "ranking_options": {"score_threshold": 0.5}},
        {"query": "gout", "ranking_options": {"ranker": "Okonkwo"}},
        {"query": "gout", "rewrite_query": "Okonkwo"},
        {"query": "gout", "user": "Okonkwo"},
    ],
)
def test_what_is_not_known_is_refused_and_not_repeated(found, body):
    store, address = found
    answer = post(address, body)
    assert answer.status_code == 400
    assert "Okonkwo" not in answer.text
    assert not store.received


@pytest.mark.parametrize(
    "name", ["vs_other", "Okonkwo", "..%2f..%2fmodels", "vs_docs%20"]
)
def test_only_declared_stores_are_searched(found, name):
    store, address = found
    answer = post(address, {"query": "gout"}, name)
    assert answer.status_code == 404
    assert "Okonkwo" not in answer.text
    assert not store.received


@pytest.mark.parametrize(
    "answer",
    [
        PlainTextResponse("Okonkwo"),
        JSONResponse(["Okonkwo"]),
        JSONResponse({"data": "Okonkwo"}),
        JSONResponse({"data": [{"text": "Okonkwo"}]}),
        JSONResponse(page(["Okonkwo"] * 5)),
    ],
)
def test_an_answer_of_another_kind_is_not_shown(found, answer):
    store, address = found
    store.answer = answer
    got = post(address, {"query": "gout"})
    assert got.status_code == 502
    assert "Okonkwo" not in got.text


def test_errors_of_the_server_pass_without_its_words(found):
    store, address = found
    store.answer = JSONResponse({"error": {"message": QUERY, "code": "gone"}}, 404)
    got = post(address, {"query": "gout"})
    assert got.status_code == 404
    assert got.json()["error"]["code"] == "gone"
    assert "Okonkwo" not in got.text


def test_empty_answers_and_questions_are_ordinary(found):
    store, address = found
    assert len(post(address, {"query": ""}).json()["data"]) == 4
    store.answer = JSONResponse(page([]))
    assert post(address, {"query": "gout"}).json()["data"] == []


@pytest.mark.parametrize("kind", ["restoring", "noisy"])
def test_without_declared_stores_nothing_changes(kind):
    guard = build(kind, None)
    assert "vector stores" not in json.dumps(str(guard.guarantee))
    with running(Store().app) as upstream:
        app = create_proxy(ProxySettings(guard, Upstream(upstream)))
        with running(app) as address:
            assert post(address, {"query": "gout"}).status_code == 404
    given = (guard.begin(),) if kind == "restoring" else ()
    with pytest.raises(mg.errors.PrivacyError):
        guard.request(SEARCH, {"query": "gout"}, *given)


@pytest.mark.parametrize("kind", ["restoring", "noisy"])
def test_the_guarantee_says_what_a_search_tells(kind):
    many = StoreSearch(frozenset("abcd"))
    stated = str(build(kind, many).guarantee)
    assert "which of 4 vector stores is searched (2 bits)" in stated
    one = str(build(kind, StoreSearch(frozenset("a"))).guarantee)
    assert "which of" not in one.partition("searches:")[2]
    assert "second release" in stated


@pytest.mark.parametrize(
    "given", [{"stores": {"a b"}}, {"stores": {""}}, {"stores": {"a"}, "fetch": 0}]
)
def test_settings_must_be_possible(given):
    with pytest.raises(InvalidParameterError):
        StoreSearch(**given)


def test_the_command_takes_stores(monkeypatch):
    made = []
    monkeypatch.setattr("mondegreen.serve.server.run", lambda app, *_: made.append(app))
    told = ["proxy", "--upstream", "http://127.0.0.1:9/v1", "--vector-store", "vs_1"]
    done = CliRunner().invoke(cli, [*told, "--fetch", "20", "--quiet"])
    assert done.exit_code == 0, done.output
    assert made[0].args[0].guard.search == StoreSearch(frozenset({"vs_1"}), 20)
    bad = CliRunner().invoke(cli, [*told[:-1], "a/b"])
    assert bad.exit_code == 2
