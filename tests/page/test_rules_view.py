"""The rules of a tree as a table, as text, as SQL and as Python."""

from __future__ import annotations

import csv
import io
import math
import random
import re
import sqlite3
from functools import cache
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.page.browser import Tab, saved
from tests.support.page.page_data import Service
from tests.support.page.tree_drawing import holds, leaves

SIZE, PLACE, WET, PIECES, TARGET = 'size "in" cm', "it's here", "wet", "pieces", "kind\\of"
WORDS = ["a'b", 'c"d', "e, f", "\\n", "Ünï"]
CLASSES = ["yes's", 'no "so"', "maybe"]


def odd_row(rng: random.Random) -> dict[str, Any]:
    return {
        SIZE: None if rng.random() < 0.1 else round(rng.uniform(-5, 5), 2),
        PLACE: None if rng.random() < 0.1 else rng.choice(WORDS),
        WET: None if rng.random() < 0.1 else rng.random() < 0.5,
        PIECES: None if rng.random() < 0.1 else rng.randrange(0, 90_000),
    }


def odd_class(row: dict[str, Any], rng: random.Random) -> str:
    if rng.random() < 0.05:
        return rng.choice(CLASSES)
    if row[PLACE] in ("a'b", "\\n"):
        return CLASSES[2] if row[SIZE] is None or -2 < row[SIZE] <= 1.5 else CLASSES[0]
    if row[WET]:
        return CLASSES[1] if (row[PIECES] or 0) > 30_000 else CLASSES[0]
    return CLASSES[0] if row[PIECES] is None else CLASSES[1]


@cache
def odd_rows() -> list[dict[str, Any]]:
    rng = random.Random(11)
    rows = [odd_row(rng) for _ in range(700)]
    return [{**row, TARGET: odd_class(row, rng)} for row in rows]


_made: dict[str, str] = {}


@pytest.fixture
def odd(service: Service) -> str:
    """Return a model whose names and values have quotes, missing values and categories."""
    if "odd" not in _made:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(odd_rows()[0])
        for row in odd_rows():
            writer.writerow(
                "" if x is None else str(x).lower() if isinstance(x, bool) else x for x in row.values()
            )
        dataset = service.upload(out.getvalue(), TARGET)
        job = service.job("odd", dataset, parameters={"max_depth": 4}, limits={"time_limit": 5})
        _made["odd"] = str(service.wait(job)["model_id"])
    return _made["odd"]


def copied(page: Page, name: str) -> str:
    page.get_by_role("button", name=name).click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    text: str = page.evaluate("navigator.clipboard.readText()")
    expect(page.get_by_role("button", name=name)).to_be_visible()
    return text


@pytest.fixture
def rules_page(tab: Tab, odd: str) -> Page:
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = tab.go(f"/models/{odd}?tab=rules")
    expect(page.locator(".rules tbody tr").first).to_be_visible()
    return page


def asked() -> list[dict[str, Any]]:
    """Return rows to predict: rows of the table, unknown categories and extreme numbers."""
    names = [SIZE, PLACE, WET, PIECES]
    known = [{name: row[name] for name in names} for row in odd_rows()[:300]]
    strange = [{**row, PLACE: "not seen"} for row in known[:60]]
    extreme = [{**row, SIZE: 1e12, PIECES: -3} for row in known[:30]]
    return [*known, *strange, *extreme, dict.fromkeys(names)]


def predictions(service: Service, model: str, records: list[dict[str, Any]]) -> list[Any]:
    answer = service.client.post(f"/v1/models/{model}/predict", json={"records": records})
    assert answer.status_code == 200, answer.text
    found: list[Any] = answer.json()["predictions"]
    return found


