"""Puts a build together: root, profile, language, seeds, prompts, models, ledger. All is checked here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flows.backends import Backends
from flows.interrupt import stop_on_interrupt
from flows.runs import Summary, finish_run
from flows.screen import Screen, duration
from pipeline.capr.base import Base
from pipeline.capr.base_files import load_base
from pipeline.capr.clustering import check_memory
from pipeline.capr.graph import PROMPTS, STAGES
from pipeline.capr.judge import Judge
from pipeline.capr.prompt_check import checked_prompt
from pipeline.capr.reclustering import what_changes
from pipeline.capr.runner import Materials, Runner
from pipeline.capr.split_check import check_splits
from pipeline.embed.cache import CachedEmbedder
from pipeline.embed.held import NothingMore
from pipeline.errors import CallLimitReached, ConfigError, Interrupted, PrerequisiteError
from pipeline.language.identifiers import GlotlidIdentifier
from pipeline.language.language import load_language
from pipeline.llm.chat import LedgerChat
from pipeline.llm.ledger import Ledger, locate
from pipeline.llm.limits import CallLimits, Progress
from pipeline.profile import Profile, load_profile, stage_of
from pipeline.seeds.table import read_seeds, read_splits
from pipeline.store.root import Root, find_root, shipped_root
from pipeline.store.stages import StageRef


@dataclass(frozen=True)
class BuildRequest:
    """What a person asks for: the options of `adage build capr` and the parameters of the flow."""

    lang: str
    profile: str = "demo"
    limit_proverbs: int | None = None
    limit_domains: int | None = None
    root: str | None = None
    drop_flagged: bool = False
    max_calls: int | None = None
    max_hours: float | None = None
    base: str | None = None
    recluster: bool = False
    strict: bool = False


@dataclass
class Assembly:
    """One build, ready to run."""

    lang: str
    profile_name: str
    profile: Profile
    root: Root
    screen: Screen
    ledger: Ledger
    backends: Backends
    stop: threading.Event
    limits: CallLimits
    chats: dict[str, LedgerChat] = field(default_factory=dict)
    watch: Callable[[int, int, str], None] = lambda done, total, detail: None
    runner: Runner = field(init=False)

    @property
    def run_folder(self) -> Path:
        """Where this run's manifest and dataset go."""
        return self.root.run("capr", self.lang, self.profile_name)

    @property
    def language_name(self) -> str:
        """English name of the language."""
        return self.runner.materials.language.name

    def introduce(self) -> None:
        """Say what is about to be built, with the profile's notice first."""
        if self.profile.notice:
            self.screen.say(self.profile.notice)
        self.screen.say(f"CAPR {self.language_name} ({self.lang}), profile {self.profile_name}")

    def run(self, stage: str) -> StageRef:
        """Run a stage, unless the user asked to stop or the time is up."""
        why = "stopped by the user" if self.stop.is_set() else self.limits.out_of_time()
        if why:
            kind = Interrupted if self.stop.is_set() else CallLimitReached
            raise kind(
                f"{why} before stage {stage}: {len(self.runner.done)} of {len(STAGES)} stages are done and "
                "kept; run the same command again to go on from here"
            )
        return self.runner.run(stage)

    def chat(self, role: str) -> LedgerChat:
        """The model of a role (label, name_clusters, scenarios, judge NAME), made once."""
        if role not in self.chats:
            seat = self.profile.seats[role]
            spec = self.profile.models[seat.model]
            self.chats[role] = LedgerChat(
                self.backends.served(seat.model, spec),
                self.profile.options(seat),
                self.ledger,
                timing=self.backends.timing(spec),
                progress=self._advance,
                limits=self.limits,
                stop=self.stop,
            )
        return self.chats[role]

    def judges(self) -> list[Judge]:
        """The jury."""
        return [
            Judge(seat.name, self.chat(f"judge {seat.name}"), seat.stance)
            for seat in self.profile.roles.judges
        ]

    def calls(self) -> dict[str, int]:
        """Model calls made and replies reused so far."""
        counts = [chat.counts for chat in self.chats.values()]
        return {"made": sum(c.made for c in counts), "reused": sum(c.reused for c in counts)}

    def seen(self, stage: str) -> dict[str, Any]:
        """What the replies of a stage's models showed of them, by role."""
        return {role: dict(chat.seen) for role, chat in self.chats.items() if stage_of(role) == stage}

    def details(self) -> dict[str, Any]:
        """What the run manifest says besides stages and counts."""
        acquired = self.runner.done["acquire"].facts
        drafts = acquired["drafts"]
        notices = [self.profile.notice] if self.profile.notice else []
        if drafts:
            notices.append(
                f"DRAFT: {drafts} of {acquired['selected']} proverbs are not reviewed by a native speaker."
            )
        return {
            "notices": notices,
            "language": self._language(),
            "run_seed": self.profile.run_seed,
            "limits": {
                "proverbs": self.profile.capr.acquire.limit,
                "domains": self.profile.capr.scenarios.domains,
            },
            "profile_digest": self.profile.digest,
            "profile_settings": self.profile.settings,
            "embedder": {
                "name": self.runner.materials.embedder.name,
                "identity": self.runner.materials.embedder.identity,
            },
            "models": {
                role: {**chat.facts, **self.runner.done[stage_of(role)].facts.get("models", {}).get(role, {})}
                for role, chat in self.chats.items()
            },
            "stage_parts": {name: dict(parts) for name, parts in self.runner.made_of.items()},
        }

    def what_reclustering_changes(self) -> str:
        """One paragraph on the base's items under the new clusters, once the `cluster` stage is done."""
        materials, done = self.runner.materials, self.runner.done
        assert materials.base is not None
        change = what_changes(
            materials.base,
            done["acquire"].table(),
            done["cluster"].table(),
            materials.embedder,
            self.profile.run_seed,
            self.profile.capr.distractors,
        )
        k: int = done["cluster"].facts["k"]
        return f"base {materials.base.version} {change.said(k, judges=len(self.profile.roles.judges))}"

    def finish(self) -> Summary:
        """Write what the run leaves, after its last stage."""
        materials = self.runner.materials
        return finish_run(
            self.run_folder,
            lang=self.lang,
            profile=self.profile_name,
            stages=self.runner.done,
            calls=self.calls(),
            details=self.details(),
            base=materials.base,
            recluster=materials.recluster,
        )

    def _language(self) -> dict[str, str]:
        language = self.runner.materials.language
        return {
            "code": language.code,
            "name": language.name,
            "native_name": language.native_name,
            "direction": language.direction,
        }

    def _advance(self, progress: Progress) -> None:
        left = "" if progress.seconds_left is None else f"{duration(progress.seconds_left)} left"
        reused = f"{progress.reused} reused" if progress.reused else ""
        tokens = f"{progress.tokens} tokens" if progress.tokens else ""
        detail = ", ".join(part for part in (reused, tokens, left) if part)
        self.screen.advance(progress.done, progress.total, detail)
        self.watch(progress.done, progress.total, detail)


