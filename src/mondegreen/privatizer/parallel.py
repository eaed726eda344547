"""One stream of batches through one process or several, in order."""

from __future__ import annotations

import collections
import contextlib
import os
import pickle
import queue
import signal
import threading
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any, Final, final

import pyarrow as pa

from mondegreen.errors import MondegreenError
from mondegreen.privatizer.arrow import logical_names
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.processes import SPAWN, one_thread, without_interrupts
from mondegreen.sampling.records import SeenIds
from mondegreen.text.columns import read_ids

_AHEAD: Final = 2
"""Batches in the hands of each worker, done or not: a bound on memory."""


_Shared = tuple[Any, Any]
"""Memory that workers share, and its lock."""


def privatize_batches(
    privatizer: Privatizer,
    batches: Iterable[pa.RecordBatch],
    columns: Sequence[str] | Mapping[str, str],
    *,
    id_column: str | None = None,
    unique_ids: bool = False,
    jobs: int = 1,
    context: BaseContext = SPAWN,
) -> Generator[tuple[pa.RecordBatch, int]]:
    """Yield each batch privatized, with its number of words; order is kept.

    Parameters
    ----------
    privatizer : Privatizer
        Workers get its settings, never a key or a generator: each process prepares
        its own state, and each batch gets its own noise.
    batches : iterable of pyarrow.RecordBatch
        Read at most two batches a worker ahead.
    columns : sequence of str, or mapping of str to str
        Columns of text; a mapping gives their logical names, for keyed noise.
    id_column : str, optional
        Column of record ids, for keyed noise.
    unique_ids : bool
        Refuse an id that has occurred in any batch.
    jobs : int, at least 1
        Processes; 1 works in this one.
    context : multiprocessing context
        How processes start, such as what :func:`mondegreen.processes.warm_up`
        returns.
    """
    names = logical_names(columns)
    if unique_ids:
        batches = _checked(batches, id_column)
    if jobs == 1:
        for number, batch in enumerate(batches):
            yield privatizer.counted(batch, names, id_column=id_column, number=number)
        return
    needed = [*names, *([id_column] if id_column else [])]
    waiting: collections.deque[tuple[pa.RecordBatch, _Worker]] = collections.deque()
    with _workers(privatizer, jobs, context) as workers:
        for number, batch in enumerate(batches):
            data = _to_bytes(batch.select(needed))
            _receive(workers, timeout=0)
            worker = min(workers, key=lambda each: each.load)
            worker.send((data, names, id_column, number), load=len(data))
            waiting.append((batch, worker))
            if len(waiting) >= _AHEAD * jobs:
                yield _collect(*waiting.popleft(), workers, names)
        while waiting:
            yield _collect(*waiting.popleft(), workers, names)


def _checked(
    batches: Iterable[pa.RecordBatch], id_column: str | None
) -> Iterator[pa.RecordBatch]:
    """Pass batches on while no id occurs twice."""
    seen = SeenIds()
    for batch in batches:
        seen.add(None if id_column is None else read_ids(batch.column(id_column)))
        yield batch


@final
class _Worker:
    """A process at the far end of two pipes, which are all that it shares with us.

    A pool of the standard library shares queues and locks among its workers, and can
    wait for ever when one of them is killed in the middle of a message.

    Attributes
    ----------
    outbox : Connection
        Where its results come out.
    results : deque
        What has come back and was not asked for yet.
    load : int
        Bytes of the tasks that have not come back.
    """

    def __init__(self, context: BaseContext, shared: _Shared | None) -> None:
        inbox, self._tasks = context.Pipe(duplex=False)
        self.outbox, answers = context.Pipe(duplex=False)
        self.results: collections.deque[Any] = collections.deque()
        self._loads: collections.deque[int] = collections.deque()
        self.load = 0
        self._process = context.Process(  # type: ignore[attr-defined]
            target=_serve, args=(inbox, answers, shared), daemon=True
        )
        with inbox, answers, without_interrupts(), one_thread():
            self._process.start()

    def send(self, task: object, load: int = 0) -> None:
        """Hand over a task; the worker takes it at once, busy or not."""
        try:
            self._tasks.send(task)
        except OSError:  # a broken pipe; that of standard output is something else
            raise _died() from None
        if load:  # the settings, which are sent first, are not answered
            self._loads.append(load)
            self.load += load

    def receive(self) -> None:
        """Take one result out of the pipe, waiting for it."""
        try:
            self.results.append(self.outbox.recv())
        except (EOFError, OSError):
            raise _died() from None
        self.load -= self._loads.popleft()

    def end(self) -> None:
        """Kill the process: it holds nothing that could be left half done."""
        self._tasks.close()
        self.outbox.close()
        self._process.kill()
        self._process.join()
        self._process.close()


