"""Every kind of fault, family by family."""

from tests.mutation.faults.gangs import FAULTS as GANGS
from tests.mutation.faults.koordinator import FAULTS as KOORDINATOR
from tests.mutation.faults.native import FAULTS as NATIVE
from tests.mutation.faults.placement import FAULTS as PLACEMENT
from tests.mutation.faults.pools import FAULTS as POOLS
from tests.mutation.faults.queues import FAULTS as QUEUES
from tests.mutation.faults.reading import FAULTS as READING
from tests.mutation.faults.resources import FAULTS as RESOURCES
from tests.mutation.faults.structure import FAULTS as STRUCTURE
from tests.mutation.faults.together import FAULTS as TOGETHER
from tests.mutation.faults.volcano import FAULTS as VOLCANO
from tests.mutation.faults.yunikorn import FAULTS as YUNIKORN

FAMILIES = {
    "reading": READING,
    "structure": STRUCTURE,
    "placement": PLACEMENT,
    "pools": POOLS,
    "resources": RESOURCES,
    "gangs": GANGS,
    "together": TOGETHER,
    "queues": QUEUES,
    "volcano": VOLCANO,
    "koordinator": KOORDINATOR,
    "yunikorn": YUNIKORN,
    "native": NATIVE,
}

FAULTS = tuple(each for family in FAMILIES.values() for each in family)
