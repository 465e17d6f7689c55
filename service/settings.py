"""Settings of the service by environment, on top of the worker's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from worker.settings import WorkerSettings

MEBIBYTE = 1 << 20


class Settings(WorkerSettings):
    """Read once at start. Every field stands in the README's table of settings."""

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] = 8000
    api_keys_file: Path | None = None
    access_log: bool = False  # a line for every request, not only for those that failed
    audit_log: str | None = None  # a file, "stderr" or "off"; a file in the state folder if not said

    # What a client may ask for
    max_upload_bytes: Annotated[int, Field(ge=1)] = 1024 * MEBIBYTE
    max_table_bytes: Annotated[int, Field(ge=1)] = 4096 * MEBIBYTE  # that an upload may unpack to
    max_parse_seconds: Annotated[float, Field(gt=0)] = 300.0
    min_free_bytes: Annotated[int, Field(ge=0)] = 512 * MEBIBYTE  # of the disk, that uploads leave to others
    max_predict_bytes: Annotated[int, Field(ge=1)] = 64 * MEBIBYTE  # rows to predict
    max_request_bytes: Annotated[int, Field(ge=1)] = MEBIBYTE // 4  # any other body
    max_rows: Annotated[int, Field(ge=1)] = 10_000_000
    max_columns: Annotated[int, Field(ge=1)] = 10_000
    max_cell_bytes: Annotated[int, Field(ge=1)] = 65_536
    max_categories: Annotated[int, Field(ge=1)] = 100_000
    max_predict_rows: Annotated[int, Field(ge=1)] = 1_000_000
    # Of one tenant
    max_live_jobs: Annotated[int, Field(ge=1)] = 1_000
    max_jobs: Annotated[int, Field(ge=1)] = 100_000
    max_models: Annotated[int, Field(ge=1)] = 100_000
    max_aliases: Annotated[int, Field(ge=1)] = 1_000
    max_datasets: Annotated[int, Field(ge=1)] = 10_000
    max_dataset_bytes: Annotated[int, Field(ge=1)] = 1024 * 1024 * MEBIBYTE  # all together, as stored

    max_queue: Annotated[int, Field(ge=1)] = 10_000  # jobs of all tenants that wait for a worker
    default_time_limit: Annotated[float, Field(gt=0)] = 60.0  # seconds of a job that names none; inf: none
    default_memory_limit: Annotated[int | None, Field(gt=0)] = None  # bytes of a job that names none
    max_time_limit: Annotated[float | None, Field(gt=0)] = None  # seconds a job; None: no maximum
    max_memory_limit: Annotated[int | None, Field(gt=0)] = None  # bytes a job; None: no maximum
    max_waiting: Annotated[int, Field(ge=0)] = 1_000  # requests held open by `Prefer: wait` and event streams

    # How often a key may call; without keys an address, if "on". Submissions are uploads and new jobs
    rate_limits: Literal["auto", "on", "off"] = "auto"
    calls_per_second: Annotated[float, Field(gt=0)] = 1_000.0
    calls_burst: Annotated[int, Field(ge=1)] = 2_000
    submissions_per_minute: Annotated[float, Field(gt=0)] = 300.0
    submissions_burst: Annotated[int, Field(ge=1)] = 100

    # Connections, and requests before they are understood
    max_connections: Annotated[int, Field(ge=1)] = 4_096
    max_head_bytes: Annotated[int, Field(ge=1_024)] = 65_536
    head_seconds: Annotated[float, Field(gt=0)] = 20.0

    max_bodies: Annotated[int, Field(ge=1)] = 512  # on their way at once
    max_held_bytes: Annotated[int, Field(ge=1)] = 512 * MEBIBYTE  # of bodies in memory at once

    # A body that comes slower than this is given up
    body_grace_seconds: Annotated[float, Field(gt=0)] = 30.0
    body_bytes_per_second: Annotated[float, Field(gt=0)] = 1024.0

    keep_alive_seconds: Annotated[float, Field(gt=0)] = 15.0  # between two signs of life on a silent stream

    @property
    def audit_path(self) -> Path:
        return self.state_dir / "logs" / "audit.log" if self.audit_log is None else Path(self.audit_log)
