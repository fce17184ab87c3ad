"""Commands on a running cluster: what they read, and what they tell about it."""
