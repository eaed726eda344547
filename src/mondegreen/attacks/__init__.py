"""What an adversary recovers from a release: one file an attack."""
