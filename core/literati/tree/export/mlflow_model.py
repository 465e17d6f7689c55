"""Write a tree as a folder that MLflow loads, without MLflow and without pickles."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

from literati._version import __version__
from literati.data.labels import plain
from literati.data.schema import Column
from literati.tree.export.code import cell_kind, used_columns
from literati.tree.export.conditions import MAX_EXACT, ExportError
from literati.tree.export.provenance import provenance

if TYPE_CHECKING:
    from literati.tree.model import ShapeTree

MODEL = "model.json"
TYPES = {bool: "boolean", int: "long", float: "double", str: "string"}
REQUIREMENTS = ("mlflow", f"literati-trees=={__version__}")


def mlflow_files(tree: ShapeTree, model_id: str | None = None) -> dict[str, str]:
    """Return the files of the folder by name.

    MLmodel and the environment are YAML, of which JSON is a part.
    """
    python = platform.python_version()
    requirements = "".join(f"{name}\n" for name in REQUIREMENTS)
    inputs = [_input(column) for column in used_columns(tree).values()]
    description = {
        "flavors": {
            "python_function": {
                "loader_module": "literati.mlflow",
                "data": MODEL,
                "env": {"virtualenv": "python_env.yaml"},
                "python_version": python,
            }
        },
        "signature": {
            "inputs": json.dumps(inputs) if inputs else None,  # MLflow allows no empty list
            "params": json.dumps([{"name": "method", "type": "string", "default": "predict", "shape": None}]),
            "outputs": json.dumps([{"type": _label_type(tree), "name": "prediction", "required": True}]),
        },
        "metadata": provenance(tree, model_id),
    }
    environment = {"python": python, "dependencies": ["-r requirements.txt"]}
    return {
        "MLmodel": json.dumps(description, indent=2) + "\n",
        "python_env.yaml": json.dumps(environment, indent=2) + "\n",
        "requirements.txt": requirements,
        MODEL: tree.to_json() + "\n",
    }


def to_mlflow(tree: ShapeTree, folder: str | Path, model_id: str | None = None) -> None:
    """Write the folder, which must not exist or be empty."""
    path = Path(folder)
    files = mlflow_files(tree, model_id)
    path.mkdir(parents=True, exist_ok=True)
    if any(path.iterdir()):
        raise FileExistsError(f"folder: {path} is not empty; choose another one")
    for name, text in files.items():
        (path / name).write_text(text, encoding="utf-8")


def _input(column: Column) -> dict[str, Any]:
    return {"type": _column_type(column), "name": column.name, "required": True}


def _column_type(column: Column) -> str:
    if column.kind == "boolean":
        return "boolean"
    if cell_kind(column) == "text":
        return "string"
    for category in map(plain, column.categories):
        if isinstance(category, str):
            raise ExportError(
                f"A column of MLflow has one type, but the categories of {column.name!r} are texts and "
                "others; export to Python instead"
            )
        if isinstance(category, int) and abs(category) > MAX_EXACT:
            raise ExportError(
                f"MLflow has doubles where cells may be missing, so it cannot express the category "
                f"{category} of {column.name!r} exactly; export to Python instead"
            )
    return "double"


def _label_type(tree: ShapeTree) -> str:
    kinds = {type(plain(label)) for label in tree.classes}
    if len(kinds) != 1 or not kinds <= TYPES.keys():
        raise ExportError(
            "A column of MLflow has one type, but the classes have several; export to Python instead"
        )
    return TYPES[kinds.pop()]
