import dataclasses
import errno
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.numpy import load_file

from mondegreen.errors import (
    InvalidParameterError,
    SpaceError,
    SpaceIntegrityError,
    UnknownNameError,
)
from mondegreen.files import home
from mondegreen.space.codes import Codes
from mondegreen.space.file import read_header
from mondegreen.space.geometry import Geometry
from mondegreen.space.space import Space
from mondegreen.space.store import load_space, save_space, space_names

DEFAULT_DIGEST = "02ecad8b7461565077a158cc5f0300ecfb09e0af64b7eee8a73599c57f5ba4fc"


@pytest.fixture
def saved(tmp_path):
    words = ["cold", "cool", "warm", "naïve", "at\u00a0sea"]
    vectors = np.random.default_rng(3).standard_normal((5, 4)).astype(np.float32)
    space = Space.from_arrays("little", words, vectors, {"licence": "CC0-1.0"})
    path = tmp_path / "little.safetensors"
    save_space(space, path)
    return space, path


def rewrite(path, change):
    """Change the header of a file and keep the rest."""
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    header = change(header) or header
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + size :])


word = st.text(st.characters(exclude_categories=["Cc", "Cs", "Z"]), min_size=1)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    words=st.lists(word, min_size=1, max_size=6, unique=True),
    dtype=st.sampled_from([np.float16, np.float32]),
    about=st.dictionaries(st.text(), st.text(), max_size=3),
    data=st.data(),
)
def test_a_saved_space_is_loaded_as_it_was(tmp_path, words, dtype, about, data):
    shape = (len(words), data.draw(st.integers(1, 5)))
    numbers = st.floats(-1000, 1000, width=16)
    vectors = data.draw(hnp.arrays(dtype, shape, elements=numbers))
    space = Space.from_arrays("any", words, vectors, about)
    path = tmp_path / "any.safetensors"
    save_space(space, path, force=True)
    again = load_space(path)
    assert again.digest == space.digest
    assert (again.name, again.words, again.about) == ("any", space.words, about)
    assert again.geometry == space.geometry
    assert again.vectors.dtype == space.vectors.dtype
    np.testing.assert_array_equal(again.vectors, space.vectors)
    np.testing.assert_array_equal(again.unknown, space.unknown)
    first = path.read_bytes()
    save_space(again, path, force=True)
    assert path.read_bytes() == first


def test_vectors_are_mapped_and_not_copied(saved):
    vectors = load_space(saved[1]).vectors
    assert isinstance(vectors, np.memmap)
    assert vectors.mode == "r"
    assert not vectors.flags.writeable
    assert vectors.__array_interface__["data"][0] % 64 == 0


def test_the_safetensors_library_reads_the_file(saved):
    space, path = saved
    tensors = load_file(path)
    np.testing.assert_array_equal(tensors["vectors"], space.vectors)
    np.testing.assert_array_equal(tensors["unknown"], space.unknown)
    assert tensors["words"].tobytes().decode().split("\n") == list(space.words)


def test_every_changed_byte_is_noticed(saved):
    _, path = saved
    content = path.read_bytes()
    for i in range(len(content)):
        if content[i : i + 1] == b" " and i < len(content) - 200:
            continue  # the padding of the header carries nothing
        path.write_bytes(content[:i] + bytes([content[i] ^ 1]) + content[i + 1 :])
        with pytest.raises(SpaceError):
            load_space(path)


def test_every_truncation_is_noticed(saved):
    _, path = saved
    content = path.read_bytes()
    for size in range(0, len(content), 7):
        path.write_bytes(content[:size])
        with pytest.raises(SpaceError):
            load_space(path)
    path.write_bytes(content + b"x")
    with pytest.raises(SpaceError, match="bytes and needs"):
        load_space(path)


def set_in(header, *keys, value):
    inner = header
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value


