"""The site holds the page to try it: byte for byte that of the device client."""

import hashlib
import re
import runpy
from base64 import b64encode
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parents[2]
HOOK = runpy.run_path(str(ROOT / "docs" / "try_page.py"))


def test_the_site_has_the_page_of_the_client():
    settings = {"site_name": "x", "docs_dir": str(ROOT / "docs"), "plugins": []}
    config = MkDocsConfig()
    config.load_dict({**settings, "hooks": [str(ROOT / "docs" / "try_page.py")]})
    assert config.validate() == ([], [])
    (page,) = config.plugins.on_files(Files([]), config=config)
    assert page.src_uri == page.dest_uri == "try.html"
    assert page.content_bytes == HOOK["PAGE"].read_bytes()


def test_the_hook_and_the_links_are_in_use():
    assert "  - docs/try_page.py" in (ROOT / "mkdocs.yml").read_text().splitlines()
    guide = ROOT / "docs" / "how-to" / "privatize-in-the-browser.md"
    assert "](../try.html)" in guide.read_text(encoding="utf-8")


def test_the_page_can_ask_for_nothing_and_runs_its_own_script_alone():
    page = HOOK["PAGE"].read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'; ")
    assert "connect-src 'none'" in policy
    script = page.split('<script type="module">')[1].split("</script>")[0]
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert page.count("data-sample=") >= 3


def test_the_guide_states_its_size():
    import gzip

    page = HOOK["PAGE"].read_bytes()
    sizes = round(len(page) / 1000), round(len(gzip.compress(page, 9)) / 1000)
    guide = (ROOT / "docs/how-to/privatize-in-the-browser.md").read_text("utf-8")
    assert f"{sizes[0]} kB ({sizes[1]} kB compressed)" in guide
