"""PK1: where pods may land, and what keeps them from it."""
