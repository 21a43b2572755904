"""`python -m flows.serve`: serves the deployment `build-capr/default` of prefect.yaml from this machine."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from flows.environment import configure_prefect
from pipeline.errors import AdageError
from pipeline.store.root import find_root


def main() -> None:
    """Serve until stopped; `prefect deployment run build-capr/default --param lang=ja` starts a run."""
    parser = argparse.ArgumentParser(prog="python -m flows.serve", description=main.__doc__)
    parser.add_argument(
        "--root", type=Path, default=".", metavar="DIR", help="The project's folder, or one in it."
    )
    given = parser.parse_args()
    configure_prefect(command_line=False)
    # Prefect reads its settings when it is imported, so it comes after them.
    from prefect import serve

    from flows.deployment import described_deployment

    try:
        # The choices it offers, and every run it starts, look for their root from where it runs.
        os.chdir(given.root)
        deployment = described_deployment(find_root(Path.cwd()) / "prefect.yaml")
    except OSError as error:
        parser.error(f"--root {given.root}: {error.strerror}")
    except AdageError as error:
        sys.stderr.write(f"flows.serve: {error}\n")
        sys.exit(error.exit_code)
    serve(deployment)


if __name__ == "__main__":
    main()
