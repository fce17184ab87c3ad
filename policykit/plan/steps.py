"""The transition from one policy to the next: steps with their commands and checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from shlex import quote

from policykit.placement.former_names import FormerNames
from policykit.plan import node_steps
from policykit.plan.queues import LIVE_KINDS
from policykit.plan.replacements import PRIORITY_CLASS
from policykit.plan.transition import BEFORE, CLEAN_UP, DELETE, MERGE, WAIT, Step, Transition
from policykit.targets.nodes.existing_nodes import BATCH
from policykit.targets.nodes.node_groups import pool_taints

_SUSPEND = (
    "A change that is refused stops a whole Flux Kustomization, and Flux and Argo CD bring back what is "
    "deleted: suspend them until the merge."
)


def steps(transition: Transition) -> tuple[Step, ...]:
    """The steps in order; only the first if manifests are not patched yet, since the others depend on it."""
    if transition.stale:
        return (_patch_first(transition),)
    return (
        *_daemons(transition),
        *node_steps.early_labels(transition),
        *_falling_limits(transition),
        *_new_parents(transition),
        *_moves(transition),
        *node_steps.control_plane(transition),
        *_emptied_queues(transition),
        *node_steps.left_labels(transition),
        *_left_objects(transition),
        *_own_former_names(transition),
    )


def _patch_first(transition: Transition) -> Step:
    pod_sets = "1 pod set lands" if transition.stale == 1 else f"{transition.stale} pod sets land"
    return Step(
        BEFORE,
        f"{pod_sets} nowhere because the manifests are those of the old policy. Patch them in the same "
        "change, and plan again.",
        (f"policykit patch --from {quote(transition.source)} --in-place .", "policykit plan"),
    )


def _daemons(transition: Transition) -> Iterator[Step]:
    """Taints that no node has had: the daemons of the nodes must tolerate them first, and the old ones until
    no node has them."""
    known = {taint for pool in transition.before.pools for taint in pool.taints}
    wanted = {taint for pool in transition.after.pools for taint in pool_taints(transition.after, pool)}
    new = wanted - known
    if not new:
        return
    listed = ", ".join(str(taint) for taint in sorted(new))
    text = f"The node daemons tolerate {listed}: device plugin, discovery, exporters, CNI."
    places = {(taint.key, taint.effect) for taint in wanted}
    renamed = {
        old for olds in (transition.middle.domain if transition.middle else {}).values() for old in olds
    }
    gone = {
        f"{taint.key}:{taint.effect}"
        for pool in transition.before.pools
        for taint in pool.hard_taints
        if (taint.key, taint.effect) not in places
    }
    with_names = (
        f" with `formerly: {former_text(transition.middle)}`" if renamed and transition.middle else ""
    )
    text += f" Their values are in nodes/daemons of `policykit gen`{with_names}."
    lost = sorted(each for each in gone if each.partition("/")[0] not in renamed)
    if lost:
        text += (
            f" Keep what they have for {', '.join(lost)} until no node has that taint: `policykit gen` no "
            "longer writes it, and a DaemonSet does not replace its pod on a node that it does not tolerate."
        )
    yield Step(BEFORE, text, ("policykit gen",), "kubectl get daemonsets --all-namespaces")


def _falling_limits(transition: Transition) -> Iterator[Step]:
    """Children before parents when amounts fall; a folder is applied parents first."""
    if transition.queues.fallen:
        yield Step(
            MERGE,
            f"the lower amounts of {', '.join(transition.queues.fallen)}, by themselves: a child may not "
            "exceed its parent, and a folder is applied parents first. (Where amounts rise, parents first is "
            "right.)",
        )


def _new_parents(transition: Transition) -> Iterator[Step]:
    for name, children in transition.queues.parents.items():
        yield Step(
            WAIT,
            f"queue {name}: empty, before it becomes the parent of {', '.join(children)}. A queue with pods "
            "cannot become a parent, and a parent takes no pods: its workloads name another queue first.",
            (),
            _live_queues(transition),
        )


def _live_queues(transition: Transition) -> str:
    """How to see what is allocated from queues, by their kinds."""
    names = {*transition.queues.gone, *transition.queues.parents}
    kinds = {each.kind for each in transition.gone if each.name in names}
    known = [kind for kind in sorted(kinds) if kind.partition(".")[0] in LIVE_KINDS] or ["queues"]
    return f"policykit plan --queues queues.json  # kubectl get {','.join(known)} -o json > queues.json"


def _replaced_priorities(transition: Transition) -> Iterator[Step]:
    """A PriorityClass whose value changes must be deleted: an apply is refused."""
    old = {priority.name: priority for priority in transition.before.priorities}
    for new in transition.after.priorities:
        was = old.get(new.name, new)
        if (was.value, was.preempts) != (new.value, new.preempts):
            yield Step(
                DELETE,
                f"PriorityClass {new.name}, right before the merge that brings it back: "
                f"{PRIORITY_CLASS.means}. {_SUSPEND}",
                (f"kubectl delete priorityclass {quote(new.name)}",),
                f"kubectl get priorityclass {quote(new.name)}",
            )


def _replaced_objects(transition: Transition) -> Iterator[Step]:
    if transition.replaced:
        objects = "1 object" if transition.replaced == 1 else f"{transition.replaced} objects"
        yield Step(
            DELETE,
            f"{objects} whose template is immutable, called replaced above: let them finish first, or delete "
            f"them right before the merge that brings them back. {_SUSPEND}",
        )


def _moves(transition: Transition) -> Iterator[Step]:
    merges = 0
    total = sum(move.group < 0 for move in transition.moves)
    last = max((number for number, move in enumerate(transition.moves) if move.group >= 0), default=-1)
    done = 0
    rest = {number: list(group.names) for number, group in enumerate(transition.groups)}
    cards: set[str] = set()
    for is_merge, run in groupby(transition.moves, key=lambda move: move.group < 0):
        for move in run:
            done += 1
            if is_merge:
                merges += 1
                yield from _merge(transition, merges, total)
                yield from _rolled(transition) if done <= last else ()
            else:
                names = rest[move.group][: move.nodes]
                rest[move.group] = rest[move.group][move.nodes :]
                yield from node_steps.node_steps(
                    transition, transition.groups[move.group], move.nodes, names, cards
                )


def _merge(transition: Transition, number: int, total: int) -> Iterator[Step]:
    if transition.only_queues_go:
        return
    yield from _replaced_priorities(transition) if number == 1 else ()
    yield from _replaced_objects(transition)
    is_last = number == total and not transition.queues.gone
    gen = _gen(transition, last=is_last)
    moved = [command for command in _moved_folder(transition) if number == 1]
    kept = _kept_queues(transition)
    still = _still(transition, kept)
    if transition.middle is not None:
        text, patches = (
            _with_both(transition, kept, still) if number < total else _without_old(transition, still)
        )
        commands = [*moved, gen, *patches]
    else:
        former = f" with `formerly: {former_text(FormerNames(queues=kept))}`" if kept else ""
        text = f"the new policy{former}{still}, and its manifests."
        commands = [*moved, gen]
    if moved:
        text += " Flux Kustomizations and Argo CD Applications name the new folder in the same merge."
    yield Step(MERGE, text, tuple(commands), node_steps.PENDING)


def _with_both(
    transition: Transition, kept: Mapping[str, tuple[str, ...]], still: str
) -> tuple[str, list[str]]:
    """The first of two merges: what is merged, and the commands that patch the manifests."""
    names = (transition.middle or FormerNames())._replace(queues=kept)
    former = f" with `formerly: {former_text(names)}`" if names != FormerNames() else ""
    patch = "policykit patch --in-place ."
    if not transition.restored:
        what = "the manifests patched with it: they accept the old and the new names."
        return f"the new policy{former}{still}, and {what}", [patch]
    what = (
        f"the manifests of {transition.source} patched with it, not with `--from`: they accept the old and "
        "the new nodes. Other changes of these files wait for the last merge."
    )
    files = [
        transition.restored[start : start + BATCH] for start in range(0, len(transition.restored), BATCH)
    ]
    restore = [f"git checkout {quote(transition.origin)} -- {' '.join(map(quote, each))}" for each in files]
    return f"the new policy{former}{still}, and {what}", [*restore, patch]


def _without_old(transition: Transition, still: str) -> tuple[str, list[str]]:
    """The last merge, likewise."""
    names, patches = "", []
    if transition.middle and transition.middle != FormerNames():
        names = " without `formerly:`"
        patches.append("policykit patch --from HEAD --in-place .")
    if transition.restored:
        patches.append(f"policykit patch --from {quote(transition.origin)} --in-place .")
    what = "what only the old policy wrote" if transition.restored else "the old names"
    return f"the new policy{names}{still}, and the manifests without {what}.", patches


def _gen(transition: Transition, *, last: bool) -> str:
    """The command that writes the files; what goes is pruned with the last merge."""
    queues = {queue.name for queue in transition.before.queues}
    allowed = [name for name in transition.protected if last or name not in queues]
    words = ["policykit gen", *(["--prune"] if last and transition.removed else [])]
    return " ".join([*words, *(f"--allow-removal {quote(name)}" for name in allowed)])


def _moved_folder(transition: Transition) -> Iterator[str]:
    """The output of another folder: the old one would stay applied."""
    old, new = transition.before.output, transition.after.output
    if old and new and old != new:
        yield f"git mv {quote(old)} {quote(new)}"


def _kept_queues(transition: Transition) -> Mapping[str, tuple[str, ...]]:
    """Queues that go but may stay beside the present ones."""
    return {
        new: olds for new, olds in transition.kept.queues.items() if set(olds) & set(transition.queues.gone)
    }


def _still(transition: Transition, kept: Mapping[str, tuple[str, ...]]) -> str:
    """What goes with the last merge only, and no former name keeps."""
    former = {old for olds in kept.values() for old in olds}
    names = [name for name in transition.queues.gone if name not in former]
    if transition.queues.targets:
        return f", still with {_targets(transition)}"
    return f", still with {_queues(names)}" if names else ""


def _targets(transition: Transition) -> str:
    return ", ".join(f"`targets.{name}`" for name in transition.queues.targets)


def _queues(names: Sequence[str]) -> str:
    return f"queue{'' if len(names) == 1 else 's'} {', '.join(names)}"


def _rolled(transition: Transition) -> Iterator[Step]:
    if transition.rolls:
        yield Step(
            WAIT,
            "every rolling update has ended, and objects that must be replaced are: pods of the old "
            "templates do not accept what follows.",
            (),
            "kubectl get deployments,statefulsets,daemonsets --all-namespaces",
        )


def _emptied_queues(transition: Transition) -> Iterator[Step]:
    gone = transition.queues.gone
    if not gone:
        return
    yield Step(
        WAIT,
        f"{_queues(gone)}: empty. Until then {'it stays' if len(gone) == 1 else 'they stay'} in the policy: "
        "deleting a queue does not wait for its pods.",
        (),
        _live_queues(transition),
    )
    what = _targets(transition) if transition.queues.targets else _queues(gone)
    yield Step(MERGE, f"the policy without {what}.", (_gen(transition, last=True),), "")


def _left_objects(transition: Transition) -> Iterator[Step]:
    order = {name: number for number, name in enumerate(transition.queues.gone)}
    commands = []
    for each in sorted(transition.gone, key=lambda each: (each.kind, order.get(each.name, 0), each)):
        namespace = f" -n {quote(each.namespace)}" if each.namespace else ""
        commands.append(f"kubectl delete{namespace} {quote(each.kind)} {quote(each.name)}")
    if commands:
        yield Step(
            CLEAN_UP,
            "Objects that the policy no longer has: Flux and Argo CD delete them where they prune.",
            tuple(commands),
            "policykit gen --check --live",
        )


def _own_former_names(transition: Transition) -> Iterator[Step]:
    if transition.after.formerly.on_nodes or transition.after.formerly.queues:
        yield Step(
            CLEAN_UP,
            "When all nodes and workloads have the new names: remove `formerly:` from the policy, and "
            "`policykit patch --from HEAD --in-place .` takes the old names out of the manifests.",
        )


def former_text(names: FormerNames) -> str:
    """{domain: {new: [old]}}, as one line of YAML."""
    parts = []
    for field, found in names._asdict().items():
        if found:
            inner = ", ".join(f"{new}: [{', '.join(olds)}]" for new, olds in found.items())
            parts.append(f"{field}: {{{inner}}}")
    return "{" + ", ".join(parts) + "}"
