"""Write docs/explanation/speed.md, its plots and its data from the result files.

``python -m benchmarks speed_page``, after peers/speed_peers.py, growth.py,
privatize_imdb.py, text_path.py, selection.py, profile_texts.py, scores.py and
calibrating.py.
tests/docs/test_speed_page.py holds page and results together.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from benchmarks import machine
from benchmarks.pages.page import DOCS, Table, fill
from benchmarks.pages.speed_charts import CHAIN, charts
from mondegreen.report.charts import picture

PAGE: Final = "explanation/speed.md"
ASSETS: Final = DOCS / "assets"


def load(name: str) -> dict[str, Any]:
    """One result file."""
    return json.loads((machine.RESULTS / f"{name}.json").read_text())


def number(value: float | None) -> str:
    """A rate with as many digits as it deserves."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _rows() -> list[dict[str, Any]]:
    return [row for row in load("peers_speed")["rows"] if row["threads"] == "1"]


def verdict(row: dict[str, Any]) -> str:
    """What the audit of the peer found."""
    found = {
        audit.get("report", {}).get("verdict", "not run")
        for audit in load("peers_audit")["audits"]
        if audit["package"] == row["package"]
        and audit["mechanism"].partition(",")[0] == row["mechanism"].partition(",")[0]
    }
    if "broken" in found:
        return "breaks its claim"
    return "not rejected" if "not rejected" in found else "not audited"


def peers() -> Table:
    """Ours over each peer."""
    header = [
        "peer",
        "its words a second",
        "ours",
        "cold",
        "warm",
        "texts",
        "warm over peer",
        "texts over peer",
        "audit of the peer",
    ]
    rows = []
    for row in _rows():
        name = f"{row['package']} {row['mechanism']}"
        if "error" in row:
            rows.append([name, "failed", *["–"] * 6, verdict(row)])
            continue
        peer, own = row["peer"]["words_per_second"], row.get("mondegreen")
        if own is None:
            rows.append([name, number(peer), "no equal", *["–"] * 5, verdict(row)])
            continue
        rates = [own[f"{key}words_per_second"] for key in ("cold_", "", "text_")]
        rows.append(
            [
                name,
                number(peer),
                f"`{row['ours']}`",
                *map(number, rates),
                *(f"{number(rate / peer)}×" for rate in rates[1:]),
                verdict(row),
            ]
        )
    return Table(header, rows, text_columns=(2, 8))


def starts() -> Table:
    """Seconds to the first word, and peak memory."""
    header = [
        "peer",
        "first word, s",
        "ours, s",
        "peak memory, MiB",
        "ours, MiB",
        "unchanged",
        "ours",
    ]
    rows = []
    for row in _rows():
        if "error" in row:
            continue
        peer, own = row["peer"], row.get("mondegreen", {})
        cells = []
        for key in ("first_word_seconds", "peak_mib", "unchanged"):
            for found in (peer, own):
                value = found.get(key)
                plain = key == "unchanged" and value is not None
                cells.append(f"{value:.0%}" if plain else number(value))
        rows.append([f"{row['package']} {row['mechanism']}", *cells])
    return Table(header, rows)


