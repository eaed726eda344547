"""The service, and the guard that stands before a language model."""
