"""Expressions of CEL about devices: what no compiler of them takes."""

from __future__ import annotations

import re
from collections.abc import Iterator

_QUOTE = re.compile(r"\"\"\"|'''|\"|'")
_REST = {
    '"': re.compile(r"(?:[^\"\\\n]|\\.)*\""),
    "'": re.compile(r"(?:[^'\\\n]|\\.)*'"),
    '"""': re.compile(r"(?:[^\"\\]|\\.|\"(?!\"\"))*\"\"\"", re.DOTALL),
    "'''": re.compile(r"(?:[^'\\]|\\.|'(?!''))*'''", re.DOTALL),
}
"""What follows a quote, up to the one that ends the text."""
_ASSIGNED = re.compile(r"(?<![=!<>])=(?!=)")
_WORD = re.compile(r"(?<!\.)\b(and|or)\b")
_BRACKETS = {")": "(", "]": "[", "}": "{"}
_RAW = re.compile(r"(?<![\w.])[rRbB]{1,2}\Z")
_NAME = re.compile(r"(?<![\w.?])[A-Za-z_]\w*(?!\w)(?!\s*\()")
_BOUND = re.compile(r"\(\s*([A-Za-z_]\w*)\s*,")
_TEXT_FOR_QUANTITY = re.compile(
    r"\.capacity\[''\]\.\w+\.(compareTo|isGreaterThan|isLessThan|add|sub)\(\s*''\s*\)"
)
_ORDERED = re.compile(
    r"\.capacity\[''\]\.\w+\s*(<=|>=|<|>)|(<=|>=|<|>)\s*device\.capacity\[''\]\.\w+(?!\.|\w)"
)
_EQUALLED = re.compile(r"\.capacity\[''\]\.\w+\s*(==|!=)\s*(?:''|\d)")
_WHOLE_DOMAIN = re.compile(r"device\.attributes\[''\]\s*(?:[=!<>]=|<|>)\s*(?:''|\d)")
_QUANTITY_FOR_ATTRIBUTE = re.compile(
    r"(?<!has\()device\.attributes\[''\]\s*\.\s*(\w+)\s*\.\s*"
    r"(?:compareTo|isGreaterThan|isLessThan)\(\s*quantity\("
)
_OF_NVIDIA = r"(?<!has\()device\.attributes\[(['\"])gpu\.nvidia\.com\1\]\s*\.\s*"
_CAPACITY_OF_NVIDIA = re.compile(_OF_NVIDIA + r"(memory|multiprocessors)\b")
_VERSION_OF_NVIDIA = re.compile(
    _OF_NVIDIA + r"(driverVersion|cudaDriverVersion|cudaComputeCapability)\s*(==|<=|>=|<|>)\s*['\"\d]"
)
_MODEL_OF_NVIDIA = re.compile(_OF_NVIDIA + r"(model|modelName|product|gpuModel)\b(?!\s*\()")
"""How NVIDIA's driver states devices, whose models it calls productName. Source: its cmd/gpu-kubelet-plugin
(25.3 to 0.4)."""
_RESOURCE_AS_DRIVER = re.compile(r"device\.driver\s*==\s*(['\"])([\w.-]+/[\w.-]+)\1")
_DECLARED = frozenset(
    {
        *("device", "cel", "true", "false", "null", "in"),
        *("bool", "bytes", "double", "dyn", "int", "list", "map", "null_type", "string", "type", "uint"),
        *("base64", "cidr", "duration", "format", "google", "ip", "lists", "math", "optional", "quantity"),
        *("semver", "sets", "strings", "timestamp", "url"),
    }
)
"""Names that an expression may use without declaring them. Sources: `dynamic-resource-allocation/cel` and
`apiserver/pkg/cel/library` (Kubernetes v1.36), and the language's own types."""


