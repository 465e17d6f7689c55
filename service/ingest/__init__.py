"""Ingest an upload: receive it, read it, determine the column types, check it, describe it and store it.

`media_types`, `multipart`, `query` and `receive` handle HTTP; the other modules start from a file on disk.
"""
