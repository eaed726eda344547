"""A page with what attacks on a release found: numbers and row numbers, no text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from mondegreen import __version__
from mondegreen.attacks.policies import take_classes
from mondegreen.io.target import Target
from mondegreen.wording import figure

if TYPE_CHECKING:
    from mondegreen.attacks.attack import Attack

_PAGE: Final = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>What an attacker recovers</title>
<style>
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%;margin:1rem 0}
th,td{padding:.35rem .6rem;text-align:left;border-bottom:1px solid #8886}
td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.bar{position:relative;background:#8883;height:1rem;min-width:10rem}
.bar i{position:absolute;inset:0 auto 0 0;background:#2a6fdb}
.bar b{position:absolute;top:-.15rem;bottom:-.15rem;border-left:2px solid #d9480f}
small{color:#777}
</style></head><body>
<h1>What an attacker recovers</h1>
<table>{% for name, value in made %}<tr><th>{{ name }}<td>{{ value }}</tr>
{% endfor %}</table>
<p>{{ "{:,}".format(texts) }} texts, {{ "{:,}".format(words) }} words. The bar shows the
share that an attack reaches. The red line shows what a guess reaches without the
release. In brackets: the name of each attack for --fail-above NAME=VALUE.</p>
{% if hint %}<p><strong>{{ hint }}</strong></p>{% endif %}
{% if limits %}<h2>Limits</h2>
<p><strong>{{ failed }} of {{ limits|length }} limits failed.</strong> The upper end of
each interval must not be above its limit.</p>
<table><tr><th>attack<th>limit<th>result</tr>
{% for limit in limits %}<tr><td>{{ limit.name }}<td class="n">{{ limit.limit }}
<td>{% if limit.excess %}<strong>failed</strong>: {{ limit.excess }}
{% else %}passed{% endif %}</tr>
{% endfor %}</table>
<h2>Attacks</h2>{% endif %}
<table><tr><th>attack<th>reaches<th>95 %<th>without release
<th></tr>
{% for row in rows %}<tr><td>{{ row.name }}<br><small>{{ row.who }}</small>
<td class="n">{{ row.value }}<td class="n">{{ row.ends }}<td class="n">{{ row.without }}
<td>{% if row.share is not none %}<div class="bar">
<i style="width:{{ '%.1f' % (100 * row.share) }}%"></i>
{% if row.by_chance is not none %}<b style="left:{{ '%.1f' % (100 * row.by_chance) }}%">
</b>{% endif %}</div>{% endif %}</tr>
{% endfor %}</table>
{% if readings %}<h2>Sensitive words recovered</h2>
<table><tr><th>recovered from<th>recovered</tr>
{% for each in readings %}<tr><td>{{ each.name }}<td class="n">{{ each.value }}</tr>
{% endfor %}</table>
<table><tr><th>class<th>recovered<th>at most (95 %)<th>words</tr>
{% for each in classes %}<tr><td>{{ each.name }}<td class="n">{{ each.value }}
<td class="n">{{ each.most }}<td class="n">{{ "{:,}".format(each.n) }}</tr>
{% endfor %}</table>{% endif %}
{% if links %}<h2>Linkage</h2>
<table><tr><th>linked by<th>linked<th>without release<th>texts</tr>
{% for each in links %}<tr><td>{{ each.name }}<td class="n">{{ each.value }}
<td class="n">{{ each.without }}<td class="n">{{ "{:,}".format(each.n) }}</tr>
{% endfor %}</table>{% endif %}
{% if kinds %}<h2>Left by kind</h2>
<table><tr><th>kind<th>left<th>95 %<th>units</tr>
{% for kind in kinds %}<tr><td>{{ kind.name }}<td class="n">{{ kind.value }}
<td class="n">{{ kind.ends }}<td class="n">{{ "{:,}".format(kind.n) }}</tr>
{% endfor %}</table>{% endif %}
{% if risky %}<h2>Riskiest rows</h2>
<p>Row 1 is the first row of data: a header is not counted.</p>
<table><tr><th>row<th>units left<th>units</tr>
{% for row in risky %}<tr><td class="n">{{ row.row }}<td class="n">{{ row.left }}
<td class="n">{{ row.units }}</tr>
{% endfor %}</table>{% endif %}
<p><small>Computed from your texts: if the texts are private, keep this page private.
</small></p></body></html>
"""


