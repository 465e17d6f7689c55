"""Schemas and examples of datasets, and the OpenAPI description of an upload."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, Field

from service.ingest import media_types
from service.schemas.fields import NextPageToken
from service.schemas.problems import ProblemFix
from worker.domain.datasets import ClassInfo, ColumnInfo, Histogram

DATASET_ID = r"^ds_[0-9a-f]{32}$"


class DatasetSummary(BaseModel):
    """A dataset in a list."""

    id: str
    name: str | None
    notes: str | None
    sha256: Annotated[str, Field(description="The SHA-256 of the uploaded bytes.")]
    bytes: Annotated[int, Field(description="The size of the upload.")]
    rows: int
    n_columns: Annotated[int, Field(description="Stored columns, with the target and the weight.")]
    n_classes: int
    target: str
    weight: str | None
    created_at: datetime
    links: Annotated[dict[str, str], Field(description="URLs of related resources, by name.")]


class Dataset(DatasetSummary):
    """A table to train on."""

    dropped: Annotated[list[str], Field(description="Columns of the upload that were left out.")]
    columns: list[ColumnInfo]
    classes: Annotated[list[ClassInfo], Field(description="The sorted classes of the target.")]
    warnings: Annotated[list[str], Field(description="Warnings about the data.")]
    fixes: Annotated[
        list[ProblemFix],
        Field(
            description="Options that read the same bytes in another way, for the columns that a warning "
            "calls ambiguous."
        ),
    ]


class DatasetPage(BaseModel):
    items: list[DatasetSummary]
    next_page_token: NextPageToken


class Preview(BaseModel):
    """The first rows of a dataset."""

    dataset_id: str
    rows: Annotated[int, Field(description="The number of rows of the whole dataset.")]
    columns: Annotated[list[str], Field(description="The column names in order.")]
    records: Annotated[list[dict[str, Any]], Field(description="The first rows; a missing cell is null.")]


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
EXAMPLE_PAGE = {"items": [EXAMPLE_SUMMARY], "next_page_token": None}
EXAMPLE: dict[str, Any] = {
    **EXAMPLE_SUMMARY,
    "dropped": [],
    "columns": [
        ColumnInfo(
            name="petal_length",
            type="number",
            role="feature",
            missing=0,
            distinct=3,
            minimum=1.4,
            maximum=4.7,
            histogram=Histogram(edges=[1.4, 3.05, 4.7], counts=[1, 2]),
        ).model_dump(),
        ColumnInfo(
            name="species",
            type="category",
            role="target",
            missing=0,
            distinct=2,
            categories=["versicolor", "setosa"],
            category_counts=[2, 1],
        ).model_dump(),
    ],
    "classes": [{"label": "setosa", "count": 1}, {"label": "versicolor", "count": 2}],
    "warnings": ["The table has only 3 rows; a tree trained on so few is not reliable."],
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
        "description": "The table. A CSV has a header line and is UTF-8 unless `charset` names another "
        "encoding. The format of `application/octet-stream`, or of a body without a Content-Type, is "
        "detected by its first bytes. A Feather file of version 2 is an Arrow file. The body may be "
        "compressed with gzip or zstd, with or without a `Content-Encoding`.",
        "content": {
            "text/csv": {"schema": {"type": "string"}, "examples": {"flowers": {"value": _CSV}}},
            "text/tab-separated-values": {"schema": {"type": "string"}, "example": _CSV.replace(",", "\t")},
            **dict.fromkeys(media_types.BINARY, _BYTES),
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "additionalProperties": False,
                    "properties": {
                        "file": {
                            "type": "string",
                            "format": "binary",
                            "description": "A table in one of these formats.",
                        }
                    },
                }
            },
        },
    }
}
