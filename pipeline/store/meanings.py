"""What every table and column of the catalog means, for docs/tables.md and for whoever opens a file."""

from __future__ import annotations

TABLES: dict[str, str] = {
    "acquire": "Stage 1: the seed proverbs a benchmark may be built from, one a row.",
    "label": "Stage 2: the theme label a model gave each proverb.",
    "cluster": "Stage 2: the cluster of each labelled proverb.",
    "name_clusters": "Stage 2: a name for each cluster.",
    "scenarios": "Stage 3: everyday scenarios, one a proverb and domain.",
    "filter": "Stage 4: the scenarios that are in the language, of the right length and no paraphrase.",
    "distractors": "Stage 5: items, a scenario with four proverbs of which one was its origin.",
    "judge": "Stage 6: one row an item and judge. A judge that could not answer is a row without ratings.",
    "curate": "Stage 7: the dataset. Its rows, by split, are `train.parquet`, `validation.parquet` and "
    "`test.parquet` in a run's folder `dataset/`.",
    "rejected": "Every row that went no further, of every stage; all stages' together are a run's "
    "`rejected.parquet`.",
}
"""Table -> what a row of it is."""

_ITEM = {
    "item_id": "scenario_id and a digest of the option set: another set of options is another item.",
    "item_digest": "Digest of the scenario's text and the options in order; judgements carry it too.",
    "scenario_id": "proverb_id and domain.",
    "proverb_id": "The key: the proverb the scenario was written for.",
    "domain": "Which of the ten social domains the scenario is set in.",
    "scenario": "The scenario as it is shown.",
    "options": "The four proverbs in the order they are shown.",
    "option_ids": "Their proverb_ids, in the same order.",
    "roles": "What each option is, in the same order: key, same_cluster, same_cluster_nearest (from the "
    "nearest cluster, because the key is alone in its own), near_match or random_cluster.",
    "similarities": "Cosine of each option's text with the key's, in the same order; the key's own is 1.",
    "meaning_similarities": "Cosine of each option's meaning with the key's, in the same order.",
    "scenario_similarities": "Cosine of each option's text with the scenario, in the same order.",
    "scenario_overlaps": "Share of each option's content words that the scenario has, in the same order.",
    "answer": "Place of the key among the options, from 0.",
    "medoid_rank": "Rank of the key among the four by closeness to the others, 0 for the medoid; watched "
    "because a key that tends to be the medoid can be guessed.",
}

COLUMNS: dict[str, dict[str, str]] = {
    "acquire": {
        "proverb_id": "Given once at import and kept when the spelling is corrected.",
        "text": "The proverb as it was imported.",
        "meaning": "Its meaning, in the language or, where that is missing, in English.",
        "meaning_from": "native or en: where `meaning` is from.",
        "meaning_en": "The English meaning, may be empty.",
        "equivalent_en": "An English proverb that says the same, may be empty.",
        "source": "Where the proverb was taken from.",
        "status": "reviewed once a native speaker has read the row, else draft.",
        "group": "Proverbs with one group are variants of each other and share a split.",
        "contains_proverb": "The meaning quotes the proverb.",
        "selected": "Within the limit; the others only calibrate the similarity caps.",
        "in_base": "The proverb has its cluster in the base dataset; no model is asked about it again.",
    },
    "label": {
        "proverb_id": "The proverb.",
        "label": "Theme label in one spelling, so that spelling makes no second theme.",
        "label_raw": "The label as the model wrote it.",
    },
    "cluster": {
        "proverb_id": "The proverb.",
        "label": "Its theme label.",
        "cluster_id": "Its cluster, numbered by the alphabetically first label of each.",
        "label_key": "The label that stands for all labels that are this theme written otherwise.",
    },
    "name_clusters": {
        "cluster_id": "The cluster.",
        "name": "The name a model gave it.",
        "proverbs": "How many proverbs are in it.",
        "labels": "Its distinct labels.",
    },
    "scenarios": {
        "scenario_id": "proverb_id and domain.",
        "proverb_id": "The proverb it was written for.",
        "domain": "The social domain it is set in.",
        "text": "The scenario.",
    },
    "filter": {
        "scenario_id": "proverb_id and domain.",
        "proverb_id": "The proverb it was written for.",
        "domain": "The social domain it is set in.",
        "text": "The scenario.",
        "words": "Its length in words of the language's tokeniser.",
        "script_share": "Share of its letters that are in the language's scripts.",
        "verdict": "yes, no or undecided: is it in the language? undecided rejects nothing.",
        "overlap": "Share of the proverb's distinct content words that stand in it.",
        "similarity": "Cosine with its proverb; null where a text has no usable vector.",
        "similarity_cap": "The cosine above which it would have been refused as a paraphrase.",
        "content_words": "Keys of its words in base form, no stopwords, sorted: overlaps are counted so.",
    },
    "distractors": _ITEM,
    "judge": {
        "item_id": "The item.",
        "item_digest": "Digest of what the judge saw; a judgement of another text is refused.",
        "judge": "Name of the judge in the profile.",
        "model": "The model behind it.",
        "status": "ok, or invalid where no rating came back; an invalid one is never counted as a score.",
        "why": "Why it is invalid, else empty.",
        "faithfulness": "1-5: does the scenario show what the key means?",
        "naturalness": "1-5: is it natural text of the language?",
        "distractors": "1-5: are the other three tempting, yet wrong?",
        "fits": "1-5 for each option in order: how well it fits the scenario.",
    },
    "curate": {
        **_ITEM,
        "split": "train, validation or test; all items of a proverb and of its variants are in one.",
        "cluster_id": "The key's cluster.",
        "cluster": "Its name.",
        "group": "The key's group of variants.",
        "meaning_from": "native or en: the language of the meaning the models were given.",
        "equivalent_en": "An English proverb that says the same, may be empty.",
        "flag_paper": "The paper's flag: on a rubric the mean is below 3.0 or judges differ by more than 2, "
        "or no judge was valid.",
        "flag_reasons": "What raised it: RUBRIC_mean, RUBRIC_spread or no_valid_judge.",
        "ambiguous": "At least two judges rate a distractor's fit at or above the key's.",
        "invalid": "No judge could answer.",
        "valid_judges": "How many could.",
        "faithfulness": "Mean over valid judges, null without any.",
        "naturalness": "Mean over valid judges, null without any.",
        "distractors": "Mean over valid judges, null without any.",
    },
    "rejected": {
        "stage": "The stage that rejected the row.",
        "row_id": "proverb_id, cluster, scenario_id or item_id, by stage.",
        "reason": "Why, as one word.",
        "numbers": "What decided it, as JSON.",
        "raw": "Every raw reply of the row, empty where no model was asked.",
    },
}
"""Table -> column -> what it holds."""
