"""The bodies of predict requests: their media types, their packing, and what their first bytes say."""

from __future__ import annotations

from dataclasses import replace

from fastapi import Request

from service.errors import FieldError, Problem, invalid
from service.ingest import media
from service.ingest.errors import IngestError
from service.ingest.first_bytes import START_BYTES, checked_form
from service.ingest.packing import DamagedError, TooLargeError, coding_of, unpacked_bytes
from service.limits import CODING
from service.remedies import Remedy

from .csv_rows import CsvOptions
from .faults import MalformedError
from .json_rows import is_json
from .predictor import BodyFormat, Format, Wanted

MEDIA_TYPES: dict[Format, str] = {"json": "application/json", "csv": media.CSV, "arrow": media.ARROW}
FORMATS: dict[str, Format] = {media_type: name for name, media_type in MEDIA_TYPES.items()}
BODY_FORMATS: dict[str, BodyFormat] = {
    **FORMATS,
    media.TSV: "csv",
    media.ARROW_FILE: "arrow",
    media.PARQUET: "parquet",
    media.ANY: "any",
}


PLAIN_CSV = CsvOptions()


def body_format_of(request: Request) -> tuple[BodyFormat, CsvOptions]:
    """The format of the body, and what its media type says about CSV."""
    given = request.headers.get("content-type", "")
    if given == "application/json":
        return "json", PLAIN_CSV
    media_type, parameters = media.parsed_type(given)
    if media_type not in BODY_FORMATS and media.says_otherwise(media_type):
        kinds = ", ".join(BODY_FORMATS)
        raise Problem(415, f"Send rows with a Content-Type of {kinds}.", kind="media-type")
    found = BODY_FORMATS.get(media_type, "any")
    charset = media.charset_of(media_type, parameters)
    if found == "json" and charset != "utf-8":
        raise Problem(415, "Send JSON in UTF-8.", kind="media-type")
    return found, CsvOptions("\t" if media_type == media.TSV else None, charset=charset)


def is_packed(request: Request, body: bytes) -> bool:
    return CODING in request.scope or coding_of(body[:START_BYTES]) is not None


def unpacked(request: Request, body: bytes) -> bytes:
    """The body without its packing. Problem 413 if it is larger then than a body may be."""
    most = request.app.state.services.settings.max_predict_bytes
    try:
        return unpacked_bytes(body, request.scope.get(CODING), most)
    except DamagedError as error:
        detail = f"The body cannot be unpacked with {error}: it is damaged or cut short."
        raise MalformedError(detail) from None
    except TooLargeError:
        named = "(LITERATI_MAX_PREDICT_BYTES)"
        detail = f"The body unpacks to more than the {most:,} bytes that are taken {named}."
        raise Problem(413, detail, kind="body-too-large") from None


def recognised(request: Request, wanted: Wanted, body: bytes) -> Wanted:
    """The format of a body whose media type does not say it."""
    if is_json(body):
        found: BodyFormat = "json"
    else:
        try:
            form = checked_form(None, body[:START_BYTES])
        except IngestError as error:
            raise MalformedError(error.faults[0].message) from None
        found = "csv" if form == "tsv" else form
    if found != "csv" and replace(wanted.csv, charset=PLAIN_CSV.charset) != PLAIN_CSV:
        raise csv_only(request)
    return replace(wanted, body_format=found)


def csv_only(request: Request) -> Problem:
    message = "This is for CSV only; the other formats say it by themselves."
    given = [name for name in ("delimiter", "decimal", "null_values") if name in request.query_params]
    fix = Remedy("Send it without these options", dict.fromkeys(given))
    return invalid(*(FieldError(f"/query/{name}", "CSV_ONLY", message) for name in given), fixes=[fix])
