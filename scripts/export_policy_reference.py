"""docs/reference/policy.md and policy.zh.md: every field of a policy, from the models."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from policykit.policy.schema import file_schema

ROOT = Path(__file__).resolve().parent.parent
NOTES: Mapping[str, Any] = yaml.safe_load(
    (ROOT / "scripts" / "policy_reference.yaml").read_text(encoding="utf-8")
)
_DEFAULT = re.compile(r" ?Default: (.*?)\.?$")
_NONE = "–"
_SYSTEMS = {
    "kubernetes": "Kubernetes",
    "volcano": "Volcano",
    "koordinator": "Koordinator",
    "yunikorn": "YuniKorn",
    "kueue": "Kueue",
}


class Language(NamedTuple):
    """The words of a page besides those about fields."""

    file: str
    chinese: bool
    title: str
    head: str
    columns: tuple[str, str, str]
    required: str
    systems: str


LANGUAGES = (
    Language(
        "policy.md",
        False,
        "Policy reference",
        "Every field of `policykit.yaml`, made from the models that read it. `NAME` stands for names of your"
        " own. How pods are recognized and where they land is in [How placement is computed]"
        "(placement.md). A dash in a table of systems: the system has no equivalent, which `policykit gen`"
        " reports if the policy uses the field. What holds for a field holds for the fields below it;"
        " fields without a row are for policykit alone. 中文：[策略参考](policy.zh.md).",
        ("field", "meaning", "default"),
        "",
        "What each system makes of it",
    ),
    Language(
        "policy.zh.md",
        True,
        "策略参考",
        "`policykit.yaml` 的所有字段，由读取它的模型生成。`NAME` 表示你自己的名字。"
        "如何识别 Pod 以及它们落在哪里，见 [放置如何计算](placement.zh.md)。"
        "系统表中的“–”表示该系统没有对应的功能；策略使用该字段时，`policykit gen` 会说明。"
        "一行也适用于该字段之下的字段；没有行的字段只供 policykit 使用。"
        "English: [Policy reference](policy.md).",
        ("字段", "含义", "默认"),
        "",
        "各系统的实现",
    ),
)


class Field(NamedTuple):
    """A field, at its place below a section."""

    path: str
    model: str
    name: str
    meaning: str
    default: str


def page(language: Language) -> str:
    """The whole page."""
    schema = file_schema()
    lines = [f"# {language.title}", "", language.head, ""]
    for section, data in schema["properties"].items():
        lines += [f"## {section}", "", _meaning(language, "Policy", section, data.get("description", "")), ""]
        for example in examples(section):
            lines += ["```yaml policy", example.rstrip(), "```", ""]
        rows = [*fields_of(schema, data, section, ())]
        if rows:
            lines += [_row(language.columns), _row(("---",) * 3)]
            lines += [_row((f"`{row.path}`", _text(language, row), _shown(language, row))) for row in rows]
            lines.append("")
        lines += _systems(language, section)
    return "\n".join(lines)


def examples(section: str) -> list[str]:
    """The examples of a section, each a policy together with what it names."""
    text: str = NOTES["examples"].get(section, "")
    return text.split("---\n") if text else []


def fields_of(
    schema: Mapping[str, Any], data: Mapping[str, Any], path: str, above: tuple[str, ...]
) -> Iterator[Field]:
    """The fields of the maps that a value may be, and of the maps below."""
    for model, found, ending in _models(schema, data):
        if model in above:
            continue
        for name, field in found.get("properties", {}).items():
            here = f"{path}{ending}.{name}"
            meaning, default = _split(field.get("description", ""), field)
            yield Field(here, model, name, meaning, default)
            yield from fields_of(schema, field, here, (*above, model))


def _models(
    schema: Mapping[str, Any], data: Mapping[str, Any], ending: str = ""
) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """(model, its schema, what stands between the field and its fields) of every map in a value."""
    if "$ref" in data:
        name = data["$ref"].rpartition("/")[2]
        found = (schema.get("definitions") or schema["$defs"])[name]
        if "properties" in found:
            yield name, found, ending
        else:
            yield from _models(schema, found, ending)
        return
    for group in ("oneOf", "anyOf", "allOf"):
        for one in data.get(group, ()):
            yield from _models(schema, one, ending)
    if isinstance(data.get("additionalProperties"), Mapping):
        yield from _models(schema, data["additionalProperties"], f"{ending}.NAME")
    if isinstance(data.get("items"), Mapping):
        yield from _models(schema, data["items"], f"{ending}[]")


def _split(text: str, field: Mapping[str, Any]) -> tuple[str, str]:
    """The description without its default, and that default."""
    stated = _DEFAULT.search(text)
    if stated:
        return text[: stated.start()].strip(), stated[1]
    value = field.get("default")
    plain = isinstance(value, (str, int)) and value != ""
    return text, f"`{str(value).lower() if isinstance(value, bool) else value}`" if plain else ""


def _shown(language: Language, field: Field) -> str:
    """The default; in Chinese the meaning has those that are sentences."""
    return field.default if not language.chinese or field.default.startswith("`") else ""


def _text(language: Language, field: Field) -> str:
    return _meaning(language, field.model, field.name, field.meaning)


def _meaning(language: Language, model: str, name: str, english: str) -> str:
    if not language.chinese:
        return english
    found: str = NOTES["chinese"].get(model, {}).get(name, english)
    return found


def _systems(language: Language, section: str) -> Iterator[str]:
    """What the systems make of the fields of a section."""
    of = [each for each in NOTES["systems"] if each["field"].partition(".")[0] == section]
    if not of:
        return
    yield from (f"### {language.systems}: {section}", "")
    yield _row((language.columns[0], *_SYSTEMS.values()))
    yield _row(("---",) * (len(_SYSTEMS) + 1))
    for each in of:
        everywhere = each.get("all", _NONE)
        cells = (each.get(name, everywhere) for name in _SYSTEMS)
        yield _row((f"`{each['field']}`", *(_cell(cell, chinese=language.chinese) for cell in cells)))
    yield ""


def _cell(text: str | list[str], *, chinese: bool) -> str:
    """A text for both languages, or the one of the language."""
    return text if isinstance(text, str) else text[chinese]


def _row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def main() -> int:
    for language in LANGUAGES:
        (ROOT / "docs" / "reference" / language.file).write_text(page(language), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
