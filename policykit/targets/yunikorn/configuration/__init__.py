"""queues.yaml and what carries it, in YuniKorn's own words: written and read."""
