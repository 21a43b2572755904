"""The errors a person may see. Every message says what is wrong, where, and what to do."""

from __future__ import annotations

from pipeline.passwords import without_passwords


class AdageError(Exception):
    """Base of all errors that are shown to the user as one paragraph, without a traceback.

    A message may name a server's address or a database's URL: their passwords are left out.
    """

    exit_code = 1

    def __init__(self, message: str) -> None:
        super().__init__(without_passwords(message))


class ConfigError(AdageError):
    """A setting, profile, language file, prompt or argument is wrong. Raised before any model call."""

    exit_code = 2


class SeedError(AdageError):
    """A seed file cannot be read or does not hold what the build needs."""

    exit_code = 2


class PrerequisiteError(AdageError):
    """Something outside the project is missing: a server, a model, an extra. Says what to type."""

    exit_code = 3


class LedgerError(AdageError):
    """The call ledger cannot be opened, read or written. Never treated as an empty ledger."""

    exit_code = 4


class StageError(AdageError):
    """A stage cannot go on with the rows it was given; the replies it paid for are kept."""

    exit_code = 5


class CallLimitReached(AdageError):
    """A limit on calls or hours was reached. Everything that came back is in the ledger."""

    exit_code = 6


class GateError(AdageError):
    """A finished benchmark fails a check that --strict insists on. The dataset is written all the same."""

    exit_code = 7


class StorageError(AdageError):
    """A file cannot be written: no space, no right to. What was finished before is whole."""

    exit_code = 8


class Interrupted(AdageError):
    """The user pressed Ctrl-C. Everything that came back is in the ledger."""

    exit_code = 130
