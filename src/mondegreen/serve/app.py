"""The service: texts in, their release out, over HTTP."""

from __future__ import annotations

import json
from typing import Any, Final

from fastapi import FastAPI, Request, Response

from mondegreen import __version__
from mondegreen.sampling.noise import KeyedNoise
from mondegreen.serve.answers import Refused, answer, as_json, error_answer
from mondegreen.serve.batcher import Batcher
from mondegreen.serve.conversation_paths import (
    ServiceConversations,
    add_conversations,
)
from mondegreen.serve.explained import explain_text
from mondegreen.serve.forgetting import forget_in_time
from mondegreen.serve.forms import (
    ExplainAnswer,
    ExplainRequest,
    Failure,
    PrivatizeAnswer,
    PrivatizeRequest,
    read,
)
from mondegreen.serve.gate import Rules, add_gate
from mondegreen.serve.guardrail import add_guardrail
from mondegreen.serve.limits import Limits
from mondegreen.serve.metrics import Metrics
from mondegreen.serve.prompt_batcher import PromptBatcher
from mondegreen.serve.service_settings import ServiceSettings
from mondegreen.serve.shown_settings import add_settings

_FAILURES: Final[dict[int | str, dict[str, Any]]] = {
    "default": {"model": Failure, "description": "An error. It contains no text."}
}


def create_app(settings: ServiceSettings) -> FastAPI:
    """Make the service; any ASGI server runs it.

    Parameters
    ----------
    settings : ServiceSettings
        See there. The batcher is ``app.state.batcher``.
    """
    metrics = Metrics()
    privatizer, limits = settings.privatizer, settings.limits
    conversations = ServiceConversations(
        settings.conversations,
        limits,
        settings.conversation_file,
        metrics.count_texts,
    )
    app = FastAPI(
        title="mondegreen",
        version=__version__,
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,  # a redirect would repeat the address
        responses=_FAILURES,
        lifespan=lambda app: forget_in_time(conversations.kept),
    )
    privatizer.check_noise()
    guide, keys = "See /openapi.json.", settings.api_keys
    add_gate(app, Rules(limits, limits.seconds, error_answer, guide, keys), metrics)
    batcher = Batcher(privatizer, limits.words, metrics.count_batch)
    app.state.batcher, app.state.metrics = batcher, metrics
    guarantee = json.dumps(privatizer.guarantee.to_dict())
    if settings.guardrail is not None:
        add_guardrail(app, PromptBatcher(settings.guardrail, limits))
    add_settings(app, privatizer)
    add_conversations(app, conversations, _takes)

    @app.post("/v1/privatize", **_takes(PrivatizeRequest, PrivatizeAnswer))
    async def privatize(request: Request) -> Response:
        """Privatize texts."""
        form = read(PrivatizeRequest, await request.body())
        _check_count(form, limits)
        if conversations.takes(form):
            return await conversations.hide(form, request)
        released = await batcher.privatize(form.texts, form.ids, form.column)
        return as_json(f'{{"texts":{json.dumps(released)},"guarantee":{guarantee}}}')

    @app.post("/v1/explain", **_takes(ExplainRequest, ExplainAnswer))
    async def explain(request: Request) -> Response:
        """Show what the setting does to a public word, like mondegreen explain."""
        word = read(ExplainRequest, await request.body()).word
        return answer(await batcher.run(lambda: explain_text(privatizer, word)))

    @app.get("/healthz")
    async def healthz() -> Response:
        """Report that the process is running."""
        return answer({"status": "ok"})

    @app.get("/readyz")
    async def readyz() -> Response:
        """Check that the service can privatize. This counts no texts and no words."""
        ids = ["readyz"] if isinstance(privatizer.noise, KeyedNoise) else None
        await batcher.run(lambda: privatizer.texts(["the"], ids, "text"))
        return answer({"status": "ready"})

    @app.get("/metrics", response_class=Response)
    async def prometheus() -> Response:
        """Return the counts of the service, in the format of Prometheus."""
        return Response(metrics.lines(), media_type="text/plain; version=0.0.4")

    return app


def _check_count(form: PrivatizeRequest, limits: Limits) -> None:
    if len(form.texts) > limits.texts:
        says = f"More than {limits.texts} texts. Send them in several requests."
        raise Refused(413, "texts", says)


def _takes(form: type[Any], made: type[Any]) -> dict[str, Any]:
    """Describe a body that we read ourselves: an error of a framework repeats it."""
    schema = form.model_json_schema()
    body = {"content": {"application/json": {"schema": schema}}, "required": True}
    return {
        "openapi_extra": {"requestBody": body},
        "responses": {200: {"model": made}},
        "response_class": Response,
    }
