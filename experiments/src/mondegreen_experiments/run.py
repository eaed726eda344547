"""Recipes are run: here or in processes, and each run is kept as soon as it is done."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import active_children
from operator import itemgetter
from pathlib import Path
from typing import TypeAlias, final

from mondegreen.errors import ConfigurationError
from mondegreen.processes import (
    SPAWN,
    end_with_parent,
    one_thread,
    without_interrupts,
)
from mondegreen_experiments.bench import Bench
from mondegreen_experiments.code import code_of_plugins, is_ours
from mondegreen_experiments.ended import EndedError
from mondegreen_experiments.kept import Run, check, keep, kept
from mondegreen_experiments.recipe import Measure, Point, Recipe, Scale, point_key

Shown: TypeAlias = Callable[[str], None]
Outcome: TypeAlias = list[Run] | Exception
"""All runs of a recipe at a scale, or the error that ended it."""

Finished: TypeAlias = Callable[[Recipe, Outcome], None]


@final
@dataclass(frozen=True, slots=True)
class _Task:
    recipe: Recipe
    point: Point
    seed: int
    key: str

    @property
    def room(self) -> str:
        """Name the runs that share what a process keeps."""
        name = self.recipe.name
        return f"{name} {self.seed}" if self.recipe.by_seed else name


def runs_of(
    recipe: Recipe, scale: Scale, bench: Bench, folder: Path, show: Shown
) -> list[Run]:
    """Run a recipe, but for what the folder holds already.

    Interrupted work continues; quick and full share their runs.
    """
    (found,) = run_all([recipe], scale, bench, folder, show).values()
    if isinstance(found, Exception):
        raise found
    return found


def run_all(
    recipes: Sequence[Recipe],
    scale: Scale,
    bench: Bench,
    folder: Path,
    show: Shown,
    jobs: int = 1,
    finished: Finished = lambda recipe, outcome: None,
) -> dict[str, Outcome]:
    """Run recipes, but for what the folder holds already; by the name of each.

    With several ``jobs`` each run is made by one of so many processes, which read data
    for themselves and compute with one thread. Recipes that are measured ``alone``
    come last, one run at a time. This process alone writes to the folder. An error
    ends its recipe and no other. A process that is killed, and a program of others that
    ends early, end their run and no other: the recipe goes on, and fails at its end.
    ``finished`` is told of each recipe at its end.
    """
    work, outcomes = _Work(recipes, scale, bench, folder, jobs), dict[str, Outcome]()
    killed: dict[str, Exception] = {}

    def end(recipe: Recipe, error: Exception | None = None) -> None:
        if recipe.name not in outcomes and (error or not work.missing(recipe)):
            outcomes[recipe.name] = error or work.runs(recipe)
            finished(recipe, outcomes[recipe.name])

    for recipe in recipes:
        end(recipe)
    for is_alone in (False, True):
        some = [each for each in recipes if each.alone is is_alone]
        tasks = [task for recipe in some for task in work.missing(recipe)]
        show(work.says(outcomes))
        if jobs == 1 and not is_alone:
            done = _here(tasks, bench, outcomes)
        else:
            done = _in_processes(tasks, bench, 1 if is_alone else jobs, outcomes)
        for task, found in done:
            error = work.take(task, found)
            if isinstance(error, _KilledError | EndedError):
                name = task.recipe.name
                killed[name] = _join(killed.get(name), error)
            else:
                end(task.recipe, error)
            point = {
                k: v for k, v in task.point.items() if k in (task.recipe.axes or ())
            }
            named = point_key(point or task.point)
            show(f"{work.says(outcomes)}: {task.recipe.name}, {named}")
        _end_killed(some, killed, end)
    return {recipe.name: outcomes[recipe.name] for recipe in recipes}


def _join(earlier: Exception | None, error: Exception) -> Exception:
    """Name each program that ended early; a killed process says what to do."""
    if earlier is None or isinstance(error, _KilledError):
        return error
    return EndedError(f"{earlier}; {error}")


def _end_killed(
    recipes: Sequence[Recipe],
    killed: Mapping[str, Exception],
    end: Callable[[Recipe, Exception | None], None],
) -> None:
    """End the recipes that lack a run, when all others are made."""
    for recipe in recipes:
        if recipe.name in killed:
            end(recipe, killed[recipe.name])


class _KilledError(ConfigurationError):
    """The process of a run was killed: the other runs of its recipe go on."""


def _name_plugins(recipe: Recipe) -> str:
    """Name what other packages add, for a recipe that may use it."""
    return "" if is_ours(recipe.measure.__module__) else code_of_plugins()


def _order(recipe: Recipe, scale: Scale) -> list[tuple[Point, int]]:
    """All runs of a recipe, in the order in which they are made."""
    seeds = range(recipe.seeds[scale])
    runs = [(point, seed) for point in recipe.points[scale] for seed in seeds]
    return sorted(runs, key=itemgetter(1)) if recipe.by_seed else runs


@final
class _Work:
    """What is to be run, what is known of it, and how long the rest may take."""

    def __init__(
        self,
        recipes: Sequence[Recipe],
        scale: Scale,
        bench: Bench,
        folder: Path,
        jobs: int,
    ) -> None:
        self._recipes, self._folder, self._jobs = recipes, folder, jobs
        self._known = {recipe.name: kept(folder, recipe) for recipe in recipes}
        self._tasks = {
            recipe.name: [
                _Task(recipe, point, seed, recipe.key(point, seed, data))
                for data in [bench.key(recipe.data) + _name_plugins(recipe)]
                for point, seed in _order(recipe, scale)
            ]
            for recipe in recipes
        }
        for recipe in filter(self.missing, recipes):
            check(folder, recipe)

    def missing(self, recipe: Recipe) -> list[_Task]:
        known = self._known[recipe.name]
        return [task for task in self._tasks[recipe.name] if task.key not in known]

    def runs(self, recipe: Recipe) -> list[Run]:
        """In the order of the grid."""
        known = self._known[recipe.name]
        return [known[task.key] for task in self._tasks[recipe.name]]

    def take(self, task: _Task, found: Run | Exception) -> Exception | None:
        """Keep a run; give back an error."""
        if isinstance(found, Exception):
            return found
        self._known[task.recipe.name][task.key] = found
        keep(self._folder, task.recipe, task.key, found)
        return None

    def says(self, ended: Collection[str]) -> str:
        """How far it is, as runs of the same recipe took so far, or of any."""
        took = {
            name: [run.seconds for run in runs.values()]
            for name, runs in self._known.items()
        }
        every = [seconds for each in took.values() for seconds in each]
        left, seconds = 0, 0.0
        for recipe in self._recipes:
            if recipe.name not in ended:
                count, like = len(self.missing(recipe)), took[recipe.name] or every
                left += count
                jobs = 1 if recipe.alone else self._jobs
                seconds += count * math.fsum(like) / max(len(like), 1) / jobs
        whole = sum(map(len, self._tasks.values()))
        minutes = max(1, math.ceil(seconds / 60))
        about = f", about {minutes} min left" if left and every else ""
        return f"{whole - left} of {whole} runs{about}"


def _here(
    tasks: Sequence[_Task], bench: Bench, ended: Collection[str]
) -> Iterator[tuple[_Task, Run | Exception]]:
    for task in tasks:
        if task.recipe.name not in ended:
            try:
                yield task, _run(bench, task.recipe.measure, task.point, task.seed)
            except Exception as error:
                yield task, error


def _in_processes(
    tasks: Sequence[_Task], bench: Bench, jobs: int, ended: Collection[str]
) -> Iterator[tuple[_Task, Run | Exception]]:
    """The same by processes that an interrupt ends; runs come as they are done.

    A process stays with a recipe, or with a seed of it, as long as it can: recipes keep
    what several of their runs need, such as a model that was trained on clear texts.
    """
    others, left = set(active_children()), list(tasks)
    every = [_Worker(bench) for _ in range(min(jobs, len(tasks)))]
    idle, busy = list(every), dict[Future[Run], tuple[_Worker, _Task]]()
    try:
        while left or busy:
            while left and idle:
                worker = idle.pop()
                taken = {task.room for _, task in busy.values()}
                task = _next(left, worker.room, taken)
                left.remove(task)
                busy[worker.run(task)] = worker, task
            for future in wait(busy, return_when=FIRST_COMPLETED).done:
                worker, task = busy.pop(future)
                idle.append(worker)
                yield task, worker.end(future)
            left = [task for task in left if task.recipe.name not in ended]
    except BaseException:
        for child in set(active_children()) - others:
            child.terminate()
        raise
    finally:
        for worker in every:
            worker.pool.shutdown(cancel_futures=True)


def _next(left: Sequence[_Task], own: str, taken: Collection[str]) -> _Task:
    """What goes on with a worker's own room, or begins one; else what helps."""
    for task in left:
        if task.room == own:
            return task
    return next((task for task in left if task.room not in taken), left[-1])


