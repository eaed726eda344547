"""A function of SQL for a connection of DuckDB."""

from __future__ import annotations

from typing import Any

from mondegreen.errors import ConfigurationError
from mondegreen.integrations.spec import Given, make_privatizer, state_promise
from mondegreen.sampling.noise import KeyedNoise


def register(
    con: Any,
    privatizer: Given,
    name: str = "privatize",
    keyed: bool = False,
    *,
    column: str | None = None,
) -> None:
    """Add SQL functions that privatize text, and that return the guarantee.

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
        Or its settings: a :class:`mondegreen.Settings`, a mapping of settings by
        their names, or what ``Privatizer.to_dict`` returns.
    name : str
        Of the function.
    keyed : bool
        Whether it takes an id; the privatizer has keyed noise then, and only then.
    column : str
        Logical column, which ``keyed`` needs. Register a name with its own ``column``
        for each column that you privatize: under one, equal texts of a record have
        equal releases.

    Raises
    ------
    ConfigurationError
        If ``keyed`` and the noise of the privatizer do not go together, or ``keyed``
        has no ``column``.

    Notes
    -----
    A view, or a query that names a subquery twice, draws again at every evaluation.
    Without a key, write the release into a table or a file once.
    """
    made = make_privatizer(privatizer)
    if isinstance(made.noise, KeyedNoise) != keyed:
        raise ConfigurationError(
            "keyed=True needs a privatizer with noise=mg.KeyedNoise..., and such a "
            "privatizer needs keyed=True. The function then takes the id of the "
            "record"
        )
    if keyed and not column:
        raise ConfigurationError(
            "keyed=True needs column=. Register one function for each column. "
            "Otherwise equal texts in two columns of a record would get equal "
            "releases"
        )
    logical = column or "text"

    def by_text(texts: Any) -> Any:
        return made.column(texts, column=logical)

    def by_id(texts: Any, ids: Any) -> Any:
        return made.column(texts, ids, column=logical)

    def guarantee(shown: str | None, earlier: str | None) -> str:
        return state_promise([shown], made, earlier)

    # Without side effects equal calls are one call: a constant would be privatized
    # once for all rows. NULL is for us, since a text or an id may be one.
    options = {"side_effects": True, "null_handling": "special"}
    text, texts = "VARCHAR", ["VARCHAR", "VARCHAR"]
    if keyed:
        con.create_function(name, by_id, texts, text, type="arrow", **options)
    else:
        con.create_function(name, by_text, [text], text, type="arrow", **options)
    con.create_function(f"{name}_guarantee", guarantee, texts, text, **options)
