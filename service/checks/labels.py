"""Apply a merge patch (RFC 7396) to what jobs, sweeps and models have in common: name, notes and tags."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from service.http.problems import FieldError, invalid, pointer
from service.schemas.fields import MAX_TAGS, TaggedPatch


def patched_fields(patch: TaggedPatch, tags: Mapping[str, str], what: str) -> dict[str, Any]:
    """Return the new values of the fields that the patch names, by name. `tags` are those before.

    Raise the problem 422 if there would be too many tags; `what` is the kind of the record.
    """
    changes = {name: getattr(patch, name) for name in patch.model_fields_set}
    if "tags" in changes:
        changes["tags"] = _merged(patch.tags, tags, what)
    if "priority" in changes:
        changes["priority"] = changes["priority"] or 0
    return changes


def _merged(patch: Mapping[str, str | None] | None, tags: Mapping[str, str], what: str) -> dict[str, str]:
    if patch is None:
        return {}
    merged = {name: value for name, value in {**tags, **patch}.items() if value is not None}
    if len(merged) > MAX_TAGS:
        message = f"The {what} would have {len(merged)} tags; the limit is {MAX_TAGS}."
        raise invalid(FieldError(pointer("body", "tags"), "TOO_LONG", message))
    return merged
