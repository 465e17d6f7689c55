"""Compare what a drill sees with docs/operations.md."""

from __future__ import annotations

import re

from tests.support.paths import ROOT


class Page:
    """Collect texts that a drill saw, each of which the page must contain."""

    def __init__(self, *, check: bool) -> None:
        self._text = " ".join((ROOT / "docs" / "operations.md").read_text().split()) if check else None
        self.seen: list[str] = []

    def sees(self, text: str) -> None:
        text = " ".join(re.sub(r"[0-9a-f]{32,64}", "…", text).split())
        print(f"    {text}", flush=True)
        self.seen.append(text)
        if self._text is not None:
            assert text in self._text, f"docs/operations.md does not say: {text}"
