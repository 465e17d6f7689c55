"""Parts of responses that are JSON documents with schemas of their own."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

DESCRIBED_BY = "x-described-by"  # `service.openapi` replaces it by a reference to the schema

TreeJson = Annotated[dict[str, Any], Field(json_schema_extra={DESCRIBED_BY: "Tree"})]
MetricsJson = Annotated[dict[str, Any], Field(json_schema_extra={DESCRIBED_BY: "Metrics"})]
