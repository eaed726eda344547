"""The certificate of context: the posterior that all sentences give, and no change."""

import itertools

import numpy as np
import pytest
from tests.attacks import small

import mondegreen as mg
from mondegreen.attacks.context import (
    ContextCertificate,
    certify_context,
    compute_hidden_posteriors,
    compute_word_posteriors,
    find_exposed_places,
)
from mondegreen.attacks.pairs import build_pairs
from mondegreen.attacks.posteriors import PolicyPosterior, Truth
from mondegreen.decode.channel import build_channel
from mondegreen.decode.decoder import Decoder
from mondegreen.decode.released import Released
from mondegreen.errors import ConfigurationError, DataError, InvalidParameterError
from mondegreen.language.build import build_language
from mondegreen.language.counts import Counter
from mondegreen.language.ngrams import NGrams
from mondegreen.policy.lexicon import parse_lexicon
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import Policy, load_policy
from mondegreen.policy.policy_file import write_policy_file
from mondegreen.sampling.integers import TOTAL
from mondegreen.space.space import WordSpace
from mondegreen.text.lookup import Lookup
from mondegreen.text.tokenizer import tokenize

ROUNDING = 0.02  # of sums of scores in steps of 1/1024 nat
WORDS = ("the", "feed", "take", "badger", "weasel", "otter", "pills", "syrup")
BODY = """[ordinary]
the feed take
[words animal s]
badger weasel otter
[words drug s]
pills syrup
"""
SENTENCES = ["feed the badger", "feed the otter", "take the pills", "the weasel"]
SENTENCES += ["take the syrup", "badger weasel take the syrup"]


def tiny_policy():
    lexicon = parse_lexicon(write_policy_file({"name": "tiny"}, BODY), "tiny")
    return Policy(lexicon, "tiny", hide_among=2)


def tiny_language(seed=0):
    """Trigrams over the tiny words, of sentences drawn with unequal chances."""
    rng = np.random.default_rng(seed)
    counter = Counter(len(WORDS))
    for _ in range(400):
        sentence = SENTENCES[int(rng.integers(len(SENTENCES)) * rng.random())]
        ids = np.array([WORDS.index(word) for word in sentence.split()], np.int32)
        counter.add(ids, [False] * (len(ids) - 1) + [True])
    return NGrams.from_counts(counter.finish(), WordSpace("tiny", WORDS))


def tiny(mechanism, epsilon):
    policy = tiny_policy()
    state = mg.mechanism(mechanism, epsilon=epsilon).prepare(policy.alphabet)
    language = tiny_language()
    return state, policy, PolicyPosterior(policy, state.response, language, WORDS)


def brute_law(state, policy):
    """P(symbol | word) of each word; the last one is the unknown word.

    A word has a capital with chance 0.02. The unknown word has the symbols that no word
    of the model has, and never strays.
    """
    find = PolicyLookup(policy).find_symbol
    small, large = (
        np.array([find(form) for form in forms], np.int32)
        for forms in (WORDS, [word.capitalize() for word in WORDS])
    )
    known = 0.98 * np.exp(state.log_prob(small)) + 0.02 * np.exp(state.log_prob(large))
    unknown = np.zeros(policy.alphabet.size)
    lacking = np.setdiff1d(np.arange(policy.alphabet.size), [small, large])
    unknown[lacking] = state.response.kept / TOTAL
    return np.vstack([known, unknown]), small


def brute_prior(language, length):
    """The chance of every sentence of so many words."""
    sentences = np.array(list(itertools.product(range(len(WORDS) + 1), repeat=length)))
    end = language.boundary
    chain = np.hstack(
        [
            np.full((len(sentences), 2), end),
            sentences,
            np.full((len(sentences), 1), end),
        ]
    )
    logs = sum(
        language.log_prob(chain[:, i], chain[:, i + 1], chain[:, i + 2])
        for i in range(length + 1)
    )
    return sentences, np.exp(logs)


def brute_posterior(law, sentences, prior, released, place):
    """The posterior of all words at a place, by the sum over all sentences."""
    joint = prior.copy()
    for i, symbol in enumerate(released):
        joint = joint * law[sentences[:, i], symbol]
    found = np.bincount(sentences[:, place], joint, len(WORDS) + 1)
    return found / found.sum()


@pytest.mark.slow(
    "cases of one sum",
    seconds=0.1,
    but=(
        "badger weasel syrup-3.0-urr",
        "feed the badger-0.5-krr",
        "take the pills-12.0-urr",
    ),
)
@pytest.mark.parametrize("mechanism", ["urr", "krr"])
@pytest.mark.parametrize("epsilon", [0.5, 3.0, 12.0])
@pytest.mark.parametrize(
    "text",
    ["feed the badger", "take the pills", "badger weasel syrup", "badger the pills"],
)
def test_the_posterior_is_that_of_all_sentences(mechanism, epsilon, text):
    state, policy, reader = tiny(mechanism, epsilon)
    law, symbols = brute_law(state, policy)
    truth = np.array([WORDS.index(word) for word in text.split()], np.int32)
    sentences, prior = brute_prior(tiny_language(), len(truth))
    rng = np.random.default_rng(1)
    inputs = symbols[truth]
    wanted = policy.alphabet.is_group(inputs)
    ends = np.arange(len(truth)) == len(truth) - 1
    for _ in range(6):
        released = state.sample(inputs, rng)
        found = reader.marginals(released, ends, Truth(truth, inputs), wanted)
        assert found
        for place, marginal in found.items():
            exact = brute_posterior(law, sentences, prior, released, place)
            for word in range(len(WORDS)):
                assert abs(marginal.posterior(word) - exact[word]) < ROUNDING


def test_places_that_certain_words_divide_are_independent():
    state, policy, reader = tiny("urr", 4.0)
    law, symbols = brute_law(state, policy)
    text = "badger the feed otter the".split()
    truth = np.array([WORDS.index(word) for word in text], np.int32)
    sentences, prior = brute_prior(tiny_language(), 5)
    inputs = symbols[truth]
    wanted = policy.alphabet.is_group(inputs)
    ends = np.arange(5) == 4
    found = reader.marginals(inputs, ends, Truth(truth, inputs), wanted)
    assert sorted(found) == [0, 3]
    for place, marginal in found.items():
        exact = brute_posterior(law, sentences, prior, inputs, place)
        assert abs(marginal.posterior(truth[place]) - exact[truth[place]]) < ROUNDING


def make_privatizer(monkeypatch, mechanism="urr", epsilon=3.0, **more):
    """Make a privatizer under the tiny policy, and let attackers know its words."""
    policy = tiny_policy()
    for module in ("privatizer.privatizer", "privatizer.build"):
        monkeypatch.setattr(f"mondegreen.{module}.find_policy", lambda _: policy)
    space = WordSpace("tiny", WORDS)
    monkeypatch.setattr("mondegreen.attacks.context.load_space", lambda _: space)
    law = mg.mechanism(mechanism, epsilon=epsilon)
    return mg.Privatizer(law, policy="sensitive", **more)


@pytest.mark.slow(
    "all releases; by default the posterior is that of all sentences", seconds=4
)
@pytest.mark.parametrize(
    ("text", "mechanism"),
    [
        ("badger weasel", "urr"),
        ("the syrup", "krr"),
        ("badger weasel", "krr"),
        ("the syrup", "urr"),
    ],
)
def test_the_expected_posterior_is_the_mean_over_all_releases(
    monkeypatch, text, mechanism
):
    privatizer = make_privatizer(monkeypatch, mechanism)
    state, policy = privatizer.state, privatizer.policy
    law, _ = brute_law(state, policy)
    truth = np.array([WORDS.index(word) for word in text.split()], np.int32)
    sentences, prior = brute_prior(tiny_language(), 2)
    exact = np.zeros(2)
    for released in itertools.product(range(policy.alphabet.size), repeat=2):
        chance = np.prod([law[w, z] for w, z in zip(truth, released, strict=True)])
        if chance:
            for i in range(2):
                found = brute_posterior(law, sentences, prior, released, i)
                exact[i] += chance * found[truth[i]]
    draws = 4000
    certificate = certify_context(
        text, privatizer, language=tiny_language(), draws=draws
    )
    assert certificate.places
    for place in certificate.places:
        # Six standard errors of a mean of numbers in [0, 1].
        far = abs(place.posterior - exact[place.word])
        assert far < ROUNDING + 6 * 0.5 / draws**0.5


def test_one_surrogate_in_a_record_lets_all_its_places_speak(monkeypatch):
    text = "feed the badger. badger weasel."
    found = {}
    for same in ("place", "record"):
        privatizer = make_privatizer(monkeypatch, epsilon=12.0, same=same)
        certificate = certify_context(text, privatizer, language=tiny_language())
        found[same] = [place.posterior for place in certificate.places]
    state, policy, _ = tiny("urr", 12.0)
    law, symbols = brute_law(state, policy)
    parts = []
    for sentence, place in (("feed the badger", 2), ("badger weasel", 0)):
        truth = [WORDS.index(word) for word in sentence.split()]
        sentences, prior = brute_prior(tiny_language(), len(truth))
        released = symbols[truth]
        parts.append(brute_posterior(law, sentences, prior, released, place))
    own = law[:, symbols[WORDS.index("badger")]]
    joined = parts[0][:-1] * parts[1][:-1] / own[:-1]
    joined = joined[WORDS.index("badger")] / joined.sum()
    assert found["record"][0] == found["record"][1]
    assert abs(found["record"][0] - joined) < ROUNDING
    assert abs(found["place"][0] - found["place"][1]) > ROUNDING


