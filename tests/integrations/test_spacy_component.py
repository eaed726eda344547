"""The component of spaCy: what it writes, what it keeps, and what it refuses."""

from __future__ import annotations

import inspect
import json
import pickle

import pytest

import mondegreen as mg

pytest.importorskip("spacy")
import spacy
from spacy.tokens import DocBin

from mondegreen.errors import ConfigurationError, MondegreenError
from mondegreen.integrations import spacy as adapter
from mondegreen.passes import from_json

LONG = " ".join(["one two three four five"] * 6)
KEY = "MONDEGREEN_TEST_KEY"
FORKS = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")


def pipeline(**config):
    nlp = spacy.blank("en")
    nlp.add_pipe("mondegreen", config={"epsilon": 10.0, "policy": "all", **config})
    return nlp


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv(KEY, bytes(range(32)).hex())
    return KEY


def library(**options):
    return mg.Privatizer(mg.mechanism("tree", epsilon=10.0), **options)


def test_a_doc_gets_a_private_text_and_stays_what_it_is():
    given = f"{LONG}, zyxword  \n(Oslo)."
    doc = pipeline()(given)
    assert doc.text == given
    private = doc._.private_text
    assert len(private.split()) == len(given.split())
    assert private.endswith(").")
    assert "zyxword" not in private
    assert private[:60] != given[:60]


@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=FORKS)])
def test_many_docs_keep_their_order_and_share_no_noise(processes):
    nlp = pipeline(epsilon=1.0)
    texts = [f"{LONG}{', and' * i}" for i in range(30)]
    docs = list(nlp.pipe([*texts, *texts], batch_size=4, n_process=processes))
    assert [doc.text for doc in docs] == [*texts, *texts]
    counts = [doc._.private_text.count(",") for doc in docs]
    assert counts == [*range(30), *range(30)]
    assert len({doc._.private_text for doc in docs}) == 60


def test_without_the_component_there_is_no_private_text():
    assert spacy.blank("en")(LONG)._.private_text is None


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"epsilon": None}, "needs epsilon"),
        ({"epsilon": "much"}, "epsilon"),
        ({"unknown": "pass"}, "unknown"),
        ({"seed": 1}, "seed"),
        ({"noise": "none"}, "noise"),
        ({"spec": {"epsilon": 1.0}}, "epsilon"),
        ({"key_env": "ABSENT_KEY"}, "ABSENT_KEY"),
    ],
    ids=str,
)
def test_settings_are_checked_when_the_component_is_added(config, says):
    with pytest.raises((MondegreenError, ValueError), match=says):
        pipeline(**config)


def test_a_doc_is_privatized_once():
    nlp = pipeline()
    doc = nlp(LONG)
    first = doc._.private_text
    for again in (lambda: nlp(doc), lambda: list(nlp.pipe([doc]))):
        with pytest.raises(ConfigurationError, match="already has a private text"):
            again()
    assert doc._.private_text == first
    nlp.add_pipe("mondegreen", name="second", config={"epsilon": 1.0})
    with pytest.raises(ConfigurationError, match="already has a private text"):
        nlp(LONG)


def test_the_promise_is_in_the_meta_of_the_pipeline():
    nlp = pipeline(unknown="mask", keep=["oslo"])
    expected = library(unknown="mask", keep=["oslo"]).guarantee
    (found,) = from_json(json.dumps(nlp.meta["mondegreen"]))
    assert found.guarantee == expected == nlp.get_pipe("mondegreen").guarantee
    assert found.column == "text"


def test_an_unknown_word_that_is_refused_leaves_no_private_text():
    nlp = pipeline(unknown="fail")
    docs = [nlp.make_doc("a good film"), nlp.make_doc("a zyxword film")]
    with pytest.raises(MondegreenError) as caught:
        list(nlp.pipe(docs))
    assert "zyxword" not in str(caught.value)
    assert [doc._.private_text for doc in docs] == [None, None]


@FORKS
def test_a_worker_that_fails_does_not_quote_the_text():
    nlp = pipeline(unknown="fail")
    with pytest.raises(ValueError, match="outside the vocabulary") as caught:
        list(nlp.pipe(["a zyxword film"] * 4, n_process=2))
    assert "zyxword" not in str(caught.value)


# What is written and read again


