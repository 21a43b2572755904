"""The two protocols as a server sees them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.servers.exchange import Asked, Said, count_tokens

FINGERPRINT = "b4242-scripted"


@dataclass(frozen=True)
class Protocol:
    """How one protocol's body is read and its answer written."""

    asked: Callable[[Mapping[str, Any]], Asked]
    budget: Callable[[Mapping[str, Any]], int | None]
    window: Callable[[Mapping[str, Any]], int | None]
    answer: Callable[[Mapping[str, Any], Said, bool], dict[str, Any]]


def _messages(body: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((message["role"], message["content"]) for message in body["messages"])


def _tokens(text: str) -> list[str]:
    return [text[i : i + 3] for i in range(0, len(text), 3)]


def _ollama_answer(body: Mapping[str, Any], said: Said, logprobs: bool) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": said.content}
    if said.thinking:
        message["thinking"] = said.thinking
    answer: dict[str, Any] = {
        "model": body["model"],
        "message": message,
        "done": True,
        "done_reason": said.finish,
        "prompt_eval_count": said.prompt_tokens,
        "eval_count": count_tokens(said.content + said.thinking),
    }
    if body.get("logprobs") and logprobs:
        answer["logprobs"] = [{"token": token, "logprob": -0.5} for token in _tokens(said.content)]
    return answer


def _openai_answer(body: Mapping[str, Any], said: Said, logprobs: bool) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": said.content}
    if said.thinking:
        message["reasoning_content"] = said.thinking
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": said.finish}
    if body.get("logprobs") and logprobs:
        tokens = [{"token": token, "logprob": -0.5, "top_logprobs": []} for token in _tokens(said.content)]
        choice["logprobs"] = {"content": tokens}
    usage = {
        "prompt_tokens": said.prompt_tokens,
        "completion_tokens": count_tokens(said.content + said.thinking),
    }
    answer = {"object": "chat.completion", "model": body["model"], "choices": [choice], "usage": usage}
    return {**answer, "system_fingerprint": FINGERPRINT}


CHATS: dict[str, Protocol] = {
    "/api/chat": Protocol(
        # Only what stands in "options" counts, as with the real server.
        asked=lambda body: Asked(_messages(body), body.get("format"), body.get("options", {}).get("seed")),
        budget=lambda body: body.get("options", {}).get("num_predict"),
        window=lambda body: body.get("options", {}).get("num_ctx"),
        answer=_ollama_answer,
    ),
    "/v1/chat/completions": Protocol(
        asked=lambda body: Asked(
            _messages(body),
            body.get("response_format", {}).get("json_schema", {}).get("schema"),
            body.get("seed"),
        ),
        budget=lambda body: body.get("max_tokens"),
        window=lambda body: None,
        answer=_openai_answer,
    ),
}