LIES = {
    "offsets outside": (("words", "data_offsets"), [96, 10**9]),
    "negative offsets": (("words", "data_offsets"), [-5, 3]),
    "overlap": (("words", "data_offsets"), [0, 25]),
    "three offsets": (("words", "data_offsets"), [1, 2, 3]),
    "offsets of text": (("words", "data_offsets"), ["1", "2"]),
    "huge shape": (("vectors", "shape"), [2**61, 2**61]),
    "other shape": (("vectors", "shape"), [4, 5]),
    "flat shape": (("vectors", "shape"), [20]),
    "boolean shape": (("vectors", "shape"), [True, 20]),
    "no shape": (("vectors", "shape"), None),
    "other dtype": (("vectors", "dtype"), "I32"),
    "nonsense dtype": (("vectors", "dtype"), ["F32"]),
    "integer unknown": (("unknown", "dtype"), "I64"),
    "extra tensor": (("more",), {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}),
    "no metadata": (("__metadata__",), None),
    "other version": (("__metadata__", "format"), "mondegreen-space/3"),
    "earlier version": (("__metadata__", "format"), "mondegreen-space/1"),
    "other metric": (("__metadata__", "metric"), "cosine"),
    "geometry not JSON": (("__metadata__", "geometry"), "{"),
    "geometry of text": (("__metadata__", "geometry"), '{"closest": "1"}'),
    "geometry with NaN": (
        ("__metadata__", "geometry"),
        '{"closest": NaN, "nearest": 1.0, "mean": 1.0, "diameter": 1.0}',
    ),
    "geometry smaller": (
        ("__metadata__", "geometry"),
        '{"closest": 0.1, "nearest": 0.1, "mean": 0.1, "diameter": 0.1}',
    ),
    "about of numbers": (("__metadata__", "about"), '{"licence": 1}'),
    "about a list": (("__metadata__", "about"), "[]"),
    "other name": (("__metadata__", "name"), "large"),
    "other digest": (("__metadata__", "digest"), "0" * 64),
}


@pytest.mark.parametrize(("keys", "value"), LIES.values(), ids=LIES)
def test_a_header_that_lies_is_refused(saved, keys, value):
    _, path = saved
    rewrite(path, lambda header: set_in(header, *keys, value=value))
    with pytest.raises(SpaceError):
        load_space(path)


@pytest.mark.parametrize("key", ["vectors", "unknown", "words", "__metadata__"])
def test_a_header_that_lacks_a_part_is_refused(saved, key):
    _, path = saved
    rewrite(path, lambda header: {k: v for k, v in header.items() if k != key})
    with pytest.raises(SpaceError):
        load_space(path)


@pytest.mark.parametrize(
    "text", [b"[]", b"1", b"{", b"\xff", b"null", b'{"a": 1, "a": 2}', b"[" * 100_000]
)
def test_a_header_of_another_kind_is_refused(saved, text):
    _, path = saved
    rewrite(path, lambda header: text)
    with pytest.raises(SpaceError, match="not a space file"):
        load_space(path)


def test_a_header_size_beyond_the_file_is_refused_without_reading_it(saved):
    _, path = saved
    for size in (2**63, 10**6, 2**20 + 1):
        path.write_bytes(size.to_bytes(8, "little") + b"{}" * 10)
        with pytest.raises(SpaceError, match="cut off in its header"):
            load_space(path)


def crafted(space, path, **changes):
    """Write a file that is whole, of a space that could not be made."""
    twin = type(space).__new__(type(space))
    twin.__dict__.update({**vars(space), **changes})
    twin.__dict__.pop("digest", None)
    save_space(twin, path)
    return path


BAD_WORDS = ["a", "", " ", "b\rc", "b\tc", "b\0", "\u2028", "\u00a0b", "b c", "\x85"]


@pytest.mark.parametrize("word", BAD_WORDS)
def test_a_word_that_could_break_a_format_is_refused_everywhere(tmp_path, word):
    good = Space.from_arrays("x", ["a", "b"], [[0.0], [1.0]])
    words, about = ("a", word), r"a word occurs twice|word 1: the word (is empty|holds)"
    with pytest.raises(SpaceError, match=about):
        Space.from_arrays("x", words, [[0.0], [1.0]])
    with pytest.raises(SpaceError, match=about):
        Space("x", words, good.vectors, good.unknown, good.geometry)
    with pytest.raises(SpaceError, match=about):
        load_space(crafted(good, tmp_path / "x.safetensors", words=words))
    codes = Codes.of([[0], [1]], [0], "by hand")
    with pytest.raises(SpaceError, match=about):
        Space.from_codes("x", words, codes)
    coded = Space.from_codes("x", ("a", "b"), codes)
    with pytest.raises(SpaceError, match=about):
        load_space(crafted(coded, tmp_path / "c.safetensors", words=words))


