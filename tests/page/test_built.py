"""The committed files of the page are up to date, and the API serves them without Node."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.support.page.page_data import Service
from tests.support.paths import ROOT

PAGE = ROOT / "service" / "web"
SOURCES = ("build.mjs", "package-lock.json", "package.json", "tsconfig.json")
WRITTEN_BY_HAND = ("docs.css", "docs.js", "icon.svg")
RECORD = json.loads((PAGE / "built.json").read_text())
NPM, NODE = shutil.which("npm"), shutil.which("node")
HOW = "the committed page is out of date: run `make page` and commit the files that it writes"


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_the_committed_page_is_current() -> None:
    """Without Node: compare the digests that the build recorded for its sources and for the built files."""
    files = [PAGE / name for name in SOURCES]
    files += [path for path in (PAGE / "src").rglob("*") if path.is_file()]
    named = sorted((path.relative_to(PAGE).as_posix(), path.read_bytes()) for path in files)
    sources = b"".join(name.encode() + b"\0" + content + b"\0" for name, content in named)
    assert RECORD["sources"] == digest(sources), HOW
    for name, expected in RECORD["files"].items():
        assert digest((PAGE / name).read_bytes()) == expected, f"{name}: {HOW}"
    known = RECORD["files"].keys() - {"index.html"} | {f"assets/{name}" for name in WRITTEN_BY_HAND}
    assert {f"assets/{path.name}" for path in (PAGE / "assets").iterdir()} == known


def test_the_sample_data_is_the_example() -> None:
    [name] = [name for name in RECORD["files"] if name.endswith(".csv")]
    assert (PAGE / name).read_bytes() == (ROOT / "examples" / "loans.csv").read_bytes(), HOW


if NPM and NODE:  # without Node, the test above checks the digests

    @pytest.mark.slow
    def test_building_again_gives_the_same_files(tmp_path: Path) -> None:
        """With Node: install the packages from the lock file, check the types and build the page again."""
        npm, node = str(NPM), str(NODE)
        here = tmp_path / "service" / "web"
        shutil.copytree(PAGE, here, ignore=shutil.ignore_patterns("node_modules"))
        for folder in ("openapi", "examples"):
            shutil.copytree(ROOT / folder, tmp_path / folder)
        environment = {**os.environ, "npm_config_update_notifier": "false"}

        def run(*words: str) -> None:
            done = subprocess.run(
                words, cwd=here, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr

        run(npm, "ci", "--no-audit", "--no-fund")
        run(npm, "run", "check")
        run(node, "build.mjs", str(tmp_path / "out"))
        again = json.loads((tmp_path / "out" / "built.json").read_text())
        assert again == RECORD, HOW


def test_the_lock_file_names_no_registry() -> None:
    lock = json.loads((PAGE / "package-lock.json").read_text())
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert len(packages) > 5
    for name, entry in packages.items():
        assert "resolved" not in entry, name
        assert entry["integrity"].startswith("sha512-"), name


def test_nothing_inline_and_nothing_from_elsewhere() -> None:
    page = (PAGE / "index.html").read_text()
    assert not re.search(r"<script>|<style|\son\w+=|style=|https?://", page)
    for name in RECORD["files"]:
        if name.endswith((".js", ".css")):
            text = (PAGE / name).read_text()
            assert not re.search(r"\beval\(|new Function\(|@import|url\(", text), name


class TestServing:
    @pytest.fixture
    def client(self, service: Service) -> httpx.Client:
        return service.client

    def test_browsers_revalidate_the_page(self, client: httpx.Client) -> None:
        answer = client.get("/")
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert answer.headers["cache-control"] == "no-cache"
        tag = answer.headers["etag"]
        assert not tag.startswith("W/")
        assert client.get("/", headers={"If-None-Match": tag}).status_code == 304

    @pytest.mark.parametrize("name", [name for name in RECORD["files"] if name.startswith("assets/")])
    def test_assets(self, client: httpx.Client, name: str) -> None:
        types = {
            "js": "text/javascript; charset=utf-8",
            "css": "text/css; charset=utf-8",
            "csv": "text/csv; charset=utf-8",
            "txt": "text/plain; charset=utf-8",
        }
        packed = client.get(f"/{name}", headers={"Accept-Encoding": "br, gzip"})
        plain = client.get(f"/{name}", headers={"Accept-Encoding": "gzip;q=0"})
        assert packed.content == plain.content == (PAGE / name).read_bytes()
        assert packed.headers["content-type"] == types[name.rpartition(".")[2]]
        assert packed.headers["content-encoding"] == "gzip"
        assert "content-encoding" not in plain.headers
        assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
        assert packed.headers["etag"] != plain.headers["etag"]
        hashed = "-" in name
        assert ("immutable" in packed.headers["cache-control"]) == hashed

    def test_the_icon_of_the_page(self, client: httpx.Client) -> None:
        """A headless browser does not request the icon."""
        named = re.search(r'<link rel="icon" href="([^"]+)" type="([^"]+)"', client.get("/").text)
        assert named is not None
        icon = client.get(named[1])
        assert icon.status_code == 200
        assert icon.headers["content-type"].partition(";")[0] == named[2] == "image/svg+xml"
        assert b"<svg" in icon.content
        assert "default-src 'self'" in client.get("/").headers["content-security-policy"]

    @pytest.mark.parametrize("name", ["nope.js", "../index.html", "%2e%2e/built.json", "", "docs.js/"])
    def test_nothing_else_is_served(self, client: httpx.Client, name: str) -> None:
        assert client.get(f"/assets/{name}").status_code == 404
