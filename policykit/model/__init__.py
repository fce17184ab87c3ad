"""The vocabulary: plain frozen values, standard library only.

Values are NamedTuples: they are made on every lint, and a dataclass costs five times
as much to define at start-up.
"""
