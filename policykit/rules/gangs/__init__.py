"""PK3: pods that start together or not at all."""
