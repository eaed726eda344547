"""A dry run: two columns on a terminal, and nowhere else."""

from __future__ import annotations

import json

import pytest

from mondegreen.errors import ConfigurationError
from mondegreen.serve.banner import banner
from mondegreen.serve.dry_run import DryRun, side_by_side

SENT = {"model": "m", "messages": [{"role": "user", "content": "I am Okonkwo."}]}
PRIVATE = {"messages": [{"content": "I am Malacca.", "role": "user"}], "model": "m"}


def test_originals_are_shown_on_a_terminal_alone():
    with pytest.raises(ConfigurationError, match="on a terminal"):
        DryRun(print, is_terminal=False)


def test_what_leaves_stands_beside_what_was_sent():
    shown = []
    dry = DryRun(shown.append, is_terminal=True, width=lambda: 90)
    dry(json.dumps(SENT).encode(), json.dumps(PRIVATE).encode())
    (line,) = [x for x in shown[0].split("\n") if "Okonkwo" in x]
    left, right = line.split(" | ")
    assert "I am Okonkwo." in left
    assert "I am Malacca." in right
    assert max(map(len, shown[0].split("\n"))) <= 90


def test_a_narrow_terminal_shows_both_below_each_other():
    lines = side_by_side(SENT, PRIVATE, 40)
    assert lines.index("YOU SENT") < lines.index("WOULD LEAVE")


def test_no_text_commands_the_terminal():
    odd = {"content": "a\x1b[2Jb\u202ec\x9bd\ne"}
    text = "\n".join(side_by_side(odd, odd, 120))
    assert all(sign.isprintable() or sign == "\n" for sign in text)
    assert "Malacca" not in text


def test_long_lines_are_wrapped_and_none_is_lost():
    long = {"content": "word " * 100}
    lines = side_by_side(long, {"content": ""}, 80)
    half = (80 - 3) // 2
    left = "".join(line[:half].ljust(half) for line in lines[2:])
    assert left.count("word") == 100


@pytest.mark.parametrize("policy", ["all", "names", "sensitive", "own.policy"])
@pytest.mark.parametrize("restores", [True, False])
def test_the_banner_says_what_goes_out_what_stays_and_what_to_read(policy, restores):
    lines = banner(
        "https://user-host.example:8443/v1", restores=restores, policy=policy
    )
    heads = [line.partition(":")[0].strip() for line in lines[1:]]
    assert heads == [
        "Replaced",
        "Unchanged",
        "System",
        "Answers",
        "In memory",
        "Limits",
    ]
    assert "user-host.example:8443" in lines[0]
    assert "--system pass" in lines[3]
    assert ("put back" in lines[4]) == restores
    assert ("the map from surrogates to your words" in lines[5]) == restores


def test_the_banner_names_public_texts():
    shared = {"policy": "names", "restores": True, "has_public_texts": True}
    line = banner("http://x/v1", **shared)[3]
    assert "System:    the texts that --public declares pass unchanged" in line
    assert "as all other messages" not in line
    line = banner("http://x/v1", **shared, public_roles=("system",))[3]
    assert "system messages and the texts that --public declares pass" in line


def test_the_banner_names_roles_that_pass_and_a_dry_run():
    roles = {"public_roles": ("system",), "policy": "names", "restores": True}
    assert "system messages pass unchanged" in banner("http://x/v1", **roles)[3]
    assert "nothing is sent" in banner("http://x/v1", **roles, is_dry=True)[0]
    more = {"detector": "boats 1", "minutes": 5, "audit_log": "a.log"}
    lines = "\n".join(banner("http://x/v1", **roles, **more))
    for said in ("what boats 1 finds", "until 5 minutes", "a.log counts"):
        assert said in lines
