"""YAML text, and data that knows its location in the text."""
