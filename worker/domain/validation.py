"""How a job splits its rows into training rows and validation rows."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, Field, StrictBool, StrictFloat, StrictInt, StrictStr, Tag

from worker.domain.base import FrozenModel


class ValidationFraction(FrozenModel):
    """Keep a share of every class for validation: the search does not see these rows, and scores use them."""

    fraction: Annotated[float, Field(gt=0, lt=1)]
    seed: Annotated[int, Field(ge=0, le=(1 << 32) - 1)] = 0


class ValidationColumn(FrozenModel):
    """Keep the rows that a column marks for validation. The column itself is not a feature.

    With `value`, these are the rows whose cell is this value: `{"column": "fold", "value": 3}`. Without it,
    they are the rows whose cell is true, 1, or one of the words `validation`, `valid`, `val`, `test`,
    `testing`, `holdout`, `hold-out`, `hold_out`, `true`, `yes` and `1` in any case. A column of numbers other
    than 0 and 1 needs a value. A row with a missing cell is a training row.
    """

    column: Annotated[str, Field(min_length=1, max_length=1024)]
    value: Annotated[
        StrictBool | StrictInt | StrictFloat | Annotated[StrictStr, Field(max_length=65_536)] | None,
        Field(description="The value that marks a row for validation, spelled as in the data."),
    ] = None


_VALIDATION_FORMS: dict[str, type[FrozenModel]] = {
    "by fraction": ValidationFraction,
    "by column": ValidationColumn,
}


def _form_of_validation(given: Any) -> str | None:
    """Return the tag of the form whose fields are given; None if that is not clear."""
    named = given if isinstance(given, dict) else vars(given) if isinstance(given, FrozenModel) else {}
    meant = [tag for tag, form in _VALIDATION_FORMS.items() if named.keys() & form.model_fields.keys()]
    return meant[0] if len(meant) == 1 else None


class RandomFolds(FrozenModel):
    """Folds that are drawn: every row is held out once, or once in each repetition.

    A class with a single row is never held out, because it could not be learned then.
    """

    folds: Annotated[int, Field(ge=2, le=50)] = 5
    repeats: Annotated[int, Field(ge=1, le=20, description="Draw so many times, each time others.")] = 1
    stratified: Annotated[bool, Field(description="Every fold has the same share of each class.")] = True
    seed: Annotated[int, Field(ge=0, le=(1 << 32) - 1)] = 0


class ColumnFolds(FrozenModel):
    """Every value of a column is a fold. The column itself is not a feature.

    Rows with a missing cell are never held out.
    """

    column: Annotated[str, Field(min_length=1, max_length=1024)]


_FOLD_FORMS: dict[str, type[FrozenModel]] = {"random folds": RandomFolds, "folds of a column": ColumnFolds}


def _form_of_folds(given: Any) -> str | None:
    """Return the tag of the form that is meant: by column if a column is given."""
    if isinstance(given, FrozenModel):
        return next(tag for tag, form in _FOLD_FORMS.items() if isinstance(given, form))
    if not isinstance(given, dict):
        return None
    return "folds of a column" if "column" in given else "random folds"


Folds = Annotated[
    Annotated[RandomFolds, Tag("random folds")] | Annotated[ColumnFolds, Tag("folds of a column")],
    Discriminator(
        _form_of_folds,
        custom_error_type="form",
        custom_error_message="Expected an object with `folds` or `column`",
    ),
]


# The tags contain a space, so that the location of an error does not confuse them with fields.
Validation = Annotated[
    Annotated[ValidationFraction, Tag("by fraction")] | Annotated[ValidationColumn, Tag("by column")],
    Discriminator(
        _form_of_validation,
        custom_error_type="form",
        custom_error_message="Expected an object with either `fraction` or `column`",
    ),
]
