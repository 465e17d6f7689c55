"""Take the screenshot docs/page.png of the web page of a running service with a job whose bounds are close.

Run `make serve`, and in another terminal `.venv/bin/python docs/draw_page.py http://127.0.0.1:8000`.
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
SCREENSHOT_GAP = 0.12  # the relative gap at which the screenshot is taken


def main(url: str) -> None:
    with httpx.Client(base_url=url, timeout=60) as client:
        dataset = client.post(
            "/v1/datasets",
            params={"target": "repaid", "name": "loans"},
            headers={"Content-Type": "text/csv"},
            content=LOANS.read_bytes(),
        )
        job = client.post("/v1/jobs", json={"dataset_id": dataset.raise_for_status().json()["id"], **JOB})
        job_path = f"/v1/jobs/{job.raise_for_status().json()['id']}"
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1360, "height": 960}, color_scheme="light")
            page.goto(f"{url}/#{job_path.removeprefix('/v1')}")
            page.wait_for_selector("svg.drawing .node")
            while (
                gap := client.get(job_path).json()["progress"]["gap_relative"]
            ) is None or gap > SCREENSHOT_GAP:
                page.wait_for_timeout(100)
            page.wait_for_timeout(1500)  # the rows of the nodes
            tree = page.locator(".job-tree").bounding_box()
            assert tree is not None
            height = tree["y"] + tree["height"] + 16
            page.screenshot(
                path=HERE / "page.png", full_page=True, clip={"x": 0, "y": 0, "width": 1360, "height": height}
            )
            browser.close()


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"))
