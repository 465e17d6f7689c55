"""Datasets over the wire: what a client is shown, and how its upload is described."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, Field

from service.schemas.problem import ProblemFix
from worker.messages import ClassInfo, ColumnInfo

DATASET_ID = r"^ds_[0-9a-f]{32}$"


class DatasetSummary(BaseModel):
    """A dataset in a list."""

    id: str
    name: str | None
    notes: str | None
    sha256: Annotated[str, Field(description="Of the bytes as uploaded.")]
    bytes: Annotated[int, Field(description="As uploaded.")]
    rows: int
    n_columns: Annotated[int, Field(description="Stored ones: the target and the weight too.")]
    n_classes: int
    target: str
    weight: str | None
    created_at: datetime
    links: Annotated[dict[str, str], Field(description="What can be asked next, by name.")]


class Dataset(DatasetSummary):
    """A table that can be learned from."""

    dropped: Annotated[list[str], Field(description="Columns of the upload that were left out.")]
    columns: list[ColumnInfo]
    classes: Annotated[list[ClassInfo], Field(description="The target's classes in order, with their rows.")]
    warnings: Annotated[list[str], Field(description="What is odd about the data, in sentences.")]
    fixes: Annotated[
        list[ProblemFix],
        Field(
            description="Options with which the same bytes are read in another way, where a warning says "
            "that this may be meant."
        ),
    ]


class DatasetPage(BaseModel):
    items: list[DatasetSummary]
    next_page_token: Annotated[str | None, Field(description="For the next page; null on the last.")]


class Preview(BaseModel):
    """The first rows."""

    dataset_id: str
    rows: Annotated[int, Field(description="Of the whole dataset.")]
    columns: Annotated[list[str], Field(description="The columns' names in order.")]
    records: Annotated[list[dict[str, Any]], Field(description="A cell is null where it is missing.")]


EXAMPLE_ID = "ds_6f1f0c52a0b1e0e4b7f6a1c1f2d3e4a5"
_CSV = "petal_length,petal_width,species\n1.4,0.2,setosa\n4.7,1.4,versicolor\n4.5,1.5,versicolor\n"
_LINKS = {
    "self": f"/v1/datasets/{EXAMPLE_ID}",
    "preview": f"/v1/datasets/{EXAMPLE_ID}/preview",
    "jobs": "/v1/jobs",
}
EXAMPLE_SUMMARY: dict[str, Any] = {
    "id": EXAMPLE_ID,
    "name": "flowers",
    "notes": None,
    "sha256": "f8cf5ac36ba34c9dc4cc45ac2a1dcb9b8a6eb06cf1a4bb9f6b1b2b4a3bb1a8f6",
    "bytes": 83,
    "rows": 3,
    "n_columns": 3,
    "n_classes": 2,
    "target": "species",
    "weight": None,
    "created_at": "2026-01-05T09:29:58.001000Z",
    "links": _LINKS,
}
EXAMPLE: dict[str, Any] = {
    **EXAMPLE_SUMMARY,
    "dropped": [],
    "columns": [
        {
            "name": "petal_length",
            "type": "number",
            "role": "feature",
            "missing": 0,
            "distinct": 3,
            "minimum": 1.4,
            "maximum": 4.7,
            "histogram": {"edges": [1.4, 3.05, 4.7], "counts": [1, 2]},
            "categories": None,
            "category_counts": None,
        },
        {
            "name": "species",
            "type": "category",
            "role": "target",
            "missing": 0,
            "distinct": 2,
            "minimum": None,
            "maximum": None,
            "histogram": None,
            "categories": ["versicolor", "setosa"],
            "category_counts": [2, 1],
        },
    ],
    "classes": [{"label": "setosa", "count": 1}, {"label": "versicolor", "count": 2}],
    "warnings": ["The table has only 3 rows; a tree learned from so few says little."],
    "fixes": [],
}
EXAMPLE_PREVIEW: dict[str, Any] = {
    "dataset_id": EXAMPLE_ID,
    "rows": 3,
    "columns": ["petal_length", "petal_width", "species"],
    "records": [{"petal_length": 1.4, "petal_width": 0.2, "species": "setosa"}],
}
_BYTES = {"schema": {"type": "string", "format": "binary"}}
UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The table itself. A CSV has a header line; UTF-8 unless `charset` says otherwise. "
        "`application/octet-stream`, or no type, is recognised by its first bytes; Feather of version 2 is "
        "an Arrow file. A `Content-Encoding` may be `gzip` or `zstd`, and a file that is packed with one of "
        "them may be sent as it is.",
        "content": {
            "text/csv": {"schema": {"type": "string"}, "examples": {"flowers": {"value": _CSV}}},
            "text/tab-separated-values": {"schema": {"type": "string"}, "example": _CSV.replace(",", "\t")},
            "application/vnd.apache.parquet": _BYTES,
            "application/vnd.apache.arrow.stream": _BYTES,
            "application/vnd.apache.arrow.file": _BYTES,
            "application/octet-stream": _BYTES,
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "additionalProperties": False,
                    "properties": {
                        "file": {
                            "type": "string",
                            "format": "binary",
                            "description": "A table in any of these forms, by its type or its first bytes.",
                        }
                    },
                }
            },
        },
    }
}
