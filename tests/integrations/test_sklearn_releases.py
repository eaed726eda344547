"""What folds, grids, caches and processes do to PrivateText, and what it says."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")
import joblib
import pandas as pd
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline

from mondegreen.errors import ConfigurationError
from mondegreen.integrations import sklearn as adapter
from mondegreen.integrations.sklearn import PrivateText, RepeatedReleaseWarning

LONG = " ".join(["one two three four five"] * 6)
TEXTS = [f"{LONG} row{i} {LONG}" for i in range(12)]
LABELS = [0, 1] * 6
KEY = "MONDEGREEN_TEST_KEY"


def model(**parameters):
    steps = [
        ("private", PrivateText(epsilon=10.0, policy="all", **parameters)),
        ("count", CountVectorizer()),
        ("model", LogisticRegression()),
    ]
    return Pipeline(steps)


def said(work):
    """Return the warnings of repeated releases that some work raises."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
    ours = [each for each in caught if each.category is RepeatedReleaseWarning]
    text = " ".join(str(each.message) for each in ours)
    assert "row1" not in text
    return [str(each.message) for each in ours]


@pytest.fixture
def releases(monkeypatch):
    """Count how often each row is handed to a privatizer of this process."""
    counted = dict.fromkeys(TEXTS, 0)
    wrap_like = adapter.wrap_like

    def counting(privatizer, texts, *rest):
        for text in texts:
            counted[text] += 1
        return wrap_like(privatizer, texts, *rest)

    monkeypatch.setattr(adapter, "wrap_like", counting)
    return counted


# What is released again


def test_a_fit_and_its_test_data_are_one_release_and_warn_of_nothing(releases):
    estimator = model()
    assert said(lambda: estimator.fit(TEXTS[:8], LABELS[:8])) == []
    assert said(lambda: estimator.predict(TEXTS[8:])) == []
    assert set(releases.values()) == {1}


def test_a_grid_of_two_settings_and_two_folds_says_that_it_releases_rows_5_times(
    releases,
):
    search = GridSearchCV(model(), {"model__C": [1.0, 2.0]}, cv=2)
    messages = said(lambda: search.fit(TEXTS, LABELS))
    assert set(releases.values()) == {5}
    assert len(messages) == 4  # from the second fit on, and not at the end alone
    assert "5 times with noise of their own" in messages[-1]
    assert "epsilon 50 (tree)" in messages[-1]
    assert "Privatize once" in messages[-1]


def test_settings_that_are_searched_add_up_each_with_its_own(releases):
    search = GridSearchCV(model(), {"private__epsilon": [1.0, 4.0]}, cv=2, refit=False)
    messages = said(lambda: search.fit(TEXTS, LABELS))
    assert set(releases.values()) == {4}
    assert "4 times" in messages[-1]
    assert "epsilon 10 (tree)" in messages[-1]


def test_cross_validation_is_counted_with_a_fit_before_it(releases):
    estimator = model().fit(TEXTS, LABELS)
    messages = said(lambda: cross_val_score(estimator, TEXTS, LABELS, cv=3))
    assert set(releases.values()) == {4}
    assert "4 times" in messages[-1]


def test_within_a_column_transformer_it_is_counted_too():
    frame = pd.DataFrame({"text": TEXTS, "n": 1})
    columns = make_column_transformer(
        (Pipeline(model().steps[:2]), "text"), remainder="passthrough"
    )
    estimator = Pipeline([("columns", columns), ("model", LogisticRegression())])
    assert said(lambda: estimator.fit(frame, LABELS)) == []
    messages = said(lambda: cross_val_score(estimator, frame, LABELS, cv=2))
    assert "3 times" in messages[-1]


@pytest.mark.parametrize("given", [np.array(TEXTS), pd.Series(TEXTS)], ids=type)
def test_the_same_object_in_transform_is_a_second_release(given):
    estimator = PrivateText(epsilon=10.0, policy="all")
    first = estimator.fit_transform(given)
    second = []
    (message,) = said(lambda: second.append(estimator.transform(given)))
    assert not set(first) & set(second[0])
    assert "released 2 times" in message
    assert "epsilon 20 (tree)" in message
    assert said(lambda: estimator.transform(given.copy())) == []  # who can tell?
    (third,) = said(lambda: estimator.transform(given))
    assert "released 3 times" in third


def test_what_was_released_twice_stays_so_when_the_object_is_gone():
    estimator = PrivateText(epsilon=10.0)

    def twice():
        given = np.array(TEXTS)
        return estimator.fit_transform(given), estimator.transform(given)

    assert len(said(twice)) == 1
    said(lambda: estimator.transform(np.array(TEXTS)))
    assert "released 3 times" in said(lambda: estimator.fit(TEXTS))[0]


def test_test_data_that_is_scored_twice_is_released_twice(releases):
    test = np.array(TEXTS[8:])
    estimator = model().fit(TEXTS[:8], LABELS[:8])
    assert said(lambda: estimator.predict(test)) == []
    assert "2 times" in said(lambda: estimator.predict_proba(test))[0]
    scores = ["accuracy", "roc_auc"]
    options = {"scoring": scores, "cv": 2, "return_train_score": True}
    counted = sum(releases.values())
    said(lambda: cross_validate(model(), np.array(TEXTS), LABELS, **options))
    assert sum(releases.values()) > counted + 2 * len(TEXTS)


def test_transform_on_test_data_draws_anew():
    estimator = PrivateText(epsilon=10.0).fit(TEXTS)
    first, second = (estimator.transform(list(TEXTS)) for _ in range(2))
    assert not set(first) & set(second)
    assert not set(clone(estimator).transform(TEXTS)) & {*first, *second}


