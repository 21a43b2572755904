"""Words for scripted replies: enough of each language that its text is taken for what it is."""

from __future__ import annotations

import random
from collections import Counter

import regex

# script -> (words, what joins them, what ends a sentence)
_WORDS: dict[str, tuple[str, str, str]] = {
    "Latin": (
        "morning the teacher brought many papers into our quiet office while neighbours talked about "
        "weather and nobody noticed that every window stayed open during lunch because someone forgot "
        "again later that evening two students walked home together through narrow streets they bought "
        "bread then sat beside an old bridge where children often played with small wooden boats",
        " ",
        ".",
    ),
    "Han": (
        "今天 我们 在 学校 老师 同学 一起 讨论 问题 他们 觉得 时间 不够 所以 决定 明天 再来 办公室 里面 "
        "没有 人 电话 响了 很久 妈妈 买了 面包 弟弟 坐在 窗户 旁边 看着 街道 大家 都 很 安静",
        "",
        "。",
    ),
    "Kana": (
        "友達が 学校で 宿題を 忘れたので 先生は みんなに 話しました 会社では 新しい 仕事が 始まり 彼女は "
        "毎日 練習しました 電車の中で 隣の人が 静かに 本を 読んでいました 次の日の 朝 母は パンを 買って "
        "帰りました 窓の外には 雨が 降っていて 子どもたちは 家で 遊びました",
        "",
        "。",
    ),
    "Arabic": (
        "ذهب الطالب إلى المدرسة في الصباح وجلس مع صديقه قرب النافذة ثم تحدثا عن العمل الجديد "
        "والامتحان القادم وكانت المديرة تقرأ التقرير بهدوء بينما كان الجيران يشترون الخبز من السوق وبعد ساعة "
        "عادوا إلى البيت معا لأن المطر كان شديدا ولم ينتظر أحد الحافلة",
        " ",
        ".",
    ),
    "Ethiopic": (
        "ተማሪው ጠዋት ወደ ትምህርት ቤት ሄደ መምህሩ አዲስ መጽሐፍ ይዞ መጣ ጎረቤቶች ስለ ዝናብ ይነጋገሩ ነበር እናቱ ዳቦ ገዝታ ተመለሰች "
        "ልጆች በመንገድ ላይ ይጫወታሉ ሥራ አስኪያጁ ስብሰባ ጠራ ሁሉም ሰው በጊዜ ደረሰ ከዚያም አብረው ምሳ በሉ ጓደኛዋ ደብዳቤ ጻፈች",
        " ",
        "።",
    ),
    "Cyrillic": (
        "утром учитель принёс новые книги и положил их возле окна потом соседи долго говорили о погоде а "
        "дети играли на старом мосту вечером мама купила хлеб и все вместе пошли домой через тихую улицу",
        " ",
        ".",
    ),
}
_SCRIPTS = {
    "Kana": regex.compile(r"[\p{Hiragana}\p{Katakana}]"),
    "Han": regex.compile(r"\p{Han}"),
    "Arabic": regex.compile(r"\p{Arabic}"),
    "Ethiopic": regex.compile(r"\p{Ethiopic}"),
    "Cyrillic": regex.compile(r"\p{Cyrillic}"),
}


def script_of(text: str) -> str:
    """The script a text's reader writes: its commonest one besides Latin, if it has three letters of it."""
    counts = Counter({script: len(letters.findall(text)) for script, letters in _SCRIPTS.items()})
    if counts["Kana"]:
        counts["Kana"] += counts["Han"]  # Japanese mixes both
    script, count = counts.most_common(1)[0]
    return script if count >= 3 else "Latin"


def another_script(script: str) -> str:
    """A script that is not this one."""
    return "Cyrillic" if script != "Cyrillic" else "Latin"


def text_of(script: str, words: int, rng: random.Random) -> str:
    """A text of about so many words, sentences ended as the script does."""
    vocabulary, joint, stop = _WORDS[script]
    chosen = rng.choices(vocabulary.split(), k=words)
    parts = [word + (stop if i % 9 == 8 or i == words - 1 else "") for i, word in enumerate(chosen)]
    return joint.join(parts)


def plain_words(script: str, words: int, rng: random.Random) -> str:
    """So many words without punctuation."""
    vocabulary, joint, _ = _WORDS[script]
    return joint.join(rng.choices(vocabulary.split(), k=words))


def all_scripts() -> list[str]:
    """Every script there are words for."""
    return list(_WORDS)
