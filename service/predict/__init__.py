"""Rows in, classes out: bodies are read by a model's schema and predicted by the compiled kernel."""
