"""The base class of all records, and new ids."""

from __future__ import annotations

import secrets
from typing import Literal

from pydantic import BaseModel, ConfigDict

ID_BITS = 128


class FrozenModel(BaseModel):
    """An immutable record that rejects unknown fields and numbers that are not finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def new_id(prefix: Literal["job", "ds", "mdl", "swp"]) -> str:
    """Return a new random id for a job, a dataset, a model or a sweep."""
    return f"{prefix}_{secrets.token_hex(ID_BITS // 8)}"
