"""YAML text and data that remembers its place."""
