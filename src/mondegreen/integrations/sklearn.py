"""scikit-learn: a transformer that privatizes a column of text.

Every call draws anew, so folds, grids and repeated calls release the same rows again:
privatize once, before them. :class:`PrivateText` counts its fits, and warns.
"""

from __future__ import annotations

import os
import sys
import warnings
import weakref
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Final, cast

import numpy as np

from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    OptionalDependencyError,
)
from mondegreen.guarantee import Guarantee
from mondegreen.integrations.options import OPTIONS, build_with_options
from mondegreen.integrations.spec import state_promise
from mondegreen.passes import METADATA_KEY
from mondegreen.privatizer.containers import wrap_like
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.privatizer.spec import canonical_json
from mondegreen.sampling.noise import check_variable
from mondegreen.settings import take_settings
from mondegreen.wording import amount

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils._set_output import _get_output_config
    from sklearn.utils.validation import validate_data
except ModuleNotFoundError as error:
    raise (OptionalDependencyError.from_import(error) or error) from None

_NAME: Final = "text"
"""Of a column that has no name."""

_SHORTEST_KEY: Final = 32
"""Characters of a key, however it is written."""


class RepeatedReleaseWarning(UserWarning):
    """The same rows may have been released several times, which adds up."""


class PrivateText(TransformerMixin, BaseEstimator):
    """Privatizes text: a list or column of it in, the same kind out.

    Parameters
    ----------
    **settings
        Fields of :class:`mondegreen.settings.Settings`, such as ``epsilon``.
    spec : mapping, optional
        What ``Privatizer.to_dict`` returns, in place of all above.
    key_env : str, optional
        Environment variable that holds a key: noise then repeats for the same row, text
        and setting, so that folds and grids release each row once for each setting.
    id_column : str, optional
        With a key: the column of record ids, in a frame of two columns.

    Attributes
    ----------
    guarantee_ : Guarantee
        What a release promises, for each call of ``fit_transform`` or ``transform``.

    Raises
    ------
    ConfigurationError
        On ``fit``, if a setting is missing or out of range. Inside a ``Pipeline`` with
        ``memory``, which would write rows of text to disk and replay their noise.

    Notes
    -----
    There is no ``random_state``: a number that somebody knows would undo the noise.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> pipe = make_pipeline(PrivateText(epsilon=12.0), CountVectorizer())
    >>> pipe.fit_transform(["I met Ann in Oslo.", "Two texts."]).shape[0]
    2
    """

    @take_settings
    def __init__(
        self,
        *,
        spec: Mapping[str, Any] | None = None,
        key_env: str | None = None,
        id_column: str | None = None,
        **settings: Any,
    ) -> None:
        if unknown := sorted(settings.keys() - OPTIONS.keys()):
            raise TypeError(f"PrivateText has no parameter {unknown[0]!r}")
        own = {"spec": spec, "key_env": key_env, "id_column": id_column}
        for name, value in {**OPTIONS, **settings, **own}.items():
            setattr(self, name, value)

    @property
    def key_env(self) -> str | None:
        """The environment variable of the key."""
        return cast("str | None", self.__dict__["key_env"])

    @key_env.setter
    def key_env(self, name: str | None) -> None:
        # A key put there would be printed with the estimator, and pickled with it;
        # what is too short for one waits for fit, as scikit-learn asks.
        if isinstance(name, str) and len(name) >= _SHORTEST_KEY:
            check_variable(name)
        self.__dict__["key_env"] = name  # where scikit-learn looks

    def fit(self, X: Any, y: Any = None) -> PrivateText:
        """Check the settings, and what holds the texts; nothing is learnt of them."""
        self._get_fitted(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Privatize the texts of ``X``, as :meth:`transform` does."""
        privatizer = self._get_fitted(X)
        self._relatives().draws(self._fit_number, X)
        return self._privatize(privatizer, X)

    def transform(self, X: Any) -> Any:
        """Privatize the texts of ``X``, with other noise at every call.

        Parameters
        ----------
        X : list, array, Series, or frame of one column
            Of strings and nulls, which stay; an array is one of objects or strings,
            with one column if it has two dimensions.

        Returns
        -------
        list, array, Series or frame
            As ``X``, unless ``set_output`` says otherwise.
        """
        privatizer = self._check(X, reset=False)
        if hasattr(self, "_fit_number"):
            self._relatives().draws(self._fit_number, X)
        return self._privatize(privatizer, X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the name of the column of text."""
        known = getattr(self, "feature_names_in_", input_features)
        names = [_NAME] if known is None else known
        return np.array([n for n in names if n != self.id_column], dtype=object)

    def _get_fitted(self, X: Any) -> Privatizer:
        """Check everything, and count the fit."""
        privatizer = self._check(X, reset=True)
        self.guarantee_: Guarantee = privatizer.guarantee
        drawn = {"key": self.key_env, "column": _Column.of(X, self.id_column).name}
        fit = _Fit(
            canonical_json({**privatizer.to_dict(), **drawn}),
            self.guarantee_.mechanism,
            self.guarantee_.epsilon,
            self.key_env is not None,
        )
        self._fit_number = self._relatives().count_fitted(fit)
        return privatizer

    def _check(self, X: Any, *, reset: bool) -> Privatizer:
        options = self.get_params(deep=False)
        privatizer = build_with_options({name: options[name] for name in OPTIONS})
        if (self.id_column is None) != (self.key_env is None):
            raise ConfigurationError("key_env and id_column must be used together")
        _Column.of(X, self.id_column)
        has_first = not isinstance(X, list | tuple) or X  # a row, which it looks at
        if has_first and (reset or hasattr(self, "guarantee_")):
            validate_data(self, X, reset=reset, skip_check_array=True)
        return privatizer

    def _privatize(self, privatizer: Privatizer, X: Any) -> Any:
        column = _Column.of(X, self.id_column)
        released = wrap_like(privatizer, column.texts, column.ids, column.name)
        if _get_output_config("transform", self)["dense"] != "default":
            # Rows, which scikit-learn puts into the frame that set_output names.
            return [[text if isinstance(text, str) else None] for text in released]
        if column.is_frame:
            released = released.to_frame()
        if hasattr(released, "attrs"):  # of pandas
            earlier = X.attrs.get(METADATA_KEY)
            stated = state_promise([column.name], privatizer, earlier)
            released.attrs = {METADATA_KEY: stated}
        if isinstance(X, np.ndarray):  # of objects: none is cut
            found = np.empty(len(released), dtype=object)
            found[:] = released
            return found.reshape(X.shape)
        return released

    def _relatives(self) -> _Family:
        """Find what this estimator and its clones have in common."""
        if not hasattr(self, "_family"):
            self._family = os.urandom(8).hex()
        return _FAMILIES.setdefault(self._family, _Family())

    def __sklearn_clone__(self) -> PrivateText:
        clone: PrivateText = super().__sklearn_clone__()
        self._relatives().clones += 1
        clone._family = self._family
        return clone

    def __getstate__(self) -> Any:
        _refuse_memory()  # which pickles all arguments, to look for what it has kept
        return super().__getstate__()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.input_tags.allow_nan = True
        tags.non_deterministic = True
        tags.requires_fit = False
        return tags


@dataclass(frozen=True)
class _Column:
    """The texts of what a pipeline hands over, and where they came from."""

    texts: Any
    ids: list[Any] | None = None
    name: str = _NAME
    is_frame: bool = False

    @classmethod
    def of(cls, X: Any, id_column: str | None) -> _Column:
        if type(X).__name__ == "DataFrame" and hasattr(X, "columns"):
            return cls._of_frame(X, list(X.columns), id_column)
        if id_column is not None:
            allowed = "a frame of two columns, ids and texts"
            raise InvalidParameterError("X", type(X).__name__, allowed)
        if isinstance(X, np.ndarray):
            if X.dtype.kind not in "OUT" or not (X.ndim == 1 or X.shape[1:] == (1,)):
                given = f"an array of {X.dtype}, {X.ndim} dimensions"
                raise InvalidParameterError("X", given, "one column of strings")
            return cls(X.ravel().tolist())
        if isinstance(X, list | tuple) or hasattr(X, "to_frame"):
            return cls(X)
        allowed = "a list, array, Series or frame of one column of strings"
        raise InvalidParameterError("X", type(X).__name__, allowed)

    @classmethod
    def _of_frame(cls, X: Any, names: list[Any], id_column: str | None) -> _Column:
        texts = [name for name in names if name != id_column]
        if len(texts) != 1 or len(names) != 1 + (id_column is not None):
            other = "" if id_column is None else f" besides {id_column!r}"
            allowed = f"a frame of one column{other}"
            raise InvalidParameterError("X", f"{len(names)} columns", allowed)
        ids = None if id_column is None else list(X[id_column])
        return cls(X[texts[0]], ids, str(texts[0]), is_frame=True)


@dataclass
class _Fit:
    """One fit of one estimator: its setting, and what it was given."""

    setting: str
    mechanism: str
    epsilon: float
    is_keyed: bool
    times: int = 1
    """How often its rows were released: once for each key and setting."""
    given: list[tuple[weakref.ref[Any], int]] = field(default_factory=list)

    def gives(self, X: Any) -> bool:
        """Count what it is given; tell whether it had this very object before."""
        times = 1 + next((times for found, times in self.given if found() is X), 0)
        alive = [
            each for each in self.given if each[0]() is not X and each[0]() is not None
        ]
        try:
            self.given = [*alive, (weakref.ref(X), times)]
        except TypeError:  # a list: who knows whether it is the same one
            return False
        if not self.is_keyed:
            self.times = max(self.times, times)
        return times > 1 and not self.is_keyed


@dataclass
class _Family:
    """What an estimator and its clones released in this process.

    Calls are counted. No row is remembered, nor a digest of one, so the numbers are
    those of rows that were in every fit, as with folds and grids.
    """

    clones: int = 0
    fits: list[_Fit] = field(default_factory=list)

    def count_fitted(self, fit: _Fit) -> int:
        """Count a fit, and warn of those before it; return its number."""
        self.fits.append(fit)
        elsewhere = self.clones - len(self.fits) > _CLONES
        times, spent = self._release()
        if times > 1 or (elsewhere and not fit.is_keyed):
            _warn(
                f"PrivateText and its clones were fitted "
                f"{amount(len(self.fits), 'time')} in this process: rows that each fit "
                "had, to train or to test, are now released "
                f"{amount(times, 'time')} with noise of their own, which sums to "
                f"epsilon {spent} per word",
                f"; {self.clones} clones were made, and what other processes release "
                "is not in these numbers" * elsewhere,
            )
        return len(self.fits) - 1

    def draws(self, number: int, X: Any) -> None:
        """Count a call that draws, and warn where the same object was given before."""
        if number >= len(self.fits):  # that fit was in another process
            return
        fit = self.fits[number]
        if fit.gives(X):
            times, spent = self._release()
            _warn(
                f"PrivateText was given the same {type(X).__name__} again: its rows "
                f"are now released {times} times with noise of their own, which sums "
                f"to epsilon {spent} per word"
            )

    def _release(self) -> tuple[int, str]:
        """Return how often a row was released that each fit had, and what it spent."""
        times, spent = 0, defaultdict[str, float](float)
        keyed = {fit.setting: fit for fit in self.fits if fit.is_keyed}
        for fit in [*keyed.values(), *(f for f in self.fits if not f.is_keyed)]:
            times += fit.times
            spent[fit.mechanism] += fit.times * fit.epsilon
        sums = (f"{epsilon:g} ({mechanism})" for mechanism, epsilon in spent.items())
        return times, " and ".join(sums)


_CLONES: Final = 3
"""Clones without a fit here beyond which others may be at work in other processes."""

_FAMILIES: Final[dict[str, _Family]] = {}


def _warn(what: str, note: str = "") -> None:
    warnings.warn(
        f"{what}{note}. Privatize once, before folds and grids, or set key_env and "
        "id_column: see the page on scikit-learn.",
        RepeatedReleaseWarning,
        stacklevel=4,
    )


def _refuse_memory() -> None:
    """Refuse to be an argument of what a pipeline caches.

    joblib writes what a step is given, in part and readable, beside what it returns,
    and returns the same noise to a later call.
    """
    from joblib.memory import MemorizedFunc  # which scikit-learn needs

    frame: FrameType | None = sys._getframe()
    while frame is not None:
        # A frame that is asked for its locals holds on to them, so only joblib's are.
        is_cache = frame.f_globals.get("__name__") == MemorizedFunc.__module__
        cache = frame.f_locals.get("self") if is_cache else None
        if isinstance(cache, MemorizedFunc) and _is_step(cache.func):
            raise ConfigurationError(
                "a pipeline with memory= writes raw text to disk and repeats its "
                "noise. Privatize once, before the pipeline, or leave memory out"
            )
        frame = frame.f_back


def _is_step(function: Any) -> bool:
    """Whether it is what a pipeline caches, of scikit-learn or made after it."""
    return getattr(function, "__name__", "").startswith("_fit_transform_one")
