"""The media types of tables: which format and encoding a Content-Type declares."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from python_multipart.multipart import parse_options_header

from service.http.problems import Problem
from service.ingest.file_format import FileFormat

CSV = "text/csv"
TSV = "text/tab-separated-values"
PARQUET = "application/vnd.apache.parquet"
ARROW = "application/vnd.apache.arrow.stream"
ARROW_FILE = "application/vnd.apache.arrow.file"
ANY = "application/octet-stream"  # detected by the first bytes
MULTIPART = "multipart/form-data"
BINARY = (PARQUET, ARROW, ARROW_FILE, ANY)
ACCEPTED = (CSV, TSV, *BINARY, MULTIPART)
_FORMATS: dict[str, FileFormat] = {
    CSV: "csv",
    TSV: "tsv",
    PARQUET: "parquet",
    ARROW: "arrow",
    ARROW_FILE: "arrow",
}
# Media types that are certainly not tables. All others are ignored, and the first bytes decide.
_NOT_TABULAR = re.compile(
    r"application/json|application/xml|text/html|text/xml|[^/]+/[^/]+\+(json|xml)"
    r"|(audio|font|image|message|model|multipart|video)/.*"
)
_CHARSETS = ("utf-8", "iso8859-1", "iso8859-15", "cp1252", "utf-16")  # Python's names


@dataclass(frozen=True)
class TableMediaType:
    """The declared format of a table; None if the first bytes decide."""

    format: FileFormat | None
    charset: str = "utf-8"


def body_media_type(content_type: str | None) -> TableMediaType | bytes:
    """Return the media type of a request's body, or the boundary of a multipart body."""
    kind, parameters = parse_media_type(content_type)
    if kind == MULTIPART:
        boundary = parameters.get(b"boundary", b"")
        if not 0 < len(boundary) <= 200:
            raise Problem(400, "The multipart body has no boundary.", kind="malformed-body")
        return boundary
    if is_not_tabular(kind):
        example = "curl --data-binary @table.csv -H 'Content-Type: text/csv'"
        raise Problem(
            415,
            f"Send a table as one of {', '.join(ACCEPTED)}; for example {example}.",
            kind="media-type",
            headers={"Accept-Post": ", ".join(ACCEPTED)},
        )
    return part_media_type(content_type)


def is_not_tabular(media_type: str) -> bool:
    return _NOT_TABULAR.fullmatch(media_type) is not None


def part_media_type(content_type: str | None) -> TableMediaType:
    """Return the media type of the file in a multipart body. An unknown type is ignored."""
    kind, parameters = parse_media_type(content_type)
    return TableMediaType(_FORMATS.get(kind), charset_of(kind, parameters))


def parse_media_type(content_type: str | None) -> tuple[str, dict[bytes, bytes]]:
    kind, parameters = parse_options_header(content_type)
    return kind.decode("latin-1").strip().lower(), parameters


def charset_of(kind: str, parameters: dict[bytes, bytes]) -> str:
    """Return the encoding that the parameters of a media type declare; UTF-8 by default."""
    if kind in (PARQUET, ARROW, ARROW_FILE):
        return "utf-8"
    if parameters.get(b"header", b"").lower() == b"absent":
        raise Problem(415, "A CSV needs a header line with the column names.", kind="media-type")
    given = parameters.get(b"charset", b"utf-8").decode("latin-1")
    try:
        name = codecs.lookup(given).name
    except LookupError:
        name = ""
    if name == "ascii":
        name = "utf-8"
    if name not in _CHARSETS:
        known = "utf-8, iso-8859-1, iso-8859-15, windows-1252 and utf-16"
        raise Problem(415, f"This charset is not supported. Supported are {known}.", kind="media-type")
    return name
