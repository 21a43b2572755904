"""The embedded model's engine, llama.cpp's server, as a program: ``python -m pipeline.llm.engine``.

It is a process of its own because the engine has no stop: destroying it while it answers waits for ever, and
Python with it. A process can be ended at any moment, and this one ends with whoever started it.

It reads one line of JSON (path, num_ctx, parallel, template, key), writes one ({"address"} or {"error"}) and
serves on loopback until its input closes.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any


def main() -> None:
    """Serve what the first line of input asks for until the last."""
    line = sys.stdin.readline()
    if not line:
        return
    try:
        server = serve(json.loads(line))
        said = {"address": str(server.listening_address).rstrip("/")}
    except (ImportError, RuntimeError) as error:
        said = {"error": str(error)}
    sys.stdout.write(f"{json.dumps(said)}\n")
    sys.stdout.flush()
    # Nobody reads on: whatever the engine may write would fill the pipe and stop it.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if "address" in said:
        sys.stdin.read()
    # Not the ordinary end of a program, which would destroy the engine.
    os._exit(0)


def serve(wanted: Mapping[str, Any]) -> Any:
    """The engine, listening. Raises RuntimeError when the model cannot be loaded."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = wanted["path"]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [wanted["key"]]
    # The server divides its context among its slots.
    params.n_ctx = wanted["num_ctx"] * wanted["parallel"]
    params.n_parallel = wanted["parallel"]
    # A prompt's answer must not depend on which prompts the slot saw before.
    params.cache_prompt = False
    params.cache_ram_mib = 0
    params.use_jinja = True
    params.chat_template = wanted["template"]
    params.ui = False
    params.verbosity = -1
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
