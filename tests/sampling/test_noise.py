"""Where randomness comes from: the cipher, its keys, and what must not be shared."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.sampling.noise import (
    Batch,
    KeyedNoise,
    NoiseSource,
    OSNoise,
    Seeded,
    StreamKeyer,
    chacha20,
)

KEY = bytes(range(32))
BLOCK = 64  # bytes of key stream; randomgen counts 16 words of 32 bits


# ChaCha20


def _quarter(s: list[int], a: int, b: int, c: int, d: int) -> None:
    for x, y, z, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        s[x] = (s[x] + s[y]) & 0xFFFFFFFF
        mixed = s[z] ^ s[x]
        s[z] = ((mixed << turn) | (mixed >> (32 - turn))) & 0xFFFFFFFF


def _block(key: bytes, counter: int) -> bytes:
    """One block of RFC 8439, section 2.3, with nonce 0, in plain Python."""
    words = [int.from_bytes(key[i : i + 4], "little") for i in range(0, 32, 4)]
    state = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *words, counter, 0, 0, 0]
    work = list(state)
    for _ in range(10):
        for i in range(4):
            _quarter(work, i, i + 4, i + 8, i + 12)
        for i in range(4):
            _quarter(work, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return b"".join(
        ((a + b) & 0xFFFFFFFF).to_bytes(4, "little")
        for a, b in zip(work, state, strict=True)
    )


def _stream(key: bytes, blocks: int) -> bytes:
    raw = chacha20(key).bit_generator.random_raw(blocks * BLOCK // 8)
    return raw.astype("<u8").tobytes()


# RFC 8439, appendix A.1: key, block counter, key stream. All with nonce 0.
VECTORS = [
    (
        bytes(32),
        0,
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586",
    ),
    (
        bytes(32),
        1,
        "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
        "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f",
    ),
    (
        bytes(31) + b"\x01",
        1,
        "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a"
        "8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0",
    ),
    (
        b"\x00\xff" + bytes(30),
        2,
        "72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca"
        "13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096",
    ),
]


@pytest.mark.parametrize(("key", "counter", "expected"), VECTORS)
def test_the_stream_is_the_one_of_rfc_8439(key, counter, expected):
    stream = _stream(key, counter + 1)[counter * BLOCK :]
    assert stream.hex() == expected
    assert _block(key, counter).hex() == expected


@given(key=st.binary(min_size=32, max_size=32), blocks=st.integers(1, 9))
def test_the_stream_is_chacha20_for_any_key_and_block(key, blocks):
    assert _stream(key, blocks) == b"".join(_block(key, i) for i in range(blocks))


def test_the_stream_may_be_consumed_in_pieces():
    generator = chacha20(KEY).bit_generator
    pieces = [generator.random_raw(k) for k in (1, 7, 8, 3, 29)]
    assert np.concatenate(pieces).astype("<u8").tobytes() == _stream(KEY, 6)


KEYER = StreamKeyer()


@given(key=st.binary(min_size=32, max_size=32), draws=st.integers(1, 40))
def test_a_generator_that_is_keyed_anew_has_the_stream_of_the_key(key, draws):
    """However far the stream before was read: the examples share one keyer."""
    found = [int(KEYER(key).integers(0, 1 << 62)) for _ in range(2)]
    stream = KEYER(key)
    assert found == [int(stream.integers(0, 1 << 62))] * 2
    wanted = chacha20(key).integers(0, 1 << 62, size=draws + 1).tolist()
    assert [found[0], *(int(stream.integers(0, 1 << 62)) for _ in range(draws))] == (
        wanted
    )
    stream.bytes(draws)  # half of a word is left


@pytest.mark.parametrize("size", [0, 16, 31, 33, 64])
def test_a_stream_key_has_32_bytes(size):
    for make in (chacha20, KEYER):
        with pytest.raises(InvalidParameterError, match="32 bytes"):
            make(bytes(size))


# Fresh noise


FRESH = OSNoise()


def _first(source: NoiseSource = FRESH) -> int:
    ((_, rng),) = source.streams(Batch(0, b"scope", ["same text"]))
    return int(rng.integers(2**63))


def test_fresh_noise_covers_the_batch_in_one_stream():
    ((texts, _),) = OSNoise().streams(Batch(3, b"", ["a", None, "c"]))
    assert texts == range(3)


def test_fresh_noise_never_repeats_in_one_process():
    assert len({_first() for _ in range(300)}) == 300


def test_fresh_noise_differs_between_threads():
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: _first(), range(200)))) == 200


def test_fresh_noise_of_a_pickled_source_differs():
    source = OSNoise()
    copies = [pickle.loads(pickle.dumps(source)) for _ in range(20)]
    assert len({_first(copy) for copy in [source, *copies]}) == 21


FORKS = """
import os, sys
from mondegreen.sampling.noise import Batch, OSNoise
source = OSNoise()
def first():
    ((_, rng),) = source.streams(Batch(0, b"scope", ["same text"]))
    return int(rng.integers(2**63))
