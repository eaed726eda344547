"""Key files of systemd: readable by the user of a service, through a list of access."""

from __future__ import annotations

import os
import struct

import pytest

from mondegreen.errors import ConfigurationError
from mondegreen.sampling.noise import KeyedNoise

KEY = bytes(range(32))
NOBODY = 0xFFFFFFFF
OWNER, USER, GROUP, NAMED_GROUP, MASK, OTHER = 1, 2, 4, 8, 16, 32
NAME = "system.posix_acl_access"

pytestmark = pytest.mark.skipif(
    not hasattr(os, "setxattr"), reason="lists of access are those of Linux"
)


def allow(path, *more, mask=4):
    """Set what systemd sets, and more."""
    entries = [(OWNER, 4, NOBODY), (GROUP, 0, NOBODY), (MASK, mask, NOBODY)]
    entries += [(OTHER, 0, NOBODY)]
    changed = {(tag, who): allowed for tag, allowed, who in [*entries, *more]}
    listed = [(tag, changed[tag, who], who) for tag, who in sorted(changed)]
    data = b"".join(struct.pack("<HHI", *entry) for entry in listed)
    try:
        os.setxattr(path, NAME, struct.pack("<I", 2) + data)
    except OSError:
        pytest.skip("this file system has no lists of access")


@pytest.fixture
def key(tmp_path, monkeypatch):
    folder = tmp_path / "credentials"
    folder.mkdir()
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(folder))
    path = folder / "key"
    path.write_bytes(KEY)
    path.chmod(0o400)
    return path


def me():
    return (USER, 4, os.geteuid())


def test_a_credential_of_systemd_is_a_key(key):
    allow(key, me())
    assert key.stat().st_mode & 0o777 == 0o440  # as if its group could read it
    KeyedNoise.from_file(key)


@pytest.mark.parametrize(
    "more",
    [
        [(USER, 4, 12345)],
        [me(), (USER, 4, 12345)],
        [(USER, 6, os.geteuid() if hasattr(os, "geteuid") else 0)],
        [(GROUP, 4, NOBODY)],
        [(NAMED_GROUP, 4, 12345)],
        [(OTHER, 4, NOBODY)],
    ],
    ids=["another user", "one more user", "writes", "group", "named group", "others"],
)
def test_a_list_that_lets_others_read_is_refused(key, more):
    allow(key, *(more or [me()]), mask=6)
    with pytest.raises(ConfigurationError, match="can be read by others"):
        KeyedNoise.from_file(key)


def test_the_same_list_elsewhere_is_refused(key, tmp_path, monkeypatch):
    other = tmp_path / "key"
    other.write_bytes(KEY)
    other.chmod(0o400)
    allow(other, me())
    (key.parent / "link").symlink_to(other)
    for path in (other, key.parent / "link", key.parent / ".." / "key"):
        with pytest.raises(ConfigurationError, match="can be read by others"):
            KeyedNoise.from_file(path)
    allow(key, me())
    for folder in (None, "", "credentials"):
        if folder is None:
            monkeypatch.delenv("CREDENTIALS_DIRECTORY")
        else:
            monkeypatch.setenv("CREDENTIALS_DIRECTORY", folder)
        with pytest.raises(ConfigurationError, match="can be read by others"):
            KeyedNoise.from_file(key)


def test_a_mode_without_a_list_is_refused_there_too(key):
    key.chmod(0o440)
    with pytest.raises(ConfigurationError, match="can be read by others"):
        KeyedNoise.from_file(key)
