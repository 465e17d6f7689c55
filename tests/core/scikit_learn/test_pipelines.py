"""Classifiers behind scikit-learn's transformers: pipelines, column names, categories and copies."""

from __future__ import annotations

import io
import pickle
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.feature_selection import SelectFromModel
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from literati import DataWarning, LiteratiClassifier

NUMBERS = ["income", "years_at_address"]
TEXT = ["employment", "has_savings"]


def imputing() -> Any:
    """Return a transformer that fills in numbers and leaves text and booleans as they are."""
    return make_column_transformer(
        (SimpleImputer(strategy="median"), NUMBERS), ("passthrough", TEXT), verbose_feature_names_out=False
    )


def test_a_pipeline_is_the_classifier_on_the_transformed_rows(either: Any) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    pipeline = make_pipeline(StandardScaler(), either).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    alone = clone(either).fit(scaled, y)
    assert pipeline[-1].tree_ == alone.tree_
    np.testing.assert_array_equal(pipeline.predict_proba(X), alone.predict_proba(scaled))
    assert pipeline.score(X, y) == alone.score(scaled, y) > 0.9


@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_column_transformer(either: Any, rows: pd.DataFrame, repaid: pd.Series, output: str) -> None:
    pipeline = make_pipeline(imputing().set_output(transform=output), either).fit(rows, repaid)
    filled = rows[NUMBERS + TEXT].fillna(rows[NUMBERS].median())
    alone = clone(either).fit(filled, repaid)
    tree = pipeline[-1].tree_
    assert tree.nodes == alone.tree_.nodes
    assert {column.kind for column in tree.schema.columns} == {"number", "category", "boolean"}
    np.testing.assert_array_equal(pipeline.predict(rows), alone.predict(filled))
    if output == "default":
        assert not hasattr(pipeline[-1], "feature_names_in_")
    else:
        assert pipeline[-1].feature_names_in_.tolist() == pipeline[:-1].get_feature_names_out().tolist()
        assert tree.feature_names == (*NUMBERS, *TEXT)


def test_the_output_that_is_set_for_all_transformers(
    classifier: LiteratiClassifier, rows: pd.DataFrame, repaid: pd.Series
) -> None:
    with config_context(transform_output="polars"):
        pipeline = make_pipeline(imputing(), classifier).fit(rows, repaid)
        assert isinstance(pipeline[:-1].transform(rows), pl.DataFrame)
        polars = pipeline.predict(rows)
    np.testing.assert_array_equal(
        make_pipeline(imputing(), classifier).fit(rows, repaid).predict(rows), polars
    )


def test_a_pipeline_of_polars_tables(either: Any, rows: pd.DataFrame, repaid: pd.Series) -> None:
    table, labels = pl.from_pandas(rows), pl.Series(repaid.to_list())
    pipeline = make_pipeline(imputing().set_output(transform="polars"), either).fit(table, labels)
    expected = make_pipeline(imputing(), clone(either)).fit(rows, repaid).predict(rows)
    np.testing.assert_array_equal(pipeline.predict(table), expected)


def test_encoded_categories(classifier: LiteratiClassifier, rows: pd.DataFrame, repaid: pd.Series) -> None:
    one_hot = OneHotEncoder(sparse_output=False).set_output(transform="pandas")
    pipeline = make_pipeline(one_hot, classifier).fit(rows[["employment"]], repaid)
    assert "employment_student" in pipeline[-1].feature_names_in_
    native = clone(classifier).set_params(categories="one_hot").fit(rows[["employment"]], repaid)
    assert pipeline[-1].objective_ == native.objective_
    with pytest.raises(TypeError, match=r"sparse data is not supported; pass a dense array"):
        make_pipeline(OneHotEncoder(), classifier).fit(rows[["employment"]], repaid)
    ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    assert make_pipeline(ordinal, classifier).fit(rows, repaid).score(rows, repaid) > 0.7


def test_categories_pass_through_a_pipeline(
    classifier: LiteratiClassifier, rows: pd.DataFrame, repaid: pd.Series
) -> None:
    typed = rows.astype({"employment": "category"})
    transformer = make_column_transformer(
        ("passthrough", ["employment", "income"]), verbose_feature_names_out=False
    )
    pipeline = make_pipeline(transformer.set_output(transform="pandas"), classifier).fit(typed, repaid)
    alone = clone(classifier).fit(rows[["employment", "income"]], repaid)
    assert pipeline[-1].tree_ == alone.tree_
    unseen = rows.assign(employment="astronaut")
    np.testing.assert_array_equal(pipeline.predict(unseen), alone.predict(unseen[["employment", "income"]]))


@pytest.mark.parametrize("convert", [lambda table: table, pl.from_pandas], ids=["pandas", "polars"])
def test_column_names(either: Any, rows: pd.DataFrame, repaid: pd.Series, convert: Any) -> None:
    either.fit(convert(rows), repaid)
    expected = either.predict(convert(rows))
    assert either.feature_names_in_.tolist() == list(rows.columns)
    assert either.feature_names_in_.dtype == object
    assert either.n_features_in_ == len(rows.columns)
    np.testing.assert_array_equal(either.predict(convert(rows[rows.columns[::-1]])), expected)
    np.testing.assert_array_equal(either.predict(rows.to_numpy(dtype=object)), expected)
    with pytest.raises(
        ValueError, match=r"^X: The feature names should match those that were passed during fit"
    ):
        either.predict(convert(rows.rename(columns={"age": "years"})))
    with pytest.warns(DataWarning, match="columns not seen in training are ignored: 'branch'"):
        np.testing.assert_array_equal(either.predict(convert(rows.assign(branch=1))), expected)
    with pytest.raises(ValueError, match="X has 7 features, but LiteratiClassifier is expecting 8 features"):
        either.predict(rows.to_numpy(dtype=object)[:, :7])


def test_features_are_selected_by_importance(either: Any, rows: pd.DataFrame, repaid: pd.Series) -> None:
    selector = SelectFromModel(either, threshold=1e-9).fit(rows, repaid)
    fitted = selector.estimator_
    assert selector.get_support().tolist() == (fitted.feature_importances_ > 0).tolist()
    used = {rows.columns[node.split.column] for node in fitted.tree_.nodes if node.split is not None}
    assert set(selector.get_feature_names_out()) <= used
    pipeline = make_pipeline(selector.set_output(transform="pandas"), clone(either)).fit(rows, repaid)
    assert pipeline[-1].feature_names_in_.tolist() == selector.get_feature_names_out().tolist()


def stored(model: Any) -> Any:
    """Return a copy through a file of joblib."""
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


@pytest.mark.parametrize("copy", [lambda model: pickle.loads(pickle.dumps(model)), stored])
def test_copies_of_a_fitted_pipeline(either: Any, rows: pd.DataFrame, repaid: pd.Series, copy: Any) -> None:
    pipeline = Pipeline([("impute", imputing()), ("tree", either)]).fit(rows, repaid)
    again = copy(pipeline)
    np.testing.assert_array_equal(again.predict_proba(rows), pipeline.predict_proba(rows))
    assert again["tree"].tree_ == pipeline["tree"].tree_
    assert not hasattr(clone(pipeline)["tree"], "tree_")
    assert clone(pipeline).set_params(tree__min_samples_leaf=7)["tree"].min_samples_leaf == 7
