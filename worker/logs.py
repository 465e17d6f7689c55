"""Write all log lines as JSON to standard error, including those of servers and libraries."""

from __future__ import annotations

import json
import logging
import os
import sys
from datetime import UTC, datetime

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger


def _add_process(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Add the process id, because the processes of a worker share one log."""
    event["process"] = os.getpid()
    return event


_SHARED: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    _add_process,
    structlog.processors.format_exc_info,
]


def configure(level: str) -> None:
    """Configure logging in this process, before it forks. Calling this again is harmless."""
    structlog.configure(
        processors=[*_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level)),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_SHARED,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.EventRenamer("message"),
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    logging.captureWarnings(True)


def write_from_signal_handler(message: str, *_: object) -> None:
    """Write a log line without a logger, which the signal may have interrupted while it was writing."""
    line = {"message": message, "level": "info", "timestamp": datetime.now(UTC).isoformat()}
    os.write(2, json.dumps(line | {"process": os.getpid()}).encode() + b"\n")
