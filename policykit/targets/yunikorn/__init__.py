"""Apache YuniKorn: queues and gangs by pod metadata."""
