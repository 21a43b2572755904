from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from pipeline.errors import ConfigError
from pipeline.llm.interface import Message, Reply, Status
from pipeline.llm.protocols import Trouble, ollama_reply, openai_reply, storable, trouble
from pipeline.llm.replies import judge_reply, separate_thinking
from pipeline.llm.request import ChatOptions, request_key
from pipeline.llm.schemas import Schemas, compile_schema
from pipeline.llm.tokens import estimate_tokens, silently_cut, surely_too_long
from tests.llm.asks import token_asks

ANSWER = {
    "type": "object",
    "properties": {"answer": {"enum": ["A", "B", "C", "D"]}},
    "required": ["answer"],
    "additionalProperties": False,
}


def judged(content: str, **fields: Any) -> tuple[Status, Any]:
    verdict = judge_reply(Reply(content, **fields), compile_schema(ANSWER, "d"))
    assert bool(verdict.why) == (verdict.status is not Status.OK)
    return verdict.status, verdict.value


@pytest.mark.parametrize(
    ("content", "fields", "status"),
    [
        ('{"answer":"C"}', {}, Status.OK),
        ('<think>maybe {"a":1}</think>{"answer":"C"}', {}, Status.OK),
        ('<thinking>\nmaybe A\n</thinking>\n\n {"answer": "C"}\n', {}, Status.OK),
        ('so it is {"answer":"A"}</think>{"answer":"C"}', {}, Status.OK),
        ('<THINK>maybe</THINK>\n{"answer":"C"}', {}, Status.OK),
        ('<think>\n\n</think>\n<think>maybe</think>{"answer":"C"}', {}, Status.OK),
        ("<think>maybe</think>\n<think>or", {}, Status.THINKING_ONLY),
        ('{"answer":"C"}' + "\n" * 5000, {}, Status.OK),
        ('{"answer":"C"}' + " \t" * 5000, {"finish_reason": "length"}, Status.OK),
        ('```json\n{"answer":"C"}\n```', {}, Status.OK),
        ('\ufeff{"answer":"C"}', {}, Status.INVALID),
        ('{"answer":"C"} because', {}, Status.INVALID),
        ('{"answer":"C"}{"answer":"D"}', {}, Status.INVALID),
        ('{"answer":"E"}', {}, Status.INVALID),
        ('{"answer":"C","more":1}', {}, Status.INVALID),
        ("{}", {}, Status.INVALID),
        ("[]", {}, Status.INVALID),
        ("NaN", {}, Status.INVALID),
        ('{"answer": NaN}', {}, Status.INVALID),
        ('{"answer": "\\ud800"}', {}, Status.INVALID),
        ("[" * 100_000, {}, Status.INVALID),
        ('{"answer":"', {"finish_reason": "length"}, Status.TRUNCATED),
        ('{"answer":"', {}, Status.INVALID),
        ("", {}, Status.EMPTY),
        (" \n\t ", {}, Status.EMPTY),
        ("", {"finish_reason": "length"}, Status.TRUNCATED),
        ("", {"thinking": 'I say {"answer":"C"}'}, Status.THINKING_ONLY),
        ("", {"thinking": "hm", "finish_reason": "length"}, Status.THINKING_ONLY),
        ("<think>still at it", {"finish_reason": "length"}, Status.THINKING_ONLY),
        ('<think>{"answer":"C"}</think>', {}, Status.THINKING_ONLY),
        ("I cannot", {"finish_reason": "content_filter"}, Status.REFUSED),
        ("I cannot", {"finish_reason": "refusal"}, Status.REFUSED),
    ],
)
def test_statuses(content: str, fields: dict[str, Any], status: Status) -> None:
    assert judged(content, **fields) == (status, {"answer": "C"} if status is Status.OK else None)


def test_tags_inside_an_answer_are_the_answer() -> None:
    text = '{"q": "what does </think> mean?"}'
    assert separate_thinking(text) == ("", text)
    assert separate_thinking(" plain ") == ("", "plain")
    assert separate_thinking("<think>a</think> <think> b</think> c") == ("a\nb", "c")


