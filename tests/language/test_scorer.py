import contextlib
import json

import numpy as np
import pytest
from corpora import SPACE, WORDS, counted, flat, sentences

from mondegreen.errors import LanguageError, OptionalDependencyError
from mondegreen.language import scorer as module
from mondegreen.language.ngrams import NGrams
from mondegreen.language.scorer import NGramScorer, TransformersScorer
from mondegreen.space.space import Space

SENTENCES = [["w3", "w4"], ["w0"], ["w9", "w2", "w2"], ["w1", "w2", "w3", "w4"]]


def test_trigrams_score_sentences_of_words():
    model = NGrams.from_counts(counted(sentences()), SPACE)
    found = NGramScorer(model, SPACE).log_probs([["w3", "never"], [], ["w0"]])
    wanted = model.sentence_log_probs(*flat([[3, len(WORDS)], [0]]))
    np.testing.assert_array_equal(found, [wanted[0], 0, wanted[1]])
    assert NGramScorer(model, SPACE).log_probs([]).shape == (0,)
    other = Space.from_arrays("other", WORDS[::-1], np.arange(12.0)[:, None])
    with pytest.raises(LanguageError, match="others"):
        NGramScorer(model, other)


@pytest.mark.parametrize("missing", ["torch", "transformers"])
def test_what_is_not_installed_is_named_with_how_to_install_it(monkeypatch, missing):
    def absent(name):
        if name == missing:
            raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(module.importlib, "import_module", absent)
    with pytest.raises(OptionalDependencyError, match=missing) as caught:
        TransformersScorer("anywhere")
    assert "pip install '.[transformers]'" in str(caught.value)


def tiny(folder, masked=False):
    """Save a small random model and a tokenizer of whole words."""
    torch = pytest.importorskip("torch", reason="the extra transformers is absent")
    transformers = pytest.importorskip(
        "transformers", reason="the extra transformers is absent"
    )
    from tokenizers import Tokenizer, models, pre_tokenizers

    names = ["<s>", "<mask>", "<unk>", *WORDS]
    words = models.WordLevel({n: i for i, n in enumerate(names)}, unk_token="<unk>")
    raw = Tokenizer(words)
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw, bos_token="<s>", mask_token="<mask>", unk_token="<unk>"
    )
    torch.manual_seed(0)
    sizes = {"vocab_size": len(names), "bos_token_id": 0, "eos_token_id": 0}
    if masked:
        size = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}
        config = transformers.BertConfig(**sizes, **size, num_attention_heads=2)
        model = transformers.BertForMaskedLM(config)
    else:
        config = transformers.GPT2Config(**sizes, n_embd=16, n_layer=2, n_head=2)
        model = transformers.GPT2LMHeadModel(config)
    for parameter in model.parameters():  # so that scores differ by more than noise
        parameter.data *= 3
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return torch, model.eval(), [[names.index(word) for word in s] for s in SENTENCES]


def test_a_causal_model_scores_each_token_behind_those_before_it(tmp_path):
    torch, model, rows = tiny(tmp_path)
    wanted = []
    for ids in rows:
        with torch.no_grad():
            logits = model(torch.tensor([[0, *ids]])).logits[0].double()
        logs = torch.log_softmax(logits, -1)
        wanted.append(sum(float(logs[i, token]) for i, token in enumerate(ids)))
    found = TransformersScorer(tmp_path).log_probs(SENTENCES)
    np.testing.assert_allclose(found, wanted, rtol=1e-4)
    assert len(set(found.round(3))) == len(SENTENCES)


def test_a_masked_model_scores_each_token_among_all_others(tmp_path):
    torch, model, rows = tiny(tmp_path, masked=True)
    wanted = []
    for ids in rows:
        score = 0.0
        for place, token in enumerate(ids):
            masked = [*ids[:place], 1, *ids[place + 1 :]]
            with torch.no_grad():
                logits = model(torch.tensor([masked])).logits[0, place].double()
            score += float(torch.log_softmax(logits, -1)[token])
        wanted.append(score)
    found = TransformersScorer(str(tmp_path)).log_probs(SENTENCES)
    np.testing.assert_allclose(found, wanted, rtol=1e-4)


