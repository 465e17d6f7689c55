"""`make dist`: build the sdists and the wheels of both distributions into the folder `dist`.

The arguments are the Python interpreters for which the library is compiled. Everything is built from a copy
of the files that git knows, so nothing else gets into a distribution. The first wheel of the library is built
twice, from the sdist and from the copy, and both must have the same content.
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


def main(interpreters: list[str]) -> None:
    """Build everything and list what was built."""
    if sys.platform != "linux":
        sys.exit("Portable wheels can be built on Linux only: auditwheel is made for it.")
    if not interpreters:
        sys.exit("Name the Python interpreters for which to build, such as python3.11.")
    for folder in (WORK, OUT):
        shutil.rmtree(folder, ignore_errors=True)
    tools = [make_tools(name, WORK / f"python-{place}") for place, name in enumerate(interpreters)]
    source = copy_sources(WORK / "source")
    build(tools[0], source / "distributions" / "server", OUT)
    archive = build(tools[0], source, WORK / "sdist", "--sdist")
    shutil.copy2(archive, OUT)
    shutil.unpack_archive(archive, WORK, filter="data")
    unpacked = WORK / archive.name.removesuffix(".tar.gz")
    wheels = [build(bin, unpacked, WORK / f"wheel-{place}", "--wheel") for place, bin in enumerate(tools)]
    compare(wheels[0], build(tools[0], source, WORK / "wheel-from-source", "--wheel"))
    for wheel in wheels:
        run(tools[0], "auditwheel", "repair", "--wheel-dir", str(OUT), str(wheel))
    for path in sorted(OUT.iterdir()):
        print(f"{path.stat().st_size / 1e6:6.2f} MB  dist/{path.name}")


def make_tools(interpreter: str, folder: Path) -> Path:
    """Create an environment with the locked tools, and return its folder of programs."""
    subprocess.run([interpreter, "-m", "venv", str(folder)], check=True)
    pip = (
        "-m",
        "pip",
        "--disable-pip-version-check",
        "install",
        "--quiet",
        "--require-hashes",
        "--requirement",
    )
    run(folder / "bin", "python", *pip, str(ROOT / "requirements" / "dist.txt"))
    return folder / "bin"


def copy_sources(target: Path) -> Path:
    """Copy the files of the repository that git knows, or would know after `git add`."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, path, follow_symlinks=False)
    return target


def build(tools: Path, source: Path, out: Path, *options: str) -> Path:
    """Build an sdist and a wheel, or what the options say. Return a file that was built."""
    run(tools, "python", "-m", "build", "--no-isolation", "--outdir", str(out), *options, str(source))
    return next(out.iterdir())


def run(tools: Path, *command: str) -> None:
    """Run a tool, which leaves no trace of this machine in what it compiles."""
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(tools), os.environ["PATH"]]),
        "SOURCE_DATE_EPOCH": last_change(),
        # Debug information has the names of folders.
        "CFLAGS": f"-g0 -include {Path(__file__).with_name('older_glibc.h')}",
        "LDSHARED": f"{os.environ.get('CC', 'cc')} -shared",  # Python's own may name its folder of libraries
        "LDFLAGS": "-Wl,--strip-all",
    }
    words = [str(tools / command[0]), *command[1:]]
    done = subprocess.run(words, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}\nThis command failed: {' '.join(words)}")


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
    main(sys.argv[1:])
