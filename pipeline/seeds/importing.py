"""Other people's tables into ours: columns mapped, doubles found by comparison key, ids minted once."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pipeline.errors import SeedError
from pipeline.language.language import Language
from pipeline.seeds.readers import DAMAGED, Sheet
from pipeline.seeds.spreadsheet import restored
from pipeline.seeds.table import SeedRow, mint_id
from pipeline.seeds.variants import probable_variants
from pipeline.store.result import Rejection

FIELDS = ("text", "meaning", "meaning_en", "equivalent_en", "source", "note")
_MEANINGS = ("meaning", "meaning_en", "equivalent_en")

_JOINT = " / "

Conflicts = Literal["merge", "reject"]


@dataclass
class Imported:
    """What an import made of its rows: the whole table, what was added, merged, rejected, marked.

    ``merged`` are (proverb, place, other place) whose meanings were joined, ``reopened`` the reviewed rows
    that are drafts again because a meaning came to them, ``variants`` are (row, the row it is a variant of,
    similarity).
    """

    rows: list[SeedRow]
    added: int = 0
    merged: list[tuple[str, str, str]] = field(default_factory=list)
    reopened: list[SeedRow] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)
    variants: list[tuple[SeedRow, SeedRow, float]] = field(default_factory=list)
    stood_in: int = 0
    contains_proverb: int = 0
    notes: list[str] = field(default_factory=list)


def import_sheets(
    existing: Sequence[SeedRow],
    sheets: Sequence[Sheet],
    mapping: Mapping[str, str],
    language: Language,
    conflicts: Conflicts,
) -> Imported:
    """Add the sheets' rows to ``existing``.

    A proverb that stands twice (same comparison key) is a duplicate where the second says nothing else, and
    a conflict where it has another meaning: ``merge`` keeps one row with both meanings, joined by " / ",
    ``reject`` keeps neither of the new ones. A reviewed row that got a meaning is a draft again. A cell
    whose comparison key is empty, such as "-", is no meaning. Every row that adds nothing is a rejection
    that names both places. Close wordings get ``variant_of``.
    """
    result = Imported([dict(row) for row in existing])
    found: dict[str, list[tuple[str, SeedRow]]] = {}
    named = Counter(sheet.path.name for sheet in sheets)
    for sheet in sheets:
        # Two folders may hold a file of the same name.
        file = sheet.path.name if named[sheet.path.name] == 1 else str(sheet.path)
        columns = _columns(mapping, sheet)
        unread = [c for c in sheet.columns if c not in columns.values()]
        notes = [*sheet.notes, f"columns not taken: {', '.join(unread)}"] if unread else sheet.notes
        result.notes += [f"{file}: {note}" for note in notes]
        for number, cells in sheet.rows:
            place = f"{file} row {number}"
            row = {name: restored(cells[columns[name]].strip()) if name in columns else "" for name in FIELDS}
            row |= {name: "" for name in _MEANINGS if not language.key(row[name])}
            reason = _objection(row, language)
            if reason:
                result.rejected.append(Rejection(place, reason, {"text": row["text"]}))
                continue
            row["source"] = row["source"] or place
            found.setdefault(language.proverb_key(row["text"]), []).append((place, row))
    before = {language.proverb_key(row["text"]): row for row in result.rows}
    taken = {row["proverb_id"] for row in result.rows}
    for key, entries in found.items():
        _place(result, before.get(key), entries, language, conflicts, taken)
    _mark_variants(result, language, len(existing))
    new = result.rows[len(existing) :]
    result.stood_in = sum(not row["meaning"] for row in new)
    result.contains_proverb = sum(language.quotes(row["meaning"], row["text"]) for row in new)
    return result


def _columns(mapping: Mapping[str, str], sheet: Sheet) -> dict[str, str]:
    """Field -> the sheet's column for it; SeedError names the columns found and the mapping to give."""
    unknown = sorted(set(mapping) - set(FIELDS))
    if unknown:
        raise SeedError(f"--map {unknown[0]}=...: unknown field; allowed: {', '.join(FIELDS)}")
    wanted = {name: mapping.get(name, name) for name in FIELDS}
    seen = {_as_typed(column): column for column in sheet.columns}
    found = {
        name: column if column in sheet.columns else seen[_as_typed(column)]
        for name, column in wanted.items()
        if column in sheet.columns or _as_typed(column) in seen
    }
    absent = [column for name, column in mapping.items() if name not in found]
    if absent:
        lacking = f"column {absent[0]!r}"
    elif "text" not in found:
        lacking = "column 'text'"
    elif not found.keys() & {"meaning", "meaning_en"}:
        lacking = "column 'meaning' or 'meaning_en'"
    else:
        return found
    raise SeedError(
        f"{sheet.path}: no {lacking}. Columns found: {', '.join(sheet.columns)}. Say which holds "
        "what: --map text=COLUMN --map meaning=COLUMN --map meaning_en=COLUMN"
        + "".join(f"; {note}" for note in sheet.notes)
    )


