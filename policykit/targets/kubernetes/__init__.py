"""Native objects: PriorityClasses and ResourceQuotas."""
