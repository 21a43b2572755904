from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.capr.domains import DOMAINS
from pipeline.capr.filter import FilterParams, filter
from pipeline.language.tokenisers import TOKENISERS
from pipeline.store.result import StageResult
from pipeline.store.tables import kept_table
from tests.capr.kit import TableEmbedder, filtered, language, proverbs, reasons, scenarios, shuffled

# Ten content words, none of them in STORY.
PROVERB = "Copper kettle whistle candle river marble falcon basket lantern pepper"
STORY = (
    "Maria copied the figures twice before the meeting and found that one column was wrong so she asked her "
    "manager for another hour and they corrected the report together while everybody else went out for lunch "
    "and nobody complained about the delay because the new numbers were finally right and the customer who "
    "had been angry for weeks thanked them both and promised to order again in spring when his shop would "
    "open its second floor near the station where he hoped that many more people would stop and look at what "
    "he sells and perhaps tell their friends about the place so that in the end a single hour of work had "
    "saved the whole company from a long and expensive quarrel that nobody wanted"
)
PROSE = STORY.split()
FIRST_WORDS = ("Yesterday", "Today", "Tomorrow", "Later")


def _words(count: int, *extra: str) -> str:
    return " ".join([*extra, *PROSE[: count - len(extra)]]) + "."


def _one(text: str, embedder: TableEmbedder | None = None, **params: Any) -> StageResult:
    return filtered(
        scenarios(p0_family=text), proverbs(PROVERB, "Time flies"), embedder or TableEmbedder(), **params
    )


def test_the_papers_thresholds() -> None:
    params = FilterParams()
    assert (params.script_share, params.least_words, params.most_words, params.overlap) == (
        0.70,
        10,
        120,
        0.30,
    )
    fixed = filtered(scenarios(p0_family=_words(12)), proverbs(PROVERB), TableEmbedder())
    assert fixed.facts["similarity_cap"] == {"cap": 0.85, "how": "fixed"}


@pytest.mark.parametrize(("count", "reason"), [(9, "too_short"), (10, None), (120, None), (121, "too_long")])
def test_ten_to_a_hundred_and_twenty_words(count: int, reason: str | None) -> None:
    result = _one(_words(count))
    assert reasons(result).get("p0.family") == reason
    measured = result.rejected[0].numbers if reason else result.rows[0]
    assert measured["words"] == count


@pytest.mark.parametrize(("shared", "reason"), [(3, None), (4, "overlap")])
def test_at_most_thirty_percent_of_the_proverbs_content_words(shared: int, reason: str | None) -> None:
    result = _one(_words(30, *PROVERB.lower().split()[:shared]))
    assert reasons(result).get("p0.family") == reason
    measured = result.rejected[0].numbers if reason else result.rows[0]
    assert measured["overlap"] == pytest.approx(shared / 10)


@pytest.mark.parametrize(("cosine", "reason"), [(0.849, None), (0.851, "too_similar")])
def test_at_most_085_alike_to_its_proverb(cosine: float, reason: str | None) -> None:
    text = _words(20)
    near = [cosine, float(np.sqrt(1 - cosine**2))]
    result = _one(text, TableEmbedder({PROVERB: [1, 0], text: near}))
    assert reasons(result).get("p0.family") == reason
    measured = result.rejected[0].numbers if reason else result.rows[0]
    assert measured["similarity"] == pytest.approx(cosine, abs=1e-6)
    assert measured["similarity_cap"] == 0.85


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("راجعت سلمى الأرقام مرتين قبل الاجتماع فوجدت أن أحد الأعمدة خاطئ فصححته", "wrong_script"),
        ("1 2 3 4 5 6 7 8 9 10 11 12", "wrong_script"),
        (
            "Der Lehrer brachte gestern viele neue Bücher in unser stilles Büro und legte sie auf den Tisch",
            "wrong_language",
        ),
    ],
)
def test_other_scripts_and_languages(text: str, reason: str) -> None:
    assert reasons(_one(text)) == {"p0.family": reason}


