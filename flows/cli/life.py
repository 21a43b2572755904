"""An item's life, in lines for a terminal: one block a stage, texts wrapped, numbers beside their limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flows.cli.text import isolated, paragraph, quoted
from pipeline.capr.rubrics import RUBRICS
from pipeline.capr.why import Life, RawReply, Step

Row = Mapping[str, Any]

_NAME = 16
_LETTERS = "ABCD"


def life_lines(life: Life, direction: str) -> list[str]:
    """The blocks of the stages that know the id, in order; then what became of a proverb's scenarios."""
    lines = paragraph(f"{life.id} ({life.kind}), from {life.source}", "")
    made = any(step.kept for step in life.steps if step.stage == "distractors")
    for step in life.steps:
        shown = _BLOCKS[step.stage](step, direction) if step.kept else []
        if step.stage == "curate" and step.kept and not made:
            shown = [*_from_base(step, direction), *shown]
        ended = [line for row in step.rejected for line in _rejected(row, step, direction)]
        if shown or ended or step.replies:
            space = [] if step.stage == "name_clusters" else [""]
            lines += [*space, *shown, *ended, *_all_replies(step, direction)]
    if life.fates:
        lines += ["", "scenarios"]
    for fate in life.fates:
        lines += paragraph(f"{fate.item_id or fate.scenario_id}: {fate.outcome}", "  ")
    if (
        life.kind != "proverb"
        and life.steps
        and not any(step.kept for step in life.steps if step.stage == "curate")
    ):
        lines += ["", "no item came of it" + (f"; split of its proverb: {life.split}" if life.split else "")]
    elif life.kind == "proverb" and life.split:
        lines += ["", *paragraph(life.split, _name("split"))]
    return lines


def _name(name: str) -> str:
    return f"{name:<{_NAME}}"


def _acquire(step: Step, direction: str) -> list[str]:
    [row] = step.kept
    # An English meaning that stands in is not written in the language's direction.
    of_meaning = direction if row["meaning_from"] == "native" else "ltr"
    lines = quoted(row["text"], _name("seed"), direction)
    lines += quoted(row["meaning"], _name("  meaning"), of_meaning)
    for name in ("meaning_en", "equivalent_en", "source"):
        if row.get(name):
            lines += quoted(row[name], _name(f"  {name.removesuffix('_en')}" + " en" * name.endswith("_en")))
    marks = [f"status {row['status']}", f"meaning from {row['meaning_from']}"]
    marks += [f"variants' group {row['group']}"] if row["group"] != row["proverb_id"] else []
    marks += ["its explanation contains it"] if row["contains_proverb"] else []
    marks += ["in the base dataset"] if row.get("in_base") else []
    marks += [] if row["selected"] else ["past the limit: not in this build"]
    return lines + paragraph("; ".join(marks), " " * _NAME)


def _label(step: Step, direction: str) -> list[str]:
    [row] = step.kept
    return quoted(row["label"], _name("label"))


def _cluster(step: Step, direction: str) -> list[str]:
    [row] = step.kept
    same = f", as {row['label_key']!r}" if row["label_key"] != row["label"] else ""
    said = f"number {row['cluster_id']} of {step.facts['k']}, by label {row['label']!r}{same}"
    return paragraph(said, _name("cluster"))


def _cluster_name(step: Step, direction: str) -> list[str]:
    [row] = step.kept
    lines = quoted(row["name"], _name("  name"))
    return lines + paragraph(f"{row['proverbs']} proverbs, labels: {', '.join(row['labels'])}", " " * _NAME)


def _scenario(step: Step, direction: str) -> list[str]:
    [row] = step.kept
    return quoted(row["text"], _name("scenario"), direction)


def _filter(step: Step, direction: str) -> list[str]:
    [row] = step.kept
    return paragraph(_measured(row, step.params), _name("filter"))


def _measured(row: Row, params: Row) -> str:
    parts = [
        f"words {row['words']} ({params['least_words']} to {params['most_words']})",
        f"script share {_number(row['script_share'])} (at least {params['script_share']})",
        f"language {row['verdict']}",
        f"overlap {_number(row['overlap'])} (at most {params['overlap']})",
        f"similarity to its proverb {_number(row['similarity'])} (at most {_number(row['similarity_cap'])})",
    ]
    return "; ".join(parts)


def _options(step: Step, direction: str) -> list[str]:
    lines = [line for row in step.kept for line in _item(row, direction)]
    caps = {name: cap["cap"] for name, cap in step.facts["caps"].items() if cap}
    shown = ", ".join(f"{name.replace('_', ' ')} {_number(cap)}" for name, cap in caps.items())
    return [*lines, *paragraph(f"{shown}; rule {step.facts['rule']}", "  ")]


