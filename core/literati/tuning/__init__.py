"""Choose the size of a tree: regularization paths and cross-validation."""
