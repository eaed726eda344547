"""Measure binary codes and randomised response over them.

What codes keep of the geometry of the default space (learned ones, as shipped, and
random hyperplanes), how well a linear classifier does on IMDb with codes in place of
vectors, how well one does on text released by ``brr`` at several epsilons, the size of
the files, and words a second. Needs ``pip install './experiments[models]'`` for the
classifiers. ``--quick`` leaves IMDb out.
``python -m benchmarks codes_page`` then writes the page.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks import machine

COMMAND = str(Path(sys.executable).with_name("mondegreen"))
EPSILONS = (0.3, 0.5, 0.7, 1.0, 2.0)
NEIGHBOURS = 10


def structure(space, codes) -> dict[str, float]:
    """How much of distances and neighbours codes keep."""
    import faiss
    from scipy import stats

    vectors = space.vectors.astype(np.float32)
    sample = np.linspace(0, space.vocab_size - 1, 2000).astype(int)
    exact, binary = faiss.IndexFlatL2(space.dim), faiss.IndexBinaryFlat(codes.bits)
    exact.add(vectors)
    table = np.ascontiguousarray(codes.table)
    binary.add(table)
    near = others(exact.search(vectors[sample], NEIGHBOURS + 2)[1], sample)
    found = others(binary.search(table[sample], NEIGHBOURS + 2)[1], sample)
    kept = [len({*a} & {*b}) for a, b in zip(near, found, strict=True)]
    rng = np.random.default_rng(5)
    pairs = rng.integers(0, space.vocab_size, (200_000, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    centred = vectors - vectors.mean(axis=0)
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    apart = hamming(table, pairs)
    gaps = np.linalg.norm(vectors[pairs[:, 0]] - vectors[pairs[:, 1]], axis=1)
    cosines = np.einsum("ij,ij->i", centred[pairs[:, 0]], centred[pairs[:, 1]])
    judged, scores = simlex(space)
    return {
        "recall_at_10": round(float(np.mean(kept)) / NEIGHBOURS, 4),
        "spearman_euclidean": spearman(stats, apart, gaps),
        "spearman_centred_cosine": spearman(stats, -apart, cosines),
        "simlex": spearman(stats, -hamming(table, judged), scores),
        "words_sharing_a_code": int(space.vocab_size - len(np.unique(table, axis=0))),
        **codes.geometry.to_dict(),
    }


def vectors_alone(space) -> dict[str, float]:
    """The agreement of the vectors themselves with SimLex-999."""
    from scipy import stats

    judged, scores = simlex(space)
    vectors = space.vectors.astype(np.float32)
    gaps = np.linalg.norm(vectors[judged[:, 0]] - vectors[judged[:, 1]], axis=1)
    centred = vectors - vectors.mean(axis=0)
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    cosines = np.einsum("ij,ij->i", centred[judged[:, 0]], centred[judged[:, 1]])
    return {
        "simlex_euclidean": spearman(stats, -gaps, scores),
        "simlex_centred_cosine": spearman(stats, cosines, scores),
        "simlex_pairs": len(judged),
    }


def spearman(stats, left, right) -> float:
    """A rank correlation, rounded."""
    return round(float(stats.spearmanr(left, right).statistic), 4)


def others(found, sample):
    """The first ten neighbours of each word that are not the word itself."""
    return [
        [j for j in row.tolist() if j != i][:NEIGHBOURS]
        for row, i in zip(found, sample.tolist(), strict=True)
    ]


def hamming(table, pairs):
    """The Hamming distance of each pair."""
    differing = np.bitwise_count(table[pairs[:, 0]] ^ table[pairs[:, 1]])
    return differing.sum(axis=1, dtype=np.int64)


def simlex(space):
    """The pairs of SimLex-999 that are in the space, and their scores."""
    lines = (machine.SHARED / "counter_fitting/SimLex-999.txt").read_text().split("\n")
    rows = [line.split("\t") for line in lines[1:] if line]
    known = [r for r in rows if r[0] in space.index and r[1] in space.index]
    pairs = np.array([[space.index[r[0]], space.index[r[1]]] for r in known])
    return pairs, np.array([float(r[3]) for r in known])


def imdb():
    """Texts, labels and splits."""
    import pyarrow.parquet as pq

    table = pq.read_table(machine.SHARED / "imdb.parquet")
    return [table.column(name).to_pylist() for name in ("text", "label", "split")]


def mean_features(texts, space, features):
    """For each text the mean of what its known words have."""
    rows = []
    for text in texts:
        ids = [space.get_id(word) for word in re.findall(r"[a-z']+", text.lower())]
        known = [i for i in ids if i < space.vocab_size]
        rows.append(features[known or [0]].mean(axis=0))
    return np.array(rows)


def accuracy(features, labels, splits) -> float:
    """Train a logistic regression on the train part, and score it on the test part."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler

    labels, splits = np.array(labels), np.array(splits)
    train, test = splits == "train", splits == "test"
    model = make_pipeline(MaxAbsScaler(), LogisticRegression(C=1.0, max_iter=2000))
    model.fit(features[train], labels[train])
    return round(float(model.score(features[test], labels[test])), 4)


