"""`python -m service.write_openapi`: write the files that are generated from schemas and parameters.

These are openapi/openapi.json, the JSON Schemas of trees and metrics beside it, docs/parameters.md, and the
parameters that the web page offers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from literati.tree.model_schema import tree_schema
from service.app import create_app
from service.cli.parameter_files import parameters_json, parameters_markdown
from service.schemas.metrics import metrics_schema
from service.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "openapi" / "openapi.json"


def text() -> str:
    """Return the OpenAPI document as it is kept in the repository, the same on every machine."""
    app = create_app(Settings(_env_file=None, api_keys_file=None))  # type: ignore[call-arg]
    return json.dumps(app.openapi(), indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def files() -> dict[Path, str]:
    """Return the text of every file that this command writes."""
    return {
        TARGET: text(),
        TARGET.with_name("tree.schema.json"): _pretty(tree_schema()),
        TARGET.with_name("metrics.schema.json"): _pretty(metrics_schema()),
        ROOT / "docs" / "parameters.md": parameters_markdown(),
        ROOT / "service" / "web" / "src" / "train" / "parameters.json": _pretty(parameters_json()),
    }


def _pretty(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write all files."""
    TARGET.parent.mkdir(exist_ok=True)
    for path, content in files().items():
        path.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
