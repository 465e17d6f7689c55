"""Settings of a worker, read from the environment."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    ValidationError,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

from literati.cores import usable_cores
from worker import store_address

GIBIBYTE = 1 << 30
LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]


class WorkerSettings(BaseSettings):
    """The settings of a worker. They are read once, when the process starts."""

    model_config = SettingsConfigDict(
        env_prefix="LITERATI_",
        env_ignore_empty=True,
        frozen=True,
        extra="ignore",
        use_attribute_docstrings=True,
        hide_input_in_errors=True,  # REDIS_URL may contain a password
    )

    redis_url: Annotated[str, AfterValidator(store_address.check)] | None = Field(
        default=None, validation_alias="REDIS_URL"
    )
    """Redis or Valkey server to use, such as `redis://user:password@host:6379/0`, or the sentinels that know
    the primary: `redis+sentinel://user:password@host1:26379,host2:26379,host3:26379/mymaster/0`. With TLS the
    schemes are `rediss` and `rediss+sentinel`. Without this setting, `make serve` starts a private server."""
    redis_password_file: Path | None = None
    """File with the password for `REDIS_URL`."""
    redis_sentinel_password_file: Path | None = None
    """File with the password of the sentinels, if they have one (`requirepass` in their configuration)."""
    redis_wait_replicas: NonNegativeInt = 0
    """Number of replicas that must have received a change before a client is told of it. If fewer confirm it
    in two seconds, the response is a 503."""
    state_dir: Path = Path(".literati")
    """Folder of everything that is kept on this machine."""
    blobs: str | None = Field(default=None, pattern=r"^s3://[^/\s?#]+(/[^\s?#]+)*/?$|^[^:]+$")
    """Where tables and saved searches are stored: a folder, or `s3://bucket/prefix` for an S3-compatible
    store. The default is `blobs` in the state folder."""
    blob_cache_bytes: NonNegativeInt = 10 * GIBIBYTE
    """Size of the local cache of blobs that are in a bucket, in bytes."""
    log_level: Annotated[LogLevel, BeforeValidator(str.upper)] = "INFO"
    """Lowest level that is logged: `DEBUG`, `INFO`, `WARNING`, `ERROR` or `CRITICAL`."""

    worker_concurrency: int = Field(default=min(1024, usable_cores()), ge=1, le=1024)
    """Number of cores that a worker uses. A job uses one of them for each of its threads (`n_threads`), so
    this is the maximum number of jobs at once. The default is the cores that CPU affinity and the quota of
    the container allow."""
    worker_memory_limit: PositiveInt | None = None
    """Maximum memory of a job, in bytes. The default is seven tenths of the memory of the machine or
    container, divided by `LITERATI_WORKER_CONCURRENCY`, for each of the job's threads."""
    lease_seconds: float = Field(default=30.0, gt=0, le=3600)
    """Seconds after which the job of a silent worker is requeued."""
    reconcile_seconds: PositiveFloat = 5.0
    """Seconds between two searches for jobs of lost workers."""

    keep_jobs_days: NonNegativeFloat = math.inf
    """Days for which an ended job is kept; `inf` keeps it forever. Models are never deleted by age."""
    keep_searches_days: NonNegativeFloat = 7.0
    """Days for which the saved search of an ended job is kept."""
    keep_datasets_days: NonNegativeFloat = math.inf
    """Days for which an unused dataset is kept; `inf` keeps it forever."""
    keep_deleted_hours: NonNegativeFloat = 24.0
    """Hours for which a deleted record can be restored; 0 for none."""
    archive_after_hours: NonNegativeFloat = 1.0
    """Hours after which an ended job and its models are moved from Redis to the blobs, except for what lists
    show; `inf` for never. They are read from there by the same calls."""
    max_events: int = Field(default=10_000, ge=10)
    """Maximum number of events kept of a job, the latest ones."""
    max_trace_points: int = Field(default=20_000, ge=10)
    """Maximum number of points kept of a job's bounds."""
    max_incumbents: PositiveInt = 1_000
    """Maximum number of trees kept of a job, the latest ones."""

    @property
    def socket_path(self) -> Path:
        """The socket of the store that the supervisor starts when REDIS_URL is not set."""
        return self.state_dir.resolve() / "valkey.sock"

    @property
    def store_url(self) -> str:
        """The URL of the store, with the passwords of the password files."""
        if self.redis_url is None:
            return f"unix://{self.socket_path}"
        return store_address.with_passwords(
            self.redis_url, _content(self.redis_password_file), _content(self.redis_sentinel_password_file)
        )

    @property
    def blobs_in_bucket(self) -> bool:
        return self.blobs is not None and self.blobs.startswith("s3://")

    @property
    def blobs_dir(self) -> Path:
        """The folder of blobs, or the local cache if the blobs are in a bucket."""
        if self.blobs is None:
            return self.state_dir / "blobs"
        return self.state_dir / "cache" if self.blobs_in_bucket else Path(self.blobs)


def _content(file: Path | None) -> str | None:
    return None if file is None else file.read_text().strip()


def explain(error: ValidationError) -> str:
    """Return a line for each setting that is wrong, with the name of its variable."""
    lines = []
    for detail in error.errors():
        name = "_".join(str(part) for part in detail["loc"]).upper()
        message = detail["msg"].removeprefix("Value error, ")
        lines.append(f"{name if name == 'REDIS_URL' else f'LITERATI_{name}'}: {message}.")
    return "\n".join(lines)
