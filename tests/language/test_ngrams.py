import hashlib
import io
import itertools
import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from corpora import BOUNDARY, SIZE, SPACE, UNKNOWN, WORDS, counted, flat, sentences

from mondegreen.errors import LanguageError, UnknownNameError
from mondegreen.language import store
from mondegreen.language.build import build_language, read_words
from mondegreen.language.coding import encode_values
from mondegreen.language.kneser_ney import estimate
from mondegreen.language.ngrams import NGrams
from mondegreen.language.store import load_language, save_language
from mondegreen.space.space import Space

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "language-format.md"
GRID = np.array(list(itertools.product(range(SIZE), repeat=3))).T
CORPUS = sentences()


@pytest.fixture(scope="module")
def model():
    about = {"sources": ["dice"], "licences": ["CC0 1.0"]}
    return NGrams.from_counts(counted(CORPUS), SPACE, **about)


@pytest.fixture
def path(model, tmp_path):
    path = tmp_path / "m.lm"
    save_language(model, path)
    return path


def test_rounding_changes_a_logarithm_by_half_a_step_at_most():
    values = np.random.default_rng(0).uniform(-11.3, -0.2, 5000)
    book, codes = encode_values(values)
    step = (values.max() - values.min()) / 254
    assert np.abs(book[codes] - values).max() <= step / 2 + 1e-6
    assert book[codes].max() <= 0
    for end in (0.0, 1.5):  # no back-off at all stays none
        book, codes = encode_values(np.array([-3.7, -1.0, 0.0, end]))
        assert book[codes[2]] == 0
    assert encode_values(np.zeros(0))[1].size == 0
    book, codes = encode_values(np.array([-2.5, -2.5]))
    assert book[codes].tolist() == [-2.5, -2.5]


@pytest.mark.parametrize("least", [1, 2, 4])
def test_a_rounded_model_sums_to_one_within_the_error_of_its_books(least):
    exact = estimate(counted(CORPUS), least)
    model = NGrams.from_counts(counted(CORPUS), SPACE, least=least)
    sums = np.exp(model.log_prob(*GRID)).reshape(-1, SIZE).sum(1)
    # A score is at most a triple, or gamma and a pair: two roundings of half a step.
    books = model.parts["books"].astype(float)
    error = sum(np.diff(book).max() / 2 for book in books) + 1e-6
    assert np.abs(np.log(sums)).max() <= error < 0.05
    gaps = np.abs(model.log_prob(*GRID) - exact.log_prob(*GRID))
    assert 0 < gaps.max() <= error


def test_arrays_have_the_names_and_shapes_that_decoders_count_on(model):
    pairs, triples = len(model.pair_words), len(model.triple_words)
    assert (model.vocab_size, model.boundary) == (len(WORDS), BOUNDARY)
    for name, length, kind in (
        ("frequency", SIZE - 1, np.float32),
        ("unigram_log", SIZE, np.float32),
        ("unigram_backoff", SIZE, np.float32),
        ("pair_starts", SIZE + 1, np.int64),
        ("pair_log", pairs, np.float32),
        ("pair_backoff", pairs, np.float32),
        ("triple_starts", pairs + 1, np.int64),
        ("triple_log", triples, np.float32),
    ):
        array = getattr(model, name)
        assert (len(array), array.dtype) == (length, kind), name
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    assert model.pair_words.dtype.kind == model.triple_words.dtype.kind == "u"


def test_a_sentence_has_the_product_of_its_words_and_its_end(model):
    corpus = [[3, 4, UNKNOWN], [5], [0, 1]]
    expected = []
    for sentence in corpus:
        chain = [BOUNDARY, BOUNDARY, *sentence, BOUNDARY]
        triples = zip(chain, chain[1:], chain[2:], strict=False)
        expected.append(sum(float(model.log_prob(*gram)) for gram in triples))
    found = model.sentence_log_probs(*flat(corpus))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    perplexity = model.perplexity(*flat(corpus))
    assert perplexity == pytest.approx(np.exp(-sum(expected) / (6 + 3)))
    assert model.sentence_log_probs(np.zeros(0, np.int32), []).shape == (0,)


def test_what_stands_before_a_boundary_does_not_matter(model):
    words = np.arange(SIZE)
    scores = [model.log_prob(u, BOUNDARY, words) for u in range(SIZE)]
    for other in scores[1:]:
        np.testing.assert_array_equal(scores[0], other)


def test_a_model_knows_its_own_kind_of_text(model):
    kind, noise = flat(sentences(seed=5)), flat([[0, 0, 0, 0, 0]] * 50)
    assert model.perplexity(*kind) < SIZE < model.perplexity(*noise)


