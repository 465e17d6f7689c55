"""`make dist`: build the sdists and the wheels of both distributions into the folder `dist`.

The arguments are the Python interpreters for which the library is compiled. Everything is built from a copy
of the files that git knows, so nothing else gets into a distribution. The first wheel of the library is built
twice, from the sdist and from the copy, and both must have the same content. `make reproducible` compares
whole builds. Every wheel has a list of the software of others that it contains (PEP 770).
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "dist"
OUT = ROOT / "dist"
AUDIT_PYTHON = ROOT / "build" / "audit" / "bin" / "python"  # it has the tools for lists of components


def main(interpreters: list[str], work: Path = WORK, out: Path = OUT) -> None:
    """Build everything and list what was built."""
    if sys.platform != "linux":
        sys.exit("Portable wheels can be built on Linux only: auditwheel is made for it.")
    if not interpreters:
        sys.exit("Name the Python interpreters for which to build, such as python3.11.")
    for folder in (work, out):
        shutil.rmtree(folder, ignore_errors=True)
    tools = [make_tools(name, work / f"python-{place}") for place, name in enumerate(interpreters)]
    source = copy_sources(work / "source")
    archive = build_library(tools, source, work, out)
    build(tools[0], source / "distributions" / "server", out)
    shutil.copy2(archive, out)
    for path in out.glob("*.tar.gz"):
        make_reproducible(path)
    add_component_lists(out, work / "sbom")
    for path in sorted(out.iterdir()):
        print(f"{path.stat().st_size / 1e6:6.2f} MB  {path.name}")


def build_library(tools: list[Path], source: Path, work: Path, out: Path) -> Path:
    """Build a wheel for every interpreter, and return the sdist."""
    archive = build(tools[0], source, work / "sdist", "--sdist")
    shutil.unpack_archive(archive, work, filter="data")
    unpacked = work / archive.name.removesuffix(".tar.gz")
    wheels = [build(bin, unpacked, work / f"wheel-{place}", "--wheel") for place, bin in enumerate(tools)]
    compare(wheels[0], build(tools[0], source, work / "wheel-from-source", "--wheel"))
    for wheel in wheels:
        run(tools[0], "auditwheel", "repair", "--wheel-dir", str(out), str(wheel))
    return archive


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


def make_reproducible(archive: Path) -> None:
    """Write an sdist again with sorted files, one time for all of them and no owner."""
    seconds = int(last_change())
    with tarfile.open(archive) as opened:
        members = [member for member in opened if not member.isdir()]
        # A link gives the content of the file that it names.
        files = {member.name: (member.mode, opened.extractfile(member)) for member in members}
        contents = {name: (mode, file.read()) for name, (mode, file) in files.items() if file}
    with (
        archive.open("wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=seconds) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as written,
    ):
        for name, (mode, content) in sorted(contents.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(content), seconds
            entry.mode = 0o755 if mode & 0o100 else 0o644
            written.addfile(entry, io.BytesIO(content))


def add_component_lists(folder: Path, work: Path) -> None:
    """Add to every wheel the list of the software of others that it contains."""
    command = [str(AUDIT_PYTHON), "-m", "supply_chain.sbom", "--contained", "--out", str(work)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": last_change()}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    for wheel in folder.glob("*.whl"):
        name = wheel.name.partition("-")[0].replace("_", "-")
        add_to_wheel(wheel, f"sboms/{name}.cdx.json", (work / f"{name}.cdx.json").read_bytes())


def add_to_wheel(wheel: Path, name: str, content: bytes) -> None:
    """Add a file to the metadata of a wheel, and name it in RECORD, which becomes the last file."""
    with zipfile.ZipFile(wheel) as archive:
        entries = [(entry, archive.read(entry)) for entry in archive.infolist()]
    records = [found for found in entries if found[0].filename.endswith(".dist-info/RECORD")]
    if len(records) != 1:
        sys.exit(f"{wheel} has {len(records)} files RECORD, not one.")
    (record,) = records
    entries.remove(record)
    path = f"{record[0].filename.removesuffix('RECORD')}{name}"
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    about = zipfile.ZipInfo(path, record[0].date_time)
    about.compress_type, about.external_attr = zipfile.ZIP_DEFLATED, record[0].external_attr
    lines = record[1] + f"{path},sha256={digest},{len(content)}\n".encode()
    with zipfile.ZipFile(wheel, "w") as archive:
        for entry, data in [*entries, (about, content), (record[0], lines)]:
            archive.writestr(entry, data)


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
