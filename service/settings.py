"""Settings of the service, read from the environment. They extend the worker's settings."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt
from pydantic_settings import SettingsConfigDict

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
    """The settings of an API process. They are read once, when the process starts.

    The text below a field is its description in docs/settings.md.
    """

    model_config = SettingsConfigDict(use_attribute_docstrings=True)

    host: str = "127.0.0.1"
    """Address of the API. Any but a loopback address requires an API key."""
    port: int = Field(default=8000, ge=0, le=65_535)
    """Port of the API. 0 selects a free port."""
    drain_seconds: NonNegativeFloat = 0.0
    """Seconds for which an API process that is told to stop (SIGTERM) still answers, while `/readyz` answers
    503 so that a load balancer sends its requests elsewhere."""
    api_keys_file: Path | None = None
    """File of API keys, which is imported at start and when it changes."""
    access_log: bool = False
    """Log every request, not only those that fail with a 5xx status."""
    audit_log: str | None = None
    """Where changes are recorded: the path of a file, `stderr` or `off`. The default is `logs/audit.log`
    in the state folder."""

    max_upload_bytes: PositiveInt = 1024 * MEBIBYTE
    """Maximum size of an upload in bytes, compressed and decompressed."""
    max_table_bytes: PositiveInt = 4096 * MEBIBYTE
    """Maximum memory of an uploaded table in bytes; reading it may take twice that."""
    max_parse_seconds: PositiveFloat = 300.0
    """Maximum time for reading an upload, or for predicting or scoring many rows, in seconds."""
    min_free_bytes: NonNegativeInt = 512 * MEBIBYTE
    """Free disk space that uploads must leave, in bytes."""
    max_predict_bytes: PositiveInt = 64 * MEBIBYTE
    """Maximum size of rows to predict or to score in bytes, compressed and decompressed."""
    max_rows: PositiveInt = 10_000_000
    """Maximum number of rows of a dataset."""
    max_columns: PositiveInt = 10_000
    """Maximum number of columns of a dataset."""
    max_cell_bytes: PositiveInt = 65_536
    """Maximum size of a cell, in bytes."""
    max_categories: PositiveInt = 100_000
    """Maximum number of categories of a column."""
    max_predict_rows: PositiveInt = 1_000_000
    """Maximum number of rows of a request to predict or to score."""

    max_live_jobs: PositiveInt = 1_000
    """Maximum number of a tenant's jobs and sweeps that have not ended, without the jobs of sweeps."""
    max_jobs: PositiveInt = 100_000
    """Maximum number of a tenant's jobs."""
    max_sweeps: PositiveInt = 10_000
    """Maximum number of a tenant's sweeps."""
    max_models: PositiveInt = 100_000
    """Maximum number of a tenant's models and of jobs and sweeps that may make one."""
    max_aliases: PositiveInt = 1_000
    """Maximum number of a tenant's aliases."""
    max_datasets: PositiveInt = 10_000
    """Maximum number of a tenant's datasets."""
    max_dataset_bytes: PositiveInt = 1024 * 1024 * MEBIBYTE
    """Maximum size of a tenant's datasets as stored, in bytes."""

    default_time_limit: PositiveFloat = 60.0
    """Time limit of a job that sets none, in seconds; `inf` for no limit."""
    default_memory_limit: PositiveInt | None = None
    """Memory limit of a job that sets none, in bytes. The default is the worker's."""
    max_time_limit: PositiveFloat | None = None
    """Largest time limit of a job, in seconds."""
    max_memory_limit: PositiveInt | None = None
    """Largest memory limit of a job, in bytes."""
    max_queue: PositiveInt = 10_000
    """Maximum number of queued jobs of all tenants. When it is reached, only tenants below their share may
    submit jobs."""
    max_waiting: NonNegativeInt = 1_000
    """Maximum number of requests held open by `Prefer: wait` and event streams. When it is reached, a
    tenant below its share takes the place of one above."""
    keep_alive_seconds: PositiveFloat = 15.0
    """Interval of the comments that keep a silent event stream open, in seconds."""

    rate_limits: Literal["auto", "on", "off"] = "auto"
    """`auto` limits callers with an API key; `on` limits others too, by address; `off` limits nobody."""
    calls_per_second: PositiveFloat = 1_000.0
    """Requests per second that a caller may sustain."""
    calls_burst: PositiveInt = 2_000
    """Requests that a caller may send at once."""
    submissions_per_minute: PositiveFloat = 300.0
    """Uploads, new jobs and new sweeps per minute that a caller may sustain."""
    submissions_burst: PositiveInt = 100
    """Uploads, new jobs and new sweeps that a caller may send at once."""

    max_connections: PositiveInt = 4_096
    """Maximum number of requests in progress in an API process; others get 503."""
    max_head_bytes: int = Field(default=65_536, ge=1_024)
    """Maximum size of a request's address and headers, in bytes."""
    head_seconds: PositiveFloat = 20.0
    """Maximum time until the headers of a request are complete, in seconds."""
    max_request_bytes: PositiveInt = MEBIBYTE // 4
    """Maximum size of a body without a table, in bytes."""
    max_held_bytes: PositiveInt = 512 * MEBIBYTE
    """Maximum memory of request bodies in an API process, in bytes."""
    body_grace_seconds: PositiveFloat = 30.0
    """Maximum pause while a body arrives, in seconds; a longer one gets 408."""

    @property
    def audit_path(self) -> Path:
        """The file of the audit log, if it is a file."""
        return self.state_dir / "logs" / "audit.log" if self.audit_log is None else Path(self.audit_log)
