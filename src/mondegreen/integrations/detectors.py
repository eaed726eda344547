"""The detector of Presidio, for the layer in front of a policy.

Every command and server that has ``detect`` chooses its detector here.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any, Final, NamedTuple

from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    OptionalDependencyError,
)
from mondegreen.policy.detection import Detector
from mondegreen.privatizer.privatizer import Privatizer

DETECTORS: Final = ("none", "presidio")

_LANGUAGE: Final = "en"


class NamedDetector(NamedTuple):
    """A detector, and its public name and version."""

    find: Detector
    name: str


def check_detector(
    detect: str, model: str | None, policy: str | None, *, processes: int = 1
) -> None:
    """Check what a command or a configuration asks for, before anything is loaded.

    Parameters
    ----------
    detect : str
        ``none`` or ``presidio``.
    model : str, optional
        An installed model of spaCy.
    policy : str or None
        The policy for all other words; None stands for ``all``.
    processes : int
        How many processes would need the detector.

    Raises
    ------
    ConfigurationError
        If there is a model without a detector, or a detector without a policy that has
        ordinary words, or more than one process.
    """
    if detect not in DETECTORS:
        allowed = f"one of {', '.join(DETECTORS)}"
        raise InvalidParameterError("detect", detect, allowed)
    if detect == "none":
        if model is not None:
            raise ConfigurationError("--detect-model needs --detect presidio")
        return
    if policy in (None, "all"):
        raise ConfigurationError(
            "--detect needs a policy for all other words: add --policy names or "
            "--policy sensitive"
        )
    if processes > 1:
        raise ConfigurationError(
            "--detect works in one process. Use --jobs 1, or --workers 1"
        )


def choose_detector(
    detect: str, model: str | None, policy: str | None
) -> NamedDetector | None:
    """Load the detector that a command or a configuration asks for.

    Parameters
    ----------
    detect, model, policy
        See :func:`check_detector`, which is called first.

    Returns
    -------
    NamedDetector or None
        None for ``none``.

    Raises
    ------
    ConfigurationError
        From :func:`check_detector`, or if there is no such model.
    OptionalDependencyError
        If a library is not installed.

    Examples
    --------
    >>> choose_detector("none", None, "names")
    >>> choose_detector("presidio", None, "names").name.split(", ")[1]
    'patterns alone'
    """
    check_detector(detect, model, policy)
    return None if detect == "none" else load_presidio(model)


def add_detector(privatizer: Privatizer, detector: NamedDetector | None) -> Privatizer:
    """Put a detector in front of a privatizer, if there is one."""
    return privatizer if detector is None else privatizer.with_detector(*detector)


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
    if model is not None and ("/" in model or "\\" in model):
        raise ConfigurationError(
            "--detect-model takes the name of an installed spaCy model, not a folder. "
            "Install the model as a package, and use its name"
        )
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
