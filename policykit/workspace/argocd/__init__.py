"""Argo CD: the sources that Applications and ApplicationSets deploy to clusters."""
