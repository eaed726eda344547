"""A function of SQL for a connection of DuckDB."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mondegreen.errors import ConfigurationError
from mondegreen.integrations.spec import privatizer_of, promised
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.sampling.noise import KeyedNoise


def register(
    con: Any,
    privatizer: Privatizer | Mapping[str, Any],
    name: str = "privatize",
    keyed: bool = False,
    *,
    column: str = "text",
) -> None:
    """Add SQL functions that privatize text, and that say what that promises.

    ``privatize(text)`` is the release of a text, or NULL. With ``keyed``,
    ``privatize(text, id)`` repeats itself for the same record: write
    ``privatize(text, id::VARCHAR)`` where ids are integers.

    ``privatize_guarantee(column, earlier)`` is the guarantee as JSON, after what
    ``earlier`` says of earlier passes, which may be NULL.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        Only this connection and its cursors know the functions.
    privatizer : Privatizer or mapping
        Or its settings, as ``Privatizer.to_dict`` returns them.
    name : str
        Of the function.
    keyed : bool
        Whether it takes an id; the privatizer has keyed noise then, and only then.
    column : str
        Logical column, for keyed noise. Register a name for each column that you
        privatize: equal texts of a record have equal releases under one.

    Raises
    ------
    ConfigurationError
        If ``keyed`` and the noise of the privatizer do not go together.

    Notes
    -----
    A view, or a query that names a subquery twice, draws at every look: without a key
    write the release into a table, or a file, once.
    """
    made = privatizer_of(privatizer)
    if isinstance(made.noise, KeyedNoise) != keyed:
        raise ConfigurationError(
            "keyed=True and a privatizer with noise=mg.KeyedNoise... go together: the "
            "function takes the id of the record then"
        )

    def by_text(texts: Any) -> Any:
        return made.column(texts, column=column)

    def by_id(texts: Any, ids: Any) -> Any:
        return made.column(texts, ids, column=column)

    def guarantee(shown: str | None, earlier: str | None) -> str:
        return promised([shown], made, earlier)

    # Without side effects equal calls are one call: a constant would be privatized
    # once for all rows. NULL is for us, since a text or an id may be one.
    options = {"side_effects": True, "null_handling": "special"}
    text, texts = "VARCHAR", ["VARCHAR", "VARCHAR"]
    if keyed:
        con.create_function(name, by_id, texts, text, type="arrow", **options)
    else:
        con.create_function(name, by_text, [text], text, type="arrow", **options)
    con.create_function(f"{name}_guarantee", guarantee, texts, text, **options)
