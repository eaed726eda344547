"""A private search: what leaves, what stays, and what a further step would cost."""

from __future__ import annotations

import inspect
import math
import re
from pathlib import Path

import pytest

import mondegreen as mg
from mondegreen.errors import ConfigurationError, InvalidParameterError, MondegreenError
from mondegreen.prompts.private_search import (
    SecondReleaseError,
    private_search,
    tf_idf_cosine,
)

BASE = [
    "Diabetes is a disease of blood sugar.",
    "Gout is a disease of joints.",
    "A letter to a landlord about heating.",
    "Asthma is a disease of lungs.",
    "Malaria is a disease that mosquitoes carry.",
]
QUERY = "What is gout?"


class Server:
    """Remembers all that it is asked."""

    def __init__(self, base=BASE):
        self.base, self.asked = base, []

    def __call__(self, released, k):
        self.asked.append((released, k))
        return self.base[:k]


def test_the_server_gets_one_released_question_and_a_fixed_number():
    server = Server()
    found = private_search(QUERY, server, epsilon=12.0, fetch=5)
    ((released, k),) = server.asked
    assert (released, k) == (found.released, 5)
    assert len(released.split()) == len(QUERY.split())
    assert found.passages[0].text == BASE[1]
    assert sorted(p.place for p in found.passages) == [0, 1, 2, 3, 4]


def test_what_the_server_sees_depends_on_the_released_question_alone():
    # Two questions of one release: the server could not tell one from the other.
    seen = []
    for query in (QUERY, "What is asthma?"):
        server = Server()
        law = mg.mechanism("urr", epsilon=12.0)
        noise = mg.Seeded(7)
        same = mg.Privatizer(law, policy="sensitive", noise=noise)
        found = private_search(query, server, privatizer=same, fetch=5)
        seen.append((server.asked, found.fetch()))
    assert seen[0] == seen[1]


def test_a_search_that_sends_the_order_on_is_noticed():
    """The test above fails for a search that reads the true order."""
    found = [
        private_search(query, Server(), epsilon=12.0, fetch=5)
        for query in (QUERY, "What is asthma?")
    ]
    assert found[0].fetch() == found[1].fetch()
    orders = [[p.place for p in each.passages] for each in found]
    assert orders[0] != orders[1]


def test_choosing_passages_is_a_second_release_and_says_so_first():
    found = private_search(QUERY, Server(), epsilon=12.0, fetch=5)
    with pytest.raises(SecondReleaseError, match="second release") as error:
        found.send_on([0])
    assert error.value.exit_code == 4
    assert "gout" not in str(error.value).lower()
    sent = found.send_on([2, 0, 1], is_second_release=True)
    assert sent.choices == math.comb(5, 3)
    # Not the true order.
    assert list(sent.values) == [p for p in BASE if p in sent.values]
    with pytest.raises(InvalidParameterError):
        found.send_on([5], is_second_release=True)


def test_the_guarantee_is_that_of_one_release_and_names_its_conditions():
    privatizer = mg.Privatizer(mg.mechanism("urr", epsilon=9.0), policy="names")
    found = private_search(QUERY, Server(), privatizer=privatizer)
    assert found.guarantee.epsilon == 9.0
    assert found.guarantee.word_loss == privatizer.guarantee.word_loss
    said = " ".join(found.guarantee.assumptions)
    assert "second releases" in said
    assert "all of them are fetched" in said


def test_a_model_of_ones_own_orders_the_passages():
    def backwards(query, passages):
        assert query == QUERY
        return range(len(passages))

    found = private_search(
        QUERY,
        lambda released, k: [{"body": text} for text in BASE],
        epsilon=12.0,
        fetch=5,
        score=backwards,
        text_of=lambda value: value["body"],
    )
    assert [p.text for p in found.passages] == BASE[::-1]
    assert found.passages[0].value == {"body": BASE[-1]}


@pytest.mark.parametrize(
    "scores",
    [[1.0], [math.nan] * 5, ["x"] * 5, None],
    ids=["few", "nan", "words", "none"],
)
def test_scores_that_are_no_numbers_are_refused(scores):
    with pytest.raises(MondegreenError):
        private_search(QUERY, Server(), epsilon=9.0, fetch=5, score=lambda q, p: scores)


def test_the_message_of_a_failed_model_is_not_repeated():
    def fails(query, passages):
        raise ValueError(query)

    with pytest.raises(MondegreenError) as error:
        private_search(QUERY, Server(), epsilon=9.0, score=fails)
    assert QUERY not in str(error.value)
    assert error.value.__cause__ is None


def test_a_server_that_returns_too_much_or_no_list_is_refused():
    with pytest.raises(InvalidParameterError, match="at most 2"):
        private_search(QUERY, lambda released, k: BASE, epsilon=9.0, fetch=2)
    with pytest.raises(InvalidParameterError, match="a list"):
        private_search(QUERY, lambda released, k: BASE[0], epsilon=9.0)
    for wrong in (None, 7, b"text", set(BASE[:2]), {"a": 1}):
        with pytest.raises(InvalidParameterError, match="a list"):
            private_search(QUERY, lambda r, k, wrong=wrong: wrong, epsilon=9.0)
    assert not private_search(QUERY, lambda r, k: [], epsilon=9.0).passages


@pytest.mark.parametrize("wrong", [{"t": 1}, 7, None, b"text"])
def test_a_passage_that_is_no_string_needs_text_of(wrong):
    said = (
        f"passage 1 must be a string, or pass text_of= .*; got {type(wrong).__name__}"
    )
    with pytest.raises(InvalidParameterError, match=said):
        private_search(QUERY, lambda r, k: [BASE[0], wrong], epsilon=9.0)
    with pytest.raises(InvalidParameterError, match="text_of of passage 0 must be"):
        private_search(
            QUERY, lambda r, k: BASE[:1], epsilon=9.0, text_of=lambda value: wrong
        )


def test_wrong_arguments_are_refused_before_anything_is_sent():
    server = Server()
    for wrong in ({"fetch": 0, "epsilon": 9.0}, {"fetch": True, "epsilon": 9.0}):
        with pytest.raises(InvalidParameterError):
            private_search(QUERY, server, **wrong)
    with pytest.raises(InvalidParameterError):
        private_search(None, server, epsilon=9.0)
    with pytest.raises(ConfigurationError):
        private_search(QUERY, server)
    assert not server.asked


def test_no_text_is_shown_by_what_is_printed():
    found = private_search(QUERY, Server(), epsilon=12.0)
    for each in (found, found.passages, found.send_on([0], is_second_release=True)):
        assert "disease" not in repr(each)
        assert "gout" not in repr(each)


def test_tf_idf_agrees_with_scikit_learn():
    text = pytest.importorskip("sklearn.feature_extraction.text")
    pattern = {"token_pattern": r"[A-Za-z]+"}
    vectors = text.TfidfVectorizer(**pattern).fit(BASE)
    theirs = (vectors.transform(BASE) @ vectors.transform([QUERY]).T).toarray()[:, 0]
    assert tf_idf_cosine(QUERY, BASE) == pytest.approx(theirs.tolist())


def test_the_public_name_is_the_function():
    assert mg.private_search is private_search
    assert "fetch" in inspect.signature(mg.private_search).parameters


def test_the_code_of_the_page_runs(capsys):
    page = Path(__file__).parents[2] / "docs" / "how-to" / "private-search.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)
    said = capsys.readouterr().out.split("\n")
    assert said[0] == "Gout is a disease of joints."
    assert said[-3].startswith("sending 1 of 3 passages is a second release")
    assert said[-2] == "3"
