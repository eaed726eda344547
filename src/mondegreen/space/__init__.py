"""The public space: words, their vectors, and the metric between them."""
