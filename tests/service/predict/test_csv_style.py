"""Rows to predict in CSV are read as the CSV was read that the model was trained on."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from literati import LiteratiClassifier
from service.predict.decode.csv_table import CsvOptions
from service.predict.predictor import PredictOptions, Predictor
from tests.support.http.predict_bodies import ask, refused
from tests.support.http.service_client import submit
from tests.support.http.uploads import made
from tests.support.stack.stack import Stack, poll
from worker.blobs.local import Blobs
from worker.domain.datasets import CsvStyle, Dataset
from worker.training.tables import load

# `price` is only a number with thousands because `rate` has decimal commas; `share` has points all the same.
GERMAN = """id;price;rate;share;count;label
a;12.500;0,5;0.125;1;low
b;1.250;1,75;0.5;20;low
c;999;12,250;1.234;300;low
d;?;?;?;?;low
e;900.000;1.234,5;2.5;4;high
f;950.250;3;3.125;5.000;high
g;999.999;4,125;4.25;6;high
h;1.000.000;5,5;5.5;7;high
"""


def trained(folder: Path, text: str, **options: Any) -> tuple[Dataset, Any, Predictor]:
    """The dataset, its features, and a predictor that has been trained on them."""
    dataset = made(folder, text, target="label", **options)
    loaded = load(Blobs(folder / "blobs").path(dataset.blob), dataset)
    tree = LiteratiClassifier(max_depth=2, candidates="all").fit(loaded.X, loaded.y).tree_
    return dataset, loaded.X, Predictor(tree, {"model_id": "mdl_test"}, dataset.csv_style)


def assert_read_alike(predictor: Predictor, text: str, features: Any) -> None:
    """Each row alone, and all of them, as the numbers that the upload stored."""
    header, *rows = text.splitlines()
    wanted = PredictOptions(body_format="csv")
    whole = predictor.decode(text.encode(), wanted, 1000)
    for entry in predictor.layout.numbers:
        stored = features.column(entry.name).cast(pa.float64()).to_numpy()
        np.testing.assert_array_equal(whole.matrix[:, entry.index], stored, entry.name)
        for row, number in zip(rows, stored, strict=True):
            alone = predictor.decode(f"{header}\n{row}\n".encode(), wanted, 1000)
            np.testing.assert_array_equal(alone.matrix[0, entry.index], number, f"{entry.name} in {row!r}")


def test_each_training_row_alone_is_read_as_in_its_file(tmp_path: Path) -> None:
    dataset, features, predictor = trained(tmp_path, GERMAN, null_values="?", drop="id")
    assert dataset.csv_style == CsvStyle(decimal=",", columns={"share": "."}, null_words=["?"])
    assert features.column("price").to_pylist()[:4] == [12500, 1250, 999, None]
    assert features.column("share").to_pylist()[:3] == [0.125, 0.5, 1.234]
    assert_read_alike(predictor, GERMAN, features)
    header, *rows = GERMAN.splitlines()
    leaves = ask(predictor, GERMAN.encode(), "csv")["leaf_ids"]
    assert len(set(leaves)) > 1
    assert leaves == [ask(predictor, f"{header}\n{row}".encode(), "csv")["leaf_ids"][0] for row in rows]


@pytest.fixture(scope="module")
def german(tmp_path_factory: pytest.TempPathFactory) -> Predictor:
    predictor = trained(tmp_path_factory.mktemp("german"), GERMAN, null_values="?", drop="id")[2]
    assert [predictor.tree.schema.columns[place].name for place in predictor.layout.used] == ["price"]
    return predictor


def price(predictor: Predictor, text: str, **options: Any) -> tuple[list[float], list[str]]:
    """How a column of prices is read, and which columns were read in a way that is not plain."""
    wanted = PredictOptions(body_format="csv", csv=CsvOptions(**options))
    batch = predictor.decode(text.encode(), wanted, 1000)
    place = predictor.layout.by_name["price"].index
    told = [
        w["column"]
        for w in ask(predictor, text.encode(), "csv", csv=wanted.csv)["warnings"]
        if w["code"] == "READ_AS"
    ]
    return batch.matrix[:, place].tolist(), told


def test_the_style_is_a_default(german: Predictor) -> None:
    assert price(german, "price\n12.500\n") == ([12500], ["price"])
    assert price(german, "price\n12.500\n", decimal=".") == ([12.5], [])
    assert price(german, "price\n12.500\n", decimal=",") == ([12500], ["price"])
    assert price(german, "price\n12500\n") == ([12500], [])
    unknown = Predictor(german.tree, german.source)
    assert price(unknown, "price\n12.500\n") == ([12.5], []), "models of before do not know it"


def test_rows_that_are_written_in_another_way_are_judged_by_themselves(german: Predictor) -> None:
    assert price(german, "price\n0.5\n12.500\n") == ([0.5, 12.5], [])
    assert price(german, "price;rate\n12.500;1.5\n") == ([12.5], []), "another column has a decimal point"
    assert price(german, "price;rate\n12.500;1,5\n") == ([12500], ["price", "rate"])


def test_words_for_missing_cells_are_remembered(german: Predictor) -> None:
    assert np.isnan(price(german, "price\n?\n")[0])
    assert np.isnan(price(german, "price\nNA\n", null_words=frozenset({"NA"}))[0])
    refused(german, b"price\nNA\n", "csv", pointers=["/body/rows/0/price"])


@pytest.mark.parametrize("text", ["price\n1,5\n12.500,25\n{}\n7,25\n{}\n", "price\n1.5\n2.5\n{}\n2.25\n{}\n"])
@pytest.mark.parametrize("style", [None, CsvStyle(decimal=","), CsvStyle(decimal=".")])
def test_the_cell_that_is_no_number_is_named_however_the_others_are_written(
    german: Predictor, text: str, style: CsvStyle | None
) -> None:
    predictor = Predictor(german.tree, german.source, style)
    body = text.format("many", "few").replace("price", "x;price").replace("\n", "\nk;").encode()
    refused(predictor, body.removesuffix(b"k;"), "csv", pointers=["/body/rows/2/price", "/body/rows/4/price"])


def test_other_encodings_and_blank_lines_as_in_an_upload(german: Predictor) -> None:
    plain = ask(german, "price;Größe\n12.500;ä\n".encode(), "csv")
    for charset in ("cp1252", "iso8859-15", "utf-16"):
        body = "\r\n\n\nprice;Größe\r\n12.500;ä\r\n".encode(charset)
        assert ask(german, body, "csv", csv=CsvOptions(charset=charset)) == plain
    assert ask(german, "\ufeff\n\nprice;Größe\n12.500;ä\n".encode(), "csv") == plain


SIGNS = st.sampled_from([(",", ""), (",", "."), (",", " "), (",", "'"), (".", ""), (".", ","), (".", "'")])


def written(number: float, signs: tuple[str, str], places: int) -> str:
    decimal, thousands = signs
    text = f"{number:,.{places}f}" if thousands else f"{number:.{places}f}"
    parts = text.split(".")
    return decimal.join([parts[0].replace(",", thousands), *parts[1:]])


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(SIGNS, st.integers(0, 4)), min_size=1, max_size=4),
    st.integers(0, 10**6),
    st.sampled_from(";,\t"),
)
def test_files_of_every_style(tmp_path: Path, styles: Any, seed: int, delimiter: str) -> None:
    rng = random.Random(seed)
    out = io.StringIO(newline="")
    table = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    table.writerow(["label", *(f"x{i}" for i in range(len(styles)))])
    for row in range(8):
        numbers = [rng.uniform(-1, 1) * 10 ** rng.randrange(8) + row for _ in styles]
        cells = [written(n, signs, places) for n, (signs, places) in zip(numbers, styles, strict=True)]
        table.writerow(["ab"[row % 2], *cells])
    _, features, predictor = trained(tmp_path, out.getvalue())
    assert_read_alike(predictor, out.getvalue(), features)


def test_through_the_service(stack: Stack) -> None:
    """From the upload to a job's tree and a model; rows in windows-1252 after blank lines too."""
    with stack.client() as client:
        options = {"target": "label", "null_values": "?", "drop": "id"}
        text = {"Content-Type": "text/csv"}
        dataset = client.post("/v1/datasets", params=options, content=GERMAN, headers=text).raise_for_status()
        job = submit(client, stack.store.datasets.get("default", dataset.json()["id"]))  # type: ignore[arg-type]
        done = poll(lambda: ended(client, job["id"]), what="the job's end")
        for address in (done["links"]["model"], f"/v1/jobs/{job['id']}"):
            for number, expected in (("12.500", "low"), ("950.250", "high"), ("999", "low")):
                rows = f"\n\nprice\n{number}\n"
                answer = client.post(f"{address}/predict", content=rows, headers=text)
                assert answer.json()["predictions"] == [expected], answer.text
                long = rows + f"{number}\n" * 200_000  # this is read by a process apart
                answer = client.post(f"{address}/predict", content=long, headers=text)
                assert set(answer.json()["predictions"]) == {expected}
            body = "price;Größe\n12.500;ä\n".encode("cp1252")
            western = {"Content-Type": "text/csv; charset=windows-1252"}
            answer = client.post(f"{address}/predict", content=body, headers=western)
            codes = [warning["code"] for warning in answer.json()["warnings"]]
            assert codes == ["ABSENT_COLUMN", "UNKNOWN_COLUMN", "READ_AS"]
            answer = client.post(f"{address}/predict?decimal=.", content="price\n950.250\n", headers=text)
            assert answer.json()["predictions"] == ["low"]


def ended(client: httpx.Client, job_id: str) -> dict[str, Any] | None:
    job: dict[str, Any] = client.get(f"/v1/jobs/{job_id}").json()
    assert job["state"] != "FAILED", job
    return job if job["state"] == "SUCCEEDED" else None