def test_a_pipeline_on_disk_is_the_same_and_holds_no_key(key, tmp_path):
    nlp = pipeline(keep=["oslo"], key_env=key, column="note")
    nlp.to_disk(tmp_path)
    for path in tmp_path.rglob("*"):
        written = path.read_bytes() if path.is_file() else b""
        assert bytes(range(32)) not in written
        assert bytes(range(32)).hex().encode() not in written
    again = spacy.load(tmp_path)
    docs = [next(one.pipe([(LONG, "7")], as_tuples=True))[0] for one in (nlp, again)]
    assert docs[0]._.private_text == docs[1]._.private_text
    assert again.meta["mondegreen"] == nlp.meta["mondegreen"]
    assert (
        again.get_pipe("mondegreen").guarantee == nlp.get_pipe("mondegreen").guarantee
    )


def test_what_is_on_disk_is_what_holds_and_not_the_config(tmp_path):
    nlp = pipeline()
    spec = library(unknown="mask").to_dict()
    settings = {"spec": spec, "key_env": None, "column": "text"}
    nlp.get_pipe("mondegreen").from_bytes(json.dumps(settings).encode())
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert "[unk]" in again("a zyxword film")._.private_text
    assert again.get_pipe("mondegreen").guarantee == library(unknown="mask").guarantee
    assert from_json(json.dumps(again.meta["mondegreen"]))[0].guarantee == (
        library(unknown="mask").guarantee
    )


@pytest.mark.slow("a whole component")
def test_bytes_give_the_same_component():
    nlp = pipeline(unknown="drop")
    other = pipeline().from_bytes(nlp.to_bytes())
    assert (
        other.get_pipe("mondegreen").guarantee == nlp.get_pipe("mondegreen").guarantee
    )
    one = nlp.get_pipe("mondegreen")
    assert one.from_bytes(one.to_bytes()) is one
    copy = pickle.loads(pickle.dumps(one))
    assert copy.guarantee == one.guarantee


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"spec": {}}', b"\xff"], ids=str)
def test_bytes_that_are_no_settings_are_refused(data):
    with pytest.raises(ConfigurationError, match="not settings"):
        pipeline().get_pipe("mondegreen").from_bytes(data)


def test_a_spec_is_a_config_and_stays_one(tmp_path):
    p = mg.Privatizer(mg.mechanism("tree", epsilon=3.0), keep=["oslo"], case="truecase")
    nlp = pipeline(epsilon=None, policy=None, spec=p.to_dict())
    assert nlp.get_pipe("mondegreen").guarantee == p.guarantee
    nlp.to_disk(tmp_path)
    assert spacy.load(tmp_path).get_pipe("mondegreen").guarantee == p.guarantee


def test_another_space_than_on_disk_is_refused(tmp_path):
    nlp = pipeline()
    nlp.to_disk(tmp_path)
    path = tmp_path / "mondegreen" / "mondegreen.json"
    found = json.loads(path.read_text())
    found["spec"]["digests"]["space"] = "0" * 64
    path.write_text(json.dumps(found))
    with pytest.raises(MondegreenError, match="differs from"):
        spacy.load(tmp_path)


def test_a_pipeline_that_has_read_texts_would_write_their_words_and_is_refused(
    tmp_path,
):
    nlp = pipeline()
    nlp.to_disk(tmp_path / "before")
    with nlp.memory_zone():
        assert nlp("a zyxword film")._.private_text
    nlp.to_disk(tmp_path / "zone")
    nlp("a zyxword film")
    with pytest.raises(ConfigurationError, match="memory_zone"):
        nlp.to_disk(tmp_path / "after")
    with pytest.raises(ConfigurationError, match="memory_zone"):
        nlp.to_bytes()
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 8
    assert not any(b"zyxword" in each for each in written)
    assert b"zyxword" not in pickle.dumps(nlp.get_pipe("mondegreen"))
    other = spacy.blank("en")
    other("a zyxword film")
    other.to_disk(tmp_path / "without")  # what spaCy does by itself
    words = tmp_path / "without" / "vocab" / "strings.json"
    assert b"zyxword" in words.read_bytes()


def disabled(nlp):
    with nlp.select_pipes(disable=["mondegreen"]):
        nlp("a zyxword film")
    return nlp


def added_later(nlp):
    nlp("a zyxword film")
    nlp.add_pipe("mondegreen", name="again", config={"epsilon": 10.0})
    return nlp


def added_after_reading(_):
    nlp = spacy.blank("en")
    nlp("a zyxword film")
    nlp.add_pipe("mondegreen", config={"epsilon": 10.0})
    return nlp


def tokenized(nlp):
    nlp.make_doc("a zyxword film")
    return nlp


