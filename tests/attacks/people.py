"""Texts of people who are equally frequent: how often a word occurs tells little."""

import random

FIRST = (
    "Anna Ben Clara David Emma Felix Grace Hannah Ivan Julia Karl Laura Martin Nora "
    "Oscar Paula Robert Sara Thomas Ursula Victor Wendy Albert Bertha Conrad Doris "
    "Edgar Fiona Gustav Helena"
).split()
LAST = (
    "Okonkwo Abernathy Schmidt Garcia Rossi Kowalski Yilmaz Tanaka Larsen Dubois "
    "Petrov Castillo Horvath Jansen Keller Moreau Olsen Quinn Romano Sato Takahashi "
    "Virtanen Weber Xu Zhang Zimmermann Andersson Bauer Diaz Jensen"
).split()
PLACES = (
    "Leeds Oslo Boston Lyon Madrid Prague Vienna Porto Dublin Krakow Lisbon Hamburg "
    "Naples Zagreb Warsaw"
).split()
ILLNESSES = (
    "diabetes asthma migraine eczema depression epilepsy pneumonia arthritis cancer "
    "anemia hepatitis bronchitis insomnia gout malaria"
).split()
FRAMES = (
    "This is {} {} and the parcel never came. I live in {} and have {}.",
    "We told {} {} from {} that nobody can help with {}.",
    "The order of {} {} in {} was late, because of {}.",
)
PEOPLE = 60


def make_texts_of_people(rows=8, seed=0):
    """Make equally many texts of 60 people with a name, a town and an illness."""
    rng = random.Random(seed)
    kinds = (FIRST, LAST, PLACES, ILLNESSES)
    people = [[rng.choice(words) for words in kinds] for _ in range(PEOPLE)] * rows
    rng.shuffle(people)
    return [rng.choice(FRAMES).format(*person) for person in people]
