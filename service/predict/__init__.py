"""Predict: decode rows by the columns of a model, apply the compiled kernel and encode the predictions."""
