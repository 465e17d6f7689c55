"""`python -m service.write_settings`: write docs/settings.md from the descriptions of the settings."""

from __future__ import annotations

from pathlib import Path

from pydantic.fields import FieldInfo

from service.settings import GROUPS, Settings

TARGET = Path(__file__).resolve().parents[2] / "docs" / "settings.md"
_HEAD = """# Settings

Environment variables configure the API server and the workers. This page is generated from the fields of
`service/settings.py` and `worker/settings.py` by `make settings`.
"""
_COMPUTED = {"worker_concurrency": "`cores`"}  # defaults that depend on the machine


def variable(name: str, field: FieldInfo) -> str:
    """Return the environment variable of a field."""
    return str(field.validation_alias or f"LITERATI_{name.upper()}")


def text() -> str:
    """Return the page."""
    parts = [_HEAD]
    for name, field in Settings.model_fields.items():
        if name in GROUPS:
            parts.append(f"\n## {GROUPS[name]}\n\n| variable | default | meaning |\n|---|---|---|\n")
        default = _COMPUTED.get(name, "" if field.default is None else f"`{field.default}`")
        meaning = " ".join(str(field.description).split())
        parts.append(f"| `{variable(name, field)}` | {default} | {meaning} |\n")
    return "".join(parts)


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
