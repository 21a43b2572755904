"""Looks at what a long run needs before it starts: are the models there, and can they do what is asked?"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.embed.interface import Embedder
from pipeline.errors import AdageError
from pipeline.llm.chat import LedgerChat
from pipeline.llm.endpoints import Endpoint, ServedModel
from pipeline.llm.interface import Answer, Ask, Message
from pipeline.llm.ledger import Ledger, locate
from pipeline.llm.ledger_tools import stats
from pipeline.llm.request import ChatOptions
from pipeline.llm.transport import Timing
from pipeline.passwords import without_passwords

# Who looks does not wait for a server that is away, as a run does.
_PATIENCE = 20.0

_SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["red", "green", "blue"]}},
    "required": ["colour"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Finding:
    """One thing looked at. ``fix`` says what to type or change when it is not ``ok``."""

    name: str
    ok: bool
    detail: str
    fix: str = ""


def probe(
    make: Callable[[], ServedModel], options: ChatOptions, timing: Timing | None = None
) -> list[Finding]:
    """Look at one model: server, digest, window, thinking, a structured reply, log-probabilities.

    ``make`` builds the served model as a run would; what it raises becomes a finding. The calls go to a
    ledger that is thrown away, so they are really made, and to every server.
    """
    try:
        model = make()
        endpoints = model.endpoints()
    except AdageError as error:
        return [Finding("server and model", ok=False, detail=str(error), fix=str(error))]
    servers = {endpoint.server: None for endpoint in endpoints}
    there = Finding("server and model", ok=True, detail="; ".join([model.identity, *servers]))
    found = [there, _window(model, options), _thinking(model, options)]
    timing = replace(timing or Timing(), patience=_PATIENCE, tries_timeout=1)
    for endpoint in endpoints:
        calls = _calls(_only_at(endpoint, model), options, timing)
        place = f"{without_passwords(endpoint.address)}: " if len(endpoints) > 1 else ""
        found += [replace(finding, detail=place + finding.detail) for finding in calls]
    return found


def embedder(make: Callable[[], Embedder]) -> Finding:
    """Does the embedding model load and give vectors?"""
    try:
        model = make()
        identity = model.identity
        dimensions = model.embed(["Better late than never.", "Haste makes waste."]).shape[1]
    except AdageError as error:
        return Finding("vectors", ok=False, detail=str(error), fix=str(error))
    return Finding("vectors", ok=True, detail=f"{identity}; {dimensions} dimensions")


def ledger(place: str | Path) -> Finding:
    """Does the call ledger open, and is it whole? One that is not there is made by the first build."""
    try:
        file, _ = locate(place)
        if file and not file.exists():
            return Finding("ledger", ok=True, detail=f"{file} will be made")
        opened = Ledger(place)
        try:
            found = stats(opened)
        finally:
            opened.close()
    except AdageError as error:
        return Finding("ledger", ok=False, detail=str(error), fix=str(error))
    return Finding("ledger", ok=True, detail=f"{found.place}: {found.replies} replies")


def disk_space(folder: Path, least_bytes: int) -> Finding:
    """Is there room for ledger and artifacts? Looks at the nearest folder that exists."""
    place = next(p for p in (folder, *folder.parents) if p.exists())
    free = shutil.disk_usage(place).free
    fix = (
        "" if free >= least_bytes else f"free {(least_bytes - free) / 1e9:.1f} GB or give --root another disk"
    )
    return Finding("disk", free >= least_bytes, f"{free / 1e9:.1f} GB free at {place}", fix)


def _window(model: ServedModel, options: ChatOptions) -> Finding:
    longest = model.facts.get("context_length")
    if longest is None:
        return Finding(
            "context length", ok=True, detail=f"num_ctx {options.num_ctx}; the server tells no limit"
        )
    return Finding(
        "context length",
        ok=options.num_ctx <= longest,
        detail=f"num_ctx {options.num_ctx}, the model was made for at most {longest}",
        fix="" if options.num_ctx <= longest else f"set num_ctx to at most {longest} in the profile",
    )


def _thinking(model: ServedModel, options: ChatOptions) -> Finding:
    can = model.facts.get("capabilities")
    asked = "not asked for" if not options.think else f"asked for ({options.think})"
    if can is None:
        return Finding("thinking", ok=True, detail=f"{asked}; the server does not tell whether the model can")
    able = "thinking" in can
    return Finding(
        "thinking",
        ok=able or not options.think,
        detail=f"{asked}; the model {'can' if able else 'cannot'}",
        fix=""
        if able or not options.think
        else "leave think out of this role in the profile, or set it to false",
    )


def _only_at(endpoint: Endpoint, model: ServedModel) -> ServedModel:
    return replace(model, endpoints=lambda: [endpoint])


def _calls(model: ServedModel, options: ChatOptions, timing: Timing) -> list[Finding]:
    once = options.model_copy(update={"logprobs": False, "top_logprobs": None, "max_attempts": 1})
    try:
        answer = _call(model, once, timing)
    except AdageError as error:
        return [Finding("structured reply", ok=False, detail=str(error), fix=str(error))]
    told = answer.replies[0] if answer.replies else None
    tokens = f"{told.completion_tokens} tokens in " if told and told.completion_tokens is not None else ""
    took = f"{tokens}{told.seconds:.1f} s" if told else "no reply"
    structured = Finding(
        "structured reply",
        ok=answer.ok,
        detail=f"{answer.status}: {answer.value or answer.why} ({took})",
        fix="" if answer.ok else "try a larger max_tokens for this role, or another model",
    )
    return [structured, _logprobs(model, options, once, timing)]


def _logprobs(model: ServedModel, options: ChatOptions, once: ChatOptions, timing: Timing) -> Finding:
    try:
        answer = _call(model, once.model_copy(update={"logprobs": True}), timing)
        given = bool(answer.replies and answer.replies[0].logprobs)
        detail = "given" if given else "unsupported by this server"
    except AdageError as error:
        given, detail = False, f"unsupported by this server: {error}"
    fix = "" if given or not options.logprobs else "update the server, or leave logprobs out of this role"
    return Finding("log-probabilities", ok=given or not options.logprobs, detail=detail, fix=fix)


def _call(model: ServedModel, options: ChatOptions, timing: Timing) -> Answer:
    messages = (Message("user", 'Name one colour as JSON: {"colour": "red"}, {"colour": "green"} or blue.'),)
    with tempfile.TemporaryDirectory(prefix="adage-doctor-") as folder:
        ledger = Ledger(Path(folder) / "ledger.sqlite")
        try:
            chat = LedgerChat(model, options, ledger, timing=timing)
            return chat.ask([Ask("doctor", messages, _SCHEMA)])[0]
        finally:
            ledger.close()
