"""The command line `adage`.

The modules of `flows.cli` import what a command works with when it runs, so that help and shell completion
answer at once: scikit-learn, scipy and Prefect alone take seconds.
"""

from __future__ import annotations

import io
import shlex
import sys
from typing import NoReturn

import typer

from flows.cli import (
    build,
    calibrate,
    doctor,
    explain,
    language,
    ledger,
    plan,
    report,
    seeds,
    show,
    splits,
    why,
)
from flows.cli.help import Step, Tour, examples
from pipeline.errors import AdageError, CallLimitReached, Interrupted
from pipeline.visible import visible

app = typer.Typer(
    name="adage",
    cls=Tour,
    help="""Turn a community's proverbs into a checked, reproducible benchmark for language models.

New here? Type the two lines under Examples: a small Japanese demo build, which needs no server, GPU or
account, and what it made. Then go through the groups of commands from top to bottom, they stand in working
order.

\b
The help of every command shows examples:  adage COMMAND --help
To complete commands with the Tab key:     adage --install-completion""",
    epilog=examples("adage build capr --lang ja", "adage show capr --lang ja"),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(language.app, name="language", rich_help_panel=Step.LANGUAGE)
app.add_typer(seeds.app, name="seeds", rich_help_panel=Step.LANGUAGE)
app.command(epilog=doctor.EXAMPLES, rich_help_panel=Step.BEFORE)(doctor.doctor)
app.command(epilog=calibrate.EXAMPLES, rich_help_panel=Step.BEFORE)(calibrate.calibrate)
app.add_typer(plan.app, name="plan", rich_help_panel=Step.BEFORE)
app.add_typer(explain.app, name="explain", rich_help_panel=Step.BEFORE)
app.add_typer(build.app, name="build", rich_help_panel=Step.BUILD)
app.add_typer(show.app, name="show", rich_help_panel=Step.LOOK)
app.command(epilog=why.EXAMPLES, rich_help_panel=Step.LOOK)(why.why)
app.add_typer(report.app, name="report", rich_help_panel=Step.LOOK)
app.add_typer(splits.app, name="splits", rich_help_panel=Step.KEEP)
app.add_typer(ledger.app, name="ledger", rich_help_panel=Step.KEEP)


def main() -> None:
    """Run `adage`; a mistake of the user's is one paragraph and an exit code, never a traceback."""
    # Where stdout is not UTF-8, a letter it lacks is written as its number, as Python does on stderr.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        # Commands give back nothing, so what comes back is the code of a typer.Exit or None.
        sys.exit(app(prog_name="adage", standalone_mode=False))
    except (Interrupted, CallLimitReached) as error:
        _end(f"adage: {error}: {shlex.join(['adage', *sys.argv[1:]])}", error.exit_code)
    except AdageError as error:
        _end(f"adage: {' '.join(str(error).splitlines())}", error.exit_code)
    except typer.TyperException as error:
        _end(_mistyped(error), error.exit_code)
    except typer.Abort:
        _end("adage: stopped before anything was done", Interrupted.exit_code)


def _mistyped(error: typer.TyperException) -> str:
    message = error.format_message()
    if message.startswith("Usage:"):  # a group typed alone shows its help
        return message
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "adage"
    sentence = " ".join(message.split())
    # Some of typer's messages end like a sentence, some do not.
    stop = "" if sentence.endswith((".", "?", "!")) else "."
    return f"adage: {sentence}{stop} To see what can be typed: {command} --help"


def _end(message: str, code: int) -> NoReturn:
    typer.echo(visible(message), err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
