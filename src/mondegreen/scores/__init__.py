"""Numbers that judge a law or a release: definitions, ranges, directions, errors."""
