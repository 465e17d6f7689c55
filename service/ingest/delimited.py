"""CSV to an Arrow table; types are inferred over all rows, and what cannot be read is said with its row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from .errors import Fault, IngestError, body_fault, cell_fault, column_fault, option_fault, shown
from .header import Header, bad_encoding, read_header
from .options import NULL_WORDS, Options, Plan, TableLimits, plan
from .raw import RawTable

BLOCK_BYTES = 4 << 20  # also the longest row that can be read
SCAN_BYTES = 1 << 20
_RAGGED = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")
_CONVERSION = re.compile(r"In CSV column #(\d+)")


def read_csv(path: Path, charset: str, options: Options, limits: TableLimits) -> RawTable:
    header = read_header(path, charset, options, limits)
    if options.decimal not in (None, ".", ","):
        raise IngestError(option_fault("decimal", "BAD_DECIMAL", "Expected a point or a comma."))
    if options.decimal == header.delimiter:
        message = "The decimal sign and the delimiter cannot be the same."
        raise IngestError(option_fault("decimal", "BAD_DECIMAL", message))
    reader = _Reader(path, charset, header, plan(options, header.names), options, limits)
    return reader.read()


class _Reader:
    def __init__(
        self,
        path: Path,
        charset: str,
        header: Header,
        plan: Plan,
        options: Options,
        limits: TableLimits,
    ) -> None:
        self.path = path
        self.charset = charset
        self.header = header
        self.plan = plan
        self.options = options
        self.limits = limits
        self.quoted = any(b'"' in block for block in _blocks(path))
        # Labels and categories are read as text: 007 must come back as 007.
        self.spelt = frozenset(self.plan.kinds) | {self.plan.target}

    def read(self) -> RawTable:
        try:
            table = self._table(use_threads=True)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowCapacityError, UnicodeDecodeError):
            raise IngestError(self._diagnosis()) from None
        if table.num_rows == 0:
            message = "There is a header and no row of data below it."
            raise IngestError(body_fault("NO_ROWS", message))
        if any(_is_binary(field.type) for field in table.schema):
            raise IngestError(bad_encoding(self.path, self.charset))
        self._refuse_open_quote(table)
        return RawTable(table, self.plan, self.spelt, self.options.decimal or ".", list(self.header.warnings))

    def _table(self, *, use_threads: bool) -> Any:
        words = NULL_WORDS if self.options.null_values is None else self.options.null_values
        read = pyarrow.csv.ReadOptions(
            use_threads=use_threads,
            block_size=BLOCK_BYTES,
            column_names=self.header.names,
            skip_rows=self.header.blank_lines,
            skip_rows_after_names=1,
            encoding=self.charset,
        )
        parse = pyarrow.csv.ParseOptions(
            delimiter=self.header.delimiter,
            newlines_in_values=self.quoted,  # without, blocks are cut by two threads: 15 % faster
        )
        text = pa.dictionary(pa.int32(), pa.string())
        convert = pyarrow.csv.ConvertOptions(
            include_columns=self.plan.kept,
            column_types=dict.fromkeys(self.spelt, text),
            null_values=["", *words],
            strings_can_be_null=True,
            auto_dict_encode=True,  # text never exists cell by cell
            auto_dict_max_cardinality=self.limits.max_categories,
            decimal_point=self.options.decimal or ".",
        )
        with pa.OSFile(str(self.path)) as file:
            return pyarrow.csv.read_csv(file, read, parse, convert)

    def _diagnosis(self) -> Fault:
        """Read again, row by row in order: only then does the reader know the number of a row."""
        try:
            self._table(use_threads=False)
        except UnicodeDecodeError:
            return bad_encoding(self.path, self.charset)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowCapacityError) as error:
            return self._explained(str(error))
        return body_fault("UNREADABLE", "The file cannot be read as CSV; check its quotation marks.")

    def _explained(self, error: str) -> Fault:
        if ragged := _RAGGED.search(error):
            row, expected, found = int(ragged[1]) - 1, int(ragged[2]), int(ragged[3])
            cells = "1 cell" if found == 1 else f"{found:,} cells"
            message = (
                f"Row {row:,} has {cells}, the header {expected:,}. Put quotation marks around text that "
                "holds a delimiter or a line break; if this is no table, send one."
            )
            return Fault(("body", "rows", row), "RAGGED_ROW", message)
        if "UTF8" in error:
            return bad_encoding(self.path, self.charset)
        if "straddl" in error or "block size" in error:
            message = (
                f"A row is longer than {BLOCK_BYTES:,} bytes; perhaps a quotation mark is opened and never "
                "closed."
            )
            return body_fault("ROW_TOO_LONG", message)
        if where := _CONVERSION.search(error):
            name = self.plan.kept[min(int(where[1]), len(self.plan.kept) - 1)]
            message = f"Column {shown(name)} cannot be read; leave it out with `drop`."
            return column_fault(name, "UNREADABLE", message)
        return body_fault("UNREADABLE", "The file cannot be read as CSV; check its quotation marks.")

    def _refuse_open_quote(self, table: Any) -> None:
        """The reader takes all that follows an open quotation mark for one cell of the last row."""
        if not self.quoted:
            return
        for name in table.column_names:
            cell = table.column(name)[table.num_rows - 1].as_py()
            if isinstance(cell, str) and "\n" in cell and sum(b.count(b'"') for b in _blocks(self.path)) % 2:
                message = "A quotation mark is opened in the last row and never closed."
                raise IngestError(cell_fault(table.num_rows, name, "OPEN_QUOTE", message))


def _is_binary(kind: Any) -> bool:
    """What the reader falls back to when text is not valid."""
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_binary(value) or pa.types.is_large_binary(value))


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(SCAN_BYTES):
            yield block
