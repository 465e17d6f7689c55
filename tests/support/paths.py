"""Folders of the repository."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The root of the repository."""

DATA = ROOT / "tests" / "data"
"""Files that tests read, such as those written by earlier versions."""
