"""Parse the rows of a CSV into an Arrow table with the column types of the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

from literati.data.words import NULL_WORDS
from service.http.problems import FieldError, pointer
from service.ingest.csv_errors import find_ragged_row
from service.ingest.dictionary_column import DICTIONARY
from service.predict.decode.text_columns import FALSE_TEXTS, TRUE_TEXTS, TextColumns
from service.predict.layout import Layout
from service.predict.row_errors import MalformedError
from worker.domain.datasets import CsvStyle, DecimalSign

MIN_THREAD_BYTES = 1 << 20  # a larger body is parsed in several threads
_TYPES = {"number": pa.float64(), "boolean": pa.bool_(), "category": DICTIONARY}


@dataclass(frozen=True, slots=True)
class CsvOptions:
    """The CSV options of a request. The others are detected, or as in the training data."""

    delimiter: str | None = None  # None: the one that gives most columns of the model
    decimal: DecimalSign | None = None
    null_words: frozenset[str] | None = None
    charset: str = "utf-8"
    in_query: bool = True  # whether requests of this protocol can have these options


class CsvTable:
    """A CSV with its header and the types of its columns."""

    def __init__(
        self,
        body: bytes,
        header: list[str],
        delimiter: str,
        layout: Layout,
        options: CsvOptions,
        style: CsvStyle,
    ) -> None:
        """Prepare to read the body. `style` is that of the CSV that the model was trained on."""
        self.body = body
        self.header = header
        self.delimiter = delimiter
        self.layout = layout
        self.decimal = options.decimal
        self.has_options = options.in_query
        self.style = style
        words = NULL_WORDS if style.null_words is None else style.null_words
        self.null_words = frozenset({"", *(words if options.null_words is None else options.null_words)})
        self.read_as: dict[str, str] = {}  # columns that are not plain numbers, and their style in words
        self.unreadable: dict[str, int | None] = {}  # columns that are ignored, with the first such row
        self.types = dict.fromkeys(header, pa.string())
        self.types.update({entry.name: _TYPES[entry.kind] for entry in layout.fields})

    def read(self) -> Any:
        """Return the Arrow table; raise RowsError if cells do not fit the model."""
        signs = [self.style.decimal_of(entry.name) for entry in self.layout.numbers]
        if self.decimal is not None or "," not in signs:
            try:
                return self._parse(self.types)
            except pa.ArrowInvalid:
                pass  # not all cells are plain numbers
        return self._read_by_style()

    def _read_by_style(self) -> Any:
        """Read numbers and booleans as text, then convert each column in the style of its cells."""
        typed = [entry for entry in self.layout.fields if entry.kind != "category"]
        names = [entry.name for entry in typed]
        others = [name for name in self.header if name not in set(names)]
        types = self.types | dict.fromkeys(names, DICTIONARY)
        try:
            text = self._parse(types, names, text_can_be_null=True) if names else None
            rest = self._parse(self.types, others) if others else pa.table({})
        except pa.ArrowInvalid:
            raise self._diagnose() from None
        if text is None:
            return rest
        reader = TextColumns(
            self.layout,
            self.style,
            self.null_words,
            decimal=self.decimal,
            usual_decimal="." if self.delimiter == "," else None,
            has_options=self.has_options,
        )
        found = reader.read({name: text.column(name) for name in names})
        self.read_as, self.unreadable = reader.read_as, reader.unreadable
        columns = dict(zip(rest.column_names, rest.columns, strict=True))
        columns |= {name: found.get(name, pa.nulls(text.num_rows)) for name in names}
        return pa.table(columns)

    def _parse(
        self,
        types: dict[str, Any],
        only: list[str] | None = None,
        *,
        text_can_be_null: bool = False,
        threads: bool = True,
    ) -> Any:
        return arrow_csv.read_csv(
            pa.BufferReader(self.body),
            read_options=arrow_csv.ReadOptions(
                use_threads=threads and len(self.body) >= MIN_THREAD_BYTES,
                block_size=max(MIN_THREAD_BYTES, len(self.body) // 16),
                column_names=list(types),
                skip_rows_after_names=1,
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=self.delimiter, newlines_in_values=b'"' in self.body
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types,
                null_values=list(self.null_words),
                include_columns=only,
                # False for category columns: which words are null depends on the categories.
                strings_can_be_null=text_can_be_null,
                true_values=TRUE_TEXTS,
                false_values=FALSE_TEXTS,
                decimal_point=self.decimal or ".",
            ),
        )

    def _diagnose(self) -> MalformedError:
        """Parse again in a single thread, because only then Arrow's errors name the row."""
        try:
            self._parse(dict.fromkeys(self.header, pa.string()), threads=False)
        except pa.ArrowInvalid as error:
            if ragged := find_ragged_row(str(error)):
                where = pointer("body", "rows", ragged.row - 1)
                field_error = FieldError(where, "RAGGED_ROW", ragged.message, ragged.row)
                return MalformedError(f"The body is not valid CSV. {ragged.message}", [field_error])
        return MalformedError("The body is not valid CSV: a row or a cell cannot be read, or is not UTF-8.")
