"""Changes to the polish of a tree."""

from __future__ import annotations

from .engine import Changes

POLISH = "tests/core/test_polish.py::"

MUTANTS: Changes = {}
