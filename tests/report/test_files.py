"""Figures as files, the same as those of the page."""

import sys
import xml.etree.ElementTree as ET

import pytest
from studies import bare, measurement, study

from mondegreen.errors import DataError, InvalidParameterError, OptionalDependencyError
from mondegreen.report.figures import figures
from mondegreen.report.page import report_html, write_figures


@pytest.mark.slow("draws every figure")
def test_every_figure_becomes_an_svg(tmp_path):
    found = write_figures(study(), tmp_path / "new", "svg")
    assert [path.stem for path in found] == [each.key for each in figures(study())]
    for path in found:
        ET.parse(path)
    again = write_figures(study(), tmp_path / "again", "svg")
    assert [a.read_bytes() for a in found] == [b.read_bytes() for b in again]


@pytest.mark.slow("draws every figure")
def test_every_figure_becomes_a_png(tmp_path):
    odd = measurement("a$b_{w}", spread=0.1)
    found = study(measurements=(odd, measurement("tem", 2.0)), chosen=odd)
    written = write_figures(found, tmp_path, "png")
    assert len(written) == len(figures(found))
    for path in written:
        assert path.read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_the_extra_is_named_and_nothing_written(
    tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(OptionalDependencyError, match=r"'\.\[report\]'"):
        write_figures(study(), tmp_path / "none", "png")
    assert not (tmp_path / "none").exists()


def test_without_the_library_of_the_extra_a_report_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(OptionalDependencyError, match=r"'\.\[report\]'"):
        report_html(study())


def test_another_format_is_refused(tmp_path):
    with pytest.raises(InvalidParameterError, match="png or svg"):
        write_figures(study(), tmp_path, "pdf")


def test_figures_replace_files_only_if_asked(tmp_path, monkeypatch):
    one = figures(study())[:1]
    monkeypatch.setattr("mondegreen.report.figures.figures", lambda _: one)
    write_figures(study(), tmp_path)
    with pytest.raises(DataError, match="already exists"):
        write_figures(study(), tmp_path)
    assert write_figures(study(), tmp_path, force=True)


def test_a_study_of_nothing_writes_nothing(tmp_path):
    assert write_figures(bare(), tmp_path) == []
