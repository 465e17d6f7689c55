"""Unknown and repeated query options are refused."""

from __future__ import annotations

import httpx
import pytest

from service.protocols import inference_routes, metadata_routes, mlflow_routes
from service.routers import ROUTERS
from tests.support.http.service_client import problem

CSV = {"Content-Type": "text/csv"}
TABLE = "x,w,y\n1,1,a\n2,3,b\n3,1,a\n4,2,b\n"


def refused(answer: httpx.Response) -> dict[str, str]:
    (error,) = problem(answer, 422, "invalid-request")["errors"]
    return dict(error)


def test_a_misspelt_option(client: httpx.Client) -> None:
    error = refused(client.post("/v1/datasets?target=y&weigth=w", content=TABLE, headers=CSV))
    assert (error["pointer"], error["code"]) == ("/query/weigth", "UNKNOWN_OPTION")
    assert "Did you mean `weight`?" in error["message"]
    assert "`null_values`" in error["message"]


def test_a_repeated_option(client: httpx.Client) -> None:
    error = refused(client.post("/v1/datasets?target=y&target=x", content=TABLE, headers=CSV))
    assert (error["pointer"], error["code"]) == ("/query/target", "REPEATED")


def test_an_option_with_several_values(client: httpx.Client) -> None:
    assert client.get("/v1/jobs?state=QUEUED&state=RUNNING").status_code == 200
    answer = client.post(
        "/v1/datasets?target=y&types=x:category&types=w:category", content=TABLE, headers=CSV
    )
    assert answer.status_code == 201


@pytest.mark.parametrize("name", ["sate", "STATE", "", "ẞ" * 200, "a/b"])
def test_unknown_names(client: httpx.Client, name: str) -> None:
    assert refused(client.get("/v1/jobs", params={name: "RUNNING"}))["code"] == "UNKNOWN_OPTION"


def test_every_route_with_options_is_checked(client: httpx.Client) -> None:
    """The check precedes the lookup of records, none of which exists here."""
    records = {"job_id": "job_0", "sweep_id": "swp_0", "dataset_id": "ds_0", "model": "mdl_0"}
    nothing = {**records, "setting": "0", "fold": "0", "node": "0"}
    looked = 0
    for route in (route for router in ROUTERS[:-2] for route in router.routes):
        dependants = [route.dependant, *route.dependant.dependencies]  # type: ignore[attr-defined]
        if any(dependant.query_params for dependant in dependants):
            (method,) = route.methods  # type: ignore[attr-defined]
            path = route.path.format(**nothing)  # type: ignore[attr-defined]
            assert refused(client.request(method, f"{path}?nope=1"))["pointer"] == "/query/nope"
            looked += 1
    assert looked == 23


def test_routes_of_other_protocols_refuse_every_option(client: httpx.Client) -> None:
    for module in (inference_routes, metadata_routes, mlflow_routes):
        for route in module.router.routes:
            (method,) = route.methods
            path = route.path.format(model="mdl_0", version="mdl_0")
            answer = client.request(method, f"{path}?decimal=,")
            error = refused(answer)
            assert (error["pointer"], error["code"]) == ("/query/decimal", "UNKNOWN_OPTION")
            (fix,) = answer.json()["fixes"]
            assert fix["options"] == {"decimal": None}
            text = answer.json().get("error")
            assert text == (answer.json()["detail"] if path.startswith("/v2") else None)
