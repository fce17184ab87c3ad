"""What containers start: their command lines, and servers of language models with the cards they use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube import requests
from policykit.kube.command_line import Argument, arguments
from policykit.kube.podsets import PodSet
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, mappings, text
from policykit.namedtuple import NamedTuple

MAIN = "containers"


class Command(NamedTuple):
    """What a container starts."""

    field: str
    """The list of containers it is in, and its position there."""
    position: int
    container: Mapping[str, Any]
    words: tuple[Argument, ...]
    line: str
    """The words with a space between."""
    base: Path = ()
    """Path of the container, if it is not in a list of a pod."""

    def place(self, pod_set: PodSet, offset: int) -> Path:
        """Path of the word that has a character of the line."""
        start = 0
        for word, path in self.words:
            start += len(word) + 1
            if offset < start:
                return (*self.base, *path) if self.base else pod_set.place(self.field, self.position, *path)
        raise IndexError(offset)

    def variable(self, name: str) -> str:
        """A value that the container states; empty: it has none, or it is set in another way."""
        stated = [each for each in mappings(self.container.get("env")) if each.get("name") == name]
        return text(stated[-1].get("value")) if stated else ""


_SIMPLE = re.compile(r"[^;&|]+")


def option_of(
    line: str, programs: re.Pattern[str], option: re.Pattern[str]
) -> tuple[re.Match[str], re.Match[str]] | None:
    """A program, and an option behind it in the same command of a shell; None: there is none.

    Each command is searched once, from its first program on: a line may be long, and repeat a name.
    """
    for simple in _SIMPLE.finditer(line):
        program = programs.search(line, simple.start(), simple.end())
        found = option.search(line, program.end(), simple.end()) if program else None
        if program and found:
            return program, found
    return None


def commands(pod_set: PodSet) -> Iterator[Command]:
    for field, position, container in requests.containers(pod_set.spec):
        words = arguments(container)
        yield Command(field, position, container, words, " ".join(word for word, _ in words))


class Server(NamedTuple):
    """A server of language models, and the cards that it uses."""

    command: Command
    name: str
    cards: int
    """Product of its sizes: 1 if it states none."""
    place: Path | None
    """Of the first size that it states."""
    certain: bool
    """Whether nothing else may say how many cards it uses."""


_SIZES: Mapping[str, tuple[str, ...]] = {
    "vllm": (
        r"--tensor[-_]parallel[-_]size|-tp",
        r"--pipeline[-_]parallel[-_]size|-pp",
    ),
    "sglang": (r"--tensor-parallel-size|--tp-size|--tp", r"--pipeline-parallel-size|--pp-size"),
    "text-generation": (r"--num-shard",),
}
"""Word in the image or the command of a server to its options whose product is the number of its cards."""
_SEVERAL = re.compile(r"--nnodes|--node-rank|--headless|--distributed-executor-backend[ =]+ray|ray start")
"""In a command whose server spans several pods."""
_STARTED = re.compile(r"\bvllm serve\b|\bvllm\.entrypoints\.|\bsglang\.launch_server\b|\bsglang serve\b")
_IMAGE = re.compile(r"(?:^|/)vllm-openai(?::|@|$)")
_UNCERTAIN = re.compile(r"\$|--config|--dp\b|[-_]?data[-_]parallel|-dp\b|&|\bray\b|parallel")
"""In a command that may use more cards, or start more than one server."""


def servers(manifest: Manifest, pod_set: PodSet) -> Iterator[Server]:
    """Those that one pod runs alone."""
    if lookup(manifest.data, _GROUP) is not None:
        return
    for command in commands(pod_set):
        found = None if _SEVERAL.search(command.line) else server_sizes(command, pod_set)
        if found is not None:
            yield found
    if (manifest.group, manifest.kind) == ("serving.kserve.io", "InferenceService"):
        yield from _of_model(manifest, pod_set)


_MODEL: Path = ("spec", "predictor", "model")
_FORMATS = ("huggingface", "vLLM", "vllm")


def _of_model(manifest: Manifest, pod_set: PodSet) -> Iterator[Server]:
    """The server of KServe, which passes the options of vLLM to it. Source: `huggingfaceserver` (0.16)."""
    model = mapping(lookup(manifest.data, _MODEL))
    if lookup(model, ("modelFormat", "name")) in _FORMATS:
        words = arguments(model)
        line = " ".join(["vllm", *(word for word, _ in words)])
        command = Command(MAIN, 0, model, (("vllm", ()), *words), line, _MODEL)
        if (found := server_sizes(command, pod_set)) is not None:
            yield found._replace(certain=False)


def server_sizes(command: Command, pod_set: PodSet) -> Server | None:
    """Of a container that starts a server.

    Sources: vLLM (0.10), SGLang (0.5) and text-generation-inference (3.3).
    """
    about = f"{text(command.container.get('image'))} {command.line}"
    server = next((name for name in _SIZES if name in about), "")
    if command.field != MAIN or not server:
        return None
    product, at, line = 1, None, command.line
    for option in _SIZES[server]:
        found = re.search(rf"(?:^|\s)(?:{option})(?:=|\s+)[\"']?(\d{{1,4}})\b", command.line)
        if found:
            product *= int(found.group(1))
            at = at if at is not None else command.place(pod_set, found.start(1))
            line = line.replace(found.group(), " ")
    return Server(command, server, product, at, _is_alone(command) and not _UNCERTAIN.search(line))


def _is_alone(command: Command) -> bool:
    """Whether the container starts one such server, and says nothing of devices."""
    image = text(command.container.get("image"))
    by_image = not command.container.get("command") and _IMAGE.search(image)
    names = [text(each.get("name")) for each in mappings(command.container.get("env"))]
    started = len(_STARTED.findall(command.line)) or bool(by_image)
    return (
        started == 1 and not command.container.get("envFrom") and not any("DEVICES" in each for each in names)
    )


_GROUP: Path = ("spec", "predictor", "workerSpec")
