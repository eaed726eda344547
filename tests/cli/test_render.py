"""What the verbs print beside their data."""

from __future__ import annotations

from mondegreen.cli import render


def test_long_work_says_each_minute_how_far_it_is_where_no_terminal_is(
    capsys, monkeypatch
):
    now = [0.0]
    monkeypatch.setattr(render.time, "monotonic", lambda: now[0])
    show = render.shower(quiet=False)
    for second in range(0, 150, 10):
        now[0] = float(second)
        show(f"single words {second}%")
        show("")
    assert capsys.readouterr().err.splitlines() == [
        "single words 60%",
        "single words 120%",
    ]
    quiet = render.shower(quiet=True)
    now[0] = 1000.0
    quiet("anything")
    assert capsys.readouterr().err == ""