@pytest.mark.parametrize(("latin", "rejected"), [(70, False), (69, True)])
def test_seventy_percent_of_the_letters_in_the_script_are_enough(latin: int, rejected: bool) -> None:
    # Ten words of ten letters: so many of the hundred are Latin, the others Ethiopic.
    letters = "abcdefghij" * 10
    text = letters[:latin] + "ሀ" * (100 - latin)
    words = " ".join(text[i : i + 10] for i in range(0, 100, 10))
    reason = reasons(_one(words)).get("p0.family")
    assert (reason == "wrong_script") is rejected


def test_the_first_check_that_fails_names_the_rejection_and_all_numbers_stand() -> None:
    text = "copper kettle whistle candle"
    [rejection] = _one(text, TableEmbedder({PROVERB: [1, 0], text: [1, 0]})).rejected
    assert rejection.reason == "too_short"
    assert rejection.numbers == {
        "text": text,
        "words": 4,
        "script_share": 1.0,
        "verdict": rejection.numbers["verdict"],
        "overlap": 0.4,
        "similarity": 1.0,
        "similarity_cap": 0.85,
    }


def test_near_duplicates_within_a_proverb_and_only_there() -> None:
    one, two, three = (_words(20, word) for word in FIRST_WORDS[:3])
    embedder = TableEmbedder({one: [1, 0, 0], two: [1, 0.1, 0], three: [1, 0, 0.5]})
    table = scenarios(p0_family=one, p0_sports=three, p0_travel=two, p1_family=two)
    result = filtered(table, proverbs(PROVERB, "Time flies"), embedder)
    assert reasons(result) == {"p0.travel": "near_duplicate"}
    numbers = result.rejected[0].numbers
    assert (numbers["of"], numbers["at_most"]) == ("p0.family", 0.98)
    assert numbers["likeness"] == pytest.approx(1 / np.sqrt(1.01), abs=1e-6)


def test_of_near_duplicates_the_first_by_id_stays_whatever_the_row_order() -> None:
    one, two = _words(20, "Yesterday"), _words(20, "Tomorrow")
    embedder = TableEmbedder({one: [1, 0], two: [1, 0.01]})
    for table in (
        scenarios(p0_sports=one, p0_family=two),
        scenarios(p0_family=two, p0_sports=one),
    ):
        assert reasons(filtered(table, proverbs(PROVERB), embedder)) == {"p0.sports": "near_duplicate"}


def test_passages_alike_only_within_the_embedders_window_are_no_duplicates() -> None:
    one, two = _words(100, "Yesterday"), _words(100, "Tomorrow")
    table = scenarios(p0_family=one, p0_sports=two)
    same = {one: [1.0, 0.0], two: [1.0, 0.0]}
    for long in ([one, two], [one]):
        result = filtered(table, proverbs(PROVERB), TableEmbedder(same, long=long))
        assert reasons(result) == {}
        assert result.facts["longer_than_embedder_window"] == len(long)
    assert reasons(filtered(table, proverbs(PROVERB), TableEmbedder(same))) == {"p0.sports": "near_duplicate"}
    # Past the window too, the very same text is a duplicate.
    twice = scenarios(p0_family=one, p0_sports=one.upper())
    cut = TableEmbedder({one: [1.0, 0.0], one.upper(): [1.0, 0.0]}, long=[one, one.upper()])
    assert reasons(filtered(twice, proverbs(PROVERB), cut)) == {"p0.sports": "near_duplicate"}


@pytest.mark.parametrize("broken", [[0.0, 0.0], [np.nan, 0.0]])
def test_a_text_without_a_usable_vector_passes_no_similarity_check(broken: list[float]) -> None:
    text = _words(20)
    with np.errstate(invalid="ignore"):
        of_scenario = _one(text, TableEmbedder({text: broken}))
        of_proverb = _one(text, TableEmbedder({PROVERB: broken}))
    assert reasons(of_scenario) == reasons(of_proverb) == {"p0.family": "no_embedding"}
    assert of_scenario.rejected[0].numbers["similarity"] is None