def test_as_an_error_it_stops_the_second_fit_before_it_draws(releases):
    estimator = PrivateText(epsilon=10.0)
    estimator.fit_transform(TEXTS)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RepeatedReleaseWarning)
        with pytest.raises(RepeatedReleaseWarning):
            estimator.fit_transform(TEXTS)
    assert set(releases.values()) == {1}


def test_another_estimator_is_another_family():
    PrivateText(epsilon=10.0).fit_transform(TEXTS)
    assert said(lambda: PrivateText(epsilon=10.0).fit_transform(TEXTS)) == []


def test_what_was_released_through_a_clone_or_a_copy_counts():
    estimator = PrivateText(epsilon=10.0)
    clone(estimator).fit_transform(TEXTS)
    copy = pickle.loads(pickle.dumps(estimator))
    assert "2 times" in said(lambda: copy.fit_transform(TEXTS))[0]
    assert "3 times" in said(lambda: estimator.fit_transform(TEXTS))[0]


def test_no_row_is_remembered_nor_kept_alive():
    estimator = PrivateText(epsilon=10.0)
    given = np.array(["zyxwoldemorth bad"] * 3)
    estimator.fit_transform(given)
    family = adapter._FAMILIES[estimator._family]
    assert "zyxwoldemorth" not in repr(family) + repr(vars(estimator))
    (reference, _) = family.fits[0].given[0]
    is_held = reference() is not None  # pytest would keep what an assert compares
    del given
    assert is_held
    assert reference() is None
    assert b"zyxwoldemorth" not in pickle.dumps(estimator)


# Keys: one release for each setting


@pytest.mark.slow("two searches")
def test_a_key_repeats_the_release_in_folds_and_grids(monkeypatch):
    monkeypatch.setenv(KEY, bytes(range(32)).hex())
    frame = pd.DataFrame({"id": range(12), "text": TEXTS})
    steps = model(key_env=KEY, id_column="id").steps
    steps[1] = ("count", CountVectorizer(preprocessor=lambda row: row[0]))
    private = steps[0][1]
    estimator = Pipeline([*steps[:1], ("rows", ToArray()), *steps[1:]])
    search = GridSearchCV(estimator, {"model__C": [1.0, 2.0]}, cv=2)
    assert said(lambda: search.fit(frame, LABELS)) == []
    assert said(lambda: private.fit_transform(frame)) == []
    other = GridSearchCV(estimator, {"private__epsilon": [1.0, 2.0]}, cv=2)
    messages = said(lambda: other.fit(frame, LABELS))
    assert "3 times" in messages[-1]  # one of epsilon 10, 1 and 2 each
    assert "epsilon 13 (tree)" in messages[-1]


class ToArray(PrivateText.__mro__[1]):
    """The step between a frame of one column and a vectorizer."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X.to_numpy()


# Caches


@pytest.mark.parametrize("jobs", [None, 0, 1, 2], ids="{} jobs of a column".format)
def test_a_pipeline_with_memory_is_refused_before_anything_is_written(jobs, tmp_path):
    nested = jobs is not None
    given = pd.DataFrame({"text": TEXTS}) if nested else TEXTS
    step = PrivateText(epsilon=10.0)
    if nested:
        parts = Pipeline(model().steps[:2])
        step = make_column_transformer((parts, "text"), n_jobs=jobs or None)
    rest = [] if nested else [("count", CountVectorizer())]
    steps = [("first", step), *rest, ("model", LogisticRegression())]
    estimator = Pipeline(steps, memory=str(tmp_path))
    with pytest.raises(ConfigurationError, match="memory="):
        estimator.fit(given, LABELS)
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(b"row1" in each for each in written)
    if jobs != 2:
        estimator.set_params(memory=None).fit(given, LABELS)


def test_joblib_writes_rows_in_clear_and_replays_where_it_is_not_refused(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(adapter, "_refuse_memory", lambda: None)
    pipe = Pipeline(
        [("private", PrivateText(epsilon=10.0)), ("as it is", "passthrough")],
        memory=joblib.Memory(tmp_path, verbose=0),
    )
    first, second = (clone(pipe).fit_transform(TEXTS) for _ in range(2))
    assert first == second  # why it is refused
    written = b"".join(p.read_bytes() for p in tmp_path.rglob("metadata.json"))
    assert b"row1" in written


def experiment(rows):
    pipe = clone(Pipeline(model().steps[:2]))
    return pipe.fit_transform(TEXTS[:rows]).shape


def test_a_cache_around_a_whole_experiment_is_its_author_s(tmp_path):
    cached = joblib.Memory(tmp_path, verbose=0).cache(experiment)
    assert cached(3)[0] == 3


# Processes


def released(estimator, texts):
    return estimator.fit_transform(texts)


@pytest.mark.slow("starts processes")
@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
@pytest.mark.filterwarnings(
    "ignore::mondegreen.integrations.sklearn.RepeatedReleaseWarning"
)
def test_two_jobs_share_no_noise(backend):
    estimator = PrivateText(epsilon=1.0).fit(TEXTS)
    same = [TEXTS[0]] * 5
    work = [joblib.delayed(released)(estimator, same) for _ in range(4)]
    found = joblib.Parallel(n_jobs=2, backend=backend)(work)
    texts = [text for one in found for text in one]
    assert len(set(texts)) == 20


@pytest.mark.slow("starts processes")
def test_a_search_in_other_processes_is_told_of_at_the_last_fit():
    search = GridSearchCV(model(), {"model__C": [1.0, 2.0]}, cv=2, n_jobs=2)
    messages = said(lambda: search.fit(TEXTS, LABELS))
    assert "what other processes release is not in these numbers" in messages[-1]
