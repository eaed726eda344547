"""Commands that answer over HTTP."""
