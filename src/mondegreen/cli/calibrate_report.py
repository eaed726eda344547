"""What ``mondegreen calibrate`` found: printed, as JSON, and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from mondegreen.calibration.evaluate import Setting
from mondegreen.calibration.plan import Plan, Row
from mondegreen.calibration.sample import Sample
from mondegreen.calibration.score_bounds import ScoreBounds
from mondegreen.calibration.targets import MATCHES
from mondegreen.cli.render import table
from mondegreen.mechanisms import mechanism
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.report.study import (
    SampleRelease,
    build_study,
    command_line,
    list_parameters,
)
from mondegreen.sampling.noise import Seeded
from mondegreen.scores.definitions import COLUMNS
from mondegreen.wording import Kind, amount, figure, figures

_SHOWN: Final = 4
"""Settings of a mechanism whose sentences are shown."""

_COLUMNS: Final = (
    "certified_epsilon worst_loss n_w_mean n_w_95 s_w_05 bayes_risk_uniform "
    "bayes_risk_sample reader worst_word utility_loss_share_{prior}"
)
_IF_ASKED: Final = {
    "reader": "reader: share of words that a reader of sentences recovers, who knows a "
    "public language model.",
    "worst_word": "worst word: how often the word of content that is worst off is "
    "guessed, by itself.",
}

_HOW_TO_READ: Final = """\
A loss of n nats changes odds by a factor of at most e^n.
certified: exact epsilon, in nats per unit of the metric; the proved bound where the \
exact one is not known (laplace and other noise).
worst loss: nats between any two words, at most.
N_w: chance that a word stays, on average, and at most that for 95 % of the words.
S_w: likely outputs (95 % of the probability), at least that for 95 % of the words.
risk: how often the best guess of a word is wrong, without its context.
moved: mean distance from a word to what it becomes, as a share of that to a random \
word ({prior} prior)."""

_LABEL: Final = "privacy_ratio"
_ONLY_LABELS: Final = (
    "No setting is proposed: the privacy ratio makes labels equal, not privacy. "
    "Compare worst loss, risk and N_w."
)


@final
@dataclass(frozen=True, slots=True)
class Outcome:
    """All that was found: as lines for people, as JSON, and as a page."""

    plan: Plan
    rows: Sequence[Row]
    chosen: ScoreBounds | None
    curves: Sequence[ScoreBounds]
    sample: Sample
    columns: tuple[str, ...]
    space: str

    def lines(self) -> Iterator[str]:
        sample, plan = self.sample, self.plan
        unknown = f"{sample.unknown / sample.words:.1%} of them unknown"
        size = f"{amount(sample.texts, 'text')}, {amount(sample.words, 'word')}"
        yield f"sample  {sample.name}: {size}, {unknown}"
        for target in plan.targets:
            yield f"target  {target}"
        if plan.reference is not None:
            where = f" on {plan.elsewhere}" if plan.elsewhere else ""
            name = f"{_short(plan.reference)} at epsilon {plan.reference.epsilon:g}"
            yield f"match   {name}{where}: {MATCHES[plan.targets[-1].key]}"
        found = [row.chosen for row in self.rows if row.chosen is not None]
        shown = found or list(self.curves)
        yield from ["", *_table(shown, plan.prior, plan.evaluator.space.vocab_size), ""]
        for row in self.rows:
            if row.chosen is None:
                yield f"{row.setting}: no epsilon. {row.calibration.problem}\n"
            elif not row.calibration.is_binding:
                yield f"{row.setting}: the target holds at every epsilon tried.\n"
        yield from _notes(shown, plan.prior)
        if self.advice:
            yield f"\ntake:\n  {self.advice}"
        elif self.chosen is not None:
            yield f"\n{_ONLY_LABELS}"

    def to_dict(self) -> dict[str, Any]:
        plan, space = self.plan, self.plan.evaluator.space
        return {
            "space": space.name,
            "space_digest": space.digest,
            "sample": self.sample.to_dict(),
            "quick": plan.evaluator.quick,
            "seed": plan.evaluator.seed,
            "prior": plan.prior,
            "targets": [
                {"key": t.key, "value": t.value, "score": t.score, "meaning": str(t)}
                for t in plan.targets
            ],
            "reference": plan.reference and plan.reference.to_dict(),
            "reference_space": plan.reference and (plan.elsewhere or space.name),
            "rows": [
                {
                    "mechanism": row.setting.name,
                    "feasible": row.chosen is not None,
                    "binding": row.calibration.is_binding,
                    "problem": row.calibration.problem or None,
                    "epsilon": row.chosen and row.chosen.epsilon,
                    "measurement": row.chosen and row.chosen.to_dict(),
                    "command": row.chosen and self.command(row.chosen),
                }
                for row in self.rows
            ],
            "chosen": self.chosen and self.chosen.to_dict(),
            "command": self.advice or None,
            "curves": [each.to_dict() for each in self.curves],
        }

    def write_page(self, path: str, sentences: tuple[str, ...], *, force: bool) -> None:
        """Write curves, the choice, and the sentences before and after."""
        from mondegreen.report.page import write_report

        plan, chosen, sample = self.plan, self.chosen, self.sample
        settings = [*_some(self.curves), *([] if chosen is None else [chosen])]
        releases = [
            _release_sample(each, plan, sentences) for each in settings if sentences
        ]
        study = build_study(
            plan.evaluator.space,
            self.curves,
            sample=Path(sample.name).name,
            sample_texts=sample.texts,
            sample_words=sample.words,
            chosen=chosen if self.advice else None,
            target="; ".join(map(str, plan.targets)),
            command=self.advice,
            sentences=sentences,
            releases=tuple(releases),
            is_quick=plan.evaluator.quick,
            seed=plan.evaluator.seed,
        )
        write_report(study, path, force=force)

    @property
    def advice(self) -> str:
        """The command with the setting to take; empty where nothing is to be advised.

        Equal labels say nothing about privacy, so they choose no setting.
        """
        if self.chosen is None or any(t.key == _LABEL for t in self.plan.targets):
            return ""
        return self.command(self.chosen)

    def command(self, setting: ScoreBounds) -> str:
        """The command that privatizes with a setting."""
        return command_line(setting, self.space, self.columns)


def _table(settings: Sequence[ScoreBounds], prior: str, vocab_size: int) -> list[str]:
    known = {name for setting in settings for name in setting.scores}
    names = _COLUMNS.format(prior=prior).split()
    columns = [COLUMNS[n] for n in names if n in known or n not in _IF_ASKED]
    rows = [["mechanism", "epsilon", *(each.heading for each in columns), "metric"]]
    for setting in settings:
        ends = [(setting.scores.get(each.name), each.unit) for each in columns]
        cells = [_cell(both, unit, vocab_size) for both, unit in ends]
        rows.append([_short(setting), f"{setting.epsilon:g}", *cells, setting.metric])
    return table(rows, align="<" + ">" * (len(columns) + 1) + "<")


def _notes(settings: Sequence[ScoreBounds], prior: str) -> Iterator[str]:
    yield _HOW_TO_READ.format(prior=prior)
    known = {name for setting in settings for name in setting.scores}
    yield from (says for name, says in _IF_ASKED.items() if name in known)
    if any(low < high for each in settings for low, high in each.scores.values()):
        yield "a to b: intervals of 95 % or more; the target holds at the worse end."
    # A metric that is cut off at some distance makes the promise only stronger.
    plain = {each.metric.removeprefix("min(").partition(",")[0] for each in settings}
    if len(plain) > 1:
        yield "Metrics differ, so epsilons do not compare; worst loss and risk do."


def _cell(ends: tuple[float, float] | None, unit: str, vocab_size: int) -> str:
    """A score as people read it, with both ends if they differ."""
    if ends is None:
        return "-"
    if unit == "words" and ends[0] < ends[1] == vocab_size:
        return f"{figure(ends[0], 'count')} or more"
    kinds: dict[str, Kind] = {"words": "count", "share": "percent"}
    kind = kinds.get(unit, "number")
    return figures(*ends, kind, digits=4 if kind == "number" else 3)


def _short(setting: ScoreBounds) -> str:
    """A mechanism, and what of it is not the default."""
    return str(Setting(setting.mechanism, list_parameters(setting)))


def _some(curves: Sequence[ScoreBounds]) -> list[ScoreBounds]:
    """Pick at most four settings of each mechanism, the ends among them.

    Sentences of neighbouring epsilons look alike; a person wants to see the range.
    """
    found: list[ScoreBounds] = []
    for _, group in groupby(curves, lambda each: (each.mechanism, each.parameters)):
        rows = sorted(group, key=lambda each: each.epsilon)
        places = np.linspace(0, len(rows) - 1, min(len(rows), _SHOWN)).round()
        found += [rows[place] for place in places.astype(int)]
    return found


def _release_sample(
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