first()  # whatever state there is, the children inherit it
ends = []
for _ in range(8):
    r, w = os.pipe()
    if os.fork() == 0:
        os.write(w, str(first()).encode())
        os._exit(0)
    os.close(w)
    ends.append(r)
found = [os.read(r, 99).decode() for r in ends] + [str(first())]
for _ in ends:
    os.wait()
print(len(set(found)), all(found))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_fresh_noise_differs_after_fork():
    # In a process of its own: the one of pytest may hold threads.
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FORKS)], capture_output=True, text=True
    )
    assert done.stdout.split() == ["9", "True"], done.stderr


def _child(source: NoiseSource, end: object) -> None:
    end.send([_first(source) for _ in range(3)])
    end.close()


@pytest.mark.slow("starts processes")
def test_fresh_noise_differs_after_spawn():
    context = multiprocessing.get_context("spawn")
    source, found = OSNoise(), [_first()]
    children = []
    for _ in range(2):
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_child, args=(source, theirs))
        process.start()
        theirs.close()
        children.append((process, ours))
    for process, ours in children:
        found += ours.recv()
        ours.close()
        process.join()
        process.close()
    assert len(set(found)) == 7


@pytest.mark.slow("starts workers of joblib")
def test_fresh_noise_differs_under_joblib():
    joblib = pytest.importorskip("joblib")
    job = joblib.delayed(_first)
    found = joblib.Parallel(n_jobs=2, backend="loky")(job(OSNoise()) for _ in range(20))
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)  # its workers would outlive the test
    assert len(set(found)) == 20


def test_fresh_noise_is_not_the_library_seeded_by_the_user():
    np.random.seed(0)  # noqa: NPY002
    before = _first()
    np.random.seed(0)  # noqa: NPY002
    assert _first() != before


# Seeded noise


def _seeded(seed: int, number: int = 0, scope: bytes = b"scope") -> int:
    ((_, rng),) = Seeded(seed).streams(Batch(number, scope, ["text"]))
    return int(rng.integers(2**63))


def test_seeded_noise_repeats():
    assert _seeded(7) == _seeded(7)


def test_seeded_noise_depends_on_seed_scope_and_number():
    found = {_seeded(7), _seeded(8), _seeded(7, 1), _seeded(7, 0, b"other")}
    assert len(found) == 4


def test_seeded_noise_says_that_it_is_not_private():
    assert not Seeded(0).is_secret
    assert "experiments only" in Seeded(5).describe()
    assert OSNoise().is_secret
    assert KeyedNoise(KEY).is_secret


def test_seeded_noise_without_a_number_is_refused():
    with pytest.raises(ConfigurationError, match="number="):
        list(Seeded(7).streams(Batch(None, b"scope", ["text"])))


def test_a_negative_seed_is_refused():
    with pytest.raises(InvalidParameterError, match="seed"):
        Seeded(-1)


# Keyed noise


def _keyed(
    *, key: bytes = KEY, scope: bytes = b"scope", record: str = "1", text: str = "text"
) -> int:
    ((_, rng),) = KeyedNoise(key).streams(Batch(0, scope, [text], [record]))
    return int(rng.integers(2**63))


def test_keyed_noise_repeats_for_the_same_record():
    assert _keyed() == _keyed()


@pytest.mark.parametrize(
    "other",
    [
        {"record": "2"},
        {"text": "text "},
        {"scope": b"scopf"},
        {"key": bytes(range(1, 33))},
        {"key": KEY + b"\0"},
        {"text": ""},
        {"record": ""},
    ],
)
def test_keyed_noise_differs_where_anything_differs(other):
    assert _keyed(**other) != _keyed()


@given(
    fields=st.lists(st.text(max_size=6), min_size=3, max_size=3),
    cut=st.integers(1, 6),
)
def test_a_letter_cannot_move_from_one_field_to_the_next(fields, cut):
    scope, record, text = fields
    whole = record + text
    here = _keyed(scope=scope.encode(), record=record, text=text)
    moved = (whole[:cut], whole[cut:])
    if moved != (record, text):
        there = _keyed(scope=scope.encode(), record=moved[0], text=moved[1])
        assert here != there
    if record != text:
        assert here != _keyed(scope=scope.encode(), record=text, text=record)


