"""An environment without a compiler, into which the wheels that `make dist` has built are installed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import literati
from tests.support.paths import ROOT

DIST = ROOT / "dist"
VERSION = literati.__version__
PYTHONS = os.environ.get("LITERATI_DIST", "").split()  # for which `make dist` has built


class CleanEnvironment:
    """A virtual environment with programs of its own only, into which the wheels are installed."""

    def __init__(self, folder: Path, python: str, requirement: str) -> None:
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
        self.bin = folder / "bin"
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(("LITERATI_", "PYTHON"))
        }
        inherited.pop("REDIS_URL", None)
        # Neither a compiler nor a Valkey server of this machine can be found.
        self.variables = inherited | {"PATH": str(self.bin), "CC": "/bin/false", "CXX": "/bin/false"}
        pip = ("-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--only-binary", ":all:")
        done = self.run("python", *pip, "--find-links", str(DIST), requirement)
        assert done.returncode == 0, done.stderr

    def run(
        self, *command: str, folder: Path | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment."""
        return subprocess.run(
            [self.bin / command[0], *command[1:]],
            cwd=folder,
            env=self.variables | variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )
