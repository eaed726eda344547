"""The shipped lexicon: how it is built, and what its groups print and hide."""

import importlib.util
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from mondegreen import privatize
from mondegreen.attacks.sensitive import is_counted, word_classes
from mondegreen.errors import SourceError
from mondegreen.policy import lexicon as lexicon_module
from mondegreen.policy.lexicon import load_lexicon, parse_lexicon
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import HIDE_AMONG, Policy, find_policy, load_policy
from mondegreen.privatizer.build import build_privatizer
from mondegreen.settings import Settings
from mondegreen.text.never_printed import never_printed
from mondegreen.text.print_forms import public_cases
from mondegreen.text.tokenizer import tokenize

ROOT = Path(__file__).parents[2]
MATERIAL = ROOT / "packaging" / "policy"
LEXICON = Path(lexicon_module.__file__).parent / "data" / "english.policy"
WORDNET = ROOT.parent / "shared" / "data" / "wordnet"

FORMATS = {
    "number_word": (
        *("two to nine", "ten to ninety", "ordinal", "Roman"),
        *("hundred and more", "hundreds and more"),
    ),
    "time": (
        *("weekday", "weekdays", "short weekday", "month", "short month", "season"),
    ),
}
"""Groups that are formats, as digits are: their few words are all."""

CLOSED = {(kind, form) for kind, forms in FORMATS.items() for form in forms}

SMALL = {
    ("time", "singular"): "holidays",
    ("occupation", "noun without a plural"): "few nouns of family, work and study",
    ("crime", "past, law"): "verbs of courts and crimes",
    ("crime", "singular, law"): "places and steps of the law",
    ("crime", "plural, law"): "places and steps of the law",
    ("crime", "singular, weapon"): "weapons",
    ("education", "singular, person"): "students and teachers",
    ("education", "plural, person"): "students and teachers",
    ("education", "singular, thing"): "what schools have and give",
    ("education", "plural, thing"): "what schools have and give",
    ("health", "past, care"): "verbs of care",
    ("health", "singular, care"): "hospitals, their parts and departments",
    ("health", "plural, care"): "hospitals, and people in them",
    ("health", "plural, treatment"): "medicines and treatments",
}
"""Groups of fewer words than others hide among, with the reason. None has fewer than
60, except for the holidays."""

CAP = 0.1
"""Share of a group's public frequency that one of its words may have."""

ABOVE_CAP = {
    ("time", "singular"): 0.49,  # Christmas
    ("health", "plural, care"): 0.44,  # hospitals
    ("origin", "plural"): 0.44,  # Americans
    ("education", "plural, person"): 0.39,  # students
    ("health", "singular, care"): 0.37,  # rehabilitation
    ("people", "plural"): 0.33,  # patients
    ("health", "plural, treatment"): 0.31,  # treatments
    ("crime", "singular, weapon"): 0.3,  # gun
    ("crime", "plural"): 0.3,  # attacks
    ("health", "plural"): 0.29,  # symptoms
    ("education", "singular, person"): 0.29,  # student
    ("health", "past, care"): 0.27,  # prescribed
    ("occupation", "singular"): 0.26,  # doctor
    ("crime", "past, law"): 0.25,  # killed
    ("money", "plural"): 0.24,  # pounds
    ("crime", "singular"): 0.23,  # attack
    ("health", "singular, treatment"): 0.23,  # treatment
    ("origin", "singular"): 0.22,  # American
    ("home", "singular"): 0.19,  # boat
    ("money", "singular"): 0.19,  # inheritance
    ("place", "singular"): 0.18,  # York
    ("organization", "singular"): 0.17,  # Google
    ("body", "singular"): 0.17,  # blood
    ("crime", "plural, law"): 0.17,  # investigations
    ("crime", "plural, person"): 0.16,  # victims
    ("politics", "singular"): 0.16,  # president
    ("family", "plural"): 0.16,  # parents
    ("people", "singular"): 0.15,  # adult
    ("crime", "singular, person"): 0.14,  # criminal
    ("food", "singular"): 0.14,  # latte
    ("people", "adjective"): 0.13,  # military
    ("place", "state or region"): 0.13,  # Washington
    ("health", "singular"): 0.12,  # syndrome
    ("family", "singular"): 0.11,  # mother
    ("belief", "singular"): 0.11,  # church
    ("place", "country"): 0.11,  # America
}
"""Groups whose commonest word has more than the cap, and how much at most. Formats are
none of them: they are as small as the language has them."""

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
    sizes = {kind: len(words) for kind, words in kinds_of(policy)}
    small = {kind for kind, size in sizes.items() if size < HIDE_AMONG}
    assert small == SMALL.keys() | CLOSED
    assert {kind for kind in SMALL if sizes[kind] < 60} == {("time", "singular")}


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


def test_times_come_out_as_times_of_their_kind(policy):
    """A weekday hides among 7, a month among 11: the guarantee says so."""
    sizes = {kind[1]: set(words) for kind, words in kinds_of(policy)}
    assert sizes["weekday"] == {
        *("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    }
    assert sizes["weekdays"] == {f"{day}s" for day in sizes["weekday"]}
    # May is never printed: "may" is an ordinary word.
    assert len(sizes["month"]) == 11
    assert "May" not in sizes["month"]
    for text, word, form in (
        ("We met in May.", "May", "month"),
        ("We meet on Sun, 3 Feb.", "Sun", "short weekday"),
        ("It was Spring there.", "Spring", "season"),
        ("in march", "march", "month"),
    ):
        symbol = symbol_of(policy, text, word)
        assert policy.describe(symbol)[:2] == ("time", form), word
    promised = read_promise().small_formats
    counts = {
        "weekday": "weekday",
        "month": "month",
        "season": "season",
        "Mon": "short weekday",
        "Jan": "short month",
    }
    for name, form in counts.items():
        assert promised[name] == len(sizes[form]), form


def read_promise(**options):
    """The guarantee of a policy, by default of the default."""
    settings = Settings(**{"policy": "sensitive", "epsilon": 12.0, **options})
    return build_privatizer(settings).guarantee


EXAMPLES = {
    "one digit": "7",
    "two to nine": "nine",
    "ten to ninety": "twenty",
    "tenth": "fifth",
    "million": "million",
    "millions": "millions",
    "Roman number": "iii",
    "weekday": "Friday",
    "weekdays": "Sundays",
    "month": "June",
    "season": "winter",
    "Mon": "Tue",
    "Jan": "Feb",
    "decade": "1980s",
    "time of day": "5pm",
    "letter": "b",
}
"""A word of each small format that a guarantee may name."""


def test_a_guarantee_names_every_small_format():
    """No group or format has fewer values than a group of words, and no name."""
    policy = load_policy("sensitive")
    small = [group.inputs for group in policy.groups if group.inputs < 30]
    # A digit, with 0 before it or not, and parts of dates are named as "one digit".
    named = {"1 digits", "0 and 1 digits", "decade", "time of day", "letter"}
    dates = {shape.name for shape in policy.shapes if " of a date" in shape.name}
    shapes = [shape for shape in policy.shapes if shape.size < 30]
    assert {shape.name for shape in shapes} <= named | dates
    formats = dict(policy.alphabet.small_formats)
    assert sorted(small) == sorted(
        size
        for name, size in formats.items()
        if name not in ("one digit", "decade", "time of day", "letter")
    )


CLASSES = load_lexicon().classes


@pytest.mark.parametrize(
    "options",
    [
        {"policy": "sensitive"},
        {"policy": "names"},
        {"policy": "names", "hidden": ("number_word",)},
        *({"numbers": numbers} for numbers in ("near", "plain")),
        *({"policy": "names", "numbers": numbers} for numbers in ("near", "plain")),
        {"opened": ("number_word", "time")},
        *({"opened": (name,)} for name in CLASSES),
        *({"policy": "names", "opened": (name,)} for name in CLASSES),
        *({"policy": "names", "hidden": (name,)} for name in CLASSES),
        {"ordinary": ("two", "three")},
        {"sensitive": ("the", "only")},
    ],
    ids=str,
)
def test_the_guarantee_names_a_small_format_if_the_policy_hides_it(options):
    """No reviewer copies a sentence about words that are shown."""
    promise = read_promise(**options)
    policy = find_policy(Settings(**{"policy": "sensitive", "epsilon": 12.0} | options))
    lookup, said = PolicyLookup(policy), promise.summary()
    assert ("A number hides" in said) == (options.get("numbers", "hide") == "hide")
    for name, word in EXAMPLES.items():
        batch = lookup.cut([f"so {word} it is"])
        symbols = dict(zip(batch.words(), lookup.codes(batch).tolist(), strict=True))
        kind, form, size = "ordinary", "", 1  # what is no word of the batch passes
        if word in symbols:
            kind, form, size = policy.describe(symbols[word])
        is_small = kind != "ordinary" and size < promise.hides_among
        if name == "one digit":  # but not a cell of amounts, which is disclosed
            is_small = form == "1 digits"
        assert (name in promise.small_formats) == is_small, (name, kind, size)
        assert (f"{name} {size}" in said) == is_small
        if is_small:
            assert promise.small_formats[name] == size


def test_a_part_of_a_class_that_is_too_small_joins_the_class():
    lexicon = load_lexicon()
    large = Policy(lexicon, "sensitive", hide_among=300)
    assert any(len(group.form) > 1 for group in load_policy("sensitive").groups)
    assert not any(len(group.form) > 1 for group in large.groups)
    assert class_of(large, "the hospital here", "hospital") == "health"


def test_persons_of_the_class_origin_have_no_capital(policy):
    (words,) = (w for kind, w in kinds_of(policy) if kind == ("origin", "plural"))
    assert {"immigrants", "Texans", "Germans"} <= set(words)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("it is ok", "It is ok"),
        ("my ssn, dob and pin", "My SSN, DOB and PIN"),
        ("vat by iban", "VAT by IBAN"),
        ("ask ms weise", "Ask Ms "),
        ("see github.io", ".io"),
        ("a human ate rice", "A human ate rice"),
        ("SSN: DOB:", "SSN: DOB:"),
    ],
)
def test_ordinary_words_print_as_people_write_them(text, printed):
    """Under `urr` at a large epsilon an ordinary word comes out as itself."""
    released = privatize(text, policy="sensitive", epsilon=40)
    assert printed in released


