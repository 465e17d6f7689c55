"""Takes docs/page.png: a job of a running service, shown by its page, as its bounds close.

make serve, then in another terminal: .venv/bin/python docs/draw_page.py http://127.0.0.1:8000
"""

import sys
from pathlib import Path

import httpx
from playwright.sync_api import sync_playwright

HERE = Path(__file__).resolve().parent
LOANS = HERE.parent / "examples" / "loans.csv"
JOB = {
    "name": "loans, depth 3",
    "parameters": {"max_depth": 3, "candidates": "quantile", "candidate_leaves": 36},
    "validation": {"fraction": 0.2, "seed": 0},
}
NEARLY = 0.12  # the gap at which the picture is taken


def main(url: str) -> None:
    with httpx.Client(base_url=url, timeout=60) as client:
        asked = {"target": "repaid", "name": "loans"}
        typed = {"Content-Type": "text/csv"}
        dataset = client.post("/v1/datasets", params=asked, headers=typed, content=LOANS.read_bytes())
        job = client.post("/v1/jobs", json={"dataset_id": dataset.raise_for_status().json()["id"], **JOB})
        here = f"/v1/jobs/{job.raise_for_status().json()['id']}"
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1360, "height": 960}, color_scheme="light")
            page.goto(f"{url}/#{here.removeprefix('/v1')}")
            page.wait_for_selector("svg.drawing .node")
            while (gap := client.get(here).json()["progress"]["gap_relative"]) is None or gap > NEARLY:
                page.wait_for_timeout(100)
            page.wait_for_timeout(300)
            page.screenshot(path=HERE / "page.png", full_page=True)
            browser.close()


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"))
