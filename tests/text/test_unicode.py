"""Every Python, and every version of ``regex``, sees the same Unicode."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
import regex

from mondegreen.text import unicode
from mondegreen.text.tokenizer import canonical, tokenize

EVERY = 0x110000

# Written with the standard library alone, and run by whatever Python there is. The
# characters of a word decide together: what composes, sorts, or ends with a sigma.
SCRIPT = """
import hashlib, importlib.util, random, sys
spec = importlib.util.spec_from_file_location("unicode_of_ours", sys.argv[1])
unicode = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = unicode
spec.loader.exec_module(unicode)
found = hashlib.sha256()
# No version has a character from 0x40000 on but for tags and selectors of shapes, and
# for private ones, which stay as they are: of those that are left, one in 97.
for point in (*range(0x40000), *range(0xE0000, 0xE1000), *range(0x40000, 0x110000, 97)):
    c = chr(point)
    forms = unicode.fold(c) + unicode.fold("A" + c + "\\u03a3")
    found.update(forms.encode("utf-8", "surrogatepass"))
    found.update(unicode.with_stand_ins(c).encode("utf-8", "surrogatepass"))
rng = random.Random(11)
for _ in range(100_000):
    word = "".join(chr(rng.randrange(0x20000)) for _ in range(rng.randrange(2, 6)))
    found.update(unicode.fold(word).encode("utf-8", "surrogatepass"))
print(found.hexdigest())
"""
DIGEST = "b0f8a9bce2bd61c200ae18d9239bdb8d632051bf5c881007c7ec486c45787b56"


def pythons():
    """Find the interpreters of this machine that the package supports."""
    names = [f"python3.{minor}" for minor in range(11, 20)]
    found = [shutil.which(name) for name in names]
    found += sorted(Path.home().glob(".pyenv/versions/3.1[1-9].*/bin/python"))
    # The shims of pyenv start nothing where the version is not the chosen one.
    paths = [str(path) for path in found if path and "shims" not in str(path)]
    by_version = {minor_of(path): path for path in reversed(paths)}
    by_version[own := minor_of(sys.executable)] = sys.executable
    order = sorted(by_version, key=lambda minor: int(minor.partition(".")[2]))
    others = [minor for minor in order if minor != own]
    long = pytest.mark.long("the newest other Python is tried by every run")
    return [
        pytest.param(by_version[minor], marks=[long] if minor in others[:-1] else [])
        for minor in order
    ]


def minor_of(python):
    """Ask an interpreter for its version, such as 3.11."""
    script = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", script], capture_output=True, text=True)
    return done.stdout.strip()


@pytest.mark.slow("all of Unicode under every Python that is here", seconds=4)
@pytest.mark.parametrize("python", pythons())
def test_all_of_unicode_is_folded_the_same_by_every_python(python):
    run = [python, "-c", SCRIPT, unicode.__file__]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == DIGEST


def later():
    """List the first and the last character of each run of the list, with its kind."""
    for line in unicode._LIST.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            points, _, kind = line.partition(" ")
            first, _, last = points.partition("..")
            yield chr(int(first, 16)), chr(int(last or first, 16)), kind


@pytest.mark.slow("all code points")
def test_the_list_holds_what_unicode_14_does_not_have_and_no_more():
    every = "".join(map(chr, range(EVERY)))
    pinned = {c for c in every if unicode.has_later(c)}
    assert sum(ord(b) - ord(a) + 1 for a, b, _ in later()) == len(pinned)
    assigned = {c for c in every if unicodedata.category(c) != "Cn"}
    if unicodedata.unidata_version == "14.0.0":
        assert pinned == set(every) - assigned
    assert set(every) - assigned <= pinned
    assert not any(map(unicode.has_later, map(chr, range(0x370))))


def test_the_list_has_the_kinds_that_regex_knows():
    kinds = {"letter": "L", "mark": "M", "digit": "N", "format": "Cf"}
    for first, last, kind in later():
        for c in {first, last}:
            if not regex.match(r"\p{Cn}", c):  # else this version has not met it yet
                found = [
                    k for k, name in kinds.items() if regex.match(rf"\p{{{name}}}", c)
                ]
                assert found == ([] if kind == "other" else [kind]), hex(ord(c))


def test_stand_ins_have_the_kind_of_what_they_stand_for():
    kinds = {"letter": "L", "mark": "M", "digit": "N", "format": "Cf", "other": "Cn"}
    for kind, c in unicode._STAND_INS.items():
        assert regex.fullmatch(rf"\p{{{kinds[kind]}}}", c)
        assert not unicode.has_later(c) or kind == "other"


@pytest.mark.parametrize("c", ["\U0001e030", "\U0001e06d", "\ua7cb", "\U00013440"])
def test_a_character_that_came_later_is_looked_up_as_it_is(c):
    # Python 3.12 makes a Cyrillic letter of the first, and drops the last.
    assert canonical(c) == c
    assert canonical(f"É{c}É") == f"é{c}é"
    assert canonical(f"ΟΔΟΣ{c}") == f"οδος{c}"


def test_a_text_with_characters_that_came_later_is_cut_as_its_kinds_say():
    letter, mark = "\U0001e030", "\u0897"
    text = f"a{letter}b, x{mark}y\U0001fae8 isn’t{letter}"
    (parts,) = tokenize([text]).parts
    assert "".join(parts) == text
    emoji = "\U0001fae8"
    assert parts[1::2] == [f"a{letter}b", f"x{mark}y", emoji, "isn", f"t{letter}"]


def test_cutting_joins_to_the_text_whatever_characters_it_has():
    rng = random.Random(5)
    ends = [c for a, b, _ in later() for c in (a, b)]
    pool = [*"ab'’sStTnN$1 ,.", "é", "\u0301", "\u200d", "\ufffe", "\ud800"]
    for _ in range(3000):
        text = "".join(
            rng.choice(ends if rng.random() < 0.3 else pool)
            for _ in range(rng.randrange(1, 14))
        )
        (parts,) = tokenize([text]).parts
        (plain,) = tokenize([unicode.with_stand_ins(text)]).parts
        assert "".join(parts) == text
        assert list(map(len, parts)) == list(map(len, plain))


def test_a_final_sigma_is_what_it_was_in_unicode_14():
    assert unicode.lower("\u0295Σ") == "\u0295ς"
    assert unicode.lower("Α\U0001171eΣ") == "α\U0001171eς"
    assert unicode.lower("ΣΑΣ σς İΣ") == "σας σς i̇ς"


def test_ascii_reads_no_list():
    code = (
        "from mondegreen.text import unicode; from mondegreen.text.tokenizer import *\n"
        "tokenize(['I don\\'t']); canonical('Oslo')\n"
        "assert not unicode._later.cache_info().currsize"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
