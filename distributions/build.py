"""`make dist`: build the sdists and the wheels of both distributions into the folder `dist`.

They are built from a copy of the files that git knows, so nothing else gets into a distribution. The wheel of
the library is built twice, from the sdist and from the copy, and both must have the same content.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "dist"
OUT = ROOT / "dist"


def main() -> None:
    """Build everything and list what was built."""
    if sys.platform != "linux":
        sys.exit("Portable wheels can be built on Linux only: auditwheel is made for it.")
    for folder in (WORK, OUT):
        shutil.rmtree(folder, ignore_errors=True)
    source = copy_sources(WORK / "source")
    build(source, OUT, "--sdist")
    from_sdist = build(unpacked(OUT), WORK / "from-sdist", "--wheel")
    from_source = build(source, WORK / "from-source", "--wheel")
    compare(from_sdist, from_source)
    run("auditwheel", "repair", "--wheel-dir", str(OUT), str(from_sdist))
    build(source / "distributions" / "server", OUT)
    for path in sorted(OUT.iterdir()):
        print(f"{path.stat().st_size / 1e6:6.2f} MB  dist/{path.name}")


def copy_sources(target: Path) -> Path:
    """Copy the files of the repository that git knows, or would know after `git add`."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, path, follow_symlinks=False)
    return target


def unpacked(folder: Path) -> Path:
    """Unpack the one sdist in a folder."""
    [archive] = folder.glob("*.tar.gz")
    shutil.unpack_archive(archive, WORK, filter="data")
    return WORK / archive.name.removesuffix(".tar.gz")


def build(source: Path, out: Path, *options: str) -> Path:
    """Build the distributions of a folder and return one of them: an sdist and a wheel, or as options say."""
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), *options, str(source))
    return next(path for path in out.iterdir())


def run(*command: str) -> None:
    """Run a command without anything in its environment that would leave traces in a binary."""
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),  # of auditwheel
        "SOURCE_DATE_EPOCH": last_change(),
        # Debug information has the names of folders.
        "CFLAGS": f"-g0 -include {Path(__file__).with_name('older_glibc.h')}",
        "LDSHARED": f"{os.environ.get('CC', 'cc')} -shared",  # Python's own may name its folder of libraries
        "LDFLAGS": "-Wl,--strip-all",
    }
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}\nThis command failed: {' '.join(command)}")


def last_change() -> str:
    """Return the time of the last commit, which becomes the time of every file in a wheel."""
    command = ["git", "log", "-1", "--format=%ct"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def compare(first: Path, second: Path) -> None:
    """End with a message if two wheels differ in their files."""
    one, other = contents(first), contents(second)
    different = sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
    if different:
        sys.exit(f"{first} and {second} differ in: {', '.join(different)}")


def contents(wheel: Path) -> dict[str, bytes]:
    """Return the content of each file of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


if __name__ == "__main__":
    main()
