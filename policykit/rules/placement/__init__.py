"""PK1: where pods can land, and what prevents it."""
