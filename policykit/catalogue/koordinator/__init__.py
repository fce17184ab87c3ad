"""Facts on Koordinator by release: fields of its plugins' args."""
