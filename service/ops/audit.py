"""The audit log: a line of JSON for every call that changes something or tries to.

It holds ids and names of API keys, never a key, and nothing of a request's body.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import WatchedFileHandler
from pathlib import Path

import structlog
from starlette.types import Scope

from service.auth.authentication import sends_rows
from service.auth.key_file import private_opener
from service.http.security_headers import Header
from service.settings import Settings

log = structlog.get_logger(__name__)
_CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_VALIDATED = frozenset({"create_job", "create_sweep"})
_MAX_PATH = 200  # characters
_LOCATION = re.compile(r"/v1/[a-z/]+/([^/]+)")
# Lines about callers that were not authenticated are limited, so that they cannot fill the disk.
_ANONYMOUS_PER_SECOND, _ANONYMOUS_BURST = 1.0, 100.0


class AuditFileHandler(WatchedFileHandler):
    """Append to a private file, which is opened anew after logrotate has moved it.

    Several processes may append to the file: a line is written in one piece.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, encoding="utf-8", delay=True)

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return open(self.baseFilename, "a", encoding=self.encoding, opener=private_opener)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            super().emit(record)
        except OSError:  # the file cannot be opened
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:
        log.error("audit line not written", error=repr(sys.exc_info()[1]), line=record.getMessage())


class Audit:
    """Write the audit log to a handler; None writes nothing."""

    def __init__(self, handler: logging.Handler | None) -> None:
        self._handler = handler
        self._anonymous_tokens = _ANONYMOUS_BURST
        self._refilled_at = time.monotonic()
        self._omitted = 0

    def record(self, scope: Scope, method: str, status: int, headers: Iterable[Header]) -> None:
        """Write a line about a request that was answered with these headers. A line that fails is logged."""
        if self._handler is None or method not in _CHANGING or sends_rows(method, scope["path"]):
            return
        action = getattr(scope.get("route"), "operation_id", None)
        if action in _VALIDATED and status == 200:
            return  # the job or sweep was validated, not created
        caller = scope.get("literati.caller")
        if caller is None and not self._allow_anonymous():
            self._omitted += 1
            return
        known = caller or scope.get("literati.refused")
        line = {
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "action": action,
            "method": method,
            "path": scope["path"][:_MAX_PATH],
            "object": _object(scope, headers),
            "outcome": "done" if status < 400 else "refused" if status < 500 else "failed",
            "status": status,
            "tenant": getattr(known, "tenant", None),
            "key": getattr(known, "key_id", None),
            "address": scope["client"][0] if scope.get("client") else None,
            "request_id": scope["literati.request_id"],
        }
        if self._omitted and caller is None:
            line["left_out_before"], self._omitted = self._omitted, 0
        message = {"msg": json.dumps(line), "levelname": "INFO", "levelno": logging.INFO}
        self._handler.handle(logging.makeLogRecord(message))

    def _allow_anonymous(self) -> bool:
        now = time.monotonic()
        refill = _ANONYMOUS_PER_SECOND * (now - self._refilled_at)
        self._anonymous_tokens = min(_ANONYMOUS_BURST, self._anonymous_tokens + refill)
        self._refilled_at = now
        if self._anonymous_tokens < 1:
            return False
        self._anonymous_tokens -= 1
        return True


def open_audit(settings: Settings) -> Audit:
    """Return the audit log of these settings. A file is opened with the first line."""
    if settings.audit_log == "off":
        return Audit(None)
    if settings.audit_log == "stderr":
        return Audit(logging.StreamHandler(sys.stderr))
    return Audit(AuditFileHandler(settings.audit_path))


def _object(scope: Scope, headers: Iterable[Header]) -> str | None:
    """Return the id in the path, or the id of what was created."""
    for value in scope.get("path_params", {}).values():
        return str(value)[:_MAX_PATH]
    for name, value in headers:
        if name == b"location" and (found := _LOCATION.match(value.decode("latin-1"))):
            return found[1]
    return None
