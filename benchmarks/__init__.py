"""Compare Literati with other solvers. Every run has its own process on one core."""
