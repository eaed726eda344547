"""Wherever Ctrl-C lands, the command says one line and ends with 130."""

import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

COMMAND = """
import contextlib, ctypes, os, select, signal, sys, threading, time, weakref
import click
from mondegreen.cli.main import main

class Noted:
    pass

class Dropped:
    def __del__(self):
        signal.raise_signal(signal.{name})

def in_a_finalizer():
    Dropped()

def in_the_callback_of_a_weak_reference():
    noted = Noted()
    kept = weakref.ref(noted, lambda _: signal.raise_signal(signal.{name}))
    del noted

def in_a_generator_that_is_collected():
    def wait():
        try:
            yield
        finally:
            signal.raise_signal(signal.{name})
    next(wait())

def where_c_drops_errors():
    class Key:
        def __hash__(self):
            signal.raise_signal(signal.{name})
            return 1
    get = ctypes.pythonapi.PyDict_GetItem  # clears whatever is raised
    get.argtypes, get.restype = [ctypes.py_object] * 2, ctypes.c_void_p
    get({{}}, Key())

def where_python_drops_errors():
    try:
        signal.raise_signal(signal.{name})
    except BaseException:
        pass

def three_times_at_once():
    for _ in range(2):
        threading.Thread(target=lambda: os.kill(os.getpid(), signal.{name})).start()
    signal.raise_signal(signal.{name})

@click.command()
@click.argument("where")
def entry(where):
    try:
        globals()[where]()
        select.select([], [], [], 60)
        print("went on")
    finally:
        signal.raise_signal(signal.{name})
        time.sleep(0.3)  # cleaning up is not disturbed
        print("cleaned")

main(entry)
"""
PLACES = re.findall(r"^def (\w+)\(\):$", COMMAND, re.MULTILINE)
INTERRUPTED = (
    "Interrupted; no file was left half written, and standard output may end early."
)


@pytest.mark.parametrize("where", PLACES)
def test_an_interrupt_is_said_once_and_not_lost(where):
    code = COMMAND.format(name="SIGINT")
    done = subprocess.run(
        [sys.executable, "-c", code, where], capture_output=True, text=True, timeout=120
    )
    assert done.stderr.strip() == INTERRUPTED
    assert (done.returncode, done.stdout) == (130, "cleaned\n")


def test_a_signal_to_end_does_the_same():
    code = COMMAND.format(name="SIGTERM")
    done = subprocess.run(
        [sys.executable, "-c", code, "in_a_finalizer"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.stderr.strip() == INTERRUPTED
    assert done.returncode == 130


def test_an_interrupt_after_the_work_changes_nothing():
    code = """
import atexit, signal, threading, time, click
from mondegreen.cli.main import main
atexit.register(signal.raise_signal, signal.SIGINT)
main_thread = threading.main_thread()
def late():
    main_thread.join()
    signal.raise_signal(signal.SIGINT)
threading.Thread(target=late).start()
main(click.command()(lambda: print("done")))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_what_the_caller_ignores_stays_ignored():
    code = COMMAND.format(name="SIGINT").replace("[], 60)", "[], 0.3)")
    done = subprocess.run(
        [sys.executable, "-c", code, "in_a_finalizer"],
        capture_output=True, text=True, timeout=120,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "went on\ncleaned\n"


def test_another_error_in_a_finalizer_is_still_shown():
    code = """
import click
from mondegreen.cli.main import main
class Broken:
    def __del__(self):
        raise RuntimeError("a bug")
main(click.command()(lambda: Broken() and None))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0
    assert "RuntimeError: a bug" in done.stderr


def test_processes_start_deaf_to_an_interrupt_of_the_group():
    """The first process, too: Python starts its resource tracker with that one."""
    code = """
import signal
from mondegreen.processes import without_interrupts
blocked = lambda: signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])
with without_interrupts():
    from multiprocessing import resource_tracker
    resource_tracker.ensure_running()
    assert blocked()
assert not blocked()
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@pytest.mark.slow("interrupts a process in many places", seconds=15)
def test_a_run_can_be_interrupted_at_any_time(tmp_path, space_file):
    """From the time on at which the command has control of its signals."""
    code = "from mondegreen.cli.main import main\nprint('began', flush=True)\nmain()"
    command = [sys.executable, "-c", code, "privatize", "in.fifo", "--format", "txt"]
    command += [
        "-o",
        "out.txt",
        "-e",
        "2",
        "-q",
        "-j",
        "2",
        "--policy",
        "all",
        "--space",
        space_file,
    ]
    os.mkfifo(tmp_path / "in.fifo")
    writer = os.open(tmp_path / "in.fifo", os.O_RDWR)
    for step in range(20):
        with subprocess.Popen(
            command, cwd=tmp_path, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        ) as process:  # fmt: skip
            try:
                assert process.stdout.readline() == "began\n"
                time.sleep(0.02 + step / 20)
                os.killpg(process.pid, signal.SIGINT)
                _, err = process.communicate(timeout=120)
            finally:
                process.kill()
        assert (process.returncode, err.strip()) == (130, INTERRUPTED)
        assert [path.name for path in tmp_path.iterdir()] == ["in.fifo"]
    os.close(writer)


@pytest.mark.slow("interrupts a process in many places")
def test_a_start_can_be_interrupted_at_any_time(start_process):
    """From the first statement of the entry on, while modules load."""
    code = "from mondegreen.__main__ import main\nprint('began', flush=True)\nmain()"
    command = [sys.executable, "-c", code, "privatize", "-", "-e", "10", "-q"]
    delays = np.random.default_rng(0).uniform(0.002, 0.3, 20)
    for delay in [0.002, *delays]:
        process = start_process(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )  # fmt: skip
        assert process.stdout.readline() == "began\n"
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        # Nothing is written to it, so that it waits for input where it is not stopped.
        out, err = process.stdout.read(), process.stderr.read()
        assert (process.wait(120), out, err.strip()) == (130, "", INTERRUPTED)


def test_both_entries_listen_before_they_load_the_command():
    code = "import sys, mondegreen.__main__; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert not {"click", "numpy", "mondegreen.cli.main"} & loaded
    project = Path(__file__).parents[2] / "pyproject.toml"
    scripts = tomllib.loads(project.read_text("utf-8"))["project"]["scripts"]
    assert scripts == {"mondegreen": "mondegreen.__main__:main"}
