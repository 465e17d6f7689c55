"""What `make dist` has built: files, tags and metadata."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
import tarfile
from pathlib import Path

import pytest

from tests.support.clean_environment import DIST, PYTHONS, VERSION
from tests.support.paths import ROOT
from tests.support.wheels import Wheel, compiled_modules, expected_library, expected_server

PLACES = {str(place) for place in (ROOT, Path.home(), sys.base_prefix)} - {"/", "/usr"}
WHEELS = sorted(DIST.glob("*.whl"))
LIBRARIES = [path for path in WHEELS if path.name.startswith("literati_trees-")]


def names_in(archive: str) -> set[str]:
    """Return the files of an sdist, without the name of its folder."""
    with tarfile.open(DIST / archive) as opened:
        return {member.name.partition("/")[2] for member in opened if member.isfile()}


def test_there_is_a_wheel_for_every_interpreter() -> None:
    assert len(LIBRARIES) == len(PYTHONS)


@pytest.mark.parametrize("path", LIBRARIES, ids=lambda path: path.name)
def test_the_library_is_complete_and_runs_on_many_systems(path: Path) -> None:
    tag = re.fullmatch(rf"literati_trees-{re.escape(VERSION)}-cp(\d+)-cp\1-manylinux[\w.]+\.whl", path.name)
    assert tag
    files = Wheel(path).code
    binaries = {name for name in files if name.endswith(".so")}
    assert files - binaries == expected_library()
    assert {name.partition(f".cpython-{tag[1]}-")[0] for name in binaries} == compiled_modules()


def test_the_server_is_complete() -> None:
    assert Wheel(DIST / f"literati_server-{VERSION}-py3-none-any.whl").code == expected_server()


@pytest.mark.parametrize("path", WHEELS, ids=lambda path: path.name)
def test_no_file_names_a_folder_of_this_machine(path: Path) -> None:
    files = Wheel(path).files
    assert [name for name, data in files.items() if any(place.encode() in data for place in PLACES)] == []


@pytest.mark.parametrize("path", WHEELS, ids=lambda path: path.name)
def test_a_wheel_lists_the_software_of_others_inside_it(path: Path) -> None:
    files = Wheel(path).files
    [text] = [data for name, data in files.items() if ".dist-info/sboms/literati-" in name]
    page = json.loads((ROOT / "service" / "web" / "package.json").read_text())
    expected = {"cython"} if path in LIBRARIES else page["dependencies"].keys()
    document = json.loads(text)
    assert {component["name"] for component in document["components"]} == expected
    assert document["metadata"]["component"]["version"] == VERSION


@pytest.mark.parametrize("path", WHEELS, ids=lambda path: path.name)
def test_every_file_is_recorded_with_its_hash(path: Path) -> None:
    files = Wheel(path).files
    [lines] = [data.decode() for name, data in files.items() if name.endswith(".dist-info/RECORD")]
    recorded = {line.split(",")[0]: line.split(",")[1] for line in lines.splitlines()}
    hashes = {
        name: "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        for name, data in files.items()
    }
    assert recorded.keys() == hashes.keys()
    assert [name for name, digest in recorded.items() if digest not in ("", hashes[name])] == []
    assert [name for name, digest in recorded.items() if not digest] == [
        name for name in files if name.endswith("RECORD")
    ]


def test_the_sources_of_the_library_are_what_builds_it() -> None:
    names = names_in(f"literati_trees-{VERSION}.tar.gz")
    assert {f"core/{name}.pyx" for name in compiled_modules()} <= names
    assert {"core/literati/_engine/_lanes.h", "LICENSE", "README.md", "pyproject.toml", "setup.py"} <= names
    assert not [
        name for name in names if name.endswith((".c", ".so")) or name.startswith(("service", "tests"))
    ]


def test_the_sources_of_the_server_are_what_builds_it() -> None:
    names = names_in(f"literati_server-{VERSION}.tar.gz")
    assert names >= expected_server() | {"LICENSE", "_version.py", "requirements.in", "setup.py"}
