"""The shipped lexicon: how it is built, and what its groups print and hide."""

import importlib.util
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from mondegreen.attacks.sensitive import is_counted, word_classes
from mondegreen.policy import lexicon as lexicon_module
from mondegreen.policy.lexicon import load_lexicon
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import HIDE_AMONG, load_policy
from mondegreen.text.never_printed import never_printed
from mondegreen.text.tokenizer import tokenize

ROOT = Path(__file__).parents[2]
MATERIAL = ROOT / "packaging" / "policy"
LEXICON = Path(lexicon_module.__file__).parent / "data" / "english.policy"
WORDNET = ROOT.parent / "shared" / "data" / "wordnet"

NUMBER_WORDS = (
    *("two to nine", "ten to ninety", "ordinal", "Roman"),
    *("hundred and more", "hundreds and more"),
)

SMALL = {
    **{("number_word", form): "a format, as digits are" for form in NUMBER_WORDS},
    ("time", "singular"): "months, days, seasons and four holidays",
    ("occupation", "noun without a plural"): "few nouns of family, work and study",
}
"""Groups of fewer words than others hide among, with the reason."""

CAP = 0.1
"""Share of a group's public frequency that one of its words may have."""

ABOVE_CAP = {
    ("education", "plural"): 0.67,  # students, in textbooks
    ("origin", "plural"): 0.58,  # Americans, in texts of the American government
    ("number_word", "Roman"): 0.55,  # II
    ("number_word", "ordinal"): 0.55,  # third
    ("number_word", "two to nine"): 0.44,  # two
    ("money", "plural"): 0.36,  # dollars
    ("number_word", "hundred and more"): 0.35,  # million
    ("education", "singular"): 0.35,  # student
    ("number_word", "hundreds and more"): 0.32,  # thousands
    ("health", "plural"): 0.25,  # symptoms
    ("occupation", "singular"): 0.25,  # doctor
    ("product", "plural"): 0.25,  # mutations, in texts on health
    ("origin", "singular"): 0.22,  # American
    ("number_word", "ten to ninety"): 0.22,  # ten
    ("crime", "plural"): 0.2,  # attacks
    ("home", "singular"): 0.19,  # boat
    ("rest", "verb, -s"): 0.19,  # clots
    ("place", "singular"): 0.18,  # York
    ("money", "singular"): 0.19,  # inheritance
    ("organization", "singular"): 0.17,  # Google
    ("body", "singular"): 0.17,  # blood
    ("family", "plural"): 0.16,  # parents
    ("politics", "singular"): 0.16,  # president
    ("people", "singular"): 0.15,  # adult
    ("people", "plural"): 0.14,  # adults
    ("food", "singular"): 0.14,  # latte
    ("people", "adjective"): 0.13,  # military
    ("place", "state or region"): 0.13,  # Washington
    ("occupation", "plural"): 0.13,  # researchers
    ("crime", "singular"): 0.13,  # attack
    ("health", "adjective of a field"): 0.12,  # genetic
    ("other_name", "singular"): 0.12,  # Chambers
    ("family", "singular"): 0.11,  # mother
    ("belief", "singular"): 0.11,  # church
    ("place", "country"): 0.11,  # America
}
"""Groups whose commonest word has more than the cap, and how much at most."""

ORIGINS = (
    "american arabic chinese french german indian japanese nigerian polish spanish"
).split()


@pytest.fixture(scope="module")
def policy():
    return load_policy("sensitive")


@pytest.fixture(scope="module")
def counts():
    """How often openly licensed text has each word."""
    lines = (MATERIAL / "case_counts.tsv").read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines)
    return {word: sum(map(int, numbers)) for word, *numbers in rows}


def kinds_of(policy):
    """Class, form and outputs of each group."""
    first = len(policy.ordinary)
    return [
        (policy.describe(first + place)[:2], group.words)
        for place, group in enumerate(policy.groups)
    ]


def symbol_of(policy, text, word):
    """The symbol of a word of a text."""
    batch = tokenize([text])
    return int(PolicyLookup(policy).codes(batch)[batch.words().index(word)])


def class_of(policy, text, word):
    return policy.describe(symbol_of(policy, text, word))[0]


