"""ShapeTree, the result of a search: predictions, explanations, JSON, text and SVG."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from literati._version import __version__
from literati.data import labels
from literati.data.columns import Floats, shown_names
from literati.data.schema import EncodedRows, Schema
from literati.data.table import Poll, TrainingTable
from literati.data.weights import checked_weights
from literati.errors import DataWarning
from literati.tree import explain as explanations
from literati.tree import importances, model_json
from literati.tree.export import c_code, java, javascript, mlflow_model, onnx_model, pmml, python_code, sql
from literati.tree.export import text as export
from literati.tree.nodes import Node, Proof, Settings, depths
from literati.tree.plot import svg as plot
from literati.tree.routing import FlatTree, flatten, leaves_by_numpy
from literati.tree.tree_builder import build_nodes

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


@dataclass(frozen=True, eq=False)
class ShapeTree:
    """An immutable shape-generalized decision tree with what is proven about it.

    Node 0 is the root and the nodes are in preorder. Thresholds compare as `x > threshold`.
    """

    schema: Schema
    classes: npt.NDArray[Any]
    nodes: tuple[Node, ...]
    settings: Settings
    proof: Proof
    engine_version: str = __version__
    _flat: FlatTree = field(init=False, repr=False)

    def __post_init__(self) -> None:
        classes = self.classes.copy()
        classes.setflags(write=False)
        object.__setattr__(self, "classes", classes)
        object.__setattr__(self, "_flat", flatten(self.nodes, self.schema))

    @classmethod
    def from_nodes(
        cls,
        nodes: npt.NDArray[Any],
        table: TrainingTable,
        *,
        settings: Settings,
        upper_bound: float,
        lower_bound: float,
        proven_optimal: bool,
        proven_space: str,
        candidate_leaves: tuple[int, ...] = (),
        poll: Poll | None = None,
    ) -> ShapeTree:
        """Build the tree of the engine's nodes. Counts and costs are computed from the training rows.

        `poll` is called at every node.
        """
        parts = build_nodes(nodes, table, settings, poll)
        proof = Proof(parts[0].cost, upper_bound, lower_bound, proven_optimal, proven_space, candidate_leaves)
        return cls(table.schema, table.classes, parts, settings, proof)

    def with_proof(self, upper_bound: float, lower_bound: float, proven_optimal: bool) -> ShapeTree:
        """Return the same tree with other bounds."""
        proof = replace(
            self.proof,
            objective=min(self.proof.objective, upper_bound),
            upper_bound=upper_bound,
            lower_bound=lower_bound,
            proven_optimal=proven_optimal,
        )
        root = replace(self.nodes[0], bound=lower_bound, proven=proven_optimal)
        return replace(self, nodes=(root, *self.nodes[1:]), proof=proof)

    # Properties

    @property
    def objective(self) -> float:
        """Return the misclassified training weight plus the penalties."""
        return self.proof.objective

    @property
    def depth(self) -> int:
        return max(depths(self.nodes))

    @property
    def n_leaves(self) -> int:
        return sum(node.split is None for node in self.nodes)

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.schema.columns)

    @property
    def probabilities(self) -> Floats:
        """Return the probability of each class in each node: its share in the smoothed training weight."""
        weights = np.array([node.counts for node in self.nodes]) + self.settings.probability_smoothing
        probabilities: Floats = weights / weights.sum(axis=1, keepdims=True)
        return probabilities

    @property
    def errors_saved(self) -> Floats:
        """Return the weight of the training errors that the splits on each column save.

        A split saves the errors of its node as a leaf less those of its children as leaves. The sum is the
        error of the root as a leaf less the errors of the tree.
        """
        return importances.errors_saved(self.nodes, len(self.schema.columns))

    @property
    def feature_importances(self) -> Floats:
        """Return the share of each column in `errors_saved`; zeros if no split saves errors."""
        return importances.normalized(self.errors_saved)

    def __repr__(self) -> str:
        return (
            f"ShapeTree(depth={self.depth}, leaves={self.n_leaves}, classes={len(self.classes)}, "
            f"objective={self.objective:g}, proven_optimal={self.proof.proven_optimal})"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShapeTree):
            return NotImplemented
        return self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __reduce__(self) -> tuple[Any, ...]:
        return ShapeTree.from_json, (self.to_json(),)

    # Predictions

    def encode(self, X: Any) -> EncodedRows:
        """Encode rows for `predict`, with the categories and columns that training did not see."""
        return X if isinstance(X, EncodedRows) else self.schema.encode(X)

    def apply(self, X: Any) -> npt.NDArray[np.int32]:
        """Return the leaf of each row, as an index into `nodes`."""
        rows = self.encode(X)
        if rows.ignored and rows is not X:
            message = f"X: columns not seen in training are ignored: {shown_names(rows.ignored)}"
            warnings.warn(message, DataWarning, stacklevel=3)
        return self._flat.leaves(rows.matrix)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class of each row, as a label of the training data."""
        leaves = self.apply(X)
        of_node = np.array([node.label for node in self.nodes], dtype=np.intp)
        return self.classes[of_node[leaves]]

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class for each row: that of its leaf."""
        return self.probabilities[self.apply(X)]

    def decision_path(self, X: Any) -> csr_matrix:
        """Return a sparse 0/1 matrix of the nodes that each row passes."""
        from scipy.sparse import csr_matrix  # it takes a second to import

        leaves = self.apply(X)
        paths: list[list[int]] = [[] for _ in self.nodes]
        for index, node in enumerate(self.nodes):
            paths[index].append(index)
            if node.split is not None:
                paths[node.split.left] = paths[index].copy()
                paths[node.split.right] = paths[index].copy()
        sizes = np.array([len(path) for path in paths])
        lengths, ends = sizes[leaves], np.cumsum(sizes)[leaves]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        steps = np.arange(starts[-1]) + np.repeat(ends - starts[1:], lengths)  # places in the joined paths
        indices = np.concatenate(paths).astype(np.int32)[steps]
        return csr_matrix(
            (np.ones(len(indices), dtype=np.int64), indices, starts), shape=(len(leaves), len(self.nodes))
        )

    def explain(self, row: Any) -> explanations.Explanation:
        """Explain how a row reaches its leaf. It is a mapping by name, a sequence, or a table of one row."""
        return explanations.explain(self, row)

    # Evaluation

    def evaluate(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the objective on these rows, computed without the search and the predict kernel."""
        matrix = self.encode(X).matrix
        codes, found = labels.encode(y)
        if len(codes) != len(matrix):
            raise ValueError(f"X and y must have the same number of rows; got {len(matrix)} and {len(codes)}")
        index = {labels.plain(label): code for code, label in enumerate(self.classes)}
        known = np.array([index.get(labels.plain(label), -1) for label in found])
        weights = checked_weights(sample_weight, len(codes))
        weights = np.ones(len(codes)) if weights is None else weights
        leaves = leaves_by_numpy(self.nodes, self.schema, lambda j, rows: matrix[rows, j], len(matrix))
        return self._cost(leaves, known[codes], weights)

    def evaluate_table(self, table: TrainingTable, poll: Poll | None = None) -> float:
        """Return the objective on encoded training data."""
        leaves = leaves_by_numpy(self.nodes, self.schema, table.column_values, table.n_rows, poll)
        weights = np.ones(table.n_rows) if table.weights is None else table.weights
        return self._cost(leaves, table.y, weights)

    def _cost(self, leaves: npt.NDArray[np.int32], y: npt.NDArray[Any], weights: Floats) -> float:
        predicted = np.array([node.label for node in self.nodes])[leaves]
        splits = [node.split for node in self.nodes if node.split is not None]
        penalties = sum(self.settings.penalty(split.changepoints) for split in splits)
        return float(weights[predicted != y].sum()) + penalties

    # JSON, text and SVG

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as JSON data, from which `from_dict` restores it exactly."""
        return model_json.dump(self)

    @classmethod
    def from_dict(cls, data: Any) -> ShapeTree:
        """Read what `to_dict` wrote. Raise ModelFormatError if anything in it is wrong."""
        return cls(*model_json.load(data))

    def to_json(self) -> str:
        """Return the tree as JSON text."""
        return json.dumps(self.to_dict(), allow_nan=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes) -> ShapeTree:
        """Read what `to_json` wrote, also from an untrusted source. Raise ModelFormatError if it is wrong."""
        return cls.from_dict(model_json.parse(text))

    def to_text(self) -> str:
        """Return the tree as rules in text."""
        return export.to_text(self)

    def to_svg(self, theme: str = "auto") -> str:
        """Draw the tree. The theme is "light", "dark", or "auto" for the preference of the viewer."""
        return plot.to_svg(self, theme)

    # Exports. All but `to_mlflow` return the content of a file.

    def to_sql(self, dialect: str = "ansi", table: str = "rows_to_predict") -> str:
        """Return a query that predicts the rows of a table: "ansi", "postgresql", "duckdb" or "sqlite"."""
        return sql.to_sql(self, dialect, table)

    def to_python(self) -> str:
        """Return a Python module without dependencies."""
        return python_code.to_python(self)

    def to_javascript(self) -> str:
        """Return an ECMAScript module without dependencies."""
        return javascript.to_javascript(self)

    def to_c(self) -> str:
        """Return a C99 file without dependencies."""
        return c_code.to_c(self)

    def to_java(self) -> str:
        """Return a Java class without dependencies."""
        return java.to_java(self)

    def to_onnx(self) -> bytes:
        """Return an ONNX model of standard operators; needs the package onnx."""
        return onnx_model.to_onnx(self)

    def to_pmml(self) -> str:
        """Return a PMML 4.4 document."""
        return pmml.to_pmml(self)

    def to_mlflow(self, folder: str | Path) -> None:
        """Write a folder that `mlflow.pyfunc.load_model` reads."""
        mlflow_model.to_mlflow(self, folder)


ShapeTree.__module__ = "literati"  # the name in pickles, so that this module may move
