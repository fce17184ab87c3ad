"""Koordinator's objects: ElasticQuotas, colocation profiles, Reservations, topology."""
