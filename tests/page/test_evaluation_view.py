"""The evaluation of a model: scores, confusion matrix, threshold, calibration, and files with true classes.

What the page shows is compared with scikit-learn's figures of the predictions of the API.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Locator, Page, Route, expect
from sklearn import metrics

from tests.support.page.browser import Tab, drop, saved, see, until
from tests.support.page.page_data import COLUMNS, Service, as_csv, flowers
from tests.support.stack.stack import Stack

CLASSES = ("rose", "tulip")  # in the order of the model; the second one is the class to find
READ_MATRIX = """(table) => Array.from(table.tBodies[0].rows, (row) =>
  Array.from(row.querySelectorAll("td:not(.total)"), (cell) => cell.textContent))"""
PARQUET = "application/vnd.apache.parquet"


@dataclass
class Labelled:
    """Rows with their true class, and what the API predicts for them."""

    text: str
    truth: list[str]
    predicted: list[str]
    probabilities: np.ndarray  # of the second class

    def at(self, threshold: float) -> list[str]:
        return [CLASSES[int(p >= threshold)] for p in self.probabilities]


@pytest.fixture(scope="module")
def labelled(service: Service) -> Labelled:
    rows = flowers(150, seed=9)
    answer = service.client.post(
        f"/v1/models/{service.model()}/predict",
        content=as_csv([row[:-1] for row in rows], COLUMNS[:-1]),
        headers={"Content-Type": "text/csv"},
    ).json()
    shares = np.array([row[CLASSES[1]] for row in answer["probabilities"]])
    return Labelled(as_csv(rows), [row[-1] for row in rows], answer["predictions"], shares)


@pytest.fixture
def scored(tab: Tab, service: Service, labelled: Labelled, tmp_path: Path) -> Page:
    """Score the labelled rows on the page."""
    page = open_evaluation(tab, service.model(), "&rows=file")
    (tmp_path / "later.csv").write_text(labelled.text)
    drop(page, ".drop", tmp_path / "later.csv", "text/csv")
    expect(page.locator(".file-report")).to_be_visible()
    return page


@pytest.fixture(scope="module")
def fifteen(service: Service) -> str:
    """Return the id of a model of 15 classes, some with long names."""
    rng = np.random.default_rng(3)
    kind = np.arange(450) % 15
    table = pd.DataFrame(
        {"east": kind % 4 + rng.normal(0, 0.3, 450), "north": kind // 4 + rng.normal(0, 0.3, 450)}
    )
    table["kind"] = [f"kind {k:02}" + " with a rather long name" * int(k % 3 == 0) for k in kind]
    dataset = service.upload(table.to_csv(index=False), name="fifteen")
    job = service.job(
        "fifteen",
        dataset,
        parameters={"max_depth": 3},
        validation={"fraction": 0.3, "seed": 1},
        limits={"max_expansions": 50},
    )
    return str(service.wait(job)["model_id"])


def open_evaluation(tab: Tab, model: str, more: str = "") -> Page:
    page = tab.go(f"/models/{model}?part=evaluation{more}")
    expect(page.get_by_role("tab", name="Evaluation")).to_have_attribute("aria-selected", "true")
    return page


def matrix(page: Page) -> list[list[str]]:
    """Wait for the confusion matrix and return its cells without the column of the sums."""
    table = page.locator("table.confusion")
    expect(table.locator("tbody tr").first).to_be_visible()
    return cast(list[list[str]], table.evaluate(READ_MATRIX))


def numbers(cells: list[list[str]]) -> list[list[int]]:
    return [[int(cell.replace(",", "")) for cell in row] for row in cells]


def percent(text: str) -> float:
    return float(re.sub(r"[^\d.]", "", text.split("%")[0])) / 100


def fact(page: Page, name: str) -> str:
    found = page.get_by_role("region", name="Threshold").locator(".fact")
    return found.filter(has=page.get_by_text(name, exact=True)).locator("dd").inner_text()


def scores(page: Page) -> dict[str, list[str]]:
    """Return the cells of the table of scores by name."""
    rows = page.get_by_role("region", name="Table of scores").locator("tbody tr")
    return {
        rows.nth(i).locator("th").inner_text().split(" (")[0]: rows.nth(i).locator("td").all_text_contents()
        for i in range(rows.count())
    }


def curve(plot: Locator) -> set[tuple[float, float]]:
    """Return the corners of the curve of a plot as shares."""
    path = plot.locator("path.curve").get_attribute("d") or ""
    x = y = 0.0
    found = set()
    for command, text in re.findall(r"([MLHV])([\d. -]+)", path):
        values = [float(value) for value in text.split()]
        if command == "V":
            y = values[0]
            continue
        x, y = (values[0], y) if command == "H" else (values[0], values[1])
        found.add((round((x - 46) / 240, 3), round(1 - (y - 10) / 240, 3)))
    return found


def test_held_back_rows_are_shown_first(tab: Tab, service: Service) -> None:
    model = service.model()
    found = service.client.get(f"/v1/models/{model}").json()["metrics"]
    page = open_evaluation(tab, model)
    rows = page.get_by_role("group", name="Rows")
    expect(rows.get_by_role("button", pressed=True)).to_have_text("Held-back rows (60)")
    for name, which in (("Held-back rows (60)", "validation"), ("Training rows (180)", "train")):
        rows.get_by_role("button", name=name).click()
        expect(page.locator("table.confusion caption")).to_have_text(name.split(" (")[0])
        assert numbers(matrix(page)) == found[which]["confusion_matrix"]["counts"]
        shown = scores(page)
        columns = [found[which], *(found["baselines"][k][which] for k in ("cart", "majority"))]
        for key, label in (("balanced_accuracy", "Balanced accuracy"), ("roc_auc", "ROC AUC")):
            assert [percent(text) for text in shown[label]] == pytest.approx(
                [column[key] for column in columns], abs=0.0006
            )
        for key, label in (("log_loss", "Log loss"), ("brier_score", "Brier score")):
            assert [float(text) for text in shown[label]] == pytest.approx(
                [column[key] for column in columns], rel=1e-3
            )
        interval = columns[0]["accuracy_interval"]
        half = 50 * (interval["high"] - interval["low"])
        assert shown["Accuracy"][0] == f"{100 * columns[0]['accuracy']:.0f} % ± {half:.0f}"
    see(page, "The tree has learned from these rows")
    assert "rows=train" in page.url
    page.reload()
    expect(rows.get_by_role("button", pressed=True)).to_have_text("Training rows (180)")


def test_a_scored_file_has_the_figures_of_scikit_learn(scored: Page, labelled: Labelled) -> None:
    page, truth = scored, labelled.truth
    wrong = sum(a != b for a, b in zip(truth, labelled.predicted, strict=True))
    expect(page.locator(".file-report")).to_contain_text(
        f"right on 150 rows of later.csv: {wrong} rows are wrong."
    )
    assert numbers(matrix(page)) == metrics.confusion_matrix(truth, labelled.predicted).tolist()
    shown, second = scores(page), np.array(truth) == CLASSES[1]
    assert percent(shown["Balanced accuracy"][0]) == pytest.approx(
        metrics.balanced_accuracy_score(truth, labelled.predicted), abs=0.0006
    )
    assert percent(shown["ROC AUC"][0]) == pytest.approx(
        metrics.roc_auc_score(second, labelled.probabilities), abs=0.0006
    )
    both = np.column_stack([1 - labelled.probabilities, labelled.probabilities])
    assert float(shown["Log loss"][0]) == pytest.approx(metrics.log_loss(second, both), rel=1e-3)
    assert float(shown["Brier score"][0]) == pytest.approx(
        2 * metrics.brier_score_loss(second, labelled.probabilities), rel=1e-3
    )
    expect(page.get_by_role("region", name="Table of scores").locator("thead th").nth(2)).to_have_text(
        "Held-back rows"
    )
    table = page.get_by_role("region", name="Scores of each class").locator("tbody tr")
    expected = metrics.precision_recall_fscore_support(truth, labelled.predicted, labels=CLASSES)
    for i in range(2):
        cells = table.nth(i).locator("td").all_text_contents()
        assert [percent(text) for text in cells[:3]] == pytest.approx(
            [part[i] for part in expected[:3]], abs=0.0006
        )
        assert int(cells[3]) == expected[3][i]


def test_the_curves_are_those_of_scikit_learn(scored: Page, labelled: Labelled) -> None:
    second = np.array(labelled.truth) == CLASSES[1]
    false, true, _ = metrics.roc_curve(second, labelled.probabilities, drop_intermediate=False)
    plots = scored.get_by_role("region", name="Threshold").locator(".unit-plot")
    assert curve(plots.nth(0)) == {
        (round(x, 3), round(y, 3)) for x, y in zip(false.tolist(), true.tolist(), strict=True)
    }
    precision, recall, _ = metrics.precision_recall_curve(second, labelled.probabilities)
    expected = zip(recall[:-1].tolist(), precision[:-1].tolist(), strict=True)
    assert {(round(x, 3), round(y, 3)) for x, y in expected} <= curve(plots.nth(1))
    average = metrics.average_precision_score(second, labelled.probabilities)
    expect(plots.nth(1).locator("figcaption")).to_contain_text(f"average precision {100 * average:.1f} %")


def test_a_threshold_changes_matrix_and_words(scored: Page, labelled: Labelled) -> None:
    page, truth = scored, labelled.truth
    slider = page.get_by_role("slider", name="Threshold")
    expect(slider).to_have_attribute("aria-valuetext", "The tree's own decision")
    seen = []
    slider.focus()
    page.keyboard.press("Home")
    for _ in range(len(set(labelled.probabilities.tolist()))):
        at = percent(slider.get_attribute("aria-valuetext") or "")
        threshold = min(labelled.probabilities, key=lambda p: abs(p - at))
        predicted = labelled.at(threshold)
        assert numbers(matrix(page)) == metrics.confusion_matrix(truth, predicted).tolist()
        options: dict[str, Any] = {"pos_label": CLASSES[1], "zero_division": 0}
        assert percent(fact(page, "Precision")) == pytest.approx(
            metrics.precision_score(truth, predicted, **options), abs=0.0006
        )
        assert percent(fact(page, "Recall")) == pytest.approx(
            metrics.recall_score(truth, predicted, **options), abs=0.0006
        )
        alarms = sum(p == CLASSES[1] != t for p, t in zip(predicted, truth, strict=True))
        assert fact(page, "False positives") == f"{alarms} of {truth.count(CLASSES[0])}"
        words = page.locator(".threshold-words").inner_text()
        assert f"Of {predicted.count(CLASSES[1])} rows that are predicted as tulip, {alarms} " in words
        seen.append(alarms)
        page.keyboard.press("ArrowRight")
    assert seen == sorted(seen, reverse=True)
    assert seen[0] == truth.count(CLASSES[0])
    assert seen[-1] < seen[0]
    page.get_by_role("button", name="The tree's own decision").click()
    assert numbers(matrix(page)) == metrics.confusion_matrix(truth, labelled.predicted).tolist()


def test_the_threshold_is_typed_clicked_and_kept_in_the_link(tab: Tab, service: Service) -> None:
    model = service.model()
    points = service.client.get(f"/v1/models/{model}").json()["metrics"]["validation"]["operating_points"]
    page = open_evaluation(tab, model)
    own = numbers(matrix(page))
    least = 100 * max(point["probability"] for point in points if point["probability"] <= 0.5)
    typed = int(least)  # one point more than the tree itself predicts as the second class
    page.get_by_label("Threshold in %").fill(str(typed))
    page.get_by_label("Threshold in %").press("Enter")
    found = sum(point["positives"] for point in points if 100 * point["probability"] >= typed)
    alarms = sum(point["negatives"] for point in points if 100 * point["probability"] >= typed)
    caption = re.compile(rf"^Held-back rows, at a threshold of {typed}(\.0)? %$")
    expect(page.locator("table.confusion caption")).to_have_text(caption)
    assert [row[1] for row in numbers(matrix(page))] == [alarms, found]
    assert numbers(matrix(page)) != own
    assert f"threshold={typed / 100}" in page.url
    page.reload()
    expect(page.locator("table.confusion caption")).to_have_text(caption)
    # The upper right corner of the ROC curve predicts every row as the class to find.
    plot = page.locator(".unit-plot svg").first
    box = plot.bounding_box()
    assert box
    scale = box["width"] / 300
    plot.click(position={"x": (46 + 239) * scale, "y": 11 * scale})
    assert [row[0] for row in numbers(matrix(page))] == [0, 0]
    # The other class: what was a miss is a false positive.
    page.get_by_label("Class to find").select_option("0")
    expect(page.get_by_role("slider", name="Threshold")).to_have_attribute(
        "aria-valuetext", "The tree's own decision"
    )
    assert numbers(matrix(page)) == own
    assert "threshold" not in page.url
    assert fact(page, "False positives") == f"{own[1][0]} of {sum(own[1])}"


def test_calibration_is_that_of_the_predictions(scored: Page, labelled: Labelled) -> None:
    confidence = np.maximum(labelled.probabilities, 1 - labelled.probabilities)
    right = np.array(labelled.truth) == np.array(labelled.predicted)
    bins = np.minimum((confidence * 10).astype(int), 9)
    scored.get_by_text("Calibration as a table").click()
    rows = scored.get_by_role("region", name="Calibration table").locator("tbody tr")
    expect(rows).to_have_count(len(set(bins.tolist())))
    circles = scored.get_by_role("region", name="Calibration", exact=True).locator("circle")
    for i, k in enumerate(sorted(set(bins.tolist()))):
        cells = rows.nth(i).locator("td").all_text_contents()
        assert percent(cells[0]) == pytest.approx(confidence[bins == k].mean(), abs=0.0006)
        assert percent(cells[1]) == pytest.approx(right[bins == k].mean(), abs=0.0006)
        assert int(cells[2]) == (bins == k).sum()
        x, y = (float(circles.nth(i).get_attribute(name) or 0) for name in ("cx", "cy"))
        assert (x - 46) / 240 == pytest.approx(confidence[bins == k].mean(), abs=1e-6)
        assert 1 - (y - 10) / 240 == pytest.approx(right[bins == k].mean(), abs=1e-6)
    see(scored, f"a probability of {100 * confidence.mean():.1f} %")


def test_rare_errors_are_seen(tab: Tab, service: Service) -> None:
    rng = random.Random(1)
    lines = [f"{x:.6f},{'yes' if x > 0.7 else 'no'}" for x in (rng.random() for _ in range(4000))]
    lines[7] = "0.9,no"
    dataset = service.upload("x,kind\n" + "\n".join(lines) + "\n", name="rare")
    model = service.wait(service.job("rare", dataset, parameters={"max_depth": 1}))["model_id"]
    page = open_evaluation(tab, model)
    counts = numbers(matrix(page))
    assert counts[0][1] == 1
    assert counts[1][0] == 0
    error, none = page.locator("td.miss.some"), page.locator("td.miss:not(.some)")
    colour = "(cell) => getComputedStyle(cell).backgroundColor"
    assert error.evaluate(colour) != none.evaluate(colour)
    page.get_by_role("button", name="Row %").click()
    until(page, lambda: matrix(page)[0] == ["99.9 %", "< 0.1 %"], "a matrix of shares")
    see(page, f"1 of {sum(counts[0]):,} rows of class no is predicted as yes (< 0.1 %).")
    page.get_by_role("button", name="Errors only").click()
    until(page, lambda: matrix(page) == [["1"]], "a matrix of the classes with errors")
    assert "cells=errors" in page.url
    page.reload()
    expect(page.get_by_role("button", name="Errors only")).to_have_attribute("aria-pressed", "true")


def test_fifteen_classes(tab: Tab, service: Service, fifteen: str) -> None:
    found = service.client.get(f"/v1/models/{fifteen}").json()["metrics"]["validation"]
    page = open_evaluation(tab, fifteen)
    expect(page.locator("table.confusion tbody tr")).to_have_count(15)
    counts = np.array(found["confusion_matrix"]["counts"])
    assert numbers(matrix(page)) == counts.tolist()
    expect(page.get_by_role("region", name="Threshold")).to_have_count(0)
    wrong = counts - np.diag(np.diag(counts))
    i = int(wrong.max(axis=1).argmax())
    largest = page.get_by_role("list", name="Most frequent errors").locator("li").first
    labels = found["confusion_matrix"]["labels"]
    expect(largest).to_contain_text(f"{wrong.max()} of {counts[i].sum()} rows")
    sentence = largest.inner_text()
    told = [name for name in labels if f"of class {name} " in sentence]
    assert len(told) == 1
    assert wrong[labels.index(told[0])].max() == wrong.max()
    table = page.get_by_role("region", name="Scores of each class")
    table.get_by_role("button", name="Recall").click()
    worst = min(entry["recall"] for entry in found["per_class"])
    table.get_by_role("button", name="Recall").click()
    assert percent(table.locator("tbody tr").first.locator("td").nth(1).inner_text()) == pytest.approx(
        worst, abs=6e-4
    )
    _, text = saved(
        page, lambda: page.get_by_role("region", name="Classes").get_by_role("button", name="CSV").click()
    )
    assert len(text.splitlines()) == 16
    page.set_viewport_size({"width": 320, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    region = page.get_by_role("region", name="Held-back rows")
    region.evaluate("(box) => box.scrollTo(400, 300)")
    head = page.locator("table.confusion tbody th").last.bounding_box()
    inside = region.bounding_box()
    assert head
    assert inside
    assert head["x"] == pytest.approx(inside["x"], abs=2)  # the names of the true classes stay


def test_rows_without_class_and_of_unknown_classes_are_told(
    tab: Tab, service: Service, labelled: Labelled, tmp_path: Path
) -> None:
    lines = labelled.text.splitlines()
    lines[1:6] = [re.sub("[^,]*$", "", line) for line in lines[1:6]]
    lines[6:9] = [re.sub("[^,]+$", "lily", line) for line in lines[6:9]]
    (tmp_path / "odd.tsv").write_text("\n".join(lines).replace(",", "\t") + "\n")
    page = open_evaluation(tab, service.model(), "&rows=file")
    page.locator("input[type=file]").set_input_files(tmp_path / "odd.tsv")
    report = page.locator(".file-report")
    expect(report).to_contain_text("right on 145 rows of odd.tsv")
    expect(report).to_contain_text("5 of 150 rows have no value in kind and are left out.")
    expect(report).to_contain_text(
        "3 rows have a class that the model does not know (lily: 3). They count as errors"
    )
    assert tab.sent("POST", "/score")[-1].headers["content-type"] == "text/tab-separated-values"
    rows = page.locator("table.confusion tbody tr")
    expect(rows).to_have_count(3)
    truth, predicted = labelled.truth[8:], labelled.predicted[8:]
    known = metrics.confusion_matrix(truth, predicted).tolist()
    assert numbers(matrix(page))[:2] == known  # an unknown class is never predicted, so it has no column
    assert fact(page, "Missed") == f"{known[1][0]} of {sum(known[1])}"


def test_a_parquet_file_is_scored_and_a_wrong_one_refused(
    tab: Tab, service: Service, labelled: Labelled, tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_text(labelled.text)
    pd.read_csv(tmp_path / "rows.csv").to_parquet(tmp_path / "rows.parquet")
    page = open_evaluation(tab, service.model(), "&rows=file")
    slow: list[Route] = []
    page.route("**/score", lambda route: slow.append(route), times=1)
    drop(page, ".drop", tmp_path / "rows.csv", "text/csv")
    until(page, lambda: slow, "the first request")
    drop(page, ".drop", tmp_path / "rows.parquet")  # and the first file is not awaited any more
    until(page, lambda: slow[0].request.failure, "the end of the first request")
    expect(page.locator(".file-report")).to_contain_text("right on 150 rows of rows.parquet")
    assert tab.sent("POST", "/score")[-1].headers["content-type"] == PARQUET
    assert numbers(matrix(page)) == metrics.confusion_matrix(labelled.truth, labelled.predicted).tolist()
    tab.refusals.add(422)
    (tmp_path / "other.csv").write_text(labelled.text.replace("kind", "sort", 1))
    drop(page, ".drop", tmp_path / "other.csv", "text/csv")
    expect(page.get_by_role("region", name="Score a file").get_by_role("alert")).to_contain_text("kind")
    page.get_by_text("Other columns").click()
    page.get_by_label("Column of the true class").fill("sort")
    page.get_by_role("button", name="Score other.csv again").click()
    expect(page.locator(".file-report")).to_contain_text("right on 150 rows of other.csv")
    page.get_by_label("Column of the weights").fill("zip")
    page.get_by_role("button", name="Score other.csv again").click()
    expect(page.locator(".file-report")).to_contain_text("of the weight right on 150 rows of other.csv.")
    expect(page.get_by_role("list", name="Most frequent errors")).to_contain_text("Weight ")
    page.get_by_label("Column of the weights").fill("colour")
    page.get_by_role("button", name="Score other.csv again").click()
    expect(page.locator(".field.wrong .error")).to_contain_text("name a column of numbers")


def test_a_record_of_an_older_version(tab: Tab, service: Service) -> None:
    def older(route: Route) -> None:
        found = route.fetch().json()
        for rows in ("train", "validation"):
            del found["metrics"][rows]["operating_points"], found["metrics"][rows]["calibration"]
        route.fulfill(json=found)

    model = service.model()
    tab.page.route(f"**/v1/models/{model}", older)
    page = open_evaluation(tab, model)
    expect(page.get_by_role("region", name="Threshold")).to_contain_text("older version")
    expect(page.get_by_role("region", name="Calibration")).to_contain_text("older version")
    assert numbers(matrix(page))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_keyboard_and_every_width(
    browser: Browser, page_stack: Stack, service: Service, fifteen: str, theme: str
) -> None:
    tab = Tab(browser, page_stack.url, color_scheme=theme, reduced_motion="reduce")
    page = tab.go(f"/models/{service.model()}")
    page.get_by_role("tab", name="Tree", exact=True).first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("region", name="Threshold")).to_be_visible()
    for model in (service.model(), fifteen):
        for cells in ("counts", "errors"):
            page = open_evaluation(tab, model, f"&cells={cells}&threshold=0.2")
            expect(page.locator("table.confusion")).to_be_visible()
            violations = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
            assert not violations, json.dumps(violations, indent=2)[:3000]
            for width in (320, 768, 1360, 1920):
                page.set_viewport_size({"width": width, "height": 800})
                assert page.evaluate("document.documentElement.scrollWidth") <= width
    tab.close()
    assert tab.complaints == []
