"""PK9: what keeps findings quiet, suppressions and the baseline."""
