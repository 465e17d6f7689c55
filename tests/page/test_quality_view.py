"""What the page says about the quality of a tree: the headline, the amber notices and their ways out."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from tests.support.page.browser import Tab
from tests.support.page.live_job import Live
from tests.support.page.made_metrics import metrics, scores
from tests.support.page.page_data import Service, as_csv
from tests.support.records.model_maker import job_of
from tests.support.stack.acting_worker import costs
from worker.domain.jobs import JobState, Outcome, StopReason

WRONG = costs()[2]  # of 300 training rows, with the tree number 2
HELD = scores(120, 18)


def end(live: Live, upper: float, lower: float, proven: bool, made: dict[str, Any], **more: Any) -> None:
    """End the job with a tree that costs WRONG, and with these bounds."""
    word = live.worker._word(lower, 2, made, **more)
    reason = StopReason.PROVEN_OPTIMAL if proven else StopReason.TIME_LIMIT
    outcome = Outcome(state=JobState.SUCCEEDED, stop_reason=reason, proven_optimal=proven)
    word = word.model_copy(update={"upper_bound": upper})
    live.stack.store.jobs.finish(live.worker.id, live.worker.epoch, outcome, word)


class TestHeadline:
    @pytest.mark.parametrize(
        ("upper", "lower", "proven", "words"),
        [
            (WRONG, WRONG, True, f"Proven: no tree over the searched cuts does better than {WRONG:g}."),
            (
                WRONG + 3,
                WRONG + 3,
                True,
                f"Proven: no tree over the searched cuts does better than {WRONG + 3:g}; polishing moved "
                "cuts beyond them and saved 3 more.",
            ),
            (
                WRONG,
                50.0,
                False,
                f"Not proven: no tree over the searched cuts does better than 50, but one may do better than "
                f"{WRONG:g}.",
            ),
            (
                WRONG + 5,
                WRONG + 2,
                False,
                f"No tree over the searched cuts does better than {WRONG + 2:g}; polishing moved cuts beyond "
                f"them and reached {WRONG:g}.",
            ),
            (WRONG, 0.0, False, "No bound is known: 3.4 % explored."),
        ],
    )
    def test_what_is_proven(self, live: Live, upper: float, lower: float, proven: bool, words: str) -> None:
        made = metrics(scores(300, WRONG), HELD, cart=scores(120, 43))
        end(live, upper, lower, proven, made, explored=1.0 if proven else 0.034)
        headline = live.open().locator(".headline-main")
        expect(headline).to_have_text(
            f"{WRONG:g} of 300 training rows wrong, 85 % ± 6 right on 120 held-back rows (CART 64 %). {words}"
        )

    def test_without_a_bound_no_gap_is_claimed(self, live: Live) -> None:
        live.worker.checkpoint(0.0, tree=2, metrics=metrics(scores(300, WRONG), HELD), explored=0.034)
        page = live.open()
        expect(page.locator(".headline")).to_contain_text("No bound yet: 3.4 % explored.")
        expect(live.fact("Lower bound")).to_have_text("none yet")
        expect(live.fact("Gap")).to_have_text("unknown")
        expect(page.locator("main")).not_to_contain_text("100 %")
        expect(page.locator(".headline")).not_to_contain_text("at least 0")
        live.worker.checkpoint(30.0, explored=0.1)
        expect(page.locator(".headline")).to_contain_text(
            "Not proven: no tree over the searched cuts does better than 30"
        )
        expect(live.fact("Gap")).to_have_text(f"{100 * (WRONG - 30) / WRONG:.1f} %")

    def test_nor_in_lists_nodes_and_models(self, live: Live) -> None:
        def without_bounds(route: Route) -> None:
            answer = route.fetch()
            body = answer.json()
            for node in body["tree"]["nodes"]:
                node.update(bound=0, proven=False)
            route.fulfill(response=answer, json=body)

        made = metrics(scores(300, WRONG), HELD)
        live.worker.checkpoint(0.0, tree=2, metrics=made, explored=0.034)
        page = live.tab.go("/jobs")
        gap = page.locator(".fact").filter(has_text="Gap").locator("dd")
        expect(gap).to_have_text("unknown")
        page.route("**/incumbent", without_bounds)
        live.open()
        root = page.locator('svg.drawing [data-node="0"]')
        expect(root).to_have_attribute("aria-label", re.compile(f"cost {WRONG:g}, open.$"))
        root.click()
        bound = page.locator(".drawer, .columns .panel").locator(".fact").filter(has_text="Lower bound")
        expect(bound.locator("dd")).to_have_text("none")
        end(live, WRONG, 0.0, False, made, explored=0.034)
        live.tab.go("/jobs")
        expect(page.locator("tbody tr")).to_contain_text("unknown")
        live.tab.go(f"/models/{job_of(live.stack, live.worker.id).model_id}")
        expect(gap).to_have_text("unknown")
        expect(bound.locator("dd")).to_have_text("none")

    def test_nothing_held_back(self, live: Live) -> None:
        end(live, WRONG, WRONG, True, metrics(scores(300, WRONG)), explored=1.0)
        page = live.open()
        expect(page.locator(".headline")).to_contain_text(
            f"{WRONG:g} of 300 training rows wrong. No rows were held back, so it is not known how the tree "
            "does on new rows."
        )
        expect(live.fact("Training accuracy")).to_have_text(f"{100 * (1 - WRONG / 300):.1f} %")
        expect(page.locator(".fact dt", has_text="Held-back")).to_have_count(0)
        expect(page.locator(".doubts")).to_have_count(0)

    def test_weights_are_not_rows(self, live: Live) -> None:
        made = metrics(scores(300, 80.5, weight=420.0), scores(120, 18, weight=150.0))
        end(live, WRONG, WRONG, True, made, explored=1.0)
        headline = live.open().locator(".headline")
        expect(headline).to_contain_text("Weight 80.5 of 420 of the training rows wrong")
        expect(headline).to_contain_text("of the weight right on 120 held-back rows")
        expect(headline).to_contain_text(
            f"The cost of the tree, misclassified weight plus penalties, is {WRONG:g}."
        )
        expect(headline).to_contain_text(f"no tree over the searched cuts costs less than {WRONG:g}")
        model = job_of(live.stack, live.worker.id).model_id
        page = live.tab.go(f"/models/{model}?part=evaluation&rows=train")
        expect(page.get_by_role("list", name="Most frequent errors")).to_have_text(
            "Weight 80.5 of 210 of class out is predicted as in (38.3 %)."
        )

    def test_an_interval_at_the_end_of_the_scale(self, live: Live) -> None:
        end(live, WRONG, WRONG, True, metrics(scores(300, WRONG), scores(120, 0)), explored=1.0)
        expect(live.open().locator(".headline")).to_contain_text("100 % (97 to 100 %) right on 120 held-back")

    def test_a_real_job(self, tab: Tab, service: Service) -> None:
        """Costs with penalties are not rows, and the figures are those of the API."""
        job = service.job(
            "penalised",
            parameters={"max_depth": 2, "split_penalty": 1.5},
            validation={"fraction": 0.25, "seed": 1},
        )
        found = service.wait(job)
        train, held = found["metrics"]["train"], found["metrics"]["validation"]
        counts = train["confusion_matrix"]["counts"]
        wrong = sum(map(sum, counts)) - sum(row[i] for i, row in enumerate(counts))
        objective = found["progress"]["objective"]
        assert objective > wrong  # at least one split
        headline = tab.go(f"/jobs/{job}").locator(".headline")
        expect(headline).to_contain_text(f"{wrong:g} of {train['rows']} training rows wrong")
        expect(headline).to_contain_text(f"right on {held['rows']} held-back rows (CART ")
        expect(headline).to_contain_text(f"misclassified weight plus penalties, is {objective:g}.")
        expect(headline).to_contain_text("costs less than")


def warning(code: str, **evidence: Any) -> dict[str, Any]:
    return {"code": code, "text": "The server's words.", "evidence": evidence}


class TestNotices:
    def test_a_good_tree_has_none(self, live: Live) -> None:
        made = metrics(scores(300, 45), HELD, cart=scores(120, 43, log_loss=0.5))
        end(live, WRONG, WRONG, True, made, explored=1.0)
        page = live.open()
        expect(page.locator(".badge.good")).to_have_text("Proven optimal")
        expect(page.locator(".headline")).to_be_visible()
        expect(page.locator(".doubts")).to_have_count(0)

    def test_each_has_a_way_out(self, live: Live) -> None:
        made = metrics(
            scores(300, 45),
            scores(120, 60, log_loss=0.9),
            cart=scores(120, 57, log_loss=0.6),
            majority=scores(120, 60),
            warnings=[
                warning("ID_LIKE_COLUMN", column="customer", distinct_values=300, rows=300),
                warning("OVERFIT"),
                warning("NOT_BETTER_THAN_MAJORITY", p_value=1.0),
            ],
        )
        end(live, WRONG, WRONG, True, made, explored=1.0)
        page = live.open()
        notices = page.get_by_role("group", name="Reasons to doubt this tree")
        expect(notices.locator("li")).to_have_text(
            [
                "The tree decides by customer, which has 300 different values in 300 rows, as an identifier "
                "has. Such a decision says nothing about new rows.",
                "The tree is right on 85 % of the training rows but on 50 % of the 120 held-back rows: it "
                "has learned peculiarities of the training rows.",
                "On the 120 held-back rows, the tree is right on 50 % and the most frequent class alone on "
                "50 %. A paired test does not show that the tree is better. A proof of optimality is about "
                "the training rows and does not change this.",
                # CART was fitted after the warnings were made.
                "On the 120 held-back rows, the tree is right on 50 % and a CART tree of the same depth on "
                "52.5 %. The tree is not shown to be better.",
                "The log loss on the held-back rows is 0.900, and that of CART 0.600: the probabilities of "
                "this tree are less reliable.",
            ]
        )
        job = live.worker.id
        dataset = live.stack.store.jobs.get("default", job).spec.dataset_id  # type: ignore[union-attr]
        links = {link.inner_text(): link.get_attribute("href") for link in notices.locator("a").all()}
        again = f"#/train?from={job}&dataset={dataset}"
        assert links == {
            "Leave out the column customer": f"#/datasets/{dataset}?drop=customer",
            "Search with a larger penalty": f"{again}&split_penalty=2",  # 0.5 % of 300 rows
            "Tune the parameters": f"#/train?dataset={dataset}&tune=1",
            "Search with more smoothing": f"{again}&probability_smoothing=1",
        }
        # The green badge does not stand alone: the notice is directly below the headline.
        expect(page.locator(".headline + .doubts")).to_be_visible()
        expect(page.locator(".headline")).to_contain_text("The proof is about the training rows")

    def test_a_lead_that_a_paired_test_does_not_show(self, live: Live) -> None:
        made = metrics(
            scores(300, 50),
            HELD,
            cart=scores(120, 24, log_loss=0.5),
            warnings=[warning("NOT_BETTER_THAN_CART", p_value=0.2)],
        )
        end(live, WRONG, WRONG, True, made, explored=1.0)
        page = live.open()
        expect(page.locator(".doubts li")).to_contain_text(
            "A paired test does not show that the tree is better."
        )

    def test_a_tree_of_noise(self, tab: Tab, service: Service) -> None:
        """A real search that is proven optimal, on rows that tell nothing."""
        rng = random.Random(3)
        rows = [[i, round(rng.gauss(0, 1), 2), rng.choice(["heads", "tails"])] for i in range(160)]
        dataset = service.upload(as_csv(rows, ("number", "x", "kind")), name="coins")
        job = service.job(
            "coins", dataset, parameters={"max_depth": 3}, validation={"fraction": 0.25, "seed": 0}
        )
        found = service.wait(job)
        codes = {entry["code"] for entry in found["metrics"]["warnings"]}
        assert {"ID_LIKE_COLUMN", "OVERFIT"} <= codes
        page = tab.go(f"/jobs/{job}")
        expect(page.locator(".badge.good")).to_have_text("Proven optimal")
        notices = page.locator(".doubts")
        expect(notices).to_contain_text("The tree decides by number, which has")
        expect(notices).to_contain_text("peculiarities of the training rows")
        expect(notices.get_by_role("link", name="Leave out the column number")).to_be_visible()
        notices.get_by_role("link", name="Search with a larger penalty").click()
        expect(page.get_by_role("heading", level=1, name="Train")).to_be_visible()
