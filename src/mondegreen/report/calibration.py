"""The report of ``mondegreen calibrate``, and its sentences before and after."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

import numpy as np

from mondegreen.calibration.plan import Plan
from mondegreen.calibration.sample import Sample
from mondegreen.calibration.score_bounds import ScoreBounds
from mondegreen.mechanisms import mechanism
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.report.page import write_report
from mondegreen.report.study import SampleRelease, study_of
from mondegreen.sampling.noise import Seeded

_SHOWN: Final = 4
"""Settings of a mechanism whose sentences are shown."""


def write(
    plan: Plan,
    chosen: ScoreBounds | None,
    curves: Sequence[ScoreBounds],
    sample: Sample,
    command: str,
    path: str,
    sentences: tuple[str, ...],
    *,
    force: bool,
) -> None:
    """Write the page: curves, the choice, and what becomes of the sentences."""
    settings = [*_some(curves), *([] if chosen is None else [chosen])]
    releases = [_released(each, plan, sentences) for each in settings if sentences]
    study = study_of(
        plan.evaluator.space,
        curves,
        sample=Path(sample.name).name,
        sample_texts=sample.texts,
        sample_words=sample.words,
        chosen=chosen,
        target="; ".join(map(str, plan.targets)),
        command=command,
        sentences=sentences,
        releases=tuple(releases),
        is_quick=plan.evaluator.quick,
        seed=plan.evaluator.seed,
    )
    write_report(study, path, force=force)


def _some(curves: Sequence[ScoreBounds]) -> list[ScoreBounds]:
    """Pick at most four settings of each mechanism, the ends among them.

    Sentences of neighbouring epsilons look alike; who reads wants to see the range.
    """
    found: list[ScoreBounds] = []
    for _, group in groupby(curves, lambda each: (each.mechanism, each.parameters)):
        rows = sorted(group, key=lambda each: each.epsilon)
        places = np.linspace(0, len(rows) - 1, min(len(rows), _SHOWN)).round()
        found += [rows[place] for place in places.astype(int)]
    return found


def _released(
    setting: ScoreBounds, plan: Plan, sentences: tuple[str, ...]
) -> SampleRelease:
    """Privatize the sentences under one setting, the same in every run."""
    evaluator = plan.evaluator
    made = mechanism(setting.mechanism, epsilon=setting.epsilon, **setting.parameters)
    # Seeded noise is not private; the sentences are public.
    privatizer = Privatizer(
        made, evaluator.space, noise=Seeded(evaluator.seed), allow_unproved=True
    )
    texts = tuple(
        "" if each is None else each.text for each in privatizer.batch(list(sentences))
    )
    return SampleRelease(setting.mechanism, setting.parameters, setting.epsilon, texts)