@pytest.mark.parametrize("name", ["/x/evil", "../evil", "a/b", "", "a b", ".a"])
def test_a_name_that_could_lead_elsewhere_is_refused_everywhere(tmp_path, name):
    good = Space.from_arrays("x", ["a", "b"], [[0.0], [1.0]])
    with pytest.raises(InvalidParameterError, match="name must be"):
        Space.from_arrays(name, ["a"], [[0.0]])
    path = crafted(good, tmp_path / "x.safetensors", name=name)
    for read in (load_space, read_header):
        with pytest.raises(SpaceError, match="name must be"):
            read(path)


def stated(space, **changes):
    return Geometry(**{**space.geometry.to_dict(), **changes})


LIES_OF_DISTANCE = {
    "closest too large": {"closest": 1.5},
    "closest none": {"closest": 0.0},
    "diameter too small": {"diameter": 2.0},
    "mean above the diameter": {"mean": 90.0},
    "nearest above the diameter": {"nearest": 90.0},
    "not a number": {"mean": float("nan")},
}


@pytest.mark.parametrize("lie", LIES_OF_DISTANCE.values(), ids=LIES_OF_DISTANCE)
def test_distances_that_a_file_misstates_are_found_on_loading(tmp_path, lie):
    words, points = ["a", "b", "c", "d"], [[0.0], [1.0], [2.0], [9.0]]
    good = Space.from_arrays("x", words, points)
    path = tmp_path / "x.safetensors"
    # digest and checksum are those of the lie
    crafted(good, path, geometry=stated(good, **lie))
    with pytest.raises(SpaceError, match=r"misstated|wrong value"):
        load_space(path)


def test_a_space_that_says_it_is_one_point_is_looked_at_whole():
    # The words that are looked at anyway lie at one point with the unknown word.
    points = np.zeros((1000, 2), dtype=np.float32)
    asked = np.unique(np.linspace(0, 999, 64).astype(int))
    points[np.setdiff1d(np.arange(1000), asked)] = 1.0
    words = [f"w{i}" for i in range(1000)]
    flat = Geometry(0.0, 0.0, 0.0, 2.0)
    with pytest.raises(SpaceIntegrityError):
        Space("flat", tuple(words), points, np.zeros(2), flat)


def test_the_digest_covers_the_distances():
    good = Space.from_arrays("x", ["a", "b"], [[0.0], [1.0]])
    other = dataclasses.replace(good, geometry=stated(good, diameter=1.5))
    assert other.digest != good.digest


def test_a_file_of_the_version_before_says_how_to_build_it_again(saved):
    _, path = saved
    version = ("__metadata__", "format")
    rewrite(path, lambda h: set_in(h, *version, value="mondegreen-space/1"))
    with pytest.raises(SpaceError, match="mondegreen space build"):
        load_space(path)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_a_whole_file_with_bad_numbers_is_refused(tmp_path, dtype, number):
    good = Space.from_arrays("x", ["a", "b"], [[0.0], [1.0]])
    path = tmp_path / "x.safetensors"
    bad = np.array([[0], [number]], dtype)
    crafted(good, path, vectors=bad)
    with pytest.raises(SpaceError, match="finite"):
        load_space(path)
    with pytest.raises(SpaceError, match="finite"):
        Space("x", ("a", "b"), bad, good.unknown, good.geometry)


def test_an_existing_file_is_kept_unless_forced(saved):
    _, path = saved
    before = path.read_bytes()
    other = Space.from_arrays("other", ["a"], [[1.0]])
    with pytest.raises(SpaceError, match="--force"):
        save_space(other, path)
    assert path.read_bytes() == before
    save_space(other, path, force=True)
    assert load_space(path).name == "other"


def test_a_full_disk_leaves_no_file(saved, tmp_path, monkeypatch):
    space, _ = saved

    def fsync(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fsync)
    target = tmp_path / "new" / "full.safetensors"
    target.parent.mkdir()
    with pytest.raises(SpaceError, match="No space left"):
        save_space(space, target)
    assert list(target.parent.iterdir()) == []


