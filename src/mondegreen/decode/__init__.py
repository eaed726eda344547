"""The noisy-channel decoder: from released words to the sentence they may stand for."""
