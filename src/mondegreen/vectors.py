"""The former place of :mod:`mondegreen.privatizer.vectors`, for one version."""

from mondegreen.privatizer.vectors import term_frequencies as term_frequencies
from mondegreen.privatizer.vectors import word_vectors as word_vectors
