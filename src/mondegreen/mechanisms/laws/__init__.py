"""Laws over the words of a space as integers: exact draws, exact certificates."""
