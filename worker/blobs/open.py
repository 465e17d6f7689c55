"""The blobs that the settings name."""

from __future__ import annotations

from .blobs import Blobs
from .bucket import BucketBlobs
from .settings import WorkerSettings


def open_blobs(settings: WorkerSettings) -> Blobs:
    """Nothing is connected yet."""
    if settings.blobs is None or not settings.blobs_in_bucket:
        return Blobs(settings.blobs_dir)
    return BucketBlobs(settings.blobs, settings.blobs_dir, cache_bytes=settings.blob_cache_bytes)
