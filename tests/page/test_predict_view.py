"""Predict: one row from a form with its path through the tree, and many rows from a file."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet
import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.page.browser import Tab, drop, saved, see, until
from tests.support.page.live_job import Live
from tests.support.page.page_data import COLUMNS, Service, as_csv, flowers
from tests.support.records.model_maker import add_model, mixed_tree, training_table
from tests.support.stack.acting_worker import trees
from tests.support.stack.stack import Process, Stack

ROW = {"length": 3.4, "width": 2.5, "zip": 10115, "colour": "red", "fresh": True}


@pytest.fixture
def page(tab: Tab, service: Service) -> Page:
    page = tab.go(f"/predict/{service.model()}")
    expect(page.locator(".verdict")).to_be_visible()
    return page


def ask(service: Service, row: dict[str, Any]) -> dict[str, Any]:
    answer = service.client.post(
        f"/v1/models/{service.model()}/predict?explain=true", json={"records": [row]}
    )
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def open_all(page: Page) -> None:
    hidden = page.get_by_text("that the tree does not use")
    if hidden.count():
        hidden.click()


def fill(page: Page, row: dict[str, Any]) -> None:
    open_all(page)
    for name, value in row.items():
        field = page.get_by_label(name, exact=True)
        if field.evaluate("(element) => element.localName") == "select":
            field.select_option(
                "" if value is None else str(value).lower() if value in (True, False) else value
            )
        else:
            field.fill("" if value is None else str(value))


def test_no_model_yet(api_tab: Tab) -> None:
    page = api_tab.go("/predict")
    see(page, "No models yet")


def test_the_form_is_made_from_the_models_schema(page: Page, service: Service) -> None:
    open_all(page)
    form = page.locator(".predict-form")
    assert sorted(form.locator("label").all_text_contents()) == sorted(COLUMNS[:-1])
    length = form.get_by_label("length")
    assert length.get_attribute("inputmode") == "decimal"
    column = next(c for c in service.tree(service.model())["columns"] if c["name"] == "length")
    see(page, f"{column['minimum']:g} to {column['maximum']:g} in the training data")
    choices = form.get_by_label("colour").locator("option").all_text_contents()
    assert choices[0] == "missing"
    assert sorted(choices[1:]) == ["blue", "red", "white", "yellow"]
    assert form.get_by_label("fresh").locator("option").all_text_contents() == ["missing", "true", "false"]


@pytest.mark.parametrize(
    "changes", [{}, {"colour": "blue"}, {"width": None, "colour": None}, {"length": 900}], ids=str
)
def test_the_answer_and_its_path(page: Page, service: Service, changes: dict[str, Any]) -> None:
    row = {**ROW, **changes}
    fill(page, row)
    expected = ask(service, row)
    verdict = page.locator(".verdict")
    expect(verdict).to_contain_text(str(expected["predictions"][0]))
    share = 100 * max(expected["probabilities"][0].values())
    expect(verdict).to_contain_text(f"probability {share:g} %" if share.is_integer() else f"{share:.1f} %")
    # The probability is explained with the training rows of the leaf and the smoothing.
    tree = service.tree(service.model())
    leaf = tree["nodes"][expected["leaf_ids"][0]]
    smoothing = tree["settings"]["probability_smoothing"]
    mine = leaf["counts"][leaf["label"]]
    assert share / 100 == pytest.approx((mine + smoothing) / (sum(leaf["counts"]) + 2 * smoothing))
    answer = page.locator(".answer")
    expect(answer).to_contain_text(f"{leaf['rows']} training rows ended in the same leaf.")
    expect(answer).to_contain_text("All of them are" if mine == leaf["rows"] else f"{mine:g} of them (")
    expect(answer).to_contain_text(f"after {smoothing:g} rows of every class are added")
    steps = expected["explanations"][0]["steps"]
    expect(page.locator(".steps li")).to_have_count(len(steps))
    for i, step in enumerate(steps):
        expect(page.locator(".steps li").nth(i)).to_contain_text(step["feature"])
        expect(page.locator(".steps li").nth(i)).to_contain_text(f": {step['side']}")
    path = {step["node"] for step in steps} | {expected["leaf_ids"][0]}
    nodes = page.locator("svg.drawing .node.lit")
    expect(nodes).to_have_count(len(path))
    assert {int(nodes.nth(i).get_attribute("data-node") or -1) for i in range(nodes.count())} == path
    warned = page.locator(".answer .notes li")
    assert warned.count() == len(expected["warnings"])
    if "length" in changes:
        see(page, "this value is outside")


def test_sliders_change_numbers(page: Page, service: Service) -> None:
    fill(page, ROW)
    field = page.get_by_label("length", exact=True)
    slide = (
        page.locator(".field")
        .filter(has=page.locator("label", has_text="length"))
        .locator("input[type=range]")
    )
    column = next(c for c in service.tree(service.model())["columns"] if c["name"] == "length")
    assert float(slide.get_attribute("min") or 0) == column["minimum"]
    assert float(slide.get_attribute("max") or 0) == column["maximum"]
    assert float(slide.input_value()) == pytest.approx(ROW["length"], abs=0.06)
    slide.fill("6.5")
    expect(field).to_have_value("6.5")
    expected = ask(service, {**ROW, "length": 6.5})
    expect(page.locator(f'svg.drawing .node.lit[data-node="{expected["leaf_ids"][0]}"]')).to_be_visible()
    field.fill("2")
    expect(slide).to_have_value(re.compile(r"^(2|1\.9.*|2\.0.*)$"))


def test_rows_of_the_dataset_fill_the_form(page: Page, service: Service) -> None:
    rows = service.client.get(f"/v1/datasets/{service.dataset}/preview?rows=2").json()["records"]
    expect(page.get_by_label("length", exact=True)).to_have_value(f"{rows[0]['length']:g}")
    page.get_by_role("button", name="Use another row of the dataset").click()
    expect(page.get_by_label("length", exact=True)).to_have_value(f"{rows[1]['length']:g}")


def test_an_invalid_cell_is_shown_at_its_field(page: Page, tab: Tab) -> None:
    tab.refusals.add(422)
    page.get_by_label("length", exact=True).fill("3 or 4")
    field = page.locator(".field.wrong")
    expect(field).to_have_count(1)
    expect(field.locator("label")).to_have_text("length")
    expect(page.locator(".verdict")).to_have_count(0)
    page.get_by_label("length", exact=True).fill("2")
    expect(page.locator(".verdict")).to_be_visible()


def test_many_rows_are_dropped_and_their_answers_saved(page: Page, service: Service, tmp_path: Path) -> None:
    rows = [row[:-1] for row in flowers(60, seed=9)]
    text = as_csv(rows, COLUMNS[:-1])
    (tmp_path / "new flowers.csv").write_text(text)
    page.get_by_role("button", name="Many rows").click()
    drop(page, ".drop", tmp_path / "new flowers.csv", "text/csv")
    expect(page.get_by_role("heading", name="60 predictions")).to_be_visible()
    shown = page.get_by_role("region", name="Predictions").locator("tbody tr")
    expect(shown).to_have_count(20)
    name, answers = saved(page, lambda: page.get_by_role("button", name="Download the predictions").click())
    assert name == "new-flowers-predictions.csv"
    expected = service.client.post(
        f"/v1/models/{service.model()}/predict", content=text, headers={"Content-Type": "text/csv"}
    ).json()
    table = list(csv.DictReader(io.StringIO(answers)))
    assert [row["prediction"] for row in table] == expected["predictions"]
    assert [row["leaf_id"] for row in table] == [str(leaf) for leaf in expected["leaf_ids"]]
    assert [row["length"] for row in table] == [str(row[0]) for row in rows]
    assert shown.nth(0).locator("td").first.inner_text() == expected["predictions"][0]


def test_many_rows_are_pasted(page: Page) -> None:
    page.get_by_role("button", name="Many rows").click()
    text = (
        'length;width;zip;colour;fresh;note\n3.1;2.5;10115;red;true;"a; ""b"""\n\n6.5;;10115;green;false;c\n'
    )
    page.get_by_label("Or paste rows").fill(text)
    page.get_by_role("button", name="Predict", exact=True).click()
    expect(page.get_by_role("heading", name="2 predictions")).to_be_visible()
    see(page, "is not a column of the model")  # the note
    see(page, "not in the training data")  # green
    _, answers = saved(page, lambda: page.get_by_role("button", name="Download the predictions").click())
    table = list(csv.DictReader(io.StringIO(answers), delimiter=";"))
    assert [row["note"] for row in table] == ['a; "b"', "c"]
    assert all(row["prediction"] in ("rose", "tulip") for row in table)


