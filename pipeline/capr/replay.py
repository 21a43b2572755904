"""The ledger in the models' place: what it holds is answered, what it lacks is counted and not asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, cast

from pipeline.llm.chat import Held
from pipeline.llm.interface import Answer, Ask, Chat, Status


class HoldingChat(Chat, Protocol):
    """A chat that can say what its ledger holds."""

    def held(self, asks: Sequence[Ask]) -> Held:
        """What the ledger says to these asks; makes no call."""
        ...


class Replay:
    """Counts the calls that stages would need, over all chats it hands out."""

    def __init__(self) -> None:
        self.calls = 0
        self.most = 0

    def restart(self) -> None:
        """Count anew."""
        self.calls = self.most = 0

    def add(self, held: Held) -> None:
        """Count what the ledger lacks."""
        self.calls += held.calls
        self.most += held.most

    def chat(self, role: str, chat: Chat) -> Chat:
        """A chat on the same ledger that calls nobody; ``chat`` must be on a ledger."""
        return _ReplayingChat(cast(HoldingChat, chat), self)


class _ReplayingChat:
    """Implements Chat; an ask that the ledger cannot answer comes back unanswered."""

    def __init__(self, chat: HoldingChat, replay: Replay) -> None:
        self._chat = chat
        self._replay = replay

    @property
    def name(self) -> str:
        return self._chat.name

    @property
    def identity(self) -> str:
        return self._chat.identity

    def ask(self, asks: Sequence[Ask]) -> list[Answer]:
        held = self._chat.held(asks)
        self._replay.add(held)
        return [
            answer or Answer(ask.row_id, Status.SERVER_ERROR, why="not asked")
            for ask, answer in zip(asks, held.answers, strict=True)
        ]
