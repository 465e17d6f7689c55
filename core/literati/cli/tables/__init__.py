"""Tables in files: CSV with the standard library, Parquet and Arrow with pyarrow or polars."""