def test_shapes_broadcast(model):
    found = model.log_prob(0, np.arange(3)[:, None], np.arange(4))
    assert found.shape == (3, 4)
    assert found[2, 3] == model.log_prob(0, 2, 3)


def test_a_file_holds_the_model(model, path):
    opened = NGrams.open(path)
    assert (opened.digest, opened.about) == (model.digest, model.about)
    assert opened.about.sources == ("dice",)
    assert opened.about.words == sum(map(len, CORPUS))
    np.testing.assert_array_equal(opened.log_prob(*GRID), model.log_prob(*GRID))
    again = io.BytesIO()
    opened.write(again)
    assert again.getvalue() == path.read_bytes()


def test_the_page_describes_what_is_written(model, path):
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        tensors = {name: file.get_tensor(name) for name in model.parts}
        assert set(file.keys()) == set(tensors)
        metadata = file.metadata()
    page = PAGE.read_text("utf-8")
    named = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert named == [*tensors, "format", "about", "digest"]
    assert set(metadata) == {"format", "about", "digest"}
    about = json.loads(metadata["about"])
    assert all(f"`{name}`" in page for name in about)
    assert f"`{metadata['format']}`" in page

    shapes = {name: [each.dtype.str, [*each.shape]] for name, each in tensors.items()}
    head = {"about": about, "format": metadata["format"], "parts": shapes}
    found = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
    for each in tensors.values():
        found.update(each.tobytes())
    assert found.hexdigest() == metadata["digest"] == model.digest
    words = hashlib.sha256("\n".join(WORDS).encode()).hexdigest()
    assert about["vocabulary"] == words
    np.testing.assert_array_equal(
        tensors["books"][2][tensors["triple_log"]], model.triple_log
    )


@pytest.mark.parametrize("from_file", [False, True])
def test_a_model_travels(model, path, from_file):
    sent = NGrams.open(path) if from_file else model
    data = pickle.dumps(sent)
    assert (len(data) < 1000) == from_file
    arrived = pickle.loads(data)
    assert arrived.digest == model.digest
    np.testing.assert_array_equal(arrived.log_prob(*GRID), model.log_prob(*GRID))


def test_a_model_that_travels_by_path_must_stay_the_same(model, path):
    data = pickle.dumps(NGrams.open(path))
    other = NGrams.from_counts(counted(sentences(seed=9)), SPACE)
    save_language(other, path, force=True)
    with pytest.raises(LanguageError, match="not the language model"):
        pickle.loads(data)


def test_a_changed_byte_is_found_wherever_it_is(path):
    data, rng = path.read_bytes(), np.random.default_rng(0)
    places = {*range(0, 40), *rng.integers(len(data), size=200).tolist()}
    for place in places:
        changed = bytearray(data)
        changed[place] ^= 1 << int(rng.integers(7))
        path.write_bytes(changed)
        with pytest.raises(LanguageError, match=re.escape(str(path))):
            NGrams.open(path)


@pytest.mark.parametrize("share", [0, 0.0001, 0.01, 0.5, 0.999])
def test_a_truncated_file_is_refused(path, share):
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(LanguageError, match="not a language model"):
        NGrams.open(path)


def test_other_files_are_refused(path, tmp_path):
    with pytest.raises(LanguageError, match="cannot be read"):
        NGrams.open(tmp_path / "none.lm")
    path.write_text("just text, and more of it")
    with pytest.raises(LanguageError, match="not a language model"):
        NGrams.open(path)
    from mondegreen.space.store import save_space

    save_space(SPACE, tmp_path / "space.lm")
    with pytest.raises(LanguageError, match="another format"):
        NGrams.open(tmp_path / "space.lm")


def forged(model, path, **changes):
    """Write a file whose digest fits what it holds, whatever that is."""
    from mondegreen.language import ngrams

    parts = {**model.parts, **changes}
    digest = ngrams._digest(model.about, parts)
    made = NGrams.__new__(NGrams)
    for name, value in (("about", model.about), ("digest", digest), ("parts", parts)):
        object.__setattr__(made, name, value)
    save_language(made, path, force=True)


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("pair_words", lambda a: a[::-1].copy()),
        ("pair_words", lambda a: np.where(a == a.max(), 200, a).astype(a.dtype)),
        ("triple_words", lambda a: np.zeros_like(a)),
        ("triple_words", lambda a: a[:-1]),
        ("pair_counts", lambda a: a + np.eye(len(a), dtype=a.dtype)[0]),
        ("triple_counts", lambda a: a[:-1]),
        ("triple_counts", lambda a: a + np.eye(len(a), dtype=a.dtype)[-1]),
        ("books", lambda a: np.full_like(a, np.nan)),
        ("books", lambda a: a[:2]),
        ("unigram_log", lambda a: a[:-1]),
        ("unigram_backoff", lambda a: np.full_like(a, -np.inf)),
        ("frequency", lambda a: a[:-1]),
        ("frequency", lambda a: np.zeros_like(a)),
        ("pair_log", lambda a: a[:-1]),
        ("triple_log", lambda a: np.concatenate([a, a])),
    ],
)
def test_a_forged_file_is_refused_before_it_is_used(model, path, part, change):
    forged(model, path, **{part: change(model.parts[part])})
    with pytest.raises(LanguageError, match="not a language model"):
        NGrams.open(path)


