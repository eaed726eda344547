"""One call for text in whatever holds it: a string, a list, a series, an array."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, overload

from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.privatizer.build import build_privatizer
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.privatizer.reading import Language, find_language_name, open_models
from mondegreen.privatizer.release import is_null, list_texts
from mondegreen.sampling.noise import NoiseSource
from mondegreen.sampling.records import record_ids
from mondegreen.settings import Settings, list_options
from mondegreen.space.space import Space

_COLUMN: Final = "text"
"""The logical column of texts that have no name."""

_TEXTS: Final = 4096
"""Texts that are privatized together, which bounds the memory for their words."""


@overload
def privatize(texts: str, *, epsilon: float, **settings: Any) -> str: ...


@overload
def privatize(
    texts: list[Any] | tuple[Any, ...], *, epsilon: float, **settings: Any
) -> list[Any]: ...


@overload
def privatize(texts: Any, *, epsilon: float, **settings: Any) -> Any: ...


def privatize(
    texts: Any,
    *,
    epsilon: float,
    space: Space | str | Path | None = None,
    language: Language | None = None,
    ids: Any = None,
    column: str | None = None,
    noise: NoiseSource | None = None,
    **settings: Any,
) -> Any:
    """Privatize text, and return it in a container of the same type.

    Parameters
    ----------
    texts : str, list, tuple, pandas or polars Series, or Arrow array
        ``None``, NaN and ``pandas.NA`` are nulls, and come back as they are. A tuple
        comes back as a list.
    epsilon : float
        That of the mechanism; there is no default.
    space : Space, str or path, optional
        A space, its name, or its file, for ``policy="all"``; by default the embedded
        one.
    language : NGrams, str or path, optional
        As for :class:`mondegreen.Privatizer`.
    ids : sequence of str or int, optional
        One identifier per text, or one for one text; needed by keyed noise.
    column : str, optional
        Logical column, for keyed noise. By default it is the name of a Series, so that
        the command gives the same release for a column of this name. Without a name,
        and for other containers, it is ``text``.
    noise : NoiseSource, optional
        :class:`OSNoise` if not given.
    **settings
        Other fields of :class:`mondegreen.settings.Settings`, and parameters of the
        mechanism. The privatizer is prepared once in a process and kept.

    Returns
    -------
    str, list, Series or Arrow array
        With the index, name and type of a series. The guarantee is that of the
        ``Privatizer``; build one to read it.

    Raises
    ------
    InvalidParameterError
        If it is, or holds, anything but text. Names row, column and type, no value.

    Examples
    --------
    >>> import mondegreen as mg
    >>> text = mg.privatize("I met Ann in Oslo.", epsilon=12.0)
    >>> len(text.split())
    5
    >>> [t and len(t.split()) for t in mg.privatize(["Two texts.", None], epsilon=12.0)]
    [2, None]
    """
    known = list_options()
    chosen = {name: value for name, value in settings.items() if name in known}
    law = {name: value for name, value in settings.items() if name not in known}
    if language is not None and not isinstance(language, str | Path):
        read = chosen.get("read", Settings.read)
        language = find_language_name(open_models(read, language))
    given = Settings(
        epsilon=epsilon,
        space=None if isinstance(space, Space) else space,  # type: ignore[arg-type]
        language=language,  # type: ignore[arg-type]
        **{**chosen, "parameters": {**(chosen.get("parameters") or {}), **law}},
    )
    own = space if isinstance(space, Space) else None
    privatizer = build_privatizer(given, noise, space=own)
    named = name_logical_column(texts) if column is None else column
    return wrap_like(privatizer, texts, ids, named)


def name_logical_column(texts: Any) -> str:
    """Name the logical column of texts: the name of a Series, if it is a string.

    >>> name_logical_column(["a text"])
    'text'
    """
    for library, name, _ in _CONTAINERS:
        kind = getattr(sys.modules.get(library), name, None)
        if name == "Series" and kind is not None and isinstance(texts, kind):
            own = texts.name
            return own if isinstance(own, str) and own else _COLUMN
    return _COLUMN


def wrap_like(privatizer: Privatizer, texts: Any, ids: Any, column: str) -> Any:
    """Privatize what a container holds, into one of its kind."""
    if isinstance(texts, str) or is_null(texts):
        one = None if ids is None else [ids]
        return _to_list(privatizer, [texts], one, column)[0]
    if isinstance(texts, list | tuple):
        return _to_list(privatizer, texts, ids, column)
    for library, name, privatized in _CONTAINERS:
        # Whoever holds a series has loaded its library; none is loaded here.
        kind = getattr(sys.modules.get(library), name, None)
        if kind is not None and isinstance(texts, kind):
            return privatized(privatizer, texts, ids, column=column)
    allowed = "text, a list or tuple of it, a pandas or polars Series or an Arrow array"
    raise InvalidParameterError("texts", type(texts).__name__, allowed)


def check_index(holder: Any, names: Iterable[Any]) -> None:
    """Refuse an index of pandas that has the name of a column that is not to stay."""
    levels = [level for level in holder.index.names if level is not None]
    both = [name for name in names if name in levels]
    if both:
        raise ConfigurationError(
            f"the index has the name of column {both[0]!r}, and would pass unchanged: "
            "reset_index(drop=True), or rename the index if it holds something else"
        )


def keep_used_values(series: Any) -> Any:
    """Remove categories that no row has: they may be of rows that were filtered out.

    The type of a polars ``Enum`` lists its values, so that it becomes ``String``.
    """
    dtype = series.dtype
    if type(dtype).__module__.startswith("polars"):
        plain = _without_enums(dtype)
        return series if plain == dtype else series.cast(plain)
    if type(dtype).__name__ == "CategoricalDtype":
        return series.cat.remove_unused_categories()
    arrow = getattr(dtype, "pyarrow_dtype", None)
    if arrow is None:
        return series
    import pyarrow as pa

    from mondegreen.text.dictionaries import compact_chunks, holds_dictionary

    if not holds_dictionary(arrow):
        return series
    given = pa.array(series.array)  # an array, or a chunked one
    chunks = given.chunks if isinstance(given, pa.ChunkedArray) else [given]
    coded = compact_chunks(pa.chunked_array(chunks, arrow))
    make: Any = type(series.array)
    return type(series)(make(coded), index=series.index, name=series.name)


def _without_enums(dtype: Any) -> Any:
    """Write a type of polars with ``String`` for each ``Enum`` in it."""
    import polars as pl

    if isinstance(dtype, pl.Enum):
        return pl.String()
    if isinstance(dtype, pl.List):
        return pl.List(_without_enums(dtype.inner))
    if isinstance(dtype, pl.Array):
        return pl.Array(_without_enums(dtype.inner), dtype.size)
    if isinstance(dtype, pl.Struct):
        fields = {each.name: _without_enums(each.dtype) for each in dtype.fields}
        return pl.Struct(fields)
    return dtype


def keep_used_labels(index: Any) -> Any:
    """Remove categories and levels of an index of pandas that no row has."""
    if hasattr(index, "remove_unused_levels"):
        index = index.remove_unused_levels()
        levels = [keep_used_labels(level) for level in index.levels]
        return index.set_levels(levels)
    if hasattr(index, "remove_unused_categories"):
        return index.remove_unused_categories()
    return index


def _to_list(
    privatizer: Privatizer,
    texts: Sequence[Any],
    ids: Any,
    column: str,
    what: str = "text",
) -> list[Any]:
    """Privatize texts into a list, nulls as they are; errors say ``what`` each is."""
    records = record_ids(ids, len(texts))
    released: list[Any] = []
    for first in range(0, len(texts), _TEXTS):
        some = slice(first, first + _TEXTS)
        mine = None if records is None else records[some]
        checked = list_texts(texts[some], lambda n: f"{what} {n}", first + 1)
        released += privatizer.texts(checked, mine, column)[0]
    return [
        given if text is None and not isinstance(given, str) else text
        for given, text in zip(texts, released, strict=True)
    ]


def _pandas(privatizer: Privatizer, series: Any, ids: Any, *, column: str) -> Any:
    """Privatize a pandas Series, with the same index, name and type."""
    check_index(series, [series.name])
    what = "row" if series.name is None else f"column {series.name!r}, row"
    texts = _to_list(privatizer, list(series), ids, column, what)
    # The categories of a column are its texts, and the release has others.
    is_category = type(series.dtype).__name__ == "CategoricalDtype"
    kind: Any = type(series)
    index = keep_used_labels(series.index)
    dtype = "category" if is_category else series.dtype
    arrow = getattr(dtype, "pyarrow_dtype", None)
    if arrow is not None and hasattr(arrow, "index_type"):  # which may have no room
        import pyarrow as pa

        from mondegreen.text.columns import restore

        coded = restore(pa.array(texts, pa.string(), from_pandas=True), arrow)
        made: Any = type(series.array)
        return kind(made(coded), index=index, name=series.name)
    return kind(texts, index=index, name=series.name, dtype=dtype)


def _polars(privatizer: Privatizer, series: Any, ids: Any, *, column: str) -> Any:
    """Privatize a polars Series, with the same name, and type but for an Enum."""
    given, kind = series.to_arrow(), type(series)
    if str(given.type) == "null":
        return series
    records = record_ids(ids, len(series))
    # The values of an Enum are its texts, and the release has others.
    is_enum = type(series.dtype).__name__ == "Enum"
    released = series.clear().cast(str) if is_enum else series.clear()
    for first in range(0, len(series) or 1, _TEXTS):  # none has a type, too
        mine = None if records is None else records[first : first + _TEXTS]
        some = privatizer.column(given.slice(first, _TEXTS), mine, column=column)
        released.append(kind(series.name, some).cast(released.dtype))
    return released


_CONTAINERS: Final[tuple[tuple[str, str, Callable[..., Any]], ...]] = (
    ("pandas", "Series", _pandas),
    ("modin.pandas", "Series", _pandas),
    ("polars", "Series", _polars),
    ("pyarrow", "Array", Privatizer.column),
    ("pyarrow", "ChunkedArray", Privatizer.column),
)
