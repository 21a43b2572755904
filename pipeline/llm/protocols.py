"""The two wire protocols: what a call looks like, what came back, and what an error answer means."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from pipeline.llm.endpoints import ServedModel
from pipeline.llm.interface import Reply
from pipeline.llm.request import Request


class Trouble(Enum):
    """What an error answer calls for."""

    TOO_LONG = "prompt too long"
    MISSING_MODEL = "model missing"
    KEY_REFUSED = "API key refused"
    MOVED = "moved"
    BAD_SETTING = "setting not supported"
    REFUSED = "refused"
    BUSY = "busy"
    BROKEN = "broken"
    REJECTED = "request rejected"


@dataclass(frozen=True)
class Wire:
    """One protocol: path of a chat call, its body, and the reply in an answer's JSON.

    ``load`` is the body that makes a server load the model and answer nothing, where there is such a thing.
    """

    path: str
    body: Callable[[ServedModel, Request], dict[str, Any]]
    reply: Callable[[Mapping[str, Any]], Reply]
    load: Callable[[ServedModel, Request], dict[str, Any]] | None = None


def ollama_body(model: ServedModel, request: Request) -> dict[str, Any]:
    """Ollama's native chat call. A seed outside ``options`` is ignored there, and so is everything else."""
    options = request.options
    sampling = {
        "temperature": options.temperature,
        "top_p": options.top_p,
        "top_k": options.top_k,
        "min_p": options.min_p,
        "repeat_penalty": options.repeat_penalty,
        "seed": request.seed,
        "num_ctx": options.num_ctx,
        "num_predict": request.budget,
        "stop": list(options.stop) or None,
    }
    body: dict[str, Any] = {
        "model": model.model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "stream": False,
        # Without these two the server drops the beginning of a long prompt, or of its own memory, silently.
        "truncate": False,
        "shift": False,
        "format": request.schema,
        "think": options.think,
        "keep_alive": model.keep_alive,
        "logprobs": options.logprobs or None,
        "top_logprobs": options.top_logprobs,
        "options": {name: value for name, value in sampling.items() if value is not None},
    }
    return {name: value for name, value in body.items() if value is not None}


def ollama_load(model: ServedModel, request: Request) -> dict[str, Any]:
    """A call without messages: the model is loaded, with the window that the calls will want."""
    body = ollama_body(model, request)
    kept: dict[str, Any] = {name: body[name] for name in body if name in {"model", "stream", "keep_alive"}}
    return {**kept, "messages": [], "options": {"num_ctx": request.options.num_ctx}}


def ollama_reply(answer: Mapping[str, Any]) -> Reply:
    """The reply in the JSON of /api/chat; ValueError when it is only the beginning of one."""
    if answer.get("done") is False:
        raise ValueError("the reply is not done")
    message = answer["message"]
    return Reply(
        content=storable(message.get("content")),
        thinking=storable(message.get("thinking")),
        finish_reason=storable(str(answer.get("done_reason") or "")),
        prompt_tokens=_count(answer.get("prompt_eval_count")),
        completion_tokens=_count(answer.get("eval_count")),
        logprobs=_logprobs(answer.get("logprobs")),
    )


def openai_body(model: ServedModel, request: Request) -> dict[str, Any]:
    """A chat call of any OpenAI-compatible server."""
    options = request.options
    body: dict[str, Any] = {
        "model": model.model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "stream": False,
        "temperature": options.temperature,
        "top_p": options.top_p,
        "top_k": options.top_k,
        "min_p": options.min_p,
        "repeat_penalty": options.repeat_penalty,
        "seed": request.seed,
        "max_tokens": request.budget,
        "stop": list(options.stop) or None,
        "logprobs": options.logprobs or None,
        "top_logprobs": options.top_logprobs,
        **_openai_thinking(options.think),
    }
    if request.schema is not None:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": request.schema},
        }
    return {name: value for name, value in body.items() if value is not None}


