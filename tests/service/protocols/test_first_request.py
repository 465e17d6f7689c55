"""What the first request to a model prepares does not keep other requests waiting."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import httpx
import pytest

from service.app import create_app
from service.predict import predictor
from service.predict.encode import PredictionEncoder
from service.predict.tensor_encode import TensorEncoder
from service.settings import Settings
from tests.support.http.inference_bodies import as_json, columns
from tests.support.http.predict_bodies import GOOD
from tests.support.records.model_maker import add_model, mixed_tree
from tests.support.stack.stack import Stack


@pytest.mark.parametrize("path", ["/v2/models/{}/infer", "/v2/models/{}", "/mlflow/{}/invocations"])
def test_the_encoder_is_made_once_in_a_thread(
    api: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """It takes a second for a tree of 8,191 nodes and 1,024 classes."""
    threads: list[threading.Thread] = []

    class RecordedEncoder(TensorEncoder):
        def __init__(self, encoder: PredictionEncoder) -> None:
            threads.append(threading.current_thread())
            super().__init__(encoder)

    monkeypatch.setattr(predictor, "TensorEncoder", RecordedEncoder)
    address = path.format(add_model(api, mixed_tree()))
    app = create_app(Settings.model_validate({"REDIS_URL": api.server.url, "state_dir": tmp_path}))

    async def ask(client: httpx.AsyncClient) -> int:
        if path.endswith("infer"):
            return (await client.post(address, content=as_json(columns([GOOD]))[0])).status_code
        if path.endswith("invocations"):
            return (await client.post(address, json={"instances": [GOOD]})).status_code
        return (await client.get(address)).status_code

    async def run() -> list[int]:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            found = await asyncio.gather(*(ask(client) for _ in range(5)))
        await app.state.services.predictors.close()
        return found

    assert asyncio.run(run()) == [200] * 5
    assert len(threads) == 1
    assert threads[0] is not threading.current_thread()
    app.state.services.store.client.close()
