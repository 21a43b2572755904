"""The identifiers: langdetect, seeded, for every language it knows; a GlotLID model where one is given."""

from __future__ import annotations

import threading
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from langdetect.detector_factory import PROFILES_DIRECTORY, DetectorFactory
from langdetect.lang_detect_exception import LangDetectException

from pipeline.errors import ConfigError, PrerequisiteError
from pipeline.language.spec import LanguageSpec
from pipeline.store.files import digest_file


class LangdetectIdentifier:
    """The langdetect library, seeded for each call: the same text always gets the same answer."""

    @property
    def identity(self) -> str:
        """Library and version."""
        return f"langdetect {version('langdetect')}"

    def names(self, spec: LanguageSpec) -> frozenset[str]:
        """``codes.langdetect`` of the language file."""
        return frozenset(spec.codes.langdetect)

    def mistakes(self, spec: LanguageSpec) -> frozenset[str]:
        """``mistaken_for`` of the language file."""
        return frozenset(spec.mistaken_for)

    def guess(self, text: str) -> dict[str, float]:
        """Probabilities above 0.1 by langdetect's codes."""
        detector = _detectors().create()
        detector.append(text)
        try:
            return {found.lang: float(found.prob) for found in detector.get_probabilities()}
        except LangDetectException:
            # It raises on texts without letters it knows, all of Ethiopic among them.
            return {}


class GlotlidIdentifier:
    """A GlotLID model: fastText labels such as ``__label__amh_Ethi``, over 2,000 languages."""

    def __init__(self, model: Path) -> None:
        """Load ``model``; PrerequisiteError without the fasttext package, ConfigError for a bad file."""
        try:
            import fasttext
        except ImportError as error:
            raise PrerequisiteError(
                "a GlotLID model needs the package fasttext; type: pip install 'adage[glotlid]'"
            ) from error
        if not model.is_file():
            raise ConfigError(f"identifier model {model}: no such file; give the path of GlotLID's model.bin")
        try:
            self._model = fasttext.load_model(str(model))
        except ValueError as error:
            raise ConfigError(f"identifier model {model}: not a fastText model: {error}") from error
        self._digest = digest_file(model)

    @property
    def identity(self) -> str:
        """Digest of the model file."""
        return f"glotlid {self._digest}"

    def names(self, spec: LanguageSpec) -> frozenset[str]:
        """``codes.glotlid`` of the language file, else its ISO 639-3 code."""
        return frozenset(spec.codes.glotlid or [spec.codes.iso639_3])

    def mistakes(self, spec: LanguageSpec) -> frozenset[str]:
        """None: the list in the language file was measured with langdetect."""
        return frozenset()

    def guess(self, text: str) -> dict[str, float]:
        """Probabilities of the three best languages by ISO 639-3 code, scripts of one language added up."""
        guesses: dict[str, float] = {}
        labels, probabilities = self._model.predict(text.replace("\n", " "), k=3)
        for label, probability in zip(labels, probabilities, strict=True):
            code = label.removeprefix("__label__").partition("_")[0]
            guesses[code] = guesses.get(code, 0.0) + float(probability)
        return guesses


_lock = threading.Lock()


def _detectors() -> Any:
    with _lock:
        return _loaded()


@lru_cache(maxsize=1)
def _loaded() -> Any:
    # Loaded by name: load_profile takes the folder in the disk's order, and the order breaks ties.
    # Each detector draws from a generator of its own, seeded with the factory's seed, so threads do not mix.
    factory = DetectorFactory()
    files = [file for file in sorted(Path(PROFILES_DIRECTORY).iterdir()) if not file.name.startswith(".")]
    factory.load_json_profile([file.read_text(encoding="utf-8") for file in files])
    factory.set_seed(0)
    return factory
