"""The ``mondegreen`` command: verbs, exit codes, and errors without private text."""

from __future__ import annotations

import difflib
import errno
import importlib
import os
import sys
import traceback
from typing import TYPE_CHECKING, Any, Final

import click

from mondegreen import __version__
from mondegreen.cli.interrupts import (
    INTERRUPTED,
    MESSAGE,
    await_interrupt,
    ignore_interrupts,
    raise_interrupts,
)
from mondegreen.errors import (
    DataError,
    MondegreenError,
    OptionalDependencyError,
    PluginError,
)

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


# By alphabet. Verb: (module, attribute, one line of help); loaded when it is used.
_VERBS: Final = {
    "attack": ("attack", "attack", "Measure what an attacker recovers."),
    "audit": ("audit", "audit", "Check whether a mechanism keeps its guarantee."),
    "audit-log": ("services.audit_log", "audit_log", "Check the log of a proxy."),
    "budget": ("budget", "budget", "Add up the releases in a ledger."),
    "calibrate": ("calibrate", "calibrate", "Choose parameters for a target."),
    "demo": ("demo", "demo", "Show three invented sentences before and after."),
    "doctor": ("audit", "doctor", "Check the installation."),
    "explain": ("explain", "explain", "Show what a setting does to a word."),
    "language": (
        "public.language",
        "language",
        "Manage language models.",
    ),
    "mechanisms": ("explain", "mechanisms", "List the mechanisms."),
    "policy": (
        "public.policy",
        "policy",
        "Show, compare and build policies.",
    ),
    "privatize": ("privatize", "privatize", "Privatize a file or a stream of text."),
    "proxy": (
        "services.proxy",
        "proxy",
        "Privatize prompts to a language model.",
    ),
    "restore": ("restore", "restore", "Put originals back into a release."),
    "score": ("score", "score", "Compare a release with its originals."),
    "serve": ("services.serve", "serve", "Privatize texts over HTTP."),
    "space": ("public.space", "space", "Manage spaces of words."),
}

_SETTINGS: Final = {"help_option_names": ["-h", "--help"], "show_default": True}
_READER_GONE: Final = 141
"""What a shell reports of a program that SIGPIPE ended: the output is incomplete."""

_DISK_ERRORS: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


class _Failure(click.ClickException):
    """An error of the package on its way out, with its exit code."""

    def __init__(self, error: MondegreenError) -> None:
        super().__init__(str(error))
        self.exit_code = error.exit_code  # type: ignore[misc]


class _ReaderGoneError(Exception):
    """Raised for a closed pipe, which click would turn into exit code 1."""


class _Verbs(click.Group):
    """Loads a verb when it is called, so that ``--help`` starts at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_helps())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            from mondegreen.cli.plugins import load_plugin

            return load_plugin(cmd_name)
        module, attribute, _ = _VERBS[cmd_name]
        loaded = importlib.import_module(f"mondegreen.cli.{module}")
        return getattr(loaded, attribute)  # type: ignore[no-any-return]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a verb; the answer to an unknown one is what it is like."""
        given = args[0]
        if given in _VERBS or given[:1] == "-" or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        names = _helps()
        near = difflib.get_close_matches(given, names, n=1)
        if given in names or not near:
            return super().resolve_command(ctx, args)
        ctx.fail(f"there is no command {given!r}; did you mean {near[0]!r}?")

    def shell_complete(
        self, ctx: click.Context, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        helps = _helps().items()
        found = [each for each in helps if each[0].startswith(incomplete)]
        verbs = [CompletionItem(name, help=help) for name, help in found]
        return verbs + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_helps().items()))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except MondegreenError as error:
            raise _Failure(error) from None
        except BrokenPipeError:
            raise _ReaderGoneError from None
        except ModuleNotFoundError as error:
            absent = OptionalDependencyError.from_import(error)
            if absent is None:
                raise
            raise _Failure(absent) from None


def _helps() -> dict[str, str]:
    """Return the line of help for each verb, by alphabet."""
    from mondegreen.cli.plugins import list_plugins  # reads what is installed

    helps = {name: help for name, (_, _, help) in _VERBS.items()}
    return dict(sorted({**helps, **list_plugins(_VERBS)}.items()))


@click.group(cls=_Verbs, context_settings=_SETTINGS)
@click.version_option(__version__, prog_name="mondegreen")
def cli() -> None:
    """Replace sensitive words by random ones. A proof limits what each replacement
    reveals about its word (differential privacy). Ordinary words stay.

    \b
    See it:   mondegreen demo
    Try it:   echo "I met Ann in Oslo." | mondegreen privatize - --epsilon 12
    A file:   mondegreen privatize notes.csv -o safe.csv --column text --epsilon 12

    \b
    To hide what happened as well, replace every word: --policy all.

    \b
    Exit codes: 0 done, 1 bug, 2 usage, 3 data, 4 privacy, 130 interrupted, 141 output
    cut off (as by head).
    """  # noqa: D205, D301


def main(entry: click.Command = cli) -> None:
    """Run the command line, or another entry of the package, and exit."""
    _open_closed_streams()
    raise_interrupts()
    try:
        code = _run(entry)
        _drop_unwritten()
        ignore_interrupts()
    except (click.Abort, KeyboardInterrupt):
        ignore_interrupts()
        # A pipe or a terminal has what went there; it is released text alone.
        click.echo(MESSAGE, err=True)
        _drop_unwritten()
        code = INTERRUPTED
    sys.exit(code)


def _run(entry: click.Command) -> int | None:
    """Run an entry to its exit code; report an error, once."""
    try:
        return entry.main(standalone_mode=False)  # type: ignore[no-any-return]
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.Abort:
        raise
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except _ReaderGoneError:
        return _READER_GONE
    except Exception as error:
        await_interrupt(error)
        return _report_bug(error)


def _open_closed_streams() -> None:
    """Fill standard streams that were closed, so that no file takes their number.

    What is written to standard error is lost then; data must not be, so standard
    output and input fail when they are used.
    """
    for number, flags in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)
    sys.stdin = sys.stdin or os.fdopen(0, "r", closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def _drop_unwritten() -> None:
    """Keep the exit code where standard output cannot be written any more.

    The error has been reported; the interpreter would report it again at its end.
    """
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report_bug(error: Exception) -> int:
    """Print where a bug is, and whose, but not its message: that may quote a text."""
    if isinstance(error, OSError) and error.errno in _DISK_ERRORS:
        click.echo(f"Error: cannot be written: {os.strerror(error.errno)}", err=True)
        return DataError.exit_code
    if os.environ.get("MONDEGREEN_DEBUG"):
        traceback.print_exception(error)
    from mondegreen.plugins import blame

    problem, is_of_plugin = blame(error)
    click.echo(
        f"Error: {problem}{'; ask its author' if is_of_plugin else ''}. No output was "
        "written. MONDEGREEN_DEBUG=1 shows all of it, which may include private text.",
        err=True,
    )
    return PluginError.exit_code if is_of_plugin else 1
