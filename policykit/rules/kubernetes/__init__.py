"""PK8: native scheduler configuration and objects."""
