"""Predict with MLServer's own types and codecs; run by its Python, with a request on standard input.

    python mlserver_client.py URL CODEC < columns.json > outputs.json

The columns are lists by name. What the response contains is decoded with MLServer's codecs as well.
"""

from __future__ import annotations

import json
import sys
import urllib.request
from typing import Any

import numpy as np
import pandas as pd
from mlserver.codecs import NumpyCodec, NumpyRequestCodec, PandasCodec, StringCodec
from mlserver.codecs.json import encode_to_json_bytes
from mlserver.types import InferenceRequest, InferenceResponse, MetadataModelResponse


def request_of(columns: dict[str, list[Any]], codec: str) -> InferenceRequest:
    if codec == "pd":
        # MLServer's codec has no datatype for pandas' own type of text, and fails for a missing text.
        frame = pd.DataFrame(
            {name: pd.Series(cells, dtype=dtype_of(cells)) for name, cells in columns.items()}
        )
        return PandasCodec.encode_request(frame)
    if codec == "np":
        return NumpyRequestCodec.encode_request(np.array(list(columns.values()), dtype=float).T)
    inputs = [
        StringCodec.encode_input(name, cells)
        if isinstance(cells[0], str)
        else NumpyCodec.encode_input(name, np.array(cells))
        for name, cells in columns.items()
    ]
    return InferenceRequest(inputs=inputs)


def dtype_of(cells: list[Any]) -> str | None:
    return "object" if any(isinstance(cell, str) for cell in cells) else None


def main(url: str, codec: str) -> None:
    request = request_of(json.load(sys.stdin), codec)
    body = encode_to_json_bytes(request.model_dump())
    headers = {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(f"{url}/infer", body, headers)) as answer:
        response = InferenceResponse.model_validate_json(answer.read())
    with urllib.request.urlopen(url) as answer:
        metadata = MetadataModelResponse.model_validate_json(answer.read())
    outputs = {}
    for output in response.outputs:
        is_text = output.parameters.content_type == StringCodec.ContentType
        cells = (StringCodec if is_text else NumpyCodec).decode_output(output)
        outputs[output.name] = cells if is_text else cells.tolist()
    json.dump({"outputs": outputs, "inputs": [entry.name for entry in metadata.inputs]}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
