"""The form for a file: what the browser reads of it, roles and types, and the fixes of the server."""

from __future__ import annotations

import datetime
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pyarrow
import pyarrow.parquet
import pytest
from playwright.sync_api import Page, expect

from tests.support.page.browser import Tab, see, until
from tests.support.page.page_data import COLUMNS, as_csv, flowers, write_csv
from tests.support.stack.stack import Stack

TYPES = {"number": "Number", "category": "Category", "boolean": "True or false"}


def choose(tab: Tab, path: Path) -> Page:
    page = tab.go("/datasets")
    page.locator("input[type=file]").first.set_input_files(path)
    expect(page.locator("table.choices")).to_be_visible()
    return page


def send(page: Page) -> None:
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", name="Classes of")).to_be_visible()


def query(tab: Tab) -> dict[str, list[str]]:
    """Return the options of the last upload."""
    return parse_qs(urlsplit(tab.sent("POST", "/v1/datasets")[-1].url).query)


def stored(api: Stack, page: Page) -> dict[str, Any]:
    with api.client() as client:
        found: dict[str, Any] = client.get(f"/v1/datasets/{page.url.rpartition('/')[2]}").json()
        return found


def detected(page: Page) -> dict[str, str]:
    """Return the type that the form shows for each column."""
    rows = page.locator("table.choices tbody tr").all()
    texts = [
        row.locator("td").nth(1).locator("option:checked, span").first.text_content() or "" for row in rows
    ]
    names = [(row.locator("th").text_content() or "").strip() for row in rows]
    return {name: text.removesuffix(" (detected)") for name, text in zip(names, texts, strict=True)}


def first_rows(page: Page) -> list[list[str]]:
    table = page.get_by_role("region", name="First rows")
    return [row.locator("td").all_text_contents() for row in table.locator("tbody tr").all()]


def test_the_first_rows_and_the_types_are_shown_before_the_upload(
    api: Stack, api_tab: Tab, tmp_path: Path
) -> None:
    rows = flowers()
    page = choose(api_tab, write_csv(tmp_path))
    shown = [["missing" if cell == "" else str(cell) for cell in row] for row in rows[:8]]
    assert first_rows(page) == shown
    see(page, "6 columns; separated by commas; decimal sign: point; encoding: UTF-8")
    guessed = detected(page)
    assert not api_tab.sent("POST", "/v1/datasets")
    send(page)
    assert guessed == {column["name"]: TYPES[column["type"]] for column in stored(api, page)["columns"]}
    assert "types" not in query(api_tab)  # the server's inference decides about types that nobody chose


def test_the_guess_agrees_with_the_server(api: Stack, api_tab: Tab, tmp_path: Path) -> None:
    """Numbers in many styles, codes, booleans and words: the form shows what the server then reads."""
    rng = random.Random(3)
    makers: dict[str, Callable[[], str]] = {
        "whole": lambda: str(rng.randint(-500, 500)),
        "comma": lambda: f"{rng.uniform(0, 9):.2f}".replace(".", ","),
        "thousands": lambda: f"{rng.randint(1, 9)}.{rng.randint(100, 999)},{rng.randint(1, 9)}",
        "spaces": lambda: f"{rng.randint(1, 9)} {rng.randint(100, 999)},{rng.randint(1, 9)}",
        "code": lambda: f"{rng.randint(0, 99):04}",
        "power": lambda: f"{rng.randint(1, 9)}e{rng.randint(0, 5)}",
        "flag": lambda: rng.choice(["true", "false"]),
        "answer": lambda: rng.choice(["yes", "no"]),
        "gaps": lambda: rng.choice(["NA", "", "3", "4"]),
        "word": lambda: rng.choice(["red", "12", "blue"]),
        "kind": lambda: rng.choice("ab"),
    }
    path = tmp_path / "styles.csv"
    lines = [";".join(make() for make in makers.values()) for _ in range(80)]
    path.write_text("\n".join([";".join(makers), *lines]) + "\n")
    page = choose(api_tab, path)
    see(page, "separated by semicolons; decimal sign: comma")
    shown = {
        name: next(t for t in TYPES.values() if text.startswith(t)) for name, text in detected(page).items()
    }
    names = {name: re.split(r"Read with|Whole numbers", name)[0] for name in shown}
    send(page)
    expected = {column["name"]: TYPES[column["type"]] for column in stored(api, page)["columns"]}
    assert {names[name]: text for name, text in shown.items()} == expected
    assert expected["thousands"] == expected["spaces"] == "Number"
    assert expected["code"] == "Category"


