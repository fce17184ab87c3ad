"""queues.yaml and the ConfigMap that carries it, written and read."""
