"""Facts about objects of more than one target, for rules about whole scopes."""