def test_dates_are_left_out_unless_they_are_categories(api: Stack, api_tab: Tab, tmp_path: Path) -> None:
    start = datetime.date(2024, 1, 30)
    rows = [
        [start + datetime.timedelta(days=i % 5), f"{i % 24}:30:00", *row] for i, row in enumerate(flowers())
    ]
    path = tmp_path / "dated.csv"
    path.write_text(as_csv(rows, ("day", "hour", *COLUMNS)))
    page = choose(api_tab, path)
    for name in ("day", "hour"):
        expect(page.get_by_label(f"Role of {name}")).to_have_value("drop")
    expect(page.locator("table.choices tbody tr").first).to_contain_text("Dates and times are left out")
    page.get_by_label("Role of day").select_option("feature")
    expect(page.get_by_label("Type of day")).to_have_value("category")
    send(page)
    found = stored(api, page)
    assert found["dropped"] == ["hour"]
    assert [(c["type"], c["distinct"]) for c in found["columns"] if c["name"] == "day"] == [("category", 5)]
    assert query(api_tab)["types"] == ["day:category"]


def test_an_id_is_remarked(api_tab: Tab, tmp_path: Path) -> None:
    path = tmp_path / "ids.csv"
    path.write_text(as_csv([[i, *row] for i, row in enumerate(flowers())], ("number", *COLUMNS)))
    page = choose(api_tab, path)
    rows = page.locator("table.choices tbody tr")
    expect(rows.first).to_contain_text("looks like an id")
    expect(page.get_by_text("looks like an id")).to_have_count(1)
    expect(page.get_by_label("Role of number")).to_have_value("feature")  # the user decides


def test_a_fractional_target_is_no_class(api: Stack, api_tab: Tab, tmp_path: Path) -> None:
    rng = random.Random(2)
    rows = [[*row, round(rng.uniform(1, 99), 3)] for row in flowers()]
    path = tmp_path / "amounts.csv"
    path.write_text(as_csv(rows, (*COLUMNS, "target")))
    page = choose(api_tab, path)
    expect(page.get_by_label("Target", exact=True)).to_have_value("target")  # by its name
    remark = page.locator(".notice.warn")
    expect(remark).to_contain_text("Literati predicts classes")
    assert remark.get_by_role("button").all_text_contents() == [
        "Predict kind",
        "Predict fresh",
        "Predict zip",
    ]
    remark.get_by_role("button", name="Predict kind").click()
    expect(remark).to_have_count(0)
    expect(page.get_by_label("Role of target")).to_have_value("feature")
    send(page)
    assert stored(api, page)["target"] == "kind"


def test_fractions_as_classes_by_the_servers_fix(api: Stack, api_tab: Tab, tmp_path: Path) -> None:
    """The server refuses the target, the error is at its column, and one click on its fix uploads again."""
    api_tab.refusals.add(422)
    rng = random.Random(2)
    path = tmp_path / "grades.csv"
    path.write_text("x,target\n" + "".join(f"{i},{rng.choice(['1.3', '2.7', '3.0'])}\n" for i in range(60)))
    page = choose(api_tab, path)
    page.get_by_role("button", name="Upload").click()
    row = page.locator("table.choices tbody tr").nth(1)
    expect(row.locator(".error")).to_contain_text("holds fractions")
    expect(row.locator(".error")).not_to_contain_text("types=")
    page.get_by_role("group", name="Ways to correct it").get_by_role("button").click()
    expect(page.get_by_role("heading", name="Classes of target")).to_be_visible()
    assert query(api_tab)["types"] == ["target:category"]
    assert [entry["label"] for entry in stored(api, page)["classes"]] == ["1.3", "2.7", "3.0"]


def test_a_wrong_type_is_shown_at_its_column_with_a_fix(api: Stack, api_tab: Tab, tmp_path: Path) -> None:
    api_tab.refusals.add(422)
    page = choose(api_tab, write_csv(tmp_path))
    page.get_by_label("Type of colour").select_option("number")
    page.get_by_label("Type of zip").select_option("category")
    page.get_by_role("button", name="Upload").click()
    row = page.locator("table.choices tbody tr.wrong")
    expect(row).to_have_count(1)
    expect(row.locator(".error")).to_contain_text("Column 'colour' is not a number in row 1.")
    page.get_by_role("button", name="Read 'colour' as categories").click()
    expect(page.get_by_role("heading", name="Classes of")).to_be_visible()
    found = {column["name"]: column["type"] for column in stored(api, page)["columns"]}
    assert (found["colour"], found["zip"]) == ("category", "category")


