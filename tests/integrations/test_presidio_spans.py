"""Presidio: what of a text is private, what is masked, and what passes in clear."""

from __future__ import annotations

import itertools
import random
import re

import pytest

import mondegreen as mg

pytest.importorskip("presidio_anonymizer")
from presidio_anonymizer import AnonymizerEngine, BatchAnonymizerEngine
from presidio_anonymizer.entities import (
    ConflictResolutionStrategy,
    OperatorConfig,
    RecognizerResult,
)

from mondegreen.errors import ConfigurationError, InvalidParameterError, MondegreenError
from mondegreen.integrations import presidio as adapter
from mondegreen.integrations.presidio import (
    PrivateTextOperator,
    privatize,
    state_guarantee,
)
from mondegreen.text.tokenizer import tokenize

TEXT = "Call Ann Smith in Oslo, or write to ann@smith.org."
ALL = ConflictResolutionStrategy.REMOVE_INTERSECTIONS
WORDS = {word: i for i, word in enumerate(["alpha", "beta", "gamma", "delta"])}


@pytest.fixture(scope="module")
def private():
    return mg.Privatizer(mg.mechanism("tree", epsilon=10.0))


@pytest.fixture(scope="module")
def marked():
    """A privatizer whose words no text has: what is not of it passed in clear."""
    points = [[i] for i in range(4)]
    space = mg.Space.from_arrays("marks", list(WORDS), points)
    return mg.Privatizer(mg.mechanism("tem", epsilon=1.0), space)


@pytest.fixture
def engine():
    engine = AnonymizerEngine()
    engine.add_anonymizer(PrivateTextOperator)
    return engine


def span(start, end, name="PERSON", score=0.8):
    return RecognizerResult(name, start, end, score)


def of(part, name="PERSON", score=0.8, text=TEXT):
    start = text.index(part)
    return span(start, start + len(part), name, score)


def shown(text):
    """A text of marks, each written as *."""
    for word in WORDS:
        text = text.replace(word, "*")
    return text


# The operator


def test_the_operator_privatizes_spans_and_nothing_else(engine, marked):
    operators = {"DEFAULT": OperatorConfig("mondegreen", {"privatizer": marked})}
    found = [of("Ann Smith"), of("Oslo", "PLACE")]
    released = engine.anonymize(TEXT, found, operators).text
    assert shown(released) == "Call * * in *, or write to ann@smith.org."


def test_it_stands_beside_other_operators(engine, marked):
    operators = {
        "PERSON": OperatorConfig("mondegreen", {"spec": None, "epsilon": 10.0}),
        "PLACE": OperatorConfig("replace", {"new_value": "HERE"}),
    }
    released = engine.anonymize(TEXT, [of("Ann"), of("Oslo", "PLACE")], operators).text
    assert released.startswith("Call ")
    assert released.endswith(" Smith in HERE, or write to ann@smith.org.")
    assert engine.get_anonymizers().count("mondegreen") == 1


def test_every_entity_is_drawn_by_itself(engine):
    text = " ".join(["Oslo"] * 60)
    places = [span(5 * i, 5 * i + 4, f"T{i % 2}") for i in range(60)]
    config = {"DEFAULT": OperatorConfig("mondegreen", {"epsilon": 8.0})}
    words = engine.anonymize(text, places, config).text.split()
    assert len(words) == 60
    assert len(set(words)) > 5


def test_settings_are_prepared_once_in_a_process(engine, monkeypatch):
    built = []
    init = mg.Privatizer.__init__
    monkeypatch.setattr(
        mg.Privatizer, "__init__", lambda *a, **k: (built.append(1), init(*a, **k))[1]
    )
    config = {"DEFAULT": OperatorConfig("mondegreen", {"epsilon": 8.765})}
    for _ in range(3):
        engine.anonymize(TEXT, [of("Ann"), of("Oslo")], config)
    assert len(built) == 1


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"epsilom": 1.0}, "no setting named 'epsilom'"),
        ({"epsilon": 1.0, "seed": 1}, "no setting named 'seed'"),
        ({"epsilon": 1.0, "key_env": "KEY"}, "cannot use a key"),
        ({"privatizer": 1, "epsilon": 1.0}, "holds all"),
        ({}, "needs epsilon"),
        ({"privatizer": "tree"}, "Privatizer"),
        ({"epsilon": -1.0}, "epsilon"),
    ],
    ids=str,
)
def test_parameters_are_checked(engine, parameters, says):
    with pytest.raises(MondegreenError, match=says):
        engine.anonymize(
            TEXT, [of("Ann")], {"DEFAULT": OperatorConfig("mondegreen", parameters)}
        )


