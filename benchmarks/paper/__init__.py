"""Repeat the experiments of the Literati paper, and write a page that has its numbers beside ours."""
