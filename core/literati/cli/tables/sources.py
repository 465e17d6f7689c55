"""Open a file as a table whose columns are read one at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, BinaryIO, Protocol

from literati._encode._objects import factorize
from literati.cli.errors import InputError, NotInstalledError, library_sentence
from literati.cli.output import warn
from literati.cli.tables.csv_cells import CsvCells
from literati.cli.tables.input_files import columnar_format, open_input, shown_name
from literati.cli.tables.word_columns import WordReader, Words, dates_omitted
from literati.data.columns import Kind, RawColumn, open_table
from literati.data.labels import is_missing
from literati.data.words import NULL_WORDS

_TIMES = ("date", "time", "duration")


class Source(Protocol):
    """A table in a file."""

    names: tuple[str, ...]
    n_rows: int

    def feature(self, name: str, kind: Kind | None) -> RawColumn | None:
        """Return a column, with `kind` of that type; None if it holds dates, which are left out."""

    def labels(self, name: str, *, text: bool) -> list[Any]:
        """Return the classes of the rows, with `text` as text; None where one is missing."""


class CsvSource:
    """A CSV, whose columns are numbers, booleans or categories by their cells."""

    def __init__(self, cells: CsvCells, reader: WordReader) -> None:
        self.names, self.n_rows = cells.names, cells.n_rows
        self._cells = cells
        self._reader = reader.detect_decimal([self._words(reader, name, 1) for name in self.names])

    def _words(self, reader: WordReader, name: str, chunks: int | None = None) -> Words:
        return reader.words(name, self._cells.words(self.names.index(name), chunks))

    def feature(self, name: str, kind: Kind | None) -> RawColumn | None:
        return self._reader.feature(self._words(self._reader, name), kind)

    def labels(self, name: str, *, text: bool) -> list[Any]:
        return self._reader.labels(self._words(self._reader, name), text=text)


class FrameSource:
    """A Parquet or Arrow table, whose columns have types."""

    def __init__(self, frame: Any, reader: WordReader) -> None:
        self._frame, self._reader = frame, reader
        self.names = _names(frame)
        self.n_rows = len(frame)

    @cached_property
    def _table(self) -> Any:
        return open_table(self._frame)

    def _cells(self, name: str) -> list[Any]:
        column = self._frame[name]
        found: list[Any] = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
        return [None if is_missing(cell) else cell for cell in found]

    def feature(self, name: str, kind: Kind | None) -> RawColumn | None:
        column = self._frame[name]
        dtype = str(column.type if hasattr(column, "type") else column.dtype).lower()
        if dtype.startswith(_TIMES):
            if kind is None:
                warn(dates_omitted(name))
                return None
            return self._converted(name, kind)
        try:
            raw: RawColumn = self._table.read(self.names.index(name), name)
        except (TypeError, ValueError) as error:
            raise InputError(f"{library_sentence(error)} Or leave it out with --drop {name!r}.") from None
        if kind == "number" and raw.values is not None:
            return replace(raw, kind="number")
        return raw if kind in (None, raw.kind) else self._converted(name, kind)

    def _converted(self, name: str, kind: Kind) -> RawColumn | None:
        """Return a column in another type than that of the file."""
        cells = self._cells(name)
        if kind == "category" and not any(hasattr(cell, "isoformat") for cell in cells):
            codes, distinct = factorize(cells)
            words = Words(name, codes, distinct)
            return words.categories(words.known)
        texts = ["" if cell is None else str(cell) for cell in cells]
        return self._reader.feature(self._reader.words(name, texts), kind)

    def labels(self, name: str, *, text: bool) -> list[Any]:
        cells = self._cells(name)
        return [None if cell is None else str(cell) for cell in cells] if text else cells


def open_source(
    path: str,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    null_values: Sequence[str] = (),
    encoding: str | None = None,
) -> Source:
    """Open a table. Its first bytes say what it is. Raise InputError if it cannot be read."""
    reader, name = WordReader(frozenset(null_values or NULL_WORDS), decimal), shown_name(path)
    with open_input(path) as file:
        form = columnar_format(file)
        if form is not None:
            return FrameSource(_read_frame(file, name, form), reader)
        return CsvSource(CsvCells(file, name, delimiter, encoding), reader)


def _read_frame(file: BinaryIO, name: str, form: str) -> Any:
    read = _frame_reader(form)
    try:
        frame = read(file)
    except Exception as error:  # both libraries have errors of their own for damaged files
        raise InputError(f"{name} cannot be read as {form}: {error}") from None
    if len(frame) == 0:
        raise InputError(f"{name} has no rows; expected at least one.")
    if len(set(_names(frame))) < len(_names(frame)):
        raise InputError(f"{name}: two columns have the same name; rename one.")
    return frame


def _names(frame: Any) -> tuple[str, ...]:
    """Return the names of the columns of a pyarrow or polars table."""
    return tuple(frame.column_names if hasattr(frame, "column_names") else frame.columns)


def _frame_reader(form: str) -> Callable[[BinaryIO], Any]:
    """Return the function of pyarrow, or else of polars, that reads a format."""
    try:
        from pyarrow import ipc, parquet

        readers: dict[str, Callable[[BinaryIO], Any]] = {
            "Parquet": lambda file: parquet.ParquetFile(file).read(),
            "Arrow file": lambda file: ipc.open_file(file).read_all(),
            "Arrow stream": lambda file: ipc.open_stream(file).read_all(),
        }
    except ImportError:
        try:
            import polars as pl
        except ImportError:
            raise NotInstalledError(
                f"This is a table in the format {form}, which needs the package pyarrow. Install it with: "
                "pip install pyarrow"
            ) from None
        # polars would read the file where its descriptor is, which may be past its beginning.
        readers = {
            "Parquet": lambda file: pl.read_parquet(file.read()),
            "Arrow file": lambda file: pl.read_ipc(file.read()),
            "Arrow stream": lambda file: pl.read_ipc_stream(file.read()),
        }
    return readers[form]
