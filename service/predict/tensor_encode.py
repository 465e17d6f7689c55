"""Encode predictions as tensors of the Open Inference Protocol, and for MLflow.

The text of each leaf is written once and the texts are joined, as in `service.predict.encode`.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic_core import to_json

from literati._predict._reports import joined_parts
from service.predict.encode import Leaves, PredictionEncoder
from service.predict.outputs import Wanted

_INT64 = np.iinfo(np.int64)
_DTYPES = {"BOOL": "?", "INT64": "<i8", "FP64": "<f8"}


def label_datatype(labels: list[Any]) -> str:
    """Return the datatype of labels or categories. Labels of several types are sent as text."""
    types = set(map(type, labels))
    if types == {bool}:
        return "BOOL"
    if types == {int} and _INT64.min <= min(labels) <= max(labels) <= _INT64.max:
        return "INT64"
    return "FP64" if types == {float} else "BYTES"


def content_type(datatype: str) -> str:
    """Return the name that MLServer has for the form of a datatype's cells."""
    return "str" if datatype == "BYTES" else "np"


class OutputTensor:
    """An output of a model, with the cells of each node in JSON and as bytes."""

    def __init__(
        self,
        name: str,
        datatype: str,
        width: tuple[int, ...],
        texts: list[bytes],
        cells: npt.NDArray[Any] | list[bytes],
    ) -> None:
        self.name = name
        self.datatype = datatype
        self.width = width  # the shape without the rows
        self.texts = texts
        self.cells = cells
        # The parts of its JSON before and after the number of rows.
        self._start = f'{{"name":"{name}","datatype":"{datatype}","shape":['.encode()
        shape = "".join(f",{size}" for size in width)
        self._binary = f'{shape}],"parameters":{{"binary_data_size":'.encode()
        self._array = f'{shape}],"parameters":{{"content_type":"{content_type(datatype)}"}},"data":['.encode()

    def to_json(self, leaves: Leaves) -> bytes:
        """Return the tensor as JSON."""
        cells = joined_parts(self.texts, leaves)
        return b"%b%d%b%b]}" % (self._start, len(leaves), self._array, cells)

    def to_binary(self, leaves: Leaves) -> tuple[bytes, bytes]:
        """Return the tensor as JSON without its cells, and the bytes of its cells."""
        if isinstance(self.cells, list):
            cells = b"".join(map(self.cells.__getitem__, leaves.tolist()))
        else:
            cells = self.cells[leaves].tobytes()
        return b"%b%d%b%d}}" % (self._start, len(leaves), self._binary, len(cells)), cells


class TensorEncoder:
    """Encodes the predictions of one tree."""

    def __init__(self, encoder: PredictionEncoder) -> None:
        self._check_size = encoder.check_size
        shares = encoder.probabilities.astype("<f8", copy=False)
        ids = np.arange(len(shares), dtype="<i4")
        self.tensors = {
            "predict": _label_tensor(encoder),
            "predict_proba": OutputTensor(
                "predict_proba",
                "FP64",
                (shares.shape[1],),
                # Row by row, because a call for all rows would not let other threads run.
                [
                    to_json(row.tolist())[1:-1] if leaf else b""
                    for row, leaf in zip(shares, encoder.is_leaf, strict=True)
                ],
                shares,
            ),
            "leaf_ids": OutputTensor("leaf_ids", "INT32", (), encoder.ids, ids),
        }

    def to_tensors(self, leaves: Leaves, wanted: Wanted, name: str, version: str) -> tuple[bytes, int | None]:
        """Return a response, and the size of its JSON if bytes follow it."""
        self._check_size(leaves)
        described: list[bytes] = []
        binary: list[bytes] = []
        for output in wanted.outputs:
            tensor = self.tensors[output.name]
            if output.binary:
                text, cells = tensor.to_binary(leaves)
                binary.append(cells)
            else:
                text = tensor.to_json(leaves)
            described.append(text)
        head = b'{"model_name":%b,"model_version":%b%b,"outputs":[%b]}' % (
            *(to_json(name), to_json(version)),
            b"" if wanted.id is None else b',"id":' + to_json(wanted.id),
            b",".join(described),
        )
        return b"".join((head, *binary)), len(head) if binary else None

    def to_mlflow(self, leaves: Leaves, wanted: Wanted) -> bytes:
        """Return a response of MLflow's scoring server with one output."""
        self._check_size(leaves)
        (output,) = wanted.outputs
        tensor = self.tensors[output.name]
        if not tensor.width:
            return b'{"predictions":[%b]}' % joined_parts(tensor.texts, leaves)
        return b'{"predictions":[[%b]]}' % b"],[".join(map(tensor.texts.__getitem__, leaves.tolist()))


def _label_tensor(encoder: PredictionEncoder) -> OutputTensor:
    datatype = label_datatype(encoder.classes)
    labels = encoder.texts if datatype == "BYTES" else encoder.classes
    codes = encoder.codes.tolist()
    texts = [to_json(label) for label in labels]
    cells: npt.NDArray[Any] | list[bytes]
    if datatype == "BYTES":
        encoded = [label.encode() for label in encoder.texts]
        by_class = [struct.pack("<I", len(label)) + label for label in encoded]
        cells = [by_class[code] for code in codes]
    else:
        cells = np.array(labels, _DTYPES[datatype])[encoder.codes]
    return OutputTensor("predict", datatype, (), [texts[code] for code in codes], cells)
