"""Certificates of laws that were computed before: shipped, cached, or made now."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from mondegreen import __version__
from mondegreen.files import home, read_own, write_own
from mondegreen.mechanisms.laws.certificate import (
    FORMULA,
    exact_epsilons,
    lower_bounds,
)
from mondegreen.mechanisms.laws.discrete import discrete_epsilon
from mondegreen.mechanisms.laws.rating import RatingLaw
from mondegreen.mechanisms.laws.truncated import ExponentialLaw
from mondegreen.space.space import Space

LARGEST: Final = 50_000
"""Words of the largest space that is certified unasked: the cost grows as V^2."""

_SMALL: Final = 4096
"""Words of the largest space whose certificates are quicker made than kept."""

_STEP: Final = 512
"""Of so many inputs, one is asked before a cached value is believed."""

_SHIPPED: Final = Path(__file__).parents[2] / "space" / "data"

_computed: dict[str, float] = {}

Progress = Callable[[float], object]

CertifiableLaw = ExponentialLaw | RatingLaw
"""Laws whose exact epsilon can be computed; ``key`` names one on its space."""


def has_certificate(law: CertifiableLaw) -> bool:
    """Whether the certificate of a law is at hand, so that it costs nothing."""
    _take_over([law])
    return _find(law) is not None


def is_certifiable(law: CertifiableLaw) -> bool:
    """Whether a certificate is at hand or takes at most seconds to compute."""
    return has_certificate(law) or law.space.vocab_size <= LARGEST


def is_kept(law: CertifiableLaw) -> bool:
    """Whether the certificate of a law is put into the cache once it is computed."""
    return law.space.vocab_size > _SMALL


def certificate_of(
    law: CertifiableLaw, progress: Progress = lambda share: None
) -> float:
    """Return the certificate of one law; see :func:`certificates_of`."""
    return certificates_of([law], progress)[0]


def certificates_of(
    laws: Sequence[CertifiableLaw], progress: Progress = lambda share: None
) -> list[float]:
    """Return the certificates of laws on one space, computing those not at hand.

    What is computed is kept in the cache folder, under the digest of the space and
    the parameters of the law, and read by the version that wrote it. It is believed
    where nobody else can write it, and where it is not below a bound that is computed
    on the spot; else it is computed again. A cache that cannot be written is no error.

    Parameters
    ----------
    laws : sequence of ExponentialLaw or RatingLaw
        On one space.
    progress : callable
        Called with the share that is done, from 0 to 1.

    Returns
    -------
    list of float
        Nats per unit of ``min(d, cutoff)``, or of the discrete metric; rounded up.
    """
    _take_over(laws)
    missing = [law for law in laws if _find(law) is None]
    if missing:
        fresh = _make(missing, progress)
        _computed.update({_memo(law): fresh[law.key] for law in missing})
        if is_kept(missing[0]):
            _store(missing[0].space, fresh)
    return [value for law in laws if (value := _find(law)) is not None]


def shipped_rates(space: Space) -> list[tuple[float, float, float]]:
    """Return all (rate, cutoff, certificate) shipped for a space, by rate."""
    rows = [(*map(float, key.split()), value) for key, value in _shipped(space).items()]
    return sorted(rows)  # type: ignore[arg-type]


def _find(law: CertifiableLaw) -> float | None:
    """Return a certificate that is at hand."""
    if _memo(law) in _computed:
        return _computed[_memo(law)]
    return _shipped(law.space).get(law.key)


def _take_over(laws: Sequence[CertifiableLaw]) -> None:
    """Take certificates from the cache that can be true."""
    if not laws or not is_kept(laws[0]):
        return
    cached = _cached(laws[0].space)
    found = [law for law in laws if law.key in cached and _find(law) is None]
    if not found:
        return
    for law, least in zip(found, _least(found), strict=True):
        if cached[law.key] >= least:
            _computed[_memo(law)] = cached[law.key]


def _least(laws: Sequence[CertifiableLaw]) -> list[float]:
    """Return what the certificates of laws cannot be below."""
    by_distance = [law for law in laws if isinstance(law, ExponentialLaw)]
    if len(by_distance) == len(laws):
        return lower_bounds(by_distance)
    return [discrete_epsilon(law, law.space.vocab_size, step=_STEP) for law in laws]


def _make(laws: Sequence[CertifiableLaw], progress: Progress) -> dict[str, float]:
    """Compute certificates, by the keys of their laws."""
    by_distance = [law for law in laws if isinstance(law, ExponentialLaw)]
    if len(by_distance) == len(laws):
        found = exact_epsilons(by_distance, progress)
    else:
        found = [discrete_epsilon(law, law.space.vocab_size, progress) for law in laws]
    return {law.key: value for law, value in zip(laws, found, strict=True)}


def _memo(law: CertifiableLaw) -> str:
    return f"{law.space.digest} {law.key}"


def _shipped(space: Space) -> dict[str, float]:
    """Return the certificates that come with a space."""
    path = _SHIPPED / f"{space.name}.certificates.json"
    return _read_shipped(path, space.digest)


@functools.lru_cache(maxsize=16)
def _read_shipped(path: Path, digest: str) -> dict[str, float]:
    try:
        return _parsed(path.read_bytes(), digest, {"formula": FORMULA})
    except OSError:
        return {}


def _cached(space: Space) -> dict[str, float]:
    """Return the certificates of a space that this version put into the cache."""
    return _parsed(read_own(_cache(space)) or b"", space.digest, _version())


def _cache(space: Space) -> Path:
    return home() / "certificates" / f"{space.digest}.json"


def _version() -> dict[str, Any]:
    """Return what names the code that computes certificates."""
    return {"formula": FORMULA, "version": __version__}


def _parsed(data: bytes, digest: str, version: dict[str, Any]) -> dict[str, float]:
    """Read certificates; those of another space or version, or damaged, are none."""
    try:
        content: dict[str, Any] = json.loads(data)
        if content["space"] != digest or not version.items() <= content.items():
            return {}
        return {str(key): float(value) for key, value in content["laws"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _store(space: Space, fresh: dict[str, float]) -> None:
    """Add certificates to the cache file of a space, whole or not at all."""
    content = {"space": space.digest, **_version()}
    laws = {**_cached(space), **fresh}
    write_own(_cache(space), json.dumps({**content, "laws": laws}).encode())
