"""Private texts out of a spaCy pipeline, in two processes.

Run from the root of the repository: ``python examples/spacy_pipeline.py``
"""

from pathlib import Path

import spacy


def main() -> None:
    texts = (Path(__file__).parent / "reviews.txt").read_text("utf-8").splitlines()
    nlp = spacy.blank("en")  # or a model of yours
    nlp.add_pipe("mondegreen", config={"epsilon": 12.0})

    print(nlp.get_pipe("mondegreen").guarantee.summary())
    for doc in nlp.pipe(texts, n_process=2, batch_size=4):
        print(doc._.private_text)  # and nothing else of the Doc


if __name__ == "__main__":
    main()
