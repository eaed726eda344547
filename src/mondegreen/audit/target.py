"""The audit of any callable ``word -> word``, in processes of its own."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import IO, Any, Final, Self, cast, final

import numpy as np
from scipy.special import bdtrc

from mondegreen.audit import statistical
from mondegreen.audit.claim import Claim, choose_pairs, metric_named
from mondegreen.audit.report import AuditReport, Evidence, Finding
from mondegreen.audit.statistical import Counts, Input, strongest
from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.space.space import Space
from mondegreen.wording import amount

UNKNOWN_WORDS: Final = ("qzjolvendrathz", "vrondelfrixia", "4929-1234-5678-9010")
"""Invented words outside any vocabulary: two names, and the number of a card."""

_DRAWS: Final = 200
"""Questions that are asked twice to see whether noise repeats."""

_WORKER: Final = Path(__file__).with_name("worker.py")
_ADVICE: Final = (
    ". The pairs are words of the space. If the target does not know these words, the "
    "audit saw little: name a --space of its own words, or --words N for the first N. "
    "If any two words may differ by epsilon only, add --metric discrete. A smaller "
    "--epsilon allows less"
)
"""What to try next where nothing was found."""

_CHUNK: Final = 500
_FORK_SECONDS: Final = 20.0


def audit_target(
    target: str,
    space: Space,
    epsilon: float,
    *,
    metric: str | None = None,
    unknown: Sequence[str] = UNKNOWN_WORDS,
    workers: bool = False,
    runs: int = 4000,
    pairs: int = 16,
    alpha: float = 1e-3,
    seed: int | None = None,
    python: str | None = None,
    timeout: float = 600.0,
    progress: Callable[[str, float], object] = lambda what, share: None,
) -> AuditReport:
    """Audit any callable ``word -> word``, ``module:function``, in its own process.

    Options are those of :func:`mondegreen.audit.run.audit_state`; the callable knows
    the words of ``space``, the noise is its own, ``seed`` chooses pairs.
    Words in ``unknown`` are taken to be at distance 0 of each other: nothing may tell
    them apart. ``workers`` says that the target is run in forked workers, so that noise
    they share counts. ``python`` is the interpreter of the environment in which the
    target is installed, ``timeout`` for its import, and for each 500 calls.

    Outputs are strings; one that is no word of the space counts like any other, and so
    does an exception. Half of ``alpha`` is for pairs, half for repeated noise.
    """
    statistical.check_settings(runs, pairs, alpha)
    if runs == 0:
        raise InvalidParameterError("runs", runs, "at least 20 for a target")
    measured = metric_named(metric or space.metric, space)
    claim = Claim(target, float(epsilon), *measured, space)
    level = alpha / 2
    reach = statistical.power_nats(runs, level, pairs) / claim.epsilon
    nobody = (space.vocab_size, space.vocab_size)
    strangers = [
        Evidence(ids=nobody, words=two, distance=0.0, allowed=0.0)
        for two in combinations([w for w in unknown if w not in space.index], 2)
    ]
    known = max(1, pairs - len(strangers))
    rng = np.random.default_rng(seed)
    chosen = choose_pairs(claim, 2 * known, rng, largest=reach)
    among = [pair for pair in chosen if space.vocab_size not in pair][:known]
    compared = [*(claim.pair(*pair) for pair in among), *strangers]
    with Target(target, python, timeout) as sampler:
        found = statistical.measure_pairs(
            sampler,
            compared,
            runs,
            level,
            partial(progress, "calling the target"),
        )
    asked = list(dict.fromkeys(word for pair in compared for word in pair.words))
    with Target(target, python, timeout) as one, Target(target, python, timeout) as two:
        findings = _repeats(one, two, asked, level, workers=workers)
    drawn = f"{amount(runs, 'call')} for each input"
    report = statistical.pair_report(claim, found, drawn, runs, alpha, level)
    report = report.with_findings(*findings, *_other_group(found))
    return report if report.is_broken else replace(report, power=report.power + _ADVICE)


def _other_group(found: Sequence[Evidence]) -> list[Finding]:
    """What breaks the claim besides the worst pair: known or unknown words."""
    worst, findings = strongest(found), []
    for kind, is_unknown in (("known words", False), ("unknown words", True)):
        group = [each for each in found if (each.ids[0] == each.ids[1]) == is_unknown]
        first = strongest(group)
        if first is not None and first is not worst and first.excess > 0:
            findings.append(Finding(kind, True, str(first)))
    return findings


def _repeats(
    one: Target, two: Target, words: Sequence[str], alpha: float, *, workers: bool
) -> list[Finding]:
    """Look for noise that repeats: in two fresh processes, and in forked workers.

    ``alpha`` is the chance that independent noise is reported; half for processes, half
    for workers. Repetition between workers breaks the claim only where the target is
    run that way, ``workers``; otherwise it is a warning.
    """
    asked = [words[i % len(words)] for i in range(_DRAWS)]
    first, second = one.sequence(asked), two.sequence(asked)
    control = one.sequence(asked)
    third, fourth = two.sample_in_forks(asked)
    text = "two fresh processes {}; anyone who knows the seed can undo the noise"
    seeded = Finding("fixed seed", True, text)
    text = "two forked workers {}: the noise of one is that of the other"
    shared = Finding("noise shared by workers", workers, text)
    for finding, base, other in ((seeded, first, second), (shared, third, fourth)):
        if base is None or other is None:
            continue
        chance = chance_of_agreement(base, other, control)
        if chance < math.log(alpha / 2):
            agreed = _check_agreement(base, other, control, chance)
            return [replace(finding, text=finding.text.format(agreed))]
    return []


def chance_of_agreement(
    base: Sequence[str], other: Sequence[str], control: Sequence[str]
) -> float:
    r"""Give ln of the chance that ``other`` agrees so often with ``base``.

    All three are outputs for the same inputs in the same order. The sign test: where
    noise is independent, the outputs of ``other`` and ``control`` for one input have
    one law, whatever ``base`` drew. So at each of the :math:`n` places where just one
    of them agrees with ``base``, it is ``other`` with probability 1/2, and the chance
    that this happens :math:`k` times or more is
    :math:`2^{-n} \sum_{j \ge k} \binom{n}{j}`, exactly. A mechanism that is hardly
    random at these inputs, and so repeats itself innocently, passes it.

    >>> round(math.exp(chance_of_agreement("abcd", "abcd", "bbdd")), 2)  # n = k = 2
    0.25
    """
    places = list(zip(base, other, control, strict=True))
    only_other = sum(a == b != c for a, b, c in places)
    only_control = sum(a == c != b for a, b, c in places)
    return math.log(bdtrc(only_other - 1, only_other + only_control, 0.5))


def _check_agreement(
    base: Sequence[str], other: Sequence[str], control: Sequence[str], chance: float
) -> str:
    """Say how often they agreed, and how unlikely that is."""
    same, usual = (
        sum(a == b for a, b in zip(base, each, strict=True))
        for each in (other, control)
    )
    return (
        f"agreed in {same} of {len(base)} outputs, where independent runs agreed in "
        f"{usual} (chance about 10^{chance / math.log(10):.0f})"
    )


@final
class Target:
    """A callable ``module:function`` in a process of its own, which ``with`` ends.

    The current folder is on its path; ``python`` may name the interpreter of another
    environment. ``timeout``, in seconds, is for the import, and for each request of at
    most 500 calls. ``ConfigurationError`` says that the callable cannot be imported,
    its process ended, or it took too long.
    """

    def __init__(
        self, name: str, python: str | None = None, timeout: float = 600.0
    ) -> None:
        module, colon, function = name.partition(":")
        if not (module and colon and function):
            raise ConfigurationError(f"--target must be MODULE:FUNCTION; got {name!r}")
        self._name, self._timeout = name, timeout
        self._codes: dict[str, int] = {}  # outputs, in the order they were seen
        interpreter = python or sys.executable
        try:
            self._process = subprocess.Popen(  # noqa: S603  the user named what to run
                [interpreter, str(_WORKER), name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
                start_new_session=True,  # so that what the target starts ends with it
            )
        except OSError as error:
            raise ConfigurationError(
                f"cannot run {interpreter}: {error.strerror}; --python must name the "
                "interpreter of an environment"
            ) from error
        self._requests = cast("IO[str]", self._process.stdin)
        self._replies = cast("IO[str]", self._process.stdout)
        reply = self._receive(timeout)
        if "failed" in reply:
            self.close()
            raise ConfigurationError(f"cannot load {name}: {reply['failed']}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def counts(self, given: Input, runs: int) -> Counts:
        total: Counter[str] = Counter()
        for start in range(0, runs, _CHUNK):
            some = min(_CHUNK, runs - start)
            request = {"do": "count", "word": given[1], "runs": some}
            total.update(self._ask(request, self._timeout)["counts"])
        codes = [self._codes.setdefault(out, len(self._codes)) for out in total]
        found = np.zeros(len(self._codes), dtype=np.int64)
        found[codes] = list(total.values())
        return found

    def name(self, output: int) -> str:
        return list(self._codes)[output]

    def sequence(self, words: Sequence[str]) -> list[str]:
        request = {"do": "sequence", "words": list(words)}
        found: list[str] = self._ask(request, self._timeout)["outputs"]
        return found

    def sample_in_forks(self, words: Sequence[str]) -> list[list[str] | None]:
        """What two forked copies draw; None where they do not work."""
        if sys.platform == "win32":
            return [None, None]
        request = {"do": "fork", "words": list(words)}
        try:
            reply = self._ask(request, min(self._timeout, _FORK_SECONDS))
        except ConfigurationError:  # pools and threads do not survive a fork
            return [None, None]
        found: list[list[str] | None] = reply["workers"]
        return found

    def close(self) -> None:
        """End the process."""
        with suppress(OSError):
            self._requests.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        self._kill()
        self._process.wait()
        self._replies.close()

    def _kill(self) -> None:
        """End the process, and all that it started."""
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def _ask(self, request: dict[str, Any], timeout: float) -> dict[str, Any]:
        with suppress(BrokenPipeError):  # the missing reply says what happened
            self._requests.write(json.dumps(request) + "\n")
            self._requests.flush()
        return self._receive(timeout)

    def _receive(self, timeout: float) -> dict[str, Any]:
        """Read a reply; a process that hangs is killed, which ends the read."""
        late = threading.Event()

        def give_up() -> None:
            late.set()
            self._kill()

        timer = threading.Timer(timeout, give_up)
        timer.start()
        try:
            line = self._replies.readline()
        finally:
            timer.cancel()
        if not line:
            self.close()
            problem = (
                f"did not answer within {timeout:g} s; --timeout allows more"
                if late.is_set()
                else f"ended its process, with exit status {self._process.returncode}"
            )
            raise ConfigurationError(f"{self._name} {problem}")
        reply: dict[str, Any] = json.loads(line)
        return reply
