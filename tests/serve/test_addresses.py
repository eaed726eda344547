"""Which addresses are one client, and which names are this machine."""

import pytest

from mondegreen.errors import InvalidParameterError
from mondegreen.serve.addresses import (
    find_client,
    host_in,
    is_loopback,
    list_allowed_hosts,
)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("127.0.0.1", "127.8.9.1", True),  # a program may take any of them
        ("127.0.0.1", "::1", True),
        ("127.0.0.1", "::ffff:127.0.0.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("192.0.2.1", "127.0.0.1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("2001:db8::1", "2001:db8::ffff:1:2:3", True),  # of one site
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("", "127.0.0.1", False),
    ],
)
def test_addresses_among_which_a_client_can_choose_are_one(one, other, is_same):
    assert (find_client(one) == find_client(other)) == is_same


@pytest.mark.parametrize(
    ("header", "host"),
    [
        ("example.org", "example.org"), ("EXAMPLE.org.:80", "example.org"),
        ("127.0.0.1:1", "127.0.0.1"), ("[::1]", "::1"), ("[0::1]:9", "::1"),
        ("", None), ("a b", None), ("a@b", None), ("a/b", None), ("[::1", None),
        ("a:b", None), ("a:123456", None), ("::1", None), ("a,b", None), ("a\n", None),
    ],
)  # fmt: skip
def test_a_header_holds_a_host_and_perhaps_a_port(header, host):
    assert host_in(header) == host


def test_a_name_that_is_allowed_is_only_a_name():
    assert list_allowed_hosts(["Proxy.Internal", "::2"]) >= {"proxy.internal", "::2"}
    for wrong in ("https://x", "x:80", "x/v1", "*", "", "x y"):
        with pytest.raises(InvalidParameterError, match="allowed host"):
            list_allowed_hosts([wrong])


def test_only_this_machine_is_local():
    for here in ("localhost", "127.0.0.1", "127.1.2.3", "::1"):
        assert is_loopback(here)
    for other in ("0.0.0.0", "::", "192.0.2.1", "localhost.example", ""):
        assert not is_loopback(other)
