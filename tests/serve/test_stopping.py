"""How a service ends, with one process and with several."""

import contextlib
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
pytest.importorskip("prometheus_client")

from clients import CANARY, JSON

from strategies import WORDS
from waiting import wait_until

BODY = json.dumps({"texts": [" ".join(WORDS)]}).encode()
HEAD = b"POST /v1/privatize HTTP/1.1\r\nHost: x\r\n" + JSON
HEAD += f"\r\nContent-Length: {len(BODY)}\r\n\r\n".encode()


def is_refusing(service):
    try:
        service.connect().close()
    except OSError:
        return True
    return False


def has_begun(service):
    """Whether a request is in work."""
    _, counts = service.ask("GET", "/metrics")
    return b"mondegreen_requests_in_work 1.0" in counts


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGTERM,
        pytest.param(signal.SIGINT, marks=pytest.mark.slow("starts a service")),
        pytest.param(signal.SIGHUP, marks=pytest.mark.slow("starts a service")),
    ],
    ids=str,
)
def test_it_ends_with_code_0(start, number):
    service = start()
    assert service.privatize("bad")
    assert service.stop(number) == 0
    assert "Stopped. All requests were answered." in service.log()
    assert is_refusing(service)


@pytest.mark.slow("starts services")
@pytest.mark.parametrize("workers", [1, 2])
def test_what_has_come_in_is_answered_and_no_more_is_taken(start, workers):
    service = start("--workers", workers)
    service.privatize("bad")
    with service.connect() as connection:
        connection.sendall(HEAD + BODY[:20])
        wait_until(lambda: has_begun(service))
        service.process.send_signal(signal.SIGTERM)
        wait_until(lambda: is_refusing(service))
        assert service.process.poll() is None
        connection.sendall(BODY[20:])
        answer = b""
        while data := connection.recv(1 << 16):
            answer += data
    assert b" 200 " in answer[:20]
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["texts"][0]
    assert service.process.wait(120) == 0


@pytest.mark.slow("starts a service")
def test_who_has_sent_half_a_head_does_not_hold_it_up(start):
    service = start()
    with service.connect() as connection, service.connect():
        connection.sendall(b"POST /v1/privatize HTTP/1.1\r\nX-Te")
        assert service.stop() == 0


@pytest.mark.slow("starts a service")
def test_who_never_sends_its_body_does_not_hold_it_up(start):
    service = start("--timeout", 1)
    with service.connect() as connection:
        connection.sendall(HEAD + BODY[:20])
        time.sleep(0.2)
        assert service.stop() == 0


def children(service):
    pid = service.process.pid
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid for pid in map(int, found) if b"spawn_main" in command_of(pid)]


def command_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except FileNotFoundError:  # it has ended since
        return b""


def two_or_more(found):
    return found if len(found) >= 2 else None


@pytest.mark.slow("starts processes")
@pytest.mark.skipif(not Path("/proc").exists(), reason="looks at processes")
def test_workers_have_noise_of_their_own_and_are_replaced(start):
    service, text = start("--workers", 2), " ".join(WORDS)
    workers = wait_until(lambda: two_or_more(children(service)))
    first, second = workers
    found = []
    for asleep, awake in [(first, second), (second, first)] * 2:
        os.kill(awake, signal.SIGCONT)
        os.kill(asleep, signal.SIGSTOP)
        found += [service.privatize(text)[0] for _ in range(3)]
    os.kill(first, signal.SIGCONT)
    os.kill(second, signal.SIGCONT)
    assert len(set(found)) == 12
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: two_or_more(set(children(service)) - {first}))
    assert service.privatize(text)[0] not in found
    _, counts = service.ask("GET", "/metrics")
    assert b"mondegreen_texts_total 13.0" in counts  # of all workers, dead ones too
    assert service.stop() == 0


@pytest.mark.slow("starts processes")
@pytest.mark.skipif(not Path("/proc").exists(), reason="looks at processes")
def test_workers_end_with_their_parent(start):
    service = start("--workers", 2)
    service.privatize("bad")
    workers = wait_until(lambda: two_or_more(children(service)))
    service.kill()
    wait_until(lambda: is_refusing(service))
    wait_until(lambda: not any(is_running(pid) for pid in workers))


def is_running(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    return False


@pytest.fixture
def hasty(serve, monkeypatch):
    """A server in this process that waits a tenth of a second for a head."""
    uvicorn = pytest.importorskip("uvicorn")
    from mondegreen.serve import server

    monkeypatch.setattr(server, "_HEAD_SECONDS", 0.1)
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        serve().app,
        http=functools.partial(server.PatientProtocol, listen=server.Listen()),
        log_config=None,
        lifespan="off",
        timeout_keep_alive=3600,
    )
    made = uvicorn.Server(config)
    thread = threading.Thread(target=made.run, args=([listening],))
    thread.start()
    yield listening.getsockname()
    made.should_exit = True
    thread.join(60)
    assert not thread.is_alive()


@pytest.mark.parametrize("begun", [b"", b"POST /v1/priv", HEAD + BODY + b"GET /"])
def test_a_connection_on_which_nothing_happens_is_closed(hasty, begun):
    with socket.create_connection(hasty, 60) as connection:
        connection.sendall(begun)
        with contextlib.suppress(ConnectionResetError):
            while connection.recv(1 << 16):
                pass


def test_a_request_that_takes_long_is_not_taken_for_one(hasty):
    with socket.create_connection(hasty, 60) as connection:
        connection.sendall(HEAD + BODY[:20])
        time.sleep(1)
        connection.sendall(BODY[20:])
        assert b" 200 " in connection.recv(20)


LOGS = """
import asyncio, logging, sys
from mondegreen.serve.log import set_up_log

canary = sys.argv[1]
set_up_log()
for name in ("uvicorn.error", "mondegreen.serve", "asyncio", "fastapi", canary):
    try:
        raise ValueError(canary)
    except ValueError:
        logging.getLogger(name).error("said %s", "a value", exc_info=True)
logging.getLogger("asyncio").error(f"Task was destroyed: {canary}")
logging.getLogger("uvicorn.access").info(canary)

async def forgotten():  # an error that nobody asks for: asyncio logs its message
    problem = {"message": canary, "exception": ValueError(canary)}
    asyncio.get_running_loop().call_exception_handler(problem)

asyncio.run(forgotten())
"""


def test_the_log_shows_nothing_that_others_fill_in():
    """In a process of its own: loggers, and what writes to them, are global."""
    command = [sys.executable, "-c", LOGS, CANARY]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "ValueError" not in done.stderr
    assert done.stderr.count("a value") == 1  # ours
    assert done.stderr.count(CANARY) == 1  # the name of a logger
    assert done.stderr.count("asyncio says something, which may hold text") == 3
