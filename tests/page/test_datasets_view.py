"""Datasets: drop a file, choose the target, see the columns, correct types, read errors."""

from __future__ import annotations

from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pytest
from playwright.sync_api import Page, expect

from tests.support.page.browser import Tab, drop, see
from tests.support.page.page_data import COLUMNS, Service, as_csv, flowers, write_csv


def dataset_id(page: Page) -> str:
    return page.url.rpartition("/")[2]


def upload(page: Page, file: Path) -> None:
    """Upload a file with the proposed options."""
    page.locator("input[type=file]").first.set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", name="Columns")).to_be_visible()


def test_nothing_yet(api_tab: Tab) -> None:
    page = api_tab.go("/datasets")
    see(page, "No datasets yet")
    expect(page.locator(".first-steps li")).to_have_count(3)
    expect(page.get_by_text("drop a CSV or Parquet file here")).to_be_visible()


def test_a_dropped_csv_becomes_a_dataset_with_its_schema(api_tab: Tab, tmp_path: Path) -> None:
    page = api_tab.go("/datasets")
    drop(page, ".drop", write_csv(tmp_path, rows=150), "text/csv")
    target = page.get_by_label("Target")
    expect(target).to_have_value("kind")  # the last column, unless the name of another one suggests a target
    assert target.locator("option").all_text_contents() == list(COLUMNS)
    page.get_by_role("button", name="Upload").click()

    expect(page.get_by_role("heading", level=1, name="flowers")).to_be_visible()
    rows = page.locator("table.schema tbody tr")
    assert rows.locator("th").all_text_contents() == list(COLUMNS)
    types = [rows.nth(i).get_by_label("Type of").input_value() for i in range(len(COLUMNS))]
    assert types == ["number", "number", "number", "category", "boolean", "category"]
    expect(rows.nth(5).get_by_label("Role of kind")).to_have_value("target")
    pictures = rows.locator("svg.histogram")
    assert pictures.count() == len(COLUMNS)
    assert pictures.nth(0).locator("rect").count() == 20
    assert pictures.nth(0).get_attribute("aria-label", timeout=1000).startswith("From 1")  # type: ignore[union-attr]
    assert pictures.nth(3).locator("rect").count() == 4
    expect(page.locator(".class-bars li")).to_have_count(2)
    expect(page.get_by_role("region", name="First rows").locator("tbody tr")).to_have_count(8)


def test_a_file_dropped_outside_the_zone_does_not_replace_the_page(api_tab: Tab) -> None:
    page = api_tab.go("/datasets")
    see(page, "No datasets yet")
    opened = page.locator("h1").evaluate(
        """(place) => {
          const transfer = new DataTransfer();
          transfer.items.add(new File(["a,b"], "a.csv"));
          const options = { dataTransfer: transfer, bubbles: true, cancelable: true };
          return ["dragover", "drop"].map((kind) => place.dispatchEvent(new DragEvent(kind, options)));
        }"""
    )
    assert opened == [False, False]  # the page prevents the browser from opening the file


def test_a_parquet_file(api_tab: Tab, tmp_path: Path) -> None:
    table = pyarrow.csv.read_csv(write_csv(tmp_path))
    pyarrow.parquet.write_table(table, tmp_path / "blooms.parquet")
    page = api_tab.go("/datasets")
    page.locator("input[type=file]").set_input_files(tmp_path / "blooms.parquet")
    # Read in the browser: nothing was sent yet.
    options = page.get_by_label("Target").locator("option")
    expect(options).to_have_count(len(COLUMNS))
    assert options.all_text_contents() == list(COLUMNS)
    assert not api_tab.sent("POST", "/v1/datasets")
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", level=1, name="blooms")).to_be_visible()
    request = api_tab.sent("POST", "/v1/datasets")[0]
    assert request.headers["content-type"] == "application/vnd.apache.parquet"


