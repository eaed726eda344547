"""Conversations of the device client: this package gives the committed vectors."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from mondegreen.policy.scope import Surrogates
from mondegreen.prompts.conversation import Conversation
from mondegreen.text.tokenizer import tokenize
from vectors.device import conversation_vectors as vectors

FOUND = json.loads(gzip.decompress(vectors.PATH.read_bytes()))
CLIENT = Path(__file__).parents[2] / "clients" / "js"


@pytest.mark.slow("another policy", but="names")
@pytest.mark.parametrize("policy", ["names", "sensitive"])
def test_python_hides_and_restores_so(policy):
    rows = [each for each in FOUND["conversations"] if each["policy"] == policy][:8]
    assert len(rows) == 8
    for each in rows:
        c = Conversation(policy, public=[FOUND["public"]])
        assert c.policy.digest == FOUND["policies"][policy]
        words = tokenize([FOUND["public"]]).words()
        key = bytes.fromhex(each["key"])
        c._surrogates = Surrogates(c.policy, key, public=words)
        assert [c.hide(text) for text in each["said"]] == each["sent"]
        assert [c.restore(text) for text in each["answers"]] == each["shown"]


def test_they_hold_what_a_client_could_do_otherwise():
    sent = [text for each in FOUND["conversations"] for text in each["sent"]]
    pairs = [
        (answer, shown)
        for each in FOUND["conversations"]
        for answer, shown in zip(each["answers"], each["shown"], strict=True)
    ]
    assert len(pairs) > 1500
    assert sum(answer != shown for answer, shown in pairs) > 1000
    for names in (vectors.MONTHS, [f"{name[:3]}. " for name in vectors.MONTHS]):
        assert any(
            name in answer and name not in shown
            for name in names
            for answer, shown in pairs
        )
    assert any(not text.isascii() for text in sent)


@pytest.mark.slow("hides and restores them all")
def test_the_file_is_what_the_script_writes():
    path = f"import sys; sys.path[:0] = {sys.path!r}; sys.argv.append('--check')\n"
    code = "from vectors.device import conversation_vectors as v; sys.exit(v.main())"
    done = subprocess.run([sys.executable, "-c", path + code], check=False)
    assert done.returncode == 0, "write it again, if it is meant to differ"


@pytest.mark.skipif(not CLIENT.is_dir(), reason="clients/js is not here")
def test_the_bundle_of_conversations_takes_less_than_33_kilobytes():
    module = (CLIENT / "dist" / "conversation.js").read_bytes()
    assert len(gzip.compress(module, 9)) < 33_000
