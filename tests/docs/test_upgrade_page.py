"""The page on upgrades names the formats that this version writes."""

import re
from pathlib import Path

import pytest

from mondegreen.device.artifact import FORMAT as DEVICE
from mondegreen.language.ngrams import FORMAT as LANGUAGE
from mondegreen.policy.lexicon import FORMAT as POLICY
from mondegreen.privatizer import ledger, release_map, spec
from mondegreen.prompts import conversation, conversation_file
from mondegreen.space.space import CODES_FORMAT
from mondegreen.space.space import FORMAT as SPACE
from mondegreen.space.tree import TREE_FORMAT

ROOT = Path(__file__).resolve().parents[2]
ROWS = {
    cells[1].strip(): cells[2]
    for line in (ROOT / "docs/how-to/upgrade.md").read_text("utf-8").splitlines()
    if line.startswith("| ") and len(cells := line.split("|")) == 5
}
WRITTEN = {
    "policy": [POLICY],
    "settings (`Privatizer.to_dict`)": [spec._FORMAT],
    "ledger": [ledger._MAGIC.decode().strip()],
    "map": [release_map._MAGIC.decode().strip()],
    "artifact for the browser": [DEVICE],
    "space; codes; word tree": [SPACE, CODES_FORMAT, TREE_FORMAT],
    "language model": [LANGUAGE],
}


@pytest.mark.parametrize("name", WRITTEN)
def test_the_page_on_upgrades_names_each_format(name):
    assert re.findall("`([^`]*)`", ROWS[name]) == WRITTEN[name]


def test_the_page_on_upgrades_names_the_formats_of_conversations():
    assert ROWS["a conversation (`to_bytes`)"].strip() == str(conversation._FORMAT)
    own = conversation_file._CHECK.decode().rpartition(" ")[2]
    assert ROWS["file of conversations"].strip() == own


def test_the_page_on_upgrades_copies_the_lists_from_where_they_are():
    import mondegreen

    text = (ROOT / "docs/how-to/upgrade.md").read_text("utf-8")
    (path,) = re.findall(r"/ '([\w/.]+)'", text)
    assert (Path(mondegreen.__file__).parent / path).is_file()
