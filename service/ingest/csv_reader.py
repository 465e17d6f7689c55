"""CSV to an Arrow table; types are inferred over all rows, and what cannot be read is said with its row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv

from literati._leading_zeros import mark_leading_zeros
from worker.messages import DecimalSign

from .coded import coded
from .errors import Fault, IngestError, body_fault, cell_fault, option_fault
from .fixes import set_option
from .header import Header, bad_encoding, read_header
from .hints import Hint, perhaps_thousands
from .kinds import is_text
from .numerals import COMMA, PLAIN, POINTS, decided, may_be_thousands, possible_styles
from .options import NULL_WORDS, Options, Plan, TableLimits, plan
from .raw import RawTable, Spelling
from .segments import CODED, NoCutError, as_utf8, fits, joined, segments

BLOCK_BYTES = 1 << 20  # what one thread parses at a time; also the longest row that can be read
BLOCKS = 8  # in a piece of the file
WIDE = 1000  # columns from which blocks are larger: each costs something for every column
WIDEST_BLOCK = 8 << 20
SCAN_BYTES = 1 << 20
_RAGGED = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")


def read_csv(path: Path, charset: str, options: Options, limits: TableLimits) -> RawTable:
    header = read_header(path, charset, options, limits)
    if options.decimal not in (None, ".", ","):
        fix = set_option("Let the decimal sign be found out", decimal=None)
        raise IngestError(option_fault("decimal", "BAD_DECIMAL", "Expected a point or a comma.", fix))
    if options.decimal == header.delimiter:
        message = "The decimal sign and the delimiter cannot be the same."
        fix = set_option("Let the decimal sign be found out", decimal=None)
        raise IngestError(option_fault("decimal", "BAD_DECIMAL", message, fix))
    found = plan(options, header.names)
    try:
        with as_utf8(path, charset) as text:
            return _Reader(text, header, found, options, limits).read()
    except UnicodeDecodeError:
        raise IngestError(bad_encoding(path, charset)) from None


class _Reader:
    """Of a file in UTF-8."""

    def __init__(self, path: Path, header: Header, plan: Plan, options: Options, limits: TableLimits) -> None:
        self.path = path
        self.header = header
        self.plan = plan
        self.given_decimal = cast(DecimalSign | None, options.decimal)
        self.decimal = options.decimal or "."
        self.null_words = NULL_WORDS if options.null_values is None else options.null_values
        self.limits = limits
        self.block = min(WIDEST_BLOCK, max(BLOCK_BYTES, BLOCK_BYTES * len(header.names) // WIDE))
        self.quoted = any(b'"' in block for block in _blocks(path))
        # Labels and categories are read as text: 007 must come back as 007.
        self.spelt = frozenset(self.plan.kinds) | {self.plan.target}
        self.zeros = np.zeros(len(header.names), dtype=np.uint8)  # columns with leading zeros

    def read(self) -> RawTable:
        table = self._table()
        if table.num_rows == 0:
            raise IngestError(body_fault("NO_ROWS", "There is a header and no row of data below it."))
        self._refuse_open_quote(table)
        evidence = self._evidence(table)
        if evidence == "," and (doubtful := self._perhaps_thousands(table)):
            table = self._with_text(table, doubtful)
        hints: list[Hint] = []
        if self.given_decimal is None and evidence == "." and self.header.delimiter == ";":
            hints = [perhaps_thousands(name) for name in self._silent_thousands(table)]
        nulls = frozenset({"", *self.null_words})
        spelling = Spelling(self.given_decimal, evidence, nulls, self.null_words is NULL_WORDS)
        warnings = [*self.header.warnings, *(hint.message for hint in hints)]
        fixes = tuple(fix for hint in hints for fix in hint.fixes)
        return RawTable(table, self.plan, warnings, self.spelt, fixes, spelling)

    def _evidence(self, table: Any) -> DecimalSign | None:
        """The decimal sign that the file speaks for, where the client does not say it."""
        if self.given_decimal is not None:
            return self.given_decimal
        signs = {
            style.decimal
            for name in table.column_names
            if table.schema.field(name).type == CODED and name not in self.spelt
            if (style := decided(possible_styles(words_of(table.column(name))), None, None)) is not None
            and style != PLAIN
        }
        if len(signs) == 1:
            return next(iter(signs))
        points = any(kind == pa.float64() for kind in table.schema.types)
        return "." if not signs and (points or self.header.delimiter == ",") else None

    def _perhaps_thousands(self, table: Any) -> list[str]:
        """Columns that were read with decimal points in a file with decimal commas."""
        floats = [name for name in table.column_names if table.schema.field(name).type == pa.float64()]
        return [name for name in floats if may_be_thousands(table.column(name))]

    def _silent_thousands(self, table: Any) -> list[str]:
        """Columns whose points may all stand between thousands, if no other column has decimal points."""
        floats = [name for name in table.column_names if table.schema.field(name).type == pa.float64()]
        if not floats or self._perhaps_thousands(table) != floats:
            return []
        for most in (1, None):  # the first piece tells in most files that it is not so
            parts = self._parts(dict.fromkeys(floats, CODED), most=most)
            styles = [possible_styles(coded(_column(parts, name)).values) for name in floats]
            if not all(POINTS in found and COMMA not in found for found in styles):
                return []
        return floats

    def _with_text(self, table: Any, names: list[str]) -> Any:
        """The table with these columns as they are written."""
        parts = self._parts(dict.fromkeys(names, CODED))
        text = pa.concat_tables([part.select(names) for part in parts])
        for name in names:
            place = table.column_names.index(name)
            table = table.set_column(place, name, text.column(name))
        return table

    def _table(self) -> Any:
        try:
            parts = self._parts({})
            types = dict(zip(self.plan.kept, parts[0].schema.types, strict=True))
            for part in parts[1:]:
                types = {name: joined(kind, part.schema.field(name).type) for name, kind in types.items()}
            text = [name for name in types if not all(fits(part.column(name), types[name]) for part in parts)]
            text += self._zero_led(types)
            if text:  # a column that is text in one piece and numbers in another: all of it is text
                types |= dict.fromkeys(text, CODED)
                del parts
                parts = self._parts(dict.fromkeys(text, CODED))
            schema = pa.schema(types)
            return pa.concat_tables([part.cast(schema) for part in parts])
        except NoCutError:
            raise IngestError(self._too_long()) from None
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowCapacityError):
            raise IngestError(self._diagnosis()) from None

    def _zero_led(self, types: dict[str, Any]) -> list[str]:
        """Columns of whole numbers that are text, because some are written with leading zeros."""
        marked = {name for name, zeros in zip(self.header.names, self.zeros, strict=True) if zeros}
        return [
            name
            for name, kind in types.items()
            if kind == pa.int64() and name in marked and name != self.plan.weight
        ]

    def _parts(self, types: dict[str, Any], most: int | None = None) -> list[Any]:
        """The pieces (the first ones, at most so many), each with the types that Arrow finds for it."""
        parts: list[Any] = []
        for piece in islice(segments(self.path, quoted=self.quoted, size=BLOCKS * self.block), most):
            if not types:
                mark_leading_zeros(piece, ord(self.header.delimiter), self.zeros)
            with pa.BufferReader(piece) as source:
                part = pyarrow.csv.read_csv(
                    source,
                    self._read_options(header=not parts),
                    self._parse_options(),
                    self._convert_options(types),
                )
            if any(_is_binary(field.type) for field in part.schema):  # text that is none
                raise IngestError(bad_encoding(self.path, "utf-8"))
            parts.append(_coded(part).combine_chunks())
        return parts

    def _read_options(self, *, header: bool, use_threads: bool = True) -> Any:
        return pyarrow.csv.ReadOptions(
            use_threads=use_threads,
            block_size=self.block,
            column_names=self.header.names,
            skip_rows=self.header.blank_lines if header else 0,
            skip_rows_after_names=int(header),
        )

    def _parse_options(self) -> Any:
        return pyarrow.csv.ParseOptions(
            delimiter=self.header.delimiter,
            newlines_in_values=self.quoted,  # without, blocks are cut by two threads: 15 % faster
        )

    def _convert_options(self, types: dict[str, Any]) -> Any:
        return pyarrow.csv.ConvertOptions(
            include_columns=self.plan.kept,
            column_types={**types, **dict.fromkeys(self.spelt, CODED)},
            null_values=["", *self.null_words],
            strings_can_be_null=True,
            auto_dict_encode=True,  # text never exists cell by cell
            auto_dict_max_cardinality=self.limits.max_categories,
            decimal_point=self.decimal,
        )

    def _diagnosis(self) -> Fault:
        """Read again as text, row by row in order: only then does Arrow know the number of a row."""
        try:
            with pa.OSFile(str(self.path)) as source:
                options = self._read_options(header=True, use_threads=False)
                text = self._convert_options(dict.fromkeys(self.plan.kept, pa.string()))
                for _ in pyarrow.csv.open_csv(source, options, self._parse_options(), text):
                    pass
        except pa.ArrowInvalid as error:
            return self._explained(str(error))
        return body_fault("UNREADABLE", "The file cannot be read as CSV; check its quotation marks.")

    def _explained(self, error: str) -> Fault:
        if ragged := _RAGGED.search(error):
            above = 1 + self.header.blank_lines  # lines that are no rows of data, the header among them
            row, expected, found = int(ragged[1]) - above, int(ragged[2]), int(ragged[3])
            cells = "1 cell" if found == 1 else f"{found:,} cells"
            message = (
                f"Row {row:,} has {cells}, the header {expected:,}. Put quotation marks around text that "
                "holds a delimiter or a line break; if this is no table, send one."
            )
            return Fault(("body", "rows", row), "RAGGED_ROW", message)
        if "UTF8" in error:
            return bad_encoding(self.path, "utf-8")
        if "straddl" in error or "block size" in error:
            return self._too_long()
        return body_fault("UNREADABLE", "The file cannot be read as CSV; check its quotation marks.")

    def _too_long(self) -> Fault:
        advice = "perhaps a quotation mark is opened and never closed"
        message = f"A row is longer than {self.block:,} bytes; {advice}."
        return body_fault("ROW_TOO_LONG", message)

    def _refuse_open_quote(self, table: Any) -> None:
        """The reader takes all that follows an open quotation mark for one cell of the last row."""
        if not self.quoted:
            return
        for name in table.column_names:
            cell = table.column(name)[table.num_rows - 1].as_py()
            if isinstance(cell, str) and "\n" in cell and sum(b.count(b'"') for b in _blocks(self.path)) % 2:
                message = "A quotation mark is opened in the last row and never closed."
                raise IngestError(cell_fault(table.num_rows, name, "OPEN_QUOTE", message))


def _column(parts: list[Any], name: str) -> Any:
    return pa.chunked_array([chunk for part in parts for chunk in part.column(name).chunks], CODED)


def words_of(column: Any) -> Any:
    """Words of a coded column, those of its first part: enough to tell how numbers are written."""
    return column.chunk(0).dictionary if column.num_chunks else pa.array([], pa.string())


def _coded(part: Any) -> Any:
    """Text with too many words for Arrow to code it by itself is coded all the same."""
    for place, field in enumerate(part.schema):
        if is_text(field.type):
            part = part.set_column(place, field.name, part.column(place).cast(CODED))
    return part


def _is_binary(kind: Any) -> bool:
    """What the reader falls back to when text is not valid."""
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_binary(value) or pa.types.is_large_binary(value))


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(SCAN_BYTES):
            yield block
