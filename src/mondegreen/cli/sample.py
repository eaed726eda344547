"""The public sample of text that ``calibrate`` and ``chances`` are given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mondegreen.calibration.sample import Sample
    from mondegreen.space.space import Space


PUBLIC_SAMPLE: Final = (
    "SAMPLE must be PUBLIC: what is chosen on a text tells about that text."
)


def counted(
    path: str, format: Any, columns: tuple[str, ...], space: Space, *, quiet: bool
) -> Sample:
    """Count the words of the sample."""
    from mondegreen.calibration.sample import read_sample
    from mondegreen.cli.progress import progress
    from mondegreen.io.open import open_source

    with (
        open_source(path, format=format, columns=columns, missing="pass") as source,
        progress(source, quiet=quiet) as advance,
    ):
        return read_sample(source, space, advance)
