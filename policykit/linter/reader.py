"""Reads bytes as text and documents; recognises templates, and documents that are parts of objects."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from policykit.errors import SourceError
from policykit.kube.podsets.podset import PodSet
from policykit.manifests.document import Manifest, words
from policykit.manifests.node import Node
from policykit.manifests.parsed_document import COLLECTION_KEY
from policykit.manifests.parser import ParsedDocument, Problem, parse
from policykit.namedtuple import NamedTuple

_PARTIAL_COMMENT = r"(?:^|\n)\s*#\s*policykit:\s*partial\b"
_DIRECTIVES = ("$patch", "$retainKeys")
_CONTROLLERS = frozenset(
    {"DaemonSet", "Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "Job", "CronJob"}
)
"""Built-in kinds that require a pod template."""
_VOLCANO = frozenset({"batch.volcano.sh", "flow.volcano.sh"})
_OF_OTHERS = frozenset({"StorageClass", "VolumeSnapshotClass"})
"""Kinds of objects that come with a cluster, of which a manifest may change only an annotation."""
_HEAD = frozenset({"apiVersion", "kind", "metadata"})
_OF_CONTROLLER = {"ownerReferences", "uid"}
_DEFINING = frozenset({"group", "names", "version", "versions"})
"""Fields of a CustomResourceDefinition."""
_SIGN = re.compile(r"\A\s*(?:\.{3,}|…+)\s*\Z")
_ALONE = r"(?:^|[\s\[{,:'\"])(?:\.{3,}|…+)(?=[\s\]},:'\"]|$)"
"""Where a line may have a value that is only dots; sentences end in dots too, in most lines."""
_END = r"\.\.\.(?:\s|\Z)"
_BREAK = "(?:^|[\r\x85\u2028\u2029])"
_NOTHING = r"\s*(?:#.*)?\Z"
_EXPRESSION_ENDS = ("):", ")':", ')":', ")->")
_EXPRESSION_KEY = r"(?m)^[ \t-]*['\"]?(?:\(|~\.)"


def is_marked_partial(text: str) -> bool:
    """Whether a file or document has the comment `# policykit: partial`."""
    return "policykit:" in text and re.search(_PARTIAL_COMMENT, text) is not None


_YTT = r"(?m)^[ \t]*#@|: #@ "


def is_of_ytt(text: str) -> bool:
    """Whether comments of a file are instructions of ytt, which fills in what they stand beside.

    Source: the reference of ytt (0.52).
    """
    return "#@" in text and re.search(_YTT, text) is not None


def has_directives(text: str) -> bool:
    """Whether a file may contain a document with a patch directive: one search for the whole file."""
    return "$" in text and any(directive in text for directive in _DIRECTIVES)


def has_signs(text: str) -> bool:
    """Whether a file may contain a document with dots for omitted parts: see `is_abridged`."""
    if "..." not in text and "…" not in text:
        return False
    return re.search(rf"(?m){_ALONE}|{_BREAK}{_END}", text) is not None


def has_expressions(text: str) -> bool:
    """Whether a file may contain a document with an expression as a key: see `is_assertion`."""
    written = "~." in text or ("(" in text and any(map(text.__contains__, _EXPRESSION_ENDS)))
    return written and re.search(_EXPRESSION_KEY, text) is not None


def is_assertion(data: object) -> bool:
    """Whether a document says what an object of a cluster must look like: a key is an expression of
    Chainsaw, such as `(replicas > 1)` or `~.containers`. No object has such a key.

    Source: `pkg/core/assertion` of kyverno-json, which Chainsaw uses.
    """
    return any(key.startswith("~.") or (key[:1] == "(" and ")" in key) for key in words(data).keys)


def is_partial(manifest: Manifest, pod_sets: tuple[PodSet, ...], directives: bool = True) -> bool:
    """Whether a document has a patch directive, or is a controller with neither selector nor any image.

    A Pod with the owner and the uid that a server gave it is a copy of what a controller made, which nobody
    applies. A PodGroup of Volcano without metadata is the template that `spark-submit` reads, and a
    CustomResourceDefinition that defines nothing one of the patches that Kubebuilder generates. A
    StorageClass of which only the metadata is stated exists already.

    A Job with a restartPolicy, which every Job must have, is complete. `directives` False: the file has no
    patch directive.

    Complete objects of kinds with containers outside a PodSpec (Argo, Spark) have no image there, and
    Flink's have it in the spec.
    """
    if manifest.kind == "Pod" and manifest.metadata.keys() >= _OF_CONTROLLER:
        return True
    if manifest.kind == "PodGroup" and manifest.group == "scheduling.volcano.sh":
        return "metadata" not in manifest.data or (directives and _has_directive(manifest.data))
    if manifest.kind == "CustomResourceDefinition":
        spec = manifest.data.get("spec")
        if not isinstance(spec, dict) or spec.keys().isdisjoint(_DEFINING):
            return True
    if manifest.kind in _OF_OTHERS and manifest.data.keys() <= _HEAD:
        return True
    whole = all(p.default_place is not None and p.default_place[-1:] == ("spec",) for p in pod_sets)
    if manifest.kind != "Pod" and _makes_pods(manifest, pod_sets) and whole and not _has_image(pod_sets):
        spec = manifest.data.get("spec")
        stated = isinstance(spec, dict) and (spec.get("selector") or spec.get("image"))
        if not stated and not _is_job(manifest, pod_sets):
            return True
    return directives and _has_directive(manifest.data)


def _makes_pods(manifest: Manifest, pod_sets: tuple[PodSet, ...]) -> bool:
    """Whether the kind creates pods: a patch of `replicas` has no pod template."""
    return bool(pod_sets) or (manifest.kind in _CONTROLLERS and manifest.group in ("", "apps", "batch"))


def _is_job(manifest: Manifest, pod_sets: tuple[PodSet, ...]) -> bool:
    """Whether it is a complete Job or CronJob, even if its containers lack fields.

    A patch of a Volcano Job replaces the whole list of tasks, so it must repeat the containers.
    """
    if manifest.group in _VOLCANO:
        return any(one.spec.get("containers") for one in pod_sets)
    return manifest.group == "batch" and any(one.spec.get("restartPolicy") for one in pod_sets)


def _has_image(pod_sets: tuple[PodSet, ...]) -> bool:
    for pod_set in pod_sets:
        containers = pod_set.spec.get("containers")
        if isinstance(containers, list) and any(isinstance(c, dict) and c.get("image") for c in containers):
            return True
    return False


def _has_directive(data: object) -> bool:
    pending: list[object] = [data]
    seen: set[int] = set()
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            if id(value) in seen:
                continue
            seen.add(id(value))
            if any(directive in value for directive in _DIRECTIVES):
                return True
            pending.extend(value.values())
        elif isinstance(value, list) and id(value) not in seen:
            seen.add(id(value))
            pending.extend(value)
    return False


def is_abridged(root: Node, lines: Sequence[str], first: int, end: int) -> bool:
    """Whether the document in the lines from `first` to before `end` shows that it is an excerpt.

    It does by a value or key that is only dots, or by `...`, which ends a document in YAML, in a file whose
    documents do not begin with `---`. Comments do not count.
    """
    end = end if end > root.end.line else _last(lines, root.end.line)
    if not any("..." in line or "…" in line for line in lines[first:end]):
        return False
    if any(map(re.compile(_ALONE).search, lines[first:end])) and any(
        isinstance(scalar.data, str) and _SIGN.match(scalar.data) for scalar in _scalars(root)
    ):
        return True
    ended = next(
        (number for number in range(first, min(end, len(lines))) if re.match(_END, lines[number])), None
    )
    return ended is not None and _is_left_out(lines, ended)


def _last(lines: Sequence[str], first: int) -> int:
    """The line before which a document ends if the text after it cannot be parsed."""
    later = (number for number in range(first + 1, len(lines)) if lines[number].startswith("---"))
    return next(later, len(lines))


def _is_left_out(lines: Sequence[str], number: int) -> bool:
    """Whether `...` at the beginning of a line stands for omitted text, not the end of a document."""
    begins = _first(lines, 0)
    goes_on = _first(lines, number + 1) or "---"
    return not begins.startswith(("---", "%")) or not goes_on.startswith(("---", "%"))


def _first(lines: Sequence[str], start: int) -> str:
    """The first line from `start` on that is not empty; empty: all are."""
    later = (lines[number] for number in range(start, len(lines)))
    return next((line for line in later if not re.match(_NOTHING, line)), "")


def _scalars(root: Node) -> Iterator[Node]:
    """Keys and values; nodes that aliases share only once."""
    pending, seen = [root], set[int]()
    while pending:
        node = pending.pop()
        entries = node.entries
        if entries is None:
            yield node
        elif id(entries) not in seen:
            seen.add(id(entries))
            if isinstance(entries, dict):
                for key, value in entries.values():
                    pending += (key, value)
            else:
                pending += entries


BOM = b"\xef\xbb\xbf"
_DIRECTIVE = re.compile(
    r"^[ \t]*(?:(?:- +)?[$%]\{(?:.*\}[ \t\r]*|[^}\n]*)|<[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+>[ \t\r]*)$",
    re.MULTILINE,
)
"""A line that is replaced as a whole, or that starts a block of Terraform: `${indent(4, labels)}`,
`%{ if gpu }`, `<SOME_NAME>`."""
_WORD = "# Source: "
_COMMENT = r"(?m)^# Source: (\S.*?)[ \t]*\r?$"


class Text(NamedTuple):
    """A file's text, or the problem with its bytes."""

    text: str
    problem: Problem | None = None


