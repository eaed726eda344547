"""Small corpora, and modified Kneser-Ney written once more, with dictionaries."""

from collections import Counter, defaultdict

import numpy as np

from mondegreen.language.counts import Counter as TripleCounter
from mondegreen.space.space import Space

WORDS = [f"w{i}" for i in range(12)]
SPACE = Space.from_arrays("twelve", WORDS, np.arange(12.0)[:, None])
SIZE = len(WORDS) + 2
UNKNOWN, BOUNDARY = SIZE - 2, SIZE - 1


def sentences(seed=0, count=400):
    """Sentences with habits: word i likes what follows it; some words are unknown."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        word = int(rng.integers(13))
        sentence = [word]
        for _ in range(rng.poisson(4)):
            step = min(int(rng.geometric(0.5)), 9)
            word = (word + step) % 13
            sentence.append(word)
        found.append(sentence)
    return found


def flat(corpus):
    """Ids of all words, and whether a sentence ends behind each."""
    ids = np.array([word for sentence in corpus for word in sentence], np.int32)
    ends = [i == len(s) - 1 for s in corpus for i in range(len(s))]
    return ids, ends


def counted(corpus):
    counter = TripleCounter(SIZE - 2)
    counter.add(*flat(corpus))
    return counter.finish()


class BruteForce:
    """Chen and Goodman's formula, word by word; n-grams below ``least`` left out."""

    def __init__(self, corpus, least=1):
        self.raw = [Counter(), Counter(), Counter()]
        before = [defaultdict(set), defaultdict(set)]
        for sentence in corpus:
            chain = [BOUNDARY, *sentence, BOUNDARY]
            for place in range(1, len(chain)):
                self.raw[0][chain[place],] += 1
                self.raw[1][tuple(chain[place - 1 : place + 1])] += 1
                before[0][chain[place],].add(chain[place - 1])
                if place >= 2:
                    self.raw[2][tuple(chain[place - 2 : place + 1])] += 1
                    before[1][tuple(chain[place - 1 : place + 1])].add(chain[place - 2])
        pairs = {
            gram: count if gram[0] == BOUNDARY else len(before[1][gram])
            for gram, count in self.raw[1].items()
        }
        single = {gram: len(found) for gram, found in before[0].items()}
        self.counts = [single, pairs, dict(self.raw[2])]
        self.discounts = [self.discount(each) for each in self.counts]
        self.least = least

    @staticmethod
    def discount(counts):
        n = Counter(min(count, 5) for count in counts.values())
        if not all(n[k] for k in (1, 2, 3, 4)):
            return [0, 0.5, 1.0, 1.5]
        y = n[1] / (n[1] + 2 * n[2])
        found = [k - (k + 1) * y * n[k + 1] / n[k] for k in (1, 2, 3)]
        return [0, *found] if min(found) > 0 else [0, 0.5, 1.0, 1.5]

    def part(self, gram):
        """What is left of the count of an n-gram, as a share of its context."""
        order = len(gram) - 1
        if self.raw[order][gram] < self.least:
            return 0.0
        counts = self.counts[order]
        total = sum(c for other, c in counts.items() if other[:-1] == gram[:-1])
        return (counts[gram] - self.discounts[order][min(counts[gram], 3)]) / total

    def prob(self, *gram):
        rest = 1 - sum(self.part((*gram[:-1], word)) for word in range(SIZE))
        lower = self.prob(*gram[1:]) if len(gram) > 1 else 1 / SIZE
        return self.part(gram) + rest * lower
