"""What lint, and the commands beside it, do around the linter: files, fixes, what to leave out."""
