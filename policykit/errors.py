"""Errors that a user can cause, each with its location and a hint."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from policykit.escape import one_line


class PolicykitError(Exception):
    """An error that the user can fix. `message` says what is wrong, `hint` what to do.

    As text it is safe to print: quoted text is escaped, and each part is on one line.
    Commands print it and leave with exit code 2.
    """

    def __init__(
        self, message: str, hint: str = "", place: str = "", path: "tuple[str | int, ...]" = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.place = place
        """`path:line:column`, or a path alone, or empty."""
        self.path = path
        """Path in the policy; callers that know its files turn it into a location."""

    def placed(self, place: str) -> "PolicykitError":
        """The same error with a location, if it has none."""
        return self if self.place else PolicykitError(self.message, self.hint, place)

    def __str__(self) -> str:
        text = one_line(f"{self.place}: {self.message}" if self.place else self.message)
        return f"{text}\n  help: {one_line(self.hint)}" if self.hint else text


class PolicyError(PolicykitError):
    """The policy file is invalid. `problems` has every mistake found, in file order."""

    def __init__(self, problems: "tuple[PolicykitError, ...]") -> None:
        first = problems[0]
        super().__init__(first.message, first.hint, first.place)
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


class InternalError(PolicykitError):
    """A bug in policykit, shown on one line unless POLICYKIT_TRACEBACK is set."""

    def __init__(self, cause: Exception, place: str = "") -> None:
        says = f": {cause}" if str(cause) else ""
        hint = "please report it; POLICYKIT_TRACEBACK=1 shows the traceback"
        super().__init__(f"internal error: {type(cause).__name__}{says}", hint, place)
        self.trace = ""
        if os.environ.get("POLICYKIT_TRACEBACK"):
            from traceback import format_exception

            self.trace = "".join(format_exception(cause)).strip()

    def __str__(self) -> str:
        trace = "\n".join(map(one_line, self.trace.split("\n")))
        return f"{super().__str__()}\n{trace}" if trace else super().__str__()


def failure_of(error: Exception, place: str) -> PolicykitError:
    """The error for a failure at a location: the given one, or an internal error."""
    return error.placed(place) if isinstance(error, PolicykitError) else InternalError(error, place)


@contextmanager
def faults_at(place: str) -> Iterator[None]:
    """Adds a location to internal errors raised in the block."""
    try:
        yield
    except PolicykitError:
        raise
    except Exception as error:
        raise InternalError(error, place) from None


class Failures(list[str]):
    """Collects what could not be checked; it is reported and fails the run, which otherwise goes on."""

    def add(self, error: Exception, place: str) -> None:
        """Adds a failure, unless it is already known."""
        line = str(failure_of(error, place))
        if line not in self:
            self.append(line)

    @contextmanager
    def collect(self, place: str) -> Iterator[None]:
        """Records any error raised in the block, with a location."""
        try:
            yield
        except Exception as error:
            self.add(error, place)


class UsageError(PolicykitError):
    """An invalid option or argument."""


class SourceError(PolicykitError):
    """A file that cannot be read or written."""
