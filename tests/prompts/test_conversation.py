"""Conversations in Python: the way there and back, and what must not be told."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import random
import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from restored import assert_restored

import mondegreen as mg
from mondegreen.errors import ConfigurationError, DataError, InvalidParameterError
from mondegreen.policy.policy import load_policy
from mondegreen.prompts.conversation_guard import ConversationGuard
from mondegreen.prompts.restore import Restorer
from mondegreen.prompts.turns import Turns
from mondegreen.prompts.units import Units

TEXTS = [
    "Anna Schmidt of Bergen wrote to Boris Okafor's wife on 07/05/2021, $4,711.50.",
    "Mail anna.schmidt@example.com or +44 20 7946 0958, card 4111-1111-1111-1111.",
    "Call me at 10:30 on March 3rd, 1985; I am 37 years old. I have 7 children.",
    "1. Buy id AB12-99X\n2. Pay Bob 😀 see https://example.com/anna?x=1 ok",
    "Sarah-Jane O'Neill, don't; OKONKWO's. The Okonkwos: 5kg, 80s, 7pm.",
    "",
]


def cut(text, rng):
    at = sorted(rng.choices(range(len(text) + 1), k=rng.randrange(9)))
    return [text[a:b] for a, b in zip([0, *at], [*at, len(text)], strict=True)]


@pytest.mark.parametrize("form", ["{}", "${}", "+{}", "{}.50", "1,{}"])
def test_a_number_of_many_digits_takes_no_time(form):
    """Time that grows with the square would be minutes, and no limit is heard in it."""
    begun = time.process_time()
    c = mg.conversation()
    sent = c.hide(form.format("1" * 200_000))
    assert c.restore(sent) == form.format("1" * 200_000)
    assert time.process_time() - begun < 20


def test_what_is_hidden_comes_back_whole_and_in_pieces():
    rng = random.Random(1)
    for _ in range(20):
        with mg.conversation() as c:
            sent = [c.hide(text) for text in TEXTS]
            assert [c.restore(each) for each in sent] == TEXTS
            for each, text in zip(sent, TEXTS, strict=True):
                assert "".join(c.restore_stream(cut(each, rng))) == text
                assert "".join(c.restore_stream(each)) == text
            assert [c.hide(text) for text in TEXTS] == sent


def test_an_answer_that_is_no_string_is_refused():
    with mg.conversation() as c:
        with pytest.raises(InvalidParameterError, match="must be a string; got int"):
            c.restore(5)


def restore_with(units, answer):
    """Restore an answer with these units alone, in pieces of one character."""
    with mg.conversation() as c:
        restorer = Restorer(c._surrogates, units, c.policy)
        return "".join(map(restorer.feed, answer)) + restorer.end()


def test_a_date_without_its_year_is_not_the_beginning_of_another():
    units = Units()
    sign, parts = ("shape", "2 digits"), ["", "07", "/", "05", "/", "2021", ""]
    units.learn(parts, ["", "06", "/", "01", "/", "2090", ""], [sign] * 3)
    assert restore_with(units, "On June 1 or June 1st.") == "On July 5 or July 5th."
    for other in ("June 1st, 1953.", "June 1sty", "June 1a", "June 12"):
        assert restore_with(units, other) == other


def test_what_was_sent_comes_before_another_way_to_write_something_else():
    """$4,711.50 went out as $1,992.69, and a year as "1992", which is a form of it."""
    kinds = [("shape", "1 digit"), ("shape", "3 digits"), ("shape", "2 digits")]
    amount = (
        ["$", "4", ",", "711", ".", "50", ""],
        ["$", "1", ",", "992", ".", "69", ""],
    )
    year = (["in ", "1985", ""], ["in ", "1992", ""])
    for order in (0, 1):
        units = Units()
        for is_year in (order, 1 - order):
            mine, theirs = year if is_year else amount
            units.learn(mine, theirs, [("shape", "year")] if is_year else kinds)
        answer = "1,992.69 and 1,992 in 1992"
        assert restore_with(units, answer) == "4,711.50 and 4,711 in 1985"


class Don:
    """Surrogates that gave out one name, "Don"."""

    def __init__(self, policy):
        self.code = policy.words.index("Don")

    def find_code(self, word):
        return self.code if word.casefold() == "don" else None

    def restore(self, word):
        return "Anna"


def test_a_contraction_is_no_form_of_a_name():
    policy = load_policy("sensitive")
    restorer = Restorer(Don(policy), Units(), policy)
    answer = "Don says I don’t, I don't. DON'T! Don's, Don'll do"
    shown = "".join(map(restorer.feed, answer)) + restorer.end()
    assert shown == "Anna says I don’t, I don't. DON'T! Anna's, Anna'll do"


class Initial:
    """Surrogates that gave out one initial, "S"."""

    def __init__(self, policy):
        self.code = policy.words.index("Don")

    def find_code(self, word):
        return self.code if word.casefold() == "s" else None

    def restore(self, word):
        return "O"


def test_an_ending_is_no_form_of_an_initial():
    policy = load_policy("sensitive")
    restorer = Restorer(Initial(policy), Units(), policy)
    answer = "S. Berg: Ann's, ANN'S, Ann’s, 's'"
    shown = "".join(map(restorer.feed, answer)) + restorer.end()
    assert shown == "O. Berg: Ann's, ANN'S, Ann’s, 'o'"


def test_ordinary_words_pass_as_they_are_and_sensitive_ones_never_leave():
    with mg.conversation() as c:
        sent = c.hide("Please WRITE to Okonkwo, iD 4711-0815-23.")
    assert sent.startswith("Please WRITE to ")
    assert "Okonkwo" not in sent
    assert not {"4711", "0815"} & set(sent.replace("-", " ").split())


def surrogate(c, name="Okonkwo"):
    return c.hide(name)


def test_case_possessives_plurals_and_other_scripts_come_back():
    with mg.conversation() as c:
        s = surrogate(c)
        for form, expected in (
            (s.upper(), "OKONKWO"),
            (s.lower(), "okonkwo"),
            (f"{s}'s and {s}’s", "Okonkwo's and Okonkwo’s"),
            (f"我是{s}先生。", "我是Okonkwo先生。"),
            (f"Frau {s} schläft.", "Frau Okonkwo schläft."),
            (f"**{s}**, _{s}_ ({s})", "**Okonkwo**, _Okonkwo_ (Okonkwo)"),
        ):
            assert c.restore(form) == expected


def test_plurals_of_names_come_back_unless_they_are_another_word():
    policy = load_policy("names")
    plain = [w for w in policy.groups[0].words if f"{w.lower()}s" not in policy.symbols]
    for _ in range(20):
        with mg.conversation() as c:
            s = c.hide("Chukwudi")
            known = f"{s.lower()}s" in policy.symbols
            expected = f"{s}s" if known else "Chukwudis"
            assert c.restore(f"{s}s") == expected
    assert plain


def test_numbers_come_back_as_people_write_them():
    with mg.conversation() as c:
        sent = c.hide("It was $12,345.67 and I am 37; phone 415-555-0142.")
        amount = sent.split("$")[1].split(" ")[0]
        age, phone = sent.split("am ")[1].split(";")[0], sent.split("phone ")[1][:-1]
        assert c.restore(amount.replace(",", "")) == "12345.67"
        assert c.restore(f"${amount[:-3]}!") == "$12,345!"
        assert c.restore(f"tel:{phone.replace('-', ' ')}") == "tel:415 555 0142"
        assert c.restore(f"At {age}, {age}% of it") == "At 37, 37% of it"
        for other in (f"{age}.5", f"1,{age}1", f"{age}/12", f"2{age}", f"v1.{age}"):
            assert c.restore(other) == other
        assert c.restore(f"{age}. Item") == f"{age}. Item"  # the marker of a list


def test_an_amount_comes_back_as_json_writes_it():
    """A number has no trailing zeros: $71,493.90 is 71493.9."""
    seen = 0
    while seen < 3:
        with mg.conversation() as c:
            amount = c.hide("It was $12,345.67.").split("$")[1].removesuffix(".")
            if amount.endswith("0"):
                seen += 1
                number = str(float(amount.replace(",", "")))
                assert c.restore(f'{{"a": {number}}}', is_json=True) == (
                    '{"a": 12345.67}'
                )


def test_an_address_comes_back_in_the_case_of_its_surrogate():
    with mg.conversation() as c:
        mail = c.hide("Okonkwo.C@mail.example")
        for given, wanted in (
            (mail, "Okonkwo.C@mail.example"),
            (mail.upper(), "OKONKWO.C@MAIL.EXAMPLE"),
        ):
            assert c.restore(f"Write to {given} today.") == f"Write to {wanted} today."
            stream = c.restore_stream(f"Write to {given} today.")
            assert "".join(stream) == f"Write to {wanted} today."


def test_an_initial_comes_back_behind_its_name_whatever_follows():
    with mg.conversation() as c:
        sent = c.hide("Ask Okonkwo D. Adeyemi. Then wait.")
        name = sent.split()[1]
        initial = sent.split()[2]
        assert c.restore(f"It is {name} {initial} again.") == "It is Okonkwo D. again."
        assert c.restore(f"Plan {initial} Go.") == f"Plan {initial} Go."


def test_a_digit_comes_back_only_beside_its_word():
    with mg.conversation() as c:
        digit = c.hide("I have 7 children.").split()[2]
        assert c.restore(f"Your {digit} children, in {digit} days.") == (
            f"Your 7 children, in {digit} days."
        )


def test_a_digit_comes_back_in_a_translation_behind_the_surrogate_before_it():
    """Its neighbors are translated, and the name in front of it is not."""
    with mg.conversation() as c:
        name, _, _, digit, _ = c.hide("Okonkwo. They have 7 children.").split()
        german = f"{name} Sie haben {digit} Kinder."
        assert c.restore(german) == "Okonkwo. Sie haben 7 Kinder."
        assert "".join(c.restore_stream(german)) == "Okonkwo. Sie haben 7 Kinder."
        far = f"{name} {'Und weiter. ' * 6}Sie haben {digit} Kinder."
        assert f"haben {digit} Kinder" in c.restore(far)
        assert c.restore(f"{name}\n{digit}. Kinder") == f"Okonkwo.\n{digit}. Kinder"
        other = str((int(digit) + 1) % 10)
        assert c.restore(f"{name} {other} Kinder") == f"Okonkwo. {other} Kinder"
        key = bytes(range(32))
        again = mg.Conversation.from_bytes(c.to_bytes(key), key)
        assert again.restore(german) == "Okonkwo. Sie haben 7 Kinder."


def test_links_get_no_originals_but_addresses_that_were_sent_come_back():
    with mg.conversation() as c:
        s = surrogate(c)
        url = c.hide("https://okonkwo.example/a?b=Okonkwo")
        mail = c.hide("okonkwo@mail.example")
        assert c.restore(f"[x]({url}) {url}. <{mail}>") == (
            "[x](https://okonkwo.example/a?b=Okonkwo) "
            "https://okonkwo.example/a?b=Okonkwo. <okonkwo@mail.example>"
        )
        for link in (f"https://evil.example/{s}", f"{url}&q={s}", f"{url}/{s}"):
            assert "konkwo" not in c.restore(link)
    with mg.conversation(in_links=True) as c:
        assert "Okonkwo" in c.restore(f"https://evil.example/{surrogate(c)}")


def test_a_stream_holds_back_no_more_than_the_longest_candidate():
    rng = random.Random(2)
    with mg.conversation() as c:
        sent = " ".join(c.hide(text) for text in TEXTS)
        longest = max(len(u.sent + u.after) for g in c._units._by_first.values()
                      for u in g)  # fmt: skip
        restorer = c.restorer()
        for sign in (
            sent * 3
            + "x" * 500
            + " 1234 "
            + "".join(rng.choices("0123456789 .,-", k=500))
        ):
            restorer.feed(sign)
            assert restorer.held <= max(longest, 256) + 2
        restorer = c.restorer()
        restorer.feed("This is said at once, to the last word ")
        assert restorer.held == 0


def test_json_stays_valid_with_any_original_in_any_pieces():
    rng = random.Random(3)
    for _ in range(30):
        with mg.conversation() as c:
            s = surrogate(c)
            value = {s: [f'a "{s}"\n\\{s}\t\u2028é😀', 37, -1.5, None], "b": {"c": s}}
            expected = json.loads(json.dumps(value).replace(s, "Okonkwo"))
            for ascii_only in (True, False):
                for indent in (None, 2):
                    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
                    found = "".join(c.restore_stream(cut(text, rng), is_json=True))
                    assert json.loads(found) == expected
            odd = "\x00\x01"  # content that JSON must escape
            sent = c.hide(f"Say {odd} now")
            text = json.dumps({"a": sent})
            assert json.loads(c.restore(text, is_json=True)) == {"a": c.restore(sent)}


def test_other_authors_words_have_surrogates_of_their_own():
    """A list of candidates shows nothing of which one the user wrote."""
    for _ in range(50):
        with mg.conversation() as c:
            s = surrogate(c)
            planted = c.hide("Smith Okonkwo Jones", author="assistant")
            assert s not in planted.split()
            assert c.restore(planted) == "Smith Okonkwo Jones"


def test_the_users_own_words_are_given_out_as_well():
    """Avoiding them would tell that they are there."""
    policy = load_policy("names")
    group = next(g for g in policy.groups if g.class_name == "time")
    found = Counter()
    for _ in range(300):
        with mg.conversation() as c:
            found[c.hide(f"on {group.words[2]} I wrote").split()[1]] += 1
    assert found[group.words[2]] > 0


def test_public_words_are_never_given_out_before_and_after():
    policy = load_policy("names")
    group = next(g for g in policy.groups if g.class_name == "time")
    half = len(group.words) // 2
    public = " ".join(group.words[:half])
    for _ in range(100):
        with mg.conversation(public=[public]) as c:
            assert c.hide("in March").split()[1] not in group.words[:half]
        with mg.conversation() as c:
            c.bar([public])
            assert c.hide("in March").split()[1] not in group.words[:half]


def test_epsilon_hides_the_kind_and_restores():
    policy = load_policy("names")
    kinds = Counter()
    for _ in range(100):
        with mg.conversation(epsilon=1.0) as c:
            s = surrogate(c)
            kinds[policy.find_class(s.split("xx")[0].lower())] += 1
            assert c.restore(c.hide("in Okonkwo 12345")) == "in Okonkwo 12345"
            assert "with loss 1 for each" in " ".join(c.guarantee)
    assert len(kinds) > 3


def test_a_conversation_comes_back_from_bytes_and_goes_on():
    key = os.urandom(32)
    with mg.conversation(public=["Malacca"]) as c:
        sent = [c.hide(text) for text in TEXTS]
        data = c.to_bytes(key)
    assert b"Okafor" not in data
    again = mg.conversation.from_bytes(data, key)
    assert [again.restore(each) for each in sent] == TEXTS
    assert [again.hide(text) for text in TEXTS] == sent
    with pytest.raises(DataError, match="key"):
        mg.conversation.from_bytes(data, os.urandom(32))
    with pytest.raises(DataError):
        mg.conversation.from_bytes(data[:-1] + bytes([data[-1] ^ 1]), key)


def test_a_closed_conversation_knows_nothing():
    with mg.conversation() as c:
        surrogate(c)
    for use in (lambda: c.hide("a"), lambda: c.restore("a"), lambda: c.to_bytes(b"")):
        with pytest.raises(ConfigurationError, match="closed"):
            use()
    assert len(c) == 0


def test_nothing_is_shown_or_copied_unawares():
    with mg.conversation() as c:
        surrogate(c)
        parts = (c, c._units, c.restorer(), c.restorer(is_json=True), Turns())
        assert "konkwo" not in "".join(map(repr, parts))
        with pytest.raises(TypeError):
            pickle.dumps(c)
    with pytest.raises(ConfigurationError, match="names or sensitive"):
        mg.conversation(policy="all")


def test_turns_of_the_assistant_cannot_be_public():
    with pytest.raises(ConfigurationError, match="assistant"):
        ConversationGuard(public_roles=["assistant"])


def test_a_restorer_of_nothing_changes_nothing():
    rng = random.Random(4)
    with mg.conversation() as c:
        for _ in range(300):
            text = "".join(rng.choices("aé 1.,:/-@'\"<>()[]{}\n\\😀中x", k=60))
            assert "".join(c.restore_stream(cut(text, rng))) == text
        plain = Restorer(c._surrogates, Units(), c._policy)
        assert plain.feed("a b") + plain.end() == "a b"


NAMES = ("Okonkwo Adeyemi Schmidt Okafor Chukwudi Anna Boris Bergen Ibadan Turin "
         "anna@example.com 12345 07/05/2021 415-555-0142").split()  # fmt: skip


def talk(seed, rounds):
    """One conversation of many turns, which restarts now and then."""
    rng, key = random.Random(seed), os.urandom(32)
    c, table = mg.conversation(), {}
    for _ in range(rounds):
        name = rng.choice(NAMES)
        text = f"Say {name} to {rng.choice(NAMES)}."
        sent = c.hide(text)
        assert table.setdefault(name, sent.split()[1]) == sent.split()[1]
        assert "".join(c.restore_stream(cut(sent, rng))) == text
        if rng.random() < 0.1:
            c = mg.conversation.from_bytes(c.to_bytes(key), key)
        yield
    assert len(set(table.values())) == len(table)


def in_threads(work, seeds):
    """Run work in a thread each, and raise what one raises."""
    with ThreadPoolExecutor(len(seeds)) as pool:
        for each in [pool.submit(work, seed) for seed in seeds]:
            each.result(60)


def test_conversations_in_threads_are_never_mixed():
    def work(seed):
        talks = [talk(seed * 100 + i, 15) for i in range(8)]
        rng = random.Random(seed)
        while talks:
            chosen = rng.choice(talks)
            if next(chosen, "end") == "end":
                talks.remove(chosen)

    in_threads(work, range(6))


@pytest.mark.slow("many tasks; threads by default")
def test_conversations_in_tasks_are_never_mixed():
    async def task(seed):
        for _ in talk(seed, 15):
            await asyncio.sleep(0)

    async def everything():
        await asyncio.gather(*(task(1000 + seed) for seed in range(30)))

    asyncio.run(everything())


def test_one_conversation_may_be_used_by_several_threads():
    with mg.conversation() as c:
        sent = {}

        def work(seed):
            rng = random.Random(seed)
            for _ in range(100):
                name = rng.choice(NAMES)
                assert sent.setdefault(name, c.hide(name)) == c.hide(name)
                assert c.restore(c.hide(f"Say {name}.")) == f"Say {name}."

        in_threads(work, range(6))


JOINED = (
    "@okonkwo", "@anna_s", "@OkonkwoBank", "okonkwo.com", "okonkwo-bank.com",
    "anna.schmidt", "Thanks.Okonkwo", "okonkwo@", "node.Okonkwo",
)  # fmt: skip
"""Words that a sign joins to others: each comes back where it stands as it was sent."""


def hide_other(said):
    """Hide a text whose words are not their own surrogates by chance."""
    while True:
        c = mg.conversation(policy="names")
        sent = c.hide(said)
        if not re.search("(?i)okonkwo|schmidt|anna", sent):
            return c, sent


@pytest.mark.parametrize("said", JOINED)
def test_what_a_sign_joins_comes_back_where_it_is_echoed(said):
    text = f"Ask {said} about it."
    c, sent = hide_other(text)
    run = sent.split()[1]
    for form in ("See {}.", "({})", '"{}", and', "{}", "{}'s desk", "Is it {}?\n"):
        asked, wanted = form.format(run), form.format(said)
        assert c.restore(asked) == wanted
        assert "".join(c.restore_stream(asked)) == wanted
    assert c.restore(sent.upper()) == text.upper()


# A word before a hyphen comes back by itself, wherever it stands.
@pytest.mark.parametrize("said", [each for each in JOINED if "-" not in each])
def test_what_a_sign_joins_is_not_put_into_links_or_longer_words(said):
    c, sent = hide_other(f"Ask {said} about it.")
    run = sent.split()[1]
    for form in (
        "[x]({})", "![]({})", "[x](https://e.example/{})", "https://e.example/?q={}",
        "<a href={}>", '<img src="{}">', "<base href=//e.example>[x](<{}>)", "x.{}",
        "https://{}", "x@{}", "a{}", "{}/x", "{}&x",
    ):  # fmt: skip
        shown = c.restore(form.format(run))
        assert said not in shown, form
        assert not re.search("(?i)okonkwo|schmidt|anna", shown), form


def test_a_joined_word_changes_nothing_that_is_sent():
    """The word by itself, before or after, has the surrogate that it always has."""
    c, sent = hide_other("Okonkwo wrote. See okonkwo.com now.")
    first, host = sent.split()[0], sent.split()[3]
    assert host == f"{first}.com"
    assert c.restore(f"{first} of {host}") == "Okonkwo of okonkwo.com"


@pytest.mark.parametrize(
    ("said", "lost"), [("Ask okonkwo.com about it.", "www.okonkwo.com")]
)
def test_the_how_to_says_what_does_not_come_back(said, lost):
    """Docs list these forms: a form that comes back must leave the list."""
    c, sent = hide_other(said)
    shown = c.restore(f"www.{sent.split()[1]}")
    assert lost not in shown
    page = Path(__file__).parents[2] / "docs" / "how-to" / "keep-a-conversation.md"
    assert f"`{lost}`" in page.read_text()


RANGES = (
    "10:30-11:45", "9:00-17:30", "12/05/2024-13/05/2024", "5/6/24-7/6/24",
    "12.05.2024-13.05.2024", "2024-05-12/2024-05-13", "12/05/2024,10:30,11",
    "8:15,9:15,10:15", "10:30-11", "5-10:30", "555-10:30", "10:30:15-10:45:15",
    "10:30/1,200.50", "44 20 7946 0958,12/05/2024",
)  # fmt: skip
"""Dates and times that a sign joins to other numbers."""
TIMES = ("9:30am-5:15pm", "10:30-11am", "KX4711-10:30", "10:30-11:45-Okonkwo")
"""Dates and times that a sign joins to words that are not only digits."""


def hide_range(said):
    """Hide a range none of whose numbers is its own surrogate by chance."""
    mine = re.findall(r"[^-,/ ]+", said)
    while True:
        c = mg.conversation(policy="sensitive")
        sent = c.hide(f"Come {said} today.")
        run = sent.removeprefix("Come ").removesuffix(" today.")
        theirs = re.findall(r"[^-,/ ]+", run)
        if not set(mine) & set(theirs) and len(set(mine)) == len(set(theirs)):
            return c, run


@pytest.mark.parametrize("said", RANGES + TIMES)
def test_a_range_of_dates_or_times_comes_back_where_it_is_echoed(said):
    c, run = hide_range(said)
    forms = ["{}", "At {}.", "({}), ok", '"{}"', "{}: yes", "**{}** {}\n**{}**."]
    for form in (*forms, *([] if ".2024-" in said else ["{}-", "_{}_"])):
        answer = form.replace("{}", run)
        assert_restored(c, answer, form.replace("{}", said))
    key = bytes(range(32))
    again = mg.Conversation.from_bytes(c.to_bytes(key), key)
    assert again.restore(f"At {run}.") == f"At {said}."


def test_a_range_of_dates_with_full_stops_stays_where_it_may_be_a_host():
    """A host may have such full stops and hyphens, and go on behind these signs."""
    said = "12.05.2024-13.05.2024"
    c, run = hide_range(said)
    for form in ("{}-", "{}–", "-{}", "_{}_", "~{}~", "{}-x.example", "{}/x", "{}*x"):
        answer = form.format(run)
        assert_restored(c, answer, answer)
    for form in (
        "{}",
        "**{}**",
        "*{}*",
        "{} -",
        "- {}",
        "`{}`",
        "({})",
        "{}!",
        "| {} |",
    ):
        assert_restored(c, form.format(run), form.format(said))
    one, other = run.split("-")
    shown = "12.05.2024", "13.05.2024"
    for form in ("{} to {}", "**{}** – {}", "{}: {}", "{}*{}"):
        assert_restored(c, form.format(one, other), form.format(*shown))


def test_an_address_in_bold_comes_back():
    c, sent = hide_other(
        "Ask okonkwo@mail.example or https://okonkwo.example/a?b=1 now"
    )
    mail, link = sent.split()[1], sent.split()[3]
    answer = "**{}**, *{}*. **Mail: {}**\n- **{}**:"
    asked, wanted = (
        answer.format(*pair, *pair)
        for pair in (
            (mail, link),
            ("okonkwo@mail.example", "https://okonkwo.example/a?b=1"),
        )
    )
    assert_restored(c, asked, wanted)
    for form in ("{}*x", "{}**x", "{}*/x", "{}*@x.example", "https://e.example/*{}*"):
        assert "konkwo" not in c.restore(form.format(link))


@pytest.mark.parametrize("said", ["10:30-11:45", "9:30am-5:15pm", "8:15,9:15,10:15"])
def test_each_date_of_a_range_comes_back_alone(said):
    c, run = hide_range(said)
    one, *rest = zip(*(re.split("[-,]", each) for each in (said, run)), strict=True)
    for mine, theirs in (one, *rest):
        assert_restored(c, f"From {theirs} on, {theirs}.", f"From {mine} on, {mine}.")
    both = f"{rest[0][1]} to {one[1]}"
    assert_restored(c, both, f"{rest[0][0]} to {one[0]}")


# A blank ends a link.
@pytest.mark.parametrize("said", [each for each in RANGES if " " not in each])
def test_a_range_is_not_put_into_links_or_longer_numbers(said):
    c, run = hide_range(said)
    for form in (
        "[x](https://e.example/{})", "![](https://e.example/?q={})", "[x]({})",
        "https://e.example/{}", "<a href={}>", '<img src="//e.example/{}">',
    ):  # fmt: skip
        answer = form.format(run)
        assert_restored(c, answer, answer)
    for form in ("{}-3", "3-{}", "{}:15", "{}7", "{},13", "3/{}", "{}x", "{}.5"):
        assert said not in c.restore(form.format(run)), form


@pytest.mark.parametrize("said", ["10:30-11:45", "10:30-11", "12/05/2024-13/05/2024"])
def test_no_part_of_a_longer_range_comes_back(said):
    c, run = hide_range(said)
    for form in ("{}-3", "3-{}", "{}:15", "{},13", "3/{}", "{}.5"):
        answer = form.format(run)
        assert_restored(c, answer, answer)


def test_ranges_of_the_same_times_come_back_each():
    said = "10:30-11:45, then 11:45-10:30, 10:30-12:15 and 12:15-10:30-11:45"
    with mg.conversation(policy="sensitive") as c:
        assert_restored(c, c.hide(said), said)


def test_a_range_with_a_number_that_was_not_hidden_comes_back():
    units, time = Units(), ("shape", "clock 10:30")
    parts, sent = ["", "10:30", "-", "11", ""], ["", "04:17", "-", "11", ""]
    units.learn(parts, sent, [time, None])
    assert restore_with(units, "At 04:17-11.") == "At 10:30-11."
    for other in ("04:17-12", "04:17-11:30", "04:17-111", "3-04:17-11"):
        assert restore_with(units, other) == other


def test_a_range_comes_before_its_beginning_in_any_order_of_turns():
    """One digit has its neighbor as context: here that is just as long as the range."""
    with mg.conversation(policy="sensitive") as c:
        longer, shorter = c.hide("5-10:30-11:45"), c.hide("5-10:30")
        assert_restored(c, f"{shorter} or {longer}", "5-10:30 or 5-10:30-11:45")


def test_an_address_with_times_comes_back_by_the_rules_of_addresses():
    said = "https://x1.example/a1.b2-10:30"
    with mg.conversation(policy="sensitive") as c:
        run = c.hide(said)
        assert_restored(c, f"See {run}.", f"See {said}.")
        tail = run.rpartition("/")[2]
        assert "b2-10:30" not in c.restore(f"e.example/{tail}")


def test_the_first_spelling_of_a_word_decides_its_case():
    with mg.conversation(policy="names") as c:
        shown = c.restore(c.hide("anna schmidt. Anna Schmidt."))
    assert shown == "anna schmidt. anna schmidt."


def test_of_a_code_digits_and_unknown_words_are_hidden():
    """What --numbers says of codes in --help."""
    with mg.conversation(policy="names") as c:
        sent = c.hide("Ticket 48213-AB and XQZ9-4471 are open.").split()
    assert sent[1].endswith("-AB")
    assert "48213" not in sent[1]
    assert "XQZ" not in sent[3]


def test_tags_come_back_as_pairs():
    text = "<b>Okonkwo</b> met <p>Will</p>, <td>5</td> and <h1>Anna</h1>."
    with mg.conversation(policy="names") as c:
        assert c.restore(c.hide(text)) == text


@pytest.mark.parametrize("text", [3, None, b"Anna", ["Anna"]])
def test_what_is_no_text_is_not_hidden(text):
    with mg.conversation() as c, pytest.raises(InvalidParameterError) as found:
        c.hide(text)
    assert str(found.value) == f"text must be a string; got {type(text).__name__}"


def test_the_guarantee_is_in_plain_words():
    with mg.conversation() as c:
        stated = " ".join(c.guarantee)
    assert "Two words of one kind have the same output probabilities" in stated
    assert "can show which candidate a word was" in stated
