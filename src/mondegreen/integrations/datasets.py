"""Datasets of Hugging Face: a column of text released, and never by a cache."""

from __future__ import annotations

import functools
import pickle
import secrets
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.integrations.frames import privatize as in_frame
from mondegreen.integrations.spec import (
    Given,
    Unkeyed,
    check_ids,
    check_lazy,
    import_needed,
    make_privatizer,
    name_columns,
    state_promise,
)
from mondegreen.passes import METADATA_KEY, from_json, to_json
from mondegreen.privatizer.privatizer import Privatizer

_LINE: Final = f"{METADATA_KEY}: "


def privatize(
    dataset: Any,
    column: str | Sequence[str] | Mapping[str, str],
    privatizer: Given,
    *,
    id_column: str | None = None,
    num_proc: int | None = None,
    unkeyed: Unkeyed | None = None,
) -> Any:
    """Privatize columns of a dataset; all others are passed on.

    Parameters
    ----------
    dataset : Dataset, DatasetDict, IterableDataset or IterableDatasetDict
        Of the library ``datasets``.
    column : str, sequence of str, or mapping of str to str
        Columns of texts or of lists of texts; ``msg.body`` is a field of a struct. A
        mapping gives each its logical name, for keyed noise.
    privatizer : Privatizer or mapping
        Or its settings: a :class:`mondegreen.Settings`, a mapping of settings by
        their names, or what ``Privatizer.to_dict`` returns.
    id_column : str, optional
        Column with a stable identifier per row; for keyed noise, and for no other.
    num_proc : int, optional
        Processes. A key must be one from a file or an environment variable.
    unkeyed : {"write-once"}, optional
        An ``IterableDataset`` draws again in every epoch, and every draw discloses
        more. Without a key it is rejected, unless you promise to write the result once.

    Returns
    -------
    Dataset, DatasetDict, IterableDataset or IterableDatasetDict
        With features and format as they were. The ``description`` of its info is one
        line, which begins with ``mondegreen:``. It holds the guarantees of earlier
        passes and of this one. Anything else in it is dropped, since it may be text.

    Raises
    ------
    MissingColumnError, ConfigurationError
        If a column is absent, or holds anything but text; if ids are no ids, or the
        noise has no use for them; or if it would draw again.

    Notes
    -----
    A warning says where cache files hold the raw texts: these stay on the disk.

    ``Dataset.map`` stores what it made under a digest of the function, and returns it
    for a second call: the same noise. So this has a random fingerprint, and neither
    looks for an earlier result nor can be found as one.
    """
    names = name_columns([column] if isinstance(column, str) else column)
    made, library = make_privatizer(privatizer), import_needed("datasets")
    one = functools.partial(_one, names=names, privatizer=made, id_column=id_column)
    if isinstance(dataset, library.DatasetDict | library.Dataset):
        check_ids(made, id_column)
        _check_sent(made, num_proc)
        _warn_of_cache(dataset)
        one = functools.partial(one, options=_options(num_proc))
    elif isinstance(dataset, library.IterableDataset | library.IterableDatasetDict):
        check_lazy(made, "an IterableDataset", id_column, unkeyed)
        if num_proc is not None:
            raise InvalidParameterError("num_proc", num_proc, "None for what streams")
    else:
        allowed = "a dataset or a dictionary of them, of the library datasets"
        raise InvalidParameterError("dataset", type(dataset).__name__, allowed)
    if isinstance(dataset, dict):
        return type(dataset)({name: one(split) for name, split in dataset.items()})
    return one(dataset)


def _options(num_proc: int | None) -> dict[str, Any]:
    return {"num_proc": num_proc, "load_from_cache_file": False}


def _one(
    dataset: Any,
    names: dict[str, str],
    privatizer: Privatizer,
    id_column: str | None,
    options: Mapping[str, Any] | None = None,
) -> Any:
    """Privatize one split."""
    work = functools.partial(
        _release, names=names, privatizer=privatizer, id_column=id_column
    )
    extra = dict(options or {})
    if options is not None:
        extra["new_fingerprint"] = secrets.token_hex(8)
    raw = dataset.with_format("arrow")
    made = raw.map(work, batched=True, features=dataset.features, **extra)
    if options is None:
        before = getattr(dataset, "_formatting", None)
        made = made.with_format(getattr(before, "format_type", None))
    else:
        shown = dataset.format
        made.set_format(
            shown["type"],
            shown["columns"],
            shown["output_all_columns"],
            **shown["format_kwargs"],
        )
    info = made.info
    info.description = _describe(info.description, names, privatizer)
    return made


def _release(table: pa.Table, **settings: Any) -> pa.Table:
    return in_frame(table, settings.pop("names"), **settings)


def _describe(
    description: str | None, columns: Iterable[str], privatizer: Privatizer
) -> str:
    """State the guarantee after those of a description; its other lines may leak."""
    lines = (description or "").splitlines()
    stated = [line.removeprefix(_LINE) for line in lines if line.startswith(_LINE)]
    earlier = [one for text in stated for one in from_json(text)]
    promise = state_promise(columns, privatizer, to_json(earlier) if earlier else None)
    return f"{_LINE}{promise}"


def _check_sent(privatizer: Privatizer, num_proc: int | None) -> None:
    """Refuse a key that no other process can be told of."""
    if num_proc is None:
        return
    try:
        pickle.dumps(privatizer.noise)
    except TypeError as error:
        raise ConfigurationError(f"num_proc={num_proc}: {error}") from None


def _warn_of_cache(dataset: Any) -> None:
    """Say that the raw texts are on the disk, and stay there."""
    files = dataset.cache_files
    per_split = files.values() if isinstance(files, dict) else [files]
    count = sum(map(len, per_split))
    if count:
        warnings.warn(
            f"the raw texts stay in cache files on this disk ({count}, which "
            "dataset.cache_files lists): delete them when nobody needs them",
            stacklevel=3,
        )