def test_each_scenario_is_tokenised_and_embedded_exactly_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenised: Counter[str] = Counter()
    words = TOKENISERS["words"]

    def counting(text: str) -> tuple[list[str], list[str]]:
        tokenised[text] += 1
        return words(text)

    monkeypatch.setitem(TOKENISERS, "words", counting)
    slots = list(DOMAINS)
    texts = {f"p{i}_{slot}": _words(20 + n, f"name{i}") for i in range(3) for n, slot in enumerate(slots)}
    seeds = proverbs(PROVERB, "Time flies", "Look before you leap", "Never chosen")
    embedder = TableEmbedder()
    result = filter(
        scenarios(**texts), seeds, language(), embedder, FilterParams(similarity_cap="calibrated"), None
    )
    assert len(result.rows) == 30
    assert {text: tokenised[text] for text in texts.values()} == dict.fromkeys(texts.values(), 1)
    embedded = Counter(embedder.embedded)
    assert {text: embedded[text] for text in texts.values()} == dict.fromkeys(texts.values(), 1)
    # The proverbs once too, not once a scenario.
    assert max(tokenised.values()) == max(embedded.values()) == 1


def test_the_cap_is_calibrated_over_all_seeds_whatever_the_limits() -> None:
    # 10 scenarios of one proverb and 29 other seeds are 290 pairs: 288 of them at 0.9 cosine, two at 0.
    texts = {f"p0_{slot}": _words(20 + n) for n, slot in enumerate(DOMAINS)}
    others = [f"Seed number {i}" for i in range(29)]
    side = float(np.sqrt(1 - 0.9**2))
    vectors = {PROVERB: [0.0, 0.0, 1.0], **{text: [0.0, 1.0, 0.0] for text in texts.values()}}
    vectors |= {seed: [side, 0.9, 0.0] for seed in others}
    seeds = proverbs(PROVERB, *others, selected=[True] + [False] * 29)
    result = filter(
        scenarios(**texts), seeds, language(), TableEmbedder(vectors), FilterParams(near_duplicate=1), None
    )
    calibration = result.facts["similarity_cap"]
    assert calibration["pairs"] == 290
    assert calibration["cap"] == calibration["quantile"] == pytest.approx(0.9, abs=2e-4)
    assert len(result.rows) == 10


def test_nothing_to_filter() -> None:
    empty = kept_table("scenarios", [])
    result = filter(empty, proverbs(PROVERB), language(), TableEmbedder(), FilterParams(), None)
    assert (result.rows, result.rejected, result.expected) == ([], [], 0)


def _random_table(counts: list[int], seed: int) -> tuple[pa.Table, pa.Table, TableEmbedder]:
    generator = np.random.default_rng(seed)
    texts = {
        f"p{i}_{slot}": _words(int(generator.integers(6, 100)), FIRST_WORDS[int(generator.integers(0, 4))])
        for i, count in enumerate(counts)
        for slot in list(DOMAINS)[:count]
    }
    seeds = proverbs(*(f"Seed {chr(97 + i) * 4} falls" for i in range(len(counts))))
    vectors = {
        text: generator.normal(size=3).tolist() for text in [*texts.values(), *seeds["text"].to_pylist()]
    }
    return scenarios(**texts), seeds, TableEmbedder(vectors)


@settings(deadline=None, max_examples=12)
@given(counts=st.lists(st.integers(1, 6), min_size=1, max_size=6), seed=st.integers(0, 50))
def test_rows_are_conserved_and_their_order_decides_nothing(counts: list[int], seed: int) -> None:
    table, seeds, embedder = _random_table(counts, seed)
    result = filter(table, seeds, language(), embedder, FilterParams(), None)
    assert len(result.rows) + len(result.rejected) == result.expected == table.num_rows
    ids = {row["scenario_id"] for row in result.rows} | {r.row_id for r in result.rejected}
    assert ids == set(table["scenario_id"].to_pylist())
    for row in result.rows:
        assert 10 <= row["words"] <= 120
        assert row["similarity"] <= row["similarity_cap"]
    mixed = filter(shuffled(table), shuffled(seeds, 4), language(), embedder, FilterParams(), None)
    assert sorted(mixed.rows, key=str) == sorted(result.rows, key=str)
    assert reasons(mixed) == reasons(result)
    assert mixed.facts == result.facts
