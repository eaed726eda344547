"""Presidio behind an application of the same kind, for the load test.

Its recognizers of patterns on a blank pipeline find spans (addresses, numbers), and its
anonymizer replaces these. All other words pass in clear: that is what it is for.
"""

from __future__ import annotations

import sys
from typing import Any

import spacy
import uvicorn
from fastapi import FastAPI
from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
from presidio_analyzer.nlp_engine import SpacyNlpEngine
from presidio_anonymizer import AnonymizerEngine
from pydantic import BaseModel


class Blank(SpacyNlpEngine):
    """A pipeline that cuts tokens and has no model: nothing is downloaded."""

    def __init__(self) -> None:
        super().__init__()
        self.nlp = {"en": spacy.blank("en")}

    def load(self) -> None:
        pass


class Texts(BaseModel):
    texts: list[str]


def application() -> FastAPI:
    """Make the service."""
    registry = RecognizerRegistry(supported_languages=["en"])
    registry.load_predefined_recognizers(languages=["en"])
    registry.remove_recognizer("SpacyRecognizer")
    analyzer = AnalyzerEngine(registry=registry, nlp_engine=Blank())
    anonymizer = AnonymizerEngine()
    app = FastAPI()

    @app.post("/v1/privatize")
    def privatize(request: Texts) -> dict[str, Any]:
        found = [analyzer.analyze(text, language="en") for text in request.texts]
        pairs = zip(request.texts, found, strict=True)
        made = [anonymizer.anonymize(text, spans).text for text, spans in pairs]
        return {"texts": made}

    return app


if __name__ == "__main__":
    port = int(sys.argv[1])
    uvicorn.run(application(), port=port, access_log=False, log_level="warning")
