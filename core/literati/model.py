"""The module under which version 0.1.0 pickled trees; they are opened by this name."""

from literati.tree.model import ShapeTree

__all__ = ["ShapeTree"]