def test_a_cut_prompt_shows_in_the_server_s_count() -> None:
    verdict = judge_reply(Reply('{"answer":"C"}', prompt_tokens=400), compile_schema(ANSWER, "d"), None, 1000)
    assert verdict.status is Status.PROMPT_TOO_LONG
    assert silently_cut(3900, 2050, 4096)  # 4,100 tokens asked, half of them kept
    assert silently_cut(4000, 4096, 4096)  # the window is full of prompt
    assert not silently_cut(1000, 610, 4096)
    assert not silently_cut(1000, None, 4096)
    assert not silently_cut(40, 3, 4096)
    assert not silently_cut(1000, 0, 4096)  # a server that does not count


# Token counts by the tokeniser of Gemma 3, asked of the embedded server.
@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("Too many cooks spoil the broth, and too few let it burn while they argue about salt. " * 8, 153),
        ("猿も木から落ちる。どんな名人でも時には失敗することがあるという意味のことわざです。" * 8, 152),
        ("ሰላም ለዓለም ዛሬ ጥሩ ቀን ነው። ድር ቢያብር አንበሳ ያስር። " * 8, 185),
        ("العلم في الصغر كالنقش على الحجر، ومن طلب العلا سهر الليالي. " * 8, 154),
        ("Тише едешь — дальше будешь, как говорили старики. " * 8, 121),
        ("जैसी करनी वैसी भरनी, यह कहावत सब जानते हैं। " * 8, 114),
        ("三个臭皮匠顶个诸葛亮,这句话说明集体的智慧胜过个人。" * 8, 152),
        ("สำนวนไทยนี้หมายความว่าความพยายามอยู่ที่ไหนความสำเร็จอยู่ที่นั่น " * 8, 137),
        ("internationalization " * 100, 201),
    ],
)
def test_the_guess_is_below_the_truth_but_not_far(text: str, counted: int) -> None:
    guess = estimate_tokens([Message("user", text)])
    assert counted / 3 < guess < counted * 1.3


def test_runs_of_one_character_are_few_tokens() -> None:
    assert estimate_tokens([Message("user", "=" * 10_000 + "\n" * 10_000)]) < 10


def test_only_what_cannot_fit_is_not_sent() -> None:
    assert surely_too_long(6830, 4096)
    assert not surely_too_long(6820, 4096)


@pytest.mark.parametrize(
    ("code", "text", "meaning"),
    [
        (400, '{"error":"the input length exceeds the context length"}', Trouble.TOO_LONG),
        (500, "request (6007 tokens) exceeds the available context size (4096 tokens)", Trouble.TOO_LONG),
        (400, "This model's maximum context length is 8192 tokens", Trouble.TOO_LONG),
        (400, '"gemma3" does not support thinking', Trouble.BAD_SETTING),
        (500, "invalid JSON schema in format", Trouble.BAD_SETTING),
        (404, "model 'x' not found", Trouble.MISSING_MODEL),
        (401, "", Trouble.KEY_REFUSED),
        (503, "server busy", Trouble.BUSY),
        (429, "slow down", Trouble.BUSY),
        (500, "llama runner process has terminated", Trouble.BROKEN),
        (502, "", Trouble.BROKEN),
        (400, "something else", Trouble.REJECTED),
        (301, "", Trouble.MOVED),
        (308, "", Trouble.MOVED),
    ],
)
def test_error_answers(code: int, text: str, meaning: Trouble) -> None:
    assert trouble(code, text) is meaning


def test_texts_are_made_storable() -> None:
    assert storable(None) == ""
    assert storable("a\0b\ud800c😀") == "a\ufffdb\ufffdc😀"


def test_real_answers_are_read_alike() -> None:
    ollama = {
        "message": {"role": "assistant", "content": "hi", "thinking": "hm"},
        "done_reason": "stop",
        "prompt_eval_count": 5,
        "eval_count": 2,
        "logprobs": [{"token": "hi", "logprob": -1.0, "top_logprobs": [{"token": "ho", "logprob": -2.0}]}],
    }
    openai = {
        "choices": [
            {
                "message": {"role": "assistant", "content": "hi", "reasoning_content": "hm"},
                "finish_reason": "stop",
                "logprobs": {"content": ollama["logprobs"]},
            }
        ],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2},
    }
    wanted = Reply(
        "hi", "hm", "stop", 5, 2, logprobs=[{"token": "hi", "logprob": -1.0, "top": [["ho", -2.0]]}]
    )
    assert ollama_reply(ollama) == openai_reply(openai) == wanted
    refused = {"choices": [{"message": {"content": None, "refusal": "No."}, "finish_reason": "stop"}]}
    assert openai_reply(refused) == Reply("No.", finish_reason="refusal")


