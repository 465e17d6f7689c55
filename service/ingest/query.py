"""The query parameters of an upload."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from service.ingest.options import Options
from service.schemas.fields import Name

ColumnName = Annotated[str, Query(min_length=1, max_length=1024)]


async def upload_options(
    target: Annotated[
        ColumnName | None, Query(description="The column with the classes to predict. Required.")
    ] = None,
    weight: Annotated[ColumnName | None, Query(description="A column of row weights, 0 or more.")] = None,
    drop: Annotated[
        list[ColumnName] | None,
        Query(
            max_length=1000,
            description="Columns to leave out. Repeat the parameter, or separate the names by commas.",
        ),
    ] = None,
    types: Annotated[
        list[ColumnName] | None,
        Query(
            max_length=1000,
            description="Column types in place of the inferred ones: `name:number`, `name:category` or "
            "`name:boolean`. Repeat the parameter, or separate several by commas.",
            examples=[["zip:category"]],
        ),
    ] = None,
    delimiter: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=9,
            description="CSV only: the character between cells, or `tab`. Detected by default.",
        ),
    ] = None,
    decimal: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=1,
            description="CSV only: the decimal sign, `.` or `,`. Detected by default.",
        ),
    ] = None,
    null_values: Annotated[
        list[str] | None,
        Query(
            max_length=100,
            description="CSV only: the words for a missing cell. Repeat the parameter, or separate the words "
            "by commas. By default NA, NaN, null and similar words. An empty cell is always missing.",
        ),
    ] = None,
    name: Annotated[Name | None, Query(description="A name for the dataset.")] = None,
) -> Options:
    words = None if null_values is None else split_words(null_values)
    return Options(target, weight, tuple(drop or ()), tuple(types or ()), delimiter, decimal, words, name)


def split_words(items: list[str]) -> tuple[str, ...]:
    """Split every item at commas."""
    return tuple(word for item in items for word in item.split(",") if word)
