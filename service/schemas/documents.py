"""Parts of answers that are passed through as JSON and described by schemas of their own."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

DESCRIBED_BY = "x-described-by"  # `service.openapi` puts a reference to the schema of this name in its place

TreeJson = Annotated[dict[str, Any], Field(json_schema_extra={DESCRIBED_BY: "Tree"})]
MetricsJson = Annotated[dict[str, Any], Field(json_schema_extra={DESCRIBED_BY: "Metrics"})]