def test_validation_prepares_nothing(monkeypatch):
    monkeypatch.setattr(adapter, "build_with_options", None)
    operator = PrivateTextOperator()
    operator.validate({"epsilon": 1.0, "entity_type": "PERSON"})
    with pytest.raises(ConfigurationError):
        operator.validate({"epsilon": 1.0, "other": 1, "entity_type": "PERSON"})


def test_a_key_is_refused_for_spans_that_have_no_record(engine):
    keyed = mg.Privatizer(
        mg.mechanism("tree", epsilon=10.0), noise=mg.KeyedNoise(bytes(range(32)))
    )
    config = {"DEFAULT": OperatorConfig("mondegreen", {"privatizer": keyed})}
    with pytest.raises(ConfigurationError, match="id per record"):
        engine.anonymize(TEXT, [of("Ann")], config)


def test_an_unknown_word_that_is_refused_is_not_quoted(engine):
    config = {
        "DEFAULT": OperatorConfig(
            "mondegreen", {"epsilon": 1.0, "policy": "all", "unknown": "fail"}
        )
    }
    with pytest.raises(MondegreenError) as caught:
        engine.anonymize("a zyxword", [span(2, 9)], config)
    assert "zyxword" not in str(caught.value)


def test_the_engine_hands_over_the_words_of_an_overlap_twice(engine, marked):
    """Why the page says to remove intersections, or to take our function."""
    found = [of("Ann Smith"), of("Smith in Oslo", "PLACE")]
    config = {"DEFAULT": OperatorConfig("mondegreen", {"privatizer": marked})}
    twice = engine.anonymize(TEXT, found, dict(config)).text
    assert shown(twice).startswith("Call * ** * *,")  # five draws for four words
    once = engine.anonymize(TEXT, found, dict(config), conflict_resolution=ALL).text
    assert shown(once).startswith("Call * ** *,") or shown(once).startswith(
        "Call * * * *,"
    )
    ours = privatize(TEXT, found, marked).text
    assert shown(ours) == "Call * * * *, or write to ann@smith.org."


def test_batches_of_presidio_go_through_it(engine, marked):
    config = {"DEFAULT": OperatorConfig("mondegreen", {"privatizer": marked})}
    batch = BatchAnonymizerEngine(engine)
    released = batch.anonymize_list(
        [TEXT, None, "Ann"], [[of("Ann")], [], [span(0, 3)]], operators=config
    )
    assert shown(released[0]).startswith("Call * Smith")
    assert released[1] is None
    assert shown(released[2]) == "*"


# The function, detected spans alone


def test_spans_are_private_and_the_rest_is_in_clear(marked):
    found = [of("Ann Smith"), of("ann@smith.org", "EMAIL")]
    released = privatize(TEXT, found, marked)
    assert shown(released.text) == "Call * * in Oslo, or write to ***.*." or (
        shown(released.text).startswith("Call * * in Oslo, or write to *")
    )
    assert "smith" not in released.text


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (6, 7, "Call * Smith"),  # a letter inside of a word
        (4, 6, "Call * Smith"),  # a space, and the begin of one
        (7, 10, "Call * *"),  # the ends of two
        (4, 5, "Call Ann Smith"),  # a space
        (5, 5, "Call Ann Smith"),  # nothing
        (0, 4, "* Ann Smith"),
    ],
)
def test_a_word_that_a_span_touches_belongs_to_it(marked, start, end, expected):
    released = privatize(TEXT, [span(start, end)], marked).text
    assert shown(released).startswith(f"{expected} in Oslo")


def test_no_spans_is_no_change_and_no_text_is_null(marked):
    assert privatize(TEXT, [], marked).text == TEXT
    many = privatize([TEXT, None, "", float("nan")], [[], [], [], []], marked)
    assert many.text == [TEXT, None, "", None]
    assert privatize([], [], marked).text == []


# The function, and the rest too


def test_what_is_found_is_masked_and_every_other_word_is_private(marked):
    found = [of("Ann Smith"), of("Oslo", "PLACE"), of("ann@smith.org", "EMAIL")]
    options = {"also_rest": True, "types": ["PERSON", "PLACE"]}
    released = privatize(TEXT, found, marked, **options).text
    assert shown(released) == "* <PERSON> * <PLACE>, * * * <ENTITY>."


