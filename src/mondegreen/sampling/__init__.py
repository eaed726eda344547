"""Laws as pure functions of a random generator and parameters."""
