"""What a setting does to public words, and what an attacker recovers of them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import mondegreen as mg
from benchmarks.ship import ship_previews
from mondegreen.policy.policy import load_policy
from mondegreen.privatizer.build import build_privatizer
from mondegreen.scores import preview as preview_module
from mondegreen.scores.preview import (
    ATTACKED,
    MEASURED,
    Preview,
    measure,
    near_words,
    ordinary_words,
    preview_key,
    shares_kept,
)
from mondegreen.settings import Settings
from mondegreen.text.lookup import Lookup
from mondegreen.text.tokenizer import canonical, tokenize

COUNT = 1000

LOADED = "('mondegreen.language', 'mondegreen.decode')"
GUARANTEE = """
import mondegreen as mg
for epsilon in (10.0, 9.5):
    made = mg.Privatizer(mg.mechanism("tree", epsilon=epsilon))
    assert made.guarantee.epsilon == epsilon
    assert str(made("I met Ann in Oslo."))
"""
COMMAND = """
import sys
from mondegreen.cli.main import main
from mondegreen.io.open import open_source
for epsilon, law in (("10", "tree"), ("9.5", "tree"), ("10", "laplace")):
    sys.argv = ["mondegreen", "privatize", "examples/reviews.csv", "-c", "review"]
    sys.argv += ["--epsilon", epsilon, "--mechanism", law, "--read", "none"]
    try:
        main()
    except SystemExit as end:
        assert not end.code
