"""Work in several processes: the same outputs, and memory that stays in memory."""

import multiprocessing
import os
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import mondegreen as mg
from mondegreen.privatizer import parallel
from mondegreen.privatizer.parallel import privatize_batches
from mondegreen.processes import SPAWN
from waiting import wait_until


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


@pytest.mark.slow("starts workers")
@pytest.mark.parametrize("room", [1 << 40, 0])
def test_laws_are_shared_in_memory_only_and_outputs_are_the_same(monkeypatch, room):
    fake = SimpleNamespace(f_bavail=room, f_frsize=1)
    monkeypatch.setattr(os, "statvfs", lambda path: fake)
    assert (parallel._find_shared(make_privatizer(), SPAWN) is None) == (room == 0)
    assert outputs(jobs=2) == outputs(jobs=1)


def test_no_memory_is_shared_where_the_system_cannot_tell(monkeypatch):
    def missing(path):
        raise FileNotFoundError(path)

    monkeypatch.setattr(os, "statvfs", missing)
    assert parallel._find_shared(make_privatizer(), SPAWN) is None


def test_a_worker_that_is_free_gets_the_next_batch(monkeypatch):
    others = threading.Semaphore(0)

    class Worker:
        """One that is busy with batch 0 until the three that wait are done."""

        def __init__(self, *_):
            self.numbers = []

        def ask(self, task):
            data, *_, number = task
            self.numbers.append(number)
            if number == 0:  # by turns, one of the three would wait for this one
                assert all(others.acquire(timeout=60) for _ in range(3))
            others.release()
            return data, 1

        def send(self, settings):
            pass

        end = close = lambda self: None

    workers = []
    monkeypatch.setattr(
        parallel, "_Worker", lambda *_: workers.append(Worker()) or workers[-1]
    )
    batches = map(make_batch, range(4))
    done = list(privatize_batches(make_privatizer(), batches, ["text"], jobs=2))
    assert len(done) == 4
    assert sorted(worker.numbers for worker in workers) == [[0], [1, 2, 3]]


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs /proc")
def test_workers_compute_with_one_thread_each_and_the_parent_as_before(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    with parallel.start_workers(make_privatizer(), 1, SPAWN):
        (worker,) = multiprocessing.active_children()
        path = Path(f"/proc/{worker.pid}/environ")
        wait_until(lambda: path.read_bytes().strip(b"\0"))  # it has begun
        settings = path.read_bytes().split(b"\0")
    assert {b"OMP_NUM_THREADS=1", b"OPENBLAS_NUM_THREADS=1"} <= set(settings)
    assert "OMP_NUM_THREADS" not in os.environ
    assert os.environ["OPENBLAS_NUM_THREADS"] == "7"
