"""The options of a predict request: media types, Accept, and the query parameters for CSV."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from fastapi import Request

from service.http.media_types import best
from service.http.problems import FieldError, Problem, invalid
from service.http.remedies import Remedy
from service.ingest import media_types
from service.ingest.csv_header import EXPECTED_DELIMITER, parse_delimiter
from service.ingest.csv_reader import SAME_SIGN
from service.ingest.errors import IngestError
from service.ingest.file_format import START_BYTES, detect_format
from service.ingest.query import split_words
from service.predict.decode.csv_table import CsvOptions
from service.predict.decode.json_rows import is_json
from service.predict.predictor import BodyFormat, Format, PredictOptions
from service.predict.row_errors import MalformedError
from service.predict.scoring import ScoreColumns
from worker.domain.datasets import DecimalSign

MEDIA_TYPES: dict[Format, str] = {
    "json": "application/json",
    "csv": media_types.CSV,
    "arrow": media_types.ARROW,
}
_RESPONSE_FORMATS: dict[str, Format] = {media_type: name for name, media_type in MEDIA_TYPES.items()}
_BODY_FORMATS: dict[str, BodyFormat] = {
    **_RESPONSE_FORMATS,
    media_types.TSV: "csv",
    media_types.ARROW_FILE: "arrow",
    media_types.PARQUET: "parquet",
    media_types.ANY: "any",
}
HEAD_BYTES = "Inference-Header-Content-Length"  # of the extension `binary_tensor_data`
_DEFAULT = PredictOptions()
_DEFAULT_CSV = CsvOptions()
_MLFLOW = PredictOptions("mlflow", "mlflow")
_SIZE = re.compile("[0-9]{1,18}")


def predict_options(
    request: Request,
    explain: bool = False,
    delimiter: str | None = None,
    decimal: DecimalSign | None = None,
    null_values: list[str] | None = None,
) -> PredictOptions:
    """Return the options of the request; raise a Problem if they do not fit together."""
    (body_format, csv), response_format = _body_format(request), _response_format(request)
    if explain and response_format != "json":
        error = FieldError("/query/explain", "JSON_ONLY", "Explanations are available in JSON only.")
        raise invalid(error, fixes=[Remedy("Predict without explanations", {"explain": None})])
    if delimiter is None and decimal is None and null_values is None:
        if body_format == response_format == "json" and not explain:
            return _DEFAULT
        return PredictOptions(body_format, response_format, csv, explain)
    if body_format not in ("csv", "any"):
        raise _csv_only(request)
    csv = _csv_options(csv, delimiter, decimal, null_values)
    return PredictOptions(body_format, response_format, csv, explain)


def score_options(
    request: Request,
    columns: ScoreColumns,
    delimiter: str | None = None,
    decimal: DecimalSign | None = None,
    null_values: list[str] | None = None,
) -> PredictOptions:
    """Return the options of a request to score; raise a Problem if they do not fit together."""
    body_format, csv = _body_format(request)
    if delimiter is not None or decimal is not None or null_values is not None:
        if body_format not in ("csv", "any"):
            raise _csv_only(request)
        csv = _csv_options(csv, delimiter, decimal, null_values)
    return PredictOptions(body_format, csv=csv, score=columns)


def inference_options(request: Request, model_name: str) -> PredictOptions:
    """Return the options of a request of the Open Inference Protocol, whose responses are JSON or bytes."""
    body_format, _ = _body_format(request)
    if body_format not in ("json", "any"):
        raise Problem(415, "Send the tensors as application/json.", kind="media-type")
    size = request.headers.get(HEAD_BYTES)
    if size is not None and not _SIZE.fullmatch(size):
        raise invalid(FieldError(f"/header/{HEAD_BYTES}", "TYPE", "Expected a number of bytes."))
    return _inference(model_name, None if size is None else int(size))


@lru_cache(maxsize=256)
def _inference(model_name: str, head_bytes: int | None) -> PredictOptions:
    return PredictOptions("inference", "inference", model_name=model_name, head_bytes=head_bytes)


def mlflow_options(request: Request) -> PredictOptions:
    """Return the options of a request to MLflow's scoring server, whose responses are JSON."""
    body_format, csv = _body_format(request)
    if body_format == "json":
        return _MLFLOW
    return PredictOptions(body_format, "mlflow", replace(csv, in_query=False))


def with_detected_format(request: Request, options: PredictOptions, body: bytes) -> PredictOptions:
    """Return the options with the format that the first bytes of the body show."""
    if is_json(body):
        found: BodyFormat = "mlflow" if options.response_format == "mlflow" else "json"
    else:
        try:
            detected = detect_format(None, body[:START_BYTES])
        except IngestError as error:
            raise MalformedError(error.issues[0].message) from None
        found = "csv" if detected == "tsv" else detected
    csv = options.csv
    if found != "csv" and (csv.delimiter, csv.decimal, csv.null_words) != (None, None, None):
        raise _csv_only(request)
    return replace(options, body_format=found)


def _body_format(request: Request) -> tuple[BodyFormat, CsvOptions]:
    """Return the format that the Content-Type declares, and what it declares about CSV."""
    given = request.headers.get("content-type", "")
    if given == "application/json":
        return "json", _DEFAULT_CSV
    media_type, parameters = media_types.parse_media_type(given)
    if media_type not in _BODY_FORMATS and media_types.is_not_tabular(media_type):
        kinds = ", ".join(_BODY_FORMATS)
        raise Problem(415, f"Send rows with one of these Content-Types: {kinds}.", kind="media-type")
    found = _BODY_FORMATS.get(media_type, "any")
    charset = media_types.charset_of(media_type, parameters)
    if found == "json" and charset != "utf-8":
        raise Problem(415, "Send JSON in UTF-8.", kind="media-type")
    return found, CsvOptions("\t" if media_type == media_types.TSV else None, charset=charset)


def _response_format(request: Request) -> Format:
    accept = request.headers.get("accept", "*/*")
    if accept in ("*/*", "application/json"):
        return "json"
    chosen = best(request, list(_RESPONSE_FORMATS))
    if chosen is None:
        detail = f"Predictions are available as {', '.join(MEDIA_TYPES.values())}."
        raise Problem(406, detail, kind="not-acceptable")
    return _RESPONSE_FORMATS[chosen]


def _csv_options(
    csv: CsvOptions, delimiter: str | None, decimal: DecimalSign | None, null_values: list[str] | None
) -> CsvOptions:
    """Return the CSV options of the media type with those of the query applied."""
    if delimiter is not None:
        delimiter = parse_delimiter(delimiter)
        if delimiter is None:
            raise invalid(FieldError("/query/delimiter", "BAD_DELIMITER", EXPECTED_DELIMITER))
    if decimal == delimiter == ",":
        raise invalid(FieldError("/query/decimal", "BAD_DECIMAL", SAME_SIGN))
    words = None if null_values is None else frozenset(split_words(null_values))
    return replace(csv, delimiter=delimiter or csv.delimiter, decimal=decimal, null_words=words)


def _csv_only(request: Request) -> Problem:
    message = "This option is for CSV only; other formats do not need it."
    given = [name for name in ("delimiter", "decimal", "null_values") if name in request.query_params]
    fix = Remedy("Remove these options", dict.fromkeys(given))
    return invalid(*(FieldError(f"/query/{name}", "CSV_ONLY", message) for name in given), fixes=[fix])
