"""Settings as JSON, and what a process keeps of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import mondegreen as mg
from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    MondegreenError,
    SpaceIntegrityError,
    UnprovedGuaranteeError,
)
from mondegreen.privatizer import spec as spec_module
from mondegreen.settings import list_options
from mondegreen.space.store import save_space
from vectors.keyed import tiny_space

KEY = bytes(range(32))
TEXT = "colda warmb mildc hotd " * 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Spaces of each metric, in files."""
    path = tmp_path_factory.mktemp("spaces")
    save_space(tiny_space(), path / "euclidean.safetensors")
    points = np.linspace(-0.9, 0.9, 16)[:, None].astype(np.float32)
    words = tiny_space().words
    ball = mg.Space.from_arrays("ball", words, points, metric="poincare")
    save_space(ball, path / "poincare.safetensors")
    return path


def built(cls, folder, **options):
    """A privatizer of a mechanism, at an epsilon that its space allows."""
    metric = "euclidean" if "euclidean" in cls.space_metrics else "poincare"
    space = mg.load_space(folder / f"{metric}.safetensors")
    for epsilon in (4.0, 64.0, 1024.0):
        try:
            return mg.Privatizer(
                cls(epsilon=epsilon), space, allow_unproved=True, **options
            )
        except InvalidParameterError:
            continue
    raise AssertionError


@pytest.fixture
def spec(folder):
    space = mg.load_space(folder / "euclidean.safetensors")
    return mg.Privatizer(mg.mechanism("tem", epsilon=2.0), space).to_dict()


@pytest.mark.parametrize(
    "cls", [c for c in mg.mechanisms() if c.space_metrics], ids=lambda cls: cls.name
)
def test_every_mechanism_comes_back_from_its_settings(cls, folder):
    options = {"unknown": "mask", "keep": ["Oslo", "½"], "case": "restore"}
    given = built(cls, folder, noise=mg.KeyedNoise(KEY), **options)
    spec = json.loads(json.dumps(given.to_dict()))
    again = mg.Privatizer.from_dict(spec, noise=mg.KeyedNoise(KEY))
    assert again.to_dict() == given.to_dict() == spec
    assert again.guarantee == given.guarantee
    text = f"{TEXT} Oslo ½ Bergen"
    assert again(text, id=7).text == given(text, id=7).text
    assert mg.Privatizer.from_dict(spec).state is again.state


def test_settings_name_the_space_of_the_package_and_hold_no_key(tmp_path):
    path = tmp_path / "key"
    path.write_bytes(KEY)
    path.chmod(0o600)
    noise = mg.KeyedNoise.from_file(path)
    given = mg.Privatizer(mg.mechanism("tree", epsilon=9.0), noise=noise)
    spec = given.to_dict()
    assert spec["space"] == given.space.name
    assert spec["digests"] == {"space": given.space.digest}
    for secret in (KEY.hex(), noise._key.hex(), str(path), "Keyed"):
        assert secret not in json.dumps(spec)
    assert isinstance(mg.Privatizer.from_dict(spec).noise, mg.OSNoise)


def test_a_space_in_memory_alone_is_refused():
    p = mg.Privatizer(mg.mechanism("tem", epsilon=2.0), tiny_space())
    with pytest.raises(ConfigurationError, match="save_space"):
        p.to_dict()


@pytest.mark.parametrize(
    "change",
    [
        {"format": "mondegreen-privatizer/1"},
        {"noise": "none"},
        {"keep": "oslo"},
        {"keep": None},
        {"keep": {"oslo": 1}},
        {"unknown": 7},
        {"unknown": None},
        {"allow_unproved": 1},
        {"space": None},
        {"space": 7},
        {"space": "no such space"},
        {"digests": None},
        {"digests": {}},
        {"digests": {"space": 7}},
        {"digests": {"space": "0", "language": "1"}},
        {"mechanism": {"name": "tem"}},
        {"mechanism": "spam"},
        {"mechanism": ["tem"]},
        {"parameters": 7},
        {"parameters": {"spam": 1}},
        {"parameters": {"epsilon": 3.0}},
        {"parameters": {"beta": {1}}},
        {"epsilon": "2"},
        {"epsilon": True},
        {"epsilon": None},
        {"epsilon": float("nan")},
        {"epsilon": 10**400},
        {"policy": "names"},
        {"unknown": "keep"},
        {"case": "upper"},
        {"keep": ["two words"]},
        {"keep": [7]},
        {"read": "sentence"},
        {"read": "words", "language": None},
        {"read": "sentence", "language": 3},
        {"language": "english"},
    ],
    ids=str,
)
def test_settings_that_are_none_are_refused(spec, change):
    with pytest.raises(MondegreenError):
        mg.Privatizer.from_dict({**spec, **change})


