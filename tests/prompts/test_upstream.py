"""How long the proxy waits for the language model."""

import asyncio

import click
import pytest

from mondegreen.cli.main import cli

pytest.importorskip("httpx")

from mondegreen.serve.upstream import Upstream


def times(upstream):
    client = upstream.client()
    found = client.timeout
    asyncio.run(client.aclose())
    return found


def test_the_library_waits_as_long_as_the_command():
    command = cli.get_command(click.Context(cli), "proxy")
    (option,) = (x for x in command.params if x.name == "timeout")
    assert times(Upstream("https://x.org")).read == option.default


@pytest.mark.parametrize("seconds", [0.5, 3000.0])
def test_a_model_may_be_silent_as_long_as_is_said_but_must_be_reached_sooner(seconds):
    found = times(Upstream("https://x.org", seconds))
    assert (found.read, found.write, found.pool) == (seconds, seconds, seconds)
    assert found.connect <= min(seconds, 30.0)


def test_idle_connections_are_let_go_before_servers_close_them():
    """Many close them after 5 seconds; a request that is on its way then is lost."""
    client = Upstream("https://x.org").client()
    assert client._transport._pool._keepalive_expiry < 5.0
    asyncio.run(client.aclose())
