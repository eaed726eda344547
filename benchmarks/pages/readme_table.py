"""Write the speed section of the README from the result files."""

from __future__ import annotations

import json

from benchmarks import machine
from benchmarks.pages.page import Table

README = machine.ROOT / "README.md"
START = "<!-- speed: written by benchmarks/pages/readme_table.py -->\n"
END = "<!-- /speed -->"
SHOWN = ("default", "tree")
NAMES = {"default": "the default (`sensitive`)"}


def table() -> str:
    """The section as Markdown: one file by two jobs."""
    imdb = json.loads((machine.RESULTS / "privatize_imdb.json").read_text())
    known = {run["mechanism"]: run for run in imdb["runs"].values() if run["jobs"] == 2}
    runs = [known[name] for name in SHOWN if name in known]
    rows = [
        [
            f"{NAMES.get(run['mechanism'], '`' + run['mechanism'] + '`')}, epsilon "
            f"{run['epsilon']:g}",
            f"{run['words_per_second']:,}",
            f"{run['peak_mib']:,} MiB",
        ]
        for run in runs
    ]
    header = ["mechanism", "words a second", "peak memory"]
    return (
        f"12,000 reviews ({runs[0]['words'] / 1e6:.1f} million words) in Parquet, "
        f"two jobs on {imdb['machine']['cores']} cores "
        f"({imdb['machine']['processor']}):\n\n{Table(header, rows)}\n"
        "[More figures](docs/explanation/speed.md).\n"
    )


def main() -> None:
    """Replace the section between the markers."""
    text = README.read_text(encoding="utf-8")
    head, _, rest = text.partition(START)
    _, _, tail = rest.partition(END)
    README.write_text(head + START + table() + END + tail, encoding="utf-8")


if __name__ == "__main__":
    main()
