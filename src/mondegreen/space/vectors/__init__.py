"""Files of word vectors: their formats, their download, and a space built from them."""
