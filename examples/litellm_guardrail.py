"""What the guard inside LiteLLM makes of a request. Needs mondegreen[litellm,serve].

LiteLLM's proxy calls it like this before every request; see litellm_config.yaml.
"""

import asyncio
import json
import os

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # no look-up at import

from fastapi import HTTPException

from mondegreen.integrations.litellm import MondegreenGuardrail

guard = MondegreenGuardrail({"epsilon": 12.0, "public_roles": ["system"]})


def before(call_type: str, **request: object) -> str:
    """What is sent in place of a request, or why nothing is."""
    hook = guard.async_pre_call_hook(
        None, None, {"model": "stub", **request}, call_type
    )
    try:
        return json.dumps(asyncio.run(hook), indent=1)
    except HTTPException as error:
        return str(error.detail["error"])


messages = [
    {"role": "system", "content": "You are a nurse."},
    {"role": "user", "name": "Ann", "content": "I am Ann from Oslo. What can I eat?"},
]
print(before("acompletion", messages=messages, user="ann@example.org"))
print(before("aembedding", input=[[464, 3290]]))
print(before("image_generation", prompt="Ann in Oslo"))