def test_rows_with_their_class_are_scored(page: Page, service: Service, tab: Tab, tmp_path: Path) -> None:
    rows = flowers(80, seed=11)
    text = as_csv(rows)
    (tmp_path / "labelled.csv").write_text(text)
    page.get_by_role("button", name="Many rows").click()
    drop(page, ".drop", tmp_path / "labelled.csv", "text/csv")
    expect(page.get_by_role("heading", name="80 predictions")).to_be_visible()
    expected = service.client.post(
        f"/v1/models/{service.model()}/predict", content=text, headers={"Content-Type": "text/csv"}
    ).json()["predictions"]
    wrong = [guess != row[-1] for guess, row in zip(expected, rows, strict=True)]
    report = page.locator(".file-report")
    expect(report).to_contain_text(f"right on 80 rows of labelled.csv: {sum(wrong)} rows are wrong.")
    expect(page.get_by_text("is not a column of the model")).to_have_count(0)
    marked = page.get_by_role("region", name="Predictions").locator("tbody tr.wrong th").all_text_contents()
    assert [int(row) for row in marked] == [i + 1 for i in range(20) if wrong[i]]
    page.get_by_text("Evaluation", exact=True).click()
    expect(page.locator("table.confusion")).to_be_visible()
    cells = page.locator("table.confusion td:not(.total)").all_text_contents()
    counts = [
        sum(guess == b and row[-1] == a for guess, row in zip(expected, rows, strict=True))
        for a in ("rose", "tulip")
        for b in ("rose", "tulip")
    ]
    assert [int(cell) for cell in cells] == counts
    # Classes that the model does not know: the predictions are shown, and why they are not scored.
    tab.refusals.add(422)
    other = text.replace("rose", "oak").replace("tulip", "elm")
    (tmp_path / "trees.csv").write_text(other)
    drop(page, ".drop", tmp_path / "trees.csv", "text/csv")
    expect(page.locator(".notice.warn")).to_contain_text("The predictions are not scored: No row has a class")
    expect(page.get_by_role("heading", name="80 predictions")).to_be_visible()


