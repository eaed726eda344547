"""PUC by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mondegreen.errors import InvalidParameterError
from mondegreen.scores.corpus import puc

PERCENT = st.floats(0, 100)
PARTS = {"n_w": 30.0, "s_w": 60.0, "pp": 70.0, "cs": 50.0, "low": 20.0}


def test_puc_by_hand():
    # privacy (70 + 60 + 70 + 50 + 80) / 5 = 66; utility 100 * 76 / 80 = 95
    assert puc(76.0, 80.0, **PARTS, alpha=0.25) == pytest.approx(0.25 * 95 + 0.75 * 66)


@given(PERCENT, PERCENT, PERCENT, PERCENT, PERCENT, PERCENT, st.floats(0, 1))
def test_puc_weighs_two_means(acc, n_w, s_w, pp, cs, low, alpha):
    general = alpha * acc + (1 - alpha) * (200 - n_w + s_w + pp + cs - low) / 5
    found = puc(acc, 100.0, n_w=n_w, s_w=s_w, pp=pp, cs=cs, low=low, alpha=alpha)
    assert found == pytest.approx(general, abs=1e-9)
    assert -1e-9 <= found <= 100 + 1e-9


def test_the_baseline_divides_and_is_not_subtracted():
    assert puc(80.0, 80.0, **PARTS, alpha=1.0) == 100.0


@pytest.mark.parametrize(
    "change", [{"n_w": -1.0}, {"cs": 101.0}, {"alpha": 1.5}, {"baseline": 0.0}]
)
def test_what_is_no_percentage_is_refused(change):
    given_values = {"accuracy": 70.0, "baseline": 80.0, **PARTS, "alpha": 0.5, **change}
    with pytest.raises(InvalidParameterError):
        puc(**given_values)
