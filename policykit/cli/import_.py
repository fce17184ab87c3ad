"""`policykit import`: a policy from existing nodes, queues and scheduler configurations."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from policykit.cli import click
from policykit.cli.options import allow_path, whole_cluster_options
from policykit.cli.output import print_message, write_data, write_file
from policykit.errors import UsageError
from policykit.workspace.inputs import read_inputs

if TYPE_CHECKING:
    from policykit.live.connection import Access


@click.command("import")
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option("-o", "--output", metavar="FILE", default="", help="File to write; must not exist yet.")
@allow_path
@whole_cluster_options
def command(files: tuple[str, ...], output: str, access: Access | None) -> int:
    """Create a policy from an existing cluster.

    FILE is the output of `kubectl get ... -o yaml` (or json): nodes; PriorityClasses, ResourceQuotas,
    LimitRanges, HorizontalPodAutoscalers; queues and HyperNodes of Volcano; ElasticQuotas, Reservations,
    ClusterColocationProfiles and ClusterNetworkTopologies of Koordinator; Namespaces that name a queue;
    ConfigMaps and Deployments of schedulers. Or Helm values of Volcano or YuniKorn, YuniKorn's
    queues.yaml, a KubeSchedulerConfiguration; - for standard input; or a folder with such files, for
    example one that `policykit gen` wrote. With --live, all of it is read from a running cluster.
    """
    if bool(files) == (access is not None):
        raise UsageError(
            "name either files or --live", "policykit import FILE..., or policykit import --live"
        )
    if output and os.path.lexists(output):
        raise UsageError("the file already exists", "choose another name, or move it away", output)
    from policykit.importer.policy import policy_of

    result = policy_of(_inputs(files, access))
    for remark in result.remarks:
        print_message(f"policykit: {remark}")
    if output:
        write_file(output, result.text)
        print_message(f"wrote {output}; review it, then run: policykit lint, policykit gen")
    else:
        write_data(result.text)
    return 0


def _inputs(files: tuple[str, ...], access: Access | None) -> Mapping[str, bytes]:
    if access is None:
        return read_inputs(files)
    from policykit.cli.live import texts_of

    return texts_of(access)
