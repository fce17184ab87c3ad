"""The catalogue's door: vendors, card models and resource names under one name."""

from policykit.catalogue.mistakes import candidates, resource_problem
from policykit.catalogue.products import (
    LABEL_LIMIT,
    Product,
    Slice,
    Variant,
    Vendor,
    product,
    product_label,
    products,
    variant,
    vendor,
    vendors,
)
from policykit.catalogue.resources import (
    Resource,
    alternatives,
    card_resources,
    is_card,
    known_domain,
    mig_resource,
    resource,
)

__all__ = [
    "LABEL_LIMIT",
    "Product",
    "Resource",
    "Slice",
    "Variant",
    "Vendor",
    "alternatives",
    "candidates",
    "card_resources",
    "is_card",
    "known_domain",
    "mig_resource",
    "product",
    "product_label",
    "products",
    "resource",
    "resource_problem",
    "variant",
    "vendor",
    "vendors",
]
