"""The variables that hold libraries to one thread. Imports nothing: it comes first."""

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
