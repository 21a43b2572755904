"""The root: the folder that holds seeds, profiles, prompts and what runs write."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import ConfigError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class Root:
    """Paths inside a root. What it lacks of prompts, profiles, language files is ``shipped``."""

    path: Path
    shipped: Path

    def profile(self, name: str) -> Path:
        """The profile file; one in the root wins over a shipped one of the same name."""
        return self._find(Path("profiles") / f"{checked_name(name, 'profile')}.yaml")

    def prompt(self, family: str, stage: str) -> Path:
        """The prompt file of a stage."""
        return self._find(Path("prompts") / family / f"{stage}.md")

    def language(self, lang: str) -> Path:
        """The language file."""
        return self._find(Path("seeds") / checked_name(lang, "lang") / "language.yaml")

    def seeds(self, lang: str) -> Path:
        """The seed table of a language (always in the root itself: it is people's work)."""
        return self.path / "seeds" / checked_name(lang, "lang") / "proverbs.csv"

    def splits(self, lang: str) -> Path:
        """The frozen splits of a language; may be absent."""
        return self.path / "seeds" / checked_name(lang, "lang") / "splits.csv"

    def stages(self, family: str, lang: str) -> Path:
        """Where stage artifacts of a family and language lie."""
        return self.artifacts / family / lang / "stages"

    def run(self, family: str, lang: str, profile: str) -> Path:
        """Where the last run of a profile lies."""
        return self.artifacts / family / lang / "runs" / profile

    def bases(self, family: str, lang: str) -> Path:
        """Where copies of the base datasets that builds used lie, by digest."""
        return self.artifacts / family / lang / "bases"

    def ledger(self, wanted: str | None) -> str | Path:
        """The call ledger: a file or URL as the profile wants it, else the root's own file."""
        if wanted is None:
            return self.artifacts / "ledger.sqlite"
        return wanted if "://" in wanted else self.path / wanted

    @property
    def artifacts(self) -> Path:
        """What runs write."""
        return self.path / "artifacts"

    def languages(self) -> list[str]:
        """Codes of all languages with a language file, in the root or shipped."""
        folders = [self.path / "seeds", self.shipped / "seeds"]
        return sorted({p.parent.name for f in folders for p in f.glob("*/language.yaml")})

    def profiles(self) -> list[str]:
        """Names of all profiles, in the root or shipped."""
        folders = [self.path / "profiles", self.shipped / "profiles"]
        return sorted({p.stem for f in folders for p in f.glob("*.yaml")})

    def check_language(self, lang: str) -> str:
        """``lang`` when it has a language file, else an error that lists those that have."""
        if checked_name(lang, "lang") in self.languages():
            return lang
        raise ConfigError(
            f"unknown language {lang!r}: known are {', '.join(self.languages())}. "
            f"To add one, type: adage language new {lang}"
        )

    def _find(self, relative: Path) -> Path:
        own = self.path / relative
        return own if own.is_file() else self.shipped / relative


def checked_name(name: str, field: str) -> str:
    """``name`` when it can be a folder's name and nothing else: a path in ``lang`` is refused."""
    if _NAME.fullmatch(name):
        return name
    raise ConfigError(f"{field}: {name!r} is not a name; use letters, digits, - and _ only (no path)")


def find_root(start: Path) -> Path:
    """The nearest folder at or above ``start`` whose pyproject.toml has ``[tool.adage]``."""
    for folder in [start, *start.parents]:
        file = folder / "pyproject.toml"
        if file.is_file():
            try:
                tools = tomllib.loads(file.read_text(encoding="utf-8")).get("tool", {})
            except tomllib.TOMLDecodeError as error:
                raise ConfigError(f"{file}: not valid TOML: {error}") from error
            if "adage" in tools:
                return folder
    raise ConfigError(
        f"no project root at or above {start}: go to a folder whose pyproject.toml has [tool.adage], "
        "or give --root DIR"
    )


def shipped_root() -> Path:
    """Where the prompts, profiles and language files that ship lie: the checkout, else the wheel."""
    source = Path(__file__).resolve().parents[2]
    installed = source / "adage_shipped"
    return installed if installed.is_dir() else source
