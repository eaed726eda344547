"""``mondegreen restore``: originals back into a release, by the map of its run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from mondegreen.cli import options
from mondegreen.cli.options import Column, File, argument, command, option
from mondegreen.cli.render import say
from mondegreen.errors import ConfigurationError, DataError, MissingColumnError
from mondegreen.io.guess import Format
from mondegreen.wording import amount

if TYPE_CHECKING:
    from mondegreen.io.base import AbstractSource
    from mondegreen.privatizer.release_map import MapHeader, ReleaseMap

_TOLD: Final = {
    "whole": "restored byte for byte",
    "words": "edited since, and restored word by word",
    "none": "not matched, and left unchanged",
}


@command()
def restore(
    release: File = argument(),
    map_path: File = option("Map that privatize --map wrote.", "--map MAP"),
    output: File = option(
        'File for the originals, in the format of RELEASE. "-" is standard output.',
        "-o --output",
    ),
    key_file: File | None = option("Key file of the run that made the map."),
    key_env: str | None = option(
        "Environment variable with the key, as 64 hex digits, instead of --key-file.",
        "VARIABLE",
    ),
    columns: tuple[Column, ...] = options.COLUMNS,
    format: Format | None = options.FORMAT,
    id_column: Column | None = option(
        "Column that identifies a record, if the release used one.", "--id COLUMN"
    ),
    force: bool = options.FORCE,
    quiet: bool = options.QUIET,
) -> None:
    """Put the original words back into RELEASE, or into an edited copy.

    An unchanged text is restored byte for byte. In an edited text, each surrogate
    becomes its original word again, but ordinary words that noise replaced stay as they
    are. Words that equal a surrogate by chance are replaced too. OUTPUT is PRIVATE.

    \b
    mondegreen privatize in.csv -o safe.csv --policy names --same record -e 12 \\
        --map way.map --key-file key
    mondegreen restore safe.csv --map way.map --key-file key -o back.csv
    """  # noqa: D301
    from mondegreen.io.open import open_sink, open_source
    from mondegreen.privatizer.arrow import replace_in_batch
    from mondegreen.privatizer.release_map import KEY_PURPOSE, ReleaseMap, Restorer

    key = options.build_keyed_noise(key_file, key_env)
    if key is None:
        raise ConfigurationError("restore needs --key-file, or --key-env")
    options.check_separate(release, output, {}, (map_path, key_file))
    way_back = ReleaseMap.read(map_path, key.subkey(KEY_PURPOSE))
    header = way_back.header
    if header.by_id != (id_column is not None):
        needs = "needs --id COLUMN" if header.by_id else "was made without --id"
        raise ConfigurationError(f"{map_path} {needs}")
    with open_source(
        release, format=format, columns=columns, id_column=id_column
    ) as source:
        names = {name: _logical(header, map_path, name) for name in source.text_columns}
        _check_policy(source, way_back)
        sink, restorer = open_sink(output, source, force=force), Restorer(way_back)
        with sink:
            for batch in source.batches():
                by_id = source.id_column
                restored, _ = replace_in_batch(
                    restorer, batch, names, by_id, dotted=False
                )
                sink.write(restored)
            restorer.check()
            sink.commit()
    if not quiet:
        told = [
            f"{amount(count, 'text')} {_TOLD[outcome]}"
            for outcome, count in restorer.counts.items()
            if count
        ]
        click.echo(f"{'; '.join(told)}. The output is PRIVATE.", err=True)
    if restorer.counts["none"] > sum(restorer.counts.values()) / 2:
        say(
            "Warning: most texts could not be matched. Are the rows in the order of "
            "the release? With --id, restore finds moved rows."
        )
    elif restorer.moved:
        say(
            f"Warning: {amount(restorer.moved, 'text')} moved to another record, and "
            "stays as it is. A text that was also edited may now have words of another "
            "record. Put the rows in the order of the release, or use --id for "
            "privatize and for restore."
        )


def _logical(header: MapHeader, map_path: str, column: str) -> str:
    if column not in header.columns:
        raise MissingColumnError(map_path, column, header.columns)
    return header.columns[column]


def _check_policy(source: AbstractSource, way_back: ReleaseMap) -> None:
    """Refuse a map of another policy, where the release says which one it had."""
    from mondegreen.passes import from_json

    stated = [each.guarantee for each in from_json(source.earlier)]
    digests = {each.space_digest for each in stated if each is not None}
    if digests and way_back.header.policy not in digests:
        raise DataError(
            "the map was made under another policy than the release; use the map of "
            "this release"
        )
