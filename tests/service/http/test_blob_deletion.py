"""A record is deleted though the file behind it cannot be, for now."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from jobs import TENANT, add_dataset, easy
from model_maker import add_job, finish, mixed_tree
from stack import Stack, poll
from store_records import checkpoint
from worker.blobs import Blobs


@contextmanager
def no_drafts(blobs: Blobs) -> Iterator[None]:
    """Their folder is none meanwhile."""
    aside = blobs.incoming.rename(blobs.folder / "aside")
    blobs.incoming.write_text("not a folder")
    try:
        yield
    finally:
        blobs.incoming.unlink()
        aside.rename(blobs.incoming)


@pytest.fixture
def api(tmp_path: Path, api: Stack) -> Iterator[Stack]:
    """A server that keeps nothing of what is deleted."""
    with Stack(tmp_path, server=api.server, LITERATI_KEEP_DELETED_HOURS="0") as stack:
        stack.start_api()
        yield stack


def test_a_delete_is_done_and_the_file_goes_later(api: Stack, client: httpx.Client) -> None:
    dataset = add_dataset(api.store, api.blobs, easy())
    job = add_job(api, mixed_tree())
    search = api.blobs.put(b"a saved search")
    api.store.jobs.checkpoint(job.spec.id, job.epoch, checkpoint(blob=search))
    finish(api, job)
    with no_drafts(api.blobs):
        assert client.delete(f"/v1/jobs/{job.spec.id}").status_code == 204
        assert client.delete(f"/v1/datasets/{dataset.id}").status_code == 204
        assert set(api.store.blobs.garbage()) == {search, dataset.blob}
    assert api.store.datasets.get(TENANT, dataset.id) is None
    poll(lambda: not api.store.blobs.garbage(), what="the reconciler's round")
    for name in (search, dataset.blob):
        poll(lambda name=name: not (api.blobs.folder / name[:2] / name).exists(), what="the file goes")  # type: ignore[misc]