@pytest.mark.parametrize("count", ["5", 5.5, -1, 2**31, 2**70, True, [5], None])
def test_what_is_no_count_of_tokens_is_none(count: Any) -> None:
    ollama = {"message": {"content": "hi"}, "prompt_eval_count": count, "eval_count": count}
    openai = {
        "choices": [{"message": {"content": "hi"}}],
        "usage": {"prompt_tokens": count, "completion_tokens": count},
    }
    assert ollama_reply(ollama) == openai_reply(openai) == Reply("hi", finish_reason="")


def test_whatever_a_server_says_beside_its_reply_can_be_stored() -> None:
    ollama = {"message": {"content": "hi"}, "done_reason": "\ud800"}
    openai = {
        "choices": [{"message": {"content": "hi"}, "finish_reason": "\ud800"}],
        "system_fingerprint": 7,
    }
    assert ollama_reply(ollama) == Reply("hi", finish_reason="\ufffd")
    assert openai_reply(openai) == Reply("hi", finish_reason="\ufffd", server="7")


def test_the_beginning_of_a_reply_is_none() -> None:
    with pytest.raises(ValueError, match="not done"):
        ollama_reply({"message": {"content": '{"answer"'}, "done": False})


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "strnig"}, "not a JSON schema"),
        ({"$ref": "#/$defs/A"}, "does not hold"),
        ({"$ref": "https://example.org/a.json"}, "does not hold"),
        ({"type": "string", "pattern": "["}, "not a JSON schema"),
        ({"type": "string", "pattern": r"\p{Han}"}, r"\$\.pattern: .* is not a 'regex'"),
    ],
)
def test_unusable_schemas(schema: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Schemas().get(schema)


def test_usable_references() -> None:
    for schema in ({"$defs": {"a/b": {}}, "$ref": "#/$defs/a~1b"}, {"properties": {"a": {"$ref": "#"}}}):
        assert Schemas().get(schema) is not None


def test_property_order_is_part_of_a_schema() -> None:
    one = Schemas().get({"properties": {"a": {}, "b": {}}})
    other = Schemas().get({"properties": {"b": {}, "a": {}}})
    assert one
    assert other
    assert one.digest != other.digest


def test_what_decides_the_key() -> None:
    (ask,) = token_asks(1)
    options = ChatOptions(temperature=0.5, max_tokens=10)

    def key(identity: str = "m", *, changed: dict[str, Any] | None = None, **fields: Any) -> str:
        given = {"schema_digest": "s", "budget": 10, "attempt": 0, **fields}
        return request_key(identity, ask, options.model_copy(update=changed or {}), **given)

    others = [
        key("n"),
        key(schema_digest="t"),
        key(budget=20),
        key(attempt=1),
        *(
            key(changed={name: value})
            for name, value in {
                "temperature": 0.6,
                "top_p": 0.9,
                "top_k": 5,
                "min_p": 0.1,
                "repeat_penalty": 1.1,
                "num_ctx": 4096,
                "think": True,
                "stop": ("x",),
                "logprobs": True,
                "top_logprobs": 3,
                "run_seed": 9,
            }.items()
        ),
    ]
    assert len({key(), *others}) == len(others) + 1
    assert key() == key(changed={"max_attempts": 5, "budget_growth": 3.0})


def test_the_key_of_a_question_never_changes() -> None:
    """A changed key would throw away every reply people have paid for."""
    (ask,) = token_asks(1)
    options = ChatOptions(temperature=0, max_tokens=10, num_ctx=4096)
    canonical = {
        "attempt": 0,
        "model": "m",
        "request": {
            "budget": 10,
            "logprobs": False,
            "messages": [["system", "Say the token."], ["user", "token<0>."]],
            "num_ctx": 4096,
            "schema": "s",
            "seed": 1,
            "stop": [],
            "temperature": 0.0,
        },
        "sample": 0,
    }
    text = json.dumps(canonical, sort_keys=True, separators=(",", ":"))
    wanted = hashlib.sha256(text.encode()).hexdigest()
    assert request_key("m", ask, options, schema_digest="s", budget=10, attempt=0) == wanted
