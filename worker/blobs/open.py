"""Open the blob store that the settings name."""

from __future__ import annotations

from worker.blobs.local import Blobs
from worker.blobs.s3 import BucketBlobs
from worker.settings import WorkerSettings


def open_blobs(settings: WorkerSettings) -> Blobs:
    """Return the blob store; the first operation connects to it."""
    if settings.blobs is None or not settings.blobs_in_bucket:
        return Blobs(settings.blobs_dir)
    return BucketBlobs(settings.blobs, settings.blobs_dir, cache_bytes=settings.blob_cache_bytes)
