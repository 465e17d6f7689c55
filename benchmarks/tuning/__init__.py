"""Compare classifiers on held-out rows, each tuned on the same folds within the same budget of seconds."""
