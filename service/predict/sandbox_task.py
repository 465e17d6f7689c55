"""Predict in a sandbox process: the task that is sent to it and the result that it returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast

from pydantic import TypeAdapter

from literati import ShapeTree
from service.http.problems import FieldError
from service.http.remedies import Remedy
from service.predict.predictor import EncodedPredictions, PredictOptions, Predictor
from service.predict.row_errors import MalformedError, RowsError, row_error
from service.predict.row_warnings import RowWarning
from service.sandbox.client import CrashError, MemoryLimitError, Sandbox, TimeLimitError
from service.sandbox.framing import join_parts, split_parts
from worker.domain.datasets import CsvStyle

NAME = "predict"
MEMORY_FACTOR = 32  # memory limit of a process, as a multiple of the body's size


@dataclass(frozen=True)
class PredictTask:
    """The input of a sandbox process, except the body, which follows it."""

    tree: dict[str, Any]
    source: dict[str, Any]
    options: PredictOptions
    max_rows: int
    csv_style: CsvStyle


@dataclass(frozen=True)
class PredictResult:
    """The output of a sandbox process: an error, or the warnings. The content of the response follows it."""

    kind: Literal["predictions", "malformed", "rejected"]
    warnings: list[dict[str, Any]]
    detail: str = ""
    errors: tuple[FieldError, ...] = ()
    fixes: tuple[Remedy, ...] = ()
    head_bytes: int | None = None


_TASK = TypeAdapter(PredictTask)
_RESULT = TypeAdapter(PredictResult)


def predict_in_sandbox(
    processes: Sandbox,
    predictor: Predictor,
    body: bytes,
    options: PredictOptions,
    max_rows: int,
    seconds: float,
) -> EncodedPredictions:
    """Predict like `predictor.predict`, but in a sandbox process; block until it is done."""
    task = PredictTask(
        predictor.tree.to_dict(), dict(predictor.source), options, max_rows, predictor.csv_style
    )
    data = join_parts(_TASK.dump_json(task), body)
    try:
        data = processes.run(NAME, data, memory_bytes=MEMORY_FACTOR * len(body), seconds=seconds)
    except (MemoryLimitError, CrashError):
        message = "Reading the rows needs too much memory; send them in several requests."
        raise row_error("/body", "TOO_LARGE", message) from None
    except TimeLimitError:
        message = (
            f"Reading the rows takes longer than {seconds:g} seconds (LITERATI_MAX_PARSE_SECONDS); send them "
            "in several requests."
        )
        raise row_error("/body", "TOO_SLOW", message) from None
    head, content = split_parts(data)
    result = _RESULT.validate_json(head)
    if result.kind == "predictions":
        return EncodedPredictions(content, cast(list[RowWarning], result.warnings), result.head_bytes)
    error = MalformedError if result.kind == "malformed" else RowsError
    raise error(result.detail, result.errors, result.fixes)


def work(data: bytes) -> bytes:
    """Run in the sandbox process: parse the task, predict and return the result."""
    head, body = split_parts(data)
    task = _TASK.validate_json(head)
    predictor = Predictor(ShapeTree.from_dict(task.tree), task.source, task.csv_style)
    try:
        predictions = predictor.predict(body, task.options, task.max_rows)
    except RowsError as error:
        malformed = isinstance(error, MalformedError)
        details = (error.detail, error.errors, error.fixes)
        result = PredictResult("malformed" if malformed else "rejected", [], *details)
        return join_parts(_RESULT.dump_json(result), b"")
    warnings = [dict(warning) for warning in predictions.warnings]
    result = PredictResult("predictions", warnings, head_bytes=predictions.head_bytes)
    return join_parts(_RESULT.dump_json(result), predictions.content)
