"""What Volcano's scheduler knows, release by release: actions, plugins, flags, metrics."""
