"""Where pods can land, and what prevents it."""
