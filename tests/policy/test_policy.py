"""Policies: symbols by own spelling, outputs apart, and nothing else shown."""

from __future__ import annotations

import string
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mondegreen as mg
from benchmarks.pages.policy_page import look_alike, misspellings
from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    UnknownNameError,
)
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import ADDRESS_PARTS, Policy, load_policy
from mondegreen.policy.printing import PolicyPrinter
from mondegreen.policy.shapes import SHAPES
from mondegreen.settings import Settings
from mondegreen.text.tokenizer import canonical, tokenize

NAMES = ("sensitive", "names")


@pytest.fixture(scope="module", params=NAMES)
def policy(request) -> Policy:
    return load_policy(request.param)


@pytest.fixture(scope="module")
def sensitive() -> PolicyLookup:
    return PolicyLookup(load_policy("sensitive"))


def symbols(lookup, text):
    return lookup.codes(tokenize([text])).tolist()


def shows(lookup, text):
    """Tell of each word of a text whether it is ordinary, and so printed."""
    known = len(lookup.policy.ordinary)
    words = tokenize([text]).words()
    found = zip(words, symbols(lookup, text), strict=True)
    return [word for word, symbol in found if symbol < known]


# --- outputs


def test_words_of_different_symbols_never_print_alike_when_folded(policy):
    owners: dict[str, int] = {}
    for symbol in range(len(policy.ordinary) + len(policy.groups)):
        first, size = int(policy.first[symbol]), int(policy.sizes[symbol])
        for code in range(first, first + size):
            printed = policy.print(code).casefold()
            assert owners.setdefault(printed, symbol) == symbol, printed


def test_tokens_of_formats_are_no_words_and_of_one_format_each(policy):
    rng = np.random.default_rng(24)
    words = {policy.print(code).casefold() for code in range(len(policy.words))}
    owners: dict[str, str] = {}
    for shape in SHAPES:
        places = range(shape.size)
        if shape.size > 2000:
            places = rng.integers(shape.size, size=2000).tolist()
        for printed in {shape.print(place).casefold() for place in places}:
            assert printed not in words
            # A part of a date is also one or two digits.
            owners.setdefault(printed, shape.name)
    assert len(set(owners.values())) > len(SHAPES) / 2


def test_a_printed_word_of_a_group_reads_as_a_word_of_that_group(policy):
    """Else a second pass, or a reader, would take it for another symbol."""
    lookup, moved = PolicyLookup(policy), Counter()
    for place, group in enumerate(policy.groups):
        symbol = len(policy.ordinary) + place
        for word in group.words:
            moved[group.class_name] += lookup.find_symbol(word) != symbol
    assert sum(moved.values()) <= 0.01 * sum(len(g.words) for g in policy.groups), moved


@pytest.mark.slow("groups of many policies")
def test_no_group_prints_few_words_whatever_is_opened_or_hidden():
    """A group of one word would print it again: it would pass unchanged.

    Words for numbers hide by their size, weekdays and months among each other, as the
    guarantee says.
    """
    lexicon, make = load_policy("sensitive").lexicon, Policy
    made = [make(lexicon, name) for name in NAMES]
    made += [make(lexicon, "names", hidden=[kind]) for kind in lexicon.classes]
    made += [make(lexicon, "sensitive", opened=[kind]) for kind in lexicon.classes]
    made += [make(lexicon, "sensitive", hide_among=count) for count in (50, 200, 1000)]
    for each in made:
        least = {"number_word": 5, "time": 5}
        few = [
            group
            for group in each.groups
            if len(group.words) < least.get(group.class_name, 20)
        ]
        assert [(group.class_name, group.form, group.words) for group in few] == []


# --- symbols by own spelling


WORDS = st.sampled_from(
    "the doctor Anna anna ANNA Rose may May US us 7 07 1985 4711 iPhone zorblax "
    "Zorblax diabetes arrested x Q don't isn't 😀 naïve Müller שלום 5kg 21st".split()
)
GAPS = st.sampled_from(
    [" ", ", ", ". ", "! ", "\n", ": ", " (", "/", "@", ".", "-", "'"]
)


