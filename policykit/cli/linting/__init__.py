"""A lint run from the command line: its files and settings, its cache, fixes and reports."""
