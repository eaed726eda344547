"""Work in several processes: the same outputs, and memory that stays in memory."""

import multiprocessing
import os
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import mondegreen as mg
from mondegreen.privatizer import parallel
from mondegreen.privatizer.parallel import privatize_batches
from mondegreen.processes import SPAWN


def make_privatizer():
    points = np.random.default_rng(0).normal(size=(60, 4))
    space = mg.Space.from_arrays("s", [f"w{i}" for i in range(60)], points)
    return mg.Privatizer(mg.mechanism("tem", epsilon=4.0), space, noise=mg.Seeded(3))


def make_batch(seed):
    words = np.random.default_rng(seed).integers(60, size=(20, 5))
    texts = [" ".join(f"w{i}" for i in row) for row in words]
    return pa.RecordBatch.from_pydict({"text": texts})


def outputs(jobs):
    batches = map(make_batch, range(6))
    done = privatize_batches(make_privatizer(), batches, ["text"], jobs=jobs)
    return [batch.column("text").to_pylist() for batch, _ in done]


@pytest.mark.parametrize("room", [1 << 40, 0])
def test_laws_are_shared_in_memory_only_and_outputs_are_the_same(monkeypatch, room):
    fake = SimpleNamespace(f_bavail=room, f_frsize=1)
    monkeypatch.setattr(os, "statvfs", lambda path: fake)
    assert (parallel._shared_by(make_privatizer(), SPAWN) is None) == (room == 0)
    assert outputs(jobs=2) == outputs(jobs=1)


def test_no_memory_is_shared_where_the_system_cannot_tell(monkeypatch):
    def missing(path):
        raise FileNotFoundError(path)

    monkeypatch.setattr(os, "statvfs", missing)
    assert parallel._shared_by(make_privatizer(), SPAWN) is None


def test_a_worker_that_is_free_gets_the_next_batch(monkeypatch):
    given = {}
    ask = parallel._Worker.ask

    def recorded(worker, task):
        given.setdefault(id(worker), []).append(len(task[0]))
        return ask(worker, task)

    monkeypatch.setattr(parallel._Worker, "ask", recorded)
    large = pa.concat_batches([make_batch(0)] * 300)
    batches = [large, make_batch(1)] * 4
    for _ in privatize_batches(make_privatizer(), batches, ["text"], jobs=2):
        pass
    most = max(map(max, given.values()))
    assert len(given) == 2
    # By turns all large batches would go to one of the two.
    assert all(most in sizes for sizes in given.values())


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs /proc")
def test_workers_compute_with_one_thread_each_and_the_parent_as_before(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    with parallel._workers(make_privatizer(), 1, SPAWN):
        (worker,) = multiprocessing.active_children()
        path = Path(f"/proc/{worker.pid}/environ")
        until = time.monotonic() + 10
        while not path.read_bytes().strip(b"\0") and time.monotonic() < until:
            time.sleep(0.01)  # not yet begun
        settings = path.read_bytes().split(b"\0")
    assert {b"OMP_NUM_THREADS=1", b"OPENBLAS_NUM_THREADS=1"} <= set(settings)
    assert "OMP_NUM_THREADS" not in os.environ
    assert os.environ["OPENBLAS_NUM_THREADS"] == "7"
