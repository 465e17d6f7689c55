"""Run a prediction where it fits: small bodies in the event loop, larger ones in a thread or the sandbox."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
from fastapi import Request, Response

from service.dependencies import Services
from service.http.body_limits import CODING
from service.http.decompression import DamagedError, TooLargeError, coding_of, unpacked_bytes
from service.http.error_handlers import malformed
from service.http.problems import Problem, invalid
from service.ingest import media_types
from service.ingest.file_format import START_BYTES
from service.predict.predictor import EncodedPredictions, PredictOptions, Predictor
from service.predict.request_options import HEAD_BYTES, MEDIA_TYPES, with_detected_format
from service.predict.row_errors import MalformedError, RowsError
from service.predict.sandbox_task import predict_in_sandbox
from service.predict.scores import encode_scores

MAX_EVENT_LOOP_BYTES = 1 << 14  # a larger body may take many milliseconds ...
MAX_NUMBER_BYTES = 1 << 18  # ... unless it contains only numbers
MAX_THREAD_BYTES = 1 << 20  # still larger bodies are predicted in the sandbox
MAX_CONCURRENT = 4  # predictions in threads, and as many in the sandbox
MAX_HEADER_BYTES = 4096
_threads = anyio.CapacityLimiter(2 * MAX_CONCURRENT)


async def predict_rows(request: Request, predictor: Predictor, options: PredictOptions) -> Response:
    """Predict the rows in the body of a request."""
    with row_problems():
        predictions = await _predict(request, predictor, await request.body(), options)
    headers = {} if options.response_format in ("json", "arrow") else _warning_header(predictions)
    media_type = MEDIA_TYPES.get(options.response_format, "application/json")
    if predictions.head_bytes is not None:
        headers[HEAD_BYTES] = str(predictions.head_bytes)
        media_type = media_types.ANY
    return Response(predictions.content, headers=headers, media_type=media_type)


async def score_rows(request: Request, predictor: Predictor, options: PredictOptions) -> Response:
    """Score the predictions of the rows in the body of a request, which have their true classes."""
    assert options.score is not None
    with row_problems():
        counted = await _predict(request, predictor, await request.body(), options)
        content = await anyio.to_thread.run_sync(
            encode_scores, predictor, options.score, counted.content, counted.warnings, limiter=_threads
        )
    return Response(content, media_type="application/json")


@contextmanager
def row_problems() -> Iterator[None]:
    """Raise the problem 400 or 422 in place of an error of the rows."""
    try:
        yield
    except MalformedError as error:
        raise malformed(error.detail, error.errors) from None
    except RowsError as error:
        raise invalid(*error.errors, detail=error.detail, fixes=error.fixes) from None


async def _predict(
    request: Request, predictor: Predictor, body: bytes, options: PredictOptions
) -> EncodedPredictions:
    services: Services = request.app.state.services
    max_rows = services.settings.max_predict_rows
    compressed = CODING in request.scope or coding_of(body[:START_BYTES]) is not None
    if options.body_format == "any" and not compressed:
        options = with_detected_format(request, options, body)
    bulk = compressed or options.body_format == "parquet"  # their decoded size is not known
    if not bulk:
        if len(body) <= MAX_EVENT_LOOP_BYTES and options.only_predicts:
            return predictor.predict(body, options, max_rows)
        if len(body) <= MAX_NUMBER_BYTES and (found := predictor.predict_numbers(body, options, max_rows)):
            return found
    bulk = bulk or len(body) > MAX_THREAD_BYTES
    turns = services.bulk_predictions if bulk else services.predictions
    async with turns.slot(request.scope["literati.caller"].tenant):
        return await anyio.to_thread.run_sync(
            _predict_in_thread, request, predictor, body, options, compressed, limiter=_threads
        )


def _predict_in_thread(
    request: Request, predictor: Predictor, body: bytes, options: PredictOptions, compressed: bool
) -> EncodedPredictions:
    """Predict in this thread, or wait for a sandbox process."""
    services: Services = request.app.state.services
    settings = services.settings
    if compressed:
        body = _decompressed(request, body, settings.max_predict_bytes)
        if options.body_format == "any":
            options = with_detected_format(request, options, body)
    if len(body) <= MAX_THREAD_BYTES and options.body_format != "parquet":
        return predictor.predict(body, options, settings.max_predict_rows)
    return predict_in_sandbox(
        *(services.sandbox, predictor, body, options, settings.max_predict_rows, settings.max_parse_seconds)
    )


def _decompressed(request: Request, body: bytes, max_bytes: int) -> bytes:
    """Return the decompressed body; raise the problem 413 if it is too large."""
    try:
        return unpacked_bytes(body, request.scope.get(CODING), max_bytes)
    except DamagedError as error:
        detail = f"The body cannot be decompressed with {error}: it is damaged or truncated."
        raise MalformedError(detail) from None
    except TooLargeError:
        limit = f"{max_bytes:,} bytes (LITERATI_MAX_PREDICT_BYTES)"
        detail = f"The decompressed body is larger than the limit of {limit}."
        raise Problem(413, detail, kind="body-too-large") from None


def _warning_header(predictions: EncodedPredictions) -> dict[str, str]:
    """Return the warnings as a header, for formats that have no place for them."""
    if not predictions.warnings:
        return {}
    warnings = [
        {name: warning[name] for name in ("code", "column", "count")} for warning in predictions.warnings
    ]
    while len(text := json.dumps(warnings)) > MAX_HEADER_BYTES:
        warnings = warnings[: len(warnings) // 2]
    return {"Literati-Warnings": text}