@final
class _Worker:
    """One process; another takes its place if it is killed, as where memory ends."""

    def __init__(self, bench: Bench) -> None:
        self._bench, self.recipe, self.room = bench, "", ""
        self.pool = ProcessPoolExecutor(1, SPAWN, _begin, (bench,))

    def run(self, task: _Task) -> Future[Run]:
        self.recipe, self.room = task.recipe.name, task.room
        with one_thread(), without_interrupts():
            given = task.recipe.measure, dict(task.point), task.seed
            try:
                return self.pool.submit(_work, *given)
            except BrokenProcessPool:  # it was killed while it had nothing to do
                self.pool = ProcessPoolExecutor(1, SPAWN, _begin, (self._bench,))
                return self.pool.submit(_work, *given)

    def end(self, future: Future[Run]) -> Run | Exception:
        error = future.exception()
        if isinstance(error, BrokenProcessPool):
            self.pool = ProcessPoolExecutor(1, SPAWN, _begin, (self._bench,))
            why = "a process was killed, for example for lack of memory"
            again = "Run the same command again with fewer --jobs to continue."
            return _KilledError(f"{self.recipe}: {why}. {again}")
        return error if isinstance(error, Exception) else future.result()


_own: Bench  # of a process that makes runs


def _begin(bench: Bench) -> None:
    global _own
    _own = bench
    end_with_parent(lambda: os._exit(1))


def _work(measure: Measure, point: Point, seed: int) -> Run:
    return _run(_own, measure, point, seed)


def _run(bench: Bench, measure: Measure, point: Point, seed: int) -> Run:
    begun = time.perf_counter()
    measured = {
        name: value if isinstance(value, str) else float(value)
        for name, value in measure(bench, point, seed).items()
    }
    return Run(point, seed, measured, round(time.perf_counter() - begun, 3))
