"""Datasets: add one, see its columns, change roles and types, name it, delete it."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.support.page.browser import Tab, drop, see
from tests.support.page.page_data import COLUMNS, Service, as_csv, flowers, write_csv
from tests.support.stack.stack import Stack


def dataset_id(page: Page) -> str:
    return page.url.rpartition("/")[2]


def upload(page: Page, file: Path) -> None:
    """Upload a file with the proposed options."""
    page.locator("input[type=file]").first.set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", name="Classes of")).to_be_visible()


def columns(page: Page) -> Locator:
    """Return the rows of the table of a dataset's columns."""
    return page.get_by_role("region", name="Columns").locator("tbody tr")


def types(page: Page) -> dict[str, str]:
    cells = [row.locator("th, td").all_text_contents() for row in columns(page).all()]
    return {row[0]: row[2] for row in cells}


def test_nothing_yet(api_tab: Tab) -> None:
    page = api_tab.go("/datasets")
    see(page, "No datasets yet")
    expect(page.get_by_role("button", name="Try it with sample data")).to_be_visible()
    expect(page.get_by_text("drop a CSV or Parquet file here")).to_be_visible()


def test_a_dropped_csv_becomes_a_dataset_with_its_schema(api_tab: Tab, tmp_path: Path) -> None:
    page = api_tab.go("/datasets")
    drop(page, ".drop", write_csv(tmp_path, rows=150), "text/csv")
    target = page.get_by_label("Target", exact=True)
    expect(target).to_have_value("kind")  # the last column, unless the name of another one suggests a target
    assert target.locator("option").all_text_contents() == list(COLUMNS)
    page.get_by_role("button", name="Upload").click()

    expect(page.get_by_role("heading", level=1, name="flowers")).to_be_visible()
    rows = columns(page)
    assert rows.locator("th").all_text_contents() == list(COLUMNS)
    assert list(types(page).values()) == [*3 * ["Number"], "Category", "True or false", "Category"]
    expect(rows.nth(5)).to_contain_text("Target")
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


def test_a_change_makes_a_new_dataset(tab: Tab, service: Service, tmp_path: Path) -> None:
    """The old dataset stays with its jobs and models, and each of the two links to the other."""
    page = tab.go("/datasets")
    upload(page, write_csv(tmp_path, "blossoms.csv", seed=6))
    before = dataset_id(page)
    job = service.job("on the old one", before, parameters={"max_depth": 1})
    model = service.wait(job)["model_id"]
    page.get_by_role("button", name="Change roles or types").click()
    see(page, "This makes a new dataset.")
    page.get_by_label("Type of zip").select_option("category")
    page.get_by_label("Role of colour").select_option("target")
    expect(page.get_by_label("Role of kind")).to_have_value("feature")  # there is one target
    page.get_by_label("Role of length").select_option("drop")
    page.get_by_role("button", name="Make a new dataset").click()
    expect(page.get_by_role("heading", name="Classes of colour")).to_be_visible()
    expect(page.get_by_role("heading", level=1, name="blossoms, target colour")).to_be_visible()
    after = service.client.get(f"/v1/datasets/{dataset_id(page)}").json()
    assert (after["target"], after["dropped"]) == ("colour", ["length"])
    assert {c["name"]: c["type"] for c in after["columns"]}["zip"] == "category"
    old = service.client.get(f"/v1/datasets/{before}").json()
    assert (old["target"], old["dropped"]) == ("kind", [])
    assert service.client.get(f"/v1/models/{model}").status_code == 200

    page.locator(".same-file a").first.click()
    expect(page.get_by_role("heading", name="Classes of kind")).to_be_visible()
    assert dataset_id(page) == before
    made = page.get_by_role("region", name="Jobs and models").locator("tbody tr")
    expect(made).to_have_count(2)
    links = {link.get_attribute("href") for link in made.locator("a").all()}
    assert links == {f"#/jobs/{job}", f"#/models/{model}"}
    page.locator(".same-file a").get_by_text("blossoms, target colour").click()
    # A column that was left out can be included again.
    expect(page.get_by_role("heading", name="Classes of colour")).to_be_visible()
    page.get_by_role("button", name="Change roles or types").click()
    page.get_by_label("Role of length").select_option("feature")
    page.get_by_role("button", name="Make a new dataset").click()
    expect(page.get_by_role("heading", level=1, name="blossoms, target colour 2")).to_be_visible()
    assert types(page)["length"] == "Number"


def test_changing_an_earlier_dataset_needs_its_file(tab: Tab, service: Service, tmp_path: Path) -> None:
    text = as_csv(flowers(seed=8))
    here = service.upload(text, name="older", types="fresh:category")
    page = tab.go(f"/datasets/{here}")
    page.get_by_role("button", name="Change roles or types").click()
    see(page, "Choose the file again")
    (tmp_path / "older.csv").write_text(text)
    page.locator("input[type=file]").set_input_files(tmp_path / "older.csv")
    expect(page.get_by_label("Type of fresh")).to_have_value("category")  # as it is stored
    page.get_by_label("Type of zip").select_option("category")
    page.get_by_role("button", name="Make a new dataset").click()
    expect(page.get_by_role("heading", level=1, name="older 2")).to_be_visible()
    found = types(page)
    assert (found["zip"], found["fresh"], found["length"]) == ("Category", "Category", "Number")
    assert service.client.get(f"/v1/datasets/{here}").json()["name"] == "older"
    # Only types that the server would not detect are sent.
    assert tab.sent("POST", "/v1/datasets")[-1].url.count("types=") == 2
    # A link leaves out a column.
    tab.go(f"/datasets/{here}?drop=colour")
    see(page, "Leave out the column colour.")
    page.locator("input[type=file]").set_input_files(tmp_path / "older.csv")
    expect(page.get_by_label("Role of colour")).to_have_value("drop")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading", name="Classes of kind")).to_be_visible()
    assert "drop" not in page.url


