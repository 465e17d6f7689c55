"""What counts as a difference between two builds, and what makes archives the same."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from distributions import build
from supply_chain.reproducible import files_of, report
from tests.support.paths import ROOT

WHEEL = {
    "a.py": "",
    "a-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: a\nVersion: 1\n",
    "a-1.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "a-1.dist-info/RECORD": "a.py,,\na-1.dist-info/METADATA,,\na-1.dist-info/WHEEL,,\n",
}


def archive(path: Path, names: list[str], *, seconds: int, mode: int = 0o644, uid: int = 0) -> Path:
    with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as opened:
        for name in names:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode, entry.uid = len(name), seconds, mode, uid
            opened.addfile(entry, io.BytesIO(name.encode()))
    return path


def test_files_are_compared_without_their_times(tmp_path: Path) -> None:
    def files(**options: int) -> dict[str, tuple[object, ...]]:
        with tarfile.open(archive(tmp_path / "a.tar", ["a", "b"], **options)) as opened:
            return files_of(opened)

    first = files(seconds=1)
    assert first == files(seconds=2)
    assert first != files(seconds=1, mode=0o600)
    assert first != files(seconds=1, uid=7)
    assert first["a"] != first["b"]


def test_differences_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert report("two builds", {"a": (1,), "b": (2,)}, {"a": (1,), "b": (2,)}) == 0
    assert report("two builds", {"a": (1,), "b": (2,)}, {"a": (1,), "b": (3,), "c": (4,)}) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == ["two builds: 1 of 3 are identical.", "  differs: b", "  differs: c"]


def test_an_sdist_does_not_depend_on_times_owners_and_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "last_change", lambda: "1700000000")
    one = archive(tmp_path / "one.tar.gz", ["p/a", "p/b"], seconds=1, uid=1)
    other = archive(tmp_path / "other.tar.gz", ["p/b", "p/a"], seconds=2, mode=0o640)
    assert one.read_bytes() != other.read_bytes()
    for path in (one, other):
        build.make_reproducible(path)
    assert one.read_bytes() == other.read_bytes()
    with tarfile.open(one) as opened:
        assert [(member.name, member.mtime, member.mode) for member in opened] == [
            ("p/a", 1_700_000_000, 0o644),
            ("p/b", 1_700_000_000, 0o644),
        ]


def test_a_file_that_is_added_to_a_wheel_is_in_its_record(tmp_path: Path) -> None:
    wheel = tmp_path / "a-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as opened:
        for name, text in reversed(WHEEL.items()):  # auditwheel does not write RECORD last either
            opened.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), text)
    build.add_to_wheel(wheel, "sboms/a.cdx.json", b"{}")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--target", str(tmp_path / "site")]
    subprocess.run([*pip, str(wheel)], check=True)
    assert (tmp_path / "site" / "a-1.dist-info" / "sboms" / "a.cdx.json").read_text() == "{}"
    with zipfile.ZipFile(wheel) as opened:
        assert opened.namelist()[-1] == "a-1.dist-info/RECORD"
        assert "a-1.dist-info/sboms/a.cdx.json,sha256=" in opened.read("a-1.dist-info/RECORD").decode()


def test_an_engine_that_is_not_there() -> None:
    command = [sys.executable, "-m", "supply_chain.reproducible", "image", "--engine", "no-such-engine"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert "The engine must be one of docker, podman" in done.stderr


def test_a_scan_without_a_scanner_says_how_to_get_one() -> None:
    command = [sys.executable, "-m", "supply_chain.scan", "--image", "literati:none"]
    done = subprocess.run(command, cwd=ROOT, env={"PATH": "/dev/null"}, capture_output=True, text=True)
    assert done.returncode == 2
    assert "neither trivy nor grype is installed" in done.stderr
