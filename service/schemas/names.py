"""What a client may write on datasets and models."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from service.schemas.jobs import Name

# As names, but for tabs and line ends.
_NOTES = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*$"

Notes = Annotated[str, Field(max_length=4000, pattern=_NOTES)]


class LabelsPatch(BaseModel):
    """A JSON merge patch (RFC 7396) of a dataset or a model: what is left out stays as it is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[Name | None, Field(description="null: no name.")] = None
    notes: Annotated[Notes | None, Field(description="A text of yours; null: none.")] = None

    @property
    def changes(self) -> dict[str, str | None]:
        return {name: getattr(self, name) for name in self.model_fields_set}
