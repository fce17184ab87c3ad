"""A running cluster: the only package that connects to an API server, and it only reads."""