def test_name_and_notes(api: Stack, api_tab: Tab, tmp_path: Path) -> None:
    page = api_tab.go("/datasets")
    upload(page, write_csv(tmp_path))
    page.get_by_role("button", name="Rename or tag flowers").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("roses")
    dialog.get_by_label("Notes", exact=True).fill("From the garden.")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1, name="roses")).to_be_visible()
    see(page, "From the garden.")
    with api.client() as client:
        stored = client.get(f"/v1/datasets/{dataset_id(page)}").json()
    assert (stored["name"], stored["notes"]) == ("roses", "From the garden.")
    api_tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Rename or tag roses").click()
    dialog.get_by_role("button", name="Copy the id").click()
    assert page.evaluate("navigator.clipboard.readText()") == stored["id"]


def test_warnings_about_the_data_are_shown(api_tab: Tab, tmp_path: Path) -> None:
    rows = [[i, "same", *row] for i, row in enumerate(flowers())]
    path = tmp_path / "odd.csv"
    path.write_text(as_csv(rows, ("id", "planet", *COLUMNS)))
    page = api_tab.go("/datasets")
    upload(page, path)
    notes = page.get_by_label("Warnings about the data")
    expect(notes).to_contain_text("looks like an id")
    expect(notes).to_contain_text("the same value in every row")


def test_a_fix_of_a_warning_makes_a_new_dataset(api: Stack, api_tab: Tab, tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    path.write_text("code,size,kind\n" + "".join(f"{i:04},{i % 7},{'ab'[i % 2]}\n" for i in range(60)))
    page = api_tab.go("/datasets")
    upload(page, path)
    before = dataset_id(page)
    notes = page.get_by_label("Warnings about the data")
    expect(notes).to_contain_text("leading zeros")
    expect(notes).not_to_contain_text("types=")  # the page has buttons in place of options
    uploads = len(api_tab.sent("POST", "/v1/datasets"))
    notes.get_by_role("button", name="Read 'code' as numbers").click()
    # The form opens with the fix, so that the upload shows its progress and can be cancelled.
    expect(page.get_by_label("Type of code")).to_have_value("number")
    assert len(api_tab.sent("POST", "/v1/datasets")) == uploads
    page.get_by_role("button", name="Make a new dataset").click()
    expect(page.get_by_role("heading", level=1, name="codes 2")).to_be_visible()
    with api.client() as client:
        found = [client.get(f"/v1/datasets/{each}").json() for each in (before, dataset_id(page))]
    assert [each["columns"][0]["type"] for each in found] == ["category", "number"]


def test_delete_and_undo(api: Stack, api_tab: Tab, tmp_path: Path) -> None:
    page = api_tab.go("/datasets")
    upload(page, write_csv(tmp_path))
    here = dataset_id(page)
    page.get_by_role("button", name="Delete").click()
    see(page, "1 dataset was deleted.")
    see(page, "No datasets yet")
    with api.client() as client:
        assert client.get(f"/v1/datasets/{here}").status_code == 404
        page.get_by_role("group", name="Undo").get_by_role("button", name="Undo").click()
        expect(page.get_by_role("link", name="flowers", exact=True)).to_be_visible()
        assert client.get(f"/v1/datasets/{here}").status_code == 200


def test_a_dataset_of_a_running_job_is_not_deleted(api: Stack, api_tab: Tab) -> None:
    api_tab.refusals.add(409)
    with api.client() as client:
        service = Service(client)
        job = service.job("waiting")  # no worker runs
        page = api_tab.go(f"/jobs/{job}")
        expect(page.locator(".view-head")).to_contain_text("; created ")
        api_tab.go(f"/datasets/{service.dataset}")
        page.get_by_role("button", name="Delete").click()
        expect(page.locator(".refusal")).to_be_visible()
        expect(page.get_by_role("heading", level=1, name="flowers")).to_be_visible()


def test_a_wide_table_is_searched(api_tab: Tab, tmp_path: Path) -> None:
    names = [f"feature_{i}" for i in range(200)]
    rows = [[*range(i, i + 200), "yes" if i % 2 else "no"] for i in range(30)]
    path = tmp_path / "wide.csv"
    path.write_text(as_csv(rows, (*names, "answer")))
    page = api_tab.go("/datasets")
    upload(page, path)
    lines = columns(page)
    expect(lines).to_have_count(40)
    expect(lines.first).to_contain_text("answer")  # the target comes first
    page.get_by_label("Find a column").fill("feature_14")
    expect(lines).to_have_count(11)
    see(page, "11 of 201 columns")


def test_the_list_is_sorted_and_searched(api: Stack, api_tab: Tab) -> None:
    with api.client() as client:
        service = Service(client)
        for rows, name in ((30, "b"), (50, "c"), (40, "a"), (60, "d"), (70, "e"), (80, "f tulips")):
            service.upload(as_csv(flowers(rows)), name=name)
    page = api_tab.go("/datasets")
    names = page.get_by_role("region", name="Datasets").locator("tbody th")
    expect(names).to_have_count(6)
    page.get_by_role("button", name="Rows").click()
    assert names.all_text_contents() == ["f tulips", "e", "d", "c", "a", "b"]
    page.get_by_role("button", name="Name").click()
    assert names.all_text_contents() == ["a", "b", "c", "d", "e", "f tulips"]
    page.get_by_label("Find a dataset").fill("tul")
    expect(names).to_have_count(1)
    page.reload()  # the link keeps the search
    expect(names).to_have_count(1)
    expect(page.get_by_label("Find a dataset")).to_have_value("tul")
