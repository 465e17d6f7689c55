"""A copy of the sources in `build/mutants`, in which one change at a time is compiled and tested."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.mutant import Mutant
from tests.support.paths import ROOT

COPIED = ("core", "worker", "service", "tests", "docs", "openapi", "setup.py", "pyproject.toml", "README.md")
TEST_SECONDS = 120  # also for a mutant that makes the search endless
PACKAGE = Path("core") / "literati" / "_engine"
# Headers, and the modules that include them.
USERS = {
    "_lanes_body.h": ("_engine",),
    "_gini_body.h": ("_engine",),
    "_explored.pxd": ("_ao", "_gaps", "_values"),
    "_graph.pxd": ("_ao", "_gaps", "_select", "_values"),
    "_min_rows.pxd": ("_depth1", "_depth2", "_depth2_min_rows", "_min_rows", "_polish_min_rows"),
    "_best_shape.pxd": ("_depth1", "_polish"),
}


@dataclass(frozen=True)
class Outcome:
    mutant: Mutant
    verdict: str  # killed, survived or broken
    seconds: float
    detail: str = ""


class SourceCopy:
    """A copy of the sources with its own extensions; several copies can be used at the same time."""

    def __init__(self, number: int) -> None:
        self.root = ROOT / "build" / "mutants" / f"tree-{number}"
        self.clean = self.root.parent / f"clean-{number}"  # the compiled files of the unchanged sources
        paths = [self.root, self.root / "core", self.root / "tests"]
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "PYTHONDONTWRITEBYTECODE": "1",
            "LITERATI_OPTIMIZE": "-O1",
            "LITERATI_SIMD": "avx2",  # kernels for AVX-512 would run in the place of some changed lines
        }

    def prepare(self) -> None:
        """Bring the copy up to date and compile what changed."""
        for name in COPIED:
            source, target = ROOT / name, self.root / name
            if source.is_dir():
                self._mirror(source, target)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                self._copy(source, target)
        self._compile()
        place = self._run([sys.executable, "-c", "import literati; print(literati.__file__)"], 60).stdout
        if str(self.root) not in place:
            raise RuntimeError(f"the copy is not what is imported, but {place}")
        shutil.rmtree(self.clean, ignore_errors=True)
        for folder in self._compiled():
            shutil.copytree(folder, self.clean / folder.relative_to(self.root))

    def baseline(self, mutants: list[Mutant]) -> str:
        """Run the named tests on the unchanged sources; return the output if one fails."""
        tests = sorted({test for mutant in mutants for test in mutant.test.split()})
        done = self._run(self._pytest(tests), TEST_SECONDS * 10)
        return "" if done.returncode == 0 else done.stdout[-4000:] + done.stderr[-2000:]

    def attempt(self, mutant: Mutant) -> Outcome:
        start = time.monotonic()
        path = self.root / mutant.file
        text, times = path.read_text(), path.stat()
        path.write_text(text.replace(mutant.original, mutant.replacement))
        try:
            verdict, detail = self._judge(mutant, path, times)
        finally:
            path.write_text(text)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            self._restore()
        return Outcome(mutant, verdict, time.monotonic() - start, detail)

    def _judge(self, mutant: Mutant, path: Path, times: os.stat_result) -> tuple[str, str]:
        if path.parent == self.root / PACKAGE and path.suffix != ".py":
            for module in USERS.get(path.name, ()):
                (path.parent / f"{module}.pyx").touch()
            if path.name in USERS:  # otherwise every module would be compiled
                os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            try:
                self._compile()
            except subprocess.CalledProcessError as error:
                return "broken", f"it does not compile:\n{error.stderr[-2000:]}"
        try:
            done = self._run(self._pytest(mutant.test.split()), TEST_SECONDS)
        except subprocess.TimeoutExpired:
            return "killed", "the test did not end"
        if done.returncode == 0:
            return "survived", f"{mutant.test} passes"
        if done.returncode > 1 and "Segmentation fault" not in done.stderr and done.returncode < 128:
            return "broken", f"the test did not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        return "killed", ""

    def _pytest(self, tests: list[str]) -> list[str]:
        return [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]

    def _compile(self) -> None:
        command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace", "--parallel", "2"]
        subprocess.run(
            command, cwd=self.root, env=self.environment, check=True, capture_output=True, text=True
        )

    def _run(self, command: list[str], seconds: float) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self.root, env=self.environment, capture_output=True, text=True, timeout=seconds
        )

    def _restore(self) -> None:
        """Restore the compiled files of the unchanged sources, with their times."""
        for folder in self._compiled():
            for path in folder.iterdir():
                kept = self.clean / path.relative_to(self.root)
                if kept.is_file() and kept.stat().st_mtime_ns != path.stat().st_mtime_ns:
                    shutil.copy2(kept, path)

    def _compiled(self) -> list[Path]:
        """Return the folders of compiled files: setuptools writes to `build` and copies to the package."""
        built = (self.root / "build").glob(f"lib*/{PACKAGE.relative_to('core')}")
        return [self.root / PACKAGE, *sorted(built)]

    def _mirror(self, source: Path, target: Path) -> None:
        for path in sorted(target.rglob("*")):
            if (
                path.is_file()
                and not self._generated(path)
                and not (source / path.relative_to(target)).exists()
            ):
                path.unlink()
        for path in sorted(source.rglob("*")):
            if path.is_file() and not self._skipped(path):
                copy = target / path.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                self._copy(path, copy)

    @classmethod
    def _skipped(cls, path: Path) -> bool:
        ours = path.parent == ROOT / PACKAGE and cls._generated(path)
        return ours or bool({"__pycache__", "node_modules"} & set(path.parts))

    @staticmethod
    def _generated(path: Path) -> bool:
        return path.suffix == ".so" or (path.suffix == ".c" and path.parent.name == PACKAGE.name)

    @staticmethod
    def _copy(source: Path, target: Path) -> None:
        """Copy a file if it differs. It gets the current time, so that it is compiled again."""
        if not target.exists() or target.read_bytes() != source.read_bytes():
            shutil.copy(source, target)
