"""The artifact of a device: whole, small, the same every time, and true to Unicode."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import unicodedata
import zlib
from itertools import pairwise

import numpy as np
import pytest
import regex
from click.testing import CliRunner

import mondegreen as mg
from mondegreen.cli.main import cli
from mondegreen.device import coding, unicode
from mondegreen.device.artifact import artifact
from mondegreen.errors import InvalidParameterError
from mondegreen.text.never_printed import replacements
from mondegreen.text.unicode import without_later
from vectors import keyed

EVERY = 0x110000
MAGIC = b"mondegreen-device/1\n"


def parsed(data):
    """Read an artifact as the specification says."""
    assert data.startswith(MAGIC)
    assert hashlib.sha256(data[:-32]).digest() == data[-32:]
    start = len(MAGIC) + 4
    size = int.from_bytes(data[len(MAGIC) : start], "little")
    header = json.loads(data[start : start + size])
    parts, at = {}, start + size
    for name, length in header["sections"]:
        parts[name] = data[at : at + length]
        at += length
    assert at == len(data) - 32
    return header, parts


def numbers(data):
    found, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            found.append(value)
            value = shift = 0
    return found


def unfolded(value):
    return -(value + 1) // 2 if value % 2 else value // 2


def runs(data):
    table, at = np.zeros(EVERY, np.int64), 0
    steps = numbers(data)
    for step, value in zip(steps[::2], steps[1::2], strict=True):
        at += step
        table[at:] = value
    return table


def strings(data):
    steps, at, key, found = numbers(data), 0, 0, {}
    while at < len(steps):
        key += steps[at]
        count, point, all_ = steps[at + 1], key, []
        for step in steps[at + 2 : at + 2 + count]:
            point += unfolded(step)
            all_.append(point)
        found[key] = "".join(map(chr, all_))
        at += 2 + count
    return found


@pytest.fixture(scope="module")
def default():
    return artifact(mg.load_space(), [10.0])


@pytest.mark.slow("another process")
def test_the_same_input_gives_the_same_bytes():
    tiny = artifact(keyed.tiny_space(), [2.0, 3.0])
    code = (
        "import sys; from vectors import keyed\n"
        "from mondegreen.device.artifact import artifact\n"
        "sys.stdout.buffer.write(artifact(keyed.tiny_space(), [2.0, 3.0]))"
    )
    path = f"import sys; sys.path[:0] = {sys.path!r}\n"
    run = [sys.executable, "-c", path + code]
    assert subprocess.run(run, capture_output=True, check=True).stdout == tiny


@pytest.mark.slow("writes a whole artifact")
def test_its_size_is_what_a_phone_loads_at_once(default):
    assert len(zlib.compress(default, 9)) < 160_000


@pytest.mark.slow("writes an artifact")
def test_it_holds_words_tree_and_integers_of_the_package(default):
    header, parts = parsed(default)
    space = mg.load_space()
    p = mg.Privatizer(mg.mechanism("tree", epsilon=10.0), space)
    tree = p.state.tree
    words = parts["words"].decode().split("\n")
    assert words == [space.words[i] for i in tree.order]
    sizes = numbers(parts["tree"])
    for level in range(tree.levels):
        count = sizes.pop(0)
        listed, sizes = sizes[:count], sizes[count:]
        assert (listed or [1] * len(words)) == tree.sizes(level).tolist()
    assert sizes == []
    (setting,) = header["settings"]
    assert tuple(map(int, setting["weights"])) == p.state.law.weights
    assert setting["guarantee"] == p.guarantee.to_dict()
    assert setting["summary"] == p.guarantee.summary()
    scope = hashlib.sha256(bytes.fromhex(setting["digest"]) + b"text").digest()
    assert scope == p._scope("text")
    assert header["space"]["digest"] == space.digest
    assert header["public"] == {"tree": tree.digest}
    assert 0.2 < setting["preview"]["recovered"] < 0.6
    assert setting["protection"] == "weak"


def test_words_that_are_never_printed_are_in_it_with_others_in_their_stead(default):
    _, parts = parsed(default)
    words, place, found = parts["words"].decode().split("\n"), 0, {}
    steps = numbers(parts["printed"])
    for step, other in zip(steps[::2], steps[1::2], strict=True):
        place += step
        found[words[place]] = words[place + unfolded(other)]
    space = mg.load_space()
    expected = replacements(space).items()
    assert found == {space.words[a]: space.words[b] for a, b in expected}


def test_codes_are_in_order_with_their_words():
    space = keyed.tiny_space()
    header, parts = parsed(artifact(space, [0.25], "brr"))
    table = np.frombuffer(parts["codes"], np.uint8).reshape(-1, 2)
    rows = np.repeat(table, numbers(parts["counts"]), axis=0)
    words = parts["words"].decode().split("\n")
    assert all(a.tobytes() < b.tobytes() for a, b in pairwise(table))
    for word, code in zip(words, rows, strict=True):
        assert (space.codes.table[space.get_id(word)] == code).all()
    state = mg.mechanism("brr", epsilon=0.25).prepare(space)
    assert header["settings"][0]["threshold"] == str(state.threshold)
    assert header["settings"][0]["preview"]["recovered"] is None


@pytest.mark.parametrize(
    ("epsilons", "name"), [([], "tree"), ([2.0, 2], "tree"), ([2.0], "tem")]
)
def test_it_refuses_no_epsilon_one_twice_and_other_mechanisms(epsilons, name):
    with pytest.raises(InvalidParameterError):
        artifact(keyed.tiny_space(), epsilons, name)


def test_the_command_writes_it_and_prints_its_digest(tmp_path, default):
    out = tmp_path / "tree.mdg"
    run = ["space", "export", "--device", "-o", str(out), "--epsilon", "10", "--json"]
    done = CliRunner().invoke(cli, run)
    assert done.exit_code == 0, done.output
    assert out.read_bytes() == default
    assert json.loads(done.stdout)["digest"] == default[-32:].hex()
    assert CliRunner().invoke(cli, run).exit_code == 3  # it exists
    assert CliRunner().invoke(cli, [*run, "--force"]).exit_code == 0


def test_the_command_wants_to_know_for_whom(tmp_path):
    out = tmp_path / "tree.mdg"
    done = CliRunner().invoke(cli, ["space", "export", "-o", str(out), "-e", "10"])
    assert done.exit_code == 2
    assert not out.exists()


@pytest.mark.slow("1.1 million characters")
def test_tables_say_of_every_character_what_python_and_regex_say():
    tables = unicode.tables()
    classes, removed = runs(tables["classes"]), runs(tables["removed"])
    combining = runs(tables["combining"])
    kinds = [r"\p{L}", r"\p{M}", r"\p{N}", r"\p{Cf}"]
    every = without_later("".join(map(chr, range(EVERY))))
    for number, kind in enumerate(kinds, start=1):
        found = classes[[c != "\ufffe" for c in every]] == number
        expected = [
            m.start() for m in regex.finditer(kind, every.replace("\ufffe", ""))
        ]
        assert (np.flatnonzero(found) == expected).all()
    assert combining.tolist() == [unicodedata.combining(c) for c in every]
    is_format = [unicodedata.category(c) == "Cf" for c in every]
    assert removed.astype(bool).tolist() == is_format
    lower, split = strings(tables["lower"]), strings(tables["decompositions"])
    assert {chr(c): small for c, small in lower.items()} == {
        c: c.lower() for c in every if c.lower() != c
    }
    for c in every:
        if not 0xAC00 <= ord(c) <= 0xD7A3:
            assert split.get(ord(c), c) == unicodedata.normalize("NFKD", c)
    for c, (first, second) in strings(tables["compositions"]).items():
        assert unicodedata.normalize("NFC", first + second) == chr(c)


@pytest.mark.slow("all of Unicode")
def test_sigma_is_final_where_python_says_so():
    sigma = runs(unicode.tables()["sigma"])
    for point in [*range(0x3000), *range(0x10400, 0x10450), 0x1D173, 0xE0001]:
        c = chr(point)
        before = (c + "Σ").lower().endswith("ς")
        overlooked = ("a" + c + "Σ").lower().endswith("ς")
        assert sigma[point] == (1 if before else 2 if overlooked else 0)


@pytest.mark.slow("1.1 million normal forms")
def test_one_normal_form_serves_before_and_after_letters_are_made_small():
    """A device has NFKC alone; the lookup composes with NFC at the end."""
    every = map(chr, range(EVERY))
    stable = (c for c in every if unicodedata.normalize("NFKC", c) == c)
    for small in {c.lower() for c in stable}:
        nfkc = unicodedata.normalize("NFKC", small)
        assert nfkc == unicodedata.normalize("NFC", small)


def test_numbers_and_runs_are_as_the_page_says():
    assert numbers(coding.numbers([0, 127, 128, 2**31])) == [0, 127, 128, 2**31]
    assert [unfolded(coding.to_signed(n)) for n in range(-300, 300)] == [
        *range(-300, 300)
    ]
    values = [0, 0, 5, 5, 0, 1]
    assert runs(coding.runs(values))[: len(values)].tolist() == values
    table = {65: "a", 0x1F600: "xy", 0x130: "i̇"}
    points = {key: list(map(ord, text)) for key, text in table.items()}
    assert strings(coding.strings(points)) == table
