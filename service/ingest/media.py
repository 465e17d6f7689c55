"""Media types: what an upload says it is, and what its first bytes say."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from python_multipart.multipart import parse_options_header

from service.errors import Problem

from .build import Form
from .errors import IngestError, body_fault

CSV = "text/csv"
PARQUET = "application/vnd.apache.parquet"
ARROW = "application/vnd.apache.arrow.stream"
MULTIPART = "multipart/form-data"
ACCEPTED = (CSV, PARQUET, ARROW, MULTIPART)
_FORMS: dict[str, Form] = {CSV: "csv", PARQUET: "parquet", ARROW: "arrow"}
_CHARSETS = ("utf-8", "iso8859-1", "iso8859-15", "cp1252", "utf-16")  # by Python's names
_MAGIC: tuple[tuple[bytes, Form | None, str], ...] = (
    (b"PAR1", "parquet", f"a Parquet file; send it as Content-Type: {PARQUET}"),
    (b"\xff\xff\xff\xff", "arrow", f"an Arrow stream; send it as Content-Type: {ARROW}"),
    (b"ARROW1", None, "an Arrow file; write it as a stream (pyarrow.ipc.new_stream) and send that"),
    (b"\x1f\x8b", None, "packed with gzip; unpack it first"),
    (b"\x28\xb5\x2f\xfd", None, "packed with zstd; unpack it first"),
    (b"BZh", None, "packed with bzip2; unpack it first"),
    (b"PK\x03\x04", None, "a zip archive or an Excel workbook; unpack it, or save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", None, "an old Excel workbook; save the sheet as CSV"),
    (b"%PDF", None, "a PDF; send a table"),
)


@dataclass(frozen=True)
class Media:
    """How an upload is to be read. Form None: its first bytes decide."""

    form: Form | None
    charset: str = "utf-8"


def body_media(content_type: str | None) -> Media | bytes:
    """Of a request; for a multipart body its boundary."""
    kind, parameters = _parsed(content_type)
    if kind == MULTIPART:
        boundary = parameters.get(b"boundary", b"")
        if not 0 < len(boundary) <= 200:
            raise Problem(400, "The multipart body has no boundary.", kind="malformed-body")
        return boundary
    if kind not in _FORMS:
        raise unsupported()
    return Media(_FORMS[kind], _charset(kind, parameters))


def part_media(content_type: str | None) -> Media:
    """Of the file in a multipart body: clients that do not know its type send any."""
    kind, parameters = _parsed(content_type)
    return Media(_FORMS.get(kind), _charset(CSV, parameters))


def unsupported() -> Problem:
    example = "curl --data-binary @table.csv -H 'Content-Type: text/csv'"
    return Problem(
        415,
        f"Send a table as one of {', '.join(ACCEPTED)}; for example {example}.",
        kind="media-type",
        headers={"Accept-Post": ", ".join(ACCEPTED)},
    )


def checked_form(form: Form | None, start: bytes) -> Form:
    """The form by the first bytes of a file; IngestError where they say that it is something else."""
    for magic, found, advice in _MAGIC:
        if start.startswith(magic) and not (form == "arrow" == found):
            if found is not None and form in (None, found):
                return found
            raise IngestError(body_fault("OTHER_FORMAT", f"This is {advice}."))
    return form or "csv"


def _parsed(content_type: str | None) -> tuple[str, dict[bytes, bytes]]:
    kind, parameters = parse_options_header(content_type)
    return kind.decode("latin-1").strip().lower(), parameters


def _charset(kind: str, parameters: dict[bytes, bytes]) -> str:
    """The codec of a CSV. Others say what they are by themselves."""
    if kind != CSV:
        return "utf-8"
    if parameters.get(b"header", b"").lower() == b"absent":
        raise Problem(415, "A CSV needs a header line with the columns' names.", kind="media-type")
    given = parameters.get(b"charset", b"utf-8").decode("latin-1")
    try:
        name = codecs.lookup(given).name
    except LookupError:
        name = ""
    if name == "ascii":
        name = "utf-8"
    if name not in _CHARSETS:
        known = "utf-8, iso-8859-1, iso-8859-15, windows-1252 and utf-16"
        raise Problem(415, f"This charset is not read here; {known} are.", kind="media-type")
    return name
