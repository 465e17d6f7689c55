"""One small change of the code, and the test that must notice it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """`original` stands in the file exactly once. `test` names pytest's node ids, apart by blanks."""

    file: str
    original: str
    replacement: str
    test: str

    def title(self) -> str:
        before, after = (" ".join(text.split()) for text in (self.original, self.replacement))
        return f"{self.file}: {before!r} -> {after!r}"
