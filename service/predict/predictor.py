"""A model that is ready to predict: decode rows, find their leaves, encode the predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from literati import ShapeTree
from literati.data.schema import EncodedRows
from service.predict.decode.arrow_rows import read_arrow, read_parquet
from service.predict.decode.csv_rows import read_csv
from service.predict.decode.csv_table import CsvOptions
from service.predict.decode.json_rows import read_json
from service.predict.decode.mlflow_rows import LABELS, read_mlflow
from service.predict.decode.number_rows import read_numbers
from service.predict.decode.tensor_rows import null_words_of, read_inference
from service.predict.decode.tensor_templates import MAX_BODY_BYTES, MAX_TEMPLATES, TemplateCache
from service.predict.encode import PredictionEncoder
from service.predict.explanations import Explainer
from service.predict.layout import Batch, Layout
from service.predict.row_errors import row_error
from service.predict.row_warnings import RowWarning, find_warnings
from service.predict.scoring import ScoreColumns, ScoredLayout, count_outcomes
from service.predict.tensor_encode import TensorEncoder
from worker.domain.datasets import CsvStyle

Format = Literal["json", "csv", "arrow", "inference", "mlflow"]  # of responses
# Of bodies. inference: the Open Inference Protocol; mlflow: MLflow's JSON; any: the first bytes decide.
BodyFormat = Literal["json", "csv", "arrow", "parquet", "inference", "mlflow", "any"]
MAX_EXPLAINED_ROWS = 1_000
_DECODERS: dict[BodyFormat, Callable[[bytes, Layout, int], Batch]] = {
    "json": read_json,
    "arrow": read_arrow,
    "parquet": read_parquet,
    "mlflow": read_mlflow,
}


@dataclass(frozen=True, slots=True)
class PredictOptions:
    """The formats and options of a request to predict or to score."""

    body_format: BodyFormat = "json"
    response_format: Format = "json"
    csv: CsvOptions = field(default_factory=CsvOptions)
    explain: bool = False
    score: ScoreColumns | None = None  # compare the predictions with the true classes
    model_name: str = ""  # inference: as the request names the model
    head_bytes: int | None = None  # inference: the size of the JSON if bytes of tensors follow it

    @property
    def only_predicts(self) -> bool:
        """Whether the response has no explanations or scores, which take longer than predictions."""
        return not self.explain and self.score is None


@dataclass(frozen=True, slots=True)
class EncodedPredictions:
    """The body of a response, and its warnings."""

    content: bytes
    warnings: list[RowWarning]
    head_bytes: int | None = None  # inference: the size of the JSON if bytes of tensors follow it


class Predictor:
    """Predicts with one tree. Only its caches change, so threads can share it."""

    def __init__(
        self,
        tree: ShapeTree,
        source: Mapping[str, Any],
        csv_style: CsvStyle | None = None,
        target: str | None = None,
    ) -> None:
        self.tree = tree
        self.source = source  # the fields of a response that name the model
        self.csv_style = csv_style or CsvStyle()  # of the training data
        self.target = target  # the target of the training data; None if it is not known
        self.layout = Layout(
            tree.schema, frozenset(node.split.column for node in tree.nodes if node.split is not None)
        )
        self.encoder = PredictionEncoder(tree)
        self.explainer = Explainer(tree)
        self.templates = TemplateCache()

    @cached_property
    def null_words(self) -> frozenset[str]:
        return null_words_of(self.csv_style)

    @cached_property
    def tensors(self) -> TensorEncoder:
        """Return the encoder for other protocols, which many models never need."""
        return TensorEncoder(self.encoder)

    @property
    def has_tensors(self) -> bool:
        """Return whether the encoder for other protocols is made already."""
        return "tensors" in vars(self)

    @property
    def nbytes(self) -> int:
        """Return the approximate memory use."""
        categories = sum(len(column.categories) for column in self.tree.schema.columns)
        nodes = len(self.tree.nodes) * (2_000 + 32 * len(self.encoder.classes))
        texts = 2 * self.encoder.nbytes  # of our own responses and of those of other protocols
        texts += MAX_TEMPLATES * MAX_BODY_BYTES
        return 10_000 + nodes + 1_000 * self.layout.width + 300 * categories + texts

    def predict(self, body: bytes, options: PredictOptions, max_rows: int) -> EncodedPredictions:
        """Predict the rows of a body; raise RowsError if they do not fit the model.

        To score, count the predictions by true class instead.
        """
        if options.score is None:
            return self._predict_batch(self.decode(body, options, max_rows), options)
        scored = ScoredLayout(self.tree, self.layout, options.score)
        batch = self.decode(body, options, max_rows, scored.layout)
        outcomes, warnings = count_outcomes(self.tree, scored, batch)
        return EncodedPredictions(outcomes.to_json(), warnings)

    def predict_numbers(
        self, body: bytes, options: PredictOptions, max_rows: int
    ) -> EncodedPredictions | None:
        """Predict JSON that contains only numbers, which is fast. Return None for any other body."""
        if options.body_format != "json" or not options.only_predicts:
            return None
        batch = read_numbers(body, self.layout, max_rows)
        return None if batch is None else self._predict_batch(batch, options)

    def decode(
        self, body: bytes, options: PredictOptions, max_rows: int, layout: Layout | None = None
    ) -> Batch:
        """Decode rows with the columns of the model, or of another layout."""
        layout = layout or self.layout
        if options.body_format == "csv":
            return read_csv(body, layout, max_rows, options.csv, self.csv_style)
        if options.body_format == "inference":
            return read_inference(
                *(body, layout, max_rows, options.head_bytes),
                *(self.csv_style, self.null_words, self.templates),
            )
        return _DECODERS[options.body_format](body, layout, max_rows)

    def _predict_batch(self, batch: Batch, options: PredictOptions) -> EncodedPredictions:
        warnings = find_warnings(batch)
        leaves = self.tree.apply(EncodedRows(batch.matrix, {}, ()))
        head_bytes = None
        if options.response_format == "csv":
            content = self.encoder.to_csv(leaves)
        elif options.response_format == "arrow":
            content = self.encoder.to_arrow(leaves, warnings, self.source)
        elif options.response_format == "inference":
            assert batch.wanted is not None
            content, head_bytes = self.tensors.to_tensors(
                leaves, batch.wanted, options.model_name, self.source["model_id"]
            )
        elif options.response_format == "mlflow":
            content = self.tensors.to_mlflow(leaves, batch.wanted or LABELS)
        else:
            explanations = self._explain(batch) if options.explain else None
            content = self.encoder.to_json(leaves, warnings, self.source, explanations)
        return EncodedPredictions(content, warnings, head_bytes)

    def _explain(self, batch: Batch) -> list[dict[str, Any]]:
        if len(batch.matrix) > MAX_EXPLAINED_ROWS:
            message = f"At most {MAX_EXPLAINED_ROWS:,} rows can be explained in one request."
            raise row_error("/query/explain", "TOO_MANY_ROWS", message)
        return [self.explainer.explain(batch, row) for row in range(len(batch.matrix))]
