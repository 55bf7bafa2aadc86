"""The one place where everything that can go wrong becomes a message and an exit code."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from typer.core import TyperGroup

from tarnkappe.cli import screen
from tarnkappe.errors import JobError, LimitError, RefusedError, TarnkappeError, did_you_mean

#: What each exit code means, for ``--help``.
EXIT_CODES = {
    0: "ok",
    1: "internal error",
    2: "usage or job file wrong",
    3: "data or taxonomy wrong",
    4: "no solution",
    5: "verification failed",
    6: "refused by a guard rail",
    7: "out of disk or memory",
    130: "interrupted",
    143: "terminated",
}


class Stopped(BaseException):
    """The user or the system asked the program to end."""

    #: What was asked for by a signal. Polars swallows what is raised while it calls us back, so it is kept here too.
    asked: ClassVar[Stopped | None] = None

    def __init__(self, word: str, exit_code: int) -> None:
        super().__init__(word)
        self.word = word
        self.exit_code = exit_code

    @classmethod
    def ask(cls, word: str, exit_code: int) -> NoReturn:
        """Stop now, or at the next phase if the exception gets lost."""
        cls.asked = cls(word, exit_code)
        raise cls.asked


class Root(TyperGroup):
    """All commands; turns exceptions into messages and exit codes."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> NoReturn:
        """Run a command and exit."""
        from tarnkappe.appeared import forget

        forget()
        words = list(sys.argv[1:] if args is None else args)
        code = 0
        try:
            _refuse_passwords(words)
            result = super().main(words, prog_name, complete_var, False, windows_expand_args, **extra)
            code = result if isinstance(result, int) else 0
        except SystemExit:
            raise
        except BrokenPipeError:
            pass  # whoever was to read this has seen enough; files are complete before anything is said about them
        except BaseException as error:
            stop = error if isinstance(error, Stopped) else Stopped.asked
            code = _report(error, words) if stop is None else report_stop(stop, words)
        sys.exit(code)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an interruption passes through without being taken for anything else."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Stopped("Interrupted", 130) from None


def _refuse_passwords(words: Sequence[str]) -> None:
    """Refuse addresses with passwords before any command, message or report can repeat them."""
    addresses = [word for word in words if ":/" in word]
    if addresses:
        from tarnkappe.io.databases.address import refuse_password

        for address in addresses:
            refuse_password(address)


def report_stop(stop: Stopped, words: Sequence[str]) -> int:
    """Say that the program was asked to end, and what had appeared by then; the exit code."""
    from tarnkappe.appeared import appeared, committed

    Stopped.asked = None  # it is done, and its traceback would keep open what is to be closed before the process ends
    written = [screen.shown_path(place) for place in appeared()]
    tables = committed()
    told = {"demo": "no release was written", "compare": "what was measured is kept: start again to go on"}
    command = next(iter(words), "")
    what = told.get(command, "nothing was written")
    if written and command != "compare":
        what = f"but {screen.listed(written)} {'was' if len(written) == 1 else 'were'} written"
    elif tables:
        what = f"but {screen.listed(tables)} may be written: run the job again, which ends what was begun"
    screen.stderr().print(f"{stop.word}, {what}.")
    return stop.exit_code


def _report(error: BaseException, words: Sequence[str]) -> int:
    """Tell the user what happened; which words they gave decides how."""
    debug, as_json = "--debug" in words, "--json" in words
    if debug:
        traceback.print_exception(error, file=sys.stderr)
    known = _as_known(error)
    if known is not None:
        if as_json:
            screen.print_json({"error": known.as_dict()})
        else:
            screen.failure(screen.stderr(), known)
        return known.exit_code
    # The words of a foreign exception may quote a value of the data, so only its kind and place are told.
    message = f"internal error: {type(error).__name__} in {_place(error)}. This is a bug in Tarnkappe"
    if as_json:
        screen.print_json({"error": {"code": "internal", "message": message, "exit_code": 1}})
    else:
        end = "." if debug else "; run with --debug to see more."
        screen.stderr().print(message + end, soft_wrap=True)
    return 1


def _as_known(error: BaseException) -> TarnkappeError | None:
    """The error as one of ours, if it is one a user can act on."""
    if isinstance(error, TarnkappeError):
        return error
    if isinstance(error, MemoryError):
        return LimitError(
            "E702",
            "not enough memory",
            hint="Close other programs, declare fewer quasi-identifiers, or use a machine with more memory.",
        )
    if isinstance(error, OSError) and error.filename is None:  # no file, so it is what we print to
        from tarnkappe.io.failures import is_disk_full

        kind, code = (LimitError, "E701") if is_disk_full(error) else (RefusedError, "E603")
        return kind(
            code,
            f"what this command has to say cannot be printed: {error.strerror or error}",
            where="standard output",
            hint="Send the output somewhere else. What was to be written to files is complete or was never begun.",
        )
    if getattr(error, "exit_code", None) == 2 and hasattr(error, "format_message"):
        return _usage_error(error)
    return None


def _usage_error(error: Any) -> JobError:
    """What the command line parser complains about, in our words."""
    path = error.ctx.command_path if getattr(error, "ctx", None) is not None else "tarnkappe"
    message = str(error.format_message()).strip()
    if getattr(error, "option_name", None) and hasattr(error, "possibilities"):
        known = [o for p in error.ctx.command.params for o in getattr(p, "opts", [])] if error.ctx else []
        message = f"no such option: {error.option_name}{did_you_mean(error.option_name, known)}"
    message = (message[:1].lower() + message[1:]).rstrip(".")
    return JobError("E108", message, hint=f"{path} --help")


def _place(error: BaseException) -> str:
    """The file and line of ours in which an exception was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "tarnkappe" in Path(f.filename).parts] or frames
    return f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "unknown place"