def test_an_interrupt_leaves_the_old_file(saved, tmp_path, monkeypatch):
    space, path = saved
    before = path.read_bytes()

    def fsync(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(KeyboardInterrupt):
        save_space(space, path, force=True)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_space_can_replace_the_file_it_is_mapped_from(saved):
    _, path = saved
    mapped = load_space(path)
    save_space(mapped, path, force=True)
    assert load_space(path).digest == mapped.digest


def test_a_missing_directory_is_an_error(saved, tmp_path):
    with pytest.raises(SpaceError, match="cannot be written"):
        save_space(saved[0], tmp_path / "no" / "where.safetensors")


def test_unknown_names_list_what_exists(monkeypatch, tmp_path):
    monkeypatch.setenv("MONDEGREEN_HOME", str(tmp_path))
    with pytest.raises(UnknownNameError, match="glove-840b-34k"):
        load_space("glove-840b-35k")
    with pytest.raises(SpaceError, match="cannot be read"):
        load_space("absent.safetensors")
    with pytest.raises(SpaceError, match="cannot be read"):
        load_space(tmp_path / "glove")


def test_fetched_spaces_are_found_by_name(saved, monkeypatch, tmp_path):
    monkeypatch.setenv("MONDEGREEN_HOME", str(tmp_path))
    (tmp_path / "spaces").mkdir()
    save_space(saved[0], tmp_path / "spaces" / "little.safetensors")
    assert space_names() == ["glove-840b-34k", "little"]
    assert load_space("little").digest == saved[0].digest


def test_a_fetched_space_cannot_take_the_place_of_the_embedded_one(
    saved, monkeypatch, tmp_path
):
    monkeypatch.setenv("MONDEGREEN_HOME", str(tmp_path))
    (tmp_path / "spaces").mkdir()
    save_space(saved[0], tmp_path / "spaces" / "glove-840b-34k.safetensors")
    assert load_space().digest == DEFAULT_DIGEST


def test_home_follows_the_environment(monkeypatch):
    monkeypatch.setenv("MONDEGREEN_HOME", "/one")
    assert home() == Path("/one")
    monkeypatch.delenv("MONDEGREEN_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", "/two")
    assert home() == Path("/two/mondegreen")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert home() == Path.home() / ".cache" / "mondegreen"


def test_the_embedded_default_is_the_pinned_one():
    space = load_space()
    assert (space.name, space.vocab_size, space.dim) == ("glove-840b-34k", 33_860, 300)
    assert space.digest == DEFAULT_DIGEST
    assert space.vectors.dtype == np.float16
    assert sum("\u00a0" in word for word in space.words) == 11
    path = read_header(Path(space.vectors.filename)).path
    assert path.stat().st_size <= 21_000_000


@pytest.mark.alone
def test_the_embedded_default_loads_fast_in_a_fresh_process():
    script = (
        "import time; start = time.perf_counter()\n"
        "from mondegreen.space.store import load_space\n"
        "load_space(); print(time.perf_counter() - start)"
    )
    runs = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
        for _ in range(3)
    ]
    assert min(float(run.stdout) for run in runs) < 0.3


def test_loading_and_using_a_space_opens_no_socket(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    space = load_space()
    assert space.points(np.array([space.get_id("oslo")], np.int32)).shape == (1, 300)


def test_loading_imports_no_network_module():
    script = (
        "import sys; from mondegreen.space.store import load_space; load_space();"
        "print(sorted({'socket', 'ssl', 'http.client', 'urllib.request', 'pyarrow'}"
        " & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True
    )
    assert run.stdout.decode().strip() == "[]"


def test_names_that_cannot_be_files_are_refused():
    from mondegreen.space.space import check_name

    assert check_name("glove-6b-50d") == "glove-6b-50d"
    for name in ("", "../x", ".hidden", "a/b", "a b", "x" * 101):
        with pytest.raises(InvalidParameterError):
            check_name(name)


@pytest.mark.skipif(os.name != "posix", reason="needs named pipes")
def test_a_device_is_not_replaced_by_a_space(tmp_path):
    os.mkfifo(tmp_path / "pipe.safetensors")
    space = Space.from_arrays("line", ["cold", "warm"], [[0], [1]])
    with pytest.raises(SpaceError, match="device or a pipe"):
        save_space(space, tmp_path / "pipe.safetensors", force=True)
    assert (tmp_path / "pipe.safetensors").is_fifo()
