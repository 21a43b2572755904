"""A process that runs every stage of a root without Prefect, for tests that kill it.

``python -m tests.flows.run_stages ROOT``; prints the calls it made.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pipeline.errors import AdageError
from tests.flows.small import build


def main(root: Path) -> int:
    """Build; gives back the exit code."""
    try:
        _, calls, _ = build(root)
    except AdageError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(json.dumps(calls))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
