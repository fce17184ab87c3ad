"""PK0: what stands in the way of reading a manifest as what it means to be."""
