"""Write the speed section of the README from the result files."""

from __future__ import annotations

import json

from benchmarks import machine

README = machine.ROOT / "README.md"
START = "<!-- speed: written by benchmarks/pages/readme_table.py -->\n"
END = "<!-- /speed -->"


def table() -> str:
    """Return the section as Markdown."""
    imdb = json.loads((machine.RESULTS / "privatize_imdb.json").read_text())
    large = json.loads((machine.RESULTS / "privatize_one_gigabyte.json").read_text())
    runs = imdb["runs"]
    words = next(iter(runs.values()))["words"]
    lines = [
        f"12,000 real reviews ({words / 1e6:.1f} million words), Parquet to Parquet, "
        f"whole process, {imdb['machine']['cores']} cores, "
        f"{imdb['machine']['processor']}:",
        "",
        "| mechanism | jobs | words a second | peak memory, all processes |",
        "|---|---|---|---|",
    ]
    for run in runs.values():
        lines.append(
            f"| `{run['mechanism']}`, epsilon {run['epsilon']:g} | {run['jobs']} | "
            f"{run['words_per_second']:,} | {run['peak_mib']:,} MiB |"
        )
    noisy = {
        run["mechanism"]: run
        for run in runs.values()
        if "search_alone_per_second" in run
    }
    lines += [
        "",
        f"`laplace` searches the nearest of 33,860 words for every noisy point, `brr` "
        f"the nearest of as many codes. Exact search alone reached "
        f"{noisy['laplace']['search_alone_per_second']:,} and "
        f"{noisy['brr']['search_alone_per_second']:,} a second in the same run; the "
        f"whole way from file to file is at "
        f"{noisy['laplace']['share_of_search_alone']:.0%} and "
        f"{noisy['brr']['share_of_search_alone']:.0%} of that.",
        "",
        f"A CSV of {large['input_bytes'] / 1e9:.2f} GB passed under a cap of "
        f"{large['cap_bytes_per_process'] / 1e9:.1f} GB, at a peak of "
        f"{large['peak_mib_all_processes']:,} MiB over all processes and "
        f"{large['megabytes_per_second']:.0f} MB/s (`tree`, epsilon 10, 2 jobs).",
        "",
        "Scripts and results: [benchmarks](benchmarks). Machines are noisy; compare "
        "ratios of one run.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Replace the section between the markers."""
    text = README.read_text(encoding="utf-8")
    head, _, rest = text.partition(START)
    _, _, tail = rest.partition(END)
    README.write_text(head + START + table() + END + tail, encoding="utf-8")


if __name__ == "__main__":
    main()
