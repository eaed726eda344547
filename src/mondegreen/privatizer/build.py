"""From settings to a privatizer, which a process builds once and keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

from mondegreen.errors import ConfigurationError, LanguageError, SpaceIntegrityError
from mondegreen.mechanisms import mechanism
from mondegreen.mechanisms.base import AbstractMechanism, Progress, no_progress
from mondegreen.policy.policy import find_policy
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.privatizer.reading import find_language_name, open_models
from mondegreen.privatizer.spec import Kept, canonical_json, find_space, read_spec
from mondegreen.sampling.noise import NoiseSource
from mondegreen.settings import Settings
from mondegreen.space.space import Space

_LAW: Final = ("mechanism", "epsilon", "parameters", "space")
"""Settings that make the law, which a Privatizer takes as objects."""

_BUILT: Final[Kept[Privatizer]] = Kept()


def build_privatizer(
    settings: Settings,
    noise: NoiseSource | None = None,
    *,
    space: Space | None = None,
    progress: Progress = no_progress,
) -> Privatizer:
    """Return the privatizer of settings, which is built once in a process.

    Parameters
    ----------
    settings : Settings
        Defaults are filled in by :meth:`Settings.resolve`.
    noise : NoiseSource, optional
        Noise of the operating system if not given. It is not stored.
    space : Space, optional
        The space itself, where it is in memory; it replaces ``settings.space``.
    progress : callable, optional
        Called with the share that is done, where a mechanism prepares a new space.

    Returns
    -------
    Privatizer
        The same object for equal settings.

    Raises
    ------
    MondegreenError
        If a setting is out of range, or something that it names does not exist.

    Examples
    --------
    >>> build_privatizer(Settings(epsilon=12.0)).guarantee.epsilon
    12.0
    """
    return _build(settings, {}, space, progress).with_noise(noise)


def build_from_spec(
    spec: Mapping[str, Any], noise: NoiseSource | None = None
) -> Privatizer:
    """Return the privatizer of what ``Privatizer.to_dict`` wrote, and no other."""
    settings, digests = read_spec(spec)
    return _build(settings, digests, None, no_progress).with_noise(noise)


def build_mechanism(settings: Settings) -> AbstractMechanism:
    """Return the mechanism that settings name."""
    parameters = dict(settings.parameters)
    if settings.epsilon is not None:  # else the mechanism says that it needs one
        parameters["epsilon"] = settings.epsilon
    return mechanism(str(settings.resolve().mechanism), **parameters)


def _build(
    settings: Settings,
    digests: Mapping[str, str],
    space: Space | None,
    progress: Progress,
) -> Privatizer:
    chosen = settings.resolve()
    law = build_mechanism(chosen)
    policy = find_policy(chosen)
    if policy is not None:
        if space is not None:
            raise ConfigurationError(
                f"policy {chosen.policy!r} has its own words: leave space out, or use "
                "policy='all' (--policy all) to replace every word by words of a space"
            )
        return _build_with_policy(chosen, law, policy.digest, digests)
    loaded = find_space(chosen.space) if space is None else space
    if digests and loaded.digest != digests["space"]:
        raise SpaceIntegrityError(
            f"space {chosen.space!r} differs from the one in the settings: its digest "
            f"is {loaded.digest[:12]}, not {digests['space'][:12]}"
        )
    models = open_models(chosen.read, chosen.language)
    language = models[1] or models[0]
    read_by = None if language is None else language.digest
    if digests and read_by != digests.get("language"):
        raise LanguageError(
            f"the language model {chosen.language!r} differs from the one in the "
            f"settings: its digest is not {digests['language'][:12]}"
        )
    given = {f.name: getattr(chosen, f.name) for f in fields(chosen)}
    beside = {name: value for name, value in given.items() if name not in _LAW}
    named = None if language is None else find_language_name(models)

    def build() -> Privatizer:
        law.warm_up(loaded, progress)
        return Privatizer(law, loaded, **{**beside, "language": language})

    key = {
        "mechanism": law.to_dict(),
        # A class that a notebook registered again has its old name, and other lines.
        "class": id(type(law)),
        "space": loaded.digest,
        **beside,
        "language": [named, read_by],
    }
    return _BUILT.get(canonical_json(key), build)


def _build_with_policy(
    chosen: Settings,
    law: AbstractMechanism,
    digest: str,
    digests: Mapping[str, str],
) -> Privatizer:
    """Build the privatizer of a policy, which needs no space and no language."""
    if digests and digest != digests["policy"]:
        raise ConfigurationError(
            f"policy {chosen.policy!r} differs from the one in the settings: its "
            f"digest is {digest[:12]}, not {digests['policy'][:12]}; use the file, or "
            "the version of mondegreen, that wrote the settings"
        )
    given = {f.name: getattr(chosen, f.name) for f in fields(chosen)}
    beside = {name: value for name, value in given.items() if name not in _LAW}
    key = {"mechanism": law.to_dict(), "policy_digest": digest, **beside}
    return _BUILT.get(canonical_json(key), lambda: Privatizer(law, **beside))
