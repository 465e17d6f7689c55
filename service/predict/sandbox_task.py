"""Predicting many rows in a process apart: what it is told, and what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast

from pydantic import TypeAdapter

from literati import ShapeTree
from service.apart.frames import joined, parted
from service.apart.processes import BrokenError, NoMemoryError, NoTimeError, Processes
from service.errors import FieldError
from service.remedies import Remedy
from worker.messages import CsvStyle

from .faults import MalformedError, RowsError, refused
from .notices import Notice
from .predictor import Answer, Predictor, Wanted

NAME = "predict"
MEMORY = 32  # times the body: what reading it may take


@dataclass(frozen=True)
class Errand:
    """The body follows it."""

    tree: dict[str, Any]
    source: dict[str, Any]
    wanted: Wanted
    max_rows: int
    csv_style: CsvStyle


@dataclass(frozen=True)
class Told:
    """The answer's content follows it, or it says what is wrong."""

    kind: Literal["answer", "malformed", "refused"]
    notices: list[dict[str, Any]]
    detail: str = ""
    errors: tuple[FieldError, ...] = ()
    fixes: tuple[Remedy, ...] = ()


_ERRAND = TypeAdapter(Errand)
_TOLD = TypeAdapter(Told)


def run(
    processes: Processes, predictor: Predictor, body: bytes, wanted: Wanted, max_rows: int, seconds: float
) -> Answer:
    """As `predictor.answer`. Blocks until it is done."""
    errand = Errand(predictor.tree.to_dict(), dict(predictor.source), wanted, max_rows, predictor.csv_style)
    work = joined(_ERRAND.dump_json(errand), body)
    try:
        said, content = parted(processes.run(NAME, work, memory_bytes=MEMORY * len(body), seconds=seconds))
    except (NoMemoryError, BrokenError):
        raise refused("/body", "TOO_LARGE", "The rows take too much memory; send them in parts.") from None
    except NoTimeError:
        message = (
            f"The rows take more than {seconds:g} seconds (LITERATI_MAX_PARSE_SECONDS); send them in parts."
        )
        raise refused("/body", "TOO_SLOW", message) from None
    told = _TOLD.validate_json(said)
    if told.kind == "answer":
        return Answer(content, cast(list[Notice], told.notices))
    raise (MalformedError if told.kind == "malformed" else RowsError)(told.detail, told.errors, told.fixes)


def work(data: bytes) -> bytes:
    """There."""
    head, body = parted(data)
    errand = _ERRAND.validate_json(head)
    predictor = Predictor(ShapeTree.from_dict(errand.tree), errand.source, errand.csv_style)
    try:
        answer = predictor.answer(body, errand.wanted, errand.max_rows)
    except RowsError as error:
        malformed = isinstance(error, MalformedError)
        told = Told("malformed" if malformed else "refused", [], error.detail, error.errors, error.fixes)
        return joined(_TOLD.dump_json(told), b"")
    told = Told("answer", [dict(notice) for notice in answer.notices])
    return joined(_TOLD.dump_json(told), answer.content)
