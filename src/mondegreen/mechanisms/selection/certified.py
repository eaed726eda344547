"""Certificates of laws that were computed before: shipped, cached, or made now."""

from __future__ import annotations

import contextlib
import functools
import json
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from mondegreen.mechanisms.selection.certificate import exact_epsilons
from mondegreen.mechanisms.selection.discrete import discrete_epsilon
from mondegreen.mechanisms.selection.law import ExponentialLaw
from mondegreen.mechanisms.selection.rating import RatingLaw
from mondegreen.space.space import Space
from mondegreen.space.store import home

__all__ = [
    "CertifiableLaw",
    "certificate_of",
    "certificates_of",
    "has_certificate",
    "is_certifiable",
    "shipped_rates",
]

LARGEST: Final = 50_000
"""Words of the largest space that is certified unasked: the cost grows as V^2."""

_SMALL: Final = 4096
"""Words of the largest space whose certificates are quicker made than kept."""

_SHIPPED: Final = Path(__file__).parents[2] / "space" / "data"

_computed: dict[str, float] = {}

Progress = Callable[[float], object]

CertifiableLaw = ExponentialLaw | RatingLaw
"""Laws whose exact epsilon can be computed; ``key`` names one on its space."""


def has_certificate(law: CertifiableLaw) -> bool:
    """Whether the certificate of a law is at hand, so that it costs nothing."""
    return _find(law) is not None


def is_certifiable(law: CertifiableLaw) -> bool:
    """Whether a certificate is at hand or takes at most seconds to compute."""
    return has_certificate(law) or law.space.vocab_size <= LARGEST


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
    the parameters of the law. A cache that cannot be written is no error.

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
    missing = [law for law in laws if _find(law) is None]
    if missing:
        fresh = _make(missing, progress)
        _computed.update({_memo(law): fresh[law.key] for law in missing})
        if missing[0].space.vocab_size > _SMALL:
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
    return _known(law.space).get(law.key)


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


def _known(space: Space) -> dict[str, float]:
    """Return the certificates of a space that are shipped or cached."""
    path = _cache(space)
    return {**_read(path, space.digest, _stamp(path)), **_shipped(space)}


def _shipped(space: Space) -> dict[str, float]:
    """Return the certificates that come with a space."""
    path = _SHIPPED / f"{space.name}.certificates.json"
    return _read(path, space.digest, _stamp(path))


def _cache(space: Space) -> Path:
    return home() / "certificates" / f"{space.digest}.json"


def _stamp(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


@functools.lru_cache(maxsize=16)
def _read(path: Path, digest: str, stamp: int) -> dict[str, float]:
    """Read a file of certificates; one of another space, or a damaged one, is none."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if content["space"] != digest:
            return {}
        return {str(key): float(value) for key, value in content["laws"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _store(space: Space, fresh: dict[str, float]) -> None:
    """Add certificates to the cache file of a space, whole or not at all."""
    path = _cache(space)
    laws = {**_read(path, space.digest, _stamp(path)), **fresh}
    text = json.dumps({"space": space.digest, "laws": laws})
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
