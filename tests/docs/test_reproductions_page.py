"""The page on the papers says what its results hold, and these are of the recipes."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import xml.etree.ElementTree as ET

import pyarrow.parquet as pq
import pytest

from benchmarks.measure import reproductions as measured
from benchmarks.pages import reproductions_charts as drawings
from benchmarks.pages import reproductions_equal as equal
from benchmarks.pages import reproductions_page as page
from benchmarks.pages import reproductions_puc as composite
from benchmarks.pages import reproductions_rows as stored
from benchmarks.pages.page import DOCS, filled
from mondegreen.report.charts import picture
from mondegreen_experiments.kept import Run
from mondegreen_experiments.papers import NAMES, recipe_named
from mondegreen_experiments.recipe import Published, Recipe, Shape
from mondegreen_experiments.result import HOLDS, NEAR, UNTOLD, Result

RESULTS = json.loads(stored.RESULT.read_text("utf-8"))["results"]
IDS = [f"{row['recipe']}-{row['scale']}" for row in RESULTS]
TEXT = (DOCS / page.PAGE).read_text(encoding="utf-8")
DETAILS = (DOCS / page.EXPERIMENTS).read_text(encoding="utf-8")


def told(drawn: bytes) -> list[str]:
    """Return every text of a drawing, with what its markers tell."""
    return [each.text for each in ET.fromstring(drawn).iter() if each.text]


@pytest.mark.slow("draws all figures")
def test_figures_are_those_of_the_results_and_on_the_page() -> None:
    charts = drawings.charts(stored.load())
    assert {path.name for path in page.ASSETS.glob("reproductions-*")} == set(charts)
    for name, chart in charts.items():
        drawn = picture(chart, for_page=True)
        assert told((page.ASSETS / name).read_bytes()) == told(drawn)
        assert f"(assets/{name})" in DETAILS


def test_what_everybody_reads_is_short() -> None:
    assert len(page.in_short().partition("\n")[0].split()) <= 120
    prose = [line for line in TEXT.splitlines() if not line.startswith("|")]
    assert len(" ".join(prose).split()) <= 1200


@pytest.mark.slow("a page")
def test_the_page_of_experiments_is_that_of_the_results() -> None:
    tables = {**page.DETAILS, "experiments": page.experiments}
    assert filled(DETAILS, tables) == DETAILS


@pytest.mark.parametrize("row", RESULTS, ids=IDS)
def test_a_result_is_what_its_runs_and_its_recipe_give(row) -> None:
    """Claims, tolerances and words are those of today: else, measure it again."""
    recipe = recipe_named(row["recipe"])
    runs = measured.runs_in(measured.RUNS, recipe, row["scale"])
    grid = len(recipe.points[row["scale"]]) * recipe.seeds[row["scale"]]
    assert len(runs) == grid
    result = measured.rounded(Result.of(recipe, runs).to_dict())
    result = json.loads(json.dumps(result))
    kept = {name: value for name, value in row.items() if name in result}
    assert kept == result


def test_every_experiment_was_measured_and_sixty_numbers_stand_side_by_side() -> None:
    rows = stored.load()
    assert stored.absent(rows) == []
    assert len(stored.compared(rows)) >= 60
    assert equal.equal_reader(rows) != equal.ABSENT
    assert {recipe_named(name).name.partition("-")[0] for name in NAMES} <= set(
        stored.ROOMS
    )


def measure(bench, point, seed):
    """Give ``y``.

    It is a line.
    """


def made_up(name: str, value: float, holds: bool) -> dict[str, object]:
    recipe = Recipe(
        name=name,
        paper="Nobody 2026",
        title="A line",
        differs="All | of it costs $1.",
        measure=measure,
        points={"quick": [{"law": "CMP", "epsilon": 1}, {"law": "none", "epsilon": 0}]},
        seeds={"quick": 2},
        axes=("epsilon", "law", "y"),
        published=[
            Published("Table 1", {"epsilon": 1.0, "law": "CMP"}, "y", 0.5, 0.1),
            Published("Table 1", {"epsilon": 9, "law": "CMP"}, "y", 0.5, 0.1),
            Published("Table 2", {"epsilon": 1, "law": "CMP"}, "y", 1, 0.1, "dust"),
        ],
        shapes=[
            Shape("TEM, figure 1", "it rises", lambda table: holds, name="rises"),
            Shape("TEM, figure 1", "it is so", lambda table: True, name="is-so"),
            Shape("Ours", "it is there", lambda table: False),
        ],
    )
    runs = [
        Run(point, seed, {"y": value, "said": "a word"}, 1.5)
        for point in recipe.points["quick"]
        for seed in range(2)
    ]
    about = {"processor": "p", "cores": 2, "python": "3", "versions": {"torch": "2"}}
    told = Result.of(recipe, runs).to_dict()
    return {"scale": "quick", **json.loads(json.dumps(told)), "machine": about}


@pytest.fixture
def results(monkeypatch, tmp_path):
    """Results that a test makes up, in place of those of the repository."""
    path = tmp_path / "reproductions.json"
    monkeypatch.setattr(stored, "RESULT", path)

    def use(*rows):
        path.write_text(json.dumps({"results": rows}), encoding="utf-8")

    return use


def test_the_first_paragraph_says_what_was_found(results) -> None:
    results(made_up("cmp-words", 0.5, True), made_up("across-accuracy", 0.9, False))
    found = page.in_short()
    assert "Of 4 tests of their claims, 3 hold here, 1 does not hold, and 0" in found
    assert "4 numbers of the papers stand beside ours: 1 agree, 1 differ, 2" in found
    assert (
        "| **TEM**, Silva Carvalho et al. 2023, its poster | 3 | 1 | 0 | 0 |" in found
    )
    assert "cmp-auditor" in found.partition("Not measured yet: ")[2]
    assert "We made 2 experiments: 2 test claims of five papers, and 0 are" in found


def test_what_is_set_aside_is_counted_by_where_our_interval_lies(results) -> None:
    row = made_up("cmp-words", 0.5, True)
    claim, ends = row["claims"][0], ((1, 2), (0.5, 0.5), (-2, -1), (-1, 1), (-1, 1))
    margins = [{"value": 0, "low": a, "high": b, "runs": 3} for a, b in ends]
    untold = {**claim, "verdict": UNTOLD}
    row["claims"] = [
        *({**untold, "margin": each, "why": "other vectors"} for each in margins),
        {**untold, "margin": None, "why": "our words"},
        {**untold, "margin": margins[-1], "why": NEAR},
        {**claim, "margin": margins[0], "verdict": HOLDS},
    ]
    row["claims"].append({**row["claims"][0], "where": "Ours"})
    results(row)
    found = page.in_short()
    assert "1 hold here, 0 do not hold, and 7 cannot be told here" in found
    assert "we set 6 aside by" in found
    assert "without it, 2 would hold, 1 would not, and 3 could not be told." in found


def test_every_claim_of_a_paper_has_an_address_that_a_citation_names() -> None:
    known = [
        stored.cited(row, claim) for row in stored.load() for claim in claims_of(row)
    ]
    assert len(set(known)) == len(known) > 60
    for each in known:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)+/[a-z0-9]+(-[a-z0-9]+)*", each)
        assert TEXT.count(f'<a id="{each}"></a>`{each}`: [') == 1
    ids = {line[0] for line in stored.judged().rows} - {""}
    assert ids == {
        stored.cited(row, claim) for row in RESULTS for claim in claims_of(row)
    }


def claims_of(row):
    return [each for each in row["claims"] if not each["where"].startswith("Ours")]


def test_a_citation_names_the_days_and_the_digest_of_the_results(results) -> None:
    first, last = (made_up(name, 0.5, True) for name in ("cmp-words", "tem-cost"))
    for row, day in ((first, "2026-01-02"), (last, "2026-01-05")):
        row["machine"] = {"versions": {"mondegreen": "9.8.7"}, "date": day}
    results(first, last)
    digest = hashlib.sha256(stored.RESULT.read_bytes()).hexdigest()
    found = page.cite()
    assert "of mondegreen 9.8.7, measured from 2026-01-02 to 2026-01-05" in found
    assert f"`{digest}`" in found
    results(first)
    assert "measured on 2026-01-02" in page.cite()
    assert digest not in page.cite()


def test_a_claim_stands_with_the_numbers_of_its_paper_and_the_reason(results) -> None:
    row = made_up("cmp-words", 0.5, True)
    margin = {"value": 0.1, "low": -0.2, "high": 0.4, "runs": 3}
    near = {"margin": margin, "printed_margin": 0.25, "verdict": "cannot be told here"}
    near["printed"] = [{"point": {"x": 1}, "measures": {"y": 0.75}}]
    row["claims"][0].update(near, how="by far")
    row["claims"][1].update(near, why="other vectors", source="recomputed by us")
    results(row)
    found = page.papers()
    assert "### TEM: Silva Carvalho et al. 2023" in found
    ours, told = "0.1 (-0.2 to 0.4)", "*cannot be told here*"
    assert '<a id="cmp-words/rises"></a>`cmp-words/rises`: [it rises](' in found
    tested = "(TEM, figure 1; quick scale). Test: by far | 0.75: 0.25 | *not counted:*"
    assert f"{tested} {ours} | {told} | – |" in found
    aside = f"scale) | 0.75 (recomputed by us): 0.25 | *not counted:* {ours} | {told} |"
    assert f"{aside} other vectors |" in found
    assert "it is there" not in found  # ours
    row["claims"][0]["why"] = NEAR  # not set aside: the interval decides
    results(row)
    assert f"by far | 0.75: 0.25 | {ours} | {told} |" in page.papers()


def test_a_claim_that_holds_within_the_allowance_says_so(results) -> None:
    row = made_up("cmp-words", 0.5, True)
    claim = row["claims"][0]
    margin = {"value": 0.05, "low": 0.04, "high": 0.06, "runs": 3}
    claim.update(margin=margin, verdict=HOLDS)
    for how, allowed in (
        ("it rises overall, and no step falls by more than 0.05", 0.05),
        ("above in the mean, and nowhere below it by more than 0.01", 0.01),
        ("nowhere more by 1 in 100", 1.0),
        ("and nowhere the smaller one by 0.06", 0.06),
        ("it is above 3", None),
    ):
        claim["how"] = how
        is_within = allowed is not None and allowed >= 0.04
        assert stored.allowance(row, claim) == allowed
        assert stored.is_within(row, claim) is is_within
        results(row)
        assert ("holds (within the allowance)" in page.papers()) is is_within
        assert ("(1 of them only [within" in page.in_short()) is is_within
    row["points"] = [{"measures": {"s_w": {"value": each}}} for each in (50, 10)]
    claim["how"] = "it falls overall, and no step rises by more than 2 % of the largest"
    assert stored.allowance(row, claim) == 1.0


def test_every_allowance_of_a_claim_that_holds_is_known() -> None:
    steps = [
        (row, each)
        for row in stored.load()
        for each in stored.claims([row])
        if each["verdict"] == HOLDS
        if re.search("step|nowhere|never", each["how"])
    ]
    assert len(steps) > 10
    assert all(stored.allowance(*each) is not None for each in steps)


def test_orders_stand_by_what_is_set_equal(results, monkeypatch) -> None:
    row = made_up("cmp-words", 0.5, True)
    margin = {"value": 0.1, "low": 0.05, "high": 0.15, "runs": 3}
    axes = ("words that stay", "words that a reader recovers")
    row["claims"] = [
        {
            "claim": f"TEM leaves more accuracy than CMP at equal {axis}",
            "where": "Ours, order of TEM",
            "verdict": verdict,
            "margin": known,
        }
        for axis, verdict, known in zip(
            axes, ("holds", "cannot be told here"), (margin, None), strict=True
        )
    ]
    monkeypatch.setattr(page, "AXES_OF", "cmp-words")
    results(row)
    found = page.orders()
    assert f"| order | equal {axes[0]} | equal {axes[1]} |" in found
    assert "of 2 comparisons of published mechanisms 1 hold, 0 do not" in found
    line = "| TEM leaves more accuracy than CMP | holds: 0.1 (0.05 to 0.15) "
    assert f"{line}| *cannot be told here*: one of the two is above all" in found
    row["claims"] = [
        {**each, "claim": f"SynTF leaves more accuracy than CMP at equal {axis}"}
        for each, axis in zip(
            row["claims"],
            (axes[0], "sensitive words that a reader recovers"),
            strict=True,
        )
    ]
    results(row)
    found = page.orders()
    assert "of 1 comparisons of published mechanisms 1 hold" in found
    assert "| – (two lists of sensitive words) |" in found
    monkeypatch.setattr(page, "AXES_OF", "nothing")
    assert page.orders() == "Not measured yet.\n"


def test_of_many_numbers_of_a_paper_their_range_is_shown() -> None:
    claim = {"printed": [{"measures": {"y": y}} for y in (5, 1, 3)]}
    claim["source"] = "printed"
    assert page._printed({**claim, "printed_margin": 0.5}) == "5, 1, 3: 0.5"
    claim["printed"] *= 2
    found = page._printed({**claim, "printed_margin": 0.5})
    assert found == "6 numbers, 1 to 5: 0.5"
    assert page._printed({"printed": []}) == "–"


def test_a_section_says_what_holds_what_agrees_and_why_not(results) -> None:
    results(made_up("cmp-words", 0.9, True))
    found = page.experiments()
    assert "## CMP: Feyisetan et al. 2020" in found
    assert "| it rises | TEM, figure 1 | – | – | holds |" in found
    assert "| it is there | Ours | – | – | **does not hold** |" in found
    number = "law=CMP, epsilon=1 | `y` | {} ± 0.1 | 0.9 |"
    assert f"{number.format(0.5)} **differs** |" in found
    assert f"{number.format(1)} *cannot be told* (1) |" in found
    assert "epsilon=9" not in found  # not measured
    assert "Why: (1) dust." in found
    assert "What is measured: Give `y`. It is a line." in found
    assert "| law=CMP, epsilon=1 | said | a word |" in found
    assert "All \\| of it costs &#36;1." in found
    assert "`mondegreen reproduce cmp-words --scale full`" in found
    first, last = (list(row)[-2:] for row in stored.numbers().rows)
    assert (first, last) == (["differs", ""], ["cannot be told here", "dust"])
    claimed = stored.judged().rows[0]
    assert len(claimed) == len(stored.judged().header)
    assert len(stored.cells().rows[0]) == len(stored.cells().header)


def test_the_full_scale_is_shown_where_it_was_measured(results) -> None:
    quick = made_up("cmp-words", 0.5, True)
    results({**quick, "scale": "full", "title": "All of it"}, quick)
    (row,) = stored.load()
    assert row["title"] == "All of it"


def test_curves_are_laws_and_no_noise_is_a_limit() -> None:
    row = made_up("cmp-words", 0.5, True)
    (chart,) = drawings.charts([row]).values()
    assert [line.name for line in chart.lines] == ["CMP"]
    assert chart.limit == ("without noise", 0.5)
    (point,) = chart.lines[0].points
    assert (point.x, point.estimate) == ((1, 1), 0.5)
    mean = {"value": 1, "low": 0, "high": 2, "runs": 2}
    many = [
        {"point": {"law": law, "epsilon": 1, "dim": dim}, "measures": {"y": mean}}
        for law in "abcde"
        for dim in (50, 300)
    ]
    (chart,) = drawings.charts([{**row, "points": many}]).values()
    assert [line.name for line in chart.lines] == list("abcde")
    assert chart.x.label == "epsilon (dim 50)"
    (chart,) = drawings.charts([{**row, "points": many[:6]}]).values()
    assert [line.name for line in chart.lines][:2] == ["a, dim 50", "a, dim 300"]
    for each in many:
        each["point"]["data"] = "news" if each["point"]["dim"] == 50 else "films"
    (chart,) = drawings.charts([{**row, "points": many[:6]}]).values()
    assert [line.name for line in chart.lines][:2] == ["a, news", "a, films"]


def equal_row():
    """Two kinds of texts, of which one is known at one level alone."""

    def near(value):
        return {"value": value, "low": value - 0.05, "high": value + 0.05, "runs": 3}

    def at(law, level, value, by="words a reader recovers", data="news", read=None):
        epsilon = {"value": 7.0, "low": 7.0, "high": 7.0, "runs": 3}
        point = {"by": by, "law": law, "level": level, "data": data}
        measures = {"accuracy": near(value)}
        if level:
            measures |= {"epsilon": epsilon, "accuracy_read": near(read or value)}
        return {"point": point, "measures": measures, "texts": {}}

    return {
        "recipe": "benchmark-equal",
        "scale": "quick",
        "axes": ["level", "law", "accuracy"],
        "points": [
            at("CMP", 0.5, 0.6),
            at("TEM", 0.5, 0.8),
            at("TEM", 0.3, 0.5),
            at("BRR", 0.3, 0.42),
            at("SynTF", 0.3, 0.3, read=0.9),
            at("CMP", 0.3, 0.99, by="nominal epsilon"),
            at("none", 0, 0.9, by="clear text"),
            at("BRR", 0.4, 0.7, data="films"),
        ],
    }


def test_the_best_mechanism_is_named_with_those_that_are_like_it() -> None:
    row = equal_row()
    said = equal.equal_sentence([row])
    assert "30%, 40% or 50% of the words" in said
    assert "on news and films. In 0 of 6 comparisons, at least 4" in said
    assert "TEM or BRR (news, 30% of the words); TEM (news, 50%" in said
    assert "SynTF (news, 30% of the words, decoded word by word)" in said
    assert equal.equal_sentence([{**row, "axes": None}]) == said
    assert equal._named(["a"]) == "a"
    assert equal._named(["a", "b", "c"]) == "a, b or c"
    assert equal.equal_sentence([]) == ""


def test_mechanisms_stand_side_by_side_at_equal_success_of_a_reader(
    monkeypatch, results
) -> None:
    row = equal_row()
    lines = equal.equal_reader([row]).splitlines()
    found = [line for line in lines if line.startswith("| ") and "---" not in line]
    assert found == [
        "| news | accuracy, 30% | read, 30% | epsilon, 30% | accuracy, 50% "
        "| read, 50% | epsilon, 50% |",
        "| TEM | 0.5 (0.45 to 0.55) | 0.5 (0.45 to 0.55) | 7 "
        "| 0.8 (0.75 to 0.85) | 0.8 (0.75 to 0.85) | 7 |",
        "| BRR | 0.42 (0.37 to 0.47) | 0.42 (0.37 to 0.47) | 7 | – | – | – |",
        "| SynTF | 0.3 (0.25 to 0.35) | 0.9 (0.85 to 0.95) | 7 | – | – | – |",
        "| CMP | – | – | – | 0.6 (0.55 to 0.65) | 0.6 (0.55 to 0.65) | 7 |",
        "| films | accuracy, 40% | read, 40% | epsilon, 40% |",
        "| BRR | 0.7 (0.65 to 0.75) | 0.7 (0.65 to 0.75) | 7 |",
    ]
    assert lines.count("Without noise: 0.9 (0.85 to 0.95).") == 1
    assert equal.equal_reader([]) == equal.ABSENT
    results(row)
    monkeypatch.setattr(stored, "NAMES", ["benchmark-equal"])
    table = equal.every()
    assert [line[1] for line in table.rows].count("CMP") == 2
    assert table.header[-2:] == ["accuracy, low", "accuracy, high"]


def puc_row(*releases):
    """Releases of news: law, epsilon, dimension, and PUC at three alphas."""

    def near(value):
        return {"value": value, "low": value - 2, "high": value + 2, "runs": 3}

    points = [
        {
            "point": {"texts": "news", "law": law, "epsilon": epsilon, "dim": dim},
            "measures": dict(zip(composite.ALPHAS, map(near, found), strict=True)),
        }
        for law, epsilon, dim, *found in releases
    ]
    return {"recipe": composite.NAME, "points": points}


def test_releases_are_ranked_by_puc_at_each_alpha() -> None:
    row = puc_row(
        ("CMP", 1, 50, 80, 60, 40),
        ("none", 0, 50, 40, 61, 80),
        ("TEM", 5, 50, 50, 70, 79),
        ("TEM", 5, 300, 99, 99, 99),  # of other dimensions
    )
    found = composite.puc_by_alpha([row]).splitlines()
    assert found[0] == (
        "Best on news: at alpha 0.25 CMP, epsilon 1 (0 others reach into its "
        "interval); at alpha 0.5 TEM, epsilon 5 (0 others reach into its interval); "
        "at alpha 0.75 without noise (1 others reach into its interval)."
    )
    assert [line for line in found if line.startswith("| ") and "---" not in line] == [
        "| news | place: PUC, alpha 0.25 | place: PUC, alpha 0.5 "
        "| place: PUC, alpha 0.75 |",
        "| TEM, epsilon 5 | 2: 50 (48 to 52) | 1: 70 (68 to 72) | 2: 79 (77 to 81) |",
        "| without noise | 3: 40 (38 to 42) | 2: 61 (59 to 63) | 1: 80 (78 to 82) |",
        "| CMP, epsilon 1 | 1: 80 (78 to 82) | 3: 60 (58 to 62) | 3: 40 (38 to 42) |",
    ]
    assert composite.puc_by_alpha([]) == composite.ABSENT


def test_a_curve_may_be_over_what_was_measured() -> None:
    row = {**made_up("cmp-words", 0.5, True), "axes": ["x", "law", "y"]}
    mean = {"value": 1, "low": 0, "high": 2, "runs": 2}
    row["points"] = [
        {
            "point": {"law": "CMP", "epsilon": epsilon},
            "measures": {"y": mean, "x": {**mean, "value": value}},
        }
        for epsilon, value in ((3, 0.1), (2, 0.4), (1, 0.2))
    ]
    (chart,) = drawings.charts([row]).values()
    assert [point.x[0] for point in chart.lines[0].points] == [0.2, 0.4, 0.1]


def test_results_that_are_measured_again_take_the_place_of_the_old(
    monkeypatch, tmp_path
) -> None:
    monkeypatch.setattr(measured, "RESULT", tmp_path / "r.json")
    monkeypatch.setattr(measured, "RUNS", tmp_path / "r.parquet")
    first, second = (
        dataclasses.replace(recipe_named(name), shapes=())
        for name in ("cmp-words", "tem-threshold")
    )

    def keep(recipe, scale, value):
        names = {each.measure for each in recipe.published} | {"n_w"}
        runs = [
            Run(dict(point), 0, dict.fromkeys(names, value), 1.0)
            for point in recipe.points[scale]
        ]
        measured.keep_results(scale, [(recipe, runs)], {"cores": 2})
        measured.keep_runs(scale, [(recipe, runs)])

    keep(second, "quick", 0.25)
    keep(first, "quick", 0.5)
    keep(first, "full", 0.5)
    keep(first, "quick", 0.75)
    found = json.loads(measured.RESULT.read_text())["results"]
    assert [(row["recipe"], row["scale"]) for row in found] == [
        ("cmp-words", "full"),
        ("cmp-words", "quick"),
        ("tem-threshold", "quick"),
    ]
    values = [row["points"][0]["measures"]["n_w"]["value"] for row in found]
    assert values == [0.5, 0.75, 0.25]
    rows = pq.read_table(measured.RUNS).to_pylist()
    assert {(r["recipe"], r["scale"], r["value"]) for r in rows} == {
        ("cmp-words", "full", 0.5),
        ("cmp-words", "quick", 0.75),
        ("tem-threshold", "quick", 0.25),
    }
