"""Rules about Kueue's objects and what workloads ask of it."""
