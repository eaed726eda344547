"""Weekdays and months come back from answers in other languages."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

import mondegreen as mg
from mondegreen.prompts.calendar import list_translations, read_names
from mondegreen.prompts.units import Units

ROOT = Path(__file__).parents[2]
NAMES = read_names()
ENGLISH = NAMES["en"]
FOREIGN = {name: each for name, each in NAMES.items() if name != "en"}
KEY = bytes(range(32))


def opened(pairs, **options):
    """A conversation in which these originals have these surrogates."""
    c = mg.conversation(**options)
    units = Units()
    for original, surrogate in pairs.items():
        units.learn(["", original, ""], ["", surrogate, ""], [("time", "singular")])
    c._units = units
    return c


def start(name):
    return name[0].upper() + name[1:]


def test_the_tables_are_those_of_the_script():
    pytest.importorskip("babel")
    command = [sys.executable, "-m", "benchmarks", "calendar_names", "--check"]
    assert subprocess.run(command, cwd=ROOT).returncode == 0


def test_a_table_in_which_a_name_stands_for_two_is_refused():
    pytest.importorskip("babel")
    from benchmarks.ship.calendar_names import check

    check(dict(NAMES))
    with pytest.raises(SystemExit, match="mardi"):
        check({**NAMES, "xx": ["mardi", *NAMES["fr"][1:]]})


@pytest.mark.parametrize("language", FOREIGN)
def test_every_name_comes_back_in_its_language_or_as_the_user_wrote_it(language):
    table = FOREIGN[language]
    for theirs, mine in product(range(len(ENGLISH)), repeat=2):
        new, old = ENGLISH[theirs], ENGLISH[mine]
        if table[theirs].casefold() == new.casefold():
            continue  # the English name, which comes back as in English
        found = {each.sent: each.original for each in list_translations(new, old)}
        for spell in (str, start, str.upper):
            shown = found[spell(table[theirs])]
            as_written = old.upper() if spell is str.upper else old
            assert shown in (spell(table[mine]), as_written)
            others = {
                spell(each[mine])
                for each in FOREIGN.values()
                for own in (str, start, str.upper)
                if own(each[theirs]) == spell(table[theirs])
            }
            assert (shown == spell(table[mine])) or len(others) > 1


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("On se voit vendredi.", "On se voit lundi."),
        ("Vendredi, oui. VENDREDI!", "Lundi, oui. LUNDI!"),
        ("Bis Freitag, am Freitag.", "Bis Montag, am Montag."),
        ("Até sexta-feira; Sexta-feira.", "Até segunda-feira; Segunda-feira."),
        ("Le 5 juillet 2024.", "Le 5 octobre 2024."),
        ("Ci vediamo venerdì", "Ci vediamo lunedì"),
        ("Fermé (vendredi)", "Fermé (lundi)"),
        # What is no such name, or may be another word.
        ("vendredis, xvendredi, vendrediX", "vendredis, xvendredi, vendrediX"),
        ("la sexta vez, sexta-feirante", "la sexta vez, sexta-feirante"),
        ("vEndredi freitag", "vEndredi freitag"),
        ("Susan Julio called.", "Susan Julio called."),
        ("samedi und Mittwoch", "samedi und Mittwoch"),
        ("[ici](https://x.example/vendredi)", "[ici](https://x.example/vendredi)"),
        ("https://x.example/vendredi", "https://x.example/vendredi"),
        # German and Dutch write July like that, and both October.
        ("Juli", "Oktober"),
        # Spanish and Portuguese write Sunday like that, and Tuesday otherwise.
        ("domingo, DOMINGO", "Tuesday, TUESDAY"),
    ],
)
def test_answers_are_restored_whole_and_in_pieces(said, shown):
    c = opened({"Monday": "Friday", "October": "July", "Tuesday": "Sunday"})
    assert c.restore(said) == shown
    for size in (1, 2, 3, 7):
        pieces = [said[i : i + size] for i in range(0, len(said), size)]
        assert "".join(c.restore_stream(pieces)) == shown


def test_an_original_that_is_no_day_or_month_comes_back_as_it_was_written():
    c = opened({"Easter": "Friday", "march": "July", "TUESDAY": "March"})
    assert c.restore("vendredi, Vendredi, VENDREDI") == "Easter, Easter, EASTER"
    assert c.restore("juillet") == "march"  # it may be a verb
    assert c.restore("en mars") == "en mardi"


def test_a_surrogate_without_a_name_in_the_table_has_no_translation():
    c = opened({"Monday": "summer"})
    assert c.restore("été, Sommer, vendredi") == "été, Sommer, vendredi"


def test_nothing_is_restored_that_was_not_given_out():
    c = mg.conversation()
    c.hide("My name is Okonkwo.")
    text = " ".join(name for each in FOREIGN.values() for name in each)
    assert c.restore(text) == text


def test_words_that_were_given_out_or_are_public_stay_what_they_are():
    c = opened({"Monday": "Friday"}, public=["Ouvert le vendredi."])
    assert c.restore("vendredi, venerdì") == "vendredi, lunedì"
    c.bar(["venerdì"])
    assert c.restore("venerdì") == "venerdì"


def test_a_surname_that_was_given_out_is_no_day(monkeypatch):
    c = opened({"Monday": "Friday"})
    known = c._surrogates.find_code
    given = {"freitag": 0}
    monkeypatch.setattr(
        type(c._surrogates),
        "find_code",
        lambda self, word: given.get(word.lower(), known(word)),
    )
    monkeypatch.setattr(type(c._surrogates), "restore", lambda self, word: "Adeyemi")
    assert c.restore("Frau Freitag") == "Frau Adeyemi"


def test_what_hide_gives_out_comes_back_and_survives_a_file():
    seen = 0
    for number in range(60):
        with mg.conversation() as c:
            sent = c.hide("We meet on Monday.").removeprefix("We meet on ")[:-1]
            if sent not in ENGLISH:
                continue
            seen += 1
            said = f"On se voit {FOREIGN['fr'][ENGLISH.index(sent)]}."
            shown = c.restore(said)
            assert shown in ("On se voit lundi.", "On se voit Monday."), number
            again = mg.Conversation.from_bytes(c.to_bytes(KEY), KEY)
            assert again.restore(said) == shown
    assert seen > 10


@pytest.mark.parametrize(
    ("original", "shown"), [("Monday", "Mondays"), ("MONDAY", "Mondays")]
)
def test_weekdays_come_back_in_the_plural(original, shown):
    c = opened({original: "Friday"})
    for answer, wanted in (
        ("On Fridays and FRIDAYS.", f"On {shown} and {shown.upper()}."),
        ("Fridays: free", f"{shown}: free"),
        ("fridays", "fridays"),
        ("https://x.example/Fridays", "https://x.example/Fridays"),
    ):
        assert c.restore(answer) == wanted
        assert "".join(c.restore_stream(answer)) == wanted


def test_no_other_word_comes_back_in_the_plural_of_a_weekday():
    for pairs in ({"summer": "Friday"}, {"March": "Friday"}, {"Monday": "March"}):
        answer = "On Fridays in Marchs."
        assert opened(pairs).restore(answer) == answer
