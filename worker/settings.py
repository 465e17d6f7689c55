"""Settings of a worker by environment; the service adds its own to these."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import quote, urlsplit

from pydantic import BeforeValidator, Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from literati.cores import usable_cores

GIBIBYTE = 1 << 30
LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]


class WorkerSettings(BaseSettings):
    """Read once at start. Every field stands in the README's table of settings."""

    model_config = SettingsConfigDict(
        env_prefix="LITERATI_", env_ignore_empty=True, frozen=True, extra="ignore"
    )

    redis_url: Annotated[str | None, Field(validation_alias="REDIS_URL")] = None
    redis_password_file: Path | None = None
    state_dir: Path = Path(".literati")
    blobs: Annotated[str | None, Field(pattern=r"^s3://[^/\s?#]+(/[^\s?#]+)*/?$|^[^:]+$")] = None
    blob_cache_bytes: Annotated[int, Field(ge=0)] = 10 * GIBIBYTE
    worker_concurrency: Annotated[int, Field(ge=1, le=1024)] = min(1024, usable_cores())
    worker_memory_limit: Annotated[int | None, Field(gt=0)] = (
        None  # bytes a job; None: its share of what there is
    )
    lease_seconds: Annotated[float, Field(gt=0, le=3600)] = 30.0
    log_level: Annotated[LogLevel, BeforeValidator(str.upper)] = "INFO"
    reconcile_seconds: Annotated[float, Field(gt=0)] = 5.0  # between two looks for lost jobs and wake-ups

    # What is kept of a job: events, points of its trace, and its last trees
    max_events: Annotated[int, Field(ge=10)] = 10_000
    max_trace_points: Annotated[int, Field(ge=10)] = 20_000
    max_incumbents: Annotated[int, Field(ge=1)] = 1_000

    # Days after which it is deleted; inf: never
    keep_searches_days: Annotated[float, Field(ge=0)] = 7.0  # of jobs that have ended
    keep_jobs_days: Annotated[float, Field(ge=0)] = math.inf  # that have ended
    keep_datasets_days: Annotated[float, Field(ge=0)] = math.inf  # that no job has used

    # Hours for which a deletion can be taken back; 0: not at all
    keep_deleted_hours: Annotated[float, Field(ge=0)] = 24.0

    @property
    def socket_path(self) -> Path:
        """Where the embedded server listens when REDIS_URL is not set."""
        return self.state_dir.resolve() / "valkey.sock"

    @property
    def store_url(self) -> str:
        """With the password of the file, if there is one: a URL is easily seen, a file is not."""
        if self.redis_url is None:
            return f"unix://{self.socket_path}"
        if self.redis_password_file is None:
            return self.redis_url
        return with_password(self.redis_url, self.redis_password_file.read_text().strip())

    @property
    def blobs_in_bucket(self) -> bool:
        return self.blobs is not None and self.blobs.startswith("s3://")

    @property
    def blobs_dir(self) -> Path:
        """The folder of blobs; where they are in a bucket, its cache on this machine."""
        if self.blobs is None:
            return self.state_dir / "blobs"
        return self.state_dir / "cache" if self.blobs_in_bucket else Path(self.blobs)


def with_password(url: str, password: str) -> str:
    parts = urlsplit(url)
    user, _, host = parts.netloc.rpartition("@")
    netloc = f"{user.partition(':')[0]}:{quote(password, safe='')}@{host}"
    # Not by parts.geturl(): it takes the slashes from unix:///path.
    return f"{parts.scheme}://{netloc}{parts.path}{f'?{parts.query}' if parts.query else ''}"
