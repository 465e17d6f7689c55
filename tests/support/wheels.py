"""The files and the metadata of a wheel."""

from __future__ import annotations

import email
import zipfile
from configparser import ConfigParser
from email.message import Message
from pathlib import Path, PurePosixPath

from tests.support.paths import ROOT

WEB = "service/web"


class Wheel:
    """An opened wheel."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            self.files = {entry.filename: archive.read(entry) for entry in entries}

    @property
    def code(self) -> set[str]:
        """The names of all files that are not metadata."""
        return {name for name in self.files if ".dist-info/" not in name}

    @property
    def metadata(self) -> Message:
        return email.message_from_bytes(self._about("METADATA"))

    @property
    def entry_points(self) -> dict[str, dict[str, str]]:
        parser = ConfigParser()
        parser.read_string(self._about("entry_points.txt").decode())
        return {group: dict(parser[group]) for group in parser.sections()}

    def requirements(self) -> list[str]:
        return self.metadata.get_all("Requires-Dist", [])

    def _about(self, name: str) -> bytes:
        [found] = [data for path, data in self.files.items() if path.endswith(f".dist-info/{name}")]
        return found


def expected_library() -> set[str]:
    """Return the files of the library's wheel, without the compiled modules."""
    return {
        path.relative_to(ROOT / "core").as_posix()
        for path in (ROOT / "core" / "literati").rglob("*")
        if path.suffix in (".py", ".pyi", ".typed")
    }


def compiled_modules() -> set[str]:
    """Return the names of the compiled modules: `literati/_engine/_ao`."""
    sources = (ROOT / "core" / "literati").glob("*/*.pyx")
    return {path.relative_to(ROOT / "core").with_suffix("").as_posix() for path in sources}


def expected_server() -> set[str]:
    """Return the files of the server's wheel."""
    own = {f"literati_server/{name}.py" for name in ("__init__", "__main__", "cli")}
    return own | {
        f"literati_server/{name}"
        for folder in ("service", "worker")
        for path in (ROOT / folder).rglob("*")
        if _belongs(PurePosixPath(name := path.relative_to(ROOT).as_posix()))
    }


def _belongs(name: PurePosixPath) -> bool:
    if "node_modules" in name.parts:
        return False
    if name.suffix in (".py", ".lua"):
        return True
    return name.match(f"{WEB}/*.html") or name.match(f"{WEB}/assets/*")
