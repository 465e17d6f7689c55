"""`make scan`: look for known vulnerabilities in the image, with trivy or grype.

Everything in the image is scanned: packages of Debian and of Python, with the base image. The scanner loads
its database of vulnerabilities from the internet. The exit code is 0 if it found nothing that is serious and
has a fix, 1 if it did, and 2 if nothing was scanned.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from supply_chain.image import EngineError, ask

NOT_SCANNED = 2
FOUND = {"trivy": 64, "grype": 2}  # the exit codes of the programs when they have found something
COMMANDS = {
    "trivy": ("image", "--severity=HIGH,CRITICAL", "--ignore-unfixed", "--exit-code=64", "--input={archive}"),
    "grype": ("docker-archive:{archive}", "--only-fixed", "--fail-on=high"),
}
HOW_TO_INSTALL = (
    "Nothing was scanned: neither trivy nor grype is installed. Install one from the page of its project, "
    "https://trivy.dev or https://github.com/anchore/grype."
)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m supply_chain.scan")
    parser.add_argument("--engine", default="docker", help="docker or podman")
    parser.add_argument("--image", required=True)
    options = parser.parse_args(arguments)
    scanner = next((name for name in COMMANDS if shutil.which(name)), None)
    if scanner is None:
        print(HOW_TO_INSTALL, file=sys.stderr)
        return NOT_SCANNED
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "image.tar"
        try:
            ask(options.engine, "save", f"--output={archive}", options.image)
        except EngineError as error:
            print(f"Nothing was scanned: the image cannot be read. {error}", file=sys.stderr)
            return NOT_SCANNED
        return scan(scanner, archive)


def scan(scanner: str, archive: Path) -> int:
    """Run the scanner, which prints what it finds, and return the exit code."""
    words = [word.format(archive=archive) for word in COMMANDS[scanner]]
    code = subprocess.run([scanner, *words], check=False).returncode
    if code in (0, FOUND[scanner]):
        return 1 if code else 0
    print(f"Nothing is known about the image: {scanner} failed.", file=sys.stderr)
    return NOT_SCANNED


if __name__ == "__main__":
    sys.exit(main())
