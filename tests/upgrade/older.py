"""The older version that runs beside this one: a worktree of the repository with extensions of its own.

`python -m tests.upgrade.older REVISION FOLDER` makes it. It runs in this version's environment. Its locked
packages are compared with those that are installed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from tests.support.paths import ROOT

OLDER = Path(os.environ.get("LITERATI_OLDER", "")).resolve()
"""The folder of the older version, which `make test-upgrade` sets."""


def build(revision: str, folder: Path) -> None:
    """Check the revision out into the folder and compile it, unless that was done before."""
    commit = _git("rev-parse", "--verify", f"{revision}^{{commit}}")
    if not (folder / ".git").exists():
        _git("worktree", "prune")
        _git("worktree", "add", "--force", "--detach", str(folder), commit)
    elif _git("-C", str(folder), "rev-parse", "HEAD") != commit:
        _git("-C", str(folder), "checkout", "--force", "--detach", commit)
    _compare_packages(folder / "requirements" / "service.txt")
    subprocess.run([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], cwd=folder, check=True)


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


def _compare_packages(lock: Path) -> None:
    wanted = dict(re.findall(r"^([a-z0-9-]+)==([^ ;\\]+)[ \\]*$", lock.read_text(), re.MULTILINE))
    different = [name for name, number in wanted.items() if version(name) != number]
    if different:
        sys.exit(f"The older version needs other versions of {', '.join(different)} than are installed.")


if __name__ == "__main__":
    build(sys.argv[1], Path(sys.argv[2]))