def pieces_of(text):
    (parts,) = tokenize([text]).parts
    return parts[0::2], parts[1::2]


def case_of(word):
    has_case = len(word) > 1 and word[0].isalpha()
    return word[0].isupper() if has_case else None


@pytest.mark.slow("two policies of the whole vocabulary")
@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(WORDS, GAPS), min_size=1, max_size=12), st.data())
def test_one_changed_word_moves_no_other_symbol(sensitive, drawn, data):
    """Where the structure, and the title-case bit of its line, stay as they were."""
    place = data.draw(st.integers(0, len(drawn) - 1))
    other = data.draw(WORDS)
    changed = [*drawn]
    changed[place] = (other, drawn[place][1])
    one, two = ("".join(map("".join, each)) for each in (drawn, changed))
    (gaps, words), (other_gaps, others) = pieces_of(one), pieces_of(two)
    if gaps != other_gaps:
        return  # words cut anew: what is disclosed has changed
    lines = [sum("\n" in gap for gap in gaps[: i + 1]) for i in range(len(words))]
    differs = {i for i in range(len(words)) if words[i] != others[i]}
    if any(case_of(words[i]) != case_of(others[i]) for i in differs):
        # The bit of the line may turn: the other lines still stay as they were.
        touched = {lines[i] for i in differs}
        differs = {i for i in range(len(words)) if lines[i] in touched}
    first, second = symbols(sensitive, one), symbols(sensitive, two)
    for i in set(range(len(words))) - differs:
        assert first[i] == second[i], (one, two, i)


def test_a_capital_that_turns_a_line_moves_symbols_of_that_line_alone(sensitive):
    """Four words or more, 90 % with a capital: what the proof of krr counts."""
    line = "Best Ways To cook {}\nBest Ways To rice"
    one, two = (symbols(sensitive, line.format(word)) for word in ("rice", "Rice"))
    moved = [i for i in range(len(one)) if one[i] != two[i]]
    assert moved == [4]  # 4 of 5 words: no title, and the word itself
    title = "Best Ways To {}\nBest Ways To rice"
    one, two = (symbols(sensitive, title.format(word)) for word in ("rice", "Rice"))
    moved = [i for i in range(len(one)) if one[i] != two[i]]
    # "Best" and "Ways", since all 4 have a capital; not the other line.
    assert moved == [0, 1, 3]


@pytest.mark.slow("all words of a policy")
@settings(max_examples=300, deadline=None)
@given(st.text(max_size=40))
def test_symbols_do_not_depend_on_what_was_seen_before(text):
    known = load_policy("sensitive")
    used = PolicyLookup(known)
    used.codes(tokenize(["Anna has May in US", text.upper(), text[::-1]]))
    assert symbols(used, text) == symbols(PolicyLookup(known), text)


def test_the_start_of_a_sentence_comes_from_punctuation_alone(sensitive):
    inside = symbols(sensitive, "so May came")[1]
    start = symbols(sensitive, "so. May came")[1]
    assert inside != start
    # The word before never decides, not even one with a dot of its own.
    for word in ("Dr", "so", "Anna", "etc"):
        assert symbols(sensitive, f"a {word}. May")[2] == start
        assert symbols(sensitive, f"a {word} May")[2] == inside


@pytest.mark.parametrize("policy", ["sensitive", "names"])
def test_a_name_that_is_an_ordinary_word_hides_where_it_is_likely_one(policy):
    lookup = PolicyLookup(load_policy(policy))

    def stay(text):
        return [word for word in shows(lookup, text) if word in text.split()]

    for name in ("Young", "Hope", "Brown", "Grace"):
        for title in ("Mr.", "Dr.", "Rev.", "Capt.", "a.k.a."):
            assert name not in stay(f"I met {title} {name} today")
        assert name not in stay(f"Name: Anna {name} , Oslo Leeds")  # in title case
    for line in ("I saw MARK BROWN here", "CALL MARK BROWN NOW"):
        assert not {"MARK", "BROWN"} & {*stay(line)}
    assert "Will" in stay("Will you come? Will you? So. Will you")
    for owner in ("Will", "Grace", "Hope"):
        assert owner not in stay(f"{owner} 's car".replace(" '", "'")), owner