# --- places of the shipped policy


TEXT = "We flew to the United States of America with Ann Smith in the rain."


def make_shipped(**more):
    return mg.Privatizer(mg.mechanism("urr", epsilon=12.0), **more)


def test_places_are_the_hidden_words_where_they_stand():
    certificate = certify_context([None, TEXT], make_shipped())
    shown = {TEXT[place.start : place.end] for place in certificate.places}
    assert {"United", "States", "America", "Ann", "Smith"} <= shown
    assert not {"the", "of", "with"} & shown
    assert {place.text for place in certificate.places} == {1}
    by_word = [TEXT.split()[place.word].strip(".") for place in certificate.places]
    assert by_word == [TEXT[place.start : place.end] for place in certificate.places]


def test_what_context_gives_away_is_exposed_and_what_it_does_not_is_not():
    exposed = find_exposed_places(TEXT, make_shipped())
    words = [TEXT[place.start : place.end] for place in exposed]
    assert {"United", "States"} <= set(words)
    assert "Smith" not in words
    posteriors = [place.posterior for place in exposed]
    assert posteriors == sorted(posteriors, reverse=True)
    assert min(posteriors) > 0.5
    assert max(posteriors) <= 1


def test_the_certificate_of_a_release_follows_its_symbols():
    privatizer = make_shipped()
    release = privatizer(TEXT)
    one = certify_context(TEXT, privatizer, releases=release)
    assert one == certify_context([TEXT], privatizer, releases=[release.text])
    assert one.is_of_release
    # At epsilon 12 symbols hardly ever change, so both are alike.
    before = certify_context(TEXT, privatizer)
    assert not before.is_of_release
    pairs = zip(one.places, before.places, strict=True)
    close = [abs(a.posterior - b.posterior) < 0.2 for a, b in pairs]
    assert np.mean(close) > 0.8


class NoNoise:
    """Noise that must not be drawn from."""

    is_secret = True

    def streams(self, batch):
        raise AssertionError("the certificate drew noise")

    def describe(self):
        return "none"


def test_it_changes_no_release_and_draws_no_noise():
    noise = mg.Seeded(5)
    plain = [mg.Privatizer(mg.mechanism("urr", epsilon=2.0), noise=noise)(TEXT).text]
    privatizer = mg.Privatizer(mg.mechanism("urr", epsilon=2.0), noise=mg.Seeded(5))
    assert find_exposed_places(TEXT, privatizer, above=0.0)
    plain.append(privatizer(TEXT).text)
    assert plain[0] == plain[1]
    silent = privatizer.with_noise(NoNoise())
    assert certify_context(TEXT, silent).places
    # Nor does it depend on the private text which symbol a word has.
    before = privatizer.lookup.codes(privatizer.lookup.cut([TEXT])).tolist()
    find_exposed_places(TEXT, privatizer)
    assert privatizer.lookup.codes(privatizer.lookup.cut([TEXT])).tolist() == before


def test_the_same_texts_have_the_same_certificate():
    first, second = (certify_context(TEXT, make_shipped()) for _ in range(2))
    assert first == second


def test_counts_hold_no_places_and_no_text():
    certificate = certify_context(TEXT, make_shipped())
    counts = certificate.to_dict()
    assert counts["hidden_words"] == len(certificate.places)
    assert counts["exposed"] == len(certificate.find_exposed())
    assert (
        sum(each["hidden_words"] for each in counts["by_class"].values())
        == (counts["hidden_words"])
    )
    for word in ("States", "Ann", "start"):
        assert word not in f"{counts}{certificate!r}"


@pytest.mark.parametrize("texts", ["", "...", [None], [], "the", "\ud800 zebra"])
def test_texts_without_hidden_words_have_a_certificate(texts):
    found = certify_context(texts, make_shipped())
    assert found.to_dict()["exposed"] == 0


