"""Facts on Volcano's scheduler by release: actions, plugins, flags, metrics."""