def openai_reply(answer: Mapping[str, Any]) -> Reply:
    """The reply in the JSON of /v1/chat/completions."""
    choice = answer["choices"][0]
    message = choice["message"]
    usage = answer.get("usage") or {}
    refusal = message.get("refusal")
    return Reply(
        content=storable(message.get("content") or refusal),
        thinking=storable(message.get("reasoning_content") or message.get("reasoning")),
        finish_reason="refusal" if refusal else storable(str(choice.get("finish_reason") or "")),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        # The only word such servers give on what runs behind the address: llama.cpp's is its build.
        server=storable(str(answer.get("system_fingerprint") or "")),
        logprobs=_logprobs((choice.get("logprobs") or {}).get("content")),
    )


PROTOCOLS: dict[str, Wire] = {
    "ollama": Wire("/api/chat", ollama_body, ollama_reply, ollama_load),
    "openai": Wire("/v1/chat/completions", openai_body, openai_reply),
}

# Words of error answers, lower case, with what they mean; the first that occurs decides. Two servers say
# "too long" in three ways and with two codes, so the words come before the code.
_WORDS = (
    ("exceeds the context length", Trouble.TOO_LONG),
    ("exceeds the available context", Trouble.TOO_LONG),
    ("exceed_context_size", Trouble.TOO_LONG),
    ("context_length_exceeded", Trouble.TOO_LONG),
    ("maximum context length", Trouble.TOO_LONG),
    ("does not support thinking", Trouble.BAD_SETTING),
    ("invalid json schema", Trouble.BAD_SETTING),
    ("failed to parse grammar", Trouble.BAD_SETTING),
    ("failed to load model vocabulary required for format", Trouble.BAD_SETTING),
    ("json schema error", Trouble.BAD_SETTING),
    ("does not support chat", Trouble.BAD_SETTING),
    # Azure's filter answers 400, a router's moderation 403: neither says anything of the server or the key.
    ("content_filter", Trouble.REFUSED),
    ("content management policy", Trouble.REFUSED),
    ("content_policy_violation", Trouble.REFUSED),
    ("requires moderation", Trouble.REFUSED),
    ("flagged_input", Trouble.REFUSED),
)
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_CODES = {
    401: Trouble.KEY_REFUSED,
    403: Trouble.KEY_REFUSED,
    404: Trouble.MISSING_MODEL,
    408: Trouble.BUSY,
    425: Trouble.BUSY,
    429: Trouble.BUSY,
    503: Trouble.BUSY,
}


def trouble(code: int, text: str) -> Trouble:
    """What an error answer with this HTTP code and body calls for."""
    said = text.lower()
    for words, meaning in _WORDS:
        if words in said:
            return meaning
    if 300 <= code < 400:
        return Trouble.MOVED
    return _CODES.get(code, Trouble.BROKEN if code >= 500 else Trouble.REJECTED)


def storable(text: str | None) -> str:
    """A text any database and table can hold: half characters and NUL become U+FFFD."""
    if not text:
        return ""
    return _UNSTORABLE.sub("\ufffd", text)


def _count(tokens: Any) -> int | None:
    """How many tokens a server counted, None where that is no number a ledger can hold."""
    return tokens if type(tokens) is int and 0 <= tokens < 2**31 else None


def _openai_thinking(think: bool | str | None) -> dict[str, Any]:
    if think is None:
        return {}
    if isinstance(think, str):
        return {"reasoning_effort": think}
    return {"chat_template_kwargs": {"enable_thinking": think}}


def _logprobs(tokens: Any) -> Any:
    """[{"token", "logprob", "top": [[token, logprob], ...]}] of either protocol, None when there are none."""
    if not tokens:
        return None
    return [
        {
            "token": storable(token["token"]),
            "logprob": token["logprob"],
            "top": [[storable(top["token"]), top["logprob"]] for top in token.get("top_logprobs") or ()],
        }
        for token in tokens
    ]
