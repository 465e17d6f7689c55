"""Draw docs/tree.svg, the picture in the README: the best tree of depth 2 for the iris flowers.

Run it with `python docs/draw_tree.py`.
"""

from pathlib import Path

from sklearn.datasets import load_iris

from literati import LiteratiClassifier

PICTURE = Path(__file__).resolve().with_name("tree.svg")


def draw() -> str:
    """Return the picture as SVG."""
    iris = load_iris(as_frame=True)
    clf = LiteratiClassifier(max_depth=2, max_changepoints=2, candidates="all")
    clf.fit(iris.data, iris.target_names[iris.target])
    return clf.tree_.to_svg()


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
