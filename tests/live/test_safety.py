"""What decides which cluster is read: the command line and the environment, nothing in a repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import Shell
from tests.live.api_server import ApiServer, api_server, kubeconfig
from tests.live.objects import NODES, POLICY


def test_nothing_in_a_repository_names_a_cluster(
    server: ApiServer, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a kubeconfig in the current folder, nor keys of a policy or of settings."""
    with api_server() as other:
        config = kubeconfig(shell.folder, other.url).read_text()
        shell.write({".kube/config": config, "config": config, "policykit.yaml": POLICY})
        shell.write({"pyproject.toml": '[tool.policykit]\nkubeconfig = "kubeconfig"\ncontext = "test"\n'})
        server.add(*NODES)
        assert shell.run("nodes", "--live").code == 0
        monkeypatch.delenv("KUBECONFIG")
        assert shell.run("nodes", "--live").code == 2
        shell.write({"policykit.yaml": f"{POLICY}kubeconfig: kubeconfig\n"})
        assert shell.run("nodes", "--live").code == 2
        assert not other.requests


def test_the_command_line_comes_first(server: ApiServer, shell: Shell, tmp_path: Path) -> None:
    shell.write({"policykit.yaml": POLICY})
    folder = tmp_path / "other"
    folder.mkdir()
    with api_server() as other:
        other.add(*NODES)
        config = str(kubeconfig(folder, other.url, name="other"))
        assert shell.run("nodes", "--live", "--kubeconfig", config, "--context", "other").code == 0
        assert other.requests
    assert not server.requests


def test_the_home_folder_is_the_last_place(
    server: ApiServer, shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shell.write({"policykit.yaml": POLICY})
    server.add(*NODES)
    home = tmp_path / "home"
    (home / ".kube").mkdir()
    kubeconfig(home, server.url).rename(home / ".kube/config")
    monkeypatch.delenv("KUBECONFIG")
    assert shell.run("nodes", "--live").code == 0


def test_a_kubeconfig_is_never_written(server: ApiServer, shell: Shell, tmp_path: Path) -> None:
    shell.write({"policykit.yaml": POLICY})
    server.add(*NODES)
    path = kubeconfig(tmp_path, server.url)
    before = path.read_bytes(), path.stat().st_mtime_ns
    assert shell.run("nodes", "--live", "--kubeconfig", str(path)).code == 0
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_a_pod_uses_its_own_cluster(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where no kubeconfig is named; without the files of a service account it says so."""
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "1")
    assert "cannot be used" not in shell.run("lint", "--live", "--context", "test").err
    monkeypatch.delenv("KUBECONFIG")
    result = shell.run("lint", "--live")
    assert result.err == (
        "policykit: no service account in this pod: Service token file does not exist.\n"
        "  help: mount its token, or use --kubeconfig\n"
    )


def test_a_program_for_credentials(server: ApiServer, shell: Shell, tmp_path: Path) -> None:
    shell.write({"policykit.yaml": POLICY})
    server.add(*NODES)
    path = kubeconfig(tmp_path, server.url)
    config = json.loads(path.read_text())
    token = config["users"][0]["user"]["token"]
    answer = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": token},
    }
    config["users"][0]["user"] = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": "echo",
            "args": [json.dumps(answer)],
            "interactiveMode": "Never",
        }
    }
    path.write_text(json.dumps(config))
    assert shell.run("nodes", "--live", "--kubeconfig", str(path)).code == 0
