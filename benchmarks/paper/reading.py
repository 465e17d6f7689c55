"""What the numbers say: the aims with verdicts, and where Literati is ahead, equal and behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.paper import quoted
from benchmarks.paper.data import DATASETS
from benchmarks.paper.plan import OURS_HEAVY, PEERS, Method
from benchmarks.paper.scores import Scores
from benchmarks.paper.statistics import Scores as ScoreTable
from benchmarks.paper.statistics import mean_ranks
from benchmarks.report import markdown_table

# The share of runs with a proof in percent that we aim at, by change points and depth.
PROOF_AIMS = {1: {3: 100, 4: 100, 5: 95, 6: 75}, 3: {3: 100, 4: 95, 5: 60, 6: 40}}
CART = next(method for method in PEERS if method.solver == "cart")
MAX_LISTED = 40
MIN_SHARE = 0.8  # of the paper's datasets: with fewer, averages say nothing about each other
ROUNDING = 0.005  # of the paper's averages


def accuracy_aims(scores: Scores) -> str:
    """Compare the mean training accuracy with the paper's, also as a distance to CART on the same rows.

    The paper's mean over our datasets is not known. It is lowest if the datasets that we lack had 100 %.
    """
    rows = []
    cart_row = quoted.find(quoted.OPTIMALITY, "CART", 1)
    assert cart_row is not None
    for method in sorted(OURS_HEAVY, key=lambda method: method.changepoints):
        row = quoted.find(quoted.OPTIMALITY, "Literati", method.changepoints)
        assert row is not None
        for depth in scores.scope.depths:
            chosen, units = scores.compared([method, CART], depth)
            if len(chosen) < 2 or not units:
                continue
            place = quoted.DEPTHS.index(depth)
            count = len({dataset for dataset, _ in units})
            mine, cart = (scores.summary(one, depth, units).accuracy for one in (method, CART))
            paper, paper_cart = row.accuracy[place], cart_row.accuracy[place]
            lowest = (quoted.N_DATASETS * paper - 100 * (quoted.N_DATASETS - count)) / count
            rows.append(
                [
                    str(method.changepoints),
                    str(depth),
                    str(count),
                    f"{mine:.2f}",
                    f"{paper:.2f}",
                    f"{mine - paper:+.2f}",
                    f"{lowest:.2f}",
                    f"{mine - cart:+.2f}",
                    f"{paper - paper_cart:+.2f}",
                    _accuracy_verdict(
                        count, mine, paper, lowest, mine - cart >= paper - paper_cart - ROUNDING
                    ),
                ]
            )
    header = (
        "K",
        "D",
        "datasets",
        "measured, %",
        "paper, % (quoted)",
        "difference",
        "paper on our datasets, at least",
        "measured above CART",
        "paper above CART",
        "verdict",
    )
    return markdown_table(header, rows)


def _accuracy_verdict(count: int, mine: float, paper: float, lowest: float, more_above_cart: bool) -> str:
    if count < MIN_SHARE * quoted.N_DATASETS:
        return "too few datasets to compare"
    if mine >= paper - ROUNDING:
        beside = "not below the paper's average"
    else:
        beside = "below it, by less than datasets can explain" if mine >= lowest else "**below it**"
    return f"{beside}; {'not less' if more_above_cart else 'less'} above CART than in the paper"


def proof_aims(scores: Scores) -> str:
    rows = []
    for method in OURS_HEAVY:
        row = quoted.find(quoted.OPTIMALITY, "Literati", method.changepoints)
        for depth, aim in PROOF_AIMS.get(method.changepoints, {}).items():
            units = sorted(scores.units(method, depth)) if depth in scores.scope.depths else []
            if not units:
                continue
            found = scores.summary(method, depth, units).proofs
            assert row is not None
            assert row.proofs is not None
            count, planned = len({dataset for dataset, _ in units}), len(scores.scope.datasets)
            reached = "reached" if found >= aim else "**missed**"
            verdict = reached if count == planned else f"{reached} on {count} of {planned} datasets so far"
            paper = row.proofs[quoted.DEPTHS.index(depth)]
            shown = [str(method.changepoints), str(depth), f"{found:.1f}", str(aim), f"{paper:.1f}", verdict]
            rows.append(shown)
    return markdown_table(("K", "D", "measured, %", "aim, %", "paper, % (quoted)", "verdict"), rows)


def rank_aims(tables: Mapping[str, ScoreTable]) -> str:
    """Say of each table who is first in mean rank. Our methods are those whose name begins with Literati."""
    rows = []
    for title, table in tables.items():
        if len(table) < 2 or not next(iter(table.values())):
            continue
        ranks = mean_ranks(table)
        best = min(ranks, key=lambda name: ranks[name])
        others = {name: rank for name, rank in ranks.items() if not _is_ours(name)}
        mine = {name: rank for name, rank in ranks.items() if _is_ours(name)}
        if not others or not mine:
            continue
        next_best, own = (min(group, key=lambda name: group[name]) for group in (others, mine))
        rows.append(
            [
                title,
                str(len(next(iter(table.values())))),
                f"{own} {ranks[own]:.2f}",
                f"{next_best} {ranks[next_best]:.2f}",
                "first" if _is_ours(best) and ranks[own] < ranks[next_best] else "**not first**",
            ]
        )
    return markdown_table(("table", "datasets", "our best", "best other", "verdict"), rows)


def _is_ours(name: str) -> bool:
    return name.lower().startswith("literati")


def against_peers(scores: Scores) -> tuple[str, list[str]]:
    """Count where Literati with as many change points is ahead, equal and behind, and list the last."""
    rows, behind = [], []
    for peer in PEERS:
        mine = next(method for method in OURS_HEAVY if method.changepoints == peer.changepoints)
        cells = []
        for depth in scores.scope.depths:
            counts, lost = _compare(scores, mine, peer, depth)
            cells.append(" / ".join(map(str, counts)) if any(counts) else "–")
            behind += lost
        rows.append([peer.label, *cells])
    return markdown_table(("peer", *(f"D={depth}" for depth in scores.scope.depths)), rows), behind


def _compare(scores: Scores, mine: Method, peer: Method, depth: int) -> tuple[list[int], list[str]]:
    counts, lost = [0, 0, 0], []
    for unit in sorted(scores.units(mine, depth) & scores.units(peer, depth)):
        own, other = scores.of(mine, depth, unit), scores.of(peer, depth, unit)
        assert own is not None
        assert other is not None
        difference = round(own.accuracy - other.accuracy, 9)
        counts[0 if difference > 0 else 1 if difference == 0 else 2] += 1
        if difference < 0:
            proof = "proven in our space" if own.proven else "not proven"
            lost.append(
                f"{unit[0]}, fold {unit[1]}, D={depth}: {peer.label} {other.accuracy:.2f} %, "
                f"ours {own.accuracy:.2f} % ({proof})"
            )
    return counts, lost


def listed(sentences: Sequence[str]) -> str:
    """Return a list of at most MAX_LISTED sentences."""
    shown = [f"- {sentence}" for sentence in sentences[:MAX_LISTED]]
    more = len(sentences) - MAX_LISTED
    return "\n".join([*shown, *([f"- and {more} more"] if more > 0 else [])] or ["None."]) + "\n"


def missing_datasets(scope_datasets: Sequence[str]) -> list[str]:
    return [dataset.name for dataset in DATASETS if dataset.name not in scope_datasets]