def fault(expression: str) -> tuple[str, str]:
    """What is wrong and what to do; both empty: nothing is known to be.

    A quote or bracket that is left open, one `=`, `and` and `or`, names that nothing declares, and
    quantities and domains compared as if they were numbers or texts.
    """
    bare = _without_texts(expression)
    if bare is None:
        return "a quote is left open", "end the text with the quote that begins it"
    if unmatched := _unmatched(bare):
        return f"{unmatched} has no counterpart", "write brackets in pairs"
    if _ASSIGNED.search(bare):
        return "", "compare with `==`"
    if found := _WORD.search(bare):
        return "", f"write `{'&&' if found.group(1) == 'and' else '||'}`"
    if found := _ORDERED.search(bare):
        sign = found.group(1) or found.group(2)
        return f"{sign} is for numbers, not for quantities", f"write .compareTo(quantity('4Gi')) {sign} 0"
    if found := _TEXT_FOR_QUANTITY.search(bare):
        return f"{found.group(1)} takes a quantity, not a text", f"write {found.group(1)}(quantity('4Gi'))"
    if found := _EQUALLED.search(bare):
        sign = found.group(1)
        return (
            f"{sign} compares a quantity with a text or number",
            f"write .compareTo(quantity('4Gi')) {sign} 0",
        )
    if _WHOLE_DOMAIN.search(bare):
        return "in the brackets is a domain, which has several attributes", "write attributes['DOMAIN'].NAME"
    name = next(_undeclared(bare), "")
    return (f"nothing declares {name}", f"quote it: '{name}' is a text") if name else ("", "")


def failure(expression: str) -> tuple[str, str]:
    """Why an expression that the API server takes fails for every device, and what to do; both empty: nothing
    is known. An attribute is a number, a text, a version, or true or false.
    """
    bare = _without_texts(expression)
    if bare is None or "||" in bare:
        return "", ""
    if found := _RESOURCE_AS_DRIVER.search(expression):
        advice = "write the name in the ResourceSlices of the driver, such as gpu.nvidia.com"
        return f"no driver can have the name {found.group(2)}", advice
    if found := _CAPACITY_OF_NVIDIA.search(expression):
        name = found.group(2)
        amount = "40Gi" if name == "memory" else "100"
        advice = f"write device.capacity['gpu.nvidia.com'].{name}.compareTo(quantity('{amount}')) >= 0"
        return f"{name} is a capacity of gpu.nvidia.com, not an attribute", advice
    if found := _VERSION_OF_NVIDIA.search(expression):
        name, sign = found.group(2, 3)
        advice = f"write {name}.compareTo(semver('12.8.0')) {sign} 0, without zeros before a number"
        return f"{name} is a version, not a text or number", advice
    if found := _MODEL_OF_NVIDIA.search(expression):
        return f"gpu.nvidia.com has no attribute {found.group(2)}", "the name of the card is productName"
    if found := _QUANTITY_FOR_ATTRIBUTE.search(bare):
        name = found.group(1)
        return (
            f"attribute {name} is not a quantity",
            f"write device.capacity if {name} is an amount of the device",
        )
    return "", ""


def _without_texts(expression: str) -> str | None:
    """With empty texts, and without comments; None: one does not end."""
    parts, at = [], 0
    while found := _QUOTE.search(expression, at):
        before = expression[at : found.start()]
        if "//" in before.rpartition("\n")[2]:
            end = expression.find("\n", found.start())
            parts.append(before.rpartition("//")[0])
            if end < 0:
                return "".join(parts)
            at = end
            continue
        rest = _REST[found.group()].match(expression, found.end())
        if rest is None:
            return None
        parts += [before[:-3], _RAW.sub("", before[-3:]), "''"]
        at = rest.end()
    return "".join((*parts, expression[at:]))


def _unmatched(bare: str) -> str:
    still_open: list[str] = []
    for each in bare:
        if each in "([{":
            still_open.append(each)
        elif each in _BRACKETS and (not still_open or still_open.pop() != _BRACKETS[each]):
            return each
    return still_open[-1] if still_open else ""


def _undeclared(bare: str) -> Iterator[str]:
    """Names that are neither declared nor bound by a macro such as exists(x, ...)."""
    if "{" in bare or "//" in bare:
        return
    bound = set(_BOUND.findall(bare))
    for found in _NAME.finditer(bare):
        if found.group() not in _DECLARED and found.group() not in bound:
            yield found.group()
