"""RemoteClassifier: scikit-learn's conventions, with every search on a real server."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from literati import LiteratiClassifier, StopReason
from literati.client import Client, InvalidRequestError, Job, RemoteClassifier, RetryPolicy
from tests.client.conftest import Api
from tests.client.test_datasets import mixed
from tests.support.http.cutting_proxy import CuttingProxy
from tests.support.http.scripted_server import ScriptedServer
from tests.support.stack.stack import Stack

SMALL: dict[str, Any] = {"max_depth": 3, "max_changepoints": 2, "max_expansions": 300, "time_limit": None}
CHECKS = list(estimator_checks_generator(RemoteClassifier(), legacy=True))
X, Y = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def shared(stack: Stack) -> Iterator[Client]:
    with Client(stack.url) as client:
        yield client


@pytest.mark.slow
@pytest.mark.parametrize("check", [check for _, check in CHECKS], ids=lambda check: check.func.__name__)
def test_scikit_learn_checks(shared: Client, check: Any) -> None:
    check(RemoteClassifier(shared, keep=False, **SMALL))


def test_there_are_as_many_checks_as_for_the_local_classifier() -> None:
    local = list(estimator_checks_generator(LiteratiClassifier(), legacy=True))
    assert [check.func for _, check in CHECKS] == [check.func for _, check in local]
    assert len(CHECKS) > 40


def same(remote: RemoteClassifier, local: LiteratiClassifier) -> None:
    """Check that both classifiers have the same tree, with the same columns and classes."""
    found, expected = remote.tree_.to_dict(), local.tree_.to_dict()
    assert found == expected
    assert remote.classes_.dtype == local.classes_.dtype
    assert (remote.lower_bound_, remote.upper_bound_) == (local.lower_bound_, local.upper_bound_)
    assert (remote.stop_reason_, remote.n_expansions_) == (local.stop_reason_, local.n_expansions_)
    assert remote.trace_.dtype == local.trace_.dtype


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["low", "high"]),
        np.array([" low", "low"]),
        np.array(["", "x"]),
        np.array([10, 2]),
        np.array([True, False]),
        np.array([1.0, 10.0]),
        np.array([2**63 + 1, 5], dtype=np.uint64),
    ],
    ids=str,
)
def test_labels_of_all_kinds(shared: Client, labels: Any) -> None:
    frame = mixed()
    rows, y = frame.drop(columns="label"), labels[(frame["label"] == "high").to_numpy().astype(int)]
    remote = RemoteClassifier(shared, **SMALL).fit(rows, y)
    same(remote, LiteratiClassifier(**SMALL).fit(rows, y))
    assert remote.predict(rows).tolist() == y.tolist()


@pytest.mark.parametrize("categories", ["ordered", "one_hot"])
def test_columns_of_all_kinds(shared: Client, categories: str) -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            " spaced ": rng.choice([" a", "a ", "a", ""], 150),
            "number, with comma": rng.normal(size=150),
            "target": pd.Categorical(rng.choice([10, 9, 100], 150)),
            "weight": pd.array([True, False, None] * 50, dtype="boolean"),
            "constant": 3,
            "missing": np.nan,
        }
    )
    y = np.where((rows[" spaced "] == "a") ^ (rows["number, with comma"] > 0), "yes", "no")
    options = {**SMALL, "categories": categories}
    with pytest.warns(UserWarning, match="constant columns are ignored"):
        remote = RemoteClassifier(shared, **options).fit(rows, y)
    with pytest.warns(UserWarning, match="constant columns are ignored"):
        same(remote, LiteratiClassifier(**options).fit(rows, y))
    assert remote.feature_names_in_.tolist() == list(rows.columns)


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0, 1: 0.5, 2: 0.0}])
def test_weights(shared: Client, class_weight: Any) -> None:
    weights = np.random.default_rng(1).integers(0, 3, len(Y)) / 2
    options = {**SMALL, "class_weight": class_weight}
    remote = RemoteClassifier(shared, **options).fit(X, Y, sample_weight=weights)
    same(remote, LiteratiClassifier(**options).fit(X, Y, sample_weight=weights))


def test_what_stays_on_the_server(shared: Client) -> None:
    kept = RemoteClassifier(shared, **SMALL).fit(X, Y)
    assert shared.models.get(kept.model_id_)["job_id"] == kept.job_id_
    assert shared.datasets.get(kept.dataset_id_).rows == len(Y)
    ids = [{record.id for record in records.list()} for records in (shared.jobs, shared.datasets)]
    gone = RemoteClassifier(shared, keep=False, **SMALL).fit(X, Y)
    assert [{record.id for record in records.list()} for records in (shared.jobs, shared.datasets)] == ids
    same(gone, LiteratiClassifier(**SMALL).fit(X, Y))


def records(client: Client) -> list[list[str]]:
    """Return the ids of all records on the server."""
    return [[found.id for found in kind.list()] for kind in (client.datasets, client.jobs, client.models)]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_nothing_stays_of_a_fit_that_does_not_end(
    shared: Client, noise: pd.DataFrame, error: type[BaseException]
) -> None:
    """A running job must be cancelled and must have ended before it can be deleted."""

    def stop(job: Job) -> None:
        if job.objective is not None and error is KeyboardInterrupt:
            signal.raise_signal(signal.SIGINT)  # Ctrl-C
        if job.objective is not None:
            raise RuntimeError("a callback that fails")

    before = records(shared)
    remote = RemoteClassifier(shared, keep=False, max_depth=6, time_limit=600, callback=stop)
    with pytest.raises(error, match=r"interrupted\. With keep=False|a callback that fails"):
        remote.fit(noise.drop(columns="label"), noise["label"])
    assert records(shared) == before


@pytest.mark.parametrize("path", [b"/v1/datasets", b"/v1/jobs"])
def test_nothing_stays_if_an_answer_does_not_arrive(shared: Client, stack: Stack, path: bytes) -> None:
    """Ctrl-C comes when the server has made the record and the client does not know its id."""
    posted: list[bytes] = []
    cut: list[bytes] = []

    def on_request(data: bytes) -> bool:
        posted.extend([data] if data.startswith(b"POST " + path) else [])
        return False

    def on_answer(data: bytes) -> bool:
        if not posted or cut or not data.startswith((b"HTTP/1.1 201", b"HTTP/1.1 202")):
            return False
        cut.append(data)
        os.kill(os.getpid(), signal.SIGINT)
        return True

    before = records(shared)
    with (
        CuttingProxy(lambda: stack.url, on_request=on_request, on_answer=on_answer) as proxy,
        Client(proxy.url) as client,
        pytest.raises(KeyboardInterrupt),
    ):
        RemoteClassifier(client, keep=False, **SMALL).fit(X, Y)
    assert len(cut) == 1
    assert records(shared) == before


def test_what_stays_although_it_should_not(api: Api) -> None:
    def kill(job: Job) -> None:
        api.kill()
        raise RuntimeError("the server is gone")

    retry = RetryPolicy(retries=0)
    with Client(api.stack.url, retry=retry) as client:
        remote = RemoteClassifier(client, keep=False, callback=kill)
        with (
            pytest.warns(UserWarning, match=f"may still be on the server {client.url}: .* does not answer"),
            pytest.raises(RuntimeError, match="the server is gone"),
        ):
            remote.fit(X, Y)


def test_pyarrow_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    remedy = "needs the package pyarrow. Install it with: pip install pyarrow"
    with ScriptedServer() as server, Client(server.url) as client:
        with pytest.raises(
            ImportError, match=f"The table of a RemoteClassifier is sent as Arrow, .*{remedy}"
        ):
            RemoteClassifier(client).fit(X, Y)
        with pytest.raises(ImportError, match=f"A mapping of columns is sent as Arrow, .*{remedy}"):
            client.datasets.upload({"x": [1, 2], "y": [0, 1]}, target="y")
        assert server.asked == []


def test_errors(shared: Client) -> None:
    with pytest.raises(ValueError, match="max_depth"):
        RemoteClassifier(shared, max_depth=99).fit(X, Y)
    with pytest.raises(InvalidRequestError):
        RemoteClassifier(shared, keep=False, memory_limit=1).fit(X, Y)
    with pytest.raises(ValueError, match="two or more classes"):
        RemoteClassifier(shared).fit(X, np.zeros(len(Y)))


def test_a_callback_ends_the_search(shared: Client, noise: pd.DataFrame) -> None:
    seen: list[Job] = []

    def enough(job: Job) -> bool:
        seen.append(job)
        return job.objective is not None

    rows = noise.drop(columns="label")
    remote = RemoteClassifier(shared, max_depth=6, time_limit=600, callback=enough).fit(rows, noise["label"])
    assert remote.stop_reason_ is StopReason.USER_STOP
    assert seen


def test_pickles_and_copies(shared: Client) -> None:
    remote = RemoteClassifier(shared, **SMALL).fit(X, Y)
    copy = pickle.loads(pickle.dumps(remote))
    assert copy.client.url == shared.url
    assert (copy.predict(X) == remote.predict(X)).all()
    assert (copy.job_id_, copy.get_params()["max_depth"]) == (remote.job_id_, 3)
    copy.client.close()
    fresh = clone(remote)
    assert fresh.client is shared
    assert not hasattr(fresh, "tree_")


def test_a_client_of_the_environment(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITERATI_URL", stack.url)
    assert RemoteClassifier(**SMALL).fit(X, Y).score(X, Y) > 0.9


def test_inside_scikit_learn(shared: Client) -> None:
    pipeline = make_pipeline(StandardScaler(), RemoteClassifier(shared, keep=False, **SMALL))
    search = GridSearchCV(pipeline, {"remoteclassifier__max_depth": [1, 2]}, cv=2).fit(X, Y)
    assert search.best_params_ == {"remoteclassifier__max_depth": 2}


@pytest.mark.slow
def test_weights_reach_the_server_from_other_processes(shared: Client) -> None:
    frame = mixed()
    rows, y = frame.drop(columns="label"), frame["label"]
    weights = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    found = []
    with config_context(enable_metadata_routing=True):
        for model in (RemoteClassifier(shared, keep=False, **SMALL), LiteratiClassifier(**SMALL)):
            model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
            pipeline = make_pipeline(FunctionTransformer(), model)
            options = {"cv": 2, "n_jobs": 2, "return_estimator": True}
            found.append(cross_validate(pipeline, rows, y, params={"sample_weight": weights}, **options))
    for remote, local in zip(found[0]["estimator"], found[1]["estimator"], strict=True):
        same(remote[-1], local[-1])
        assert remote[-1].tree_.nodes[0].rows < len(y) / 2  # without the rows of weight 0
        remote[-1].client.close()


def test_calibration(shared: Client) -> None:
    remote, local = RemoteClassifier(shared, keep=False, **SMALL), LiteratiClassifier(**SMALL)
    shares = [
        CalibratedClassifierCV(FrozenEstimator(model.fit(X, Y))).fit(X, Y).predict_proba(X)
        for model in (remote, local)
    ]
    np.testing.assert_array_equal(*shares)
