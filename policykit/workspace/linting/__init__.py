"""The files, policies and builds of a lint run, read from the disk: what the linter judges as a whole."""
