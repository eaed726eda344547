"""The command line: each verb parses, calls and renders."""

import os

# One job is one core. The libraries that compute read these when they are loaded, and
# this package is imported before any of them.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
