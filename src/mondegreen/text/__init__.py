"""From texts to words and back, without loss."""
