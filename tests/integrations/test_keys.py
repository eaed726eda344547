"""Keys that are named to workers, and never sent to them."""

import functools
import os
import pickle

import pytest

import mondegreen as mg
from mondegreen.errors import ConfigurationError
from mondegreen.integrations.keys import build_noise, check_secret, key_from_environment

KEY = bytes(range(32))
GIVEN: dict[str, object] = {}


def fetched():
    return GIVEN["key"]


def test_a_variable_means_what_a_key_file_of_its_bytes_means(monkeypatch, tmp_path):
    path = tmp_path / "release.key"
    path.write_bytes(KEY)
    path.chmod(0o600)
    monkeypatch.setenv("RELEASE_KEY", KEY.hex())
    assert key_from_environment("RELEASE_KEY") == mg.KeyedNoise.from_file(path)
    assert build_noise("RELEASE_KEY") == mg.KeyedNoise.from_file(path)


@pytest.mark.parametrize("found", [KEY, KEY.hex(), KEY.hex().upper()])
def test_a_function_gives_the_same_key_in_bytes_or_digits(monkeypatch, found):
    monkeypatch.setitem(GIVEN, "key", found)
    assert build_noise(fetched) == mg.KeyedNoise(KEY)


@pytest.mark.parametrize(
    "found", [None, b"", KEY[:31], "zz" * 32, KEY.hex()[:62], bytes(32), 7]
)
def test_what_is_no_key_is_refused_and_not_shown(monkeypatch, found):
    monkeypatch.setitem(GIVEN, "key", found)
    with pytest.raises(ConfigurationError) as caught:
        build_noise(fetched)
    assert KEY.hex()[:20] not in str(caught.value)


def test_what_a_secret_store_says_is_not_repeated(monkeypatch):
    monkeypatch.delitem(GIVEN, "key", raising=False)
    with pytest.raises(ConfigurationError, match="KeyError") as caught:
        build_noise(fetched)
    assert caught.value.__suppress_context__


def test_a_function_that_is_sent_as_its_name_is_allowed():
    check_secret("RELEASE_KEY")
    check_secret(fetched)
    assert len(pickle.dumps(fetched)) < 200


@pytest.mark.parametrize("name", [KEY.hex(), "a" + KEY.hex()[1:], "", "A KEY"])
def test_a_key_in_the_place_of_its_name_is_refused_and_not_shown(name):
    with pytest.raises(ConfigurationError, match="name of an environ") as caught:
        check_secret(name)
    assert KEY.hex()[1:] not in str(caught.value)


@pytest.mark.parametrize(
    "secret",
    [
        lambda: KEY,
        functools.partial(os.urandom, 32),
        GIVEN.get,
        KEY,
        KEY.hex(),
        functools.lru_cache(fetched),
    ],
    ids=["lambda", "partial", "method", "bytes", "digits", "wrapper"],
)
def test_what_could_carry_a_key_is_refused(secret):
    with pytest.raises(ConfigurationError, match="environment variable") as caught:
        check_secret(secret)
    assert KEY.hex() not in str(caught.value)


def test_a_function_of_a_script_is_sent_whole_and_refused(monkeypatch):
    def local():
        return KEY

    with pytest.raises(ConfigurationError, match="module"):
        check_secret(local)
    monkeypatch.setattr(fetched, "__module__", "__main__")
    with pytest.raises(ConfigurationError, match="module"):
        check_secret(fetched)