def test_with_nothing_found_it_is_what_a_privatizer_does(marked):
    released = privatize(TEXT, [], marked, also_rest=True).text
    assert shown(released) == shown(marked(TEXT).text)


def test_a_mask_stands_apart_from_the_words_beside_it(marked):
    text = "Call Ann Smith in Oslo or us"
    found = [of("Ann Smith", text=text), of("Oslo", "PLACE", text=text)]
    options = {"also_rest": True, "types": ["PERSON", "PLACE"]}
    plain = mg.Privatizer(marked.mechanism, marked.space, structure="plain")
    released = privatize(text, found, plain, **options).text
    assert re.sub("[A-Z]?[a-z]+", "*", released) == "*. <PERSON> *. <PLACE> * *."
    touching = privatize("Ann\u2019ll go", [span(0, 3)], marked, **options).text
    assert shown(touching) == "<PERSON>\u2019* *"


def test_what_was_masked_has_no_part_in_the_release():
    keyed = mg.Privatizer(
        mg.mechanism("tree", epsilon=10.0), noise=mg.KeyedNoise(bytes(range(32)))
    )
    options = {"also_rest": True, "ids": "7", "types": ["PERSON"]}
    released = [
        privatize(f"I met {name} in Oslo.", [span(6, 6 + len(name))], keyed, **options)
        for name in ("Ann", "Bartholomew", "Ann Smith of Bergen")
    ]
    assert len({each.text for each in released}) == 1


def test_a_type_that_was_not_named_public_is_never_printed(marked):
    released = privatize(TEXT, [of("Ann", "zyxword Ann")], marked, also_rest=True)
    assert "zyxword" not in released.text
    assert "<ENTITY>" in released.text
    for bad in ("PERSON", ["a b"], ["<b>"], [""], [7], ["x" * 65]):
        with pytest.raises(InvalidParameterError):
            privatize(TEXT, [], marked, also_rest=True, types=bad)


@pytest.mark.parametrize("also_rest", [False, True])
def test_overlapping_and_touching_spans_are_one(marked, also_rest):
    found = [
        of("Ann Smith", "PERSON"),
        of("Smith in", "CITY"),
        of("Smith in Oslo", "PLACE"),
        of("Oslo", "CITY"),
    ]
    types = ["PERSON", "PLACE", "CITY"]
    for order in itertools.permutations(found):
        options = {"also_rest": also_rest, "types": types if also_rest else ()}
        released = shown(privatize(TEXT, order, marked, **options).text)
        start = "* <PLACE>, * *" if also_rest else "Call * * * *, or"
        assert released.startswith(start)
    touching = [of("Ann "), of("Smith", "PLACE")]
    one = shown(privatize(TEXT, touching, marked, also_rest=also_rest).text)
    assert one.startswith("* <ENTITY> *" if also_rest else "Call * * in")


def test_types_that_no_mask_would_name_are_refused(marked):
    with pytest.raises(InvalidParameterError, match="also_rest"):
        privatize(TEXT, [of("Ann")], marked, types=["PERSON"])
    with pytest.raises(InvalidParameterError, match="also_rest"):
        state_guarantee(marked, types=["PERSON"])


def test_any_spans_of_any_text_leave_no_word_in_clear(marked):
    """Random spans: what was found never shows, and with the rest no word does."""
    rng = random.Random(3)
    signs = [
        "Ann",
        "smith",
        "’s",
        "'ll",
        " ",
        "  ",
        ",",
        "\n",
        "🐈",
        "\u0301",
        "$",
        "7",
        "n't",
    ]
    for _ in range(300):
        text = "".join(rng.choices(signs, k=rng.randrange(14)))
        ends = [sorted(rng.choices(range(len(text) + 1), k=2)) for _ in range(3)]
        found = [span(a, b, "P", rng.random()) for a, b in ends]
        rest = privatize(text, found, marked, also_rest=True).text
        left = shown(rest).replace("<ENTITY>", "").replace("*", "")
        assert not any(sign in left for sign in ("Ann", "smith", "🐈", "7", "ll"))
        only = privatize(text, found, marked).text
        found_words = {i for a, b in ends for i in range(a, b)}
        clear = [
            word
            for word, place in places(text)
            if not found_words & set(range(place, place + len(word)))
        ]
        for word in ("Ann", "smith", "🐈"):
            assert only.count(word) <= sum(w.count(word) for w in clear)


def places(text):
    (parts,) = tokenize([text]).parts
    ends = list(itertools.accumulate(map(len, parts)))
    return [(parts[i], ends[i] - len(parts[i])) for i in range(1, len(parts), 2)]