@pytest.mark.parametrize("policy", ["sensitive", "names"])
@pytest.mark.parametrize("name", ["Hope", "Young", "Will", "May", "Grace"])
def test_a_name_hides_behind_a_sign_within_a_line(policy, name):
    lookup = PolicyLookup(load_policy(policy))
    forms = (
        f"Surname: {name}",
        f'{{"name": "{name}"}}',
        f"a nurse ({name}) came",
        f"<b>{name}</b>",
        f"ticket | {name} | open",
        f"I saw her; {name} was there",
        f"he said “{name} knows”",
        f"I saw her... {name} was there",
        f"to: {name}; cc: {name}",
    )
    for text in forms:
        assert name not in shows(lookup, text), text


@pytest.mark.parametrize("name", ["Gore", "Branch", "Pepper", "Pope", "Bishop"])
def test_a_frequent_surname_hides_with_a_capital_inside_a_sentence(sensitive, name):
    names = PolicyLookup(load_policy("names"))
    for lookup in (sensitive, names):
        assert name not in shows(lookup, f"please call Ms {name} today")
        assert name.lower() in shows(names, f"the {name.lower()} today")


def test_words_that_begin_sentences_stay_there(sensitive):
    for word in ("Good", "Best", "New", "Can", "May", "Will", "The", "It"):
        for before in ("", "so. ", "so! ", "so\n"):
            assert word in shows(sensitive, f"{before}{word} it is"), (word, before)
    for word in ("Hope", "Early", "Long", "Small"):
        assert word in shows(sensitive, f"so! {word} it is")


# --- spellings that could open a hole

SECRETS = (
    "diabetes cancer depression hiv pregnant anna schmidt boston oslo muslim lesbian "
    "arrested bankrupt nurse divorced chemotherapy asthma stroke christian mexican "
    "okafor zorblax nguyen leeds heroin abortion"
).split()


def test_lower_case_title_case_and_capitals_hide_the_same_secrets(sensitive):
    for word in SECRETS:
        for spelled in (word, word.capitalize(), word.upper(), word.title()):
            assert shows(sensitive, f"so {spelled} it is")[1:2] == ["it"], spelled
            assert spelled not in shows(sensitive, spelled), spelled


def test_single_letters_hide_but_for_a_and_i(sensitive):
    shown = shows(sensitive, " ".join(string.ascii_lowercase))
    assert set(shown) <= {"a", "i"}
    assert set(shows(sensitive, "d i a b e t e s")) <= {"a", "i"}


def test_look_alike_letters_hide(sensitive):
    for word in SECRETS:
        spelled = look_alike(word)
        assert spelled == word or shows(sensitive, f"so {spelled}") == ["so"]
    for word in (
        "dia\u00adbetes",
        "dia\u200bbetes",
        "ｄｉａｂｅｔｅｓ",
        "dïabetes",
        "d1abetes",
    ):
        hidden = {"diabetes", canonical(word), word}
        assert not hidden & set(shows(sensitive, f"so {word}"))


def test_a_misspelling_shows_only_where_it_is_an_ordinary_word(sensitive):
    known = sensitive.policy.symbols
    tried = shown = 0
    for word in SECRETS:
        for spelled in misspellings(word):
            tried += 1
            if spelled in shows(sensitive, f"so {spelled}"):
                shown += 1
                assert known[spelled] < len(sensitive.policy.ordinary)
    assert shown <= 0.03 * tried, (shown, tried)


def test_what_shows_is_always_an_ordinary_word(sensitive):
    ordinary = frozenset(sensitive.policy.ordinary)
    made = [f"{word}{tail}" for word in SECRETS for tail in ("s", "'s", "ic", "-free")]
    for text in (*made, *map(str.upper, made), *map(str.title, made)):
        for word in shows(sensitive, text):
            assert word.lower() in ordinary


