"""`make sbom`: the documents list exactly what is locked, and follow the schema of CycloneDX."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import ROOT

PYTHON = ROOT / "build" / "audit" / "bin" / "python"
LOCKS = {"literati-trees": "runtime.txt", "literati-server": "service.txt"}

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="no tools (make build/audit/.installed)")
Document = dict[str, Any]


def run(*commands: list[str]) -> subprocess.CompletedProcess[str]:
    """Run commands of `make sbom` in one process, because its libraries take long to load."""
    code = "import sys; from supply_chain.sbom import main; "
    code += f"sys.exit(max([main(words) for words in {commands!r}]))"
    return subprocess.run(
        [PYTHON, "-c", code],
        cwd=ROOT,
        env={"SOURCE_DATE_EPOCH": "1700000000"},
        capture_output=True,
        text=True,
        check=False,
    )


def read(folder: Path) -> dict[str, Document]:
    """Return the documents in a folder by their names."""
    return {path.name.removesuffix(".cdx.json"): json.loads(path.read_text()) for path in folder.iterdir()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with documents of the wheels and of their contents."""
    folder = tmp_path_factory.mktemp("sbom")
    done = run(["--out", f"{folder}/all"], ["--contained", "--out", f"{folder}/contained"])
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def documents(folder: Path) -> dict[str, Document]:
    return read(folder / "all")


def packages(document: Document, kind: str) -> dict[str, dict[str, Any]]:
    """Return the components of a kind by their package URL."""
    components = document.get("components", [])
    return {item["purl"]: item for item in components if item["purl"].startswith(f"pkg:{kind}/")}


def locked(name: str) -> dict[str, set[str]]:
    """Return the package URL of every locked package with the hashes of its files."""
    text = (ROOT / "requirements" / name).read_text()
    entries = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    pins = [re.match(r"([\w.-]+)==([\w.+!]+)", entry) for entry in entries]
    return {
        f"pkg:pypi/{pin[1]}@{pin[2].replace('+', '%2B')}": set(re.findall(r"sha256:(\w+)", entry))
        for pin, entry in zip(pins, entries, strict=True)
        if pin
    }


@pytest.mark.parametrize("name", LOCKS)
def test_the_document_lists_exactly_the_locked_packages(documents: dict[str, Document], name: str) -> None:
    expected = locked(LOCKS[name])
    assert len(expected) > 5
    found = {
        purl: {digest["content"] for digest in item["hashes"] if digest["alg"] == "SHA-256"}
        for purl, item in packages(documents[name], "pypi").items()
        if not (name == "literati-trees" and item["name"] == "cython")  # its functions are compiled in
    }
    assert found == expected


def test_the_document_lists_the_packages_of_the_page(documents: dict[str, Document]) -> None:
    page = json.loads((ROOT / "service" / "web" / "package.json").read_text())
    found = packages(documents["literati-server"], "npm")
    assert found.keys() == {f"pkg:npm/{name}@{version}" for name, version in page["dependencies"].items()}
    for item in found.values():
        assert [digest["alg"] for digest in item["hashes"]] == ["SHA-512"]
        assert item["licenses"]


def test_a_marker_and_a_licence_are_kept(documents: dict[str, Document]) -> None:
    found = packages(documents["literati-server"], "pypi")
    assert any(item["licenses"] for purl, item in found.items() if purl.startswith("pkg:pypi/numpy@"))
    notes = [item["properties"] for item in found.values()]
    markers = [note["value"] for some in notes for note in some if note["name"] == "literati:marker"]
    assert any("sys_platform" in marker for marker in markers)


def test_the_documents_say_nothing_about_this_machine(documents: dict[str, Document]) -> None:
    text = json.dumps(documents)
    assert str(ROOT) not in text
    assert set(re.findall(r"https?://[^/\"]+", text)) == {"http://cyclonedx.org"}
    for document in documents.values():
        assert document["metadata"]["timestamp"] == "2023-11-14T22:13:20+00:00"
        assert document["metadata"]["component"]["version"]


def test_the_documents_of_wheels_list_what_is_inside(folder: Path) -> None:
    found = read(folder / "contained")
    assert found["literati-server"]["serialNumber"] != found["literati-trees"]["serialNumber"]
    assert packages(found["literati-server"], "npm")
    assert not packages(found["literati-server"], "pypi")
    assert [item["name"] for item in found["literati-trees"]["components"]] == ["cython"]


def test_documents_are_the_same_every_time_and_an_image_may_be_missing(folder: Path, tmp_path: Path) -> None:
    done = run(["--out", str(tmp_path), "--engine", "no-such-engine", "--image", "literati:none"])
    assert done.returncode == 1
    assert "`no-such-engine` is not installed." in done.stderr
    assert read(tmp_path) == read(folder / "all")
    for name in LOCKS:
        file = f"{name}.cdx.json"
        assert (tmp_path / file).read_bytes() == (folder / "all" / file).read_bytes()
