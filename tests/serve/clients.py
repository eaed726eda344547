"""Who asks a service."""

import asyncio
import json

CANARY = "zyxwoldemorth"


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
