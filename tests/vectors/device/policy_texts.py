"""Texts on which a client and this package must agree under a policy: all kinds."""

from __future__ import annotations

import itertools

import numpy as np

from mondegreen.policy.policy import load_policy
from mondegreen.text.structure import LISTED

SHAPES = (
    "0 7 12 31 32 007 1999 2099 1899 00 12,000 3.14 0323-0800-7681-2681 "
    "10:30 7pm 11AM 21st 3rd 80s 1990s 5kg 12GB 4711 "
    "DE89370400440532013000 AB1234 x7 H2O 5² ½ Ⅷ 12345678901234567890 "
    "anna.schmidt+x@example.org @anna_s #hashtag snake_case a.b.c "
    "camelCase https://example.org/a_b/c.pdf?id=7 www.test.co.uk "
    "C:\\Users\\bob 12/05/2021 1/2 31/12 +49 170 5551234 J. R. R. U.S. Dr. "
    "Mr. don't can't I'm we've it's Schmidts' o'clock n't 's <br> &#39; "
    "&amp; <p>Rose</p> * - • a an A An US us May may ROSE Rose 😀 👩‍👩‍👧‍👦 "
    "❤️ ⭐ café CAFÉ naïve Ångström Müller straße STRASSE İstanbul ΟΔΟΣ Ǆ ǅ "
    "ǆ ⓐⓑ ⅧⅨ ª ʕ 𝐀𝐁 𝒂𝒃 東京 שלום مرحبا हिन्दी ไทย Аnna dіabetes ＯＳＬＯ ﬁne d i "
    "a b e t e s zorblax Zorblaxing zorblaxed ZORBLAXLY zorblaxes blorpss "
    "who'll this'd must've aren't THEY'RE I'd you’re a'm house'd zorblax've it'll 1899 "
    "2024-05-12 1999/12/31 31.12.1999 31-12-1999 5/6/2007 1.2.03 31/12/99 92:84 9:30 "
    "10:30:15 9:05:59 10:30pm 9:30AM 10:30\u0301 2024-05-12T10:30 39 amp quot x27 "
    "#39; quot; &lt; &#X201c; &nbsp; s S 1980's 80’s 1990'S 70's'x 0's AT BY BB Will "
    "May Best Hope Dr Tue Jan sat vs "
    "\u1c89x \U0001e030 \x00 \x1b \u200b"
).split(" ")
GAPS = (
    *[" "] * 12,
    "",
    ". ",
    "? ",
    "\n",
    "\r\n",
    ", ",
    ": ",
    "/",
    "-",
    ".",
    "_",
    "@",
    " @",
    "&#39;s ",
    " #39;s ",
    " &amp; ",
    "&quot;",
    ";",
    " #",
    "&",
    "&amp;",
    ".  ",
)
GAPS += (
    "@",
    " @",
    "'",
    "’s ",
    "'s",
    "'S",
    ' "',
    '" ',
    " (",
    ") ",
    "!!! ",
    "…",
    "//",
    "\\",
    "\t",
    ">",
    "--",
)


# Characters of all blocks, and of none; halves of pairs among them.
ANY = (*range(0, 0x3000, 7), *range(0x3000, 0x12000, 101), *range(0x1D400, 0x1FB00, 37))


def texts(count: int, seed: int = 23) -> list[str]:
    """Make texts of known words, in all cases, of shapes, and of anything."""
    rng = np.random.default_rng(seed)
    policy = load_policy("sensitive")
    frequent = list(policy.lexicon.ordinary[:2000])
    pools = [frequent, list(policy.symbols), list(policy.words), SHAPES]
    pools += [list(policy.capitals), list(map(chr, ANY)), list(LISTED)]
    ways = [str.lower, str, str.capitalize, str.upper, str.title, str.swapcase]
    found = ["", " ", "a", "A", ".", "a's", "@anna", "The " * 9, "x" * 300, "É" * 300]
    found += [
        "Ab" * 200,
        "a\n" * 50,
        "in a",
        "an",
        "'' ' '",
        "B " * 60,
        "'s's's's's's",
    ]
    # Many words of one group: a record runs through all that may be printed for it.
    found += [
        " ".join(chr(0x4E00 + i) for i in range(2000)),
        " ".join(policy.words[-120:]),
    ]
    # Numbers beside months, which are printed as valid days.
    found += [
        "14 June, June 14. 3rd Jan, Jan 31st 07 Mar at 10 pm 5 am 08 PM June 10 pm "
        "May 5 30th Sept am " * 8,
        "in May 14 14 May 0 Dec  9 Dec-8 ",
        "Will Smith, May Jones",
        "Will Hope\nMay I\r\nHope so.\nBill Paid \nART HOPE",
        "Best Of New May: Will You See IT",
        "THIS WILL BE BEST, MAY IT",
        "AT&T, Q&A and AT&amp;T&I; THESE&BY, BY&",
        "the U.S. Tax at 5 p.m. The Tue. Evening, Jan.  It; Dr. The sat. The a. The",
        "In the 1980's, the '80s, 90’s 1985's 80'sx 1980's1",
    ]
    found += ["Anna met ANNA, anna and Ａｎｎａ. " * 5, "1/01 2/02 03/03 " * 40]
    while len(found) < count:
        size = int(rng.integers(1, 24))
        shares = rng.dirichlet([3, 1, 1, 1, 0.5, 0.2, 0.1])
        way = ways[int(rng.choice(6, p=[0.3, 0.3, 0.2, 0.08, 0.1, 0.02]))]
        words = []
        for pool in rng.choice(len(pools), size=size, p=shares):
            word = pools[pool][int(rng.integers(len(pools[pool])))]
            words.append(way(word) if rng.random() < 0.8 else word)
        gaps = [GAPS[i] for i in rng.integers(len(GAPS), size=size)]
        found.append("".join(itertools.chain(*zip(words, gaps, strict=True))))
    return found[:count]
