"""Asks an advisory service about every locked package: `python requirements/audit.py LOCK... [-- OPTION...]`.

pip-audit by itself leaves out packages for other systems and Python versions, and takes a service that knows
nothing for one that has nothing to say: with a mirror that has no advisories it reports that no vulnerability
is known. So every pin is asked about, whatever its marker; a package that could not be audited is a failure;
and the service must know that an old urllib3 is vulnerable, or its silence about the others means nothing.
Options after `--` are passed on to pip-audit.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Answer = dict[str, Any]
VULNERABLE, NOT_AUDITED = 1, 2  # exit codes
_PIN = re.compile(r"([A-Za-z0-9._-]+)==([^\s;\\]+)(?: *; *([^\\\n]*[^\\\s]))?")
_HASH = re.compile(r"--hash=\S+")


@dataclass(frozen=True, order=True)
class Pin:
    name: str
    version: str
    hashes: tuple[str, ...]
    marker: str = ""  # where it is installed, if not everywhere

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


KNOWN_BAD = Pin("urllib3", "1.24.1", (f"--hash=sha256:{64 * '0'}",))


class NotAuditedError(Exception):
    """What was not learned, in a sentence."""


def main(words: Sequence[str]) -> int:
    at = words.index("--") if "--" in words else len(words)
    locks, options = words[:at], words[at + 1 :]
    found = (pin for lock in locks for pin in locked(Path(lock).read_text()))
    pins = sorted({(pin.name, pin.version): pin for pin in found}.values())
    if not pins:
        print("usage: audit.py LOCK... [-- OPTION...]", file=sys.stderr)
        return NOT_AUDITED
    try:
        known = [answer for some in rounds([*pins, KNOWN_BAD]) for answer in ask(some, options)]
        check(pins, known)
        flaws = set(told(known))
        ours = sorted(flaw for flaw in flaws if not flaw.startswith(f"{KNOWN_BAD}:"))
        if ours == sorted(flaws):
            raise NotAuditedError(
                f"The advisory service knows nothing against {KNOWN_BAD}, which is known to be vulnerable: "
                "what it says of other packages cannot be relied on."
            )
    except NotAuditedError as error:
        print(error, file=sys.stderr)
        return NOT_AUDITED
    if ours:
        print("\n".join(["Known vulnerabilities:", *ours]), file=sys.stderr)
        return VULNERABLE
    print(f"{len(pins)} packages were audited; no vulnerability is known.")
    return 0


def locked(text: str) -> Iterator[Pin]:
    """The pins of a lock file, also those for other systems. One without a hash is left to pip-audit."""
    for entry in re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]:
        pin = _PIN.match(entry)
        if pin is None:
            sys.exit(f"not a pinned package: {entry.splitlines()[0]}")
        yield Pin(pin[1].lower(), pin[2], tuple(_HASH.findall(entry)), pin[3] or "")


def rounds(pins: Iterable[Pin]) -> list[list[Pin]]:
    """pip-audit takes one version of a package at a time; a lock may have one per range of Pythons."""
    found: list[dict[str, Pin]] = []
    for pin in pins:
        free = next((some for some in found if pin.name not in some), None)
        if free is None:
            found.append(free := {})
        free[pin.name] = pin
    return [list(some.values()) for some in found]


def ask(pins: Sequence[Pin], options: Sequence[str]) -> list[Answer]:
    """What the service says of each, in pip-audit's words."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.writelines(f"{pin.name}=={pin.version} {' '.join(pin.hashes)}\n" for pin in pins)
        file.flush()
        command = [sys.executable, "-m", "pip_audit", "--requirement", file.name, "--require-hashes"]
        command += ["--disable-pip", "--format", "json", "--progress-spinner", "off", *options]
        done = subprocess.run(command, capture_output=True, text=True)
    try:
        answers: list[Answer] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        said = [line for line in done.stderr.splitlines() if line.strip()] or ["nothing"]
        raise NotAuditedError(f"Nothing was audited: pip-audit failed, and says: {said[-1]}") from None
    return answers


def check(pins: Sequence[Pin], known: Iterable[Answer]) -> None:
    audited = {(answer["name"], answer.get("version")) for answer in known if "skip_reason" not in answer}
    missing = [pin for pin in pins if (pin.name, pin.version) not in audited]
    if missing:
        raise NotAuditedError(
            f"{len(missing)} of {len(pins)} packages could not be audited, because the advisory service "
            f"does not know them: {', '.join(map(str, missing))}."
        )


def told(known: Iterable[Answer]) -> Iterator[str]:
    for answer in known:
        for flaw in answer.get("vulns", ()):
            fixed = ", ".join(flaw["fix_versions"]) or "no version yet"
            yield f"{answer['name']} {answer['version']}: {flaw['id']}, fixed in {fixed}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