# --- settings that do not go together


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"policy": "sensitive", "mechanism": "tree"}, "use urr or krr"),
        ({"policy": "all", "mechanism": "krr"}, "use --policy sensitive"),
        ({"policy": "all", "opened": ["health"]}, "use --policy sensitive"),
        ({"policy": "all", "ordinary": ["router"]}, "needs a policy"),
        ({"mechanism": "tem", "hide_among": 50}, "needs a policy"),
        ({"policy": "names", "keep": ["Oslo"]}, "--ordinary FILE"),
        ({"policy": "names", "unknown": "mask"}, "unknown words hide"),
        ({"policy": "names", "case": "restore"}, "by public rules"),
        ({"policy": "names", "read": "words"}, "best guess"),
        ({"policy": "names", "space": "glove-840b-34k"}, "come from the policy"),
        ({"policy": "names", "print_all": True}, "never printed"),
    ],
    ids=str,
)
def test_settings_that_do_not_go_together_are_refused(given, says):
    with pytest.raises(ConfigurationError, match=says):
        Settings(epsilon=12.0, **given).resolve()


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"opened": ["illness"]}, UnknownNameError, "health"),
        ({"hidden": ["illness"]}, UnknownNameError, "health"),
        ({"ordinary": ["two words"]}, InvalidParameterError, "single words"),
        ({"sensitive": ["a-b"]}, InvalidParameterError, "single words"),
    ],
    ids=str,
)
def test_classes_and_words_that_do_not_exist_are_refused(given, error, says):
    with pytest.raises(error, match=says):
        mg.Privatizer(mg.mechanism("urr", epsilon=12.0), policy="sensitive", **given)


def test_a_policy_that_opens_or_adds_has_another_digest():
    plain = load_policy("sensitive")
    others = (
        load_policy("names"),
        load_policy("sensitive", opened=("health",)),
        load_policy("sensitive", ordinary=("zorblax",)),
        load_policy("sensitive", sensitive=("router",)),
        load_policy("sensitive", hide_among=60),
    )
    assert len({plain.digest, *(each.digest for each in others)}) == 6
    classes = plain.lexicon.classes
    assert load_policy("names", hidden=classes).opened.isdisjoint(classes)


def test_opened_classes_show_and_added_words_hide_or_show():
    changed = load_policy(
        "sensitive", opened=("health",), ordinary=("zorblax",), sensitive=("router",)
    )
    lookup = PolicyLookup(changed)
    text = "the router has diabetes and zorblax but not Anna"
    assert set(shows(lookup, text)) >= {"the", "has", "diabetes", "zorblax", "not"}
    assert not {"router", "Anna"} & set(shows(lookup, text))


def test_printed_texts_have_the_structure_of_the_input(sensitive):
    text = "Anna met Bo in Oslo, at 7pm; didn't she?\n\nYes: 12/05/2021."
    batch = tokenize([text])
    rng = np.random.default_rng(1)
    codes = sensitive.policy.draw_members(sensitive.codes(batch), rng)
    (printed,) = PolicyPrinter(sensitive.policy).join(batch, codes)
    (before,), (after,) = batch.parts, tokenize([printed]).parts
    assert after[0::2] == before[0::2]


@pytest.mark.parametrize("letter", ["a", "é", "ㅎ"])
def test_a_long_word_is_not_remembered_under_a_policy_either(letter):
    lookup = PolicyLookup(load_policy("sensitive"))
    short, long = letter * 32, letter * 33
    for _ in range(2):
        lookup.codes(tokenize([f"{short} {long}", f"{long} {short}"]))
        assert short in lookup._entries
        assert long not in lookup._entries


