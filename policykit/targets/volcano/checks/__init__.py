"""What Volcano does not take as it is written: its scheduler's configuration, and its objects."""