def write_attack_page(
    path: str,
    found: Mapping[str, Attack],
    names: Mapping[str, str],
    about: Mapping[str, Any],
    *,
    limits: Mapping[str, float] | None = None,
    force: bool = False,
) -> None:
    """Write attacks as one HTML file, whole or not at all.

    Parameters
    ----------
    path : str
    found : mapping of str to Attack
    names : mapping of str to str
        How each attack is called.
    about : mapping
        ``texts`` and ``words``; ``hint`` for the reader, where there is one;
        ``sample``, ``release`` and ``setting``: names of files, and lines.
    limits : mapping of str to float, optional
        The limit of each of the attacks that has one.
    force : bool
        Whether a file that exists is replaced.
    """
    from jinja2 import Environment, StrictUndefined

    survivors = found.get("survivors")
    details: Mapping[str, Any] = {} if survivors is None else survivors.details
    kinds = [
        {
            "name": name,
            **_cells(kind["value"], kind["low"], kind["high"]),
            "n": kind["n"],
        }
        for name, kind in details.get("by_kind", {}).items()
    ]
    checks = [
        {"name": name, "limit": f"{limit:g}", "excess": found[name].say_excess(limit)}
        for name, limit in (limits or {}).items()
    ]
    read = take_classes(found) if "sensitive_words" in found else None
    linked = found.get("linkage")
    page = Environment(autoescape=True, undefined=StrictUndefined).from_string(_PAGE)
    text = page.render(
        made=_list_made(about),
        texts=about["texts"],
        words=about["words"],
        hint=about.get("hint"),
        rows=[_row(names[name], each) for name, each in found.items()],
        readings=[] if read is None else _list_readings(read),
        classes=[] if read is None else _list_classes(read),
        links=[] if linked is None else _list_links(linked),
        kinds=kinds,
        limits=checks,
        failed=sum(check["excess"] is not None for check in checks),
        risky=details.get("riskiest_rows", ()),
    )
    Target(path, force=force).write_whole(text.encode())


def _list_made(about: Mapping[str, Any]) -> list[tuple[str, str]]:
    """List what was attacked, by which setting, and when."""
    lines = str(about.get("setting") or "").splitlines()
    found = [
        ("originals", about.get("sample")),
        ("release", about.get("release")),
        ("setting", "; ".join(lines)),
        ("version", f"mondegreen {__version__}"),
        ("date", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
    ]
    return [(name, str(value)) for name, value in found if value]


def _list_readings(attack: Attack) -> list[dict[str, Any]]:
    """List what each reader of sensitive words recovers."""
    return [
        {"name": way["by"], "value": _percent(way["value"])}
        for way in attack.details.get("by", ())
    ]


def _list_classes(attack: Attack) -> list[dict[str, Any]]:
    """List what is recovered of each class, and of words that are not counted."""
    details = attack.details
    beside = details.get("beside", {}).items()
    found = [
        *details.get("by_class", {}).items(),
        *((f"{name} (not counted)", of) for name, of in beside),
    ]
    return [
        {
            "name": name,
            "value": _percent(of["value"]),
            "most": _percent(of["high"]) if "high" in of else "",
            "n": of["n"],
        }
        for name, of in found
    ]


def _list_links(attack: Attack) -> list[dict[str, Any]]:
    """List how many releases are linked by each thing that they show."""
    ways: Sequence[Mapping[str, Any]] = attack.details.get("by", ())
    return [
        {
            "name": way["by"],
            "value": _percent(way["value"]),
            "without": _percent(way["chance"]),
            "n": way["n"],
        }
        for way in ways
    ]


def _row(name: str, attack: Attack) -> dict[str, Any]:
    is_share = attack.unit.startswith(("share", "chance"))
    if is_share:
        cells = _cells(attack.value, attack.low, attack.high)
        without = "" if attack.chance is None else _percent(attack.chance)
    else:
        cells = {
            "value": "not known" if attack.value is None else _plain(attack),
            "ends": attack.unit,
        }
        without = ""
    return {
        "name": name,
        "who": attack.adversary,
        **cells,
        "without": without,
        "share": attack.value if is_share else None,
        "by_chance": attack.chance if is_share else None,
    }


def _plain(attack: Attack) -> str:
    """Write a value that is no share: a count of rows has all of its digits."""
    return figure(attack.value or 0.0, "count" if attack.unit == "rows" else "number")


def _cells(
    value: float | None, low: float | None, high: float | None
) -> dict[str, str]:
    if value is None or low is None or high is None:
        return {"value": "not known", "ends": ""}
    return {
        "value": _percent(value),
        "ends": f"{figure(low, 'percent')} to {_percent(high)}",
    }


def _percent(share: float) -> str:
    return figure(share, "percent") + " %"
