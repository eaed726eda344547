"""Learn from private reviews: privatize once, then search as often as you like.

Run from the root of the repository: ``python examples/sklearn_pipeline.py``
"""

import csv
from pathlib import Path

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from mondegreen.integrations.sklearn import PrivateText

with (Path(__file__).parent / "reviews.csv").open(newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
texts = [row["review"] for row in rows] * 10
good = [int(row["stars"]) >= 4 for row in rows] * 10

private = PrivateText(epsilon=12.0)
released = private.fit_transform(texts)  # one release of each row

model = make_pipeline(TfidfVectorizer(), LogisticRegression())
search = GridSearchCV(model, {"logisticregression__C": [0.1, 1.0]}, cv=2)
search.fit(released, good)

print(private.guarantee_.summary())
print(f"right on held-out private reviews: {search.best_score_:.0%}")
