"""Copying bytes through a source and a sink, and looking into errors."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from mondegreen.errors import DataError
from mondegreen.io.open import open_sink, open_source

CANARY = "xylophone"


def copy_file(
    source_path, target_path, change=None, force=False, in_place=False, **options
):
    """Copy a file, ``change`` applied to every array of text; return the batches."""
    with open_source(source_path, **options) as source:
        batches = []
        with open_sink(target_path, source, force=force, in_place=in_place) as sink:
            for batch in source.batches():
                changed = batch
                for name in source.text_columns if change else ():
                    index = batch.schema.get_field_index(name)
                    changed = changed.set_column(
                        index, name, change(batch.column(index))
                    )
                batches.append(batch)
                sink.write(changed)
            sink.commit({"mondegreen": "promise"})
    return batches


def shout(array: pa.Array) -> pa.Array:
    """Put text in capitals, in lists too."""
    if pa.types.is_list(array.type):
        inner = shout(array.flatten())
        return pa.ListArray.from_arrays(array.offsets, inner, mask=array.is_null())
    return pc.utf8_upper(array)


@pytest.fixture(scope="session")
def copied() -> Callable[..., bytes]:
    """Return a function from bytes and a suffix to the bytes of the copy."""

    def run(data: bytes, suffix: str, **options) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            given, made = Path(folder, "in" + suffix), Path(folder, "out" + suffix)
            given.write_bytes(data)
            copy_file(given, made, **options)
            assert [p.name for p in sorted(Path(folder).iterdir())] == [
                given.name,
                made.name,
            ]
            return made.read_bytes()

    return run


@pytest.fixture(scope="session")
def copy():
    """Return the function that copies a file."""
    return copy_file


@pytest.fixture(scope="session")
def capitals():
    """Return the function that puts arrays of text in capitals."""
    return shout


@pytest.fixture(scope="session")
def refused():
    """Return a function that copies bytes and gives the error, free of the canary."""

    def run(data: bytes, suffix: str, kind=DataError, **options) -> Exception:
        with tempfile.TemporaryDirectory() as folder:
            given, made = Path(folder, "in" + suffix), Path(folder, "out" + suffix)
            given.write_bytes(data)
            with pytest.raises(kind) as caught:
                copy_file(given, made, **options)
            assert [p.name for p in Path(folder).iterdir()] == [given.name]
        assert_silent(caught.value)
        return caught.value

    return run


def assert_silent(error: BaseException | None) -> None:
    """Check that neither an error nor what it came from holds the canary."""
    while error is not None:
        held = f"{error} {error!r} {error.args!r} {vars(error)!r}"
        for slot in ("object", "doc"):  # of Unicode and JSON errors
            held += repr(getattr(error, slot, ""))
        assert CANARY not in held
        error = error.__cause__ or error.__context__
