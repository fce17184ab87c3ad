"""What releases of Koordinator know: fields of its plugins' args."""
