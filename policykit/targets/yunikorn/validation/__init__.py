"""The validator of queues.yaml: what the scheduler refuses, and what fails once it runs."""
