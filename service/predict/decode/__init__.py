"""Decode the rows of a request into the matrix that the predict kernel reads."""
