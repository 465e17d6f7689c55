"""Who changed what: a line of JSON for every call that changes something, or was to.

It holds ids and the names of keys, never a key, and nothing of a body.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import structlog
from starlette.types import Scope

from service.rotating_file import RotatingFile
from service.security_headers import Header
from service.settings import Settings

log = structlog.get_logger(__name__)
FILE_BYTES = 10 << 20
FILES_KEPT = 9  # besides the one that is written to
_CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_LONGEST_PATH = 200
_LOCATION = re.compile(r"/v1/[a-z/]+/([^/]+)")
# Whoever is not let in must not be able to fill the files, so that what others did is forgotten.
_STRANGERS_A_SECOND, _STRANGERS_AT_ONCE = 1.0, 100.0

Write = Callable[[bytes], None]


class Audit:
    def __init__(self, write: Write | None) -> None:
        self._write = write
        self._room = _STRANGERS_AT_ONCE  # for lines about strangers
        self._room_at = time.monotonic()
        self._left_out = 0

    def note(self, scope: Scope, method: str, status: int, headers: Iterable[Header]) -> None:
        """After the answer, with its headers. It never fails: a full disk is a matter for the log."""
        if self._write is None or method not in _CHANGING or scope["path"].endswith("/predict"):
            return
        action = getattr(scope.get("route"), "operation_id", None)
        if action == "create_job" and status == 200:
            return  # it was only to be checked
        caller = scope.get("literati.caller")
        if caller is None and not self._has_room():
            self._left_out += 1
            return
        known = caller or scope.get("literati.refused")
        line = {
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "action": action,
            "method": method,
            "path": scope["path"][:_LONGEST_PATH],
            "object": _object(scope, headers),
            "outcome": "done" if status < 400 else "refused" if status < 500 else "failed",
            "status": status,
            "tenant": getattr(known, "tenant", None),
            "key": getattr(known, "key_id", None),
            "address": scope["client"][0] if scope.get("client") else None,
            "request_id": scope["literati.request_id"],
        }
        if self._left_out and caller is None:
            line["left_out_before"], self._left_out = self._left_out, 0
        self._say(line)

    def _say(self, line: dict[str, Any]) -> None:
        assert self._write is not None
        try:
            self._write(json.dumps(line).encode() + b"\n")
        except OSError as error:
            log.error("audit line not written", error=repr(error), line=line)

    def _has_room(self) -> bool:
        now = time.monotonic()
        self._room = min(_STRANGERS_AT_ONCE, self._room + _STRANGERS_A_SECOND * (now - self._room_at))
        self._room_at = now
        if self._room < 1:
            return False
        self._room -= 1
        return True


def open_audit(settings: Settings) -> Audit:
    """Nothing is opened before the first line."""
    where = settings.audit_log
    if where == "off":
        return Audit(None)
    if where == "stderr":
        return Audit(_to_stderr)
    return Audit(RotatingFile(settings.audit_path, most_bytes=FILE_BYTES, kept=FILES_KEPT).write)


def _to_stderr(line: bytes) -> None:
    sys.stderr.buffer.write(line)
    sys.stderr.buffer.flush()


def _object(scope: Scope, headers: Iterable[Header]) -> str | None:
    """The id in the address, or that of what was made."""
    for value in scope.get("path_params", {}).values():
        return str(value)[:_LONGEST_PATH]
    for name, value in headers:
        if name == b"location" and (found := _LOCATION.match(value.decode("latin-1"))):
            return found[1]
    return None