def _from_base(step: Step, direction: str) -> list[str]:
    """Items that no stage of this build made: all that is known of them stands in their own row."""
    lines: list[str] = []
    for row in step.kept:
        lines += [*quoted(row["scenario"], _name("scenario"), direction), "", *_item(row, direction)]
    return [*lines, *paragraph("kept from the base dataset: this build neither made nor judged it", "  "), ""]


def _item(row: Row, direction: str) -> list[str]:
    lines = paragraph(f"{row['item_id']}, text and options {row['item_digest']}", _name("item"))
    fields = ("options", "roles", "option_ids", "similarities", "meaning_similarities")
    for at, (text, role, proverb_id, near, meant) in enumerate(zip(*(row[f] for f in fields), strict=True)):
        mark = "*" if at == row["answer"] else " "
        lines += quoted(text, f"  {mark} {_LETTERS[at]}  ", direction)
        alike = "" if role == "key" else f", similarity {near:.3f}, of meanings {meant:.3f}"
        lines += paragraph(f"{role}, {proverb_id}{alike}", " " * 7)
    return lines


def _judges(step: Step, direction: str) -> list[str]:
    lines: list[str] = []
    for row in step.kept:
        if row["status"] == "ok":
            scores = ", ".join(f"{rubric} {row[rubric]}" for rubric in RUBRICS)
            fits = ", ".join(f"{letter} {fit}" for letter, fit in zip(_LETTERS, row["fits"], strict=True))
            said = f"{scores}; fits {fits}"
        else:
            said = f"{row['status']}: {row['why']}"
        lines += paragraph(f"{said} ({row['model']})", _name("judge") + f"{row['judge']}: ")
    return lines


def _curated(step: Step, direction: str) -> list[str]:
    lines: list[str] = []
    for row in step.kept:
        flags = [f"flagged: {', '.join(row['flag_reasons'])}"] if row["flag_paper"] else ["not flagged"]
        flags += [name for name in ("ambiguous", "invalid") if row[name]]
        means = ", ".join(f"{rubric} {_number(row[rubric])}" for rubric in RUBRICS)
        lines += paragraph(f"split {row['split']}; {'; '.join(flags)}", _name("dataset"))
        lines += paragraph(f"means of {row['valid_judges']} valid judges: {means}", " " * _NAME)
    return lines


_BLOCKS: dict[str, Callable[[Step, str], list[str]]] = {
    "acquire": _acquire,
    "label": _label,
    "cluster": _cluster,
    "name_clusters": _cluster_name,
    "scenarios": _scenario,
    "filter": _filter,
    "distractors": _options,
    "judge": _judges,
    "curate": _curated,
}


def _rejected(row: Row, step: Step, direction: str) -> list[str]:
    numbers = dict(row["numbers"])
    lines = paragraph(f"{step.stage}: {row['reason']}", _name("rejected"))
    if "text" in numbers:
        lines += quoted(str(numbers.pop("text")), _name("  text"), direction)
    if step.stage == "filter":
        lines += paragraph(_measured(numbers, step.params), " " * _NAME)
        known = {"words", "script_share", "verdict", "overlap", "similarity", "similarity_cap"}
        numbers = {name: value for name, value in numbers.items() if name not in known}
    for name, value in numbers.items():
        lines += paragraph(f"{name}: {isolated(_plain(value), direction)}", " " * _NAME)
    return lines


def _all_replies(step: Step, direction: str) -> list[str]:
    lines: list[str] = []
    for reply in step.replies:
        lines += _reply(reply, direction)
    if sum(reply.stored.attempt == 0 for reply in step.replies) > max(1, len(step.kept)):
        lines += paragraph("replies to another build's prompts or settings are among these", "    ")
    return lines


def _reply(reply: RawReply, direction: str) -> list[str]:
    stored = reply.stored
    used = ", used" if reply.used else ""
    judge = f" {stored.row_id.partition('@')[2]}" if "@" in stored.row_id else ""
    lines = [
        f"    reply{judge}, attempt {stored.attempt + 1}, {stored.time[:19]}, {stored.finish_reason}{used}"
    ]
    if stored.thinking:
        lines += quoted(stored.thinking, "      thinking: ", direction)
    return lines + quoted(stored.content or "(empty)", "      ", direction)


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}".rstrip("0").rstrip(".")


def _plain(value: Any) -> str:
    if isinstance(value, float):
        return _number(value)
    return ", ".join(map(_plain, value)) if isinstance(value, list) else str(value)
