"""Time one mechanism in the environment that this runs in; print nothing else.

``python speed_worker.py JOB.json`` writes its findings into the file that the job
names. It runs under the Python and the NumPy of whatever package is timed; only the
part for mondegreen itself imports it.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
DOCUMENT = 20
"""Words of a document given to a peer that works on documents."""
WARM_UP = 40
"""Words before the clock starts, the check among them; or two seconds of them."""


def main() -> None:
    """Read the job, do it, write what was found."""
    job = json.loads(Path(sys.argv[1]).read_text())
    os.environ["PEERS_EPSILON"] = str(job["epsilon"])
    sys.path.insert(0, str(HERE))
    find = ours if job["package"] == "mondegreen" else theirs
    Path(job["out"]).write_text(json.dumps(find(job)))


def theirs(job: dict) -> dict:
    """Time a peer on documents of words, in order, for so many seconds."""
    words = Path(job["words"]).read_text().split()
    maker = {
        "mldp-text": mldp,
        "pypantera": pypantera,
        "dp-diffractor": diffractor,
    }[job["package"]]
    call, vocabulary = maker(job)
    call(words[:1])
    found = {"first_word_seconds": time.monotonic() - job["started"]}
    step = job.get("document", DOCUMENT)
    documents = itertools.cycle(
        [words[i : i + step] for i in range(0, len(words), step)]
    )
    outputs: list[str] = []
    inputs: list[str] = []

    def run(seconds: float, least: int) -> tuple[int, float]:
        start, done = time.perf_counter(), 0
        for document in documents:
            inputs.extend(document)
            outputs.extend(call(document))
            done += len(document)
            spent = time.perf_counter() - start
            if spent > seconds and done >= least:
                break
        return done, spent

    run(2.0, WARM_UP)
    check_words(job, inputs, outputs, vocabulary)
    done, spent = run(job["seconds"], 3 * step)
    check_words(job, inputs, outputs, vocabulary)
    same = sum(
        a == b for a, b in zip(inputs, outputs, strict=False)
    )  # one may split a word
    return {
        **found,
        "words": done,
        "words_per_second": done / spent,
        "unchanged": round(same / len(inputs), 4),
        "unchanged_of": len(inputs),
    }


def check_words(job: dict, inputs: list, outputs: list, vocabulary: set) -> None:
    """Assert a word of the vocabulary for each word."""
    assert abs(len(inputs) - len(outputs)) <= job.get("miscounted", 0) * len(inputs)
    outside = sum(word not in vocabulary for word in outputs)
    allowed = max(job.get("miscounted", 0), job.get("outside", 0))
    assert outside <= allowed * len(outputs), (outside, len(outputs))


def mldp(job: dict) -> tuple:
    """Build a mechanism of mldp-text, which takes a word at a time."""
    if job["mechanism"] == "SynTF":
        from mldp_text import get_mechanism

        texts = json.loads(Path(job["texts"]).read_text())
        mechanism = get_mechanism("syntf", epsilon=job["epsilon"], data=texts)
        synonyms = {s for scores in mechanism.syn_scores.values() for s in scores}
        return lambda words: [mechanism.replace_word(w) for w in words], synonyms
    import targets_mldp as targets

    name = job["target"]
    options = job.get("options", {})
    mechanism = targets.mldp_text.get_mechanism(name, **targets.BUILD, **options)
    vocabulary = set(targets.VECTORS.key_to_index)
    return lambda words: [mechanism.replace_word(w) for w in words], vocabulary


def pypantera(job: dict) -> tuple:
    """Build a mechanism of pypantera, which takes a document at a time."""
    import targets_pypantera as targets

    mechanism = getattr(targets, job["target"])({**targets.BUILD, **job["options"]})
    vocabulary = set(mechanism.vocab.embeddings)
    assert len(vocabulary) >= job["least_vocabulary"]
    if hasattr(mechanism, "noisyEmb"):
        return lambda d: mechanism.processText(
            mechanism.noisyEmb(d)
        ).split(), vocabulary
    return lambda document: mechanism.processText(document).split(), vocabulary


def diffractor(job: dict) -> tuple:
    """Build a method of dp-diffractor, which takes a text at a time."""
    import contextlib
    import io
    import secrets

    from diffractor import Diffractor, DiffractorConfig

    config = DiffractorConfig(
        epsilon=job["epsilon"],
        verbose=False,
        seed=secrets.randbits(63),
        **job["options"],
    )
    with contextlib.redirect_stdout(io.StringIO()):
        mechanism = Diffractor(config, model_names=[os.environ["PEERS_MODEL"]])
    vocabulary = set(mechanism.mgr.lists[0])
    return lambda words: mechanism.rewrite(" ".join(words))[0].split(), vocabulary


def ours(job: dict) -> dict:
    """Time a mechanism of mondegreen: first word, a cold batch, warm, whole texts."""
    sys.path.insert(0, str(HERE.parents[1]))
    from mondegreen import Privatizer, load_space, mechanism

    space = load_space()
    chosen = mechanism(job["mechanism"], epsilon=job["epsilon"], **job["options"])
    state = chosen.prepare(space)

    import numpy as np

    from benchmarks.measure import rates

    state.sample(np.zeros(1, dtype=np.int32), rates.generator())
    found = {"first_word_seconds": time.monotonic() - job["started"]}
    words = Path(job["words"]).read_text().split()
    ids = np.array([space.index[word] for word in words], dtype=np.int32)
    found |= rates.check(state, ids)
    alone = rates.search_alone(space, ids, job["seconds"] / 2)
    state = chosen.prepare(space)  # one that was never asked
    found["cold_words_per_second"] = rates.cold_rate(state, ids)
    found["words_per_second"] = rates.warm_rate(state, ids, job["seconds"])
    privatizer = Privatizer(chosen, space, allow_unproved=not chosen.is_private)
    reviews = json.loads(Path(job["texts"]).read_text())
    found["text_words_per_second"] = rates.text_rate(
        privatizer, reviews, job["seconds"]
    )
    again = rates.search_alone(space, ids, job["seconds"] / 2)
    return {**found, "search_alone_per_second": (alone + again) / 2}


if __name__ == "__main__":
    main()
