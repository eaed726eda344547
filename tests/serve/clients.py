"""Who asks a service."""

import asyncio
import contextlib
import json
import re
import signal
import socket
import subprocess
import sys

from waiting import wait_until

CANARY = "zyxwoldemorth"
JSON = b"Content-Type: application/json"


class Client:
    """Sends requests to an application, each in a loop of its own."""

    def __init__(self, app):
        self.app = app

    def many(self, *requests):
        """Send requests at once; each is a method, an address, and more."""
        import httpx

        async def all_of_them():
            transport = httpx.ASGITransport(app=self.app)
            base = "http://service"
            async with httpx.AsyncClient(transport=transport, base_url=base) as client:
                sent = [client.request(m, p, **more) for m, p, more in requests]
                return await asyncio.gather(*sent)

        return asyncio.run(all_of_them())

    def get(self, path, **more):
        return self.many(("GET", path, more))[0]

    def post(self, path, body, **more):
        """Send bytes as they are, and all else as JSON."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"content-type": "application/json", **more.pop("headers", {})}
        sent = {"content": data, "headers": headers, **more}
        return self.many(("POST", path, sent))[0]

    def privatize(self, *texts, **more):
        return self.post("/v1/privatize", {"texts": list(texts), **more})


class Process:
    """A service of its own, started by the command; what it logs is kept."""

    def __init__(self, folder, *options, space):
        self._log = folder / f"service-{len(list(folder.iterdir()))}.log"
        command = [sys.executable, "-m", "mondegreen", "serve", "-m", "tem"]
        command += ["-e", "0.01", "--space", space, "--port", "0", *map(str, options)]
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            self.port = int(wait_until(self._listening)[1])
        except BaseException:
            self.kill()
            raise

    def _listening(self):
        found = re.search(r"Listening on \S+:(\d+)", self.log())
        assert found or self.process.poll() is None, self.log()
        return found

    def log(self):
        return self._log.read_text()

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), 120)

    def raw(self, data, *, ends=True):
        """Send bytes; return all that comes back until the connection is closed."""
        with self.connect() as connection:
            with contextlib.suppress(OSError):
                connection.sendall(data)
                if ends:
                    connection.shutdown(socket.SHUT_WR)
            return b"".join(self._received(connection))

    def _received(self, connection):
        with contextlib.suppress(ConnectionResetError):
            while data := connection.recv(1 << 16):
                yield data

    def ask(self, method, path, body=b"", *headers, version="1.1"):
        """Send a request as it is given; return the status and the body."""
        head = [f"{method} {path} HTTP/{version}".encode(), b"Host: x", *headers]
        if version == "1.1":
            head.append(b"Connection: close")
        if not any(each.lower().startswith(b"content-length") for each in headers):
            head.append(f"Content-Length: {len(body)}".encode())
        answer = self.raw(b"\r\n".join([*head, b"", body]), ends=False)
        top, _, rest = answer.partition(b"\r\n\r\n")
        return int(top.split()[1]) if top else 0, rest

    def privatize(self, *texts, **more):
        body = json.dumps({"texts": list(texts), **more}).encode()
        status, answer = self.ask("POST", "/v1/privatize", body, JSON)
        assert status == 200, answer
        return json.loads(answer)["texts"]

    def stop(self, number=signal.SIGTERM):
        """Ask it to stop; return its exit code."""
        self.process.send_signal(number)
        return self.process.wait(120)

    def kill(self):
        self.process.kill()
        self.process.wait(120)
