"""What can go wrong with an API server: one clear line, exit 2, no traceback and no token."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import Result, Shell
from tests.live.api_server import TOKEN, ApiServer, kubeconfig
from tests.live.objects import NODES, POLICY, URGENT, node

COMMANDS = (
    ["audit", "-A"],
    ["why", "pod/a"],
    ["lint", "--live"],
    ["where", "--live"],
    ["nodes", "--check", "--live"],
    ["import", "--live"],
    ["gen", "--diff", "--live"],
)


def fails(result: Result, message: str, help_: str) -> None:
    """One error in one line, with its help."""
    assert result.code == 2
    assert result.err == f"policykit: {message}\n  help: {help_}\n"
    assert TOKEN not in result.out + result.err


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_expired_credentials(words: list[str], server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    server.token = "another"
    fails(
        shell.run(*words),
        f"{server.url} does not accept the credentials",
        "they may have expired: log in again, or name another --context",
    )


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_an_unreachable_server(
    words: list[str], server: ApiServer, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.write({"policykit.yaml": POLICY})
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig(shell.folder, url)))
        result = shell.run(*words)
    fails(
        result,
        f"cannot reach {url}: connection refused",
        "check that the cluster runs and that this machine may reach it",
    )


def cut(server: ApiServer) -> None:
    server.cut["nodes"] = 100


def drip(server: ApiServer) -> None:
    server.drip["nodes"] = 0.05


def delay(server: ApiServer) -> None:
    server.delay["nodes"] = 2


@pytest.mark.parametrize(
    ("fault", "message", "help_"),
    [
        (cut, "{} cut the connection while reading nodes", "run the command again"),
        (drip, "{} is too slow: nodes did not arrive in time", "allow more with --request-timeout"),
        (delay, "{} is too slow: nodes did not arrive in time", "allow more with --request-timeout"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_faults_of_the_connection(
    fault: Callable[[ApiServer], None], message: str, help_: str, server: ApiServer, shell: Shell
) -> None:
    shell.write({"policykit.yaml": POLICY})
    server.add(*NODES)
    fault(server)
    fails(shell.run("nodes", "--live", "--request-timeout", "0.5"), message.format(server.url), help_)


STATUS = {"kind": "Status", "message": "etcdserver: request timed out\x1b[31m"}


@pytest.mark.parametrize(
    ("answer", "message", "help_"),
    [
        (
            (500, STATUS, {}),
            "{} answers 500 for nodes: etcdserver: request timed out\\x1b[31m",
            "see the logs of the API server",
        ),
        (
            (302, {}, {"Location": "http://elsewhere/"}),
            "{} answers 302 for nodes",
            "see the logs of the API server",
        ),
        (
            (200, "<html>", {}),
            "{} answers with application/json that is not a JSON object",
            "check that the server of the context is an API server",
        ),
    ],
    ids=["500", "302", "no object"],
)
def test_odd_answers(answer: Any, message: str, help_: str, server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    server.add(*NODES)
    server.statuses["nodes"] = [answer]
    fails(shell.run("nodes", "--live"), message.format(server.url), help_)


def test_a_busy_server_is_asked_again(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    server.add(*NODES)
    busy = (429, {"kind": "Status", "message": "too many requests"}, {"Retry-After": "0"})
    server.statuses["nodes"] = [busy] * 4
    assert shell.run("nodes", "--live").code == 0
    server.statuses["nodes"] = [busy] * 5
    fails(
        shell.run("nodes", "--live"),
        f"{server.url} is busy",
        "the API server limits requests: try again later",
    )


def test_a_list_that_expires_goes_on_from_the_present_state(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    server.add(*(node(f"n-{number}") for number in range(700)))
    expired = {"kind": "Status", "code": 410, "metadata": {"continue": "500"}}
    first = {"kind": "NodeList", "metadata": {"continue": "old"}, "items": server.objects["v1", "Node"][:500]}
    server.statuses["nodes"] = [(200, first, {}), (410, expired, {})]
    result = shell.run("nodes", "--live", "--format", "json")
    assert result.code == 1
    assert len(json.loads(result.out)["differences"]) >= 0
    assert [line.rpartition("continue=")[2] for line in server.lists("nodes")[1:]] == ["old", "500"]


def test_what_may_not_be_read_is_named_and_the_rest_goes_on(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    server.add(*NODES, URGENT)
    server.serve("apps/v1", "Deployment")
    server.forbidden.add("deployments")
    result = shell.run("audit", "-A")
    assert result.code == 0, result
    assert (
        "policykit: deployments.apps not read: may not read deployments.apps: deployments is forbidden: User"
        ' "someone" cannot list resource "deployments" at the cluster scope\n'
    ) in result.err


def test_what_is_not_installed_is_named(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    server.add(*NODES)
    server.serve("apps/v1", "Deployment")
    result = shell.run("lint", "--live", "-A")
    line = next(line for line in result.err.splitlines() if "not installed" in line)
    assert line.startswith("policykit: not installed, so not read: ")
    assert {"StatefulSet", "kubeflow.org", "kueue.x-k8s.io"} <= set(line.partition("read: ")[2].split(", "))
    assert "apps" not in line.partition("read: ")[2].split(", ")


@pytest.mark.parametrize(
    ("config", "message", "help_"),
    [
        (
            "{}",
            "the kubeconfig {} cannot be used: Invalid kube-config file. Expected key current-context in {}",
            "correct it, or name another one",
        ),
        (f"a: [{TOKEN}", "the kubeconfig {} is not YAML", "correct it, or name another one"),
        (
            TOKEN,
            "the kubeconfig {} cannot be used: it does not have the structure of one",
            "correct it, or name another one",
        ),
    ],
    ids=["empty", "no YAML", "a text"],
)
def test_kubeconfigs_that_cannot_be_used(
    config: str, message: str, help_: str, shell: Shell, tmp_path: Path
) -> None:
    path = tmp_path / "other"
    path.write_text(config)
    fails(shell.run("lint", "--live", "--kubeconfig", str(path)), message.replace("{}", str(path)), help_)


def test_contexts_that_are_not_there(shell: Shell) -> None:
    fails(
        shell.run("lint", "--live", "--context", "prod"),
        "the kubeconfig has no context 'prod'",
        "contexts: test",
    )


def test_no_kubeconfig(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG")
    fails(
        shell.run("lint", "--live"),
        "no kubeconfig: ~/.kube/config does not exist",
        "name one with --kubeconfig or KUBECONFIG",
    )


def test_a_program_for_credentials_that_fails(server: ApiServer, shell: Shell, tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, server.url)
    config = json.loads(path.read_text())
    config["users"][0]["user"] = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": "sh",
            "args": ["-c", "echo 'not logged in' >&2; echo more >&2; exit 3"],
            "interactiveMode": "Never",
        }
    }
    path.write_text(json.dumps(config))
    fails(
        shell.run("lint", "--live", "--kubeconfig", str(path)),
        f"no credentials for {server.url}: exec: process returned 3. not logged in",
        "check the user of the context in the kubeconfig",
    )
    assert not server.requests


def test_the_package_is_needed(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "kubernetes", None)
    fails(
        shell.run("lint", "--live"),
        "reading a cluster needs the package kubernetes",
        "install policykit-k8s[live] from the source you use, or kubernetes into this environment",
    )


def test_a_server_that_is_none(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes the connection and ends it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        thread = threading.Thread(target=lambda: listening.accept()[0].close())
        thread.start()
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig(shell.folder, url)))
        result = shell.run("lint", "--live")
        thread.join()
    fails(result, f"{url} cut the connection while reading the API groups", "run the command again")


def test_passwords_in_urls_are_not_shown(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig(shell.folder, f"http://me:{TOKEN}@127.0.0.1:1")))
    result = shell.run("lint", "--live")
    assert result.code == 2
    assert TOKEN not in result.err
