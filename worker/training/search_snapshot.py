"""A search in the blob store: the state of the engine, and how its effort is counted for the job."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from literati.errors import CheckpointError
from literati.search.checkpoint import unpack as unpack_engine_state


@dataclass(frozen=True)
class Effort:
    """Search time and expansions."""

    seconds: float = 0.0
    expansions: int = 0


@dataclass(frozen=True)
class SearchSnapshot:
    """A saved search.

    `offset` is the part of the search's effort that the job does not count, because a parent job spent it.
    It is negative where the job counts effort that the search does not know of. In the stored bytes it is
    called `spent`. `job_id` makes every job's blobs distinct, so that one job's blob can be deleted safely.
    """

    job_id: str
    offset: Effort
    engine_state: bytes

    def to_bytes(self) -> bytes:
        header = {"job_id": self.job_id, "spent": asdict(self.offset)}
        return json.dumps(header).encode() + b"\n" + self.engine_state

    @classmethod
    def from_bytes(cls, data: bytes) -> SearchSnapshot:
        """Read a snapshot. Raise CheckpointError if the bytes are not one."""
        line, _, engine_state = data.partition(b"\n")
        try:
            header = json.loads(line)
            return cls(header["job_id"], Effort(**header["spent"]), engine_state)
        except (ValueError, TypeError, KeyError) as error:
            raise CheckpointError(f"blob: not a saved search: {type(error).__name__}") from None

    def total(self) -> Effort:
        """Return the whole effort of the search, including the job's own."""
        header, _ = unpack_engine_state(self.engine_state)
        return Effort(float(header["elapsed_seconds"]), int(header["expansions"]))
