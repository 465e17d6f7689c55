"""The page explains a tree that was polished beyond its space wherever its cost stands beside its bounds."""

from __future__ import annotations

from playwright.sync_api import expect
from sklearn.datasets import load_breast_cancer

from literati.tree.nodes import BEYOND_SPACE
from tests.support.page.browser import Tab
from tests.support.page.page_data import Service, as_csv


def test_a_polished_tree_is_explained(tab: Tab, service: Service) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    header = (*(f"x{place}" for place in range(X.shape[1])), "kind")
    rows = [[*cells, f"kind {label}"] for cells, label in zip(X.tolist(), y.tolist(), strict=True)]
    dataset = service.upload(as_csv(rows, header), name="cells")
    polished = {"max_depth": 3, "candidate_leaves": 2}
    job = service.job("polished", dataset, parameters=polished)
    found = service.wait(job)
    model, progress = found["model_id"], found["progress"]
    plain = service.wait(service.job("plain", dataset, parameters={**polished, "polish": False}))["model_id"]

    page = tab.go(f"/jobs/{job}")
    expect(page.locator(".bounds .help")).to_contain_text(BEYOND_SPACE)
    expect(page.locator(".headline")).to_contain_text(
        f"Proven: no tree over the searched cuts does better than {progress['upper_bound']:g}; polishing "
        f"moved cuts beyond them and saved {progress['upper_bound'] - progress['objective']:g} more."
    )
    cost = page.locator(".fact", has_text="Cost of the tree")
    assert BEYOND_SPACE in str(cost.get_attribute("title"))

    page = tab.go("/models?columns=cost")
    for shown, count in ((model, 1), (plain, 0)):
        row = page.locator("tbody tr", has=page.locator(f'a[href="#/models/{shown}"]'))
        expect(row).to_have_count(1)
        expect(row.locator(f'td [title="{BEYOND_SPACE}"]')).to_have_count(count)

    page = tab.go(f"/models/{model}")
    for place in (".tree-panel", ".columns .note"):
        expect(page.locator(place).first).to_contain_text(BEYOND_SPACE)
    page = tab.go(f"/models/{plain}")
    expect(page.locator(".tree-panel")).to_contain_text("Proven optimal")
    expect(page.locator("main")).not_to_contain_text("beyond the searched space")
