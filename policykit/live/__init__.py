"""A running cluster: the only package that speaks to an API server, and it only reads."""
