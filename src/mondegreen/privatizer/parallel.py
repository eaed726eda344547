"""One stream of batches through one process or several, in order."""

from __future__ import annotations

import collections
import contextlib
import os
import pickle
import queue
import signal
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from typing import Any, Final, final

import pyarrow as pa

from mondegreen.errors import ConfigurationError, MondegreenError, PluginError
from mondegreen.plugins import blame
from mondegreen.privatizer.arrow import Counts, logical_names
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.processes import (
    SPAWN,
    end_with_parent,
    one_thread,
    without_interrupts,
)
from mondegreen.sampling.records import SeenIds
from mondegreen.text.columns import read_ids

_AHEAD: Final = 2
"""Batches for each worker, done or not: a bound on memory."""

_Counted = tuple[pa.RecordBatch, Counts]
_Shared = tuple[Any, Any]  # memory, and its lock

Submit = Callable[[object], Future[Any]]
"""Hands a task to the next worker that is free."""


def privatize_batches(
    privatizer: Privatizer,
    batches: Iterable[pa.RecordBatch],
    columns: Sequence[str] | Mapping[str, str],
    *,
    id_column: str | None = None,
    unique_ids: bool = False,
    jobs: int = 1,
    context: BaseContext = SPAWN,
    submit: Submit | None = None,
) -> Generator[_Counted]:
    """Yield each batch privatized, with the words of each row; order is kept.

    Workers get the settings of the privatizer, never a key or a generator: each
    process prepares its own state, and each batch gets its own noise. At most two
    batches a worker are read ahead. ``columns`` may map to logical names, for keyed
    noise; ``unique_ids`` refuses an id that has occurred in any batch; ``context`` may
    be what :func:`mondegreen.processes.warm_up` returns. ``submit`` is what
    :func:`start_workers` yields, for several streams through the same workers.
    """
    names = logical_names(columns)
    if unique_ids:
        batches = _check(batches, id_column)
    if jobs == 1:
        for number, batch in enumerate(batches):
            yield privatizer.arrow_with_count(
                batch, names, id_column=id_column, number=number
            )
        return
    started: contextlib.AbstractContextManager[Submit]
    started = (
        contextlib.nullcontext(submit)
        if submit
        else start_workers(privatizer, jobs, context)
    )
    needed = [*names, *([id_column] if id_column else [])]
    waiting: collections.deque[tuple[pa.RecordBatch, Future[Any]]] = collections.deque()
    with started as submit:
        for number, batch in enumerate(batches):
            task = (_to_bytes(batch.select(needed)), names, id_column, number)
            waiting.append((batch, submit(task)))
            if len(waiting) >= _AHEAD * jobs:
                yield _collect(*waiting.popleft(), names)
        while waiting:
            yield _collect(*waiting.popleft(), names)


def _check(
    batches: Iterable[pa.RecordBatch], id_column: str | None
) -> Iterator[pa.RecordBatch]:
    """Pass batches on while no id occurs twice."""
    seen = SeenIds()
    for batch in batches:
        seen.add(None if id_column is None else read_ids(batch.column(id_column)))
        yield batch


def _collect(
    batch: pa.RecordBatch, future: Future[Any], columns: Iterable[str]
) -> _Counted:
    """Wait for a batch and put its text columns in place."""
    result = future.result()
    if isinstance(result, MondegreenError):
        raise result
    data, words = result
    released = _from_bytes(data)
    for name in columns:
        index = batch.schema.get_field_index(name)
        column = released.column(name)  # of a wider type where a dictionary was full
        field = batch.schema.field(index).with_type(column.type)
        batch = batch.set_column(index, field, column)
    return batch, words


@final
class _Worker:
    """A process at the far end of two pipes, which are all that it shares with us.

    A pool of the standard library shares queues and locks among its workers: it can
    wait for ever when one of them is killed in the middle of a message, and its
    workers outlive a parent that is killed.
    """

    def __init__(self, context: BaseContext, shared: _Shared | None) -> None:
        # One for each way: a pipe for both would be a socket, which may be forbidden.
        tasks, self._tasks = context.Pipe(duplex=False)
        self._answers, answers = context.Pipe(duplex=False)
        self._process = context.Process(  # type: ignore[attr-defined]
            target=_serve, args=(tasks, answers, shared), daemon=True
        )
        with tasks, answers, without_interrupts(), one_thread():
            self._process.start()

    def send(self, message: bytes) -> None:
        try:
            self._tasks.send_bytes(message)
        except OSError:  # a broken pipe; that of standard output is something else
            raise _report_death() from None

    def ask(self, task: object) -> Any:
        """Hand over a task and wait for its answer."""
        # Pickled here: `send` of a pipe would leave its buffer in the traceback.
        self.send(pickle.dumps(task))
        try:
            return self._answers.recv()
        except (EOFError, OSError):
            raise _report_death() from None

    def end(self) -> None:
        """Kill the process: it holds nothing that could be left half done."""
        self._process.kill()
        self._process.join()
        self._process.close()

    def close(self) -> None:
        self._tasks.close()
        self._answers.close()


