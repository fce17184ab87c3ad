"""PK0: syntax, API kinds, fields and values."""
