"""Koordinator's objects: gangs, ElasticQuotas, colocation profiles, Reservations, topology."""
