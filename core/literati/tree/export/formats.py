"""The formats of exported trees, by name."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from literati.tree.export.c_code import to_c
from literati.tree.export.java import to_java
from literati.tree.export.javascript import to_javascript
from literati.tree.export.mlflow_model import mlflow_files
from literati.tree.export.onnx_model import to_onnx
from literati.tree.export.pmml import to_pmml
from literati.tree.export.python_code import to_python
from literati.tree.export.sql import to_sql

if TYPE_CHECKING:
    from literati.tree.model import ShapeTree

FormatName = Literal[
    "sql-ansi",
    "sql-postgresql",
    "sql-duckdb",
    "sql-sqlite",
    "python",
    "javascript",
    "c",
    "java",
    "onnx",
    "pmml",
    "mlflow",
]
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the time in an archive, so that the same tree gives the same bytes


@dataclass(frozen=True)
class Format:
    """A format with the name of its file and its media type."""

    file_name: str
    media_type: str
    write: Callable[[ShapeTree, str | None], str | bytes]  # the tree and the id of its model

    def content(self, tree: ShapeTree, model_id: str | None = None) -> bytes:
        """Return the content of the file. Raise ExportError if the format cannot express the tree exactly."""
        written = self.write(tree, model_id)
        return written.encode() if isinstance(written, str) else written


def _sql(dialect: str) -> Format:
    def write(tree: ShapeTree, model_id: str | None) -> str:
        return to_sql(tree, dialect, model_id=model_id)

    return Format(f"tree-{dialect}.sql", "application/sql", write)


def _mlflow_archive(tree: ShapeTree, model_id: str | None) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as out:
        for name, text in mlflow_files(tree, model_id).items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.external_attr = 0o644 << 16  # the mode of the file
            out.writestr(entry, text, zipfile.ZIP_DEFLATED)
    return archive.getvalue()


FORMATS: dict[FormatName, Format] = {
    "sql-ansi": _sql("ansi"),
    "sql-postgresql": _sql("postgresql"),
    "sql-duckdb": _sql("duckdb"),
    "sql-sqlite": _sql("sqlite"),
    "python": Format("tree.py", "text/x-python", to_python),
    "javascript": Format("tree.mjs", "text/javascript", to_javascript),
    "c": Format("tree.c", "text/x-c", to_c),
    "java": Format("Literati.java", "text/x-java-source", to_java),
    "onnx": Format("tree.onnx", "application/octet-stream", to_onnx),
    "pmml": Format("tree.pmml", "application/xml", to_pmml),
    "mlflow": Format("mlflow.zip", "application/zip", _mlflow_archive),
}
