"""Read the tables of jobs, sweeps and models."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect


def row(page: Page, name: str) -> Locator:
    """Return the row of the run with exactly this name."""
    return page.locator("table.data tbody tr").filter(has=page.get_by_role("link", name=name, exact=True))


def choose(page: Page, *names: str) -> None:
    for name in names:
        page.get_by_role("checkbox", name=f"Choose {name}", exact=True).check()


def cells(page: Page) -> dict[str, dict[str, str]]:
    """Return the texts of the drawn cells by the name of their row and of their column."""
    expect(page.locator("table.data tbody tr").first).to_be_visible()
    heads = [head.strip() for head in page.locator("table.data thead th").all_inner_texts()][1:]
    found = {}
    for line in page.locator("table.data tbody tr").all():
        texts = [line.locator("th a").inner_text(), *line.locator("td").all_inner_texts()[1:]]
        found[texts[0]] = dict(zip(heads, texts, strict=True))
    return found


def names(page: Page) -> list[str]:
    return page.locator("table.data tbody th a").all_inner_texts()


def percent(share: float | None) -> str:
    """Format a share as the page does."""
    return "–" if share is None else f"{re.sub(r'[.]0$', '', f'{100 * share:.1f}')} %"


def undo(page: Page) -> None:
    page.get_by_role("group", name="Undo").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("group", name="Undo")).to_have_count(0)
