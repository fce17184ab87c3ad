"""Syntax, API kinds, fields and values."""