def test_a_fix_leaves_out_a_column(api: Stack, api_tab: Tab, tmp_path: Path) -> None:
    api_tab.refusals.add(422)
    page = choose(api_tab, write_csv(tmp_path))
    page.get_by_label("Type of colour").select_option("number")
    page.get_by_role("button", name="Upload").click()
    page.get_by_role("button", name="Leave out 'colour'").click()
    expect(page.get_by_role("heading", name="Classes of")).to_be_visible()
    assert stored(api, page)["dropped"] == ["colour"]


def test_weights_are_a_role(api: Stack, api_tab: Tab, tmp_path: Path) -> None:
    page = choose(api_tab, write_csv(tmp_path))
    page.get_by_label("Role of length").select_option("weight")
    send(page)
    assert stored(api, page)["weight"] == "length"


def test_semicolons_decimal_commas_and_windows_1252(api: Stack, api_tab: Tab, tmp_path: Path) -> None:
    path = tmp_path / "größen.csv"
    lines = [f"{1 + i % 7},{i % 90:02};{'groß' if i % 3 else 'klein'}" for i in range(60)]
    path.write_bytes("\n".join(["länge;art", *lines, ""]).encode("cp1252"))
    page = choose(api_tab, path)
    see(page, "2 columns; separated by semicolons; decimal sign: comma; encoding: Windows-1252")
    assert first_rows(page)[0] == ["1,00", "klein"]
    page.locator("summary").click()
    decimal = page.get_by_label("Decimal sign")
    expect(decimal.locator("option:checked")).to_have_text("Detect (comma)")
    send(page)
    found = stored(api, page)
    assert [(c["name"], c["type"]) for c in found["columns"]] == [("länge", "number"), ("art", "category")]
    assert found["columns"][0]["maximum"] == max(
        float(line.partition(";")[0].replace(",", ".")) for line in lines
    )
    assert {entry["label"] for entry in found["classes"]} == {"groß", "klein"}
    assert found["name"] == "größen"


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-be"])
def test_utf_16(api: Stack, api_tab: Tab, tmp_path: Path, codec: str) -> None:
    path = tmp_path / "wide-letters.csv"
    mark = "\ufeff" if codec == "utf-16-be" else ""  # Python writes it for utf-16
    path.write_bytes((mark + as_csv(flowers()).replace("rose", "róse")).encode(codec))
    page = choose(api_tab, path)
    see(page, "6 columns; separated by commas; decimal sign: point; encoding: UTF-16")
    # A wrong encoding can be taken back.
    page.locator("summary").click()
    page.get_by_label("Encoding").select_option("utf-8")
    see(page, "This file cannot be read as a table.")
    page.get_by_label("Encoding").select_option("")
    expect(page.locator("table.choices")).to_be_visible()
    send(page)
    assert {entry["label"] for entry in stored(api, page)["classes"]} == {"róse", "tulip"}


def test_numbers_whose_decimal_sign_is_not_clear(api: Stack, api_tab: Tab, tmp_path: Path) -> None:
    path = tmp_path / "unclear.csv"
    path.write_text("price;kind\n" + "".join(f"{1 + i % 9},{100 + i};{'ab'[i % 2]}\n" for i in range(60)))
    page = choose(api_tab, path)
    see(page, "decimal sign: not clear in price")
    row = page.locator("table.choices tbody tr").first
    expect(row).to_contain_text("may be decimal signs or thousands separators")
    page.locator("summary").click()
    page.get_by_label("Decimal sign").select_option(",")
    expect(row).to_contain_text("Read with a decimal comma.")
    send(page)
    assert stored(api, page)["columns"][0]["maximum"] < 10
    assert query(api_tab)["decimal"] == [","]


def test_another_separator_reads_the_file_again(api_tab: Tab, tmp_path: Path) -> None:
    path = tmp_path / "bars.csv"
    path.write_text("a,b|c\n" + "1,2|3\n" * 3)
    page = choose(api_tab, path)
    assert first_rows(page)[0] == ["1", "2|3"]
    page.locator("summary").click()
    page.get_by_label("Separator").select_option("|")
    expect(page.locator("table.choices tbody tr")).to_have_count(2)
    until(page, lambda: first_rows(page)[0] == ["1,2", "3"], "reading it again")


