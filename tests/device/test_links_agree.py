"""Python and the client in JavaScript find the same links in answers."""

from __future__ import annotations

import gzip
import json
import secrets
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from mondegreen.policy.scope import Surrogates
from mondegreen.prompts.conversation import Conversation
from vectors.device import conversation_vectors as vectors

CLIENT = Path(__file__).parents[2] / "clients" / "js"
NODE = shutil.which("node")
COUNT = 1500
SAID = "Okonkwo of okonkwo-bank.com paid $48,213.57 on 12/03/1985, phone 020-7946-0958"
RESTORE = """
import { readFileSync } from "node:fs";
const { module, artifact, key, said, answers } = JSON.parse(readFileSync(0, "utf8"));
const { load } = await import(module);
const bytes = (hex) => Uint8Array.from(Buffer.from(hex, "hex"));
const names = load(new Uint8Array(readFileSync(artifact)));
const conversation = names.begin({ key: bytes(key) });
const sent = conversation.hide(said);
const shown = answers.map((answer) => conversation.restore(answer));
process.stdout.write(JSON.stringify({ sent, shown }));
"""
pytestmark = [
    pytest.mark.skipif(NODE is None, reason="node is not installed"),
    pytest.mark.skipif(not CLIENT.is_dir(), reason="clients/js is not here"),
]


@pytest.mark.slow("restores 1,500 answers in two languages")
def test_python_and_the_client_restore_the_same_answers_made_of_links(tmp_path):
    packed = vectors.PATH.with_name("names.mdg.gz").read_bytes()
    (tmp_path / "names.mdg").write_bytes(gzip.decompress(packed))
    key, seed = secrets.token_bytes(32), secrets.randbits(32)
    c = Conversation("names")
    c._surrogates = Surrogates(c.policy, key)
    sent = c.hide(SAID)
    answers = list(vectors.links(sent, np.random.default_rng(seed), COUNT))
    given = {
        "module": (CLIENT / "dist" / "conversation.js").as_uri(),
        "artifact": str(tmp_path / "names.mdg"),
        "key": key.hex(),
        "said": SAID,
        "answers": answers,
    }
    done = subprocess.run(
        [NODE, "--input-type=module", "-e", RESTORE],
        input=json.dumps(given).encode(),
        capture_output=True,
        check=True,
    )
    found = json.loads(done.stdout)
    shown = [c.restore(answer) for answer in answers]
    assert sum(a != b for a, b in zip(answers, shown, strict=True)) > COUNT // 15
    assert found["sent"] == sent
    differing = [
        (answer, ours, theirs)
        for answer, ours, theirs in zip(answers, shown, found["shown"], strict=True)
        if ours != theirs
    ]
    assert not differing, (seed, differing[:3])
