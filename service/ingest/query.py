"""The options of an upload as they stand in its address."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from service.schemas.jobs import LONGEST_NAME, NAME

from .options import Options

Name = Annotated[str, Query(min_length=1, max_length=1024)]


async def upload_options(
    target: Annotated[
        str | None,
        Query(min_length=1, max_length=1024, description="The column that holds the classes. Needed."),
    ] = None,
    weight: Annotated[
        str | None, Query(min_length=1, max_length=1024, description="A column of row weights, 0 or more.")
    ] = None,
    drop: Annotated[
        list[Name] | None,
        Query(max_length=1000, description="Columns to leave out; repeat, or put commas between them."),
    ] = None,
    types: Annotated[
        list[Name] | None,
        Query(
            max_length=1000,
            description="`name:number`, `name:category` or `name:boolean` where the guess would be wrong.",
            examples=[["zip:category"]],
        ),
    ] = None,
    delimiter: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=9,
            description="CSV: what parts the cells (a character, or `tab`); if not given, it is guessed.",
        ),
    ] = None,
    decimal: Annotated[
        str | None, Query(min_length=1, max_length=1, description="CSV: the decimal sign, `.` or `,`.")
    ] = None,
    null_values: Annotated[
        list[str] | None,
        Query(
            max_length=100,
            description="CSV: words for a missing cell, instead of NA, NaN, null and the like; repeat, or "
            "put commas between them. An empty cell is always missing.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        Query(min_length=1, max_length=LONGEST_NAME, pattern=NAME, description="For people."),
    ] = None,
) -> Options:
    words = None if null_values is None else null_words(null_values)
    return Options(target, weight, tuple(drop or ()), tuple(types or ()), delimiter, decimal, words, name)


def null_words(given: list[str]) -> tuple[str, ...]:
    """Each is a word, or words with commas between them."""
    return tuple(word for item in given for word in item.split(",") if word)
