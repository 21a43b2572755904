from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.capr.graph import STAGES
from pipeline.store.code import code_digest, reached_modules

STAGE = (
    '"""Doc."""\nfrom pipeline.helper import double\n\n\ndef run(x):\n    """Doc."""\n    return double(x)\n'
)
HELPER = "def double(x):\n    return 2 * x\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    package = tmp_path / "pipeline"
    package.mkdir()
    (package / "stage.py").write_text(STAGE)
    (package / "helper.py").write_text(HELPER)
    (package / "other.py").write_text("x = 1\n")
    return tmp_path


def _after(source: Path, name: str, text: str) -> bool:
    """Whether writing ``text`` into a module changes the digest of the stage."""
    before = code_digest("pipeline.stage", source)
    (source / "pipeline" / name).write_text(text)
    return code_digest("pipeline.stage", source) != before


def test_what_is_reached(source: Path) -> None:
    assert reached_modules("pipeline.stage", source) == ["pipeline.helper", "pipeline.stage"]


def test_a_helper_counts(source: Path) -> None:
    assert _after(source, "helper.py", HELPER.replace("2 *", "3 *"))


def test_comments_docstrings_layout_and_strangers_do_not(source: Path) -> None:
    assert not _after(source, "helper.py", "# why\n\n" + HELPER)
    assert not _after(source, "stage.py", STAGE.replace("Doc.", "Other words."))
    assert not _after(source, "other.py", "x = 2\n")


@pytest.mark.parametrize(
    ("helper", "stages"),
    [
        ("capr/splitting.py", {"curate"}),
        ("capr/candidates.py", {"distractors"}),
        ("capr/domains.py", {"scenarios", "distractors"}),
        ("language/keys.py", {"acquire", "scenarios", "filter", "distractors", "judge"}),
        ("embed/cache.py", set()),
        ("llm/chat.py", set()),
    ],
)
def test_an_edited_helper_misses_exactly_the_stages_that_reach_it(
    project: Path, tmp_path: Path, helper: str, stages: set[str]
) -> None:
    shutil.copytree(project / "pipeline", tmp_path / "pipeline")

    def digests() -> dict[str, str]:
        return {name: code_digest(function.__module__, tmp_path) for name, function in STAGES.items()}

    before = digests()
    file = tmp_path / "pipeline" / helper
    file.write_text(file.read_text(encoding="utf-8") + "\n# a comment\n", encoding="utf-8")
    assert digests() == before
    file.write_text(file.read_text(encoding="utf-8") + "\n_EDITED = 1\n", encoding="utf-8")
    assert {name for name, digest in digests().items() if digest != before[name]} == stages


def test_code_that_is_edited_during_a_run_keeps_the_digest_it_was_loaded_with(
    project: Path, tmp_path: Path
) -> None:
    shutil.copytree(project / "pipeline", tmp_path / "pipeline")
    script = """
from pathlib import Path
from types import SimpleNamespace as Given
from pipeline.capr.cluster import ClusterParams
from pipeline.capr.runner import Runner
profile = Given(capr=Given(cluster=ClusterParams()))
runner = Runner(Path("stages"), Given(profile=profile, embedder=Given(identity="e"), frozen=None))
before = runner.own_parts("cluster")
file = Path("pipeline/capr/clustering.py")
file.write_text(file.read_text(encoding="utf-8") + "\\n_EDITED = 1\\n", encoding="utf-8")
assert runner.own_parts("cluster") == before
print(before["code"])
"""
    told = [
        subprocess.run(
            [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    assert told[0] != told[1], "the next process sees the edit"
