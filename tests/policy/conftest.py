"""The lookups of both shipped policies."""

from __future__ import annotations

import pytest

from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import load_policy


@pytest.fixture(scope="module", params=["sensitive", "names"])
def lookup(request):
    return PolicyLookup(load_policy(request.param))
