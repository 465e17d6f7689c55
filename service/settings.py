"""Settings of the service, read from the environment. They extend the worker's settings."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from worker.settings import WorkerSettings

MEBIBYTE = 1 << 20
# The groups of settings by their first field: a group reaches to the next one in the order of the fields.
GROUPS = {
    "redis_url": "Storage and logs",
    "worker_concurrency": "Workers",
    "keep_jobs_days": "Retention",
    "host": "Server",
    "max_upload_bytes": "Uploads and predictions",
    "max_live_jobs": "Quotas of a tenant",
    "default_time_limit": "Jobs",
    "rate_limits": "Rate limits",
    "max_connections": "HTTP",
}


class Settings(WorkerSettings):
    """The settings of an API process. They are read once, when the process starts."""

    host: str = Field(
        default="127.0.0.1", description="Address of the API. Any but a loopback address requires an API key."
    )
    port: int = Field(default=8000, ge=0, le=65_535, description="Port of the API. 0 selects a free port.")
    api_keys_file: Path | None = Field(
        default=None, description="File of API keys, which is imported at start and when it changes."
    )
    access_log: bool = Field(
        default=False, description="Log every request, not only those that fail with a 5xx status."
    )
    audit_log: str | None = Field(
        default=None,
        description="Where changes are recorded: the path of a file, `stderr` or `off`. "
        "The default is `logs/audit.log` in the state folder.",
    )

    max_upload_bytes: int = Field(
        default=1024 * MEBIBYTE,
        ge=1,
        description="Maximum size of an upload in bytes, compressed and decompressed.",
    )
    max_table_bytes: int = Field(
        default=4096 * MEBIBYTE,
        ge=1,
        description="Maximum memory of an uploaded table in bytes; reading it may take twice that.",
    )
    max_parse_seconds: float = Field(
        default=300.0,
        gt=0,
        description="Maximum time for reading an upload or for predicting many rows, in seconds.",
    )
    min_free_bytes: int = Field(
        default=512 * MEBIBYTE, ge=0, description="Free disk space that uploads must leave, in bytes."
    )
    max_predict_bytes: int = Field(
        default=64 * MEBIBYTE,
        ge=1,
        description="Maximum size of rows to predict in bytes, compressed and decompressed.",
    )
    max_rows: int = Field(default=10_000_000, ge=1, description="Maximum number of rows of a dataset.")
    max_columns: int = Field(default=10_000, ge=1, description="Maximum number of columns of a dataset.")
    max_cell_bytes: int = Field(default=65_536, ge=1, description="Maximum size of a cell, in bytes.")
    max_categories: int = Field(
        default=100_000, ge=1, description="Maximum number of categories of a column."
    )
    max_predict_rows: int = Field(
        default=1_000_000, ge=1, description="Maximum number of rows of a predict request."
    )

    max_live_jobs: int = Field(
        default=1_000, ge=1, description="Maximum number of a tenant's jobs that have not ended."
    )
    max_jobs: int = Field(default=100_000, ge=1, description="Maximum number of a tenant's jobs.")
    max_models: int = Field(
        default=100_000,
        ge=1,
        description="Maximum number of a tenant's models and of jobs that may make one.",
    )
    max_aliases: int = Field(default=1_000, ge=1, description="Maximum number of a tenant's aliases.")
    max_datasets: int = Field(default=10_000, ge=1, description="Maximum number of a tenant's datasets.")
    max_dataset_bytes: int = Field(
        default=1024 * 1024 * MEBIBYTE,
        ge=1,
        description="Maximum size of a tenant's datasets as stored, in bytes.",
    )

    default_time_limit: float = Field(
        default=60.0, gt=0, description="Time limit of a job that sets none, in seconds; `inf` for no limit."
    )
    default_memory_limit: int | None = Field(
        default=None,
        gt=0,
        description="Memory limit of a job that sets none, in bytes. The default is the worker's.",
    )
    max_time_limit: float | None = Field(
        default=None, gt=0, description="Largest time limit of a job, in seconds."
    )
    max_memory_limit: int | None = Field(
        default=None, gt=0, description="Largest memory limit of a job, in bytes."
    )
    max_queue: int = Field(
        default=10_000,
        ge=1,
        description="Maximum number of queued jobs of all tenants. When it is reached, only tenants below "
        "their share may submit jobs.",
    )
    max_waiting: int = Field(
        default=1_000,
        ge=0,
        description="Maximum number of requests held open by `Prefer: wait` and event streams. When it is "
        "reached, a tenant below its share takes the place of one above.",
    )
    keep_alive_seconds: float = Field(
        default=15.0,
        gt=0,
        description="Interval of the comments that keep a silent event stream open, in seconds.",
    )

    rate_limits: Literal["auto", "on", "off"] = Field(
        default="auto",
        description="`auto` limits callers with an API key; `on` limits others too, by address; "
        "`off` limits nobody.",
    )
    calls_per_second: float = Field(
        default=1_000.0, gt=0, description="Requests per second that a caller may sustain."
    )
    calls_burst: int = Field(default=2_000, ge=1, description="Requests that a caller may send at once.")
    submissions_per_minute: float = Field(
        default=300.0, gt=0, description="Uploads and new jobs per minute that a caller may sustain."
    )
    submissions_burst: int = Field(
        default=100, ge=1, description="Uploads and new jobs that a caller may send at once."
    )

    max_connections: int = Field(
        default=4_096,
        ge=1,
        description="Maximum number of requests in progress in an API process; others get 503.",
    )
    max_head_bytes: int = Field(
        default=65_536, ge=1_024, description="Maximum size of a request's address and headers, in bytes."
    )
    head_seconds: float = Field(
        default=20.0,
        gt=0,
        description="Maximum time until the headers of a request are complete, in seconds.",
    )
    max_request_bytes: int = Field(
        default=MEBIBYTE // 4, ge=1, description="Maximum size of a body without a table, in bytes."
    )
    max_held_bytes: int = Field(
        default=512 * MEBIBYTE,
        ge=1,
        description="Maximum memory of request bodies in an API process, in bytes.",
    )
    body_grace_seconds: float = Field(
        default=30.0,
        gt=0,
        description="Maximum pause while a body arrives, in seconds; a longer one gets 408.",
    )

    @property
    def audit_path(self) -> Path:
        """The file of the audit log, if it is a file."""
        return self.state_dir / "logs" / "audit.log" if self.audit_log is None else Path(self.audit_log)
