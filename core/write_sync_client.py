"""Write the synchronous client from the asynchronous one: `make client`.

The words of the asynchronous form are replaced, such as `await` and `AsyncClient`. `runtime.py`, which has
what differs otherwise, is written by hand in both forms.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

CLIENT = Path(__file__).resolve().parent / "literati" / "client"
BY_HAND = {"runtime.py"}
RUFF = Path(sys.executable).parent / "ruff"
HEADER = '# Written by `make client` from "_async/{name}". Change that file instead.\n'
PACKAGE = '"""The synchronous client. `make client` writes it from the asynchronous one."""\n'
REPLACEMENTS = (
    (r"\basync (def|for|with)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bAsync(?=[A-Z])", ""),  # AsyncClient, AsyncJob, AsyncIterator
    (r"\basynccontextmanager\b", "contextmanager"),
    (r"\b__a(enter|exit)__\b", r"__\1__"),
    (r"\ba(close|read)\b", r"\1"),
    (r"\b_async\b", "_sync"),
)
# Sort the imports, and use `yield from`, which the asynchronous form cannot.
FIX = ["check", "--select", "I,UP028", "--fix", "--unsafe-fixes", "--quiet"]
FIX += ["--config", 'lint.isort.known-first-party = ["literati"]']


def sync_sources() -> dict[str, str]:
    """Return the text of every generated file by its name."""
    paths = sorted((CLIENT / "_async").glob("*.py"))
    sources = {path.name: path.read_text(encoding="utf-8") for path in paths if path.name not in BY_HAND}
    return {name: translated(name, text) for name, text in sources.items()} | {"__init__.py": PACKAGE}


def translated(name: str, text: str) -> str:
    """Return the synchronous form of a file."""
    text = _without_awaits_in_parentheses(text)
    for pattern, replacement in REPLACEMENTS:
        text = re.sub(pattern, replacement, text)
    path = CLIENT / "_sync" / name
    text = HEADER.format(name=name) + text
    for command in (FIX, ["format"]):
        words = [str(RUFF), *command, "--stdin-filename", str(path), "-"]
        text = subprocess.run(words, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout
    return text


def _without_awaits_in_parentheses(text: str) -> str:
    """Replace `(await call(...)).field` by `call(...).field`."""
    while (start := text.find("(await ")) >= 0:
        depth, end = 1, start + 1
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        inner = text[start + len("(await ") : end - 1]
        text = text[:start] + (inner if text[end] in ".[" else f"({inner})") + text[end:]
    return text


def main() -> None:
    for name, text in sync_sources().items():
        (CLIENT / "_sync" / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
