"""What to do about each thing that the validator refuses, for readers of a configuration."""

from __future__ import annotations

from collections.abc import Mapping

_WHOLE_FILE = "the scheduler refuses the whole file for it"

ADVICE: Mapping[str, str] = {
    "decoding": f"correct or delete it; {_WHOLE_FILE}",
    "partition-name": "give each partition one name, or merge the two",
    "no-queues": "add the queues; `queues: []` gives a root alone",
    "root-resources": "delete it; bound the queues below root, or use limits",
    "root-limits": "keep the list in one of the two places",
    "acl": "write `users groups`: names with commas, one space between the two lists",
    "queue-name": "rename the queue; a dot would divide the names of a path",
    "queue-name-twice": "merge or rename them: names are compared without regard to case",
    "limit-nobody": "add users or groups, or delete the entry",
    "limit-name": "correct the name; `*` stands for everybody",
    "limit-twice": "keep one entry for each name in the limits of a queue",
    "limit-order": "move the entry with `*` behind all named ones",
    "limit-group": "add a limit for a named group before this one, or delete it",
    "amount": "write a whole number with at most one suffix",
    "limit-zero": "give one resource an amount above zero; others may be 0",
    "limit-empty": "state maxapplications or maxresources, or delete the entry",
    "limit-applications": "lower the limit, or raise maxapplications of the queue",
    "limit-max": "lower the limit, or raise max of the queue",
    "limit-above": "lower this limit, or raise the one above",
    "limit-applications-above": "state maxapplications within that bound, also beside maxresources",
    "max-guaranteed": "lower guaranteed, or raise max",
    "max-above": "lower it to what the queues above allow",
    "guaranteed-sum": "lower guaranteed of the queues below, or raise it here",
    "max-sum": "lower guaranteed of the queues below, or raise max here",
    "rule-name": "name the rule provided, user, tag or fixed",
    "filter-type": "write allow or deny",
    "filter-name": "correct the name or the regular expression",
    "rule-qualified": "let the rules below the outermost name the queue alone, without root",
    "rule-queue": "add the queue, name one that fits, or state `create: true` on the rule",
    "node-sort": "write fair or binpacking, and weights of 0 or more",
    "applications": "state maxapplications on every queue below one that has it, no larger than there",
}
"""By the rule of a problem."""
