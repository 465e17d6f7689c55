"""Models with many nodes, made over HTTP in a few seconds: their trees fit noise."""

from __future__ import annotations

import random
from typing import Any

from tests.support.page.page_data import Service


def noise(rows: int, classes: int, seed: int = 3) -> str:
    rng = random.Random(seed)
    lines = ["a,b,c,d,kind"]
    for _ in range(rows):
        numbers = [f"{rng.random():.4f}" for _ in range(4)]
        lines.append(",".join([*numbers, f"class {rng.randrange(classes)}"]))
    return "\n".join(lines) + "\n"


_made: dict[tuple[str, int, int, int], str] = {}


def noise_model(service: Service, rows: int, depth: int, classes: int) -> str:
    """Return the id of a model, which is made once for each server."""
    key = (str(service.client.base_url), rows, depth, classes)
    if key not in _made:
        dataset = service.upload(noise(rows, classes))
        job = service.job("noise", dataset, parameters={"max_depth": depth}, limits={"time_limit": 1})
        _made[key] = str(service.wait(job)["model_id"])
    return _made[key]


def folded_model(service: Service) -> str:
    """Return a model that is too large to be drawn completely: about 64 leaves."""
    return noise_model(service, 1200, 6, 3)


def icicle_model(service: Service) -> str:
    """Return a model of more than a thousand nodes and 24 classes."""
    return noise_model(service, 4000, 11, 24)


def below(tree: dict[str, Any], index: int) -> list[int]:
    """Return the leaves below a node."""
    split = tree["nodes"][index]["split"]
    if split is None:
        return [index]
    return below(tree, split["left"]) + below(tree, split["right"])


def depths(tree: dict[str, Any]) -> list[int]:
    found = [0] * len(tree["nodes"])
    for i, node in enumerate(tree["nodes"]):
        if node["split"]:
            found[node["split"]["left"]] = found[node["split"]["right"]] = found[i] + 1
    return found