def test_target_and_types_are_corrected(tab: Tab, service: Service, tmp_path: Path) -> None:
    page = tab.go("/datasets")
    upload(page, write_csv(tmp_path, seed=6))
    before = dataset_id(page)
    page.get_by_label("Type of zip").select_option("category")
    page.get_by_label("Role of colour").select_option("target")
    expect(page.get_by_label("Role of kind")).to_have_value("feature")  # there is one target
    page.get_by_label("Role of length").select_option("drop")
    see(page, "4 columns changed")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("heading", name="Classes of colour")).to_be_visible()
    after = service.client.get(f"/v1/datasets/{dataset_id(page)}").json()
    assert (after["target"], after["dropped"]) == ("colour", ["length"])
    assert {c["name"]: c["type"] for c in after["columns"]}["zip"] == "category"
    assert service.client.get(f"/v1/datasets/{before}").status_code == 404  # the one it replaces is gone
    # A column that was left out can be included again.
    page.get_by_label("Role of length").select_option("feature")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_label("Type of length")).to_have_value("number")


def test_changing_an_earlier_dataset_needs_its_file(tab: Tab, service: Service, tmp_path: Path) -> None:
    text = as_csv(flowers(seed=8))
    here = service.upload(text, name="older")
    page = tab.go(f"/datasets/{here}")
    see(page, "choose the file again")
    expect(page.get_by_label("Type of zip")).to_have_count(0)
    (tmp_path / "older.csv").write_text(text)
    page.locator("input[type=file]").set_input_files(tmp_path / "older.csv")
    page.get_by_label("Type of zip").select_option("category")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_label("Type of zip")).to_have_value("category")
    expect(page.get_by_label("Type of length")).to_have_value("number")


def test_warnings_about_the_data_are_shown(api_tab: Tab, tmp_path: Path) -> None:
    rows = [[i, "same", *row] for i, row in enumerate(flowers())]
    path = tmp_path / "odd.csv"
    path.write_text(as_csv(rows, ("id", "planet", *COLUMNS)))
    page = api_tab.go("/datasets")
    upload(page, path)
    notes = page.get_by_label("Warnings about the data")
    expect(notes).to_contain_text("looks like an id")
    expect(notes).to_contain_text("the same value in every row")


@pytest.mark.parametrize(
    ("text", "target", "place", "message"),
    [
        ("a,b\n1,2\n1,2,3\n", "b", ".refusal", "row 2"),
        ("a,b\n1.5,2.25\n2.5,3.75\n0.1,0.2\n", "b", ".refusal, .field .error", "target"),
        ("", "", ".refusal", "column"),
    ],
    ids=["ragged", "target-is-no-class", "empty"],
)
def test_files_without_a_table_are_rejected_with_a_reason(
    api_tab: Tab, tmp_path: Path, text: str, target: str, place: str, message: str
) -> None:
    api_tab.refusals.add(422)
    path = tmp_path / "bad.csv"
    path.write_text(text)
    page = api_tab.go("/datasets")
    page.locator("input[type=file]").set_input_files(path)
    if target:
        expect(page.get_by_label("Target")).to_have_value(target)
        page.get_by_role("button", name="Upload").click()
        expect(page.locator(place).first).to_contain_text(message, ignore_case=True)
    else:
        see(page, "0 columns")
        expect(page.get_by_role("button", name="Upload")).to_be_disabled()


def test_a_wrong_type_is_shown_at_its_column(api_tab: Tab, tmp_path: Path) -> None:
    api_tab.refusals.add(422)
    page = api_tab.go("/datasets")
    upload(page, write_csv(tmp_path))
    page.get_by_label("Type of colour").select_option("number")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator(".refusal")).to_be_visible()
    expect(page.get_by_role("heading", level=1, name="flowers")).to_be_visible()  # the dataset stays
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("Type of colour")).to_have_value("category")


def test_delete(api_tab: Tab, tmp_path: Path) -> None:
    page = api_tab.go("/datasets")
    upload(page, write_csv(tmp_path))
    page.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Delete this dataset?")
    dialog.get_by_role("button", name="Go back").click()
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    see(page, "No datasets yet")


def test_a_wide_table_is_searched(api_tab: Tab, tmp_path: Path) -> None:
    names = [f"feature_{i}" for i in range(150)]
    rows = [[*range(i, i + 150), "yes" if i % 2 else "no"] for i in range(30)]
    path = tmp_path / "wide.csv"
    path.write_text(as_csv(rows, (*names, "answer")))
    page = api_tab.go("/datasets")
    upload(page, path)
    lines = page.locator("table.schema tbody tr")
    expect(lines).to_have_count(100)
    expect(lines.first).to_contain_text("answer")  # the target comes first
    page.get_by_label("Find a column").fill("feature_14")
    expect(lines).to_have_count(11)