def load_builder():
    path = MATERIAL / "build_lexicon.py"
    spec = importlib.util.spec_from_file_location("build_lexicon", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow("builds the lexicon")
def test_a_new_build_gives_the_shipped_bytes():
    if not WORDNET.is_dir():
        pytest.skip("the tables of WordNet are not here: ../shared/data/wordnet")
    assert load_builder().build_lexicon(WORDNET).encode() == LEXICON.read_bytes()


@pytest.mark.parametrize("name", ["sensitive", "names"])
def test_no_output_belongs_to_two_symbols(name):
    policy = load_policy(name)
    outputs = Counter(map(str.casefold, policy.ordinary))
    for group in policy.groups:
        outputs.update(map(str.casefold, group.words))
    assert [word for word, times in outputs.items() if times > 1] == []


@pytest.mark.parametrize("name", ["sensitive", "names"])
def test_no_group_prints_a_slur_or_an_obscenity(name):
    banned = never_printed()
    for group in load_policy(name).groups:
        assert banned.isdisjoint(map(str.casefold, group.words)), group.class_name


def test_words_that_are_inputs_alone_are_never_printed_and_still_hide(policy):
    lines = (MATERIAL / "not_printed.txt").read_text(encoding="utf-8").splitlines()
    words = {w for line in lines if not line.startswith("#") for w in line.split()}
    assert {"hitler", "stalin", "obama"} <= words
    for group in policy.groups:
        assert words.isdisjoint(map(str.casefold, group.words)), group.class_name
    assert class_of(policy, "We met Hitler.", "Hitler") != "ordinary"


def test_no_group_prints_words_of_sexuality(policy):
    lexicon = load_lexicon()
    kinds = [kind for kind in lexicon.words if kind[0] == "sexuality"]
    assert not any(lexicon.words[kind] for kind in kinds)
    assert class_of(policy, "I am gay.", "gay") != "ordinary"


def test_each_group_is_large_or_there_is_a_reason(policy):
    small = {kind for kind, words in kinds_of(policy) if len(words) < HIDE_AMONG}
    assert small == set(SMALL)


def test_inflections_of_ordinary_words_are_ordinary_and_no_others(policy):
    """Of texts, not of the prompts by which policies are judged."""
    for word in ("agreeing", "quieter", "overviews", "emailing"):
        assert class_of(policy, f"so {word} it is", word) == "ordinary", word
    for word in ("rapes", "battered", "murders", "bowles", "retirees", "testes"):
        assert class_of(policy, f"so {word} it is", word) != "ordinary", word


def test_what_became_ordinary_still_counts_in_attacks(policy):
    """The denominator of an attack is frozen: no list makes its own figures."""
    lexicon = load_lexicon()
    listed = {w for words in lexicon.counted.values() for w in words}
    assert listed <= set(lexicon.ordinary)
    batch = tokenize(["The police saw my dog agreeing to two walks."])
    assert PolicyLookup(policy).codes(batch).max() >= len(policy.ordinary)  # two
    classes = dict(zip(batch.words(), word_classes(batch).tolist(), strict=True))
    assert classes["police"] == "crime"
    assert classes["dog"] == "animal"
    assert classes["agreeing"] == "rest"
    assert is_counted(batch).sum() == 2


def test_number_words_come_out_as_number_words_of_their_size(policy):
    for word, other in (("two", "nine"), ("twenty", "sixty"), ("million", "billion")):
        one, two = (symbol_of(policy, f"so {w} it is", w) for w in (word, other))
        assert one == two
    assert symbol_of(policy, "so two", "two") != symbol_of(policy, "so ten", "ten")
    # The format does not count for what a sensitive word hides among.
    assert policy.alphabet.hides_among == 30
    shown = load_policy("sensitive", ordinary=("two", "three", "four", "five"))
    assert shown.describe(symbol_of(shown, "so six", "six"))[2] > 20


def test_no_output_is_too_common_in_its_group(policy, counts):
    for kind, words in kinds_of(policy):
        seen = [counts.get(word.casefold(), 0) for word in words]
        share = max(seen) / max(1, sum(seen))
        assert share <= ABOVE_CAP.get(kind, CAP), (kind, words[int(np.argmax(seen))])
        if kind in ABOVE_CAP:
            assert share > CAP, f"{kind} keeps the cap: strike it from the exceptions"


@pytest.mark.parametrize(
    ("list_name", "classes", "share"),
    [
        ("first_names", {"first_name"}, 0.9),
        ("surnames", {"first_name", "surname", "other_name"}, 0.7),
    ],
)
def test_surrogates_do_not_depend_on_origin(policy, list_name, classes, share):
    """Names of all origins are of the same groups, and a group has one law.

    What is printed is drawn from the group alone. So for names of one group the law
    does not depend on the name, and on its origin neither.
    """
    names = most_common(list_name)
    assert set(names) == set(ORIGINS)
    lookup = PolicyLookup(policy)
    for origin, found in names.items():
        symbols = [lookup.find_symbol(name.capitalize()) for name in found]
        seen = Counter(policy.describe(symbol)[0] for symbol in symbols)
        inside = sum(seen[kind] for kind in classes)
        assert inside >= share * len(found), (origin, seen)


@pytest.mark.parametrize("list_name", ["first_names", "surnames"])
def test_the_names_that_are_printed_are_of_many_origins(policy, list_name):
    kind = list_name.removesuffix("s")
    (outputs,) = (g.words for g in policy.groups if g.class_name == kind)
    printed = set(map(str.casefold, outputs))
    by_origin = most_common(list_name, most=None)
    for origin, names in by_origin.items():
        assert len(printed.intersection(names)) >= 5, origin


def most_common(list_name, most=300):
    """The most common names of each origin."""
    found = {origin: [] for origin in ORIGINS}
    path = MATERIAL / "sources" / f"{list_name}.txt"
    for line in path.read_text(encoding="utf-8").splitlines():
        name, origins, *_ = line.split("\t")
        for pair in origins.split(","):
            origin, _, rank = pair.partition(":")
            if origin in found:
                found[origin].append((int(rank or 0), name))
    return {o: [name for _, name in sorted(pairs)[:most]] for o, pairs in found.items()}


def test_words_of_a_group_draw_the_same_outputs(policy):
    """One law for all words of a group: the same draws give the same outputs."""
    lookup = PolicyLookup(policy)
    names = ("Mary", "Ahmed", "Deepak", "Hiroshi", "Ngozi", "Wojciech")
    symbols = {lookup.find_symbol(name) for name in names}
    assert len(symbols) == 1
    size = policy.describe(symbols.pop())[2]
    assert size >= HIDE_AMONG


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("come in now", "in", "ordinary"),
        ("Come to me.", "me", "ordinary"),
        ("In or out?", "In", "ordinary"),
        ("Gary, IN 46401", "IN", "place"),
        ("Portland, OR", "OR", "place"),
        ("Hi, how are you?", "Hi", "ordinary"),
        ("Oh no.", "Oh", "ordinary"),
        ("Will it rain?", "Will", "ordinary"),
        ("May I go?", "May", "ordinary"),
        ("Can you help?", "Can", "ordinary"),
        ("We met in May.", "May", "time"),
        ("Call IT now", "IT", "ordinary"),
    ],
)
def test_codes_of_states_count_in_capitals_alone(policy, text, word, expected):
    assert class_of(policy, text, word) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("France", ("place", "country")),
        ("Texas", ("place", "state or region")),
        ("Leeds", ("place", "singular")),
        ("German", ("origin", "singular")),
        ("Germans", ("origin", "plural")),
        ("September", ("time", "singular")),
        ("wife", ("family", "singular")),
        ("grandparents", ("family", "plural")),
        ("barrister", ("occupation", "singular")),
        ("diabetes", ("health", "singular")),
        ("pregnant", ("health", "adjective")),
        ("arrested", ("rest", "past")),
    ],
)
def test_words_come_out_as_words_of_their_kind(policy, word, expected):
    assert policy.describe(symbol_of(policy, f"the {word} here", word))[:2] == expected


def test_family_hides_among_family_and_never_among_jobs(policy):
    jobs = {"doctor", "teacher", "lawyer", "nurse", "plumber", "students"}
    for kind, words in kinds_of(policy):
        if kind[0] == "family" and kind[1] in ("singular", "plural"):
            assert jobs.isdisjoint(words), kind
            assert len(words) >= 60, kind
