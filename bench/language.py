"""Speed of the language layer against bare loops over the same libraries, on fresh texts.

    python bench/language.py [--texts 400] [--runs 5]

One JSON line each: what is compared, texts a second of the bare loop and of the layer, their ratio (median of
alternating runs) and the bar. Exit status 1 when a ratio is below its bar. Texts are made from the shipped
proverbs' words in a random order drawn anew in every run, so no text is met twice; for "new words" the words
are made up too.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
import statistics
import sys
import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import regex
from janome.tokenizer import Tokenizer
from langdetect.detector_factory import PROFILES_DIRECTORY, DetectorFactory

from pipeline.language.keys import STEPS, Drop, Letters
from pipeline.language.language import Language, load_language

LIBRARY_BAR = 0.85
REGEX_BAR = 0.60
SEEDS = Path(__file__).resolve().parent.parent / "seeds"
Loop = Callable[[Sequence[str]], object]


@dataclass(frozen=True)
class Comparison:
    """Two loops over the same texts; ``pieces`` is how many words or phrases make up a text.

    With ``new_words`` no word was met before either: the layer remembers the keys of words it has seen.
    """

    name: str
    lang: str
    bar: float
    bare: Loop
    layer: Loop
    pieces: int = 25
    new_words: bool = False


@dataclass(frozen=True)
class Measured:
    """One line of the output; rates are texts a second."""

    what: str
    lang: str
    bare_per_s: int
    layer_per_s: int
    ratio: float
    bar: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--texts", type=int, default=400)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    languages = {
        lang: load_language(SEEDS / lang / "language.yaml") for lang in ("ja", "en", "id", "ar", "am")
    }
    generator = random.Random()
    missed = False
    for comparison in comparisons(languages):
        line = measure(comparison, arguments.texts, arguments.runs, generator)
        missed |= line.ratio < comparison.bar
        print(json.dumps(asdict(line)), flush=True)
    sys.exit(1 if missed else 0)


def measure(comparison: Comparison, texts: int, runs: int, generator: random.Random) -> Measured:
    words = vocabulary(comparison.lang)
    ratios, bare_rates, layer_rates = [], [], []
    warm = fresh_texts(words, 20, comparison.pieces, generator)
    comparison.bare(warm)
    comparison.layer(warm)
    for run in range(runs):
        if comparison.new_words:
            words = fresh_words(words, texts * comparison.pieces, generator)
        batch = fresh_texts(words, texts, comparison.pieces, generator)
        pair = [("bare", comparison.bare), ("layer", comparison.layer)]
        seconds = {name: timed(loop, batch) for name, loop in (pair if run % 2 else reversed(pair))}
        ratios.append(seconds["bare"] / seconds["layer"])
        bare_rates.append(texts / seconds["bare"])
        layer_rates.append(texts / seconds["layer"])
    return Measured(
        comparison.name,
        comparison.lang,
        round(statistics.median(bare_rates)),
        round(statistics.median(layer_rates)),
        round(statistics.median(ratios), 3),
        comparison.bar,
    )


def timed(loop: Loop, batch: Sequence[str]) -> float:
    start = time.perf_counter()
    loop(batch)
    return time.perf_counter() - start


def vocabulary(lang: str) -> list[str]:
    """Words or, where blanks do not part them, phrases of the shipped proverbs and their meanings."""
    table = SEEDS / lang / "proverbs.csv"
    if not table.is_file():
        language = load_language(SEEDS / lang / "language.yaml")
        return " ".join(
            [language.strings.question, language.strings.instruction, *language.spec.stopwords]
        ).split()
    with table.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    pieces = [piece for row in rows for piece in regex.split(r"[\s、]+", f"{row['text']} {row['meaning']}")]
    return sorted({piece for piece in pieces if piece})


def fresh_texts(words: Sequence[str], texts: int, pieces: int, generator: random.Random) -> list[str]:
    return [" ".join(generator.choices(words, k=pieces)) + "." for _ in range(texts)]


def fresh_words(words: Sequence[str], count: int, generator: random.Random) -> list[str]:
    """Words that stand nowhere, of the letters of these."""
    letters = sorted({letter for word in words for letter in word if letter.isalpha()})
    return ["".join(generator.choices(letters, k=generator.randint(2, 9))) for _ in range(count)]


def comparisons(languages: dict[str, Language]) -> list[Comparison]:
    ja, en, id_, ar, am = (languages[lang] for lang in ("ja", "en", "id", "ar", "am"))
    tokenizer = Tokenizer()
    factory = DetectorFactory()
    factory.load_profile(PROFILES_DIRECTORY)
    factory.set_seed(0)

    def janome(texts: Sequence[str]) -> object:
        return [list(tokenizer.tokenize(text)) for text in texts]

    def langdetect(texts: Sequence[str]) -> object:
        found = []
        for text in texts:
            detector = factory.create()
            detector.append(text)
            found.append(detector.get_probabilities())
        return found

    library = [
        Comparison(
            "analyse: words, content, key, verdict", "ja", LIBRARY_BAR, janome, analysing(ja), pieces=8
        ),
        Comparison("tokenise", "ja", LIBRARY_BAR, janome, each(ja.tokenise), pieces=8),
        Comparison("analyse: words, content, key, verdict", "en", LIBRARY_BAR, langdetect, analysing(en)),
        Comparison("analyse: words, content, key, verdict", "id", LIBRARY_BAR, langdetect, analysing(id_)),
        Comparison("identify", "ar", LIBRARY_BAR, langdetect, each(ar.identify)),
    ]
    plain = []
    for language in (en, ar, am):
        lang = language.code
        plain += [
            Comparison("key", lang, REGEX_BAR, each(bare_key(language)), each(language.key)),
            Comparison("word count", lang, REGEX_BAR, each(bare_count), each(language.word_count)),
            Comparison("overlap", lang, REGEX_BAR, bare_overlap(language), overlapping(language)),
            Comparison(
                "overlap, new words", lang, REGEX_BAR, bare_overlap(language), overlapping(language), 25, True
            ),
        ]
    # Where the script decides no identifier is asked: the verdict is these counts and their evidence.
    for language in (am, ja):
        pieces = 25 if language.spec.word_spaces else 8
        shares = Comparison(
            "script shares",
            language.code,
            REGEX_BAR,
            each(bare_shares(language)),
            each(language.identify),
            pieces,
        )
        plain.append(shares)
    return library + plain


def each(function: Callable[[str], object]) -> Loop:
    return lambda texts: [function(text) for text in texts]


def analysing(language: Language) -> Loop:
    return each(language.analyse)


def overlapping(language: Language) -> Loop:
    def loop(texts: Sequence[str]) -> object:
        proverb = language.content_words(texts[0])
        return [len(proverb & language.content_words(text)) / max(len(proverb), 1) for text in texts]

    return loop


WORD = regex.compile(r"(?w)\b\w.*?\b")
LETTERS = regex.compile(r"\p{L}+")
INVISIBLE = regex.compile(r"[\u00AD\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u206F\uFE0E\uFE0F\uFEFF]+")


def bare_count(text: str) -> int:
    return len(WORD.findall(INVISIBLE.sub("", text)))


def bare_shares(language: Language) -> Callable[[str], object]:
    """Shares over letters of the language's scripts, of those that decide, and of look-alike letters."""
    classes: list[Callable[[str], list[str]]] = [
        regex.compile(
            "[" + "".join(rf"\p{{Script_Extensions={script}}}" for script in scripts) + "]+"
        ).findall
        for scripts in (language.spec.scripts, language.spec.decisive_scripts)
    ]
    classes += [re.compile(f"[{other.letters}]+").findall for other in language.spec.look_alikes]

    def shares(text: str) -> list[float]:
        letters = "".join(LETTERS.findall(unicodedata.normalize("NFC", text)))
        letters = unicodedata.normalize("NFKC", letters)
        return [len("".join(find(letters))) / max(len(letters), 1) for find in classes]

    return shares


