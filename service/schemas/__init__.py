"""What goes over the wire, as Pydantic models."""
