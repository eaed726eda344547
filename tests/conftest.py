"""Its presence puts this folder on the path, so that tests can import strategies."""

import contextlib
import functools
import gc
import hashlib
import itertools
import os
import signal
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

from families import check_families, run_by_default
from passed import RecordPassed, leave_out_passed
from skips import AllowedSkips

# Workers of pytest-xdist share the cores, so each takes one thread for its products.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

# To prepare thousands of asserts takes longer than to run many of them. What is made
# once serves later runs and processes, also where the environment wants no such files.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# The same examples in every run, so that a red run is always about the change under
# test. HYPOTHESIS_PROFILE=explore looks for new ones (`just explore`).
# How long an example takes to make depends on what else the machine does.
settings.register_profile(
    "fixed",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("explore", print_blob=True, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

# Started in the background of a script, or with nohup, tests inherit that these signals
# are ignored, and so would the commands that they interrupt.
for name in ("SIGINT", "SIGHUP", "SIGQUIT"):
    number = getattr(signal, name, None)
    if number is not None and signal.getsignal(number) is signal.SIG_IGN:
        is_interrupt = number == signal.SIGINT
        signal.signal(
            number, signal.default_int_handler if is_interrupt else signal.SIG_DFL
        )


def pytest_configure(config):
    """In CI, skips need a reason that a list allows, and what passed is recorded."""
    if hasattr(config, "workerinput"):  # in a worker of xdist
        return
    if lists := os.environ.get("ALLOWED_SKIPS"):
        config.pluginmanager.register(AllowedSkips(lists), "allowed-skips")
    if path := os.environ.get("RECORD_PASSED"):
        config.pluginmanager.register(RecordPassed(path), "record-passed")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What tests import stays: nobody looks for garbage in it, now or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_itemcollected(item):
    run_by_default(item)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config, items):
    """In CI, tests that passed in another environment are left out.

    Files that take longest come first, so that no worker has one when all others are
    done.
    """
    if not config.getoption("lf", False) and not any("[" in arg for arg in config.args):
        check_families(items)
    yield  # to what leaves out tests by options
    leave_out_passed(config, items)
    seconds = Counter()
    for item in items:
        slow = item.get_closest_marker("slow")
        seconds[item.path] += slow.kwargs.get("seconds", 1) if slow else 0.05
    items.sort(key=lambda item: -seconds[item.path])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """A test draws the same noise in every run: a red run is about the change.

    The operating system gives keys of noise, which are different in each run, so one of
    thousands of tests would fail now and then by chance. Here its bytes follow from the
    name of the test; those of a process that a test forks depend on its number too, so
    that forks still differ. Other programs that a test starts draw fresh noise, and so
    does everything with HYPOTHESIS_PROFILE=explore.
    """
    if os.environ.get("HYPOTHESIS_PROFILE") == "explore":
        return (yield)
    calls, own, anew = itertools.count(), os.getpid(), os.urandom

    def urandom(size):
        told = f"{item.nodeid} {next(calls)} {os.getpid() - own}"
        return hashlib.shake_256(told.encode("utf-8", "replace")).digest(size)

    os.urandom = urandom
    try:
        return (yield)
    finally:
        os.urandom = anew


@pytest.fixture(scope="session", autouse=True)
def cache_of_its_own(tmp_path_factory):
    """Tests neither read nor fill the cache of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MONDEGREEN_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session", autouse=True)
def shipped_space_read_once():
    """A process reads and checks the shipped space once, not a thousand times.

    A space is read-only. Tests of files read copies, or call ``read_space``.
    """
    from mondegreen.space import store  # not before the number of threads is set

    anew, kept, folder = (
        store.read_space,
        functools.cache(store.read_space),
        store._BUNDLED,
    )

    def read(path):
        return (kept if path.parent == folder else anew)(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "read_space", read)
        yield


@pytest.fixture(autouse=True)
def forget_plugins(monkeypatch):
    """Classes that one test makes are not blamed for the errors of the next one."""
    from mondegreen import plugins

    monkeypatch.setattr(plugins, "_origins", {})


@pytest.fixture(scope="session")
def space_file(tmp_path_factory):
    """Save a small public space; return its path."""
    import numpy as np  # not before the number of threads is set

    import mondegreen as mg
    from mondegreen.space.store import save_space
    from strategies import WORDS

    vectors = np.random.default_rng(0).normal(size=(len(WORDS), 8))
    path = tmp_path_factory.mktemp("space") / "small.safetensors"
    save_space(mg.Space.from_arrays("small", WORDS, vectors), path)
    return str(path)


_SIGNALS = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM")
    if hasattr(signal, name)
]


@pytest.fixture
def signals_of_pytest():
    """Put back what ``main()``, called in this process, changes for the whole of it."""
    handlers, hook = {n: signal.getsignal(n) for n in _SIGNALS}, sys.unraisablehook
    yield
    sys.unraisablehook = hook
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture(autouse=True)
def no_signal_is_left_to_another():
    """Put handlers back: a process that a later test forks would not end by SIGTERM.

    That of Ctrl-C stays: a session of Spark has its own.
    """
    before = {n: signal.getsignal(n) for n in _SIGNALS if n != signal.SIGINT}
    yield
    for number, handler in before.items():
        if handler is not None and signal.getsignal(number) != handler:
            signal.signal(number, handler)


@pytest.fixture
def start_process():
    """Return what starts a process, as ``subprocess.Popen``; none outlives its test.

    An orphan would fail an innocent test later: pytest warns of it.
    """
    started = []

    def start(command, **options):
        started.append(subprocess.Popen(command, **options))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        process.wait(120)