def test_sql_predicts_like_the_api(rules_page: Page, service: Service, odd: str) -> None:
    sql = copied(rules_page, "Copy as SQL")
    records = asked()
    connection = sqlite3.connect(":memory:")
    names = [name.replace('"', '""') for name in records[0]]
    kinds = ["REAL", "TEXT", "INTEGER", "REAL"]
    columns = ", ".join(f'"{name}" {kind}' for name, kind in zip(names, kinds, strict=True))
    connection.execute(f"CREATE TABLE cells (place INTEGER PRIMARY KEY, {columns})")
    connection.executemany(
        "INSERT INTO cells VALUES (?, ?, ?, ?, ?)", [(i, *row.values()) for i, row in enumerate(records)]
    )
    found = [row[0] for row in connection.execute(f"SELECT {sql} FROM cells ORDER BY place")]
    assert found == predictions(service, odd, records)
    assert set(found) == set(CLASSES)


def test_python_predicts_like_the_api(rules_page: Page, service: Service, odd: str) -> None:
    space: dict[str, Any] = {}
    exec(copied(rules_page, "Copy as Python"), space)
    records = asked()
    assert [space["predict"](row) for row in records] == predictions(service, odd, records)
    # NaN and an absent value are missing values too.
    numbers = [{**row, SIZE: math.nan if row[SIZE] is None else row[SIZE]} for row in records]
    assert [space["predict"](row) for row in numbers] == predictions(service, odd, records)
    absent = [{name: x for name, x in row.items() if x is not None} for row in records]
    assert [space["predict"](row) for row in absent] == predictions(service, odd, records)


def test_text_has_every_rule_with_exact_cuts(tab: Tab, service: Service) -> None:
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    model = service.model()
    tree = service.tree(model)
    page = tab.go(f"/models/{model}?tab=rules")
    rules = copied(page, "Copy as text").strip().split("\n\n")
    assert len(rules) == len(leaves(tree))
    rows = service.client.get(f"/v1/datasets/{service.dataset}/preview?rows=100").json()["records"]
    plain = [{name: x for name, x in row.items() if name != "kind"} for row in rows]
    answers = predictions(service, model, plain)
    for row, answer in zip(plain, answers, strict=True):
        meant = []
        for rule in rules:
            *conditions, then = rule.splitlines()
            if all(holds(re.sub(r"^(If|and) ", "", line), row) for line in conditions):
                meant.append(then)
        assert len(meant) == 1, (row, meant)
        assert meant[0].startswith(f"then {answer} (")
    page.get_by_role("button", name=f"Copy the rule of leaf {leaves(tree)[0]}", exact=True).click()
    assert page.evaluate("navigator.clipboard.readText()") in rules


def test_the_table_sorts_filters_and_leads_to_the_leaf(tab: Tab, service: Service) -> None:
    tree = service.tree(service.model())
    page = tab.go(f"/models/{service.model()}?tab=rules")
    rows = page.locator(".rules tbody tr")
    expect(rows).to_have_count(len(leaves(tree)))
    nodes = [tree["nodes"][leaf] for leaf in leaves(tree)]

    def column(place: int) -> list[float]:
        return [float(text.rstrip(" %")) for text in rows.locator(f"td:nth-child({place})").all_inner_texts()]

    assert column(3) == sorted((node["rows"] for node in nodes), reverse=True)
    page.get_by_role("button", name="Wrong").click()
    assert column(5) == sorted((node["error"] for node in nodes), reverse=True)
    page.get_by_role("button", name="Purity").click()
    purities = sorted((100 * max(node["counts"]) / sum(node["counts"]) for node in nodes), reverse=True)
    assert column(4) == pytest.approx(purities, abs=0.06)
    label = tree["classes"]["labels"][0]["value"]
    page.get_by_label("Filter the rules").fill(label)
    count = sum(node["label"] == 0 for node in nodes)
    expect(rows).to_have_count(count)
    name, text = saved(page, lambda: page.get_by_role("button", name="CSV").click())
    assert name == "flowers-3-rules.csv"
    assert len(list(csv.reader(io.StringIO(text)))) == count + 1
    wanted = int(column(3)[0])
    rows.first.get_by_title("Show this leaf in the tree").click()
    expect(page.locator("svg.drawing .node.selected.leaf")).to_be_visible()
    index = int(page.locator("svg.drawing .node.selected").get_attribute("data-node") or -1)
    assert tree["nodes"][index]["rows"] == wanted
    assert tree["nodes"][index]["label"] == 0
