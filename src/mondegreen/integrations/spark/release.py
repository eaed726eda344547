"""Apache Spark: text columns of data frames, classic or Connect, batch or stream."""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

from mondegreen.errors import (
    ConfigurationError,
    DataError,
    InvalidParameterError,
    MissingColumnError,
    MondegreenError,
)
from mondegreen.integrations.keys import Secret, build_noise, check_secret
from mondegreen.integrations.spark.promises import describe_field
from mondegreen.integrations.spec import Given, Unkeyed, make_privatizer, name_columns
from mondegreen.passes import Pass
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.sampling.noise import KeyedNoise, OSNoise, key_in_variable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# What is computed anew by every run, so that it names no record.
_UNSTABLE: Final = re.compile(
    r"(?i)\b(monotonically_increasing_id|uuid|randn?|random|spark_partition_id|"
    r"randstr|shuffle|reflect|java_method)\("
)
_TIMES: Final = re.compile(
    "now|localtimestamp|current_(date|time|timestamp|batch_timestamp)"
)
# Names that Spark hides in its pages and event logs, unless it is told otherwise.
_REDACTED: Final = "(?i)secret|password|token|access[.]?key"


def privatize(
    df: DataFrame,
    columns: Sequence[str] | Mapping[str, str],
    *,
    spec: Given,
    id_column: str | None = None,
    key_env: Secret | None = None,
    unkeyed: Unkeyed | None = None,
    drop: Sequence[str] = (),
) -> DataFrame:
    """Privatize text columns of a data frame, lazily, where its partitions are.

    Each executor loads the space by itself, once for each of its Python processes, and
    nothing is shuffled or collected. A record has the release that the command gives it
    with the same key, id, column and text, however the frame is partitioned, retried
    or read again.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Of Spark 4 or later, also of Spark Connect, also a stream.
    columns : sequence of str, or mapping of str to str
        Columns of strings or of arrays of strings; ``msg.body`` is a field of a struct,
        or of the structs of an array. A mapping gives each its logical name, as in
        :meth:`mondegreen.Privatizer.arrow`. All other columns pass unchanged.
    spec : dict or Privatizer
        What ``Privatizer.to_dict()`` returns. A space or a policy of your own must have
        the same path on every executor. With ``same="key"``, a sensitive word has one
        replacement in the whole frame: a function of key and word, so nothing is
        shuffled, and two words may share one replacement.
    id_column : str, optional
        Column with an identifier for each record that stays the same: strings or
        integers, no nulls.
    key_env : str or callable, optional
        Name of the environment variable of the *executors* that holds the key, as 64
        hexadecimal digits. Or a function of a module they can import, which returns
        the key; it is called once for each task. The key is no part of the plan.
    unkeyed : {"write-once"}, optional
        Permit fresh noise, without key and id. Spark computes a frame again for every
        action, and each time spends epsilon again: write the frame once, directly
        after this, and read what was written.
    drop : sequence of str
        Columns that the result does not have, such as the id.

    Returns
    -------
    pyspark.sql.DataFrame
        The same rows and types; nulls stay null. The metadata of a privatized column
        is its guarantees, as ``comment`` and ``mondegreen``; of others the comment.

    Raises
    ------
    ConfigurationError
        Without a key, unless ``unkeyed``; for an id that each run computes anew; for a
        key that Spark would show, or that is missing or malformed as far as the driver
        can see.
    MissingColumnError, InvalidParameterError
        If a column is absent or holds no text, or ids are neither strings nor integers.

    Notes
    -----
    *Privacy.* Two records of one id and one text repeat each other. What fails on an
    executor is told without text: Spark copies errors into its logs.

    Examples
    --------
    ::

        spec = mg.Privatizer(mg.mechanism("tree", epsilon=10.0)).to_dict()
        private = privatize(
            reviews, ["text"], spec=spec, id_column="id", key_env="RELEASE_SECRET"
        )
        private.write.parquet("private")
    """
    logical = name_columns(columns)
    _check_source(df, id_column, key_env, unkeyed)
    settings = _settings(spec)
    # Any key: what the driver says of the noise is the same, and it draws none.
    noise = None if key_env is None else KeyedNoise(os.urandom(32))
    driver = Privatizer.from_dict(settings, noise)
    driver.check_noise()
    fields = list(df.schema)
    texts = {name: _place(fields, name) for name in logical}
    ids = set() if id_column is None else {_place(fields, id_column)}
    gone = _find_dropped(fields, drop, set(texts.values()))
    kept = [i for i in range(len(fields)) if i not in gone or i in ids]
    # By place: Spark reads a column of the name "a.b" as a field of a struct.
    placed = df.toDF(*(f"_{i}" for i in range(len(fields))))
    for i in ids:
        _check_stable(placed.select(f"_{i}"))
    needed = [at for at, i in enumerate(kept) if i in ids or i in texts.values()]
    _check_types(driver, [fields[kept[at]] for at in needed], logical, id_column)
    sent: dict[str, Any] = {
        "spec": settings,
        "columns": logical,
        "id_column": id_column,
        "secret": key_env,
        "names": [fields[i].name for i in kept],
        "needed": needed,
        "left": [at for at, i in enumerate(kept) if i not in gone],
    }

    def mondegreen(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return release_batches(batches, **sent)

    made: dict[int, list[Pass]] = {i: [] for i in texts.values()}
    for name, i in texts.items():
        made[i].append(Pass(name, driver.guarantee))
    schema = StructType(
        [describe_field(fields[i], made.get(i, [])) for i in kept if i not in gone]
    )
    return placed.select(*(f"_{i}" for i in kept)).mapInArrow(mondegreen, schema)


def release_batches(
    batches: Iterator[pa.RecordBatch],
    spec: Mapping[str, Any],
    columns: Mapping[str, str],
    id_column: str | None,
    secret: Secret | None,
    names: Sequence[str],
    needed: Sequence[int],
    left: Sequence[int],
) -> Iterator[pa.RecordBatch]:
    """Privatize the batches of one task: what an executor runs.

    Columns that are neither text nor id do not come near the privatizer; what of the
    batch is ``left`` is returned.
    """

    def start() -> Privatizer:
        return Privatizer.from_dict(
            spec, None if secret is None else build_noise(secret)
        )

    def replace(batch: pa.RecordBatch) -> pa.RecordBatch:
        batch = batch.rename_columns(list(names))
        part = batch.select(list(needed))
        made = privatizer.arrow(part, columns, id_column=id_column)
        for at, column in zip(needed, made.columns, strict=True):
            batch = batch.set_column(at, batch.schema.field(at), column)
        return batch.select(list(left))

    privatizer = _without_text(start)
    for batch in batches:
        yield _without_text(replace, batch)


def _without_text(work: Callable[..., Any], *given: Any) -> Any:
    """Do work; what fails is told without what it was done on."""
    try:
        return work(*given)
    except MondegreenError as error:
        raise error from None
    except Exception as error:
        what = type(error).__name__
    raise DataError(f"a batch could not be privatized: {what}")


# Streams


def foreach_batch(
    write: Callable[[DataFrame, int], None],
    columns: Sequence[str] | Mapping[str, str],
    *,
    spec: Given,
    id_column: str,
    key_env: Secret,
    drop: Sequence[str] = (),
) -> Callable[[DataFrame, int], None]:
    """Make the function for ``writeStream.foreachBatch`` that privatizes each batch.

    ``write`` gets the privatized frame of a batch, and its number. A batch that is
    replayed after a restart repeats its release, so there is no way without a key.
    Parameters are those of :func:`privatize`.
    """
    settings = _settings(spec)

    def each(batch: DataFrame, number: int) -> None:
        how: dict[str, Any] = {"id_column": id_column, "key_env": key_env}
        write(privatize(batch, columns, spec=settings, drop=drop, **how), number)

    return each


# What is refused, and what a column says of itself


def _settings(spec: Given) -> dict[str, Any]:
    """Write settings, if they are all there is: noise is not sent to executors."""
    given = make_privatizer(spec)
    if not isinstance(given.noise, OSNoise):
        raise ConfigurationError(
            "the noise of a privatizer is not sent to executors. Name the key with "
            "key_env"
        )
    return given.to_dict()


def _check_source(
    df: DataFrame, id_column: str | None, key_env: Secret | None, unkeyed: str | None
) -> None:
    if unkeyed not in (None, "write-once"):
        raise InvalidParameterError("unkeyed", unkeyed, "None or 'write-once'")
    if (id_column is None) != (key_env is None):
        raise ConfigurationError("id_column and key_env must be used together")
    if key_env is not None:
        if unkeyed:
            raise ConfigurationError("key_env and unkeyed cannot be combined")
        check_secret(key_env)
        _check_hidden(df, key_env)
        _check_key(df, key_env)
    elif df.isStreaming:
        raise ConfigurationError(
            "a stream repeats batches after a restart, and each draw spends epsilon "
            "again. Pass id_column and key_env"
        )
    elif not unkeyed:
        raise ConfigurationError(
            "Spark computes a frame again for every action and every retry, and each "
            "draw spends epsilon again. Pass id_column and key_env, or pass "
            "unkeyed='write-once' and write the frame once"
        )


def _check_hidden(df: DataFrame, key_env: Secret) -> None:
    """Reject a key that Spark's pages would show."""
    name, conf = f"spark.executorEnv.{key_env}", df.sparkSession.conf
    if not isinstance(key_env, str) or conf.get(name, None) is None:
        return
    if not re.search(conf.get("spark.redaction.regex", None) or _REDACTED, name):
        raise ConfigurationError(
            f"{name} is visible in Spark's pages and event logs. Make a new key. Use "
            "a name that spark.redaction.regex hides, such as RELEASE_SECRET, or let "
            "the cluster set the variable"
        )


def _check_key(df: DataFrame, key_env: Secret) -> None:
    """Refuse a variable that is missing or no key, if the driver can know.

    It knows what it hands to executors, and what those on its own machine inherit. Of
    the environment of other machines, and through Spark Connect, it knows nothing.
    """
    if not isinstance(key_env, str) or getattr(df, "_jdf", None) is None:
        return
    context = df.sparkSession.sparkContext
    value = context.environment.get(key_env)
    if value is None and context._jsc.isLocal():
        # Not of this process: it may have set the variable after Java started.
        value = context._jvm.java.lang.System.getenv(key_env)
    elif value is None:
        return
    key_in_variable(key_env, value)


def _check_stable(ids: DataFrame) -> None:
    """Refuse ids that another run, or a retry, would compute otherwise."""
    with contextlib.redirect_stdout(io.StringIO()) as told:
        ids.explain(extended=True)
    plans = told.getvalue()
    # The last plan has what makes the ids alone; unless Spark has made them for it.
    last = plans.rpartition("== Physical Plan ==")[2]
    shown = _UNSTABLE.search(plans if "LocalTableScan" in last else last)
    if found := shown[1] if shown else next(_iterate_drawn(ids), None):
        raise ConfigurationError(
            f"the ids come from {found}, which Spark computes again in every run. A "
            "record would then get many releases. Use an id that is stored with the "
            "record"
        )


def _iterate_drawn(ids: DataFrame) -> Iterator[str]:
    """Name what makes ids and has another value in another run, as Catalyst says it.

    It is followed from the ids down, by the aliases that they are made of. What a
    function of Python draws is not seen. Spark Connect shows no such plan.
    """
    if (java := getattr(ids, "_jdf", None)) is None:
        return
    plans = [java.queryExecution().analyzed()]
    wanted = {each.exprId().id() for each in _each(plans[0].output())}
    for plan in plans:  # from the top down
        for made in _each(plan.expressions()):
            if made.getClass().getSimpleName() != "Alias":
                continue
            if made.exprId().id() in wanted:
                wanted |= {each.exprId().id() for each in _each(made.references())}
                yield from _causes(made.child())
        plans += _each(plan.children())


def _causes(expression: Any) -> list[str]:
    """Name the innermost parts of an expression that differ from run to run."""
    name, parts = expression.prettyName(), list(_each(expression.children()))
    if name.startswith("input_file_"):
        return []  # the same in every run, whatever Catalyst says
    draws = not expression.deterministic() and all(p.deterministic() for p in parts)
    own = [name] if draws or _TIMES.fullmatch(name) else []
    return own + [cause for each in parts for cause in _causes(each)]


def _each(sequence: Any) -> Iterator[Any]:
    """Go through a sequence of Scala."""
    found = sequence.iterator()
    while found.hasNext():
        yield found.next()


def _check_types(
    privatizer: Privatizer,
    fields: Sequence[StructField],
    columns: Mapping[str, str],
    id_column: str | None,
) -> None:
    """Refuse on the driver, by a batch without rows, what executors would refuse."""
    empty = to_arrow_schema(StructType(list(fields))).empty_table()
    (batch,) = empty.to_batches() or [pa.RecordBatch.from_pylist([], empty.schema)]
    privatizer.arrow(batch, columns, id_column=id_column)


def _place(fields: Sequence[StructField], path: str) -> int:
    """Find the column that holds a dotted path."""
    names = [field.name for field in fields]
    whole = [i for i, name in enumerate(names) if path == name]
    inside = [i for i, name in enumerate(names) if path.startswith(f"{name}.")]
    found = whole + inside
    if not found:
        raise MissingColumnError("the data frame", path, names)
    if len(found) > 1:
        several = f"{len(found)} columns"
        raise InvalidParameterError(f"column {path!r}", several, "one column")
    return found[0]


def _find_dropped(
    fields: Sequence[StructField], drop: Sequence[str], texts: set[int]
) -> set[int]:
    if isinstance(drop, str):
        raise InvalidParameterError("drop", "one string", "a sequence of strings")
    names = [field.name for field in fields]
    for name in drop:
        if name not in names:
            raise MissingColumnError("the data frame", name, names)
    gone = {i for i, name in enumerate(names) if name in drop}
    if gone & texts:
        raise InvalidParameterError("drop", "a privatized column", "other columns")
    return gone
