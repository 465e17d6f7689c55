"""A record is deleted even if its blob cannot be deleted yet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.support.records.jobs import TENANT, add_dataset, easy
from tests.support.records.model_maker import add_job, finish, mixed_tree
from tests.support.records.store_records import progress_update
from tests.support.stack.stack import Stack, poll
from worker.blobs.local import Blobs


@contextmanager
def no_drafts(blobs: Blobs) -> Iterator[None]:
    """Replace the folder of blobs by a file."""
    aside = blobs.incoming.rename(blobs.folder / "aside")
    blobs.incoming.write_text("not a folder")
    try:
        yield
    finally:
        blobs.incoming.unlink()
        aside.rename(blobs.incoming)


@pytest.fixture
def api(tmp_path: Path, api: Stack) -> Iterator[Stack]:
    """Provide a server that removes deleted records at once."""
    with Stack(tmp_path, server=api.server, LITERATI_KEEP_DELETED_HOURS="0") as stack:
        stack.start_api()
        yield stack


def test_a_record_is_deleted_before_its_blob(api: Stack, client: httpx.Client) -> None:
    dataset = add_dataset(api.store, api.blobs, easy())
    job = add_job(api, mixed_tree())
    search = api.blobs.put(b"a saved search")
    api.store.jobs.publish_progress(job.spec.id, job.epoch, progress_update(snapshot=search))
    finish(api, job)
    with no_drafts(api.blobs):
        assert client.delete(f"/v1/jobs/{job.spec.id}").status_code == 204
        assert client.delete(f"/v1/datasets/{dataset.id}").status_code == 204
        assert set(api.store.blobs.unreferenced()) == {search, dataset.blob}
    assert api.store.datasets.get(TENANT, dataset.id) is None
    poll(lambda: not api.store.blobs.unreferenced(), what="the reconciler's round")
    for name in (search, dataset.blob):
        poll(lambda name=name: not (api.blobs.folder / name[:2] / name).exists(), what="the file goes")  # type: ignore[misc]
