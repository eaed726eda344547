"""The report of ``mondegreen calibrate``, and its sentences before and after."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

import numpy as np

from mondegreen.calibration.measurement import Measurement
from mondegreen.calibration.plan import Plan
from mondegreen.calibration.sample import Sample
from mondegreen.mechanisms import mechanism
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.report.html import write_report
from mondegreen.report.study import SampleRelease, study_of
from mondegreen.sampling.noise import Seeded

_SHOWN: Final = 4
"""Settings of a mechanism whose sentences are shown."""


def write(
    plan: Plan,
    chosen: Measurement | None,
    curves: Sequence[Measurement],
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
        plan.bench.space,
        curves,
        sample=Path(sample.name).name,
        sample_texts=sample.texts,
        sample_words=sample.words,
        chosen=chosen,
        target="; ".join(map(str, plan.targets)),
        command=command,
        sentences=sentences,
        releases=tuple(releases),
        is_quick=plan.bench.quick,
        seed=plan.bench.seed,
    )
    write_report(study, path, force=force)


def _some(curves: Sequence[Measurement]) -> list[Measurement]:
    """Return at most four settings of each mechanism, the ends among them.

    Sentences of neighbouring epsilons look alike; who reads wants to see the range.
    """
    found: list[Measurement] = []
    for _, group in groupby(curves, lambda each: (each.mechanism, each.parameters)):
        rows = sorted(group, key=lambda each: each.epsilon)
        places = np.linspace(0, len(rows) - 1, min(len(rows), _SHOWN)).round()
        found += [rows[place] for place in places.astype(int)]
    return found


def _released(
    setting: Measurement, plan: Plan, sentences: tuple[str, ...]
) -> SampleRelease:
    """Return the sentences under one setting, the same in every run."""
    bench = plan.bench
    made = mechanism(setting.mechanism, epsilon=setting.epsilon, **setting.parameters)
    # Seeded noise is not private; the sentences are public.
    privatizer = Privatizer(
        made, bench.space, noise=Seeded(bench.seed), allow_unproved=True
    )
    texts = tuple(
        "" if each is None else each.text for each in privatizer.batch(list(sentences))
    )
    return SampleRelease(setting.mechanism, setting.parameters, setting.epsilon, texts)