@pytest.mark.parametrize("codec", ["snappy", "zstd"])
def test_a_parquet_file(api: Stack, api_tab: Tab, tmp_path: Path, codec: str) -> None:
    rows = flowers()
    named = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
    named["width"] = [None if value == "" else value for value in named["width"]]
    named["day"] = [datetime.date(2024, 1, 1 + i % 28) for i in range(len(rows))]
    named["raw"] = [b"x"] * len(rows)
    pyarrow.parquet.write_table(pyarrow.table(named), tmp_path / "blooms.parquet", compression=codec)
    page = choose(api_tab, tmp_path / "blooms.parquet")
    # Read in the browser: nothing was sent yet.
    assert page.get_by_label("Target", exact=True).locator("option").all_text_contents() == list(named)
    assert not api_tab.sent("POST", "/v1/datasets")
    expect(page.get_by_text("CSV options")).to_have_count(0)
    for name in ("day", "raw"):
        expect(page.get_by_label(f"Role of {name}")).to_have_value("drop")
    if codec == "snappy":
        assert [row[3] for row in first_rows(page)] == [str(row[3]) for row in rows[:8]]
        expect(page.get_by_label("Target", exact=True)).to_have_value("kind")
    else:  # the schema is read nevertheless
        see(page, "compressed with ZSTD")
        page.get_by_label("Target", exact=True).select_option("kind")
    expect(page.get_by_label("Type of length").locator("option:checked")).to_have_text("Number (detected)")
    send(page)
    expect(page.get_by_role("heading", level=1, name="blooms")).to_be_visible()
    request = api_tab.sent("POST", "/v1/datasets")[0]
    assert request.headers["content-type"] == "application/vnd.apache.parquet"
    assert sorted(stored(api, page)["dropped"]) == ["day", "raw"]


@pytest.mark.parametrize("width", [320, 1360])
def test_two_hundred_columns(api: Stack, api_tab: Tab, tmp_path: Path, width: int) -> None:
    names = [f"part_{i % 10}_{i}" for i in range(200)]
    path = tmp_path / "wide.csv"
    path.write_text(as_csv([[*range(i, i + 200), "yn"[i % 2]] for i in range(30)], (*names, "answer")))
    api_tab.page.set_viewport_size({"width": width, "height": 800})
    page = choose(api_tab, path)
    rows = page.locator("table.choices tbody tr")
    expect(rows).to_have_count(40)
    expect(rows.first).to_contain_text("answer")
    expect(page.get_by_role("button", name="Upload")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_label("Find a column").fill("part_3_")
    expect(rows).to_have_count(20)
    page.get_by_role("button", name="Leave out these").click()
    expect(page.get_by_label("Role of part_3_13", exact=True)).to_have_value("drop")
    page.get_by_label("Find a column").fill("")
    page.get_by_role("button", name="Show more columns").click()
    expect(rows).to_have_count(201)
    send(page)
    assert stored(api, page)["dropped"] == [name for name in names if name.startswith("part_3_")]


def test_the_bytes_that_were_sent_are_shown(api_tab: Tab, tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    path.write_text(as_csv(40 * flowers()))
    page = choose(api_tab, path)
    session = api_tab.context.new_cdp_session(page)
    session.send("Network.enable")
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 100_000}
    session.send("Network.emulateNetworkConditions", slow)
    page.get_by_role("button", name="Upload").click()
    expect(page.locator("progress")).to_be_visible()
    expect(page.locator(".upload-progress")).to_contain_text(re.compile(r"\d+ kB of \d+ kB sent"))
    stopped: list[str] = []
    page.on("requestfailed", lambda request: stopped.append(request.method))
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("form.draft")).to_have_count(0)
    until(page, lambda: "POST" in stopped, "the end of the upload")


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("a,b\n1,2\n1,2,3\n", ".refusal", "row 2"),
        ("a,b\n1.5,2.25\n2.5,3.75\n0.1,0.2\n", "tr.wrong .error", "target"),
    ],
    ids=["ragged", "target-is-no-class"],
)
def test_files_that_the_server_rejects(
    api_tab: Tab, tmp_path: Path, text: str, place: str, message: str
) -> None:
    api_tab.refusals.add(422)
    path = tmp_path / "bad.csv"
    path.write_text(text)
    page = choose(api_tab, path)
    expect(page.get_by_label("Target", exact=True)).to_have_value("b")
    page.get_by_role("button", name="Upload").click()
    expect(page.locator(place).first).to_contain_text(message, ignore_case=True)


@pytest.mark.parametrize(
    ("content", "message"), [(b"", "0 columns"), (b"PK\3\4\0\0\0\0", "cannot be read as a table")]
)
def test_files_without_a_table(api_tab: Tab, tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    page = api_tab.go("/datasets")
    page.locator("input[type=file]").set_input_files(path)
    see(page, message)
    expect(page.get_by_role("button", name="Upload")).to_be_disabled()
