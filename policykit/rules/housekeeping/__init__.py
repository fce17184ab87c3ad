"""PK9: the policy itself, what it generates, and what keeps findings quiet: suppressions and the baseline."""
