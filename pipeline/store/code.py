"""The digest of the code a stage runs: what it reaches by import inside `pipeline`, docstrings left out."""

from __future__ import annotations

import ast
import hashlib
from functools import lru_cache
from pathlib import Path

_PACKAGE = "pipeline"


def code_digest(module: str, source: Path) -> str:
    """Hex sha256 over the syntax trees of ``module`` and every `pipeline` module it reaches by import.

    ``source`` is the folder that holds the `pipeline` package. Comments, docstrings and layout do not
    count; a changed expression in any reached helper does.
    """
    digest = hashlib.sha256()
    for name in reached_modules(module, source):
        path = _path(name, source)
        digest.update(f"{name}\n{_tree(path, path.stat().st_mtime_ns)[0]}\n".encode())
    return digest.hexdigest()


def reached_modules(module: str, source: Path) -> list[str]:
    """Names of ``module`` and all `pipeline` modules it imports, directly or not, sorted."""
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = _path(name, source)
        if name in seen or not path.is_file():
            continue
        seen.add(name)
        waiting.extend(_tree(path, path.stat().st_mtime_ns)[1])
    return sorted(seen)


def _path(name: str, source: Path) -> Path:
    return source.joinpath(*name.split(".")).with_suffix(".py")


@lru_cache(maxsize=1024)
def _tree(path: Path, _modified: int) -> tuple[str, tuple[str, ...]]:
    """The tree without docstrings, dumped, and the candidate module names of its imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imports: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports += [a.name for a in node.names if a.name.startswith(f"{_PACKAGE}.")]
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == _PACKAGE:
            # `from pipeline.language import keys` may name a module or an attribute: both are tried.
            imports += [node.module, *(f"{node.module}.{a.name}" for a in node.names)]
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            _drop_docstrings(node)
    return ast.dump(tree), tuple(imports)


def _drop_docstrings(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Remove string statements, attribute docstrings after an assignment included: none of them runs."""
    node.body = [
        s
        for s in node.body
        if not (
            isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) and isinstance(s.value.value, str)
        )
    ] or [ast.Pass()]
