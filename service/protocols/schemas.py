"""Schemas of the Open Inference Protocol and of MLflow's scoring server."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from service.predict.schemas import Cell, Label
from worker.domain.base import FrozenModel

Datatype = Literal[
    "BOOL",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "UINT8",
    "UINT16",
    "UINT32",
    "UINT64",
    "FP16",
    "FP32",
    "FP64",
    "BYTES",
]
OutputName = Literal["predict", "predict_proba", "leaf_ids"]
Parameters = dict[str, Any]


class RequestTensor(FrozenModel):
    """An input: a column of the model, or a matrix with all its columns."""

    name: Annotated[str, Field(description="The name of the column. A matrix may have any name.")]
    shape: Annotated[
        list[Annotated[int, Field(ge=0)]],
        Field(
            min_length=1, max_length=2, description="`[rows]` or `[rows, 1]`; `[rows, columns]` of a matrix."
        ),
    ]
    datatype: Annotated[
        Datatype,
        Field(
            description="The datatype of the cells. Text is `BYTES` and is read like a cell of a CSV. "
            "Numbers of the type `FP32` or `FP16` are rounded to it."
        ),
    ]
    data: Annotated[
        list[Any] | None,
        Field(description="The cells row by row, or an array for each row. null is a missing value."),
    ] = None
    parameters: Annotated[
        Parameters | None,
        Field(
            description="`binary_data_size`: the cells are this number of bytes after the JSON. "
            "`content_type`: `np`, `pd` or `str`; that of BYTES may also be `json`, `pd_json` or `base64`."
        ),
    ] = None


class RequestedOutput(FrozenModel):
    """An output that the response is to have."""

    name: OutputName
    parameters: Annotated[
        Parameters | None, Field(description="`binary_data`: whether its cells come as bytes after the JSON.")
    ] = None


class InferenceRequest(FrozenModel):
    """The rows to predict as tensors: one for each column, or one matrix."""

    id: Annotated[str | None, Field(description="The response repeats it.")] = None
    inputs: Annotated[list[RequestTensor], Field(min_length=1)]
    outputs: Annotated[
        list[RequestedOutput] | None, Field(description="The outputs of the response. By default all.")
    ] = None
    parameters: Annotated[
        Parameters | None,
        Field(description="`binary_data_output`: whether outputs come as bytes after the JSON."),
    ] = None


class ResponseTensor(BaseModel):
    """An output: the labels, the probabilities of all classes, or the leaves."""

    name: OutputName
    datatype: Datatype
    shape: list[int]
    parameters: Annotated[
        Parameters, Field(description="The content type; `binary_data_size` if the cells follow the JSON.")
    ]
    data: Annotated[list[Label], Field(description="The cells row by row; absent if they follow the JSON.")]


class InferenceResponse(BaseModel):
    """The predictions as tensors."""

    model_name: Annotated[str, Field(description="The name in the address: an id or an alias.")]
    model_version: Annotated[str, Field(description="The id of the model.")]
    id: Annotated[str | None, Field(description="The id of the request, if it has one.")] = None
    outputs: list[ResponseTensor]


class MetadataTensor(BaseModel):
    """An input or an output of a model."""

    name: str
    datatype: Datatype
    shape: Annotated[list[int], Field(description="-1 is the number of rows.")]
    parameters: Annotated[
        Parameters,
        Field(
            description="`content_type`, and for inputs `required`: whether the tree uses the column. Other "
            "columns can be left out. For `predict_proba` the `classes` in the order of their probabilities."
        ),
    ]


class ModelMetadata(BaseModel):
    """The inputs and outputs of a model."""

    name: str
    versions: Annotated[list[str], Field(description="The id of the model, to which an alias refers now.")]
    platform: Literal["literati"] = "literati"
    inputs: Annotated[list[MetadataTensor], Field(description="The columns, in the order of a matrix.")]
    outputs: list[MetadataTensor]


class ModelReady(BaseModel):
    name: str
    ready: Literal[True] = True


class ServerMetadata(BaseModel):
    name: Literal["literati"] = "literati"
    version: str
    extensions: list[str]


class ServerLive(BaseModel):
    live: Literal[True] = True


class ServerReady(ServerLive):
    ready: Literal[True] = True


class DataframeSplit(FrozenModel):
    """The form of `DataFrame.to_dict(orient="split")`."""

    columns: Annotated[
        list[str] | None, Field(description="By default all columns of the model in their order.")
    ] = None
    index: Annotated[Any, Field(description="Ignored.")] = None
    data: Annotated[list[list[Cell]], Field(min_length=1)]


class MlflowParams(FrozenModel):
    """The parameters of MLflow's models that `ShapeTree.to_mlflow` writes."""

    method: Literal["predict", "predict_proba", "apply"] = "predict"


class MlflowRequest(FrozenModel):
    """The rows to predict, in exactly one of the fields but `params`."""

    dataframe_split: DataframeSplit | None = None
    dataframe_records: list[dict[str, Cell]] | None = None
    instances: Annotated[
        list[dict[str, Cell] | list[Cell]] | None,
        Field(description="Objects, or arrays with all columns of the model in their order."),
    ] = None
    inputs: Annotated[
        list[dict[str, Cell] | list[Cell]] | dict[str, Cell | list[Cell]] | None,
        Field(description="As `instances`, or an object with the cells of each column."),
    ] = None
    params: MlflowParams | None = None


class MlflowPredictions(BaseModel):
    """The predictions, in the order of the rows."""

    predictions: Annotated[
        list[Label] | list[list[float]],
        Field(
            description="The labels. With the method `predict_proba` the probabilities of all classes in the "
            "order of the model's metadata, and with `apply` the leaves."
        ),
    ]
