"""Run the commands of docs/how-to/choose-epsilon.md, and write what they print.

Three minutes on two cores; the sample is the public one of disaster tweets. ``--page``
writes the page from the stored result alone.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import machine
from benchmarks.pages import page

PAGE = "how-to/choose-epsilon.md"
PROGRAM = str(Path(sys.executable).with_name("mondegreen"))
SAMPLE = "tweets.parquet"
TARGETS = "--target n_w=0.5 --target bayes_risk=0.4"
OTHERS = "-m calibrated -m tem -m laplace -m brr"
INVENTED = (
    "Huge fire near the old bridge, please stay away!",
    "Just felt an earthquake in Oakland, is everyone ok?",
    "My flight is delayed again and my phone is dying.",
    "The storm took the roof of my neighbour's house.",
)


def run(command: str, folder: Path) -> str:
    """Run one command of the tutorial there; return what it prints."""
    arguments = shlex.split(command)
    assert arguments[0] == "mondegreen"
    done = subprocess.run(
        [PROGRAM, *arguments[1:]],
        cwd=folder,
        env={**os.environ, "MONDEGREEN_HOME": str(folder / "home")},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def measured() -> dict[str, object]:
    """Every command, and what it printed."""
    shown: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(machine.SHARED / "disaster_tweets.parquet", folder / SAMPLE)
        (folder / "private.txt").write_text("\n".join(INVENTED) + "\n")

        def show(label: str, command: str) -> None:
            print(label, flush=True)
            shown[label] = {"command": command, "output": run(command, folder)}

        wanted = f"mondegreen calibrate {SAMPLE} -m calibrated {TARGETS}"
        show("target", wanted)
        chosen = json.loads(run(f"{wanted} --json --quiet", folder))["chosen"]
        epsilon = f"{chosen['epsilon']:.10g}"
        taken = f"-m calibrated -e {epsilon}"
        compared = f"mondegreen calibrate {SAMPLE} --target n_w=0.5 {OTHERS}"
        show("others", f"{compared} --quick")
        show("word", f"mondegreen explain earthquake {taken} --top 5")
        final = f"mondegreen privatize private.txt -o safe.txt {taken}"
        # A seed, so that this page can be made again; nobody should use one.
        run(f"{final} --seed 1 --quiet", folder)
        shown["release"] = {
            "command": final,
            "output": (folder / "safe.txt").read_text(encoding="utf-8"),
        }
    return {"epsilon": epsilon, "texts": list(INVENTED), "shown": shown}


def block(label: str) -> str:
    """A command and what it printed, as on a terminal."""
    shown = result()["shown"][label]
    output = "\n".join(line.rstrip() for line in shown["output"].strip().split("\n"))
    return f"```text\n$ {shown['command']}\n{output}\n```\n"


def releases() -> str:
    """Invented tweets and their release, side by side."""
    stored = result()
    rows = zip(
        stored["texts"], stored["shown"]["release"]["output"].splitlines(), strict=True
    )
    return page.Table(["tweet", "release"], list(rows), text_columns=(1,))


def final() -> str:
    """The command line that the steps end with."""
    return f"```text\n$ {result()['shown']['release']['command']}\n```\n"


def result() -> dict:
    """The stored result."""
    return json.loads((machine.RESULTS / "tutorial_epsilon.json").read_text())


STEPS = ("target", "others", "word")
TABLES = {
    **{step: lambda step=step: block(step) for step in STEPS},
    "releases": releases,
    "final": final,
}


if __name__ == "__main__":
    if "--page" not in sys.argv:
        machine.save("tutorial_epsilon", measured())
    page.fill(PAGE, TABLES)
