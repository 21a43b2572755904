"""Profiles: which models, limits and thresholds a build uses. Checked whole before the first model call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationError, model_validator

from pipeline.capr.acquire import AcquireParams
from pipeline.capr.cluster import ClusterParams
from pipeline.capr.curate import CurateParams
from pipeline.capr.distractors import DistractorParams
from pipeline.capr.filter import FilterParams
from pipeline.capr.judge import JudgeParams
from pipeline.capr.label import LabelParams
from pipeline.capr.name_clusters import NameClustersParams
from pipeline.capr.scenarios import ScenarioParams
from pipeline.errors import ConfigError
from pipeline.handwritten import parse_yaml, read_text
from pipeline.llm.endpoints import checked_address
from pipeline.llm.request import ChatOptions
from pipeline.params import Params
from pipeline.passwords import without_passwords
from pipeline.store.files import digest_json


def _checked_addresses(given: str | list[str]) -> str | list[str]:
    for address in [given] if isinstance(given, str) else given:
        checked_address(address)
    if not given:
        raise ValueError("name at least one address")
    return given


Address = Annotated[str, AfterValidator(checked_address)]
Addresses = Annotated[str | list[str], AfterValidator(_checked_addresses)]


class EmbeddedModel(Params):
    """The Gemma 3 270M base model that comes with the `embedded` extra, served on loopback.

    It shares the processor with everything else: on a busy laptop four calls at once took over five minutes
    each, so a call has longer than on a server of its own before it counts as hung.
    """

    backend: Literal["embedded"]
    num_ctx: int = Field(default=4096, ge=512)
    parallel: int = Field(default=4, ge=1)
    timeout_seconds: float = Field(default=1200, gt=0)


class OllamaModel(Params):
    """A model of an Ollama server. ``address`` left out: OLLAMA_HOST, else Ollama's own default."""

    backend: Literal["ollama"]
    model: str
    address: Addresses | None = None
    num_ctx: int = Field(default=8192, ge=512)
    parallel: int = Field(default=4, ge=1)
    timeout_seconds: float = Field(default=300, gt=0)
    keep_alive: str = "10m"


class OpenAIModel(Params):
    """A model of any OpenAI-compatible server. ``revision`` stands for a digest, which such servers lack."""

    backend: Literal["openai"]
    model: str
    revision: str
    address: Addresses
    api_key_variable: str | None = None
    num_ctx: int = Field(default=8192, ge=512)
    parallel: int = Field(default=8, ge=1)
    timeout_seconds: float = Field(default=300, gt=0)


ModelSpec = Annotated[EmbeddedModel | OllamaModel | OpenAIModel, Field(discriminator="backend")]


class EmbedderSpec(Params):
    """The embedding model; only the embedded one needs no ``model``."""

    backend: Literal["embedded", "sentence-transformers", "ollama"]
    model: str = ""
    revision: str | None = None
    address: Address | None = None

    @model_validator(mode="after")
    def _names_a_model(self) -> EmbedderSpec:
        if self.backend != "embedded" and not self.model:
            raise ValueError(f"backend {self.backend} needs model: the name of an embedding model")
        return self


class Sampling(Params):
    """How a role samples. ``max_tokens`` is the first output budget; a cut reply is asked again with more."""

    model: str
    temperature: float = Field(ge=0, le=2)
    max_tokens: int = Field(ge=8)
    top_p: float | None = Field(default=None, gt=0, le=1)
    top_k: int | None = Field(default=None, ge=1)
    min_p: float | None = Field(default=None, ge=0, le=1)
    repeat_penalty: float | None = Field(default=None, gt=0)
    think: bool | Literal["low", "medium", "high"] | None = None
    attempts: int = Field(default=3, ge=1)


class JudgeSeat(Sampling):
    """One judge: a name, a model, and how it is told to judge ("" for plainly)."""

    name: str
    stance: str = ""


