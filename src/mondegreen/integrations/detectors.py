"""The detector of Presidio, for the layer in front of a policy."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any, Final, NamedTuple

from mondegreen.errors import ConfigurationError, OptionalDependencyError
from mondegreen.policy.detection import Detector

_LANGUAGE: Final = "en"


class NamedDetector(NamedTuple):
    """A detector, and its public name and version."""

    find: Detector
    name: str


def load_presidio(model: str | None = None) -> NamedDetector:
    """Load the analyzer of Presidio for English.

    Without a model it has its patterns alone: e-mail addresses, links, card and account
    numbers, phone numbers, and other formats. It finds no names then. Nothing is
    downloaded.

    Parameters
    ----------
    model : str, optional
        An installed model of spaCy, such as ``en_core_web_sm``: it finds names too.

    Returns
    -------
    NamedDetector
        The detector, and its public name with versions.

    Raises
    ------
    OptionalDependencyError
        If presidio-analyzer or spaCy is not installed.
    ConfigurationError
        If there is no such model.

    Examples
    --------
    >>> find, name = load_presidio()
    >>> find("Write to ann@example.org.")[0].entity_type
    'EMAIL_ADDRESS'
    """
    try:
        import spacy
        from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
        from presidio_analyzer.nlp_engine import SpacyNlpEngine
    except ModuleNotFoundError as error:
        raise (OptionalDependencyError.from_import(error) or error) from None

    _forbid_downloads()
    if model is not None and not spacy.util.is_package(model):
        raise ConfigurationError(
            f"there is no spaCy model {model!r} here; install it: python -m spacy "
            f"download {model}. Without a model, patterns alone are found"
        )
    pipeline = spacy.blank(_LANGUAGE) if model is None else spacy.load(model)
    engine: Any = SpacyNlpEngine()
    engine.nlp = {_LANGUAGE: pipeline}  # so that it loads, and downloads, nothing
    registry = RecognizerRegistry(supported_languages=[_LANGUAGE])
    registry.load_predefined_recognizers(languages=[_LANGUAGE], nlp_engine=engine)
    analyzer = AnalyzerEngine(
        registry=registry, nlp_engine=engine, supported_languages=[_LANGUAGE]
    )
    how = "patterns alone" if model is None else f"{model} {version(model)}"
    return NamedDetector(
        lambda text: analyzer.analyze(text, language=_LANGUAGE),
        f"presidio-analyzer {version('presidio-analyzer')}, {how}",
    )


def _forbid_downloads() -> None:
    """Let tldextract use the list of domains that it comes with."""
    try:
        from tldextract.tldextract import TLD_EXTRACTOR
    except ModuleNotFoundError:
        return
    TLD_EXTRACTOR.suffix_list_urls = ()