@pytest.mark.parametrize(
    ("listed", "shown", "hidden"),
    [
        # The lists have "port" and "us" as ordinary words, and as names of places.
        ("port", {"port"}, {"Port", "PORT"}),
        ("Port", {"port", "Port", "PORT"}, set()),
        ("PORT", {"port", "PORT"}, {"Port"}),
        ("us", {"us"}, {"US"}),
        ("US", {"us", "US"}, set()),
        # "zorblax" is on no list, so no name.
        ("zorblax", {"zorblax", "Zorblax", "ZORBLAX"}, set()),
    ],
)
def test_an_own_word_that_is_a_name_shows_as_it_is_spelled(listed, shown, hidden):
    policy = load_policy("sensitive", ordinary=(listed,))
    lookup = PolicyLookup(policy)
    for spelled in shown | hidden:
        symbols = lookup.codes(tokenize([f"and {spelled}", f"and. {spelled} it"]))
        is_shown = (symbols < len(policy.ordinary)).tolist()
        # "Port" hides as the first word, too: it is a name there more often than not.
        assert [is_shown[1], is_shown[3]] == [spelled in shown] * 2
    names = {word for word in hidden if not word.isupper()}
    assert set(policy.list_own_names()) == names


def test_the_spelling_of_an_own_name_is_in_the_digest():
    small, capital = (load_policy(ordinary=(word,)) for word in ("port", "Port"))
    assert small.digest != capital.digest
    assert small.digest == load_policy().digest  # "port" is ordinary already


@pytest.mark.parametrize("name", ["sensitive", "names"])
def test_only_the_most_frequent_words_are_ordinary_if_asked(name):
    whole = load_policy(name)
    listed = whole.lexicon.ordinary
    cut = load_policy(name, most_ordinary=3000, ordinary=("Router",))
    kept = {"router", *ADDRESS_PARTS}
    assert set(whole.ordinary) - set(cut.ordinary) == {*listed[3000:]} - kept
    assert set(cut.ordinary) <= set(whole.ordinary)
    hidden = [word for word in listed[3000:] if word not in kept]
    symbols = np.array([cut.symbols[word] for word in hidden])
    assert cut.alphabet.is_group(symbols).all()
    # What the groups print is the same, and no cut changes what passes besides.
    assert [g.words for g in cut.groups] == [g.words for g in whole.groups]
    texts = tokenize([" ".join(hidden), " ".join(map(str.title, hidden))])
    shown = ~cut.alphabet.is_group(PolicyLookup(cut).codes(texts))
    assert {w.lower() for w, s in zip(texts.words(), shown, strict=True) if s} <= {
        *cut.ordinary
    }


def test_a_cut_of_the_ordinary_words_is_in_the_digest_and_none_changes_it():
    whole = load_policy("sensitive")
    found = [load_policy("sensitive", most_ordinary=n) for n in (0, 3000, 3001, None)]
    assert len({policy.digest for policy in found}) == 4
    assert found[-1].digest == whole.digest
    assert not {*found[0].ordinary} & {"the", "doctor"}
    with pytest.raises(InvalidParameterError, match="0 or more"):
        load_policy("sensitive", most_ordinary=-1)


@pytest.mark.parametrize("word", ["sTeam", "nOte", "wIll"])
def test_a_capital_within_a_word_hides_it_also_where_a_sentence_begins(word):
    lookup = PolicyLookup(load_policy("sensitive"))
    batch = tokenize([f"{word} is here. {word} {word.lower()}"])
    first, _, _, again, small = lookup.codes(batch).tolist()
    assert first == again == lookup.find_symbol(word, starts=True)
    assert lookup.policy.alphabet.is_group(np.array([first]))
    assert not lookup.policy.alphabet.is_group(np.array([small]))


def test_an_opened_class_of_names_shows_its_words_with_their_capital():
    shown = load_policy("sensitive", opened=("place", "time"))
    lookup = PolicyLookup(shown)
    text = "I met Ann in Oslo on Friday. Tuesday was fine, and oslo too."
    batch = lookup.cut([text])
    codes = lookup.codes(batch)
    classes = [shown.describe(int(code))[0] for code in codes]
    hidden = {w for w, c in zip(batch.words(), classes, strict=True) if c != "ordinary"}
    assert hidden == {"Ann"}
    printed = PolicyPrinter(shown).join(batch, shown.first.take(codes))[0]
    assert "in Oslo on Friday. Tuesday was fine, and Oslo too." in printed
    # A word that is also an ordinary one is printed as that one.
    may = lookup.codes(lookup.cut(["It was in May"]))
    assert shown.words[int(may[-1])] == "may"
