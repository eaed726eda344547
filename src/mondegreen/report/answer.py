"""The top of the page: the chosen setting, what it does, and how to copy it."""

from __future__ import annotations

import json
import math
import shlex
from typing import TYPE_CHECKING

from mondegreen.errors import UnknownNameError
from mondegreen.mechanisms import mechanism_class
from mondegreen.report.chart import Ends, at_most, exactly, in_words, written
from mondegreen.report.charts import main_prior
from mondegreen.report.markup import escaped
from mondegreen.report.study import Study, curve_name, score_of, told_parameters
from mondegreen.space.store import DEFAULT_SPACE

if TYPE_CHECKING:
    from mondegreen.calibration.score_bounds import ScoreBounds


def answer(study: Study) -> str:
    """Return the section of the chosen setting; without one, what to do instead."""
    chosen = study.chosen
    if chosen is None:
        return (
            '<section id="answer" class="card"><h2>No setting was chosen</h2>'
            "<p>Name a target, such as a share of words that may stay, and "
            "<code>mondegreen calibrate</code> picks the parameters that reach it. "
            "Or choose a point of the first figure, and take its epsilon from the "
            "table of all settings.</p></section>"
        )
    asked = ""
    if study.target:
        asked = f"<p>Asked for: <strong>{escaped(study.target)}</strong>.</p>"
    name = f"{curve_name(chosen)}, ε = {exactly(chosen.epsilon)}"
    return "".join(
        [
            '<section id="answer" class="card"><h2>The chosen setting: '
            f"{escaped(name)}</h2>",
            asked,
            '<ul class="tiles">',
            *_tiles(study, chosen),
            "</ul>",
            _settings(study, chosen),
            "</section>",
        ]
    )


def _tiles(study: Study, chosen: ScoreBounds) -> list[str]:
    """Return the few numbers to read first, as far as they are known."""
    prior = main_prior(study)
    of = "text like the sample" if prior == "sample" else "the vocabulary"
    tiles = []
    stay = score_of(chosen, f"n_w_{prior}") or score_of(chosen, "n_w_mean")
    if stay is not None:
        note = f"of 100 words of {of} come out unchanged, on average."
        tiles.append(_tile("Words that stay", _of_hundred(stay), note))
    risk = score_of(chosen, f"bayes_risk_{prior}")
    if risk is not None:
        tiles.append(
            _tile("Best guess is wrong", _of_hundred(risk), _before(chosen, prior))
        )
    support = score_of(chosen, "s_w_05")
    if support is not None:
        note = "likely outputs at least, for 95% of the vocabulary."
        tiles.append(_tile("Likely outputs", written(support[0]), note))
    loss = score_of(chosen, f"utility_loss_share_{prior}")
    if loss is not None:
        note = "of what drawing words blindly would cost: 0% is no change."
        tiles.append(_tile("Lost to the reader", in_words(loss, "share"), note))
    tiles += _promises(chosen)
    return tiles


def _promises(chosen: ScoreBounds) -> list[str]:
    """Return what holds against every adversary."""
    worst = score_of(chosen, "worst_loss")
    if worst is None:
        return []
    near = score_of(chosen, "near_loss")
    note = f"at most, for any two words: odds move by a factor of {odds(worst[1])}."
    if near is not None:
        note = (
            "at most between a word and its nearest neighbour (odds × "
            f"{odds(near[1])}); {at_most(worst[1])} nats between any two words."
        )
    value = at_most((near or worst)[1])
    return [_tile("Promise", f"{value} nats", note)]


def _before(chosen: ScoreBounds, prior: str) -> str:
    note = "times of 100, by an adversary who sees one output and knows "
    note += "word frequencies" if prior == "sample" else "the vocabulary"
    before = score_of(chosen, f"prior_risk_{prior}")
    if before is None:
        return f"{note}."
    return f"{note}. Before seeing it: {_of_hundred(before)}."


def _tile(name: str, value: str, note: str) -> str:
    return (
        f'<li class="tile"><p class="name">{name}</p><p class="value">{value}</p>'
        f'<p class="note">{note}</p></li>'
    )


def _of_hundred(ends: Ends) -> str:
    return in_words((100 * ends[0], 100 * ends[1]))


def odds(nats: float) -> str:
    """Return the factor that so many nats are at most, as markup.

    Examples
    --------
    >>> odds(3.0), odds(30.0)
    ('20.1', '10<sup>14</sup>')
    """
    if nats < math.log(1e5):
        return at_most(math.exp(nats))
    return f"10<sup>{math.ceil(nats / math.log(10) - 1e-9)}</sup>"


def _settings(study: Study, chosen: ScoreBounds) -> str:
    """Return the command line and the Python to copy."""
    command = study.command or command_line(study, chosen)
    return (
        '<h3 id="settings">Settings to copy</h3>'
        '<p class="hint">On the command line; <code>INPUT</code> and '
        "<code>OUTPUT</code> are your files.</p>"
        f"<pre><code>{escaped(command)}</code></pre>"
        '<p class="hint">In Python.</p>'
        f"<pre><code>{escaped(python_lines(study, chosen))}</code></pre>"
    )


def command_line(study: Study, chosen: ScoreBounds) -> str:
    """Return the command that privatizes with a setting."""
    parts = ["mondegreen", "privatize", "INPUT", "-o", "OUTPUT"]
    parts += ["--mechanism", chosen.mechanism, "--epsilon", repr(chosen.epsilon)]
    for name, value in told_parameters(chosen).items():
        parts += ["--set", f"{name}={_setting(value)}"]
    if study.space != DEFAULT_SPACE:
        parts += ["--space", study.space]
    if not _is_private(chosen.mechanism):
        parts.append("--allow-unproved")
    return shlex.join(parts)


def _setting(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def python_lines(study: Study, chosen: ScoreBounds) -> str:
    """Return Python that privatizes a text with a setting."""
    given = "".join(
        f", {name}={value!r}" for name, value in told_parameters(chosen).items()
    )
    space = "" if study.space == DEFAULT_SPACE else repr(study.space)
    more = "" if _is_private(chosen.mechanism) else ", allow_unproved=True"
    return "\n".join(
        [
            "import mondegreen as mg",
            "",
            f"space = mg.load_space({space})",
            f"mechanism = mg.mechanism({chosen.mechanism!r}, "
            f"epsilon={chosen.epsilon!r}{given})",
            f"privatizer = mg.Privatizer(mechanism, space{more})",
            'print(privatizer("The text to protect.").text)',
        ]
    )


def _is_private(mechanism: str) -> bool:
    """Whether a mechanism has a proof; what is not in the registry is not asked."""
    try:
        return mechanism_class(mechanism).is_private
    except UnknownNameError:
        return True
