"""Presidio masks what it finds, and mondegreen privatizes every other word.

Run from the root of the repository: ``python examples/presidio_operator.py``
A model of names finds more than these patterns: give it to ``AnalyzerEngine``.
"""

import spacy
from presidio_analyzer import AnalyzerEngine, Pattern, PatternRecognizer
from presidio_analyzer.nlp_engine import SpacyNlpEngine
from presidio_analyzer.recognizer_registry import RecognizerRegistry
from presidio_anonymizer import AnonymizerEngine
from presidio_anonymizer.entities import OperatorConfig

import mondegreen as mg
from mondegreen.integrations.presidio import PrivateTextOperator, privatize


class NoModel(SpacyNlpEngine):
    """Words alone, which is all that patterns need."""

    def __init__(self) -> None:
        super().__init__()
        self.nlp = {"en": spacy.blank("en")}


registry = RecognizerRegistry(supported_languages=["en"])
registry.add_recognizer(PatternRecognizer("PERSON", deny_list=["Ann Smith"]))
phone = Pattern("phone", r"\b\d{3}-\d{4}\b", 0.6)
registry.add_recognizer(PatternRecognizer("PHONE_NUMBER", patterns=[phone]))
analyzer = AnalyzerEngine(
    registry=registry, nlp_engine=NoModel(), supported_languages=["en"]
)

text = "Ann Smith called from Oslo and asked you to ring 555-0199, she is ill."
found = analyzer.analyze(text, language="en")

privatizer = mg.Privatizer(mg.mechanism("tree", epsilon=10.0))
types = ["PERSON", "PHONE_NUMBER"]
both = privatize(text, found, privatizer, also_rest=True, types=types)
print(both.guarantee.summary())
print("both together:  ", both.text)

engine = AnonymizerEngine()
engine.add_anonymizer(PrivateTextOperator)
operators = {"DEFAULT": OperatorConfig("mondegreen", {"privatizer": privatizer})}
only = engine.anonymize(text, found, operators)
print("only what it found:", only.text)