def test_keyed_noise_does_not_depend_on_the_batch_a_record_is_in():
    texts, ids = ["a", None, "b", "c"], ["1", "2", "3", "4"]
    together = {
        texts_of[0]: rng.random()
        for texts_of, rng in KeyedNoise(KEY).streams(Batch(0, b"s", texts, ids))
    }
    assert sorted(together) == [0, 2, 3]
    ((_, alone),) = KeyedNoise(KEY).streams(Batch(9, b"s", ["b"], ["3"]))
    assert together[2] == alone.random()


@given(text=st.text(st.characters(), max_size=5), other=st.text(st.characters()))
def test_lone_surrogates_are_text_like_any_other(text, other):
    odd = text + "\udcff"
    assert _keyed(text=odd, record=odd) == _keyed(text=odd, record=odd)
    assert _keyed(text=odd) != _keyed(text=odd[:-1])
    assert (_keyed(record=odd) == _keyed(record=other)) == (odd == other)


def test_texts_of_one_record_differ_by_their_place():
    batch = Batch(0, b"s", ["a"] * 3, ["1"] * 3, [0, 1, 2**60])
    drawn = [rng.random() for _, rng in KeyedNoise(KEY).streams(batch)]
    assert len(set(drawn)) == 3
    ((_, alone),) = KeyedNoise(KEY).streams(Batch(0, b"s", ["a"], ["1"]))
    assert alone.random() == drawn[0]


def test_keyed_noise_needs_ids():
    with pytest.raises(ConfigurationError, match="--id"):
        list(KeyedNoise(KEY).streams(Batch(0, b"", ["a"])))


def test_keyed_noise_refuses_fewer_ids_than_texts():
    with pytest.raises(ValueError, match="shorter"):
        list(KeyedNoise(KEY).streams(Batch(0, b"", ["a", "b"], ["1"])))


@pytest.mark.parametrize(
    "key", [b"", b"password", KEY[:31], bytes(32), b"ab" * 40, bytes(range(7)) * 9]
)
def test_short_and_repetitive_keys_are_refused(key):
    with pytest.raises(InvalidParameterError, match="32 random bytes") as caught:
        KeyedNoise(key)
    assert "password" not in str(caught.value)


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "release.key"
    path.write_bytes(os.urandom(40))
    path.chmod(0o600)
    return path


def test_a_key_is_read_from_a_private_file(key_file):
    assert KeyedNoise.from_file(key_file) == KeyedNoise(key_file.read_bytes())


@pytest.mark.skipif(os.name != "posix", reason="permissions are of POSIX")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o777])
def test_a_key_file_open_to_others_is_refused(key_file, mode):
    key_file.chmod(mode)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        KeyedNoise.from_file(key_file)


def test_a_key_file_of_digits_is_the_key_of_the_variable(key_file, monkeypatch):
    monkeypatch.setenv("RELEASE_KEY", HEX)
    key_file.write_text(f"{HEX.upper()}\n")
    assert KeyedNoise.from_file(key_file) == KeyedNoise.from_env("RELEASE_KEY")
    key_file.write_text("0" * 64)
    with pytest.raises(ConfigurationError, match="is not a key"):
        KeyedNoise.from_file(key_file)


def test_a_missing_key_file_is_named_with_the_way_to_make_one(tmp_path):
    with pytest.raises(ConfigurationError, match="/dev/urandom"):
        KeyedNoise.from_file(tmp_path / "none.key")


def test_a_key_file_that_is_no_key_is_refused_without_quoting_it(key_file):
    key_file.write_bytes(b"hunter2")
    with pytest.raises(ConfigurationError, match="not a key") as caught:
        KeyedNoise.from_file(key_file)
    assert "hunter2" not in str(caught.value)


HEX = "00fF" * 8 + "0123456789abcdef" * 2


@pytest.mark.parametrize("value", [HEX, HEX.upper(), f" {HEX}\n"])
def test_a_key_in_the_environment_is_that_of_a_file_of_its_bytes(
    monkeypatch, key_file, value
):
    monkeypatch.setenv("RELEASE_KEY", value)
    key_file.write_bytes(bytes.fromhex(HEX))
    source = KeyedNoise.from_env("RELEASE_KEY")
    assert source == KeyedNoise.from_file(key_file)