@contextlib.contextmanager
def _workers(
    privatizer: Privatizer, jobs: int, context: BaseContext
) -> Iterator[list[_Worker]]:
    """Start workers, and end them however the block is left."""
    settings = pickle.dumps(privatizer)
    shared = _shared_by(privatizer, context)
    workers: list[_Worker] = []
    try:
        for _ in range(jobs):
            workers.append(_Worker(context, shared))
        for worker in workers:
            worker.send(settings)
        yield workers
    finally:
        for worker in workers:
            worker.end()


def _collect(
    batch: pa.RecordBatch,
    worker: _Worker,
    workers: list[_Worker],
    columns: Iterable[str],
) -> tuple[pa.RecordBatch, int]:
    """Wait for a batch and put its text columns in place."""
    while not worker.results:
        _receive(workers)
    result = worker.results.popleft()
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


def _receive(workers: list[_Worker], timeout: float | None = None) -> None:
    """Take what workers have done out of their pipes, waiting for the first."""
    by_outbox = {worker.outbox: worker for worker in workers}
    for ready in wait(list(by_outbox), timeout):
        by_outbox[ready].receive()  # type: ignore[index]


def _died() -> MondegreenError:
    return MondegreenError("a worker process died; nothing was released")


def _shared_by(privatizer: Privatizer, context: BaseContext) -> _Shared | None:
    """Return memory in which workers compute laws for each other, if there are any."""
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


def _serve(inbox: Connection, answers: Connection, shared: _Shared | None) -> None:
    """Be a worker: answer every task in order, until the parent ends or hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(inbox, tasks), daemon=True).start()
    settings = _restored(tasks.get(), shared)
    while True:
        task = tasks.get()
        answer = settings  # an error, if they could not be read
        if isinstance(settings, Privatizer):
            answer = _guarded(_work, settings, *task)
        with contextlib.suppress(OSError):  # the parent has gone; see _listen
            answers.send(answer)


def _restored(task: bytes, shared: _Shared | None) -> Any:
    """Return the privatizer of the settings, or the error that each task then gets."""

    def restore() -> Privatizer:
        privatizer: Privatizer = pickle.loads(task)  # noqa: S301  (from the parent)
        if shared is not None:
            privatizer.state.share(*shared)
        return privatizer

    return _guarded(restore)


def _guarded(work: Callable[..., Any], *arguments: Any) -> Any:
    """Return what some work returns, or an error that may leave the worker."""
    try:
        return work(*arguments)
    except MondegreenError as error:
        return error
    except Exception as error:
        return _bug(error)


def _listen(inbox: Connection, tasks: queue.SimpleQueue[Any]) -> None:
    """Pass tasks on, so that the parent never waits; exit when it has gone.

    Without this a worker would outlive a parent that is killed.
    """
    while True:
        try:
            tasks.put(inbox.recv())
        except (EOFError, OSError):
            os._exit(1)


def _bug(error: Exception) -> MondegreenError:
    """Say where a bug is; its message may quote a text, and stays in the worker."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    return MondegreenError(
        f"this is a bug: {type(error).__name__} in {where.name}, "
        f"{Path(where.filename).name}:{where.lineno}, in a worker process; nothing "
        "was released. --jobs 1 with MONDEGREEN_DEBUG=1 shows all of it, which may "
        "include private text."
    )


def _work(
    privatizer: Privatizer,
    data: bytes,
    columns: Mapping[str, str],
    id_column: str | None,
    number: int,
) -> tuple[bytes, int]:
    """Privatize one batch in a worker."""
    batch, words = privatizer.counted(
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