@pytest.mark.slow("certificates of four settings")
def test_a_detector_and_amounts_have_a_certificate():
    def find_rain(text):
        class Span:
            start, end = text.index("rain"), text.index("rain") + 4
            entity_type, score = "SHIP", 0.9

        return [Span]

    found = certify_context(TEXT, make_shipped().with_detector(find_rain, "rain 1"))
    assert TEXT.index("rain") in {place.start for place in found.places}
    text = "It cost $ 400 in Ohio."
    for numbers in ("hide", "near", "plain"):
        found = certify_context(text, make_shipped(numbers=numbers))
        shown = [text[place.start : place.end] for place in found.places]
        assert ("400" in shown) == (numbers == "hide")
        assert "Ohio" in shown


def test_what_cannot_be_certified_is_refused():
    privatizer = make_shipped()
    with pytest.raises(InvalidParameterError):
        certify_context(TEXT, privatizer, draws=0)
    with pytest.raises(DataError):
        certify_context(TEXT, privatizer, releases="Three other words.")
    empty = ContextCertificate((), 0, 0, is_of_release=False)
    for wrong in (-0.1, 1.0, float("nan")):
        with pytest.raises(InvalidParameterError):
            empty.find_exposed(wrong)
    law = mg.mechanism("tree", epsilon=10.0)
    read = mg.Privatizer(law, read="words")
    with pytest.raises(ConfigurationError):
        certify_context(TEXT, read, releases=read(TEXT))


# --- a space


def test_printed_words_that_the_tokenizer_would_cut_are_words():
    """Eleven words of the shipped space hold a no-break space, and can be drawn."""
    law = mg.Privatizer(mg.mechanism("tree", epsilon=10.0), read="none")
    text = "I met Ann in Oslo."
    for word in ("contact\u00a0name@domain.com", "At\u00a0\u00a0name@domain.com"):
        released = f"I met {word} in Bergen."
        found = certify_context(text, law, releases=released)
        assert len(found.places) == 2
        whole = certify_context(text, law, releases="I met Olga in Bergen.")
        assert [place.start for place in found.places] == [
            place.start for place in whole.places
        ]


def chained(count, seed):
    """Texts in which the next word is mostly that after the last one."""
    rng, texts = np.random.default_rng(seed), []
    for _ in range(count):
        ids = [int(rng.integers(small.SIZE))]
        while len(ids) < 6:
            ids.append((ids[-1] + (1 if rng.random() < 0.8 else 5)) % small.SIZE)
        texts.append(" ".join(small.WORDS[i] for i in ids) + ".")
    return texts


@pytest.fixture(scope="module")
def language():
    return build_language([chained(600, 0)], small.space())


@pytest.fixture(scope="module")
def pairs():
    return build_pairs(chained(200, 9), Lookup(small.space()))


def word_posteriors(pairs, language, chances):
    state = small.tree_state(chances)
    drawn = pairs.sample(state, np.random.default_rng(3))
    channel = build_channel(state, language.frequencies(), 24)
    decoder = Decoder(channel, language, beam=12)
    read = Released(drawn.outputs, drawn.ends)
    hits = decoder.guesses(read) == drawn.inputs
    return compute_word_posteriors(decoder, read, drawn.inputs), hits


def test_without_noise_every_word_is_certain(pairs, language):
    assert word_posteriors(pairs, language, small.EXACT)[0].min() > 0.99


def test_where_nothing_is_told_no_word_is_exposed(pairs, language):
    assert word_posteriors(pairs, language, small.NOTHING)[0].max() < 0.5


def test_a_word_above_one_half_is_guessed(pairs, language):
    posteriors, hits = word_posteriors(pairs, language, small.CHANCES)
    assert hits[posteriors > 0.5].all()
    assert not hits[posteriors < 0.04].any()
    # The posterior of the truth is on average that of guesses that are right.
    assert abs(posteriors.mean() - hits.mean()) < 0.2


@pytest.mark.slow("reads all words of the space")
def test_a_space_lists_the_sensitive_words_of_the_frozen_list():
    privatizer = mg.Privatizer(mg.mechanism("tree", epsilon=30.0))
    for releases in (None, privatizer(TEXT)):
        found = certify_context(TEXT, privatizer, releases=releases)
        shown = {TEXT[place.start : place.end] for place in found.places}
        assert {"Ann", "Smith", "America"} <= shown
        assert "the" not in shown
        assert {place.kind for place in found.places} >= {"first_name", "surname"}


def test_a_conversation_gives_away_what_its_words_do():
    """Of a text without noise: known phrases are given away, unknown names never."""
    policy = load_policy("names")
    batch = tokenize(["She moved to the United States of America with Zyxqo."])
    symbols = PolicyLookup(policy).codes(batch)
    found = compute_hidden_posteriors(policy, batch, symbols)
    hidden = policy.alphabet.is_group(symbols)
    assert hidden.any()
    assert (found[~hidden] == 0).all()
    assert found[-1] == 0
    assert found.max() > 0.5