def shared(nlp):
    nlp("a zyxword film")
    other = type(nlp)(vocab=nlp.vocab)
    other.add_pipe("mondegreen", config={"epsilon": 10.0})
    return other


def in_processes(nlp):
    list(nlp.pipe(["a zyxword film"] * 4, n_process=2))
    return nlp


def copied(nlp):
    nlp("a zyxword film")
    return pickle.loads(pickle.dumps(nlp))


@pytest.mark.parametrize(
    "read",
    [
        *(disabled, added_later, added_after_reading, tokenized, shared, copied),
        pytest.param(in_processes, marks=FORKS),
    ],
)
def test_words_reach_no_bytes_however_they_were_read(read):
    with pytest.raises(ConfigurationError, match=r"outside its pipeline|memory_zone"):
        read(pipeline()).to_bytes()


def test_strings_of_the_components_and_of_a_loaded_model_may_be_written(tmp_path):
    model = spacy.blank("en")
    model("words of a model")
    model.to_disk(tmp_path / "model")
    nlp = spacy.load(tmp_path / "model")
    rules = [{"label": "RULE", "pattern": "Zyx Corpse", "id": "rule"}]
    nlp.add_pipe("entity_ruler").add_patterns(rules)
    nlp.add_pipe("ner").add_label("ZYXTYPE")
    nlp.tokenizer.add_special_case("zyxme", [{"ORTH": "zyx"}, {"ORTH": "me"}])
    nlp.add_pipe("mondegreen", config={"epsilon": 10.0})
    nlp.to_bytes()
    nlp.to_disk(tmp_path / "private")
    again = spacy.load(tmp_path / "private")
    again.to_bytes()
    again.make_doc("a zyxword film")
    with pytest.raises(ConfigurationError, match="memory_zone"):
        again.to_bytes()


def test_docs_that_are_stored_keep_their_private_text():
    nlp = pipeline()
    doc = nlp(LONG)
    stored = DocBin(store_user_data=True)
    stored.add(doc)
    (found,) = DocBin().from_bytes(stored.to_bytes()).get_docs(nlp.vocab)
    assert found._.private_text == doc._.private_text
    assert LONG.split()[0].encode() in doc.to_bytes()  # the page says so


# Keys


@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=FORKS)])
def test_contexts_are_ids_under_a_key(key, processes):
    nlp = pipeline(key_env=key, column="note")
    pairs = [(f"{LONG} {LONG}", str(i)) for i in range(6)]
    found = nlp.pipe(pairs, as_tuples=True, n_process=processes, batch_size=2)
    released = [(doc._.private_text, context) for doc, context in found]
    p = library(noise=mg.KeyedNoise.from_env(key))
    expected = [(str(p(t, id=i, column="note")), i) for t, i in pairs]
    assert released == expected
    assert len({text for text, _ in released}) == 6


def test_an_id_of_the_doc_comes_before_the_context(key):
    nlp = pipeline(key_env=key)
    doc = nlp.make_doc(LONG)
    doc._.record_id = 7
    ((found, _),) = nlp.pipe([(doc, {"label": 1})], as_tuples=True)
    p = library(noise=mg.KeyedNoise.from_env(key))
    assert found._.private_text == str(p(LONG, id="7"))


def test_two_ids_that_differ_are_refused(key):
    nlp = pipeline(key_env=key)

    def released(context):
        doc = nlp.make_doc(LONG)
        doc._.record_id = "7"
        ((found, _),) = nlp.pipe([(doc, context)], as_tuples=True)
        return found._.private_text

    assert released(7) == released("7") == released(None)
    with pytest.raises(ConfigurationError, match="two ids"):
        released("8")


@pytest.mark.parametrize("context", [None, 1.5, {"zyxword": 1}, ("zyxword",), True, ""])
def test_a_key_without_an_id_is_refused(key, context):
    nlp = pipeline(key_env=key)
    with pytest.raises(MondegreenError) as caught:
        list(nlp.pipe([("a zyxword film", context)], as_tuples=True))
    assert "zyxword" not in str(caught.value)
    with pytest.raises(ConfigurationError, match="record_id"):
        nlp("a film")


def test_every_option_of_a_privatizer_is_an_option_of_the_component():
    names = inspect.signature(adapter.make_private_text).parameters
    assert adapter.OPTIONS.keys() <= names.keys()


def test_ids_without_a_key_are_refused():
    nlp = pipeline()
    doc = nlp.make_doc("one two")
    doc._.record_id = "7"
    with pytest.raises(ConfigurationError, match="ids need keyed noise"):
        nlp(doc)
    assert doc._.private_text is None
