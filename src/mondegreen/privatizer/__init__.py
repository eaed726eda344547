"""The one way of the data: texts to words, words through a mechanism, back to texts."""