def rooflines() -> Table:
    """The range of the rates of the machine over the run."""
    found = load("peers_speed")["rooflines"]
    labels = {
        "search_alone_per_second": "exact search alone (faiss), queries a second",
        "copy_gb_per_second": "copy in memory, read and write, GB/s",
        "chacha20_mb_per_second": "ChaCha20 stream, MB/s",
        "os_random_mb_per_second": "random bytes of the system, MB/s",
    }
    rows = []
    for key, label in labels.items():
        values = sorted(row[key] for row in found)
        median = values[len(values) // 2]
        rows.append([label, *map(number, (median, values[0], values[-1]))])
    return Table(["all threads", "median", "least", "most"], rows)


def over_search() -> Table:
    """Our rates over exact search alone, in the same process."""
    rows: dict[str, list[tuple[float, float]]] = {}
    for row in _rows():
        if "mondegreen" in row:
            own = row["mondegreen"]
            share = own["words_per_second"] / own["search_alone_per_second"]
            texts = own["text_words_per_second"] / own["search_alone_per_second"]
            rows.setdefault(row["ours"], []).append((share, texts))
    lines = []
    for name, found in rows.items():
        means = [sum(part) / len(found) for part in zip(*found, strict=True)]
        lines.append([f"`{name}`", *(f"{mean:.2f}" for mean in means)])
    return Table(["mechanism", "warm", "texts"], lines)


def growth_table() -> Table:
    """Every mechanism on vocabularies of four sizes."""
    growth = load("growth")
    names = list(dict.fromkeys(key.partition("|")[0] for key in growth["points"]))
    small = {"hyperbolic": ("mammals", "mammals-10k")}
    header = ["mechanism", "vocabulary", "prepare, s", "first word, s", "cold", "warm"]
    rows = []
    for name in sorted(names):
        for space in (*CHAIN, *small.get(name, ())):
            point = growth["points"].get(f"{name}|{space}|default")
            if point is None:
                continue
            size = f"{growth['spaces'][space]['words']:,}"
            if "error" in point:
                rows.append([f"`{name}`", size, point["error"], *["–"] * 4])
                continue
            keys = (
                "prepare_seconds",
                "first_word_seconds",
                "cold_words_per_second",
                "words_per_second",
                "peak_mib",
            )
            cells = [number(point.get(key)) for key in keys]
            rows.append([f"`{name}`", size, *cells])
    return Table([*header, "peak, MiB"], rows)


def parallel() -> Table:
    """Rates with one thread and all, with one process and two."""
    points = load("growth")["points"]
    rows = []
    for name in dict.fromkeys(key.partition("|")[0] for key in points):
        space = "mammals-10k" if name == "hyperbolic" else "glove-34k"
        one = points.get(f"{name}|{space}|1", {})
        both = points.get(f"{name}|{space}|default", {})
        jobs = one.get("jobs", {})
        rates = [p.get("words_per_second") for p in (one, both)]
        rates += [jobs.get("1"), jobs.get("2")]
        if any(rates):
            gains = [
                f"{b / a:.2f}×" if a and b else "–" for a, b in (rates[:2], rates[2:])
            ]
            cells = [*map(number, rates[:2]), gains[0], *map(number, rates[2:])]
            rows.append([f"`{name}`", *cells, gains[1]])
    header = [
        "mechanism",
        "1 thread",
        "2 threads",
        "gain",
        "texts, 1 process",
        "2 processes",
        "gain",
    ]
    return Table(header, rows)


def profiles() -> Table:
    """Where one thread spends its time on real reviews, and in which functions."""
    rows = []
    for name, found in load("profile")["profiles"].items():
        whole, setting = sum(found["sections"].values()), f"{found['epsilon']:g}"
        rows += [
            [
                f"`{name}`",
                setting,
                label,
                f"{seconds / whole:.0%}",
                f"{1e6 * seconds / found['words']:.2f}",
            ]
            for label, seconds in found["sections"].items()
        ]
        rows += [
            [
                f"`{name}`",
                setting,
                f"in the mechanism: `{each['function']}`",
                f"{each['share']:.0%} of it",
                "–",
            ]
            for each in found["inside"][:3]
        ]
    return Table(["mechanism", "epsilon", "part", "share", "µs a word"], rows, (2,))


def files() -> Table:
    """What the command does with a file of real reviews."""
    runs = load("privatize_imdb")["runs"]
    rows = []
    for name, run in runs.items():
        if run["jobs"] != 2:
            continue
        alone = runs.get(name.replace("2 jobs", "1 jobs"), {}).get("words_per_second")
        search = run.get("search_alone_per_second")
        rows.append(
            [
                f"`{run['mechanism']}`, {run['epsilon']:g}",
                number(run["words_per_second"]),
                number(alone),
                f"{run['words_per_second'] / alone:.2f}×" if alone else "–",
                number(run["peak_mib"]),
                number(search),
                f"{run['share_of_search_alone']:.0%}" if search else "–",
            ]
        )
    header = ["mechanism, epsilon", "two jobs", "one job", "gain", "peak, MiB"]
    return Table([*header, "search alone, two processes", "share"], rows)


def large() -> str:
    """What a file of a gigabyte takes."""
    found = load("privatize_one_gigabyte")
    return (
        f"For a CSV file of {found['input_bytes'] / 1e9:.2f} GB, `tree` needs "
        f"{found['peak_mib_all_processes']:,} MiB in all processes and reaches "
        f"{found['megabytes_per_second']:.0f} MB/s with two jobs.\n"
    )


def goal() -> str:
    """How the default stands to its goal, the speed of the tree without reading."""
    runs = load("privatize_imdb")["runs"]
    said = []
    for jobs, words in (("2", "two jobs"), ("1", "one")):
        rates = {
            run["mechanism"]: run["words_per_second"]
            for run in runs.values()
            if str(run["jobs"]) == jobs
        }
        said.append(
            f"{rates['default'] / rates['tree']:.2f} times that speed with {words}"
        )
    return f"It reaches {', and '.join(said)}.\n"


def selection(size: str) -> Table:
    """Rates inside the mechanisms, on one core."""
    rows = [
        [
            f"`{name}`, {run['epsilon']:g}",
            number(run["words"]),
            number(run["distinct"]),
            number(run["cold_words_per_second"]),
            number(run["warm_words_per_second"]),
            number(run["peak_mib"]),
            number(run["peak_mib"] - run["peak_before_mib"]),
        ]
        for name, run in load("selection")[size].items()
    ]
    header = ["mechanism, epsilon", "words", "distinct", "cold", "warm", "peak, MiB"]
    return Table([*header, "above start, MiB"], rows)


def around() -> Table:
    """What the text costs beside the mechanism."""
    rows = [
        [
            name,
            number(found["texts"]),
            number(found["words_a_text"]),
            f"{found['microseconds_a_word']:.2f}",
            f"{found['tem_8_warm_microseconds_a_word']:.2f}",
        ]
        for name, found in load("text_path")["texts"].items()
    ]
    header = ["texts", "how many", "words a text", "text alone", "with `tem`"]
    return Table(header, rows)


def jobs() -> Table:
    """What a second job gains on files."""
    rows = [
        [
            name,
            number(found["one_job_words_per_second"]),
            number(found["two_jobs_words_per_second"]),
            f"{found['two_jobs_over_one']:.2f}×",
        ]
        for name, found in load("text_path")["files"].items()
    ]
    return Table(["mechanism, file", "one job", "two jobs", "gain"], rows)


def waits() -> Table:
    """What a person waits for."""
    found = load("text_path")["starts"]
    rows = [
        ["`mondegreen --help`", f"{found['help_seconds']:.2f} s"],
        ["first word of a cold process", f"{found['first_word_seconds']:.2f} s"],
        [
            "one sentence through a warm `Privatizer`",
            f"{found['one_string_milliseconds']:.2f} ms",
        ],
    ]
    return Table(["what", "time"], rows)


def choosing() -> Table:
    """What scores and a calibration cost."""
    scores, calibrating = load("scores"), load("calibrating")
    one = scores["one_law"]
    rows = [
        [
            f"exact scores of one law over {scores['words']:,} words",
            f"{one['seconds']:.0f} s",
            number(one["peak_megabytes"]),
        ]
    ]
    for name, label in (("quick", "--quick"), ("full", "")):
        found = calibrating[name]
        rows.append(
            [
                f"`mondegreen calibrate {label}`".replace(" `", "`")
                + f", {len(calibrating['mechanisms'])} mechanisms at "
                f"{min(found['epsilons'].values())} epsilons each",
                f"{found['seconds']:.0f} s",
                number(found["peak_megabytes"]),
            ]
        )
    return Table(["what", "two cores", "peak, MiB"], rows)


TABLES: Final[dict[str, Callable[[], object]]] = {
    "peers": peers,
    "over search": over_search,
    "files": files,
    "goal": goal,
    "large file": large,
    "around": around,
    "waits": waits,
    "choosing": choosing,
}
DATA: Final[dict[str, Callable[[], Table]]] = {
    "speed-start-and-memory.csv": starts,
    "speed-machine.csv": rooflines,
    "speed-inside.csv": lambda: (
        selection("real").under("points", "reviews, default space")
        + selection("large").under("points", "400,000 synthetic points")
    ),
    "speed-jobs.csv": jobs,
    "speed-growth.csv": growth_table,
    "speed-parallel.csv": parallel,
    "speed-profile.csv": profiles,
}


def main() -> None:
    """Write tables and plots."""
    ASSETS.mkdir(exist_ok=True)
    for name, chart in charts(load("growth")).items():
        (ASSETS / name).write_bytes(picture(chart, for_page=True))
    fill(PAGE, TABLES, DATA)


if __name__ == "__main__":
    main()
