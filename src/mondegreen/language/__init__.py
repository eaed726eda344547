"""Public language models: how likely a word is behind the two words before it."""
