"""YuniKorn: its queues, its ConfigMaps, and the metadata it reads."""
