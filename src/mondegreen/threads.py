"""The variables that hold libraries to one thread. Imports nothing."""

from typing import Final

__all__ = ["THREADS"]

THREADS: Final = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""What the libraries that compute read when they are loaded."""
