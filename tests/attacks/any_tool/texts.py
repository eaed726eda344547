"""Texts with names, places and illnesses, and releases of them."""

import random
import re

NAMES = ("Ann", "Bob", "Maria", "Peter", "Laura", "Kevin", "Susan", "Frank")
PLACES = ("Oslo", "Paris", "Texas", "Berlin", "Madrid", "Boston")
ILLNESSES = ("diabetes", "asthma", "cancer", "pneumonia", "arthritis")
_FRAMES = (
    "{name} went to {place} because of {illness} and stayed for weeks.",
    "The doctor in {place} told {name} about the {illness} at once.",
    "My neighbor {name} has {illness} and wants to move to {place}.",
    "We wrote to {name} in {place} that {illness} is in the family.",
)


def make_texts(count, seed=0):
    """Make texts, and the annotations of their names, places and illnesses."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        text, spans = "", []
        for _ in range(rng.randint(1, 3)):
            chosen = {
                "name": rng.choice(NAMES),
                "place": rng.choice(PLACES),
                "illness": rng.choice(ILLNESSES),
            }
            for part in re.split(r"(\{\w+\})", rng.choice(_FRAMES)):
                if part[:1] == "{":
                    kind = part[1:-1]
                    spans.append([len(text), len(text) + len(chosen[kind]), kind])
                    part = chosen[kind]
                text += part
            text += " "
        found.append((text.rstrip(), spans))
    return found


def replace(text, change):
    """Put what ``change`` makes of each word in its place."""
    return re.sub(r"\w+", lambda found: change(found.group()), text)
