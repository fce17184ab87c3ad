"""What a user can cause: every error carries its place and the way out."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from policykit.escape import one_line


class PolicykitError(Exception):
    """Something the user can mend. `message` says what is wrong, `hint` what to do.

    As text it can be shown to anybody: what it quotes is escaped, and each part stays in its line.
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
        """Where the policy says what is wrong: who knows its files makes a place of it."""

    def placed(self, place: str) -> "PolicykitError":
        """The same with a place, where it has none."""
        return self if self.place else PolicykitError(self.message, self.hint, place)

    def __str__(self) -> str:
        said = one_line(f"{self.place}: {self.message}" if self.place else self.message)
        return f"{said}\n  help: {one_line(self.hint)}" if self.hint else said


class PolicyError(PolicykitError):
    """The policy file is wrong. `problems` holds every mistake found, in file order."""

    def __init__(self, problems: "tuple[PolicykitError, ...]") -> None:
        first = problems[0]
        super().__init__(first.message, first.hint, first.place)
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


class InternalError(PolicykitError):
    """A fault of policykit's own, told in one line unless somebody looks for it."""

    def __init__(self, cause: Exception, place: str = "") -> None:
        says = f": {cause}" if str(cause) else ""
        hint = "please report it; POLICYKIT_TRACEBACK=1 shows where it happened"
        super().__init__(f"internal error: {type(cause).__name__}{says}", hint, place)
        self.trace = ""
        if os.environ.get("POLICYKIT_TRACEBACK"):
            from traceback import format_exception

            self.trace = "".join(format_exception(cause)).strip()

    def __str__(self) -> str:
        trace = "\n".join(map(one_line, self.trace.split("\n")))
        return f"{super().__str__()}\n{trace}" if trace else super().__str__()


def failure_of(error: Exception, place: str) -> PolicykitError:
    """Why something at a place came to nothing: as the error says, or a fault of policykit's own."""
    return error.placed(place) if isinstance(error, PolicykitError) else InternalError(error, place)


@contextmanager
def faults_at(place: str) -> Iterator[None]:
    """A fault of policykit's own meanwhile is told with a place."""
    try:
        yield
    except PolicykitError:
        raise
    except Exception as error:
        raise InternalError(error, place) from None


class Failures(list[str]):
    """What could not be judged, and why: it is told and fails the run, while everything else goes on."""

    def add(self, error: Exception, place: str) -> None:
        """Each is told once."""
        line = str(failure_of(error, place))
        if line not in self:
            self.append(line)

    @contextmanager
    def told(self, place: str) -> Iterator[None]:
        """Whatever goes wrong meanwhile is told of a place."""
        try:
            yield
        except Exception as error:
            self.add(error, place)


class UsageError(PolicykitError):
    """An option or argument that does not fit."""


class SourceError(PolicykitError):
    """A file that cannot be read or written."""