def settle(request: BuildRequest) -> tuple[Root, Profile]:
    """The root of a request, and its profile with the limits asked for."""
    place = Root((Path(request.root) if request.root else find_root(Path.cwd())).resolve(), shipped_root())
    place.check_language(request.lang)
    settings = load_profile(place.profile(request.profile), place.profiles()).limited(
        proverbs=request.limit_proverbs, domains=request.limit_domains, drop_flagged=request.drop_flagged
    )
    return place, settings


@contextmanager
def assemble(request: BuildRequest, screen: Screen, scratch: Path | None = None) -> Iterator[Assembly]:
    """Check everything a build needs and open it; what is wrong is said before the first model call.

    With a ``scratch`` folder it is for looking only: nothing is written into the root, and no text is
    embedded that was not before. Stages must not be run then.
    """
    place, settings = settle(request)
    lang = request.lang
    identifier = GlotlidIdentifier(place.path / settings.glotlid_model) if settings.glotlid_model else None
    language = load_language(place.language(lang), identifier)
    prompts = {stage: checked_prompt(stage, place.prompt("capr", stage)) for stage in PROMPTS}
    seeds = read_seeds(place.seeds(lang), lang)
    frozen_splits = read_splits(place.splits(lang))
    base = _open_base(request, place, scratch)
    check_splits(seeds, frozen_splits, base)
    if base is None or request.recluster:
        # Every proverb may get a label of its own: what that needs is known before the first call is made.
        asked = min(len(seeds), settings.capr.acquire.limit or len(seeds))
        check_memory(asked, settings.capr.cluster.memory_gib)
    with ExitStack() as stack:
        ledger = Ledger(_ledger_place(settings, place, scratch), look=scratch is not None)
        stack.callback(ledger.close)
        backends = stack.enter_context(Backends())
        stop = stack.enter_context(stop_on_interrupt(screen))
        embedder = backends.embedder(settings.embedder)
        assembly = Assembly(
            lang,
            request.profile,
            settings,
            place,
            screen,
            ledger,
            backends,
            stop,
            CallLimits(request.max_calls, request.max_hours),
        )
        assembly.runner = Runner(
            place.stages("capr", lang),
            Materials(
                profile=settings,
                language=language,
                seeds=seeds,
                frozen_splits=frozen_splits,
                prompts=prompts,
                embedder=CachedEmbedder(
                    NothingMore(embedder) if scratch else embedder, place.artifacts / "vectors.sqlite"
                ),
                chat=assembly.chat,
                judges=assembly.judges,
                calls=assembly.calls,
                seen=assembly.seen,
                base=base,
                recluster=request.recluster,
            ),
            announce=screen.begin_stage,
        )
        _check_models(assembly)
        yield assembly


def _ledger_place(settings: Profile, place: Root, scratch: Path | None) -> str | Path:
    wanted = place.ledger(settings.ledger)
    file, _ = locate(wanted)
    return scratch / "ledger.sqlite" if scratch and file and not file.exists() else wanted


def _open_base(request: BuildRequest, place: Root, scratch: Path | None) -> Base | None:
    if request.base is None:
        if request.recluster:
            raise ConfigError(
                "--recluster makes a new major version of a base dataset: name it with --base DIR (a build "
                "without a base clusters anew anyway)"
            )
        return None
    copies = scratch or place.bases("capr", request.lang)
    return load_base(place.path / request.base, request.lang, copies)


def _check_models(assembly: Assembly) -> None:
    """Ask every model for its identity, so that a missing server, model or extra is named now."""
    chats = [assembly.chat(role) for role in ("label", "name_clusters", "scenarios")]
    identities = {
        "embedder": assembly.runner.materials.embedder.identity,
        **{chat.name: chat.identity for chat in chats},
        **{judge.name: judge.chat.identity for judge in assembly.judges()},
    }
    base = assembly.runner.materials.frozen
    if base and base.embedder != identities["embedder"]:
        raise ConfigError(
            f"base dataset {base.version} was built with embedder {base.embedder}, but profile "
            f"{assembly.profile_name} has {identities['embedder']}: caps and clusters do not carry over. "
            "Use the base's embedder, or make a new major version with --recluster"
        )
    blank = [name for name, identity in identities.items() if not identity]
    if blank:
        raise PrerequisiteError(f"{', '.join(blank)}: the server gives no digest; give the model a revision")
