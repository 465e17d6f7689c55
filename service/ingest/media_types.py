"""Media types: what an upload says it is."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from python_multipart.multipart import parse_options_header

from service.errors import Problem

from .first_bytes import Form

CSV = "text/csv"
TSV = "text/tab-separated-values"
PARQUET = "application/vnd.apache.parquet"
ARROW = "application/vnd.apache.arrow.stream"
ARROW_FILE = "application/vnd.apache.arrow.file"
ANY = "application/octet-stream"  # recognised by its first bytes
MULTIPART = "multipart/form-data"
ACCEPTED = (CSV, TSV, PARQUET, ARROW, ARROW_FILE, ANY, MULTIPART)
_FORMS: dict[str, Form] = {CSV: "csv", TSV: "tsv", PARQUET: "parquet", ARROW: "arrow", ARROW_FILE: "arrow"}
# A type that names something else is believed; one that says nothing of the sort, or none, is not asked.
_OTHERS = re.compile(
    r"application/json|application/xml|text/html|text/xml|[^/]+/[^/]+\+(json|xml)"
    r"|(audio|font|image|message|model|multipart|video)/.*"
)
_CHARSETS = ("utf-8", "iso8859-1", "iso8859-15", "cp1252", "utf-16")  # by Python's names


@dataclass(frozen=True)
class Media:
    """How an upload is to be read. Form None: its first bytes decide."""

    form: Form | None
    charset: str = "utf-8"


def body_media(content_type: str | None) -> Media | bytes:
    """Of a request; for a multipart body its boundary."""
    kind, parameters = parsed_type(content_type)
    if kind == MULTIPART:
        boundary = parameters.get(b"boundary", b"")
        if not 0 < len(boundary) <= 200:
            raise Problem(400, "The multipart body has no boundary.", kind="malformed-body")
        return boundary
    if says_otherwise(kind):
        raise unsupported()
    return Media(_FORMS.get(kind), charset_of(kind, parameters))


def says_otherwise(media_type: str) -> bool:
    """Whether the media type names something that is no table."""
    return _OTHERS.fullmatch(media_type) is not None


def part_media(content_type: str | None) -> Media:
    """Of the file in a multipart body: clients that do not know its type send any."""
    kind, parameters = parsed_type(content_type)
    return Media(_FORMS.get(kind), charset_of(kind, parameters))


def unsupported() -> Problem:
    example = "curl --data-binary @table.csv -H 'Content-Type: text/csv'"
    return Problem(
        415,
        f"Send a table as one of {', '.join(ACCEPTED)}; for example {example}.",
        kind="media-type",
        headers={"Accept-Post": ", ".join(ACCEPTED)},
    )


def parsed_type(content_type: str | None) -> tuple[str, dict[bytes, bytes]]:
    kind, parameters = parse_options_header(content_type)
    return kind.decode("latin-1").strip().lower(), parameters


def charset_of(kind: str, parameters: dict[bytes, bytes]) -> str:
    """The codec of a CSV, by its media type's parameters. Others say what they are by themselves."""
    if kind in (PARQUET, ARROW, ARROW_FILE):
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
