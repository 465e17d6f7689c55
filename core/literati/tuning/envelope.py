"""The lower envelope of known trees: which of them costs least at each penalty."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from literati.search.penalty_search import KnownTree


def crossing(larger: KnownTree, smaller: KnownTree, ratio: Fraction) -> Fraction:
    """Return the penalty at which two trees cost the same, the larger one with fewer errors."""
    return (smaller.errors - larger.errors) / (larger.size(ratio) - smaller.size(ratio))


def lower_envelope(trees: Iterable[KnownTree], ratio: Fraction) -> list[KnownTree]:
    """Return the trees that cost least over some interval of penalties >= 0, the largest tree first.

    Of trees with equal errors only the smallest is kept, so every interval has a length above 0.
    """
    kept: list[KnownTree] = []
    for tree in sorted(
        trees, key=lambda tree: (tree.size(ratio), tree.errors, tree.changepoints), reverse=True
    ):
        # Trees come from large to small. One that has no more errors is better at every penalty than those
        # before.
        while kept and tree.errors <= kept[-1].errors:
            kept.pop()
        while len(kept) > 1 and crossing(kept[-1], tree, ratio) <= crossing(kept[-2], kept[-1], ratio):
            kept.pop()
        kept.append(tree)
    return kept
