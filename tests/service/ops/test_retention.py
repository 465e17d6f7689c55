"""Settings for retention and default limits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.http.service_client import problem
from tests.support.records.jobs import TENANT, add_dataset, easy
from tests.support.records.model_maker import add_job, add_model, finish, mixed_tree
from tests.support.records.store_records import progress_update
from tests.support.stack.stack import Stack, poll

SETTINGS = {
    "LITERATI_KEEP_SEARCHES_DAYS": "0",
    "LITERATI_KEEP_JOBS_DAYS": "0.00002",
    "LITERATI_KEEP_DATASETS_DAYS": "0.00002",
    "LITERATI_RECONCILE_SECONDS": "0.1",
    "LITERATI_MIN_FREE_BYTES": "1000000000000000",
    "LITERATI_DEFAULT_MEMORY_LIMIT": "123456789",
    "LITERATI_MAX_PARSE_SECONDS": "0.001",
}


@pytest.fixture(scope="module")
def forgetful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with Stack.with_api(tmp_path_factory.mktemp("forgetful"), server=None, **SETTINGS) as stack:
        yield stack


def test_ended_jobs_expire(forgetful: Stack) -> None:
    """Jobs expire two seconds after their end, searches at once; live jobs, datasets and models are kept."""
    store, blobs = forgetful.store, forgetful.blobs
    live, done = (add_job(forgetful, mixed_tree()) for _ in range(2))
    search = blobs.put(b"a saved search")
    store.jobs.publish_progress(done.spec.id, done.epoch, progress_update(snapshot=search))
    finish(forgetful, done)
    unused = add_dataset(store, blobs, easy())
    poll(lambda: not (blobs.folder / search[:2] / search).exists(), what="the search goes")
    poll(lambda: store.jobs.get(TENANT, done.spec.id) is None, what="the job goes")
    poll(lambda: store.datasets.get(TENANT, unused.id) is None, what="the dataset goes")
    poll(lambda: not (blobs.folder / unused.blob[:2] / unused.blob).exists(), what="its table goes")
    assert store.jobs.get(TENANT, live.spec.id) is not None
    assert store.datasets.get(TENANT, live.spec.dataset_id) is not None
    assert [model.job_id for model in store.models.list(TENANT).items] == [done.spec.id]
    said = [line for line in forgetful.log_lines("api") if line["message"] == "expired records deleted"]
    assert {line["kind"] for line in said} == {"searches", "jobs", "datasets"}


def test_uploads_leave_free_disk_space(forgetful: Stack) -> None:
    with forgetful.client() as client:
        headers = {"Content-Type": "text/csv"}
        answer = client.post("/v1/datasets?target=label", content="x,label\n1,a\n2,b\n", headers=headers)
    detail = problem(answer, 503, "unavailable")["detail"]
    assert "1,000,000,000,000,000 bytes" in detail
    assert "LITERATI_MIN_FREE_BYTES" in detail
    assert not list(forgetful.blobs.incoming.iterdir())


def test_default_memory_limit_of_a_job(forgetful: Stack) -> None:
    live = add_job(forgetful, mixed_tree())
    with forgetful.client() as client:
        body = {"dataset_id": live.spec.dataset_id}
        found = client.post("/v1/jobs?validate_only=true", json=body).json()
    assert found["limits"]["memory_limit"] == 123456789


def test_rows_that_take_too_long(forgetful: Stack) -> None:
    """Many rows are read in a sandboxed process."""
    model = add_model(forgetful, mixed_tree())
    rows = {"columns": ["size"], "data": [[0.5]] * 300_000}
    with forgetful.client() as client:
        answer = client.post(f"/v1/models/{model}/predict", json=rows)
    (error,) = problem(answer, 422)["errors"]
    assert error["code"] == "TOO_SLOW"
    assert "0.001 seconds (LITERATI_MAX_PARSE_SECONDS)" in error["message"]
