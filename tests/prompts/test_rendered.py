"""What programs that show answers make of them: no link gets an original.

Random texts of the parts of links are restored and shown by five programs, whose pages
are read as browsers read them.
"""

import json
import random
from urllib.parse import urlsplit

import html5lib
import markdown
import mistune
import pytest
from markdown_it import MarkdownIt

import mondegreen as mg

PARTS = (
    "![y](", "[x](", "](", "(", ")", "<", "< ", ">", "//evil.example/?q=", "a", "b ",
    "https://evil.example/", "http:evil.example", "evil.example/", "www.evil.example",
    " ", " ", "\n", "\n\n", "@", "@", "@", "\\", "`", "``", "```\n", '"', "'", "[x]: ",
    "<img src=", "<img alt=", "<a href=", ' src="//evil.example/ ', "\n[x]: ", "[", "]",
    "\n[x]: <", "[^1]: ", "![x]", "[x]", "> ", "\n> ", "- ", "\n- ", "    ", "\t", "</",
    "<!--", "-->", "=", ".", ":", "&#47;", "&sol;", "{", "}", "{:", "|", "*", "**", "_",
    "\n|--|--|\n", "#", "\n# ", "1. ", "<title>", "</title>", "<![CDATA[", "]]>", "<?",
    "?>", "<textarea>", "</textarea>", "<svg>", "<math>", "<b>", "</b>", "<a b='", "$",
    '<a b="', "@.evil.example", "x@evil.example", "&lt;", "&quot;", ' "', " '", "\\\n",
    "  \n", "~~~\n", "(<", "(\n<", "\f", "\u00a0", "<p>", "<br/>", "<base href=", "ftp://",
    "<form action=", "mailto:",
)  # fmt: skip
OWN = "https://okonkwo.example/okonkwo"
HIDDEN = frozenset("<>()[]:/\\\"'`\n\t\f\u00a0!&=. ")
"""What is written as an escape of JSON."""
SHOWN = ("alt", "class", "id", "lang", "title")  # attributes that load nothing


def _extras(text):
    return markdown.markdown(text, extensions=["extra", "nl2br"])


PLUGINS = ["url", "footnotes", "table", "strikethrough", "task_lists", "def_list"]
LINKIFY = {"html": True, "linkify": True, "typographer": True}
PROGRAMS = (
    MarkdownIt("commonmark", {"html": True}).render,
    MarkdownIt("gfm-like", LINKIFY).render,
    mistune.create_markdown(escape=False, plugins=PLUGINS),
    _extras,
    str,  # it is HTML
)


def _is_sent(page, private):
    """Whether a page has the original in what loads something, or links to it."""
    elements = html5lib.parse(page, namespaceHTMLElements=False).iter()
    for element in elements:
        tag = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else "http"
        if tag.startswith("http"):
            continue  # a comment, or an address that reads like a tag
        for name, value in element.attrib.items():
            if name in SHOWN or value.startswith("mailto:"):
                continue
            if "konkwo" in f"{name}{value}".lower() and not _is_own(value, private):
                return True
        if "konkwo" in tag.lower():
            return True
    return False


def _is_own(value, private):
    """Whether an address leads to the host that it was the user's to name."""
    try:
        host = urlsplit(value.strip().lower()).netloc
    except ValueError:
        return False
    return private == OWN and host == "okonkwo.example"


def _as_text(conversation, text, _):
    return conversation.restore(text)


def _in_links(conversation, text, _):
    restorer = conversation.restorer(in_links=True)
    return restorer.feed(text) + restorer.end()


def _as_json(conversation, text, rng):
    """Restore the text as a string of an object in JSON, and read this object."""
    written = json.dumps(text, ensure_ascii=rng.random() < 0.5)[1:-1]
    if rng.random() < 0.5:
        written = "".join(
            f"\\u{ord(c):04x}"
            if c in '"\\' or (c in HIDDEN and rng.random() < 0.8)
            else c
            for c in text
        )
    restored = conversation.restore(f'Here:\n{{"a": 1, "b": "{written}"}}')
    return json.loads(restored[len("Here:\n") :], strict=False)["b"]


def _find(conversation, private, write):
    """Show 5,000 texts: how many are restored, and which of them send an original."""
    rng, sent = random.Random(7), conversation.hide(private)
    restored, leaks = 0, []
    for _ in range(5000):
        text = "".join(rng.choices(PARTS, k=rng.randint(2, 13))) + rng.choice(" @@@")
        text = text.replace("x@", "x\0").replace("@", sent).replace("\0", "@")
        shown = write(conversation, text, rng)
        restored += "konkwo" in shown.lower()
        if "konkwo" in shown.lower() and any(
            _is_sent(page, private) for page in _pages(shown)
        ):
            leaks.append(shown)
    return restored, leaks


def _pages(text):
    for show in PROGRAMS:
        try:
            yield show(text)
        except (AttributeError, IndexError, RecursionError, ValueError):
            continue  # what a program cannot read, it does not show


@pytest.mark.slow("shows thousands of texts in five programs", seconds=25)
@pytest.mark.parametrize("private", ["Okonkwo", OWN])
@pytest.mark.parametrize("write", [_as_text, _as_json])
def test_no_program_that_shows_an_answer_sends_an_original(private, write):
    with mg.conversation(policy="names") as c:
        restored, leaks = _find(c, private, write)
    assert leaks == []
    assert restored > 100


@pytest.mark.slow("shows thousands of texts in five programs", seconds=10)
def test_originals_in_links_would_be_seen():
    with mg.conversation(policy="names") as c:
        assert len(_find(c, "Okonkwo", _in_links)[1]) > 100
