"""May this pod set land in this pool, and if not, why: the first reason in the order of contract 3."""