def bare_key(language: Language) -> Callable[[str], str]:
    """The steps of a language's key, written out by hand without the layer's loop."""
    steps = [STEPS[name] for name in language.spec.key]
    drop = regex.compile("[" + "".join(s.inside for s in steps if isinstance(s, Drop)) + "]+")
    pairs = [pair for s in steps if isinstance(s, Letters) for pair in s.pairs]
    marks = regex.compile(r"\p{M}+") if "marks" in language.spec.key else None
    apostrophe = regex.compile(r"(?<=[\p{L}\p{M}])['\u2019]+(?=\p{L})")
    punctuation = regex.compile(r"[\p{P}\p{S}]+")

    def key(text: str) -> str:
        text = unicodedata.normalize("NFKC", text).casefold()
        text = drop.sub("", text)
        if marks:
            text = unicodedata.normalize("NFC", marks.sub("", unicodedata.normalize("NFD", text)))
        for written, meant in pairs:
            text = text.replace(written, meant)
        text = apostrophe.sub("", text)
        return " ".join(punctuation.sub(" ", text).split())

    return key


def bare_overlap(language: Language) -> Loop:
    """Words of the text, their keys by the same calls on all of them together, stopwords left out."""
    stopwords = language.stopwords
    key = bare_key(language)

    def content(text: str) -> set[str]:
        words = key("\ufdd0".join(WORD.findall(INVISIBLE.sub("", text)))).split("\ufdd0")
        return {word for word in words if word not in stopwords}

    def loop(texts: Sequence[str]) -> object:
        proverb = content(texts[0])
        return [len(proverb & content(text)) / max(len(proverb), 1) for text in texts]

    return loop


if __name__ == "__main__":
    main()
