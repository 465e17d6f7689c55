"""The events of a record over HTTP, as a stream or as pages of JSON."""