def test_rows_are_scored_without_the_dataset(tab: Tab, service: Service, tmp_path: Path) -> None:
    """The model knows its target, also when its dataset is deleted."""
    dataset = service.upload(as_csv(flowers(60, seed=21)), name="short-lived")
    model = service.wait(service.job("lonely", dataset, parameters={"max_depth": 1}))["model_id"]
    assert service.client.delete(f"/v1/datasets/{dataset}").status_code == 204
    tab.refusals.add(404)
    page = tab.go(f"/predict/{model}?rows=many")
    (tmp_path / "labelled.csv").write_text(as_csv(flowers(30, seed=22)))
    drop(page, ".drop", tmp_path / "labelled.csv", "text/csv")
    expect(page.locator(".file-report")).to_contain_text("right on 30 rows of labelled.csv")
    tab.go(f"/models/{model}?part=evaluation&rows=file")
    expect(page.get_by_role("region", name="Score a file")).to_contain_text("in the column kind")
    service.client.delete(f"/v1/models/{model}")


def test_a_parquet_file_is_not_read_as_csv(page: Page, service: Service, tab: Tab, tmp_path: Path) -> None:
    rows = flowers(50, seed=12)
    (tmp_path / "rows.csv").write_text(as_csv(rows))
    table = pyarrow.csv.read_csv(tmp_path / "rows.csv")
    pyarrow.parquet.write_table(table.drop_columns(["kind"]), tmp_path / "new.parquet", compression="zstd")
    pyarrow.parquet.write_table(table, tmp_path / "labelled.parquet")
    expected = service.client.post(
        f"/v1/models/{service.model()}/predict", content=as_csv(rows), headers={"Content-Type": "text/csv"}
    ).json()["predictions"]
    page.get_by_role("button", name="Many rows").click()
    page.locator("input[type=file]").set_input_files(tmp_path / "new.parquet")
    expect(page.get_by_role("heading", name="50 predictions")).to_be_visible()
    assert tab.sent("POST", "/predict")[-1].headers["content-type"] == "application/vnd.apache.parquet"
    assert not tab.sent("POST", "/score")
    expect(page.get_by_label("Or paste rows")).to_have_value("")
    name, answers = saved(page, lambda: page.get_by_role("button", name="Download the predictions").click())
    assert name == "new-predictions.csv"
    assert [row["prediction"] for row in csv.DictReader(io.StringIO(answers))] == expected
    page.locator("input[type=file]").set_input_files(tmp_path / "labelled.parquet")
    wrong = sum(guess != row[-1] for guess, row in zip(expected, rows, strict=True))
    expect(page.locator(".file-report")).to_contain_text(
        f"right on 50 rows of labelled.parquet: {wrong} rows are wrong."
    )
    assert tab.sent("POST", "/score")[-1].headers["content-type"] == "application/vnd.apache.parquet"