@pytest.mark.parametrize("bad", [(-1, 3), (3, 51), (9, 7)], ids=str)
def test_a_span_outside_of_its_text_is_refused(marked, bad):
    class Result:
        start, end = bad
        entity_type, score = "PERSON", 1.0

    for also_rest in (False, True):
        with pytest.raises(InvalidParameterError, match="inside of its text"):
            privatize(TEXT, [Result()], marked, also_rest=also_rest)


def test_results_and_texts_belong_together(marked):
    for results in ([], [[], [], []], [of("Ann")]):
        with pytest.raises(InvalidParameterError, match="analyzer_results"):
            privatize([TEXT, TEXT], results, marked)
    for texts in (7, None, [7], b"text", [["a"]]):
        with pytest.raises((InvalidParameterError, TypeError)):
            privatize(texts, [[]], marked)


# Keys, and the promise


@pytest.mark.parametrize("also_rest", [False, True])
def test_a_key_gives_each_piece_its_own_noise_and_repeats(also_rest):
    keyed = mg.Privatizer(
        mg.mechanism("tree", epsilon=3.0), noise=mg.KeyedNoise(bytes(range(32)))
    )
    part = " ".join(["one two three four"] * 8)
    text = f"{part} | {part} | {part} | {part}"
    step = len(part) + 3
    found = [span(k * step, k * step + len(part)) for k in (0, 2)]
    options = {"also_rest": also_rest}
    one = privatize([text, text], [found, found], keyed, ids=["1", "2"], **options).text
    again = privatize([text], [found], keyed, ids=["2"], **options).text
    assert one[1] == again[0] != one[0]
    parts = [p for t in one for p in t.split(" | ") if p not in (part, "<ENTITY>")]
    assert len(parts) == len(set(parts)) == 4
    with pytest.raises(ConfigurationError, match="id per record"):
        privatize(text, found, keyed, **options)


def test_the_guarantee_says_what_is_in_clear(private):
    spans = privatize(TEXT, [of("Ann")], private).guarantee
    assert spans == state_guarantee(private)
    assert "Disclosed: " in spans.summary()
    assert "text outside of detected spans" in spans.summary()
    assert spans.conditions[-2:] == (
        "are found by the analyzer",
        "leave what the analyzer finds as it is, spans and types",
    )
    rest = privatize(TEXT, [], private, also_rest=True, types=["B", "A"]).guarantee
    assert "text outside" not in rest.summary()
    assert "detected spans" in rest.summary()
    assert rest.disclosed[-1].endswith("one of A, B, or none of them")
    assert rest == state_guarantee(private.to_dict(), also_rest=True, types=("A", "B"))
    assert set(private.guarantee.disclosed) < set(rest.disclosed)
    with pytest.raises(ConfigurationError, match="no bound for any two texts"):
        rest.text_loss(3)
    assert mg.Guarantee.from_dict(rest.to_dict()) == rest


# An analyzer


def test_an_analyzer_of_presidio_works_with_it(marked):
    pytest.importorskip("presidio_analyzer")
    import spacy
    from presidio_analyzer import AnalyzerEngine, Pattern, PatternRecognizer
    from presidio_analyzer.nlp_engine import SpacyNlpEngine
    from presidio_analyzer.recognizer_registry import RecognizerRegistry

    class Blank(SpacyNlpEngine):
        """No model: patterns need none."""

        def __init__(self):
            super().__init__()
            self.nlp = {"en": spacy.blank("en")}

    registry = RecognizerRegistry(supported_languages=["en"])
    names = PatternRecognizer("PERSON", deny_list=["Ann Smith", "Smith"])
    mails = PatternRecognizer("EMAIL", patterns=[Pattern("mail", r"\S+@\S+\b", 0.5)])
    for recognizer in (names, mails):
        registry.add_recognizer(recognizer)
    analyzer = AnalyzerEngine(
        registry=registry, nlp_engine=Blank(), supported_languages=["en"]
    )
    found = analyzer.analyze(TEXT, language="en")
    options = {"also_rest": True, "types": ["PERSON", "EMAIL"]}
    assert shown(privatize(TEXT, found, marked, **options).text) == (
        "* <PERSON> * *, * * * <EMAIL>."
    )


def test_ids_without_a_key_are_refused():
    p = mg.Privatizer(mg.mechanism("tree", epsilon=10.0))
    with pytest.raises(MondegreenError, match="ids need keyed noise"):
        privatize(TEXT, [of("Ann")], p, ids="7")
