"""Load a tree for MLflow, which calls `_load_pyfunc` with the path of the model's JSON file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from literati.tree.export.code import used_columns
from literati.tree.model import ShapeTree

METHODS = ("predict", "predict_proba", "apply")


class PythonModel:
    """A tree as MLflow's Python function."""

    def __init__(self, tree: ShapeTree) -> None:
        self.tree = tree
        self.used_columns = [column.name for column in used_columns(tree).values()]

    def predict(self, data: Any, params: dict[str, Any] | None = None) -> Any:
        """Predict rows. The parameter `method` may be `predict`, `predict_proba` or `apply`.

        MLflow passes a pandas frame with the columns that the tree uses. If there are none, MLflow does not
        check the frame, which then may have any columns.
        """
        method = (params or {}).get("method", "predict")
        if method not in METHODS:
            raise ValueError(f"method: expected one of {', '.join(METHODS)}, got {method!r}")
        used = data.reindex(columns=self.used_columns)
        return getattr(self.tree, method)(used.reindex(columns=list(self.tree.feature_names)))


def _load_pyfunc(path: str) -> PythonModel:
    return PythonModel(ShapeTree.from_json(Path(path).read_text(encoding="utf-8")))