def test_invalid_rows_are_rejected_with_a_reason(page: Page, tab: Tab) -> None:
    tab.refusals.add(422)
    page.get_by_role("button", name="Many rows").click()
    page.get_by_label("Or paste rows").fill("length,width\nlong,2\n")
    page.get_by_role("button", name="Predict", exact=True).click()
    expect(page.locator(".refusal")).to_contain_text("colour")


def test_the_prediction_appears_when_the_server_is_back(
    api: Stack, api_tab: Tab, api_process: list[Process]
) -> None:
    page = api_tab.go(f"/predict/{add_model(api, mixed_tree())}")
    expect(page.locator(".verdict")).to_be_visible()
    page.get_by_label("member", exact=True).select_option("true")
    expect(page.locator(".steps")).to_contain_text("member is true")
    api_process[-1].stop()
    page.get_by_label("member", exact=True).select_option("false")
    expect(page.locator(".refusal")).to_contain_text("does not respond")
    expect(page.locator(".steps")).to_contain_text("member is true")  # the last prediction stays visible
    api_process.append(api.start_api())
    expect(page.locator(".steps")).to_contain_text("member is false")
    expect(page.locator(".refusal")).to_have_count(0)
    api_tab.complaints[:] = [text for text in api_tab.complaints if "net::ERR_" not in text]


def test_with_the_tree_of_a_running_job(live: Live) -> None:
    """A better tree that is found meanwhile has other leaves."""
    live.worker.checkpoint(1.0, tree=1)
    page = live.tab.go(f"/predict/job/{live.worker.id}")
    expect(page.locator(".verdict")).to_be_visible()
    live.worker.checkpoint(1.0, tree=4)
    names = [column["name"] for column in trees()[1]["columns"]]
    record = dict.fromkeys(names, 1.5)
    fill(page, record)
    path = f"/v1/jobs/{live.worker.id}/predict?explain=true&revision=1"
    with live.stack.client() as client:
        expected = client.post(path, json={"records": [record]}).json()
    leaf = expected["leaf_ids"][0]
    rows = trees()[1]["nodes"][leaf]["rows"]
    expect(page.locator(".steps li")).to_have_count(len(expected["explanations"][0]["steps"]))
    expect(page.locator(".answer")).to_contain_text(f"{rows} training rows ended in the same leaf.")
    expect(page.locator(f'svg.drawing .node.lit[data-node="{leaf}"]')).to_be_visible()
    page.get_by_role("button", name="Many rows").click()
    page.get_by_label("Or paste rows").fill(",".join(names) + "\n1.5,1.5\n")
    page.get_by_role("button", name="Predict", exact=True).click()
    expect(page.get_by_role("heading", name="1 prediction")).to_be_visible()
    assert all("revision=1" in request.url for request in live.tab.sent("POST", "/predict"))