def bag_of_words(texts):
    """Tf-idf of words that occur in at least five texts."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(min_df=5, sublinear_tf=True).fit_transform(texts)


def release(epsilon, mechanism="brr"):
    """Privatize the reviews with the command; return texts, words and seconds."""
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        output, report = Path(folder) / "o.parquet", Path(folder) / "r.json"
        arguments = ["privatize", machine.SHARED / "imdb.parquet", "-o", output]
        arguments += ["-m", mechanism, "--epsilon", epsilon, "--jobs", 2]
        arguments += ["--report", report, "--quiet"]
        start = time.perf_counter()
        subprocess.run([COMMAND, *map(str, arguments)], check=True)
        seconds = time.perf_counter() - start
        words = json.loads(report.read_text())["counts"]["words"]
        return pq.read_table(output).column("text").to_pylist(), words, seconds


def speed() -> dict[str, object]:
    """Words a second of ``sample`` alone, and of its search alone."""
    import faiss

    from mondegreen import load_space
    from mondegreen.mechanisms import mechanism
    from mondegreen.sampling.noise import chacha20

    result: dict[str, object] = {}
    space = load_space()
    ids = np.random.default_rng(0).integers(0, space.vocab_size, 65_536)
    for threads in (1, 2):
        faiss.omp_set_num_threads(threads)
        for epsilon in (0.5, 1.0, 2.0):
            state = mechanism("brr", epsilon=epsilon).prepare(space)
            rng = chacha20(os.urandom(32))
            seconds = [timed(lambda: state.sample(ids, rng)) for _ in range(4)]  # noqa: B023
            result[f"sample, epsilon {epsilon:g}, threads {threads}"] = round(
                len(ids) / min(seconds)
            )
        noisy = state.codes.points(ids)
        index = faiss.IndexBinaryFlat(state.codes.bits)
        index.add(np.ascontiguousarray(state.codes.table))
        seconds = [timed(lambda: index.search(noisy, 1)) for _ in range(4)]  # noqa: B023
        result[f"search alone, threads {threads}"] = round(len(ids) / min(seconds))
    return result


def timed(work) -> float:
    """The seconds that a call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def sizes(space) -> dict[str, int]:
    """Bytes of the same words as vectors and as codes."""
    from mondegreen.space import store

    folder = Path(store.__file__).parent / "data"
    return {
        "words_and_float32_vectors": 4 * space.vocab_size * space.dim
        + sum(len(word.encode()) + 1 for word in space.words),
        "space_file_float16": (folder / f"{space.name}.safetensors").stat().st_size,
        "codes_only_file": next((folder / "codes").glob(f"{space.name}*"))
        .stat()
        .st_size,
    }


def measure(*, quick: bool) -> dict[str, object]:
    """Measure everything."""
    from mondegreen import load_space
    from mondegreen.space.binarize import with_codes
    from mondegreen.space.store import load_codes

    space = load_space()
    shipped = load_codes(space)
    plain = with_codes(space, method="hyperplane").codes
    start = time.process_time()
    trained = with_codes(space).codes
    training = time.process_time() - start
    assert trained.digest == shipped.digest, "the shipped codes cannot be made again"
    euclidean, hamming = space.geometry, shipped.geometry
    ratio = euclidean.mean / hamming.mean
    result: dict[str, object] = {
        "space": space.name,
        "space_digest": space.digest,
        "codes_digest": shipped.digest,
        "training_cpu_seconds": round(training, 1),
        "vectors": vectors_alone(space),
        "tissier": structure(space, shipped),
        "hyperplane": structure(space, plain),
        "bytes": sizes(space),
        "words_per_second": speed(),
        "privacy_ratio": {
            "max": round(euclidean.diameter / hamming.diameter, 5),
            "mean": round(ratio, 5),
            "epsilon_22_of_euclidean_is_by_mean": round(22.0 * ratio, 3),
        },
    }
    if quick:
        return result
    texts, labels, splits = imdb()
    bits = {
        name: np.unpackbits(codes.table, axis=1).astype(np.float32)
        for name, codes in (("tissier", shipped), ("hyperplane", plain))
    }
    features = {"vectors": space.vectors.astype(np.float32), **bits}
    result["imdb_mean_of_words"] = {
        name: accuracy(mean_features(texts, space, each), labels, splits)
        for name, each in features.items()
    }
    released: dict[str, object] = {
        "original": {"accuracy": accuracy(bag_of_words(texts), labels, splits)}
    }
    for epsilon in EPSILONS:
        private, words, seconds = release(epsilon)
        released[f"{epsilon:g}"] = {
            "accuracy": accuracy(bag_of_words(private), labels, splits),
            "stay": round(stays(space, epsilon), 4),
            "words": words,
            "words_per_second": round(words / seconds),
        }
    result["imdb_bag_of_words_after_brr"] = released
    return result


def stays(space, epsilon) -> float:
    """The share of words of the vocabulary that come out unchanged."""
    from mondegreen.mechanisms import mechanism

    ids = np.arange(space.vocab_size, dtype=np.int32)
    state = mechanism("brr", epsilon=epsilon).prepare(space)
    return float((state.sample(ids, np.random.default_rng(0)) == ids).mean())


def main() -> None:
    """Measure and store."""
    machine.save("brr", measure(quick="--quick" in sys.argv))


if __name__ == "__main__":
    main()
