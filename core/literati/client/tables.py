"""Tables as bodies of requests: frames become Arrow streams, files are sent as they are."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from literati.data.labels import is_missing, plain

ARROW = "application/vnd.apache.arrow.stream"
JSON = "application/json"
CSV = "text/csv"
ANY = "application/octet-stream"  # the server looks at the first bytes
PART_BYTES = 1 << 20  # of a file that are in memory at once
BATCH_ROWS = 1 << 16  # of a frame that are encoded at once
NO_WORD = "<no word means missing>"  # only an empty cell is a missing one
_MEDIA_TYPES = {
    ".csv": CSV,
    ".tsv": "text/tab-separated-values",
    ".parquet": "application/vnd.apache.parquet",
}


@dataclass(frozen=True)
class Body:
    """The body of a request. `parts` is called for every attempt, so that it can be sent again."""

    content_type: str
    parts: Callable[[], Iterator[bytes]]
    size: int | None = None  # in bytes, if it is known
    options: dict[str, list[str]] = field(default_factory=dict)  # how an upload must be read


def table_body(table: Any) -> Body:
    """Return the body of an upload.

    Raise TypeError if this is not a table, and ImportError if pyarrow is needed to send it and is missing.
    """
    if isinstance(table, str | os.PathLike):
        return _file_body(Path(table))
    if isinstance(table, bytes):
        return _bytes_body(ANY, table)
    if (body := _frame_body(table)) is not None:
        return body
    if _is_pandas(table):
        return _csv_body(table)
    raise TypeError(f"Expected a path or a pandas, polars or Arrow table, got {type(table).__name__}")


def rows_body(rows: Any, columns: Sequence[str]) -> Body:
    """Return the body of a request that predicts or scores. Rows without names are in the order of `columns`.

    In addition to what `table_body` accepts, rows may be a mapping, a list of mappings or an array.
    """
    if isinstance(rows, str | os.PathLike | bytes):
        return table_body(rows)
    if isinstance(rows, Mapping) and not any(_is_column(cells) for cells in rows.values()):
        rows = [rows]
    if isinstance(rows, list) and rows and isinstance(rows[0], Mapping):
        records = [{str(name): _cell(cell) for name, cell in row.items()} for row in rows]
        return _json_body({"records": records})
    if (body := _frame_body(rows)) is not None:
        return body
    if _is_pandas(rows):
        return _arrays_body([str(name) for name in rows.columns], rows.itertuples(index=False))
    if not columns:
        raise TypeError(f"These rows need column names; pass a table instead of {type(rows).__name__}")
    cells = np.asarray(rows)
    if cells.ndim != 2 or cells.shape[1] != len(columns):
        raise ValueError(f"Expected rows of {len(columns)} columns, got an array of shape {cells.shape}")
    named = dict(zip(columns, cells.T, strict=True))
    body = _frame_body(named) if has_pyarrow() else None
    return body or _arrays_body(list(columns), cells.tolist())


def has_pyarrow() -> bool:
    """Return whether pyarrow can be imported."""
    try:
        import pyarrow  # noqa: F401 - a slow import that not everyone needs
    except ImportError:
        return False
    return True


def require_pyarrow(what: str) -> None:
    """Raise ImportError if pyarrow, without which this is not sent, cannot be imported."""
    if not has_pyarrow():
        raise ImportError(
            f"{what} is sent as Arrow, which needs the package pyarrow. Install it with: pip install pyarrow",
            name="pyarrow",
        )


def _file_body(path: Path) -> Body:
    def parts() -> Iterator[bytes]:
        with path.open("rb") as file:
            while part := file.read(PART_BYTES):
                yield part

    return Body(_MEDIA_TYPES.get(path.suffix.lower(), ANY), parts, path.stat().st_size)


def _bytes_body(content_type: str, content: bytes) -> Body:
    return Body(content_type, lambda: iter([content] if content else []), len(content))


def _json_body(data: Any) -> Body:
    return _bytes_body(JSON, json.dumps(data, allow_nan=False).encode())


def _arrays_body(columns: list[str], rows: Any) -> Body:
    return _json_body({"columns": columns, "data": [[_cell(cell) for cell in row] for row in rows]})


def _csv_body(frame: Any) -> Body:
    """Return a pandas frame as CSV, with options by which the server reads what the frame contains."""
    _check_names(list(frame.columns))
    text = [str(name) for name in frame.columns if frame[name].dtype.kind not in "biuf"]
    if any("," in name for name in text):
        raise TypeError("Install pyarrow to send a frame whose columns have commas in their names.")
    options = {"types": [f"{name}:category" for name in text], "null_values": [NO_WORD]}
    content = frame.to_csv(index=False).encode()
    return Body(CSV, lambda: iter([content]), len(content), options)


def _is_pandas(frame: Any) -> bool:
    return type(frame).__module__.partition(".")[0] == "pandas" and hasattr(frame, "iloc")


def _is_column(cells: Any) -> bool:
    return hasattr(cells, "__len__") and not isinstance(cells, str | bytes)


def _cell(cell: Any) -> Any:
    """Return a cell as JSON data; a missing value is null. Raise ValueError if it is infinite."""
    cell = plain(cell)
    if is_missing(cell):
        return None
    if isinstance(cell, float) and math.isinf(cell):
        raise ValueError("rows: a cell is infinite; use a finite number, or None if the value is missing")
    return cell


def _frame_body(frame: Any) -> Body | None:
    """Return a frame as a stream of Arrow batches.

    None means that this is not a frame, or a pandas frame that is sent in another form without pyarrow.
    """
    module = type(frame).__module__.partition(".")[0]
    if module == "polars" and hasattr(frame, "collect"):
        frame = frame.collect()
    if has_pyarrow():
        table = _arrow_table(frame)
        return None if table is None else Body(ARROW, lambda: _batches(table))
    if module == "polars" and hasattr(frame, "write_ipc_stream"):
        sink = io.BytesIO()
        frame.write_ipc_stream(sink)
        return _bytes_body(ARROW, sink.getvalue())
    if not _is_pandas(frame) and (isinstance(frame, Mapping) or hasattr(frame, "__arrow_c_stream__")):
        require_pyarrow("A mapping of columns" if isinstance(frame, Mapping) else f"A {type(frame).__name__}")
    return None


def _arrow_table(frame: Any) -> Any:
    """Return a frame or a mapping of columns as an Arrow table; None for everything else."""
    import pyarrow as pa

    try:
        if _is_pandas(frame):
            _check_names(list(frame.columns))
            return pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
        if isinstance(frame, pa.RecordBatch):
            return pa.Table.from_batches([frame])
        if isinstance(frame, pa.Table) or hasattr(frame, "__arrow_c_stream__"):
            return pa.table(frame)
        if isinstance(frame, Mapping):
            return pa.table({str(name): pa.array(cells, from_pandas=True) for name, cells in frame.items()})
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise TypeError(f"A column cannot be converted to Arrow; give it one type. {error}") from None
    return None


def _check_names(names: list[Any]) -> None:
    if not all(isinstance(name, str) for name in names):
        raise TypeError("The columns of the frame must have text as names: frame.columns.astype(str)")


def _batches(table: Any) -> Iterator[bytes]:
    """Yield an Arrow stream piece by piece, so that there is never a second copy of the table."""
    import pyarrow as pa

    sink = _Sink()
    with pa.ipc.new_stream(pa.PythonFile(sink, mode="w"), table.schema) as writer:
        for batch in table.to_batches(max_chunksize=BATCH_ROWS):
            writer.write_batch(batch)
            yield sink.take()
    yield sink.take()


class _Sink(io.RawIOBase):
    """A file that keeps what is written until it is taken."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        taken = b"".join(self._parts)
        self._parts.clear()
        return taken
