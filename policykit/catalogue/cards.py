"""Public functions of the catalogue: vendors, card models and resource names."""

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
from policykit.catalogue.suggestions import candidates, resource_problem

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
