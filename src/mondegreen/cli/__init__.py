"""The command line: each verb parses, calls and renders."""

import os

from mondegreen.threads import THREADS

# One job is one core. The libraries that compute read these when they are loaded, and
# this package is imported before any of them.
for _variable in THREADS:
    os.environ.setdefault(_variable, "1")
