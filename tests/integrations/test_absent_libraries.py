"""An adapter whose library is absent says how to install it."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.slow("a process each", but="spacy-spacy-spacy")
@pytest.mark.parametrize(
    ("adapter", "library", "extra"),
    [
        ("sklearn", "sklearn", "sklearn"),
        ("spacy", "spacy", "spacy"),
        ("presidio", "presidio_anonymizer", "presidio"),
    ],
)
def test_an_adapter_without_its_library_names_the_extra(adapter, library, extra):
    code = (
        f"import sys; sys.modules[{library!r}] = None\n"
        "from mondegreen.errors import OptionalDependencyError\n"
        f"try:\n    import mondegreen.integrations.{adapter}\n"
        "except OptionalDependencyError as error:\n    sys.exit(str(error))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"pip install '.[{extra}]'" in run.stderr
    assert "in the folder with pyproject.toml" in run.stderr
