"""Certificates of laws that were computed before: shipped, cached, or made now."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from mondegreen import __version__
from mondegreen.files import home, read_own, write_own
from mondegreen.mechanisms.base import Progress, no_progress
from mondegreen.mechanisms.laws.certificate import FORMULA
from mondegreen.mechanisms.laws.integer import IntegerLaw
from mondegreen.space.space import Space

LARGEST: Final = 50_000
"""Words of the largest space that is certified unasked: the cost grows as V^2."""

_SMALL: Final = 4096
"""Words of the largest space whose certificates are quicker made than kept."""

_FOLDER: Final = Path(__file__).parents[2] / "space" / "data"

_CODE: Final = {"formula": FORMULA, "version": __version__}
"""What names the code that computes certificates."""

_computed: dict[tuple[str, str], float] = {}
"""By the digest of a space and the key of a law."""


def has_certificate(law: IntegerLaw) -> bool:
    """Whether the certificate of a law is at hand, or made in a blink."""
    if law.certify is None:
        return False
    _take_over([law])
    return law.space.vocab_size <= _SMALL or _find(law) is not None


def is_certifiable(law: IntegerLaw) -> bool:
    """Whether a certificate is at hand or takes at most seconds to compute."""
    is_small = law.certify is not None and law.space.vocab_size <= LARGEST
    return is_small or has_certificate(law)


def compute_certificates(
    laws: Sequence[IntegerLaw], progress: Progress = no_progress
) -> list[float]:
    """The certificates of laws of one kind on one space, computing those not at hand.

    What is computed is kept in the cache folder, under the digest of the space and
    the parameters of the law, and read by the version that wrote it. It is believed
    where nobody else can write it, and where it is not below a bound that is computed
    on the spot; else it is computed again. A cache that cannot be written is no error.
    Nats per unit of ``min(d, cutoff)``, or of the discrete metric; rounded up.
    """
    _take_over(laws)
    missing = [law for law in laws if _find(law) is None]
    if missing:
        assert missing[0].certify is not None  # noqa: S101 - who asks has looked
        values = missing[0].certify(missing, progress)
        space = missing[0].space
        fresh = {law.key: value for law, value in zip(missing, values, strict=True)}
        _computed.update({(space.digest, key): fresh[key] for key in fresh})
        if space.vocab_size > _SMALL:
            # The file is written whole or not at all.
            content = {"space": space.digest, **_CODE}
            content["laws"] = {**_load_cached(space), **fresh}
            write_own(_cache(space), json.dumps(content).encode())
    return [value for law in laws if (value := _find(law)) is not None]


def load_shipped_rates(space: Space) -> list[tuple[float, float, float]]:
    """All (rate, cutoff, certificate) shipped for a space, by rate."""
    shipped = _load_shipped(space.name, space.digest)
    rows = [(*map(float, key.split()), value) for key, value in shipped.items()]
    return sorted(rows)  # type: ignore[arg-type]


def _find(law: IntegerLaw) -> float | None:
    space, key = law.space, law.key
    found = _computed.get((space.digest, key))
    return _load_shipped(space.name, space.digest).get(key) if found is None else found


def _take_over(laws: Sequence[IntegerLaw]) -> None:
    """Take certificates from the cache that can be true."""
    if not laws or (space := laws[0].space).vocab_size <= _SMALL:
        return
    cached = _load_cached(space)
    found = [law for law in laws if law.key in cached and _find(law) is None]
    if not found:
        return
    for law, least in zip(found, found[0].bound(found), strict=True):
        if cached[law.key] >= least:
            _computed[space.digest, law.key] = cached[law.key]


@functools.lru_cache(maxsize=16)
def _load_shipped(name: str, digest: str) -> dict[str, float]:
    try:
        data = (_FOLDER / f"{name}.certificates.json").read_bytes()
    except OSError:
        return {}
    return _parse(data, digest, {"formula": FORMULA})


def _load_cached(space: Space) -> dict[str, float]:
    """The certificates of a space that this version put into the cache."""
    return _parse(read_own(_cache(space)) or b"", space.digest, _CODE)


def _cache(space: Space) -> Path:
    return home() / "certificates" / f"{space.digest}.json"


def _parse(data: bytes, digest: str, code: dict[str, Any]) -> dict[str, float]:
    """Read certificates; those of another space or code, or damaged, are none."""
    try:
        content: dict[str, Any] = json.loads(data)
        if content["space"] != digest or not code.items() <= content.items():
            return {}
        return {str(key): float(value) for key, value in content["laws"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