def _as_typed(name: str) -> str:
    """A column's name as a person types it: composed, no invisible marks, one blank for a line end."""
    composed = unicodedata.normalize("NFC", name)
    return " ".join("".join(c for c in composed if unicodedata.category(c) != "Cf").split())


def _objection(row: SeedRow, language: Language) -> str:
    if any(DAMAGED in cell for cell in row.values()):
        return "damaged_text"
    if not language.key(row["text"]):
        return "no_text"
    return "" if row["meaning"] or row["meaning_en"] else "no_meaning"


def _place(
    result: Imported,
    known: SeedRow | None,
    entries: list[tuple[str, SeedRow]],
    language: Language,
    conflicts: Conflicts,
    taken: set[str],
) -> None:
    """Put all entries of one comparison key where they belong; ``taken`` are the ids given so far."""
    places = ([f"proverbs.csv {known['proverb_id']}"] if known else []) + [place for place, _ in entries]
    target = dict(known or entries[0][1])
    rest = entries if known else entries[1:]
    # Each row is compared with all that the rows before it say together.
    found = [_absorb(target, row, language) for _, row in rest]
    differ = "conflict" in found
    if differ and conflicts == "reject":
        numbers = {"text": entries[0][1]["text"], "places": places}
        result.rejected += [Rejection(place, "conflict", numbers) for place, _ in entries]
        return
    reason = "merged" if differ else "duplicate"
    for (place, row), change in zip(rest, found, strict=True):
        if change:
            result.merged.append((target["text"], places[0], place))
        result.rejected.append(Rejection(place, reason, {"text": row["text"], "places": places}))
    if known is None:
        identity = mint_id(language.code, target["text"], taken)
        taken.add(identity)
        result.rows.append({"proverb_id": identity, **target, "status": "draft", "variant_of": ""})
        result.added += 1
    elif any(found):
        known.update(target, status="draft")
        if target["status"] == "reviewed":
            result.reopened.append(known)


def _absorb(target: SeedRow, row: SeedRow, language: Language) -> Literal["", "addition", "conflict"]:
    """Take into ``target`` what ``row`` says more; a conflict where it has another meaning than is there.

    Meanings are compared part by part, so that a joined one adds nothing to itself.
    """
    changes = {}
    for name in _MEANINGS:
        known = {language.key(part) for part in (target[name], *target[name].split(_JOINT))} - {""}
        new: dict[str, str] = {}
        if language.key(row[name]) not in known:
            for part in row[name].split(_JOINT):
                new.setdefault(language.key(part), part)
        fresh = [part for key, part in new.items() if key and key not in known]
        if fresh:
            changes[name] = bool(known)
            target[name] = _JOINT.join([target[name], *fresh]) if known else row[name]
    if changes and row["source"] not in target["source"].split("; "):
        target["source"] = "; ".join(s for s in (target["source"], row["source"]) if s)
    if changes.get("meaning") or changes.get("meaning_en"):
        return "conflict"
    return "addition" if changes else ""


def _mark_variants(result: Imported, language: Language, first_new: int) -> None:
    keys = [language.proverb_key(row["text"]) for row in result.rows]
    for earlier, later, similarity in probable_variants(keys):
        row = result.rows[later]
        if later >= first_new and not row["variant_of"]:
            row["variant_of"] = result.rows[earlier]["proverb_id"]
            result.variants.append((row, result.rows[earlier], similarity))
