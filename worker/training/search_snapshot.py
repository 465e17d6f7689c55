"""A search in the blob store: the library's checkpoint, and what of it was spent before this job began."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from literati.checkpoint import unpack as unpack_checkpoint
from literati.errors import CheckpointError


@dataclass(frozen=True)
class Spent:
    """What a search has behind it that its job does not count, or, where negative, counts on top."""

    seconds: float = 0.0
    expansions: int = 0


@dataclass(frozen=True)
class SavedSearch:
    job_id: str  # no two jobs share a blob, so that one can be deleted without asking the other
    spent: Spent
    checkpoint: bytes

    def to_bytes(self) -> bytes:
        header = {"job_id": self.job_id, "spent": asdict(self.spent)}
        return json.dumps(header).encode() + b"\n" + self.checkpoint

    @classmethod
    def from_bytes(cls, data: bytes) -> SavedSearch:
        head, _, checkpoint = data.partition(b"\n")
        try:
            header = json.loads(head)
            return cls(header["job_id"], Spent(**header["spent"]), checkpoint)
        except (ValueError, TypeError, KeyError) as error:
            raise CheckpointError(f"blob: not a saved search: {type(error).__name__}") from None

    def total(self) -> Spent:
        """All that went into the search, the job's own part too."""
        header, _ = unpack_checkpoint(self.checkpoint)
        return Spent(float(header["elapsed_seconds"]), int(header["expansions"]))