@pytest.fixture
def formulas(api: Stack, api_tab: Tab) -> Page:
    """Open a model whose classes a spreadsheet would take for formulas."""
    page = api_tab.go(f"/predict/{add_model(api, mixed_tree(('+', '-')))}?rows=many")
    expect(page.locator(".drop")).to_be_visible()
    return page


def test_classes_that_look_like_formulas(formulas: Page, api: Stack, api_tab: Tab, tmp_path: Path) -> None:
    table = training_table(rows=20).to_pylist()
    model = formulas.url.partition("/predict/")[2].partition("?")[0]
    with api.client() as client:
        answer = client.post(f"/v1/models/{model}/predict", json={"records": table}).json()
    truth = answer["predictions"]
    assert set(truth) == {"+", "-"}
    rows = [[*("" if cell is None else cell for cell in row.values())] for row in table]
    text = as_csv([[*row, sign] for row, sign in zip(rows, truth, strict=True)], (*table[0], "label"))
    (tmp_path / "right.csv").write_text(text)
    (tmp_path / "short.csv").write_text("\n".join(text.splitlines()[:4]) + "\n")
    slow: list[Route] = []
    formulas.route("**/predict", lambda route: slow.append(route), times=1)
    drop(formulas, ".drop", tmp_path / "short.csv", "text/csv")
    until(formulas, lambda: slow, "the first request")
    drop(formulas, ".drop", tmp_path / "right.csv", "text/csv")
    until(formulas, lambda: slow[0].request.failure, "the end of the first request")
    expect(formulas.get_by_role("heading", name="20 predictions")).to_be_visible()
    shown = formulas.get_by_role("region", name="Predictions").locator("tbody tr")
    assert [shown.nth(i).locator("td").first.inner_text() for i in range(20)] == truth
    expect(formulas.locator("tbody tr.wrong")).to_have_count(0)
    expect(formulas.locator(".file-report")).to_contain_text(
        "right on 20 rows of right.csv: 0 rows are wrong."
    )


def test_typing_does_not_read_the_predicted_file_again(formulas: Page, api_tab: Tab, tmp_path: Path) -> None:
    rows = [["" if cell is None else cell for cell in row.values()] for row in training_table().to_pylist()]
    (tmp_path / "long.csv").write_text(as_csv(20 * rows, tuple(training_table().column_names)))
    formulas.locator("input[type=file]").set_input_files(tmp_path / "long.csv")
    expect(formulas.get_by_role("heading", name="8,000 predictions")).to_be_visible()
    session = api_tab.context.new_cdp_session(formulas)
    session.send("Performance.enable")

    def script_seconds() -> float:
        found = session.send("Performance.getMetrics")["metrics"]
        return float(next(entry["value"] for entry in found if entry["name"] == "ScriptDuration"))

    before = script_seconds()
    formulas.get_by_label("Or paste rows").press_sequentially("length")
    expect(formulas.get_by_label("Or paste rows")).to_have_value("length")
    assert script_seconds() - before < 0.1


def test_the_model_is_chosen_from_a_list(tab: Tab, service: Service) -> None:
    model = service.model()
    page = tab.go("/predict")
    page.get_by_label("Model").select_option(model)
    expect(page.locator(".verdict")).to_be_visible()
    assert page.url.endswith(model)


def test_by_the_name_of_a_model(tab: Tab, service: Service) -> None:
    service.client.put("/v1/models/aliases/spring", json={"model_id": service.model()})
    page = tab.go("/predict/spring")
    expect(page.locator(".verdict")).to_be_visible()
    expect(page.get_by_label("Model").locator("option:checked")).to_have_text("spring (flowers 3)")
    assert tab.sent("POST", f"/v1/models/{service.model()}/predict")  # the alias may move meanwhile
    service.client.delete("/v1/models/aliases/spring")
