"""A model ready to answer: its columns, its tree and its answers, prepared once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from literati import ShapeTree
from literati.table import EncodedRows
from worker.messages import CsvStyle

from .answers import Answers, Leaves
from .arrow_rows import read_arrow, read_parquet
from .batch import Batch
from .csv_rows import CsvOptions, read_csv
from .faults import refused
from .json_rows import read_json
from .layout import Layout
from .notices import Notice, notices
from .number_rows import read_numbers
from .paths import Paths

Format = Literal["json", "csv", "arrow"]  # of answers
BodyFormat = Literal["json", "csv", "arrow", "parquet", "any"]  # any: its first bytes decide
MOST_EXPLAINED = 1_000  # rows
_READERS: dict[BodyFormat, Callable[[bytes, Layout, int], Batch]] = {
    "json": read_json,
    "arrow": read_arrow,
    "parquet": read_parquet,
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked of a model besides the rows."""

    body_format: BodyFormat = "json"
    answer_format: Format = "json"
    csv: CsvOptions = field(default_factory=CsvOptions)
    explain: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    content: bytes
    notices: list[Notice]


class Predictor:
    """Immutable, like the model; threads may share it."""

    def __init__(self, tree: ShapeTree, source: Mapping[str, Any], csv_style: CsvStyle | None = None) -> None:
        self.tree = tree
        self.source = source  # what the answer says of where it comes from
        self.csv_style = csv_style or CsvStyle()  # of the training data
        self.layout = Layout(
            tree.schema, frozenset(node.split.column for node in tree.nodes if node.split is not None)
        )
        self.answers = Answers(tree)
        self.paths = Paths(tree)

    @property
    def nbytes(self) -> int:
        """About what it holds in memory."""
        categories = sum(len(column.categories) for column in self.tree.schema.columns)
        nodes = len(self.tree.nodes) * (2_000 + 32 * len(self.answers.classes))
        return 10_000 + nodes + 1_000 * self.layout.width + 300 * categories + self.answers.nbytes

    def answer(self, body: bytes, wanted: Wanted, max_rows: int) -> Answer:
        """Read, predict, write. RowsError if the rows are not rows of this model."""
        return self._answer(self.read(body, wanted, max_rows), wanted)

    def quick_answer(self, body: bytes, wanted: Wanted, max_rows: int) -> Answer | None:
        """Of JSON that is nothing but numbers, which never takes long; None if it is anything else."""
        if wanted.body_format != "json" or wanted.explain:
            return None
        batch = read_numbers(body, self.layout, max_rows)
        return None if batch is None else self._answer(batch, wanted)

    def _answer(self, batch: Batch, wanted: Wanted) -> Answer:
        found = notices(batch)
        leaves = self.leaves(batch)
        if wanted.answer_format == "csv":
            return Answer(self.answers.csv(leaves), found)
        if wanted.answer_format == "arrow":
            return Answer(self.answers.arrow(leaves, found, self.source), found)
        explanations = self._explanations(batch) if wanted.explain else None
        return Answer(self.answers.json(leaves, found, self.source, explanations), found)

    def read(self, body: bytes, wanted: Wanted, max_rows: int) -> Batch:
        if wanted.body_format == "csv":
            return read_csv(body, self.layout, max_rows, wanted.csv, self.csv_style)
        return _READERS[wanted.body_format](body, self.layout, max_rows)

    def leaves(self, batch: Batch) -> Leaves:
        return self.tree.apply(EncodedRows(batch.matrix, {}, ()))

    def _explanations(self, batch: Batch) -> list[dict[str, Any]]:
        if len(batch.matrix) > MOST_EXPLAINED:
            message = f"At most {MOST_EXPLAINED:,} rows are explained at once."
            raise refused("/query/explain", "TOO_MANY_ROWS", message)
        return [self.paths.explain(batch, row) for row in range(len(batch.matrix))]
