"""Argo CD: Applications and ApplicationSets as the folders that clusters apply."""
