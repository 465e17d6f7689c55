"""Fitted classifiers in notebooks: scikit-learn's diagram with the tree below it."""

from __future__ import annotations

from typing import Any

from literati.tree.plot.html import to_html


class TreeDisplayMixin:
    """Add the drawing of `tree_`, if there is one, to the display of an estimator of scikit-learn.

    Put it before BaseEstimator. With `sklearn.set_config(display="text")`, there is no drawing.
    """

    def _repr_html_inner(self) -> str:
        return f"{super()._repr_html_inner()}{self._tree_html()}"  # type: ignore[misc]

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._tree_html()
        return bundle

    def _tree_html(self) -> str:
        return to_html(self.tree_) if hasattr(self, "tree_") else ""
