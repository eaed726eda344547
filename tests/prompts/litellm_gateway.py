"""LiteLLM's whole proxy, in a process of its own: it leaves sockets open at its end.

Reads a configuration of guardrails and requests as JSON; writes what each answered, all
that the model received, and what the guard left of each request for LiteLLM.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from language_model import Model, running


def main() -> None:
    given = json.loads(Path(sys.argv[1]).read_text())
    from fastapi.testclient import TestClient
    from litellm.proxy import proxy_server

    from mondegreen.integrations.litellm import MondegreenGuardrail

    hook, kept = MondegreenGuardrail.async_pre_call_hook, []

    async def recorded(self, **asked):
        data = await hook(self, **asked)
        kept.append(repr({k: v for k, v in data.items() if k != "litellm_logging_obj"}))
        return data

    MondegreenGuardrail.async_pre_call_hook = recorded
    model = Model()
    with running(model.app) as upstream:
        root = upstream.removesuffix("/v1")
        served = {
            "stub": ("openai/stub", upstream),
            "gpt-4o-mini": ("openai/stub", upstream),
            "claude": ("anthropic/claude-haiku-4-5", root),
            "fireworks": ("fireworks_ai/stub", upstream),
        }
        models = [
            {
                "model_name": name,
                "litellm_params": {"model": at, "api_base": base, "api_key": "sk-up"},
            }
            for name, (at, base) in served.items()
        ]
        config = {"model_list": models, "guardrails": given["guardrails"]}
        path = Path(sys.argv[1]).with_name("config.yaml")
        path.write_text(json.dumps(config))
        asyncio.run(proxy_server.initialize(config=str(path)))
        client = TestClient(proxy_server.app, raise_server_exceptions=False)
        answers = []
        for address, body, headers in given["requests"]:
            before = len(model.received)
            found = client.post(address, json=body, headers=headers)
            sent = len(model.received) - before
            answers.append((address, found.status_code, sent, found.text))
    done = {"answers": answers, "received": model.everything, "kept": "\n".join(kept)}
    Path(sys.argv[2]).write_text(json.dumps(done))


if __name__ == "__main__":
    main()