"""


@pytest.fixture(scope="module")
def space():
    words = [f"w{i}" for i in range(COUNT)]
    return mg.Space.from_arrays("line", words, np.arange(COUNT)[:, None])


def test_the_share_that_stays_is_that_of_the_law(space):
    ids = np.repeat(np.arange(0, COUNT, 10, dtype=np.int32), 40)
    state = mg.mechanism("tem", epsilon=4.0).prepare(space)
    law = np.exp(state.log_prob(ids[::40]))
    exact = law[np.arange(100), ids[::40]].mean()
    stay, near = shares_kept(state, ids)
    assert stay == pytest.approx(exact, abs=0.03)
    assert stay < near <= 1


def test_an_unknown_word_never_stays(space):
    state = mg.mechanism("tem", epsilon=4.0).prepare(space)
    assert shares_kept(state, np.full(50, COUNT, dtype=np.int32)) == (0.0, 0.0)
    assert shares_kept(state, np.zeros(0, dtype=np.int32)) == (0.0, 0.0)


def test_a_vocabulary_of_few_words_is_drawn_from_often():
    space = mg.Space.from_arrays("twins", ["cat", "dog"], [[0.0], [0.0]])
    for epsilon in (1.0, 5.0):
        made = mg.Privatizer(mg.mechanism("tem", epsilon=epsilon), space)
        unchanged = made.preview().unchanged
        assert unchanged == pytest.approx(0.5, abs=0.06)  # the twins share one law


def test_one_percent_of_a_small_space_is_near(space):
    state = mg.mechanism("tem", epsilon=4.0).prepare(space)
    ids = np.full(60, 500, dtype=np.int32)
    outputs = np.arange(470, 530, dtype=np.int32)
    near = near_words(state, ids, outputs)
    # Of words at equal distances both count, so five on either side are among ten.
    assert outputs[near].tolist() == [n for n in range(495, 506) if n != 500]


def test_words_of_a_group_of_the_tree_are_near():
    space = mg.load_space()
    state = mg.mechanism("tree", epsilon=10.0).prepare(space)
    first, last = state.tree.members(1, 7)[[0, -1]]
    pair = np.array([first], dtype=np.int32), np.array([last], dtype=np.int32)
    assert near_words(state, *pair).all()


def pairs_of(tree):
    """The first word of each group beside all others of it."""
    groups = (tree.members(1, node) for node in range(40))
    pairs = [(group[0], word) for group in groups for word in group[1:]]
    return np.array(pairs, dtype=np.int32).T


@pytest.mark.slow("measures a setting")
def test_the_tree_of_the_space_says_what_is_near_for_mechanisms_without_one():
    space = mg.load_space()
    pairs = pairs_of(mg.mechanism("tree", epsilon=10.0).prepare(space).tree)
    state = mg.mechanism("laplace", epsilon=10.0).prepare(space)
    assert state.tree is None
    assert near_words(state, *pairs).all()


def test_the_tree_of_the_mechanism_says_what_is_near_where_the_space_has_none(space):
    state = mg.mechanism("tree", epsilon=10.0).prepare(space)
    pairs = pairs_of(state.tree)
    assert near_words(state, *pairs).all()
    other = mg.mechanism("laplace", epsilon=10.0).prepare(space)
    assert 0.2 < near_words(other, *pairs).mean() < 0.8  # the nearest words alone


@pytest.fixture(scope="module")
def made():
    return mg.Privatizer(mg.mechanism("tree", epsilon=10.0))


def parts_of(privatizer):
    lookup = Lookup(privatizer.space, keep=privatizer.keep)
    return privatizer.state, lookup, privatizer.reading


@pytest.mark.slow("another setting", but="none")
@pytest.mark.parametrize("read", ["none", "sentence"])
def test_a_default_setting_is_looked_up_and_is_what_would_be_measured(read):
    private = mg.Privatizer(mg.mechanism("tree", epsilon=10.0), read=read)
    found = private.preview()
    assert found is private.preview()  # so nothing was measured
    measured = measure(*parts_of(private), with_attacker=True)
    assert found.of == measured.of
    for name in ("unchanged", "near", "recovered"):
        assert getattr(found, name) == pytest.approx(getattr(measured, name), abs=0.02)


@pytest.mark.slow("measures settings")
def test_a_process_measures_a_setting_once_and_each_setting_anew(space, monkeypatch):
    measured = []
    anew = preview_module.measure

    def count(state, *given, **how):
        measured.append(type(state).__name__)
        return anew(state, *given, **how)

    monkeypatch.setattr(preview_module, "measure", count)
    monkeypatch.setattr(preview_module, "_measured", {})
    found = [
        mg.Privatizer(mg.mechanism(name, epsilon=epsilon), space).preview()
        for name, epsilon in [
            ("tem", 0.5),
            ("tem", 0.5),
            ("tem", 50.0),
            ("laplace", 50),
        ]
    ]
    assert len(measured) == 3
    assert found[0] is found[1]
    assert found[0].unchanged < found[2].unchanged
    again = mg.Privatizer(mg.mechanism("tem", epsilon=0.5), space)
    again.preview(with_attacker=True)  # another question
    assert len(measured) == 4


@pytest.mark.long  # the test above holds two of them
def test_all_previews_that_are_shipped_are_what_is_measured():
    rows = json.loads(MEASURED.read_text(encoding="utf-8"))
    assert rows == [ship_previews.row(row["epsilon"], row["read"]) for row in rows]


@pytest.mark.slow("measures settings")
def test_another_setting_has_another_key(made):
    mechanism = made.mechanism
    others = [
        mg.Privatizer(mg.mechanism("tree", epsilon=10.5)),
        mg.Privatizer(mechanism, keep=["oslo"]),
        mg.Privatizer(mechanism, unknown="mask"),
        mg.Privatizer(mechanism, read="words"),
        mg.Privatizer(mechanism, read="sentence"),
        mg.Privatizer(mg.mechanism("tem", epsilon=10.0)),
    ]
    masking = others[2].state, Lookup(made.space, "mask"), made.reading
    keys = [preview_key(*masking), *(preview_key(*parts_of(each)) for each in others)]
    del keys[3]  # the lookup of parts_of does not mask
    assert len({preview_key(*parts_of(made)), *keys}) == len(keys) + 1


@pytest.mark.slow("an attack")
def test_an_attacker_is_tried_when_asked():
    made = mg.Privatizer(mg.mechanism("tree", epsilon=9.5))
    assert made.preview().recovered is None
    assert 0.2 < made.preview(with_attacker=True).recovered < 0.4


def test_no_attacker_is_tried_where_that_takes_long(space):
    made = mg.Privatizer(mg.mechanism("laplace", epsilon=1.0), space)
    assert made.preview(with_attacker=True).recovered is None


@pytest.mark.parametrize("unknown", ["mask", "drop"])
def test_kept_words_are_unchanged_and_masked_ones_are_not(
    unknown, tmp_path, monkeypatch
):
    """In sentences, a quarter kept and a quarter unknown."""
    made = mg.Privatizer(
        mg.mechanism("tree", epsilon=1.0),
        unknown=unknown,
        keep=["Oslo"],
        read="sentence",
    )
    (tmp_path / "lines.txt").write_text("oslo zyxxy doctor illness.\n" * 50)
    monkeypatch.setattr(preview_module, "SENTENCES", tmp_path / "lines.txt")
    found = made.preview()
    assert (found.words, found.of) == (200, "ordinary English sentences")
    assert 0.25 <= found.unchanged <= 0.27
    assert 0.25 <= found.near <= 0.40


PLAIN = {"of": "ordinary English text", "words": 1000}


@pytest.mark.parametrize(
    ("unchanged", "near", "recovered", "word"),
    [
        (0.10, 0.50, None, "strong"),
        (0.11, 0.50, None, "moderate"),
        (0.10, 0.51, None, "moderate"),
        (0.10, 0.50, 0.25, "moderate"),
        (0.10, 0.50, 0.26, "weak"),
        (0.50, 0.95, 0.50, "weak"),
        (0.51, None, None, "vacuous"),
        (0.05, 0.96, None, "vacuous"),
        (0.05, None, 0.51, "vacuous"),
    ],
)
def test_the_word_for_shares_and_its_warning(unchanged, near, recovered, word):
    shares = {"unchanged": unchanged, "near": near, "recovered": recovered}
    found = Preview(**PLAIN, **shares)
    assert found.level == word
    assert bool(found.warning) == (word == "vacuous")
    if word == "vacuous":
        worst = max(share for share in shares.values() if share is not None)
        assert f"WARNING: {100 * worst:.0f} of 100 words" in found.warning


def test_attackers_of_the_same_domain_lower_the_word_under_a_policy():
    """A table of the page on protection: moderate, or weak, whatever is recovered."""
    settings = Settings(policy="sensitive", epsilon=4.0)
    guarantee = build_privatizer(settings).guarantee
    assert guarantee.protection == "moderate"
    some = Preview(
        of="ordinary English", words=900, unchanged=0.01, near=None, shown=0.8
    )
    assert some.protection(guarantee) == "moderate"
    for most, word in ((0.25, "moderate"), (0.26, "weak"), (0.76, "weak")):
        found = replace(some, in_domain=(0.1, most, 6))
        assert found.protection(guarantee) == word
        assert found.warning == ""


def test_protection_is_the_worst_of_proof_and_measurement(made):
    assert made.guarantee.protection == "weak"
    low = Preview(**PLAIN, unchanged=0.0, near=0.0)
    high = Preview(**PLAIN, unchanged=0.9, near=0.9)
    assert low.protection(made.guarantee) == "weak"
    assert high.protection(made.guarantee) == "vacuous"
    seeded = made.with_noise(mg.Seeded(1)).guarantee
    assert low.protection(seeded) == high.protection(seeded) == "none"


def test_it_says_what_was_measured():
    found = Preview(**PLAIN, unchanged=0.04, near=0.87, recovered=0.38)
    assert str(found) == (
        "Preview (ordinary English text): 4 of 100 words are unchanged, 87 are "
        "unchanged or near in meaning. An attacker with the same language model "
        "recovers 38 of 100 words."
    )
    assert "attacker" not in str(Preview(**PLAIN, unchanged=0.04, near=None))
    assert Preview(**found.to_dict()) == found


def privatizer(policy="sensitive", epsilon=12.0, **options):
    made = mg.mechanism("urr", epsilon=epsilon)
    return mg.Privatizer(made, policy=policy, **options)


def test_what_attackers_recovered_is_said_of_the_shipped_policies():
    found = privatizer().preview()
    least, most, kinds = found.in_domain
    assert 0 < least < most < 1
    assert kinds == 6
    assert f"recovered {100 * least:.0f} to {100 * most:.0f} of 100" in str(found)
    assert privatizer("names").preview().in_domain != found.in_domain
    assert Preview(**found.to_dict()) == found


@pytest.mark.parametrize(
    "options",
    [
        {"epsilon": 11.0},
        {"same": "record"},
        {"ordinary": ("lawyer",)},
    ],
    ids=["another epsilon", "a wider scope", "another list"],
)
def test_it_is_said_of_no_setting_that_was_not_measured(options):
    found = privatizer(**options).preview()
    assert found.in_domain is None
    assert "To measure an attacker: mondegreen attack." in str(found)


def test_what_is_shipped_of_attackers_is_what_was_measured():
    """With the lists of today: after a change of them all is measured again."""
    shipped = json.loads(ATTACKED.read_text())
    assert shipped == ship_previews.attacked()
    digests = {load_policy(name).digest for name in ("sensitive", "names")}
    assert {row["policy"] for row in shipped} == digests


@pytest.mark.slow("whole processes")
@pytest.mark.parametrize("work", ["import mondegreen as mg", GUARANTEE, COMMAND])
def test_nothing_is_read_and_no_model_is_loaded_to_state_a_guarantee(work):
    """By a table for the first epsilon, and by a measurement for the others."""
    code = f"{work}\nimport sys\nprint([m for m in sys.modules if m in {LOADED}])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_ordinary_words_are_plain_words_of_the_default_space():
    words = ordinary_words()
    assert len(words) == 1000
    assert tokenize([" ".join(words)]).words() == list(words)
    assert all(canonical(word) == word for word in words)
    index = mg.load_space().index
    assert sum(word in index for word in words) > 950
