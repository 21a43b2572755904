"""Which model a server holds: digests of Ollama models, stated revisions of OpenAI-compatible ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
import ollama

from pipeline.errors import ConfigError, PrerequisiteError
from pipeline.llm.endpoints import Endpoint, ServedModel

# Asking for versions and tags is quick; a server that does not answer by then is not there.
_SECONDS = 20.0


@dataclass(frozen=True)
class OllamaInfo:
    """What an Ollama server says of a model; ``context_length`` is the model's own limit, None if unsaid."""

    address: str
    version: str
    model: str
    digest: str
    context_length: int | None
    capabilities: tuple[str, ...]


def ollama_info(address: str, model: str) -> OllamaInfo:
    """Ask an Ollama server for a model's digest and abilities.

    Raises PrerequisiteError when nothing answers at the address or the model is not pulled.
    """
    # No proxy of the environment: chat calls go straight to the server, so what is asked first must too.
    try:
        client = ollama.Client(host=address, timeout=_SECONDS, trust_env=False)
        version = (
            httpx.get(f"{address}/api/version", timeout=_SECONDS, trust_env=False).raise_for_status().json()
        )
        listed = {str(entry.model): str(entry.digest) for entry in client.list().models}
        name = model if model in listed else f"{model}:latest"
        if name not in listed:
            held = ", ".join(sorted(listed)) or "none"
            raise PrerequisiteError(
                f"Ollama at {address} does not have model {model}: type ollama pull {model} (it has: {held})"
            )
        shown = client.show(name)
        number = str(version["version"])
    except (httpx.HTTPError, httpx.InvalidURL, ConnectionError, ValueError, LookupError, TypeError) as error:
        raise PrerequisiteError(
            f"no Ollama server answers at {address}: start it with: ollama serve "
            f"(or name its address in the profile or in OLLAMA_HOST) ({error})"
        ) from error
    except ollama.ResponseError as error:
        raise PrerequisiteError(f"Ollama at {address} cannot show model {model}: {error}") from error
    return OllamaInfo(
        address,
        number,
        name,
        listed[name].removeprefix("sha256:"),
        _context_length(shown.modelinfo or {}),
        tuple(str(ability) for ability in shown.capabilities or ()),
    )


def ollama_model(
    name: str, model: str, addresses: Sequence[str], *, slots: int = 4, keep_alive: str | None = None
) -> ServedModel:
    """A model of one or several Ollama servers, which must hold the same digest of it."""
    infos = [ollama_info(address.rstrip("/"), model) for address in addresses]
    digests = {info.digest: info.address for info in infos}
    if len(digests) > 1:
        held = ", ".join(f"{address}: {digest[:12]}" for digest, address in digests.items())
        raise PrerequisiteError(
            f"the servers hold different versions of model {model} ({held}): type ollama pull {model} on each"
        )
    first = infos[0]
    endpoints = [Endpoint(info.address, slots, server=f"ollama {info.version}") for info in infos]
    return ServedModel(
        name=name,
        model=model,
        identity=f"ollama:{first.digest}",
        protocol="ollama",
        endpoints=lambda: endpoints,
        facts={
            "digest": first.digest,
            "server": sorted({endpoint.server for endpoint in endpoints}),
            "context_length": first.context_length,
            "capabilities": list(first.capabilities),
        },
        keep_alive=keep_alive,
    )


def openai_model(
    name: str,
    model: str,
    addresses: Sequence[str],
    *,
    revision: str | None,
    slots: int = 8,
    api_key: str | None = None,
) -> ServedModel:
    """A model of OpenAI-compatible servers; ``revision`` stands for the digest such servers do not tell.

    ``addresses`` are given with or without a trailing /v1.
    """
    if not revision:
        raise ConfigError(
            f"model {name}: an OpenAI-compatible server tells no digest, so the profile must give revision: "
            "(any text that changes when the model does, such as a commit or a date)"
        )
    if api_key and any(urlsplit(address).username is not None for address in addresses):
        raise ConfigError(
            f"model {name}: a call cannot carry both a user in its address and an API key: leave the user "
            "out of address, or api_key_variable out of the profile"
        )
    roots = [address.rstrip("/").removesuffix("/v1") for address in addresses]
    endpoints = [Endpoint(root, slots, server="openai-compatible", api_key=api_key) for root in roots]
    return ServedModel(
        name=name,
        model=model,
        identity=f"openai:{model}@{revision}",
        protocol="openai",
        endpoints=lambda: endpoints,
        facts={"revision": revision, "server": "openai-compatible"},
    )


def _context_length(info: Any) -> int | None:
    lengths = [value for name, value in dict(info).items() if str(name).endswith(".context_length")]
    return lengths[0] if lengths and isinstance(lengths[0], int) else None
