import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mondegreen.errors import SpaceError
from mondegreen.space import geometry
from mondegreen.space.geometry import canonical_ids, measure


def brute_force(vectors, unknown):
    points = np.concatenate([vectors.astype(np.longdouble), unknown[None]])
    distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    words = distances[:-1, :-1].copy()
    count = len(words)
    mean = words.sum() / (count * (count - 1)) if count > 1 else 0.0
    np.fill_diagonal(words, np.inf)
    positive = distances[distances > 0]
    return {
        "closest": positive.min() if len(positive) else 0.0,
        "nearest": np.median(words.min(axis=1)) if count > 1 else 0.0,
        "mean": mean,
        "diameter": distances.max(),
    }


@st.composite
def spaces(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count, dim = draw(st.integers(1, 40)), draw(st.integers(1, 12))
    vectors = rng.standard_normal((count, dim)) * draw(st.sampled_from([1e-3, 1, 30]))
    vectors += draw(st.sampled_from([0, 5, 100]))  # a common offset hides small gaps
    kind = draw(st.sampled_from(["plain", "duplicates", "near", "zeros", "one point"]))
    if kind == "duplicates":
        vectors = vectors[rng.integers(count, size=count)]
    elif kind == "near" and count > 1:
        vectors[1] = vectors[0] * (1 + 1e-6)
    elif kind == "zeros":
        vectors[: count // 2 + 1] = 0.0
    elif kind == "one point":
        vectors[:] = np.round(vectors[0])
    return vectors.astype(draw(st.sampled_from([np.float16, np.float32])))


@pytest.mark.slow("all pairs of words")
@settings(deadline=None, max_examples=300)
@given(vectors=spaces(), tile=st.sampled_from([1, 3, 7, 2048]))
def test_distances_agree_with_brute_force(vectors, tile):
    unknown = vectors.mean(axis=0, dtype=np.float64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(geometry, "_TILE_ROWS", tile)
        found = measure(vectors, unknown)
    true = brute_force(vectors, unknown)
    scale = float(np.abs(vectors.astype(np.float64) - unknown).max()) or 1.0
    assert found.closest <= true["closest"]
    assert found.closest == pytest.approx(float(true["closest"]), rel=1e-12)
    assert found.diameter >= true["diameter"]
    assert found.diameter <= float(true["diameter"]) * (1 + 1e-3)
    assert found.mean == pytest.approx(float(true["mean"]), rel=1e-3, abs=4e-3 * scale)
    nearest = float(true["nearest"])
    assert found.nearest == pytest.approx(nearest, rel=1e-3, abs=8e-3 * scale)


def test_the_closest_pair_is_found_across_tiles(monkeypatch):
    monkeypatch.setattr(geometry, "_TILE_ROWS", 10)
    rng = np.random.default_rng(0)
    for i, j in [(3, 4), (3, 95), (40, 99), (0, 99)]:
        vectors = rng.standard_normal((100, 20)).astype(np.float32)
        vectors[j] = vectors[i]
        vectors[j, 0] += np.float32(1e-4)
        gap = np.linalg.norm(np.subtract(vectors[i], vectors[j], dtype=np.float64))
        found = measure(vectors, vectors.mean(axis=0, dtype=np.float64))
        assert gap * (1 - 1e-13) <= found.closest <= gap


def test_many_duplicates_take_bounded_memory():
    vectors = np.zeros((3000, 200), np.float32)
    vectors[-1, 0] = 1
    found = measure(vectors, vectors.mean(axis=0, dtype=np.float64))
    assert 0 < found.closest <= 1 / 3000
    assert found.nearest == 0


def test_coordinates_too_large_to_measure_are_refused():
    with pytest.raises(SpaceError, match="too large"):
        measure(np.full((2, 2), 3e30, np.float32) * [[1], [-1]], np.zeros(2))


def test_progress_reaches_the_last_word():
    done = []
    measure(np.eye(5, dtype=np.float32), np.full(5, 0.2), done.append)
    assert done[-1] == 5


@pytest.mark.parametrize("collide", [False, True])
def test_a_point_has_one_canonical_id(monkeypatch, collide):
    if collide:  # one fingerprint of all points
        monkeypatch.setattr(
            geometry, "_fingerprints", lambda bits: np.zeros(len(bits), np.uint64)
        )
    vectors = np.array([[0.0, 1], [-0.0, 1], [2, 2], [0, 1]], np.float32)
    assert canonical_ids(vectors, np.array([2.0, 2])).tolist() == [0, 0, 2, 0, 2]
    assert canonical_ids(vectors, np.array([9.0, 9])).tolist() == [0, 0, 2, 0, 4]
