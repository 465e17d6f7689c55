"""Names and notes of datasets, jobs and models."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

# Control characters are not allowed, because databases, scripts and terminals do not handle them well.
PLAIN_TEXT = r"^[^\x00-\x1f\x7f]*$"
NAME = r"^[^\x00-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x1f\x7f]*$"  # as above, but not only spaces
MAX_NAME_LENGTH = 200
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH, pattern=NAME)]

# Like names, but tabs and line breaks are allowed.
_NOTES = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*$"

Notes = Annotated[str, Field(max_length=4000, pattern=_NOTES)]


class LabelsPatch(BaseModel):
    """A JSON merge patch (RFC 7396) of a dataset or a model. Fields that are left out do not change."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[Name | None, Field(description="null removes the name.")] = None
    notes: Annotated[Notes | None, Field(description="Any text; null removes the notes.")] = None

    @property
    def changes(self) -> dict[str, str | None]:
        return {name: getattr(self, name) for name in self.model_fields_set}
