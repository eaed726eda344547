import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from mondegreen.cli.public.space import space as command
from mondegreen.errors import (
    InvalidParameterError,
    SpaceError,
    SpaceIntegrityError,
    UnknownNameError,
)
from mondegreen.space.distances import Distances
from mondegreen.space.metric import (
    METRICS,
    distances,
    one_minus_norm2,
    relative_error,
)
from mondegreen.space.space import Space, WordSpace
from mondegreen.space.store import load_space, save_space
from mondegreen.space.tree import WordTree
from mondegreen.space.vectors.build import build_space

MAMMALS = Path(__file__).parents[2] / "../shared/data/wordnet/mammal_poincare_10d.npy"


def exact(metric, points):
    """All distances in extended precision."""
    x = points.astype(np.longdouble)
    squares = ((x[:, None] - x[None]) ** 2).sum(axis=2)
    if metric == "euclidean":
        return np.sqrt(squares)
    left = 1 - (x**2).sum(axis=1)
    return 2 * np.arcsinh(np.sqrt(squares / (left[:, None] * left[None])))


@st.composite
def balls(draw, max_words=12, max_dim=6):
    """Points of the ball: inside, near the edge, on top of and beside each other."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count, dim = draw(st.integers(1, max_words)), draw(st.integers(1, max_dim))
    direction = rng.standard_normal((count, dim))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    edge = draw(st.sampled_from([0.5, 1e-2, 1e-4, 1e-6]))
    norms = 1 - edge ** rng.random(count)
    points = (direction * norms[:, None]).astype(np.float32)
    kind = draw(st.sampled_from(["plain", "duplicates", "near", "one at the origin"]))
    if kind == "duplicates":
        points = points[rng.integers(count, size=count)]
    elif kind == "near":
        points[0] = points[-1] * np.float32(1 - 1e-5)
    elif kind == "one at the origin":
        points[0] = 0
    return points


metrics = st.sampled_from(sorted(METRICS))
many = settings(deadline=None, max_examples=150, derandomize=True)


def ball_space(points, name="ball"):
    words = [f"w{i}" for i in range(len(points))]
    return Space.from_arrays(name, words, points, metric="poincare")


@many
@given(points=balls(), metric=metrics)
def test_both_are_metrics_and_as_exact_as_they_say(points, metric):
    d = distances(metric, points, points)
    true = exact(metric, points)
    error = relative_error(metric, points, np.zeros(points.shape[1]))
    assert (np.abs(d - true) <= error * true).all()
    assert (np.diag(d) == 0).all()
    assert (d == d.T).all()
    same = (points[:, None] == points[None]).all(axis=2)
    assert ((d == 0) == same).all()
    slack = 4 * error * d.max()
    assert (
        d[:, :, None] <= d[:, None, :] + d[None, :, :].transpose(0, 2, 1) + slack
    ).all()


def test_poincare_is_the_formula_of_the_papers():
    x, y = np.array([[0.3, -0.2]]), np.array([[0.1, 0.6], [0.0, 0.0]])
    edge = one_minus_norm2(x) * one_minus_norm2(y)
    inner = 1 + 2 * ((x - y) ** 2).sum(axis=1) / edge
    np.testing.assert_allclose(distances("poincare", x, y)[0], np.arccosh(inner))
    norm = math.hypot(0.3, 0.2)
    assert distances("poincare", x, y)[0, 1] == pytest.approx(
        math.log((1 + norm) / (1 - norm))
    )


def test_distances_are_the_same_chunk_by_chunk(monkeypatch):
    points = np.random.default_rng(0).uniform(-0.5, 0.5, (50, 3)).astype(np.float16)
    for metric in METRICS:
        whole = distances(metric, points[:5], points)
        monkeypatch.setattr("mondegreen.space.metric._CHUNK_ROWS", 7)
        assert (distances(metric, points[:5], points) == whole).all()
    with pytest.raises(UnknownNameError):
        distances("cosine", points, points)


@many
@given(points=balls())
def test_the_geometry_of_a_ball_bounds_all_distances(points):
    space = ball_space(points)
    inputs = np.concatenate([points.astype(float), space.unknown[None]])
    true = exact("poincare", inputs)
    positive = true[true > 0]
    g = space.geometry
    assert g.diameter >= true.max()
    if len(positive):
        assert 0 < g.closest <= positive.min()
        assert g.closest == pytest.approx(float(positive.min()), rel=1e-4)
    words = true[:-1, :-1].copy()
    if len(words) > 1:
        assert g.mean == pytest.approx(
            float(words.sum()) / (len(words) * (len(words) - 1)), rel=1e-4
        )
        np.fill_diagonal(words, np.inf)
        nearest = float(np.median(words.min(axis=1)))
        assert g.nearest == pytest.approx(nearest, rel=1e-4)
    assert (space.unknown**2).sum() < 1  # the ball is convex


@pytest.mark.parametrize("row", [[1.0, 0.0], [0.8, 0.61], [2.0, 3.0], [1 - 1e-10, 0]])
def test_points_outside_of_the_ball_are_refused(row):
    with pytest.raises(SpaceError, match="norm"):
        ball_space(np.array([[0.0, 0.0], row]))


def test_half_precision_that_rounds_to_the_edge_is_refused():
    with pytest.raises(SpaceError, match="float32"):
        ball_space(np.array([[0.9999]], dtype=np.float16))
    ball_space(np.array([[0.9999]], dtype=np.float32))


def test_an_unknown_metric_is_refused():
    with pytest.raises(UnknownNameError, match="euclidean"):
        Space.from_arrays("s", ["a"], [[0.0]], metric="cosine")
    with pytest.raises(InvalidParameterError, match="metric"):
        build_space(None, "s", bad=None, metric="cosine")


def test_the_metric_is_part_of_the_digest_and_of_the_file(tmp_path):
    points = np.array([[0.0, 0.1], [0.5, 0.5], [-0.7, 0.7]], dtype=np.float32)
    ball = ball_space(points, "same")
    flat = Space.from_arrays("same", ball.words, points)
    assert ball.metric == "poincare"
    assert flat.metric == "euclidean"
    assert ball.digest != flat.digest
    path = tmp_path / "ball.safetensors"
    save_space(ball, path)
    again = load_space(path)
    assert (again.metric, again.digest) == ("poincare", ball.digest)
    assert again.geometry == ball.geometry
    raw = path.read_bytes()
    path.write_bytes(raw.replace(b'"poincare"', b'"spherica"'))
    with pytest.raises((SpaceError, SpaceIntegrityError)):
        load_space(path)


def test_a_ball_survives_pickling():
    ball = ball_space(np.array([[0.0, 0.1], [0.5, 0.5]]))
    again = pickle.loads(pickle.dumps(ball))
    assert (again.metric, again.digest) == (ball.metric, ball.digest)


def test_the_command_builds_and_verifies_a_ball(tmp_path):
    source, out = tmp_path / "v.txt", tmp_path / "ball.safetensors"
    source.write_text("root 0 0.1\nleaf 0.9 0\n")
    for arguments in (
        ["build", str(source), "-o", str(out), "--metric", "poincare"],
        ["verify", str(out), "--deep"],
    ):
        result = CliRunner().invoke(command, arguments)
        assert result.exit_code == 0, result.output
    assert load_space(out).metric == "poincare"
    source.write_text("root 0 0.1\nleaf 0.9 1\n")
    failed = CliRunner().invoke(
        command, ["build", str(source), "-o", str(out), "--force", "--metric=poincare"]
    )
    assert isinstance(failed.exception, SpaceError)


@pytest.mark.skipif(not MAMMALS.exists(), reason="shared data are not here")
def test_the_mammals_of_wordnet_build(tmp_path):
    out = tmp_path / "mammals.safetensors"
    arguments = ["build", str(MAMMALS), "-o", str(out), "--metric", "poincare"]
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0, result.output
    space = load_space(out)
    assert (space.vocab_size, space.dim) == (1182, 10)
    assert space.geometry.diameter == pytest.approx(16.73, abs=0.01)
    assert space.geometry.nearest == pytest.approx(4.63, abs=0.01)


@many
@given(points=balls(), metric=metrics)
def test_products_and_formula_give_the_same_distances(points, metric):
    words = [f"w{i}" for i in range(len(points))]
    space = Space.from_arrays("s", words, points, metric=metric)
    engine, inputs = Distances(space), np.arange(len(words) + 1, dtype=np.int32)
    true = distances(metric, space.points(inputs), space.points(inputs))
    allowed = (engine.relative_error + 1e-9) * true  # 0 where points are equal
    for table in (engine.between(inputs, inputs)[:, :-1], engine.rows(inputs)):
        assert (np.abs(table - true[:, :-1]) <= allowed[:, :-1]).all()


def test_words_with_a_tree_need_no_vectors():
    tree = WordTree.from_labels([[0, 1], [0, 0]])
    alone = WordSpace("s", ("a", "b"), tree=tree)
    assert (alone.vocab_size, alone.get_id("b"), alone.has_vectors) == (2, 1, False)
    assert alone.digest != WordSpace("s", ("a", "b")).digest
    assert pickle.loads(pickle.dumps(alone)).digest == alone.digest
    assert Distances(alone).rows(np.array([0])) is None
    with pytest.raises(SpaceError, match="no vectors"):
        alone.points(np.array([0]))
    with pytest.raises(SpaceError, match="other words"):
        WordSpace("s", ("a", "b", "c"), tree=tree)