def test_many_sentences_are_read_in_parts(tmp_path, monkeypatch):
    tiny(tmp_path)
    scorer = TransformersScorer(tmp_path)
    whole = scorer.log_probs(SENTENCES)
    monkeypatch.setattr(module, "_ROWS", 1)
    np.testing.assert_allclose(scorer.log_probs(SENTENCES), whole, rtol=1e-5)
    assert scorer.log_probs([[], ["w0"]])[0] == 0


def test_a_folder_without_such_a_model_is_refused_and_nothing_is_fetched(tmp_path):
    for name in ("torch", "transformers"):
        pytest.importorskip(name, reason="the extra transformers is absent")
    with pytest.raises(LanguageError, match="not the folder of a model"):
        TransformersScorer("gpt2")  # a name that a hub has is no folder
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(LanguageError, match="cannot be read"):
        TransformersScorer(tmp_path)
    tiny(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config["architectures"] = ["GPT2ForSequenceClassification"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(LanguageError, match="neither a causal nor a masked"):
        TransformersScorer(tmp_path)


@pytest.mark.parametrize("place", ["config.json", "tokenizer_config.json"])
def test_code_of_the_folder_never_runs_and_nobody_is_asked(
    tmp_path, monkeypatch, place
):
    tiny(tmp_path)
    ran = tmp_path / "ran"
    (tmp_path / "evil.py").write_text(f"open({str(ran)!r}, 'w')\n")
    path = tmp_path / place
    config = json.loads(path.read_text()) | {"model_type": "evil"}
    config["auto_map"] = {
        "AutoConfig": "evil.Config",
        "AutoModelForCausalLM": "evil.Model",
        "AutoTokenizer": ["evil.Tokenizer", None],
    }
    config["tokenizer_class"] = "EvilTokenizer"
    path.write_text(json.dumps(config))
    monkeypatch.setattr("builtins.input", lambda *_: "y")  # who types yes to all
    with contextlib.suppress(LanguageError):  # or the tokenizer is read without it
        TransformersScorer(tmp_path)
    assert not ran.exists()


def test_the_digest_of_a_folder_covers_every_file_below_it(tmp_path):
    tiny(tmp_path)

    def digest():
        return TransformersScorer(tmp_path).digest

    found = [digest()]
    below = tmp_path / "other" / "deep"
    below.mkdir(parents=True)
    assert digest() == found[0]  # a folder without files
    (below / "vocabulary.json").write_text("{}")
    found.append(digest())
    (below / "vocabulary.json").write_text('{"a": 1}')
    found.append(digest())
    (below / "vocabulary.json").rename(tmp_path / "other" / "vocabulary.json")
    found.append(digest())
    (tmp_path / ".hidden").write_text("")
    found.append(digest())
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").write_text("one")
    (tmp_path / "link").symlink_to(elsewhere)
    found.append(digest())
    (elsewhere / "file").write_text("two")
    found.append(digest())
    assert len(set(found)) == len(found)
    (tmp_path / "other" / "circle").symlink_to(tmp_path)
    assert digest() == found[-1]


def test_a_folder_judges_what_is_privatized(tmp_path):
    import mondegreen as mg

    tiny(tmp_path / "model")
    made = mg.Privatizer(
        mg.mechanism("tree", epsilon=10.0),
        noise=mg.Seeded(1),
        read="sentence",
        language=tmp_path / "model",
    )
    (release,) = made.batch(["The film was bad, and the end was worse."])
    assert len(release.spans) == 9
    assert "judge" not in release.text
    assert made.reading.judge.digest[:16] in str(made.guarantee)
    assert made.to_dict()["digests"]["language"] == made.reading.judge.digest
