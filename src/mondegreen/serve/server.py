"""A socket, and one process or several that answer what comes in on it."""

from __future__ import annotations

import asyncio
import functools
import os
import signal
import socket
import ssl
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from typing import Any, Final, final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.processes import (
    SPAWN,
    end_with_parent,
    one_thread,
    without_interrupts,
)
from mondegreen.serve.addresses import find_client, is_loopback
from mondegreen.serve.log import set_up_log
from mondegreen.serve.metrics import FOLDER

_BACKLOG: Final = 2048
_HEAD_SECONDS: Final = 20.0
"""For the head of a request to arrive, and for an answer to be taken; at most twice."""

_LOOK_SECONDS: Final = 0.5
"""Between two looks at the workers, and before one that has died is replaced."""

_STOPPING_SECONDS: Final = 5
"""Beside what one request may take."""


@final
@dataclass(frozen=True, slots=True)
class Listen:
    """Where a service listens, and with how many processes.

    Parameters
    ----------
    host, port : str, int
        An address of this machine; port 0 is any free one.
    tls_cert, tls_key : str, optional
        Files of a certificate and of its private key, in PEM.
    workers : int
        Processes, each with a copy of the settings and noise of its own.
    seconds : float
        What one request may take, and so the time that a stop waits.
    waiting, waiting_per_address : int
        Connections that wait for a request: in all, and of one client address (0: no
        limit of its own). When one more comes, the one that has waited longest is
        closed. Each worker counts for itself.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    tls_cert: str | None = None
    tls_key: str | None = None
    workers: int = 1
    seconds: float = 30.0
    waiting: int = 256
    waiting_per_address: int = 128

    @property
    def is_local(self) -> bool:
        """Whether nobody beyond this machine can reach it."""
        return is_loopback(self.host)

    def check_exposure(self, *, has_keys: bool, allowed: bool) -> str:
        """Say what is wrong with being reached from elsewhere; "" if nothing is.

        Raises
        ------
        ConfigurationError
            If something is, and is not allowed.
        """
        lacks = [] if has_keys else ["API keys (anyone who reaches it can use it)"]
        lacks += [] if self.tls_cert else ["TLS (the network can read every text)"]
        if self.is_local or not lacks:
            return ""
        says = f"{self.host} can be reached from other machines without "
        says += " and without ".join(lacks)
        if not allowed:
            options = "" if has_keys else "--api-keys, "
            raise ConfigurationError(
                f"{says}. See {options}--tls-cert and --tls-key, or pass "
                "--allow-exposed if something else protects it"
            )
        return f"WARNING: {says}."


def run(app: Callable[[], Any], listen: Listen, say: Callable[[str], None]) -> None:
    """Serve an application until SIGTERM or SIGINT, and finish what has come in.

    Parameters
    ----------
    app : callable
        Makes the application; where there are several workers, in each of them, so
        that it must be possible to pickle it.
    listen : Listen
        Where.
    say : callable
        Told one line when connections are taken.

    Raises
    ------
    ConfigurationError
        If the address is taken or is none, or the certificate cannot be read.
    """
    _check_certificate(listen)
    with _socket(listen) as listening:
        scheme = "https" if listen.tls_cert else "http"
        host, port = listening.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        say(f"Listening on {scheme}://{shown}:{port}")
        serve = _serve if listen.workers == 1 else _serve_by_workers
        serve(app, listen, listening)


def _serve(app: Callable[[], Any], listen: Listen, listening: socket.socket) -> None:
    """Answer what comes in on a socket, in this process."""
    set_up_log()
    config = uvicorn.Config(
        app,
        factory=True,
        interface="asgi3",
        http=functools.partial(PatientProtocol, listen=listen),
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        log_level="error",  # callers could fill a log of warnings
        access_log=False,
        proxy_headers=False,
        server_header=False,
        ssl_certfile=listen.tls_cert,
        ssl_keyfile=listen.tls_key,
        timeout_graceful_shutdown=int(listen.seconds) + _STOPPING_SECONDS,
    )
    server = uvicorn.Server(config)
    # The server raises its signals again at the end; by then that is nothing.
    _on_signals(server.handle_exit)
    server.run([listening])


def _on_signals(stop: Callable[[int, Any], None]) -> None:
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, stop)


def _serve_by_workers(
    app: Callable[[], Any], listen: Listen, listening: socket.socket
) -> None:
    """Let processes answer, and replace those that die."""
    asked: list[int] = []
    _on_signals(lambda number, frame: asked.append(number))

    def start() -> SpawnProcess:
        worker = SPAWN.Process(target=_work, args=(app, listen, listening))
        with without_interrupts(), one_thread():
            worker.start()
        return worker

    with tempfile.TemporaryDirectory(prefix="mondegreen-") as folder:
        os.environ[FOLDER] = folder
        workers = [start() for _ in range(listen.workers)]
        while not asked:
            wait([worker.sentinel for worker in workers], _LOOK_SECONDS)
            if not all(each.is_alive() for each in workers):
                time.sleep(_LOOK_SECONDS)  # one that cannot start dies again
                workers = [each if each.is_alive() else start() for each in workers]
        listening.close()  # else callers would queue here, for nobody
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join()


def _work(app: Callable[[], Any], listen: Listen, listening: socket.socket) -> None:
    """Be a worker, which ends as if asked to when its parent is killed."""
    end_with_parent(lambda: os.kill(os.getpid(), signal.SIGTERM))
    _serve(app, listen, listening)


def _check_certificate(listen: Listen) -> None:
    if (listen.tls_cert is None) != (listen.tls_key is None):
        raise ConfigurationError("--tls-cert and --tls-key must be used together")
    if listen.tls_cert is None:
        return
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(listen.tls_cert, listen.tls_key, password=_no_password)
    except (OSError, ValueError) as error:
        says = f"certificate {listen.tls_cert} with key {listen.tls_key}"
        reason = getattr(error, "strerror", None) or "they are no pair in PEM"
        raise ConfigurationError(f"{says}: {reason}") from None


def _no_password() -> str:
    raise ValueError("the private key has a password; use a key without one")


def _socket(listen: Listen) -> socket.socket:
    """Listen; connections wait until there is somebody to answer them."""
    try:
        found = socket.getaddrinfo(
            listen.host, listen.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, _, _, _, address = found[0]
        return socket.create_server(address, family=family, backlog=_BACKLOG)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "no address of this machine"
        given = f"{listen.host}:{listen.port}"
        allowed = f"a free address of this machine ({reason})"
        raise InvalidParameterError("--host and --port", given, allowed) from None


@final
class PatientProtocol(H11Protocol):
    """HTTP/1.1, with a limit to its patience.

    A connection on which no request begins, or whose answer nobody takes, is closed
    after 20 to 40 seconds. The server itself waits for ever. Where too many connections
    wait, the longest waiting one of the client that has most of them is closed: a
    client that opens many cannot keep others out.
    """

    def __init__(self, *given: Any, listen: Listen, **more: Any) -> None:
        super().__init__(*given, **more)
        self._listen = listen

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        # asyncio does so for sockets that it opened itself. Without it, the second part
        # of an answer waits until the client acknowledges the first: 40 ms.
        accepted = transport.get_extra_info("socket")
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._client = find_client((self.client or ("",))[0])
        self._since = self.loop.time()
        self._seen: Any = self  # no request, and not the absence of one
        self._look()
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._next_look.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        self._since = self.loop.time()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        super().send_400_response('{"error": "this is not HTTP/1.1"}')

    def _make_room(self) -> None:
        """Close a connection if too many wait, this new one among them."""
        waiting = [each for each in self.connections if each._is_waiting()]
        counts = Counter(each._client for each in waiting)
        most, many = counts.most_common(1)[0]
        limit = self._listen.waiting_per_address or self._listen.waiting
        if many > limit or len(waiting) > self._listen.waiting:
            mine = [each for each in waiting if each._client == most]
            min(mine, key=lambda each: each._since).transport.close()

    def _is_waiting(self) -> bool:
        """Whether the client is to send something: it has no whole request here."""
        is_idle = self.cycle is None or self.cycle.response_complete
        return not self.transport.is_closing() and (is_idle or self.cycle.more_body)

    def _look(self) -> None:
        """End what has not moved since the last look."""
        if self.transport.is_closing():
            self.transport.abort()
            return
        is_idle = self.cycle is None or self.cycle.response_complete
        if is_idle and self._seen is self.cycle:
            self.transport.close()
        self._seen = self.cycle
        self._next_look = self.loop.call_later(_HEAD_SECONDS, self._look)
