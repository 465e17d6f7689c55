"""A small change of the code, and the test that must fail with it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """`original` must be in the file exactly once. `test` has pytest's node ids, separated by spaces."""

    file: str
    original: str
    replacement: str
    test: str

    def title(self) -> str:
        before, after = (" ".join(text.split()) for text in (self.original, self.replacement))
        return f"{self.file}: {before!r} -> {after!r}"
