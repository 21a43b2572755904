"""A process that asks many questions and writes a table, for tests that kill it.

``python -m tests.llm.stage_like ADDRESS FOLDER COUNT``; Ctrl-C is passed on to the chat as a stage would.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from pathlib import Path

from pipeline.errors import AdageError
from pipeline.llm.chat import LedgerChat
from pipeline.llm.ledger import Ledger
from pipeline.llm.request import ChatOptions
from pipeline.llm.servers import ollama_model
from pipeline.llm.transport import Timing
from pipeline.store.files import write_json
from tests.llm.asks import token_asks

SLOTS = 8


def main(address: str, folder: Path, count: int) -> int:
    """Ask, write ``table.json``; gives back the exit code."""
    stop = threading.Event()
    signal.signal(signal.SIGINT, lambda number, frame: stop.set())
    chat = LedgerChat(
        ollama_model("teller", "scripted", [address], slots=SLOTS),
        ChatOptions(temperature=0.8, max_tokens=200),
        Ledger(folder / "ledger.sqlite"),
        timing=Timing(call=10, first_call=10, patience=30),
        stop=stop,
    )
    try:
        answers = chat.ask(token_asks(count))
    except AdageError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    rows = [[a.row_id, a.status, a.value, a.why, [r.content for r in a.replies]] for a in answers]
    write_json(folder / "table.json", rows)
    print(json.dumps({"made": chat.counts.made, "reused": chat.counts.reused}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
