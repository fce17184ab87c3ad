"""How a pool's cards appear to a scheduler when they are partitioned or shared.

Follows NVIDIA's device plugin and GPU Feature Discovery 0.20.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from policykit.catalogue.resources import mig_resource
from policykit.manifests.path import Path
from policykit.model import shared_cards
from policykit.model.pool import Sharing
from policykit.namedtuple import NamedTuple
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.scheme import GFD_VENDOR, CardData
from policykit.policy.models import pool as written
from policykit.policy.problems import did_you_mean
from policykit.targets import target_of_sharing

_PROFILE = re.compile(r"([1-8])g\.[0-9]+gb(\+me|\+me\.all|\+gfx|-me)?\Z")


class CardOffer(NamedTuple):
    """Cards of one node as the device plugin offers them."""

    amounts: Mapping[str, int]
    """Resource to amount; 0 if the number of cards is unknown."""
    counted: int = 0
    """Value of the count label; 0 if unknown."""


class PoolCards(NamedTuple):
    """The cards of a pool, and how they are partitioned or shared."""

    card: CardData
    sharing: Sharing
    per_node: int
    """0 if unknown."""
    whole: int = 0
    """Cards per node left unpartitioned under mig-mixed."""
    rename: bool = False
    sure: bool = True
    """Whether the number is exact, or an upper bound."""

    def offer(self, per_node: int | None = None) -> CardOffer:
        """What a node advertises: MIG partitions, replicas of them or of cards, or whole cards."""
        number = self.per_node if per_node is None else per_node
        sharing = self.sharing
        if sharing.mode in shared_cards.NAMES:
            memory = number * (self.card.memory_mib or 0)
            return CardOffer(shared_cards.amounts(sharing.mode, number, sharing.replicas, memory), number)
        ending = ".shared" if self.rename and sharing.replicas > 1 else ""
        if sharing.mode == "mig-mixed":
            cut = max(number - self.whole, 0) * sharing.replicas
            amounts = {f"{mig_resource(p)}{ending}": cut * slices for p, slices in sharing.profiles.items()}
            if self.whole:
                amounts[self.card.resource] = self.whole
            return CardOffer(amounts, number)
        slices = next(iter(sharing.profiles.values()), 1) if sharing.mode == "mig-single" else 1
        counted = number * slices
        return CardOffer({f"{self.card.resource}{ending}": counted * sharing.replicas}, counted)


def compile_sharing(draft: Draft, path: Path, stated: written.Sharing, card: CardData | None) -> Sharing:
    """The sharing of a pool; reports settings that contradict each other."""
    sharing = Sharing(stated.mode, _pods_per_card(stated), dict(stated.profiles))
    if stated.mode == "none":
        for part in ("replicas", "slots", "profiles", "rename", "wholeCards"):
            if part in draft.names(*map(str, path)):
                draft.problems.error(
                    (*path, part),
                    f"{part} needs a mode",
                    "add mode: time-slicing, mps, mig-single, mig-mixed, hami or volcano-vgpu",
                    key=True,
                )
        return Sharing()
    if card is None:
        draft.problems.error(
            path, "sharing needs a card, but the pool has none", "add card, or remove sharing", key=True
        )
        return sharing
    if stated.slots and stated.mode not in shared_cards.NAMES:
        draft.problems.error((*path, "slots"), "slots needs mode hami or volcano-vgpu", key=True)
    if stated.mode in shared_cards.NAMES:
        _check_virtual(draft, path, stated, card)
    elif stated.mode in ("time-slicing", "mps"):
        _check_replicas(draft, path, stated)
    else:
        _check_partitions(draft, path, stated, card)
    if stated.whole_cards and stated.mode != "mig-mixed":
        draft.problems.error((*path, "wholeCards"), "wholeCards needs mode mig-mixed", key=True)
    return sharing


def _pods_per_card(stated: written.Sharing) -> int:
    if stated.mode in shared_cards.NAMES:
        return stated.slots or shared_cards.SLOTS
    return stated.replicas or 1


def _check_virtual(draft: Draft, path: Path, stated: written.Sharing, card: CardData) -> None:
    if card.vendor != GFD_VENDOR:
        message = f"mode {stated.mode} is for NVIDIA cards, which {card.name} is not"
        hint = (
            "for other cards, state the resource of HAMi's plugin as the resource of the card, and how many "
            "pods can share the cards of a node as perNode: {resource: huawei.com/Ascend910B3, perNode: 32}"
        )
        draft.problems.error((*path, "mode"), message, hint)
    for part in ("replicas", "rename", "profiles"):
        if part in draft.names(*map(str, path)):
            message = f"{part} does not apply to mode {stated.mode}"
            draft.problems.error((*path, part), message, "state slots, or remove it", key=True)
    target = target_of_sharing(stated.mode)
    if target and target not in draft.names("targets"):
        message = f"mode {stated.mode} needs {target}, which places such pods, but it is not a target"
        draft.problems.notice((*path, "mode"), message, f"add targets: {{{target}: {{}}}}")


def _check_replicas(draft: Draft, path: Path, stated: written.Sharing) -> None:
    if stated.replicas is None:
        message = f"mode {stated.mode} needs replicas, the number of pods that share one card"
        draft.problems.error((*path, "replicas"), message, "add replicas: 2 or more")
    if stated.profiles:
        message = f"profiles are MIG partitions, but the mode is {stated.mode}"
        draft.problems.error((*path, "profiles"), message, "use mode mig-single or mig-mixed", key=True)


def _check_partitions(draft: Draft, path: Path, stated: written.Sharing, card: CardData) -> None:
    if card.vendor != GFD_VENDOR:
        message = f"mode {stated.mode} is for NVIDIA cards, which {card.name} is not"
        draft.problems.error((*path, "mode"), message)
        return
    if not stated.profiles:
        draft.problems.error(
            (*path, "profiles"), f"mode {stated.mode} needs profiles", "add profiles: {1g.10gb: 7}"
        )
    if stated.mode == "mig-single" and len(stated.profiles) > 1:
        names = " and ".join(stated.profiles)
        message = f"mig-single partitions every card the same way, but there are several profiles: {names}"
        draft.problems.error((*path, "profiles"), message, "use mode mig-mixed", key=True)
    for profile, slices in stated.profiles.items():
        _check_profile(draft, (*path, "profiles", profile), profile, slices, card)
    _check_compute(draft, (*path, "profiles"), stated.profiles, card)


def _check_profile(draft: Draft, path: Path, profile: str, slices: int, card: CardData) -> None:
    known = card.mig_profiles
    if not _PROFILE.match(profile):
        message = f"{profile!r} is not a MIG profile"
        draft.problems.error(
            path, message, did_you_mean(profile, known) or "use a form such as 1g.10gb", key=True
        )
    elif known and profile not in known:
        message = f"MIG profile {profile} is unknown for {card.product}"
        draft.problems.notice(path, message, did_you_mean(profile, known), key=True)
    elif known and slices > known[profile]:
        message = f"{card.product} fits at most {known[profile]} of {profile}, not {slices}"
        draft.problems.error(path, message)


def _check_compute(draft: Draft, path: Path, profiles: Mapping[str, int], card: CardData) -> None:
    """Reports profiles that exceed a card's compute slices: 7 if its largest profile is 7g, 4 if 4g."""
    slices = {p: int(match[1]) for p in {*profiles, *card.mig_profiles} if (match := _PROFILE.match(p))}
    whole = max((slices[p] for p in card.mig_profiles if p in slices), default=0)
    asked = sum(slices.get(p, 0) * number for p, number in profiles.items())
    if whole and asked > whole and all(n <= card.mig_profiles.get(p, n) for p, n in profiles.items()):
        message = f"the profiles need {asked} compute slices per card, but {card.product} has {whole}"
        draft.problems.error(path, message, "use fewer or smaller partitions", key=True)
