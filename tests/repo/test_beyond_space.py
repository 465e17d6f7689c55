"""The library, the page and the docs explain trees beyond the searched space with the same sentence."""

from __future__ import annotations

import json

from literati.tree.nodes import BEYOND_SPACE
from tests.support.paths import ROOT


def test_the_page_says_it() -> None:
    assert f'"{BEYOND_SPACE}"' in (ROOT / "service/web/src/words.ts").read_text()
    built = "".join(path.read_text() for path in (ROOT / "service/web/assets").glob("*.js"))
    assert BEYOND_SPACE in built


def test_the_readme_says_it() -> None:
    assert BEYOND_SPACE in " ".join((ROOT / "README.md").read_text().split())


def test_every_flag_in_the_api_description_says_it() -> None:
    schemas = json.loads((ROOT / "openapi/openapi.json").read_text())["components"]["schemas"]
    described = {
        name: schema["properties"]["beyond_space"]["description"]
        for name, schema in schemas.items()
        if "beyond_space" in schema.get("properties", {})
    }
    assert {"Progress", "Incumbent", "Model", "ModelWithTree"} <= described.keys()
    assert all(BEYOND_SPACE in text for text in described.values())
