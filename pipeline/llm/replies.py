"""What a raw reply is worth: thinking separated, text trimmed, JSON parsed, schema checked, status given."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pipeline.llm.interface import Reply, Status
from pipeline.llm.schemas import CompiledSchema
from pipeline.llm.tokens import silently_cut

# The budget was used up, or thinking ate it: a larger one may help.
WANTS_BUDGET = frozenset({Status.TRUNCATED, Status.EMPTY, Status.THINKING_ONLY})
# Another seed may help.
WANTS_SEED = WANTS_BUDGET | {Status.INVALID, Status.REFUSED}

_OPENED = re.compile(r"^\s*<(think|thinking)>(.*?)(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_CLOSED_ONLY = re.compile(r"^(.*)</(?:think|thinking)>", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"^```[a-zA-Z]*\s*\n(.*?)\n?\s*```$", re.DOTALL)
_REFUSALS = frozenset({"content_filter", "refusal"})


@dataclass(frozen=True)
class Verdict:
    """Status of one reply, the value when it is ok, and what was wrong otherwise."""

    status: Status
    value: Any = None
    why: str = ""


def separate_thinking(content: str) -> tuple[str, str]:
    """(thinking, rest) of a text in which a model thought aloud between tags, closed or not.

    A template may write the opening tag itself, so that a reply holds only the closing one.
    """
    thoughts: list[str] = []
    while opened := _OPENED.match(content):
        thoughts.append(opened.group(2).strip())
        content = content[opened.end() :]
    if thoughts:
        return "\n".join(thoughts).strip(), content.strip()
    if content.lstrip()[:1] not in ("{", "["):
        closed = _CLOSED_ONLY.match(content)
        if closed:
            return closed.group(1).strip(), content[closed.end() :].strip()
    return "", content.strip()


def judge_reply(
    reply: Reply,
    schema: CompiledSchema | None,
    check: Callable[[Any], str | None] | None = None,
    estimate: int = 0,
    num_ctx: int = 2**31,
) -> Verdict:
    """The status of a reply. ``estimate``: about how many tokens the prompt has, to notice a cut one."""
    if silently_cut(estimate, reply.prompt_tokens, num_ctx):
        return Verdict(
            Status.PROMPT_TOO_LONG,
            why=f"cut by the server: it counted {reply.prompt_tokens} of about {estimate} prompt tokens",
        )
    if reply.finish_reason in _REFUSALS:
        return Verdict(Status.REFUSED, why=f"finish reason {reply.finish_reason}")
    thought, content = separate_thinking(reply.content)
    cut = reply.finish_reason == "length"
    if not content:
        if thought or reply.thinking.strip():
            return Verdict(Status.THINKING_ONLY, why="the reply holds thinking and no answer")
        if cut:
            return Verdict(Status.TRUNCATED, why="the budget was used up before any answer")
        return Verdict(Status.EMPTY, why="the reply is empty")
    if schema is None:
        if cut:
            return Verdict(Status.TRUNCATED, why="the budget was used up in mid-text")
        return _checked(content, check)
    try:
        value = parse(content)
    except ValueError as error:
        if cut:
            return Verdict(Status.TRUNCATED, why=f"the budget was used up in mid-JSON: {error}")
        return Verdict(Status.INVALID, why=f"not JSON: {error}")
    objection = schema.objection(value)
    if objection:
        return Verdict(Status.INVALID, why=objection)
    return _checked(value, check)


def _checked(value: Any, check: Callable[[Any], str | None] | None) -> Verdict:
    objection = check(value) if check else None
    return Verdict(Status.INVALID, why=objection) if objection else Verdict(Status.OK, value)


def parse(text: str) -> Any:
    """The JSON value in a reply, fenced or not; ValueError for anything that is none."""
    fenced = _FENCED.match(text)
    try:
        value = json.loads(fenced.group(1) if fenced else text, parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    # "\ud800" parses, but no table can hold half a character.
    json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
