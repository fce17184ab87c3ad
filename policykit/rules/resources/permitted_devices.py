"""Devices of virtual machines that KubeVirt's own object here does not permit, or that no machine gets."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Violation
from policykit.linter.scope import Scope
from policykit.model.shared_cards import MachineDevice, PermittedDevices
from policykit.nearest import Names, some


def violations(scope: Scope) -> Iterator[Violation]:
    """Source: `validatePermittedHostDevices` of KubeVirt (1.0 to 1.9): no pod is made for the machine."""
    yield from _not_passed_on(scope)
    permitted = scope.of(PermittedDevices)
    if not permitted or any(each.partial for each in permitted):
        return
    names = Names({name for each in permitted for name in each.value.names})
    for device in scope.of(MachineDevice):
        name = device.value.resource
        if device.partial or name in names or not device.value.passed_on:
            continue
        near = names.nearest(name)
        advice = f"did you mean {near}?" if near else f"permitted: {some(names.sorted)}"
        yield Violation(
            device.at("resource"),
            f"{name} is not among permittedHostDevices of KubeVirt: the machine never starts",
            advice if names.sorted else "add it to permittedHostDevices",
        )


def _not_passed_on(scope: Scope) -> Iterator[Violation]:
    for device in scope.of(MachineDevice):
        if not device.partial and not device.value.passed_on:
            name = device.value.resource
            yield Violation(
                device.at("resource"),
                f"the pod of the machine takes {name}, and the machine does not get it",
                f"name it under devices: gpus: [{{name: gpu1, deviceName: {name}}}], which requests it too",
            )
