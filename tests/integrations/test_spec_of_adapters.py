"""What every adapter takes: a privatizer or its settings, and when it may draw."""

import pytest

import mondegreen as mg
from mondegreen.errors import ConfigurationError
from mondegreen.integrations.spec import check_ids, check_lazy, make_privatizer

KEY = mg.KeyedNoise(bytes(range(32)))
CANARY = "zyxwoldemorth"


@pytest.fixture
def privatizer(space_file):
    return mg.Privatizer(mg.mechanism("tem", epsilon=1.0), mg.load_space(space_file))


def test_settings_give_what_the_privatizer_gives(privatizer):
    text = " ".join(privatizer.space.words)
    found = [
        make_privatizer(given, KEY)(text, id="7").text
        for given in (privatizer, privatizer.to_dict(), privatizer.with_noise(KEY))
    ]
    assert len(set(found)) == 1


def test_a_privatizer_keeps_its_noise_and_settings_have_fresh_noise(privatizer):
    keyed = privatizer.with_noise(KEY)
    assert make_privatizer(keyed) is keyed
    assert make_privatizer(keyed.to_dict()).noise == mg.OSNoise()


@pytest.mark.parametrize(
    "given", [None, CANARY, 7, [CANARY], {f"{CANARY} is": 1}, {"epsilon": CANARY}]
)
def test_anything_else_is_refused_without_being_quoted(given):
    with pytest.raises(ConfigurationError) as caught:
        make_privatizer(given)
    assert CANARY not in str(caught.value)


def test_only_a_key_with_ids_may_be_computed_again(privatizer):
    keyed = privatizer.with_noise(KEY)
    check_lazy(keyed, "a lazy frame", "id", None)
    check_lazy(privatizer, "a lazy frame", None, "write-once")
    with pytest.raises(ConfigurationError, match="a lazy frame is computed again"):
        check_lazy(privatizer, "a lazy frame", "id", None)
    for unkeyed in (None, "write-once"):
        with pytest.raises(ConfigurationError, match="id_column="):
            check_lazy(keyed, "a lazy frame", None, unkeyed)
    with pytest.raises(ConfigurationError, match="write-once"):
        check_lazy(privatizer, "a lazy frame", None, "yes")


def test_ids_without_a_key_are_refused_since_a_retry_draws_again(privatizer):
    for noise in (mg.OSNoise(), mg.Seeded(1)):
        check_ids(privatizer.with_noise(noise), None)
        with pytest.raises(ConfigurationError, match="ids need keyed noise"):
            check_ids(privatizer.with_noise(noise), "id")
        with pytest.raises(ConfigurationError, match="ids need keyed noise"):
            check_lazy(privatizer.with_noise(noise), "it", "id", "write-once")
    check_ids(privatizer.with_noise(KEY), "id")
