"""Measure the searches that noise mechanisms decode with.

For each size of vocabulary (words of the default space; words trained on IMDb; the
former with Gaussian jitter up to 400,000): queries a second of exhaustive float32
search and of the decoder ``fast``, in turns on the same noisy points, and how many
words agree; the rate of whole mechanisms against their search alone on the very points
that they search; and what was tried and not kept. With a GPU also ``torch``.

Needs ``pip install mondegreen[torch]``. ``--parts`` names what to measure (``34k 102k
400k tried``); parts are stored one by one. On a machine with other work take
``--threads 1``: threads that meet at barriers wait for that work.
``python -m benchmarks decoders_page`` then writes the page.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np

from benchmarks import machine

EPSILONS = (6.0, 10.0, 14.0, 18.0)
MECHANISMS = ("laplace", "mahalanobis", "vickrey")
SIZES = {"34k": 33_860, "102k": 102_179, "400k": 400_000}
QUERIES = {"34k": 4096, "102k": 2048, "400k": 512}
BLOCKS = {"34k": 3, "102k": 2, "400k": 2}
ROUNDS = {"34k": 3, "102k": 2, "400k": 1}
JITTER = 0.5
TRIED = 2048


def vocabulary(part):
    """The vectors of a part."""
    from mondegreen import load_space

    if part == "102k":
        return np.load(machine.SHARED / "vectors/w2v_imdb_300d.npy")
    words = load_space().vectors
    if part != "400k":
        return words
    rng = np.random.default_rng(400)
    more = rng.integers(0, len(words), SIZES[part] - len(words))
    out = np.empty((SIZES[part], words.shape[1]), dtype=np.float16)
    out[: len(words)] = words
    for start in range(0, len(more), 1 << 14):
        rows = words[more[start : start + (1 << 14)]].astype(np.float32)
        rows += rng.standard_normal(rows.shape, dtype=np.float32) * (
            JITTER * np.linalg.norm(rows, axis=1, keepdims=True) / rows.shape[1] ** 0.5
        )
        out[len(words) + start :][: len(rows)] = rows
    return out


def noisy(vectors, epsilon, rows):
    """Noisy points of uniformly drawn words, and the words."""
    from mondegreen.sampling.laplace import multivariate_laplace

    rng = np.random.default_rng(round(epsilon))
    words = rng.integers(0, len(vectors), rows)
    noise = multivariate_laplace(rng, epsilon, (rows, vectors.shape[1]))
    return vectors[words] + noise, words


def in_turns(works, rounds):
    """The least seconds of each piece of work, done in turns."""
    best = [float("inf")] * len(works)
    for _ in range(rounds):
        for i, work in enumerate(works):
            start = time.perf_counter()
            work()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def set_threads(threads):
    """Give faiss and torch the same number of threads."""
    import faiss
    import torch

    faiss.omp_set_num_threads(threads)
    torch.set_num_threads(threads)


def rates(part, threads):
    """Compare decoders on the same points, at every epsilon."""
    import torch

    from mondegreen.space.search.decoders import decoder_search

    vectors = vocabulary(part)
    names = ["exact", "fast"] + ["torch"] * torch.cuda.is_available()
    searches = {name: decoder_search(name, vectors) for name in names}
    rows = QUERIES[part]
    result = []
    for count in threads:
        set_threads(count)
        for epsilon in EPSILONS:
            points, words = noisy(vectors, epsilon, rows)
            for k in (1, 2):
                found = {n: s.nearest(points, k) for n, s in searches.items()}
                works = [
                    lambda s=s, p=points, k=k: s.nearest(p, k)
                    for s in searches.values()
                ]
                seconds = in_turns(works, ROUNDS[part])
                entry = {"threads": count, "epsilon": epsilon, "k": k, "rows": rows}
                entry["stay"] = round(float((found["exact"][:, 0] == words).mean()), 4)
                for name, best in zip(searches, seconds, strict=True):
                    same = (found[name] == found["exact"]).all(axis=1)
                    entry[name] = {
                        "queries_per_second": round(rows / best),
                        "ratio": round(seconds[0] / best, 3),
                        "agreement": float(same.mean()),
                    }
                print(entry, flush=True)
                result.append(entry)
    return result


def shares(part, threads):
    """Compare whole mechanisms with their search alone on the points they search."""
    from mondegreen import load_space
    from mondegreen.mechanisms import mechanism
    from mondegreen.sampling.noise import chacha20
    from mondegreen.space.space import Space

    vectors = vocabulary(part)
    # The scale of the guarantee is not measured here: it takes minutes.
    space = Space(
        part,
        tuple(f"w{i}" for i in range(len(vectors))),
        vectors,
        vectors.mean(axis=0, dtype=np.float64),
        load_space().geometry,
    )
    rows = 4096 * BLOCKS[part]
    ids = np.random.default_rng(0).integers(0, len(vectors), rows).astype(np.int32)
    result = []
    for name in MECHANISMS:
        for decoder in ("exact",) if part == "400k" else ("exact", "fast"):
            state = mechanism(name, epsilon=10.0, decoder=decoder).prepare(space)
            k = 2 if name == "vickrey" else 1
            blocks = [points for points, _ in state._noisy(ids, chacha20(bytes(32)))]
            for count in threads:
                set_threads(count)

                def search(state=state, blocks=blocks, k=k):
                    return [state.search.nearest(points, k) for points in blocks]

                def whole(state=state):
                    return state.sample(ids, chacha20(bytes(32)))

                alone, all_of_it = in_turns([search, whole], ROUNDS[part])
                entry = {
                    "mechanism": name,
                    "decoder": decoder,
                    "threads": count,
                    "search_per_second": round(rows / alone),
                    "words_per_second": round(rows / all_of_it),
                    "share": round(alone / all_of_it, 3),
                }
                print(entry, flush=True)
                result.append(entry)
    return result


def attempts(vectors):
    """What was tried: a name, and a search for candidates to compare again."""
    import faiss
    import torch

    wide = vectors.astype(np.float32)
    dim = wide.shape[1]
    shift = -np.einsum("ij,ij->i", wide, wide)[:, None] / 2

    def of_index(index, k):
        index.train(wide)
        index.add(wide)
        return lambda points: index.search(points.astype(np.float32), k)[1]

    # By Euclidean distance: the coordinate that makes it a product spoils short codes.
    half = faiss.IndexPQFastScan(dim, dim // 2, 4)
    yield "faiss PQ, 2 bits a coordinate, 128 candidates", of_index(half, 128)
    quarter = faiss.IndexPQFastScan(dim, dim // 4, 4)
    yield "faiss PQ, 1 bit a coordinate, 256 candidates", of_index(quarter, 256)
    rabitq = faiss.IndexRaBitQFastScan(dim)
    yield "faiss RaBitQ, 1 bit a coordinate, 256 candidates", of_index(rabitq, 256)
    eight = faiss.IndexScalarQuantizer(dim, faiss.ScalarQuantizer.QT_8bit)
    yield "faiss scalar quantiser, 8 bits, 8 candidates", of_index(eight, 8)

    # Principal axes: the first 128 coordinates, and the length of the word.
    values, axes = np.linalg.eigh(np.cov(wide.T))
    axes = np.ascontiguousarray(axes[:, np.argsort(-values)[:128]])
    flat = faiss.IndexFlatIP(129)
    flat.add(np.hstack([wide @ axes, shift]))

    def principal(points):
        short = np.ones((len(points), 129), np.float32)
        short[:, :128] = points.astype(np.float32) @ axes
        return flat.search(short, 64)[1]

    yield "128 principal coordinates in float32, 64 candidates", principal

    # The form that is fastest in 8 bits: words by points, slab by slab, best of groups.
    # The length of a word takes three coordinates of 8 significant bits.
    count = len(wide) // 16 * 16
    parts, rest = [], torch.from_numpy(shift[:count])
    for _ in range(3):
        parts.append(rest.bfloat16())
        rest = rest - parts[-1].float()
    words = torch.cat([torch.from_numpy(wide[:count]).bfloat16(), *parts], dim=1)

    def bfloat16(points):
        out = []
        for start in range(0, len(points), 512):
            block = torch.from_numpy(points[start : start + 512].astype(np.float32))
            block = torch.nn.functional.pad(block.bfloat16(), (0, 3), value=1.0)
            best = [
                (words[i : i + 2048] @ block.t()).view(-1, 16, len(block)).amax(1)
                for i in range(0, count, 2048)
            ]
            groups = torch.cat(best).topk(4, dim=0).indices.t()
            out.append((groups[:, :, None] * 16 + torch.arange(16)).flatten(1))
        return torch.cat(out).numpy()

    yield "torch bfloat16, best 4 groups of 16 words", bfloat16


def tried():
    """Measure what was tried on the default space, one thread."""
    from mondegreen.space.search.decoders import decoder_search

    vectors = vocabulary("34k")
    wide = vectors.astype(np.float32)
    lengths = np.einsum("ij,ij->i", wide, wide) / 2
    exact = decoder_search("exact", vectors)
    set_threads(1)

    def again(points, candidates):
        """Compare candidates in float32."""
        points = points.astype(np.float32)
        out = np.empty(len(points), np.int32)
        for start in range(0, len(points), 32):
            rows = candidates[start : start + 32]
            score = np.matmul(wide[rows], points[start : start + 32, :, None])[..., 0]
            best = (score - lengths[rows]).argmax(axis=1)
            out[start : start + 32] = rows[np.arange(len(rows)), best]
        return out

    result = {}
    for name, search in attempts(vectors):
        entries = []
        for epsilon in EPSILONS:
            points, _ = noisy(vectors, epsilon, TRIED)
            reference = exact.nearest(points, 1)[:, 0]
            found = again(points, search(points))
            works = [
                lambda p=points: exact.nearest(p, 1),
                lambda p=points, search=search: again(p, search(p)),
            ]
            seconds = in_turns(works, 2)
            entries.append(
                {
                    "epsilon": epsilon,
                    "ratio": round(seconds[0] / seconds[1], 3),
                    "agreement": float((found == reference).mean()),
                }
            )
        print(name, entries, flush=True)
        result[name] = entries
    return result


def stored():
    """The stored result, empty before the first run."""
    path = machine.RESULTS / "decoders.json"
    return json.loads(path.read_text()) if path.exists() else {}


def main() -> None:
    """Measure the parts that are named, and store them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="*", choices=[*SIZES, "tried"], default=())
    parser.add_argument("--threads", nargs="*", type=int, default=(1, 2))
    options = parser.parse_args()
    for part in options.parts:
        import torch

        result = {"rates": {}, "shares": {}, "tried": {}, **stored()}
        result.pop("machine", None)
        result["torch"] = torch.__version__
        if part == "tried":
            result["tried"] = tried()
        else:
            result["rates"][part] = rates(part, options.threads)
            result["shares"][part] = shares(part, options.threads)
        machine.save("decoders", result)


if __name__ == "__main__":
    main()
