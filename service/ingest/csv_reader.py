"""Read a CSV into an Arrow table. Types are inferred from all rows; errors name the row."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv

from literati._predict._leading_zeros import mark_leading_zeros
from literati.data.words import NULL_WORDS
from service.ingest.arrow_types import is_binary, is_text, value_type
from service.ingest.csv_errors import encoding_issue, find_ragged_row
from service.ingest.csv_header import Header, read_header
from service.ingest.csv_segments import RowTooLongError, as_utf8, can_cast, common_type, segments
from service.ingest.dictionary_column import DICTIONARY, encode_column
from service.ingest.errors import IngestError, Issue, body_issue, cell_issue, option_issue
from service.ingest.fixes import set_option
from service.ingest.hints import Hint, thousands_hint
from service.ingest.number_style import COMMA, PLAIN, POINTS, choose_style, may_be_thousands, possible_styles
from service.ingest.options import Options, Plan, TableLimits, make_plan
from service.ingest.tables import CsvFormat, SourceTable
from worker.domain.datasets import DecimalSign

BLOCK_BYTES = 1 << 20  # what one thread parses at a time; also the maximum length of a row
BLOCKS = 8  # per segment
WIDE_COLUMNS = 1000  # tables with more columns are read in larger blocks, whose overhead is per column
MAX_BLOCK_BYTES = 8 << 20
SCAN_BYTES = 1 << 20
SAME_SIGN = "The decimal sign and the delimiter must be different."


def read_csv(path: Path, charset: str, options: Options, limits: TableLimits) -> SourceTable:
    header = read_header(path, charset, options, limits)
    if options.decimal not in (None, ".", ",") or options.decimal == header.delimiter:
        message = SAME_SIGN if options.decimal == header.delimiter else "Expected a point or a comma."
        fix = set_option("Detect the decimal sign", decimal=None)
        raise IngestError(option_issue("decimal", "BAD_DECIMAL", message, fix))
    plan = make_plan(options, header.names)
    try:
        with as_utf8(path, charset) as text:
            return _CsvReader(text, header, plan, options, limits).read()
    except UnicodeDecodeError:
        raise IngestError(encoding_issue(path, charset)) from None


class _CsvReader:
    """Reads a file in UTF-8."""

    def __init__(self, path: Path, header: Header, plan: Plan, options: Options, limits: TableLimits) -> None:
        self.path = path
        self.header = header
        self.plan = plan
        self.given_decimal = cast(DecimalSign | None, options.decimal)
        self.decimal = options.decimal or "."
        self.null_words = NULL_WORDS if options.null_values is None else options.null_values
        self.limits = limits
        wide = BLOCK_BYTES * len(header.names) // WIDE_COLUMNS
        self.block_bytes = min(MAX_BLOCK_BYTES, max(BLOCK_BYTES, wide))
        self.quoted = any(b'"' in block for block in _blocks(path))
        # Labels and categories are read as text, so that 007 stays 007.
        self.text_columns = frozenset(self.plan.kinds) | {self.plan.target}
        self.leading_zeros = np.zeros(len(header.names), dtype=np.uint8)  # whether a column has some

    def read(self) -> SourceTable:
        table = self._table()
        if table.num_rows == 0:
            raise IngestError(
                body_issue("NO_ROWS", "The file has a header but no rows of data; add at least one.")
            )
        self._check_open_quote(table)
        decimal = self._detect_decimal(table)
        if decimal == "," and (ambiguous := self._maybe_thousands(table)):
            for name, words in zip(ambiguous, self._read_text(ambiguous).columns, strict=True):
                table = table.set_column(table.column_names.index(name), name, words)
        hints: list[Hint] = []
        if self.given_decimal is None and decimal == "." and self.header.delimiter == ";":
            hints = [thousands_hint(name) for name in self._only_thousands(table)]
        null_words = frozenset({"", *self.null_words})
        csv_format = CsvFormat(self.given_decimal, decimal, null_words, self.null_words is NULL_WORDS)
        warnings = [*self.header.warnings, *(hint.message for hint in hints)]
        fixes = tuple(fix for hint in hints for fix in hint.fixes)
        return SourceTable(table, self.plan, warnings, self.text_columns, fixes, csv_format)

    def _detect_decimal(self, table: Any) -> DecimalSign | None:
        """Return the decimal sign of the options, else the one that the columns use, if it is clear."""
        if self.given_decimal is not None:
            return self.given_decimal
        signs = {
            style.decimal
            for name in table.column_names
            if table.schema.field(name).type == DICTIONARY and name not in self.text_columns
            if (style := choose_style(possible_styles(_sample(table.column(name))), None, None)) is not None
            and style != PLAIN
        }
        if len(signs) == 1:
            return next(iter(signs))
        points = any(kind == pa.float64() for kind in table.schema.types)
        return "." if not signs and (points or self.header.delimiter == ",") else None

    def _maybe_thousands(self, table: Any) -> list[str]:
        """Return the columns read with decimal points that may be thousands separators."""
        return [name for name in _float_columns(table) if may_be_thousands(table.column(name))]

    def _only_thousands(self, table: Any) -> list[str]:
        """Return the columns with points if all points of the file may be thousands separators."""
        floats = _float_columns(table)
        if not floats or self._maybe_thousands(table) != floats:
            return []
        for max_segments in (1, None):  # in most files the first segment is enough to exclude it
            words = self._read_text(floats, max_segments)
            styles = [possible_styles(encode_column(column).values) for column in words.columns]
            if not all(POINTS in found and COMMA not in found for found in styles):
                return []
        return floats

    def _read_text(self, names: list[str], max_segments: int | None = None) -> Any:
        """Read these columns again, as text."""
        parts = self._segments(dict.fromkeys(names, DICTIONARY), max_segments)
        return pa.concat_tables([part.select(names) for part in parts])

    def _table(self) -> Any:
        try:
            parts = self._segments({})
            types = dict(zip(self.plan.kept, parts[0].schema.types, strict=True))
            for part in parts[1:]:
                types = {
                    name: common_type(kind, part.schema.field(name).type) for name, kind in types.items()
                }
            text = [
                name for name, kind in types.items() if not all(can_cast(p.column(name), kind) for p in parts)
            ]
            text += self._with_leading_zeros(types)
            if text:  # columns that are numbers in one segment and text in another are read again as text
                types |= dict.fromkeys(text, DICTIONARY)
                del parts
                parts = self._segments(dict.fromkeys(text, DICTIONARY))
            schema = pa.schema(types)
            return pa.concat_tables([part.cast(schema) for part in parts])
        except RowTooLongError:
            raise IngestError(self._row_too_long()) from None
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowCapacityError):
            raise IngestError(self._diagnose()) from None

    def _with_leading_zeros(self, types: dict[str, Any]) -> list[str]:
        """Return the columns of whole numbers that are text because some have leading zeros."""
        marked = {name for name, zeros in zip(self.header.names, self.leading_zeros, strict=True) if zeros}
        return [
            name
            for name, kind in types.items()
            if kind == pa.int64() and name in marked and name != self.plan.weight
        ]

    def _segments(self, types: dict[str, Any], max_segments: int | None = None) -> list[Any]:
        """Read the segments, each with the types that Arrow infers for the columns without a given type."""
        parts: list[Any] = []
        size = BLOCKS * self.block_bytes
        for segment in islice(segments(self.path, quoted=self.quoted, size=size), max_segments):
            if not types:
                mark_leading_zeros(segment, ord(self.header.delimiter), self.leading_zeros)
            with pa.BufferReader(segment) as source:
                part = pyarrow.csv.read_csv(
                    source,
                    self._read_options(header=not parts),
                    self._parse_options(),
                    self._convert_options(types),
                )
            if any(is_binary(value_type(kind)) for kind in part.schema.types):  # text that is not valid UTF-8
                raise IngestError(encoding_issue(self.path, "utf-8"))
            parts.append(_dictionary_encoded(part).combine_chunks())
        return parts

    def _read_options(self, *, header: bool, use_threads: bool = True) -> Any:
        return pyarrow.csv.ReadOptions(
            use_threads=use_threads,
            block_size=self.block_bytes,
            column_names=self.header.names,
            skip_rows=self.header.blank_lines if header else 0,
            skip_rows_after_names=int(header),
        )

    def _parse_options(self) -> Any:
        return pyarrow.csv.ParseOptions(
            delimiter=self.header.delimiter,
            newlines_in_values=self.quoted,  # if false, two threads find the block ends: 15 % faster
        )

    def _convert_options(self, types: dict[str, Any]) -> Any:
        return pyarrow.csv.ConvertOptions(
            include_columns=self.plan.kept,
            column_types={**types, **dict.fromkeys(self.text_columns, DICTIONARY)},
            null_values=["", *self.null_words],
            strings_can_be_null=True,
            auto_dict_encode=True,  # keeps each distinct text once
            auto_dict_max_cardinality=self.limits.max_categories,
            decimal_point=self.decimal,
        )

    def _diagnose(self) -> Issue:
        """Read the file again in a single thread, because only then Arrow's errors name the row."""
        error = ""
        try:
            with pa.OSFile(str(self.path)) as source:
                options = self._read_options(header=True, use_threads=False)
                text = self._convert_options(dict.fromkeys(self.plan.kept, pa.string()))
                for _ in pyarrow.csv.open_csv(source, options, self._parse_options(), text):
                    pass
        except pa.ArrowInvalid as found:
            error = str(found)
        if ragged := find_ragged_row(error, 1 + self.header.blank_lines):
            message = (
                f"{ragged.message} Put text that contains a delimiter or a line break in quotation marks; if "
                "the file is not a table, send one."
            )
            return Issue(("body", "rows", ragged.row), "RAGGED_ROW", message)
        if "UTF8" in error:
            return encoding_issue(self.path, "utf-8")
        if "straddl" in error or "block size" in error:
            return self._row_too_long()
        return body_issue("UNREADABLE", "The file cannot be read as CSV; check its quotation marks.")

    def _row_too_long(self) -> Issue:
        message = f"A row is longer than {self.block_bytes:,} bytes; check for a missing quotation mark."
        return body_issue("ROW_TOO_LONG", message)

    def _check_open_quote(self, table: Any) -> None:
        """Reject a quotation mark that is not closed. Arrow reads all that follows as one cell."""
        if not self.quoted:
            return
        for name in table.column_names:
            cell = table.column(name)[table.num_rows - 1].as_py()
            if isinstance(cell, str) and "\n" in cell and sum(b.count(b'"') for b in _blocks(self.path)) % 2:
                message = "A quotation mark is opened in the last row and never closed; close or remove it."
                raise IngestError(cell_issue(table.num_rows, name, "OPEN_QUOTE", message))


def _float_columns(table: Any) -> list[str]:
    return [name for name in table.column_names if table.schema.field(name).type == pa.float64()]


def _sample(column: Any) -> Any:
    """Return the distinct words of a column's first chunk."""
    return column.chunk(0).dictionary if column.num_chunks else pa.array([], pa.string())


def _dictionary_encoded(part: Any) -> Any:
    """Encode the text columns that have too many distinct values for Arrow to encode them by itself."""
    types = {field.name: DICTIONARY if is_text(field.type) else field.type for field in part.schema}
    return part.cast(pa.schema(types))


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(SCAN_BYTES):
            yield block
