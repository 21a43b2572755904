"""`python -m flows.serve`: serves the deployment `build-capr/default` of prefect.yaml from this machine."""

from __future__ import annotations

import sys
from pathlib import Path

from flows.environment import configure_prefect
from pipeline.errors import AdageError
from pipeline.store.root import find_root


def main() -> None:
    """Serve until stopped; `prefect deployment run build-capr/default --param lang=ja` starts a run."""
    configure_prefect(command_line=False)
    # Prefect reads its settings when it is imported, so it comes after them.
    from prefect import serve

    from flows.deployment import described_deployment

    try:
        deployment = described_deployment(find_root(Path.cwd()) / "prefect.yaml")
    except AdageError as error:
        sys.exit(f"flows.serve: {error}")
    serve(deployment)


if __name__ == "__main__":
    main()
