"""What recipes measure with, beside models and attacks: one idea a file."""
