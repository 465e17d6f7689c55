"""Extract the file from a streamed multipart body."""

from __future__ import annotations

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header

from service.http.problems import FieldError, Problem, invalid

PART = "file"


class FilePart:
    """Parses a multipart body chunk by chunk and returns the bytes of its only file."""

    def __init__(self, boundary: bytes) -> None:
        self.content_type: str | None = None
        self._headers: dict[str, bytes] = {}
        self._field = self._value = b""
        self._data: list[bytes] = []
        self._seen = self._ended = False
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._headers.clear,
                "on_header_field": self._on_field,
                "on_header_value": self._on_value,
                "on_header_end": self._on_header_end,
                "on_headers_finished": self._on_headers,
                "on_part_data": self._on_data,
                "on_end": self._on_end,
            },
        )

    def feed(self, chunk: bytes) -> bytes:
        try:
            self._parser.write(chunk)
        except MultipartParseError:
            raise _malformed() from None
        data, self._data = self._data, []
        return data[0] if len(data) == 1 else b"".join(data)

    def end(self) -> None:
        """Check, after the last chunk, that the body was complete and contained a file."""
        if not self._ended:
            raise _malformed()
        if not self._seen:
            raise invalid(
                FieldError(f"/body/{PART}", "MISSING", f"Expected the table in a part named `{PART}`.")
            )

    def _on_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header_end(self) -> None:
        self._headers[self._field.decode("latin-1").lower()] = self._value
        self._field = self._value = b""

    def _on_headers(self) -> None:
        _, options = parse_options_header(self._headers.get("content-disposition"))
        if options.get(b"name") != PART.encode():
            message = f"Only the part `{PART}` is allowed; send options in the query string: ?target=..."
            raise invalid(FieldError("/body", "UNKNOWN_PART", message))
        if self._seen:
            raise invalid(FieldError(f"/body/{PART}", "REPEATED", "Send one file at a time."))
        self._seen = True
        kind = self._headers.get("content-type")
        self.content_type = None if kind is None else kind.decode("latin-1")

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        self._data.append(data[start:end])

    def _on_end(self) -> None:
        self._ended = True


def _malformed() -> Problem:
    return Problem(400, "The multipart body is damaged or truncated.", kind="malformed-body")
