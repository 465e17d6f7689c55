"""Jobs: create, wait, control, list, and what they show."""

from __future__ import annotations

import pandas as pd
import pytest

from literati import ShapeTree
from literati.client import (
    CancelledError,
    Client,
    Dataset,
    FailedError,
    Job,
    WaitTimeoutError,
)
from tests.client.conftest import FAST, Api
from tests.support.records import jobs
from tests.support.stack.acting_worker import ActingWorker, costs
from worker.domain.jobs import JobState


def test_from_the_table_to_predictions(client: Client, easy: pd.DataFrame) -> None:
    dataset = client.datasets.upload(easy, target="label")
    job = client.jobs.create(dataset, max_depth=2, split_penalty=1, time_limit=60, name="a job")
    assert (job["parameters"]["split_penalty"], job["limits"]["time_limit"]) == (1, 60)
    model = job.wait()
    assert (job.state, job.ended, job.name) == ("SUCCEEDED", True, "a job")
    assert job.proven_optimal
    assert job.objective == job.upper_bound == job.lower_bound == model.objective
    tree = model.tree()
    assert isinstance(tree, ShapeTree)
    rows = easy.drop(columns="label")
    assert (model.predict(rows) == tree.predict(rows)).all()
    assert model.score(easy)["scores"]["accuracy"] > 0.9
    assert job.trace()[-1]["upper"] == job.upper_bound
    assert job.scores()["points"][-1]["train_accuracy"] == job["metrics"]["train_accuracy"]
    assert job.tree() == tree


def test_the_progress_line(client: Client, dataset: Dataset, capsys: pytest.CaptureFixture[str]) -> None:
    client.jobs.create(dataset, max_depth=2).wait(progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    last = shown.err.split("\r")[-1]
    assert last.startswith("SUCCEEDED")
    assert "gap 0.00 %  explored 100.0 %" in last
    assert last.endswith("s\n")


@pytest.mark.parametrize("form", ["text", "function"])
def test_a_tree_that_is_good_enough(client: Client, endless: Dataset, form: str) -> None:
    job = client.jobs.create(endless, max_depth=6, time_limit=600)
    seen: list[int] = []

    def enough(current: Job) -> bool:
        assert current is job
        seen.append(current.progress["incumbents"])
        return seen[-1] >= 2

    model = job.wait(until="trees>=2" if form == "text" else enough)
    assert (job.state, job["stop_reason"]) == ("SUCCEEDED", "USER_FINISH")
    assert model["incumbent_revision"] >= 2
    assert not job.proven_optimal


def test_a_condition_that_cannot_be_read(client: Client, dataset: Dataset) -> None:
    with pytest.raises(ValueError, match="until: expected conditions"):
        client.jobs.create(dataset).wait(until="gap=0.1")


def test_the_time_is_over(client: Client, endless: Dataset) -> None:
    job = client.jobs.create(endless, max_depth=6, time_limit=600)
    with pytest.raises(WaitTimeoutError, match=r"has not ended in 0\.5 s; it continues"):
        job.wait(timeout=0.5)
    assert not job.refresh().ended
    job.cancel()
    with pytest.raises(CancelledError, match="was cancelled") as caught:
        job.wait()
    assert caught.value.record["state"] == "CANCELLED"


def test_control(client: Client, endless: Dataset) -> None:
    job = client.jobs.create(endless, max_depth=6, time_limit=600, tags={"for": "control"}, priority=5)
    for _ in job.events():
        if job.refresh().progress["incumbents"]:
            break
    job.update(name="second", limits={"time_limit": 500})
    assert (job.name, job["limits"]["time_limit"], job["priority"]) == ("second", 500, 5)
    job.pause()
    for event in job.events():
        if event.data.get("state") == "PAUSED":
            break
    assert job.refresh().state == "PAUSED"
    assert job.resume().state in ("QUEUED", "STARTING", "RUNNING")
    first = job.tree(revision=1)
    assert first is not None
    model = job.finish(revision=1).wait()
    assert model["incumbent_revision"] == 1
    assert [found.id for found in client.jobs.list(tag="for:control", state="SUCCEEDED")] == [job.id]
    assert list(client.jobs.list(dataset=endless, name="third")) == []
    job.delete()
    assert job.restore().state == "SUCCEEDED"


def test_a_job_starts_from_another(client: Client, dataset: Dataset) -> None:
    first = client.jobs.create(dataset, max_depth=1)
    first.wait()
    second = client.jobs.create(dataset, parent=first, validation={"fraction": 0.3}, max_depth=2)
    second.wait()
    assert second["parent_job_id"] == first.id
    assert second["metrics"]["validation"]["accuracy"] > 0.5


def test_lists_of_several_pages(client: Client, dataset: Dataset) -> None:
    made = [client.jobs.create(dataset, max_expansions=1, name="paged").id for _ in range(5)]
    assert [job.id for job in client.jobs.list(name="paged", page_size=2)] == made[::-1]
    for job in client.jobs.list(name="paged"):
        job.wait()


def test_a_job_that_fails(api: Api) -> None:
    dataset = jobs.add_dataset(api.stack.store, api.stack.blobs, jobs.easy())
    with Client(api.stack.url) as client:
        job = client.jobs.create(dataset.id)
        ActingWorker(api.stack.store).finish(3, tree=0, state=JobState.FAILED, reason=None)
        with pytest.raises(FailedError, match=f"The job {job.id} failed: As told"):
            job.wait()


def test_what_a_notebook_shows(api: Api) -> None:
    dataset = jobs.add_dataset(api.stack.store, api.stack.blobs, jobs.easy())
    with Client(api.stack.url, retry=FAST) as client:
        job = client.jobs.create(dataset.id, name="<b>bold</b>")
        assert "no tree yet" in job._repr_html_()
        assert "&lt;b&gt;bold&lt;/b&gt;" in job._repr_html_()
        worker = ActingWorker(api.stack.store)
        worker.checkpoint(10, tree=1)
        page = job._repr_html_()
        assert f"10 to {costs()[1]:g}" in page
        assert page.count("data:image/svg+xml;base64,") == 1
        worker.finish(12, tree=2)
        model = job.wait()
        assert f"12 to {costs()[2]:g}" in model._repr_html_()
        assert "data:image/svg+xml;base64," in model._repr_html_()
        (listed,) = client.models.list()
        assert "data:image/svg+xml;base64," in listed._repr_html_()
        api.kill()
        assert f"10 to {costs()[1]:g}" not in job._repr_html_(), "what is known is shown"
        assert "SUCCEEDED" in job._repr_html_()
    assert repr(job).startswith(f"<job {job.id}: SUCCEEDED, objective {costs()[2]:g}, gap ")
