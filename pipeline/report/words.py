"""The slugs of the tables in plain words, for whoever reads a report without the documentation."""

from __future__ import annotations

REASONS = {
    "no_text": "no proverb in the row",
    "no_meaning": "no meaning, in the language or in English",
    "duplicate": "the proverb stands in the table already",
    "blank": "the reply was blank",
    "copied_example": "copied from the prompt's example",
    "loop": "the text goes round in circles",
    "list": "a list where a story was asked for",
    "wrong_script": "too few letters of the language's script",
    "wrong_language": "another language",
    "too_short": "too few words",
    "too_long": "too many words",
    "overlap": "shares too many content words with its proverb",
    "too_similar": "too close to its proverb",
    "near_duplicate": "nearly the same as another scenario of its proverb",
    "no_same_cluster_candidate": "no same-cluster distractor under the caps",
    "no_near_match_candidate": "no near-match distractor under the caps",
    "no_random_cluster_candidate": "no random-cluster distractor under the caps",
    "no_embedding": "its text has no usable embedding, so nothing can be compared with it",
    "not_clustered": "its proverb is in no cluster",
    "equal_options": "two options read the same",
    "flagged": "flagged by the jury, and this run leaves flagged items out",
    "flagged_in_base": "flagged in the base dataset, and this run leaves flagged items out",
    "proverb_removed": "its proverb was taken out of the seeds",
    "unnamed_in_base": "the base dataset has no name for it",
    "reply_invalid": "no reply of the model was usable",
    "reply_truncated": "every reply was cut off",
    "reply_empty": "every reply was empty",
    "reply_thinking_only": "the model thought and never answered",
    "reply_refused": "the model refused",
    "reply_timeout": "the server did not answer in time; the next build asks again",
    "reply_server_error": "the server failed; the next build asks again",
    "reply_prompt_too_long": "the prompt does not fit the model's window",
}
"""Reason slug of a rejected row -> what it means."""

ROLES = {
    "key": "key",
    "same_cluster": "same cluster",
    "same_cluster_nearest": "nearest cluster",
    "near_match": "near-match",
    "random_cluster": "random cluster",
}
"""Role of an option -> its name on the page, in the order of the page."""

SHORTCUTS = {
    "position": (
        "commonest place",
        "always the place that is the key's most often; of four, so its interval is one of 98.75%",
    ),
    "longest_option": ("longest option", "the option with the most characters"),
    "shortest_option": ("shortest option", "the option with the fewest characters"),
    "medoid_option": ("medoid of the options", "the option most similar to the other three"),
    "commonest_option": ("commonest distractor", "the option that most other proverbs have as a distractor"),
    "rarest_option": ("rarest distractor", "the option that fewest other proverbs have as a distractor"),
    "nearest_embedding": (
        "nearest embedding",
        "the option whose embedding is most similar to the scenario's",
    ),
    "word_overlap": (
        "most shared words",
        "the option with most of its content words in the scenario",
    ),
    "new_option": (
        "no key in train",
        "an option that is the key of no train item: open to a model trained on train, so for test items",
    ),
}
"""Baseline -> its name on the page, and what a reader without the scenario would choose."""

STAGES = {
    "acquire": "seed proverbs that can be used",
    "label": "a theme label for each proverb",
    "cluster": "labels grouped into clusters",
    "name_clusters": "a name for each cluster",
    "scenarios": "a scenario for each proverb and domain",
    "filter": "scenarios in the language, not too close to their proverb",
    "distractors": "three distractors for each scenario",
    "judge": "a rating for each item and judge",
    "curate": "splits and flags",
}
"""Stage -> what one row of it is."""


def reason_in_words(slug: str) -> str:
    """What a reason means; a slug without words of its own is said as it is."""
    return REASONS.get(slug, slug.replace("_", " "))


def role_in_words(slug: str) -> str:
    """The name of an option's role."""
    return ROLES.get(slug, slug.replace("_", " "))
