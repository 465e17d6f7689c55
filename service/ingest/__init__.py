"""From an uploaded file to a stored table: read, typed, checked, described. Knows nothing of HTTP."""
