"""Conditions that select the jobs of a list."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from worker.store import codecs


@dataclass(frozen=True)
class JobFilter:
    """Select the jobs that meet all of these conditions."""

    dataset_id: str | None = None
    name: str | None = None
    tags: tuple[str, ...] = ()  # "key", or "key:value"

    def matches(self, record: codecs.Hash) -> bool:
        """Check the fields `dataset` and `settings` (or `spec`, in older versions) of a job's record."""
        if self.dataset_id is not None and record.get(b"dataset") != self.dataset_id.encode():
            return False
        settings = json.loads(record.get(b"settings") or record.get(b"spec") or b"{}")
        if self.name is not None and settings.get("name") != self.name:
            return False
        tags = settings.get("tags", {})
        return all(_has_tag(tags, tag) for tag in self.tags)


def _has_tag(tags: Mapping[str, str], wanted: str) -> bool:
    """Return whether a tag matches "key" or "key:value". Any colon may be the one between key and value."""
    colons = (place for place, letter in enumerate(wanted) if letter == ":")
    return wanted in tags or any(tags.get(wanted[:place]) == wanted[place + 1 :] for place in colons)


ALL_JOBS = JobFilter()