@pytest.mark.parametrize("field", ["format", "digests", *list_options()])
def test_settings_that_lack_a_field_are_refused(spec, field):
    del spec[field]
    for bad in (spec, None, [], "spec"):
        with pytest.raises(ConfigurationError):
            mg.Privatizer.from_dict(bad)


@pytest.mark.parametrize("number", [1, 3])
def test_settings_of_another_format_say_what_to_do(spec, number):
    spec["format"] = f"mondegreen-privatizer/{number}"
    said = f"format mondegreen-privatizer/{number}, and this version reads .*Upgrade"
    with pytest.raises(ConfigurationError, match=said):
        mg.Privatizer.from_dict(spec)


def test_another_space_under_the_same_name_is_refused(spec):
    with pytest.raises(SpaceIntegrityError, match="differs from the one"):
        mg.Privatizer.from_dict({**spec, "digests": {"space": "0" * 64}})


def test_an_unproved_mechanism_stays_refused_where_it_was_not_allowed(folder):
    cls = next(cls for cls in mg.mechanisms() if not cls.is_private)
    spec = built(cls, folder).to_dict()
    assert mg.Privatizer.from_dict(spec).guarantee.is_void
    with pytest.raises(UnprovedGuaranteeError):
        mg.Privatizer.from_dict({**spec, "allow_unproved": False})


def test_threads_that_ask_at_once_get_one_that_was_built_once():
    kept, built, found = spec_module.Kept(), [], []
    barrier = threading.Barrier(8)

    def build():
        time.sleep(0.05)
        built.append(object())
        return built[-1]

    def ask():
        barrier.wait()
        found.append(kept.get("key", build))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == 1
    assert found == built * 8


def test_no_more_are_kept_than_a_few_and_an_error_is_not():
    kept, built = spec_module.Kept(), []

    def build(key):
        built.append(key)
        return key

    for key in "abcdeabcde":
        assert kept.get(key, lambda key=key: build(key)) == key
    assert len(kept._slots) == spec_module._KEPT
    with pytest.raises(ZeroDivisionError):
        kept.get("error", lambda: 1 // 0)
    assert kept.get("error", lambda: 7) == 7


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_does_not_wait_for_a_lock_of_its_parent():
    code = (
        "import os, threading, time; from mondegreen.privatizer.spec import Kept;"
        "kept = Kept();"
        "slow = lambda: time.sleep(1) or 1;"
        "threading.Thread(target=kept.get, args=('a', slow), daemon=True).start();"
        "time.sleep(.2); child = os.fork();"
        "done = kept.get('a', lambda: 2) if not child else None;"
        "os._exit(7) if not child else None;"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert done.stdout.strip() == "7"


def test_the_noise_of_one_caller_is_not_that_of_another(spec):
    keyed = mg.Privatizer.from_dict(spec, noise=mg.KeyedNoise(KEY))
    fresh = mg.Privatizer.from_dict(spec)
    fresh.noise = mg.Seeded(1)
    assert not mg.Privatizer.from_dict(spec).guarantee.is_void
    assert keyed(TEXT, id=1).text == keyed(TEXT, id=1).text
    assert "secret" in keyed.guarantee.noise


def test_settings_of_a_file_that_was_replaced_are_refused(spec, tmp_path):
    path = tmp_path / "space.safetensors"
    save_space(tiny_space(), path)
    one = mg.Privatizer(mg.mechanism("tem", epsilon=3.5), mg.load_space(path)).to_dict()
    other = mg.Space.from_arrays("sixteen", ["a", "b"], [[0], [1]])
    save_space(other, path, force=True)
    with pytest.raises(SpaceIntegrityError):
        mg.Privatizer.from_dict(one)
    again = mg.privatize("a b", epsilon=3.5, mechanism="tem", space=path)
    assert set(again.split()) <= {"a", "b"}
