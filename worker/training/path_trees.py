"""The trees of a path as a blob."""

from __future__ import annotations

import json
import zlib
from typing import Any

from literati.tuning.path import RegularizationPath


def pack_trees(job_id: str, path: RegularizationPath) -> bytes:
    """Return the trees of a path as a blob. The id makes every job's blob distinct."""
    trees = [{"penalty_from": segment.penalty_from, "tree": segment.tree.to_dict()} for segment in path]
    return zlib.compress(json.dumps({"job_id": job_id, "trees": trees}, allow_nan=False).encode())


def unpack_trees(data: bytes) -> list[tuple[float, dict[str, Any]]]:
    """Return the trees of a path, each with its smallest penalty."""
    found = json.loads(zlib.decompress(data))
    return [(entry["penalty_from"], entry["tree"]) for entry in found["trees"]]