def decode(raw: bytes) -> Text:
    """The text of UTF-8 bytes, with or without a byte order mark; other bytes are a problem."""
    body = raw[3:] if raw.startswith(BOM) else raw
    try:
        return Text(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        before = body[: error.start]
        line = before.count(b"\n")
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", errors="replace"))
        message = f"byte 0x{body[error.start]:02x} is not UTF-8"
        if raw.startswith((b"\xff\xfe", b"\xfe\xff")):  # as PowerShell redirects output
            message = "the file is UTF-16, which is not UTF-8"
        return Text(body.decode("utf-8", errors="replace"), Problem(message, line, column))


_NO_TEXT = (
    (b"\x00GITCRYPT\x00", "encrypted with git-crypt"),
    (b"CHARTMART-ENCRYPTED", "encrypted with Plural"),
    (b"age-encryption.org/", "encrypted with age"),
    (b"Salted__", "encrypted with OpenSSL"),
    (b"\x00\x05\x16\x07", "metadata of macOS"),
)
"""First bytes of files that are not YAML, whatever their name.

Source: `crypto.hpp` of git-crypt, `pkg/crypto` of Plural's CLI, the specification of age, `apps/enc.c` of
OpenSSL, AppleDouble in RFC 1740.
"""

_STARTS = tuple(start for start, _ in _NO_TEXT)


def no_text(raw: bytes) -> str:
    """What a file contains instead of text; empty: unknown."""
    if not raw.startswith(_STARTS):
        return ""
    return next(what for start, what in _NO_TEXT if raw.startswith(start))


def documents(text: Text) -> Iterator[ParsedDocument]:
    """The documents of a file; a file with a problem in its bytes is not read further."""
    if text.problem:
        yield ParsedDocument(None, 0, problem=text.problem)
    else:
        yield from parse(text.text)


def is_template(text: str) -> bool:
    """Whether a text has braces of a Helm, Jinja, Terraform or envsubst template, or a line `<SOME_NAME>`."""
    if ("{{" in text and "}}" in text) or ("{%" in text and "%}" in text) or "\n%{" in text:
        return True
    signs = "${" in text or "%{" in text or "<" in text
    return signs and _DIRECTIVE.search(text) is not None


def unreadable(path: str, text: Text, document: ParsedDocument) -> SourceError | None:
    """Why a document with a problem cannot be read; None: it is a template, of another program or prose."""
    problem = document.problem
    if problem is None or is_template(text.text) or stops_at_placeholder(text.text, problem):
        return None
    if is_of_another_program(text.text, problem) or is_prose(text.text, problem):
        return None
    if text.problem:
        return SourceError(problem.message, "save it as UTF-8", path)
    from policykit.manifests.syntax import explain

    cause = explain(text.text, problem, document.start_line)
    return SourceError(cause.message, cause.help, f"{path}:{cause.span.line}:{cause.span.column}")


def is_of_another_program(text: str, problem: Problem) -> bool:
    """Whether what was refused is valid YAML but no object: a key is a collection, and no apiVersion is
    there."""
    return problem.message == COLLECTION_KEY and "apiVersion" not in text


_KEY = r"(?m)^[ \t-]*(?:[\[{]|[^\s#:][^#:\n]*:(?:[ \t\r]|$))"


def is_prose(text: str, problem: Problem) -> bool:
    """Whether no line of what was refused begins with a key or a collection: SQL in a file called .yaml."""
    if "expected <document start>" not in problem.message or "apiVersion" in text:
        return False
    return re.search(_KEY, text) is None


def is_json_stream(text: str) -> bool:
    """Whether a document is several values of JSON, one after another: kubectl reads them as a stream, and
    logs are written so.

    Source: `YAMLOrJSONDecoder` of `util/yaml` of apimachinery (0.36).
    """
    if text.lstrip()[:1] != "{":
        return False
    from json import JSONDecoder

    read, begins = JSONDecoder().raw_decode, re.compile(r"\S")
    number = at = 0
    try:
        while found := begins.search(text, at):
            at, number = read(text, found.start())[1], number + 1
    except (ValueError, RecursionError):
        return False
    return number > 1


_LINE_TO_FILL = r"(?m)^[ \t]*\$[A-Z][A-Z0-9_]*[ \t\r]*$"
_PLACEHOLDER = r"\{|%\([\w.-]+\)[a-z]|@@?\w[\w.-]*@|%%?\w[\w.-]*%"


def stops_at_placeholder(text: str, problem: Problem) -> bool:
    """Whether a document is invalid because of a placeholder in a position that YAML does not allow:
    `${NAME}` of envsubst in a flow collection, or `%(name)s`, `@NAME@`, `%NAME%` at the start of a value; or
    a line of it is nothing but `$NAME`."""
    from policykit.manifests.lines import split

    if "$" in text and re.search(_LINE_TO_FILL, text):
        return True
    lines = split(text)
    line = lines[problem.line] if problem.line < len(lines) else ""
    found = re.compile(_PLACEHOLDER).match(line, problem.column)
    if found is None:
        return False
    return found.group() != "{" or line[problem.column - 1 : problem.column] == "$"


def source_comments(text: str) -> tuple[tuple[int, str], ...]:
    """(line from 0, path) of each `# Source:` comment of Helm."""
    if _WORD not in text:
        return ()
    found = []
    line = counted = 0
    for match in re.finditer(_COMMENT, text):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        found.append((line, match[1]))
    return tuple(found)


def source_of(comments: tuple[tuple[int, str], ...], first_line: int, start_line: int) -> str:
    """The template of a document with its `---` at `first_line` and its content from `start_line`, both
    from 0; empty: unknown."""
    last = bisect_left(comments, start_line, key=lambda comment: comment[0]) - 1
    return comments[last][1] if last >= 0 and comments[last][0] >= first_line else ""