def test_no_output_is_too_common_in_its_group(policy, counts):
    for kind, words in kinds_of(policy):
        if kind in CLOSED:
            continue
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
        ("September", ("time", "month")),
        ("Friday", ("time", "weekday")),
        ("Fridays", ("time", "weekdays")),
        ("Tues", ("time", "short weekday")),
        ("Sept", ("time", "short month")),
        ("summer", ("time", "season")),
        ("Christmas", ("time", "singular")),
        ("hospital", ("health", "singular, care")),
        ("cardiology", ("health", "singular, care")),
        ("clinics", ("health", "plural, care")),
        ("medication", ("health", "singular, treatment")),
        ("antibiotics", ("health", "plural, treatment")),
        ("headaches", ("health", "plural")),
        ("diagnosed", ("health", "past, care")),
        ("hospitalised", ("health", "past, care")),
        ("prison", ("crime", "singular, law")),
        ("lawsuits", ("crime", "plural, law")),
        ("burglar", ("crime", "singular, person")),
        ("burglars", ("crime", "plural, person")),
        ("burglary", ("crime", "singular")),
        ("pistol", ("crime", "singular, weapon")),
        ("student", ("education", "singular, person")),
        ("diploma", ("education", "singular, thing")),
        ("immigrants", ("origin", "plural")),
        ("wife", ("family", "singular")),
        ("grandparents", ("family", "plural")),
        ("barrister", ("occupation", "singular")),
        ("diabetes", ("health", "singular")),
        ("pregnant", ("health", "adjective")),
        ("arrested", ("crime", "past, law")),
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


def test_reviewed_print_forms_are_those_that_are_printed():
    """``ship_language`` applies them, so a new run keeps them."""
    lines = (MATERIAL / "print_forms.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    assert len({word for word, *_ in rows}) == len(rows) > 100
    for word, form, reason in rows:
        assert form.lower() == word
        assert public_cases().get(word, word) == form, word
        assert reason


def test_a_file_of_another_format_is_named_as_such():
    first, _, rest = LEXICON.read_bytes().partition(b"\n")
    assert first == b"mondegreen-lexicon 1"
    data = b"mondegreen-lexicon 2\n" + rest
    says = "the file has format 2; this version reads format 1"
    with pytest.raises(SourceError, match=says) as found:
        parse_lexicon(data, "new.policy")
    assert "update mondegreen" in str(found.value)
    with pytest.raises(SourceError, match="not a policy"):
        parse_lexicon(b"mondegreen-lexicon\n{}\n", "no.policy")
