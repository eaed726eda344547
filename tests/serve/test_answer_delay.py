"""Answers leave at once: no part of one waits for the client to acknowledge another."""

from __future__ import annotations

import functools
import socket
import threading

import pytest

httpx = pytest.importorskip("httpx")
uvicorn = pytest.importorskip("uvicorn")

from mondegreen.serve import server  # noqa: E402


def test_every_connection_sends_small_parts_at_once(serve):
    seen = []

    class Watched(server.PatientProtocol):
        def connection_made(self, transport):
            super().connection_made(transport)
            accepted = transport.get_extra_info("socket")
            option = socket.IPPROTO_TCP, socket.TCP_NODELAY
            seen.append(accepted.getsockopt(*option))

    listen = server.Listen(port=0)
    with server._socket(listen) as listening:
        config = uvicorn.Config(
            serve().app,
            http=functools.partial(Watched, listen=listen),
            log_config=None,
            lifespan="off",
        )
        made = uvicorn.Server(config)
        thread = threading.Thread(target=made.run, args=([listening],))
        thread.start()
        port = listening.getsockname()[1]
        assert httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=60).is_success
        made.should_exit = True
        thread.join(60)
    assert seen
    assert all(seen)
