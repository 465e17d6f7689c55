"""Fields that several schemas share."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from literati.search.report import relative_gap
from literati.tree.nodes import is_beyond_space
from worker.domain.base import FrozenModel

# Control characters are not allowed, because databases, scripts and terminals do not handle them well.
PLAIN_TEXT = r"^[^\x00-\x1f\x7f]*$"
NAME = r"^[^\x00-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x1f\x7f]*$"  # as above, but not only spaces
MAX_NAME_LENGTH = 200
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH, pattern=NAME)]
# In notes, tabs and line breaks are allowed.
Notes = Annotated[str, Field(max_length=4000, pattern=r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*$")]

DATASET_ID = r"^ds_[0-9a-f]{32}$"
MAX_TAGS = 32
Tag = Annotated[str, Field(min_length=1, max_length=64, pattern=PLAIN_TEXT)]
TagValue = Annotated[str, Field(max_length=256, pattern=PLAIN_TEXT)]
Priority = Annotated[
    int, Field(ge=-100, le=100, description="Jobs with a higher priority start first, within a tenant.")
]

NextPageToken = Annotated[
    str | None, Field(description="Send it as `page_token` to get the next page; null on the last page.")
]

DESCRIBED_BY = "x-described-by"  # `service.openapi` replaces it by a reference to the schema
TreeJson = Annotated[dict[str, Any], Field(json_schema_extra={DESCRIBED_BY: "Tree"})]
MetricsJson = Annotated[dict[str, Any], Field(json_schema_extra={DESCRIBED_BY: "Metrics"})]
# The schema of `service.schemas.metrics.Scores` has this name, because another one is called `Scores`.
ScoresJson = Annotated[dict[str, Any], Field(json_schema_extra={DESCRIBED_BY: "ScoresInput"})]
Objective = Annotated[float, Field(description="The cost of the tree: misclassified weight plus penalties.")]
ProvenOptimal = Annotated[
    bool, Field(description="Whether the bounds are equal; reaching a gap tolerance is not a proof.")
]
ProvenSpace = Annotated[
    str,
    Field(
        description="The search space of the proof. With `widening` it is the widest space that is proven so "
        "far, and empty while there is none; `space` is that of the bounds."
    ),
]


def bounds(objective: float, upper: float, lower: float) -> dict[str, Any]:
    """Return the fields that the objective and the bounds of a tree determine."""
    return {
        "upper_bound": upper,
        "lower_bound": lower,
        "gap_absolute": upper - lower,
        "gap_relative": relative_gap(upper, lower),
        "beyond_space": is_beyond_space(objective, upper),
    }


class LabelsPatch(FrozenModel):
    """A JSON merge patch (RFC 7396) of a dataset. Fields that are left out do not change."""

    name: Annotated[Name | None, Field(description="null removes the name.")] = None
    notes: Annotated[Notes | None, Field(description="Any text; null removes the notes.")] = None

    @property
    def changes(self) -> dict[str, str | None]:
        return {name: getattr(self, name) for name in self.model_fields_set}


class TaggedPatch(LabelsPatch):
    """The part of a merge patch that jobs, sweeps and models have in common."""

    tags: Annotated[
        dict[Tag, TagValue | None] | None,
        Field(max_length=64, description="null as a value removes that tag; null for `tags` removes all."),
    ] = None


PriorityPatch = Annotated[Priority | None, Field(description="null sets it to 0.")]
