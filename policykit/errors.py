"""What a user can cause: every error carries its place and the way out."""


class PolicykitError(Exception):
    """Something the user can mend. `message` says what is wrong, `hint` what to do.

    Commands print it as one line and leave with exit code 2.
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

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        hint = f"\n  help: {self.hint}" if self.hint else ""
        return f"{place}{self.message}{hint}"


class PolicyError(PolicykitError):
    """The policy file is wrong. `problems` holds every mistake found, in file order."""

    def __init__(self, problems: "tuple[PolicykitError, ...]") -> None:
        first = problems[0]
        super().__init__(first.message, first.hint, first.place)
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


class UsageError(PolicykitError):
    """An option or argument that does not fit."""


class SourceError(PolicykitError):
    """A file that cannot be read or written."""
