"""From an upload to a stored table: received, read, typed, checked, described.

`media`, `multipart`, `query` and `receiving` know HTTP; all the others start from a file on disk.
"""