class Roles(Params):
    """Which model does what in CAPR."""

    label: Sampling
    name_clusters: Sampling
    scenarios: Sampling
    judges: list[JudgeSeat] = Field(min_length=1)


def stage_of(role: str) -> str:
    """The CAPR stage that asks a role's model: every judge's is `judge`."""
    return role.partition(" ")[0]


class CaprParams(Params):
    """Settings of each CAPR stage, named after the stage."""

    acquire: AcquireParams = AcquireParams()
    label: LabelParams = LabelParams()
    cluster: ClusterParams = ClusterParams()
    name_clusters: NameClustersParams = NameClustersParams()
    scenarios: ScenarioParams = ScenarioParams()
    filter: FilterParams = FilterParams()
    distractors: DistractorParams = DistractorParams()
    judge: JudgeParams = JudgeParams()
    curate: CurateParams = CurateParams()


class Profile(Params):
    """One profile file. ``notice`` stands first on everything a run shows.

    ``glotlid_model`` is the path of a GlotLID model file, from the root; it identifies languages in place of
    langdetect.
    """

    description: str
    notice: str = ""
    run_seed: int = 0
    ledger: str | None = None
    models: dict[str, ModelSpec]
    embedder: EmbedderSpec
    glotlid_model: str | None = None
    roles: Roles
    capr: CaprParams = CaprParams()

    @model_validator(mode="after")
    def _roles_name_models(self) -> Profile:
        for role in self.seats.values():
            if role.model not in self.models:
                raise ValueError(f"model {role.model!r} is not among models: {', '.join(self.models)}")
        names = [judge.name for judge in self.roles.judges]
        if len(set(names)) != len(names):
            raise ValueError(f"two judges have one name: {', '.join(names)}")
        return self

    @property
    def seats(self) -> dict[str, Sampling]:
        """Every role a model plays, by name, in the order of the stages; a judge's is "judge NAME"."""
        roles = self.roles
        stages: dict[str, Sampling] = {
            "label": roles.label,
            "name_clusters": roles.name_clusters,
            "scenarios": roles.scenarios,
        }
        return {**stages, **{f"judge {seat.name}": seat for seat in roles.judges}}

    def options(self, seat: Sampling) -> ChatOptions:
        """How a seat's model is asked."""
        return ChatOptions(
            **seat.model_dump(exclude={"model", "attempts", "name", "stance"}),
            num_ctx=self.models[seat.model].num_ctx,
            run_seed=self.run_seed,
            max_attempts=seat.attempts,
        )

    @property
    def digest(self) -> str:
        """Digest of the whole profile, for the run manifest."""
        return digest_json(self.model_dump(mode="json"))

    @property
    def settings(self) -> dict[str, Any]:
        """The whole profile, for the run manifest; of URLs without their passwords."""
        found: dict[str, Any] = json.loads(without_passwords(json.dumps(self.model_dump(mode="json"))))
        return found

    def limited(self, *, proverbs: int | None, domains: int | None, drop_flagged: bool) -> Profile:
        """This profile with what the command line asks for."""
        data = self.model_dump(mode="json")
        if proverbs is not None:
            data["capr"]["acquire"]["limit"] = proverbs
        if domains is not None:
            data["capr"]["scenarios"]["domains"] = domains
        if drop_flagged:
            data["capr"]["curate"]["drop_flagged"] = True
        return validated(data, "the limits given")


def load_profile(path: Path, known: list[str]) -> Profile:
    """Read and check a profile; errors name file, field, value and what is allowed."""
    if not path.is_file():
        raise ConfigError(f"unknown profile {path.stem!r}: known are {', '.join(known)}")
    return validated(parse_yaml(read_text(path), path), str(path))


def validated(data: object, where: str) -> Profile:
    """The profile these data make; ConfigError lists every wrong field."""
    try:
        return Profile.model_validate(data)
    except ValidationError as error:
        problems = [
            f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']} "
            f"(value: {problem['input']!r:.80})"
            for problem in error.errors()
        ]
        raise ConfigError(f"{where}: " + "; ".join(problems)) from error
