"""PrivateText as a scikit-learn transformer: what check_estimator skips for strings."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest

import mondegreen as mg

pytest.importorskip("sklearn")
import pandas as pd
import polars as pl
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import estimator_checks

from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.integrations.options import OPTIONS
from mondegreen.integrations.sklearn import PrivateText
from mondegreen.passes import from_json

pytestmark = pytest.mark.filterwarnings(  # see test_sklearn_releases.py
    "ignore::mondegreen.integrations.sklearn.RepeatedReleaseWarning"
)
WORDS = "I met Ann in Oslo, and we talked of books until it was late."
TEXTS = [WORDS, f"{WORDS} {WORDS}", ""]
KEY = "MONDEGREEN_TEST_KEY"
PARAMETERS = {*OPTIONS, "id_column"}


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv(KEY, bytes(range(32)).hex())
    return KEY


def made(**parameters):
    return PrivateText(**{"epsilon": 10.0, "policy": "all", **parameters})


def is_private(released, given=TEXTS):
    """Whether words changed, and nothing else did."""
    assert len(released) == len(given)
    for text, original in zip(released, given, strict=True):
        assert isinstance(text, str)
        assert [c for c in text if c in ",."] == [c for c in original if c in ",."]
        assert len(text.split()) == len(original.split())
        assert text.split()[:14] != original.split()[:14] or not original
    return True


# What goes in and comes out


@pytest.mark.parametrize("kind", [list, tuple])
def test_a_list_gives_a_list(kind):
    released = made().fit_transform(kind(TEXTS))
    assert type(released) is list
    assert is_private(released)


@pytest.mark.parametrize("dtype", [object, str, np.dtypes.StringDType()], ids=str)
@pytest.mark.parametrize("shape", [(3,), (3, 1)], ids=str)
def test_an_array_gives_an_array_of_objects_of_its_shape(dtype, shape):
    released = made().fit_transform(np.array(TEXTS, dtype=dtype).reshape(shape))
    assert released.dtype == object  # which cuts no longer word short
    assert released.shape == shape
    assert is_private(released.ravel())


def test_words_longer_than_the_strings_of_an_array_are_not_cut():
    given = np.array(["a b c d e f"] * 200)
    assert max(map(len, made().fit_transform(given))) > given.dtype.itemsize // 4


@pytest.mark.parametrize("library", [pd, pl])
def test_a_series_gives_a_series_with_its_name_and_index(library):
    series = library.Series(TEXTS, name="review") if library is pd else None
    if library is pd:
        series.index = [7, 5, 5]
    else:
        series = pl.Series("review", TEXTS)
    released = made().fit_transform(series)
    assert type(released) is type(series)
    assert released.name == "review"
    assert released.dtype == series.dtype
    assert library is pl or list(released.index) == [7, 5, 5]
    assert is_private(list(released))


@pytest.mark.parametrize("library", [pd, pl])
def test_a_frame_of_one_column_gives_such_a_frame(library):
    frame = library.DataFrame({"review": TEXTS})
    released = made().fit_transform(frame)
    assert type(released) is library.DataFrame
    assert list(released.columns) == ["review"]
    assert is_private(list(released["review"]))


@pytest.mark.parametrize("null", [None, float("nan"), pd.NA, pd.NaT], ids=repr)
def test_nulls_stay_as_they_are(null):
    given = [WORDS, null, ""]
    listed = made().fit_transform(given)
    assert listed[1] is null
    assert listed[2] == ""
    assert made().fit_transform(np.array(given, dtype=object))[1] is null
    series = made().fit_transform(pd.Series(given))
    assert list(series.isna()) == [False, True, False]


@pytest.mark.parametrize(
    "given",
    [
        "one text",
        b"bytes",
        None,
        7,
        {"a": "text"},
        [7, "zyxword"],
        [["zyxword"]],
        np.zeros((2, 1)),
        np.array([["zyxword", "b"]]),
        np.array([[["zyxword"]]]),
        np.array("zyxword"),
        pd.DataFrame({"a": ["zyxword"], "b": ["x"]}),
        pd.DataFrame(),
        pd.Series([1, 2]),
        pl.Series([1, 2]),
        pd.DataFrame({"a": [1]}),
        iter(["zyxword"]),
    ],
    ids=lambda x: type(x).__name__,
)
@pytest.mark.parametrize("method", ["fit_transform", "transform"])
def test_what_is_no_column_of_text_is_refused_and_not_quoted(given, method):
    with pytest.raises(InvalidParameterError) as caught:
        getattr(made(), method)(given)
    assert isinstance(caught.value, ValueError)
    assert "zyxword" not in str(caught.value)


# The conventions of scikit-learn


def test_the_checks_of_scikit_learn_that_strings_allow_pass():
    with pytest.warns(Warning, match="Can't test estimator PrivateText"):
        ran = estimator_checks.check_estimator(made(), on_fail=None)
    assert [each["status"] for each in ran] == ["passed"]


@pytest.mark.parametrize(
    "name",
    [
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_get_params_invariance",
        "check_set_params",
        "check_estimator_repr",
        "check_estimator_tags_renamed",
        "check_valid_tag_types",
        "check_estimator_cloneable",
        "check_mixin_order",
    ],
)
@pytest.mark.parametrize("estimator", [PrivateText(), made(keep=["oslo"])], ids=str)
def test_further_checks_of_scikit_learn_that_need_no_numbers_pass(name, estimator):
    getattr(estimator_checks, name)("PrivateText", estimator)


def test_the_constructor_only_stores_and_knows_no_seed():
    odd = {name: object() for name in PARAMETERS}
    estimator = PrivateText(**odd)
    assert vars(estimator) == odd
    assert set(inspect.signature(PrivateText).parameters) == PARAMETERS
    with pytest.raises(TypeError, match="random_state"):
        PrivateText(random_state=1)


def test_parameters_are_set_and_cloned():
    estimator = made(keep=["oslo"], parameters=None).fit(TEXTS)
    copy = clone(estimator.set_params(epsilon=3.0))
    assert copy.get_params() == {
        **made().get_params(),
        "epsilon": 3.0,
        "keep": ["oslo"],
    }
    assert not hasattr(copy, "guarantee_")
    assert estimator.set_output(transform="pandas") is estimator
    assert type(clone(estimator).fit_transform(TEXTS)) is pd.DataFrame


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"epsilon": None}, "needs epsilon"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"mechanism": "no such"}, "no mechanism"),
        ({"unknown": "pass"}, "unknown"),
        ({"keep": "oslo"}, "keep"),
        ({"keep": ["two words"]}, "keep"),
        ({"parameters": {"epsilon": 3.0}}, "besides epsilon"),
        ({"parameters": {"no_such": 3.0}}, "no_such"),
        ({"mechanism": "custext"}, "has no proof of metric privacy"),
        ({"key_env": "ABSENT_KEY"}, "ABSENT_KEY"),
        ({"id_column": "id"}, "key"),
        ({"spec": {}}, "epsilon"),
        ({"spec": {}, "epsilon": None, "policy": None}, "format"),
    ],
    ids=str,
)
def test_fit_checks_the_settings(parameters, says):
    with pytest.raises(mg.errors.MondegreenError, match=says):
        made(**parameters).fit(TEXTS)


def test_a_key_in_the_place_of_its_name_is_neither_kept_nor_shown():
    key = bytes(range(32)).hex()
    estimator = made()
    for put in (made, estimator.set_params, clone(estimator).set_params):
        with pytest.raises(ConfigurationError, match="environment variable") as caught:
            put(key_env=key)
        assert key not in str(caught.value)
    assert key not in repr(estimator)
    assert clone(made(key_env="RELEASE_KEY")).key_env == "RELEASE_KEY"


def test_fit_and_transform_say_the_guarantee_that_the_library_says():
    p = mg.Privatizer(mg.mechanism("tree", epsilon=7.0), unknown="mask", keep=["oslo"])
    given = {"unknown": "mask", "keep": {"oslo"}}
    estimator = PrivateText(epsilon=7.0, policy="all", **given).fit(TEXTS)
    assert estimator.guarantee_ == p.guarantee
    assert PrivateText(spec=p.to_dict()).fit(TEXTS).guarantee_ == p.guarantee


def test_a_second_pass_adds_its_guarantee_to_that_of_the_first():
    frame = pd.DataFrame({"review": TEXTS})
    frame.attrs["secret"] = "zyxword"
    first = made().fit_transform(frame)
    second = PrivateText(epsilon=3.0).fit_transform(first)
    passes = from_json(second.attrs["mondegreen"])
    assert [each.guarantee.epsilon for each in passes] == [10.0, 3.0]
    assert {each.column for each in passes} == {"review"}
    assert "zyxword" not in str(second.attrs)  # metadata may hold text
    series = made().fit_transform(frame["review"])
    assert len(from_json(series.attrs["mondegreen"])) == 1


def test_it_can_transform_without_having_been_fitted():
    assert is_private(made().transform(TEXTS))


def test_the_column_of_transform_is_that_of_fit():
    estimator = made().fit(pd.DataFrame({"review": TEXTS}))
    with pytest.raises(ValueError, match="feature names"):
        estimator.transform(pd.DataFrame({"title": TEXTS}))
    assert estimator.n_features_in_ == 1
    assert list(estimator.get_feature_names_out()) == ["review"]


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize(
    "wrap",
    [
        list,
        np.array,
        lambda x: np.array(x, dtype=object)[:, None],
        pd.Series,
        pl.Series,
        lambda x: pd.DataFrame({"a": x}),
        lambda x: pl.DataFrame({"a": x}),
    ],
    ids=["list", "1-D", "2-D", "pandas", "polars", "pandas 2-D", "polars 2-D"],
)
def test_set_output_gives_the_frame_that_it_names(library, wrap):
    estimator = made().set_output(transform=library.__name__)
    released = estimator.fit_transform(wrap(TEXTS))
    assert type(released) is library.DataFrame
    (name,) = released.columns
    assert name in ("a", "text")
    assert is_private(list(released[name]))


def test_set_output_keeps_index_and_nulls():
    frame = pd.DataFrame({"a": [WORDS, None, WORDS]}, index=[9, 9, 3])
    released = made().set_output(transform="pandas").fit_transform(frame)
    assert list(released.index) == [9, 9, 3]
    assert list(released["a"].isna()) == [False, True, False]
    polars = made().set_output(transform="polars").fit_transform(frame)
    assert polars["a"].null_count() == 1
    assert polars["a"].dtype == pl.String


def test_a_column_transformer_gives_it_a_column_of_a_frame():
    frame = pd.DataFrame({"review": TEXTS, "stars": [1, 2, 3]})
    columns = ColumnTransformer(
        [("private", made(), ["review"])], remainder="passthrough"
    ).set_output(transform="pandas")
    released = columns.fit_transform(frame)
    assert list(released.columns) == ["private__review", "remainder__stars"]
    assert list(released["remainder__stars"]) == [1, 2, 3]
    assert is_private(list(released["private__review"]))
    plain = make_column_transformer((made(), ["review"])).fit_transform(frame)
    assert is_private(list(np.asarray(plain).ravel()))


def test_a_pipeline_counts_private_words_of_one_column():
    frame = pd.DataFrame({"review": TEXTS, "stars": [1, 2, 3]})
    private = make_pipeline(made(), CountVectorizer(token_pattern=r"[^\s.,]+"))
    columns = make_column_transformer((private, "review"), remainder="passthrough")
    counts = columns.fit_transform(frame)
    assert counts.shape[0] == 3
    words = private.fit_transform(TEXTS)
    assert words.sum(axis=1).ravel().tolist() == [[14, 28, 0]]
    zzz = [f"zzzunknown {WORDS}"] * 40  # no word but those of the space
    assert "zzzunknown" not in private.fit(zzz)[-1].vocabulary_


def test_a_model_learns_from_private_texts():
    texts = ["a wonderful film"] * 60 + ["a terrible meal"] * 60
    labels = [0] * 60 + [1] * 60
    model = Pipeline(
        [
            ("private", made(epsilon=14.0)),
            ("count", CountVectorizer()),
            ("model", LogisticRegression()),
        ]
    ).fit(texts, labels)
    assert model.score(list(texts), labels) > 0.7


# Keys


def test_a_fitted_estimator_is_pickled_without_a_key(key):
    frame = pd.DataFrame({"id": ["1", "2", "3"], "text": TEXTS})
    estimator = made(key_env=key, id_column="id").fit(frame)
    released = estimator.transform(frame)
    written = pickle.dumps(estimator)
    assert bytes(range(32)) not in written
    assert bytes(range(32)).hex().encode() not in written
    assert WORDS[:12].encode() not in written
    copy = pickle.loads(written)
    assert copy.guarantee_ == estimator.guarantee_
    pd.testing.assert_frame_equal(copy.transform(frame), released)


def test_a_key_repeats_the_release_of_the_library(key):
    frame = pd.DataFrame({"id": [1, 2, 3], "review": TEXTS})
    estimator = made(key_env=key, id_column="id")
    released = estimator.fit_transform(frame)
    p = mg.Privatizer(
        mg.mechanism("tree", epsilon=10.0), noise=mg.KeyedNoise.from_env(key)
    )
    expected = [str(p(t, id=i, column="review")) for i, t in enumerate(TEXTS, 1)]
    assert list(released["review"]) == expected
    assert list(released.columns) == ["review"]
    assert list(estimator.get_feature_names_out()) == ["review"]
    named = estimator.set_output(transform="polars").transform(
        frame[["review", "id"]][["id", "review"]]
    )
    assert list(named["review"]) == expected


def test_a_key_without_ids_is_refused_and_ids_without_a_key(key):
    with pytest.raises(ConfigurationError, match="id_column"):
        made(key_env=key).fit(TEXTS)
    with pytest.raises(ConfigurationError, match="key_env"):
        made(id_column="id").fit(pd.DataFrame({"id": [1], "text": ["a"]}))
    for given in (TEXTS, pd.DataFrame({"text": TEXTS}), pd.Series(TEXTS)):
        with pytest.raises(InvalidParameterError):
            made(key_env=key, id_column="id").fit(given)


def test_an_index_of_the_name_of_the_column_would_pass_in_clear():
    given = pd.DataFrame({"text": TEXTS}).set_index("text", drop=False)
    with pytest.raises(ConfigurationError, match="reset_index"):
        made().fit_transform(given)