def test_a_forged_description_is_refused(model, path):
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    for key, value in (("least", "three"), ("sources", [1]), ("words", True)):
        about = json.loads(header["__metadata__"]["about"]) | {key: value}
        made = {**header, "__metadata__": {**header["__metadata__"]}}
        made["__metadata__"]["about"] = json.dumps(about)
        text = json.dumps(made).encode()
        path.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + size :])
        with pytest.raises(LanguageError, match="not a language model"):
            NGrams.open(path)


def test_a_space_with_other_words_is_refused(model):
    model.check_space(SPACE)
    # The same words with other vectors, or a tree, are the same words.
    model.check_space(Space.from_arrays("same", WORDS, np.arange(24.0).reshape(12, 2)))
    other = Space.from_arrays("other", WORDS[::-1], np.arange(12.0)[:, None])
    with pytest.raises(LanguageError, match=r"'twelve'.*'other'"):
        model.check_space(other)


def test_what_was_left_out_cannot_be_read_from_the_file(tmp_path):
    rare = [[0, 1, 2], [0, 1, 2], [7, 8, 9]]  # twice, and once
    with_it, without = (
        NGrams.from_counts(counted(corpus), SPACE, least=2)
        for corpus in (rare, [[0, 1, 2], [0, 1, 2], [9, 7, 8]])
    )
    for model in (with_it, without):
        assert 7 not in model.pair_words
        assert len(model.triple_words) == 3
    # Which words stood in what was left out, and in which order, changes nothing.
    assert with_it.digest == without.digest


def test_texts_become_the_model_of_their_sentences():
    batches = [["W0 w1! w2.", None, ""], ["w9 other"]]
    corpus = [[0, 1], [2], [9, UNKNOWN]]
    built = build_language(batches, SPACE)
    assert built.digest == NGrams.from_counts(counted(corpus), SPACE).digest
    ids, ends = read_words(batches, SPACE)
    wanted = flat(corpus)
    assert (ids.tolist(), ends) == (wanted[0].tolist(), wanted[1])
    with pytest.raises(LanguageError, match="no words"):
        build_language([["..."], []], SPACE)


@pytest.mark.parametrize("corpus", [[[3]], [[0, 1]], sentences(count=5)])
@pytest.mark.parametrize("least", [1, 3, 1000])
def test_the_smallest_models_can_be_kept_too(tmp_path, corpus, least):
    model = NGrams.from_counts(counted(corpus), SPACE, least=least)
    save_language(model, tmp_path / "m.lm")
    opened = NGrams.open(tmp_path / "m.lm")
    assert opened.digest == model.digest
    if least == 1000:
        assert len(opened.pair_words) == len(opened.triple_words) == 0
    sums = np.exp(opened.log_prob(*GRID)).reshape(-1, SIZE).sum(1)
    np.testing.assert_allclose(sums, 1, atol=0.05)


def test_models_have_names(model, tmp_path, monkeypatch):
    monkeypatch.setenv("MONDEGREEN_HOME", str(tmp_path))
    assert store.language_names() == ["english"]
    (tmp_path / "languages").mkdir()
    save_language(model, tmp_path / "languages" / "dice.lm")
    assert store.language_names() == ["dice", "english"]
    assert load_language("dice").digest == model.digest
    assert load_language(tmp_path / "languages" / "dice.lm").digest == model.digest
    with pytest.raises(UnknownNameError, match="dice"):
        load_language("dise")
    with pytest.raises(LanguageError, match="exists"):
        save_language(model, tmp_path / "languages" / "dice.lm")


def test_equal_models_have_one_digest_and_others_another(model):
    again = NGrams.from_counts(
        counted(CORPUS), SPACE, sources=["dice"], licences=["CC0 1.0"]
    )
    assert again.digest == model.digest
    others = [
        NGrams.from_counts(counted(CORPUS), SPACE),
        NGrams.from_counts(counted(CORPUS[1:]), SPACE, sources=["dice"]),
    ]
    assert len({model.digest, *(each.digest for each in others)}) == 3
    assert len(model.digest) == len(hashlib.sha256().hexdigest())
