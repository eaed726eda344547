"""The report of ``mondegreen calibrate``, and its sentences before and after."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

import numpy as np

from mondegreen.calibration.score_bounds import ScoreBounds
from mondegreen.cli.calibrate_text import Outcome, command_of
from mondegreen.errors import DecodeError, SourceError
from mondegreen.mechanisms import mechanism
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.report.page import write_report
from mondegreen.report.study import SampleRelease, study_of
from mondegreen.sampling.noise import Seeded

_SHOWN: Final = 4
"""Settings of a mechanism whose sentences are shown."""


def read_lines(path: str | None) -> tuple[str, ...]:
    """Return the lines of a file of PUBLIC texts; none without a file."""
    if path is None:
        return ()
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        problem = error.strerror or type(error).__name__
        raise SourceError(path, f"cannot be read: {problem}") from None
    except UnicodeDecodeError as error:
        raise DecodeError(path, offset=error.start) from None
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def write(
    found: Outcome, path: str, *, sentences: tuple[str, ...], force: bool
) -> None:
    """Write the page: curves, the choice, and what becomes of the sentences."""
    plan, chosen = found.plan, found.chosen
    settings = [*_some(found.curves), *([] if chosen is None else [chosen])]
    releases = [_released(each, found, sentences) for each in settings if sentences]
    study = study_of(
        plan.evaluator.space,
        found.curves,
        sample=Path(found.sample.name).name,
        sample_texts=found.sample.texts,
        sample_words=found.sample.words,
        chosen=chosen,
        target="; ".join(map(str, plan.targets)),
        command="" if chosen is None else command_of(found, chosen),
        sentences=sentences,
        releases=tuple(releases),
        is_quick=plan.evaluator.quick,
        seed=plan.evaluator.seed,
    )
    write_report(study, path, force=force)


def _some(curves: Sequence[ScoreBounds]) -> list[ScoreBounds]:
    """Return at most four settings of each mechanism, the ends among them.

    Sentences of neighbouring epsilons look alike; who reads wants to see the range.
    """
    found: list[ScoreBounds] = []
    for _, group in groupby(curves, lambda each: (each.mechanism, each.parameters)):
        rows = sorted(group, key=lambda each: each.epsilon)
        places = np.linspace(0, len(rows) - 1, min(len(rows), _SHOWN)).round()
        found += [rows[place] for place in places.astype(int)]
    return found


def _released(
    setting: ScoreBounds, found: Outcome, sentences: tuple[str, ...]
) -> SampleRelease:
    """Return the sentences under one setting, the same in every run."""
    evaluator = found.plan.evaluator
    made = mechanism(setting.mechanism, epsilon=setting.epsilon, **setting.parameters)
    # Seeded noise is not private; the sentences are public.
    privatizer = Privatizer(
        made, evaluator.space, noise=Seeded(evaluator.seed), allow_unproved=True
    )
    texts = tuple(
        "" if each is None else each.text for each in privatizer.batch(list(sentences))
    )
    return SampleRelease(setting.mechanism, setting.parameters, setting.epsilon, texts)