@pytest.mark.parametrize(
    "value", ["", HEX[:-1], HEX + "0", HEX[:-2] + "zz", f"0x{HEX[2:]}"]
)
def test_a_variable_that_holds_no_key_is_refused_without_its_value(monkeypatch, value):
    monkeypatch.setenv("RELEASE_KEY", value)
    with pytest.raises(ConfigurationError, match="RELEASE_KEY is no key") as caught:
        KeyedNoise.from_env("RELEASE_KEY")
    error = caught.value
    assert error.__cause__ is error.__context__ is None
    assert not value or value not in str(error)


def test_a_key_that_repeats_itself_is_refused_for_that(monkeypatch):
    monkeypatch.setenv("RELEASE_KEY", "ab" * 32)
    with pytest.raises(ConfigurationError, match="fewer than 8 different") as caught:
        KeyedNoise.from_env("RELEASE_KEY")
    assert "abab" not in str(caught.value)


@pytest.mark.parametrize("kind", [str, Path, "{}\n".format])
def test_a_key_in_the_place_of_a_path_is_not_shown(kind, tmp_path, monkeypatch):
    with pytest.raises(ConfigurationError, match="give its path") as caught:
        KeyedNoise.from_file(kind(HEX))
    assert HEX not in str(caught.value)
    monkeypatch.chdir(tmp_path)
    Path(HEX).write_bytes(bytes(range(32)))
    Path(HEX).chmod(0o600)
    assert KeyedNoise.from_file(f"./{HEX}") == KeyedNoise(bytes(range(32)))


def test_a_variable_that_is_not_set_is_named_with_the_way_to_make_a_key(monkeypatch):
    monkeypatch.delenv("RELEASE_KEY", raising=False)
    with pytest.raises(ConfigurationError, match=r"RELEASE_KEY is not set.*token_hex"):
        KeyedNoise.from_env("RELEASE_KEY")


@pytest.mark.parametrize("name", [HEX, f"a{HEX[1:]}", HEX[:40], "A=B", "", "7A", None])
def test_a_key_in_the_place_of_the_name_is_not_shown(name):
    with pytest.raises(ConfigurationError) as caught:
        KeyedNoise.from_env(name)
    assert not name or len(name) < 4 or name not in str(caught.value)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_source_of_the_environment_is_pickled_as_the_name_of_its_variable(
    monkeypatch, protocol
):
    monkeypatch.setenv("RELEASE_KEY", HEX)
    source = KeyedNoise.from_env("RELEASE_KEY")
    held = pickle.dumps(Holder(source), protocol)
    for secret in (bytes.fromhex(HEX), source._key):
        for part in (secret, secret[:8], secret.hex().encode()):
            assert part not in held
    assert b"RELEASE_KEY" in held
    assert pickle.loads(held).noise == source
    monkeypatch.delenv("RELEASE_KEY")
    with pytest.raises(ConfigurationError, match="not set"):
        pickle.loads(held)


@dataclass
class Holder:
    """Whatever holds a noise source and travels, such as a privatizer."""

    noise: NoiseSource
    name: str = "holder"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_source_built_from_bytes_refuses_to_be_pickled(protocol):
    for thing in (KeyedNoise(KEY), Holder(KeyedNoise(KEY)), [KeyedNoise(KEY)]):
        with pytest.raises(TypeError, match="never pickled"):
            pickle.dumps(thing, protocol)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_the_pickle_of_a_source_read_from_a_file_holds_no_key(key_file, protocol):
    source = KeyedNoise.from_file(key_file)
    held = pickle.dumps(Holder(source), protocol)
    for secret in (key_file.read_bytes(), source._key):
        for part in (secret, secret[:8], secret.hex().encode()):
            assert part not in held
    assert pickle.loads(held).noise == source


def test_a_pickled_source_needs_its_file_again(key_file):
    held = pickle.dumps(KeyedNoise.from_file(key_file))
    key_file.unlink()
    with pytest.raises(ConfigurationError, match="key file"):
        pickle.loads(held)


def test_no_repr_shows_a_key_or_a_text():
    source = KeyedNoise(KEY)
    batch = Batch(1, b"scope", ["secret text"], ["secret id"])
    shown = f"{source!r} {source} {Holder(source)!r} {batch!r} {source.describe()}"
    assert "secret text" not in shown
    assert "secret id" not in shown
    for secret in (KEY, source._key):
        assert secret.hex() not in shown
        assert repr(secret)[2:-1] not in shown
    with pytest.raises(TypeError, match="no hash"):
        hash(source)
    assert not hasattr(source, "__dict__")
    assert source != object()