@contextlib.contextmanager
def start_workers(
    privatizer: Privatizer, jobs: int, context: BaseContext = SPAWN
) -> Iterator[Submit]:
    """Start workers, each with a thread that talks to it; end them however we leave."""
    _check_importable(type(privatizer.mechanism))
    settings = pickle.dumps(privatizer)
    shared = _find_shared(privatizer, context)
    idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
    workers: list[_Worker] = []

    def begin(worker: _Worker) -> None:
        try:
            worker.send(settings)
        finally:
            idle.put(worker)

    def work(task: object) -> Any:
        worker = idle.get()
        try:
            return worker.ask(task)
        finally:
            idle.put(worker)

    with ThreadPoolExecutor(jobs) as threads:
        try:
            for _ in range(jobs):
                workers.append(_Worker(context, shared))
            for worker in workers:
                threads.submit(begin, worker)
            yield lambda task: threads.submit(work, task)
        finally:
            for worker in workers:
                worker.end()
            threads.shutdown(cancel_futures=True)
            for worker in workers:
                worker.close()


def _check_importable(cls: type) -> None:
    """Refuse a class that workers do not find: one of a notebook, or of a function."""
    main = sys.modules["__main__"]
    is_in_file = hasattr(main, "__file__") or getattr(main, "__spec__", None)
    if "<locals>" in cls.__qualname__ or (
        cls.__module__ == "__main__" and not is_in_file
    ):
        raise ConfigurationError(
            f"worker processes do not find the class {cls.__qualname__}: put it into "
            "a module that can be imported, or use one job"
        )


def _report_death() -> MondegreenError:
    return MondegreenError("a worker process died; its batch was not released")


def _find_shared(privatizer: Privatizer, context: BaseContext) -> _Shared | None:
    """Make memory in which workers compute laws for each other, if there are any.

    Laws that each of two workers computes for itself take them half as long again.
    """
    size = privatizer.state.shared_bytes
    if not size or not _stays_in_memory(size):
        return None
    return context.RawArray("b", size), context.Lock()


def _stays_in_memory(size: int) -> bool:
    """Whether memory that processes share is no file on a disk.

    It tells which words have occurred. Where the system has no folder that lives in
    memory, or that is too small, the standard library takes the temporary folder.
    """
    try:
        folder = os.statvfs("/dev/shm")  # noqa: S108  (asked about, not written to)
    except (OSError, AttributeError):
        return False
    return folder.f_bavail * folder.f_frsize >= 2 * size


def _serve(tasks: Connection, answers: Connection, shared: _Shared | None) -> None:
    """Be a worker: answer every task in order, until the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(lambda: os._exit(1))  # in the middle of a batch too
    with contextlib.suppress(EOFError, OSError):  # the parent has gone
        settings = _guard(_restore, tasks.recv_bytes(), shared)
        while True:
            task, answer = tasks.recv(), settings
            if isinstance(settings, Privatizer):  # and not the error of restoring it
                answer = _guard(_work, settings, *task)
            answers.send(answer)


def _restore(settings: bytes, shared: _Shared | None) -> Privatizer:
    privatizer: Privatizer = pickle.loads(settings)  # noqa: S301  (from the parent)
    if shared is not None:
        privatizer.state.share(*shared)
    return privatizer


def _guard(work: Callable[..., Any], *arguments: Any) -> Any:
    """Do some work; an error is returned, and holds no text when it leaves."""
    try:
        return work(*arguments)
    except MondegreenError as error:
        return error
    except Exception as error:
        problem, is_of_plugin = blame(error)
        failure = PluginError if is_of_plugin else MondegreenError
        return failure(
            f"{problem}, in a worker process; its batch was not released. --jobs 1 "
            "with MONDEGREEN_DEBUG=1 shows all of it, which may include private text."
        )


def _work(
    privatizer: Privatizer,
    data: bytes,
    columns: Mapping[str, str],
    id_column: str | None,
    number: int,
) -> tuple[bytes, Counts]:
    """Privatize one batch in a worker."""
    batch, words = privatizer.arrow_with_count(
        _from_bytes(data), columns, id_column=id_column, number=number
    )
    return _to_bytes(batch.select(list(columns))), words


def _to_bytes(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def _from_bytes(data: bytes) -> pa.RecordBatch:
    with pa.ipc.open_stream(data) as reader:
        return reader.read_next_batch()
