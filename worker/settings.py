"""Settings of a worker by environment; the service adds its own to these."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field
from pydantic_settings import BaseSettings, SettingsConfigDict

LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]


class WorkerSettings(BaseSettings):
    """Read once at start. Every field stands in the README's table of settings."""

    model_config = SettingsConfigDict(env_prefix="LITERATI_", frozen=True, extra="ignore")

    redis_url: Annotated[str | None, Field(validation_alias="REDIS_URL")] = None
    state_dir: Path = Path(".literati")
    worker_concurrency: Annotated[int, Field(ge=1, le=1024)] = os.cpu_count() or 1
    lease_seconds: Annotated[float, Field(gt=0, le=3600)] = 30.0
    log_level: Annotated[LogLevel, BeforeValidator(str.upper)] = "INFO"
    reconcile_seconds: Annotated[float, Field(gt=0)] = 5.0  # between two looks for lost jobs and wake-ups

    @property
    def socket_path(self) -> Path:
        """Where the embedded server listens when REDIS_URL is not set."""
        return self.state_dir.resolve() / "valkey.sock"

    @property
    def store_url(self) -> str:
        return self.redis_url or f"unix://{self.socket_path}"

    @property
    def blobs_dir(self) -> Path:
        return self.state_dir / "blobs"
