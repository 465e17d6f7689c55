"""Parameters of the routes that predict and score, and the OpenAPI description of their rows."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query

from service.ingest import media_types
from worker.domain.datasets import DecimalSign

Delimiter = Annotated[
    str | None,
    Query(max_length=16, description="CSV only: the character between cells, or `tab`. Detected by default."),
]
Decimal = Annotated[
    DecimalSign | None,
    Query(
        description="CSV only: the decimal sign. By default that of the CSV that the model was trained on if "
        "the rows can be read with it, else it is detected."
    ),
]
NullValues = Annotated[
    list[str] | None,
    Query(
        max_length=100,
        description="CSV only: the words for a missing cell. Repeat the parameter, or separate the words by "
        "commas. By default those of the CSV that the model was trained on.",
    ),
]
BYTES = {"schema": {"type": "string", "format": "binary"}}


def rows_body(description: str, records: Any, arrays: Any, csv: str) -> dict[str, Any]:
    """Return the `openapi_extra` of a route that takes rows, with an example in each form."""
    return {
        "requestBody": {
            "required": True,
            "description": f"{description} `null` and an empty cell are missing values. The format of "
            "`application/octet-stream`, or of a body without a Content-Type, is detected by its first "
            "bytes. The body may be compressed with gzip or zstd.",
            "content": {
                "application/json": {
                    "schema": {
                        "oneOf": [
                            {"$ref": "#/components/schemas/Records"},
                            {"$ref": "#/components/schemas/Arrays"},
                        ]
                    },
                    "examples": {"records": {"value": records}, "arrays": {"value": arrays}},
                },
                "text/csv": {"schema": {"type": "string"}, "example": csv},
                media_types.TSV: {"schema": {"type": "string"}, "example": csv.replace(",", "\t")},
                **dict.fromkeys(
                    (media_types.ARROW, media_types.ARROW_FILE, media_types.PARQUET, media_types.ANY), BYTES
                ),
            },
        }
    }
