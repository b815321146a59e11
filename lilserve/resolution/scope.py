"""What rules see: the values resolved so far, the facts, the figures of machine, engine and model."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lilserve.errors import Problem
from lilserve.origin import REMOVED
from lilserve.resolution.expressions import Expression, ExpressionError, Failure, Unknown, compiled, template
from lilserve.secret import REDACTED, secret_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lilserve.resolution.merge import Merged


@dataclass(slots=True, eq=False, repr=False)
class Scope:
    """Merged options and environment as CEL variables, kept in step with them.

    `figures` are the variables f, h, engine and profile. A name that nothing sets reads as null, so only a fact can be
    unknown.
    """

    options: dict[str, Merged]
    environment: dict[str, Merged]
    o: dict[str, Any]
    e: dict[str, Any]
    figures: Mapping[str, Any]
    problems: list[Problem] = field(default_factory=list)
    read: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, options: dict[str, Merged], environment: dict[str, Merged], figures: Mapping[str, Any]) -> Scope:
        """A scope over these values."""
        o = {name: merged.value for name, merged in options.items()}
        e = {name: merged.value for name, merged in environment.items()}
        return cls(options, environment, o, e, figures)

    def refresh(self, name: str, *, variable: bool = False) -> None:
        """Show rules the value that a name has now."""
        if variable:
            self.e[name] = self.environment[name].value
        else:
            self.o[name] = self.options[name].value

    def outcome(self, expression: Expression) -> Any:
        """Value, Unknown or Failure of an expression over the values as they are now."""
        self.read.update(expression.options)
        return expression.outcome(
            {
                **self.figures,
                "o": {name: self.o.get(name) for name in expression.options},
                "e": {name: self.e.get(name) for name in expression.variables},
                "explicit": {name: self._explicit(name) for name in expression.explicit},
            }
        )

    def use(self, *texts: object) -> None:
        """Record that expressions took effect, so that the options they read did too."""
        for text in texts:
            with suppress(ExpressionError):  # told where it was evaluated
                self.used.update(compiled(text).options if isinstance(text, str) else ())

    def _explicit(self, text: str) -> bool:
        """Whether an explicit layer wrote an option, or the leaf of one that `option/key` names."""
        name, *path = text.split("/")
        return name in self.options and self.options[name].explicit(tuple(path))

    def evaluate(self, text: str, at: str) -> Any:
        """The value of an expression written at `at`, or Unknown. A failure becomes a problem and reads as Unknown."""
        try:
            expression = compiled(text)
        except ExpressionError as error:
            self.problems.append(Problem(f"not a rule: {error}", at, code="expression"))
            return Unknown("")
        result = self.outcome(expression)
        if isinstance(result, Failure) and self._misread(expression):
            return Unknown("")
        if isinstance(result, Failure):
            self.problems.append(
                Problem(
                    f"a rule does not fit its values: {result.message}",
                    at,
                    rows=self.rows(expression),
                    code="rule-failed",
                )
            )
            return Unknown("")
        return result

    def holds(self, text: str, at: str) -> bool | Unknown:
        """Whether a condition holds; one that is neither true nor false becomes a problem and reads as Unknown."""
        result = self.evaluate(text, at)
        if isinstance(result, bool | Unknown):
            return result
        self.problems.append(Problem(f"a condition is true or false, not {_kind(result)}", at, code="condition-type"))
        return Unknown("")

    def _misread(self, expression: Expression) -> bool:
        """Whether the expression reads a text that is not of its option's type: that is the problem, not the rule."""
        read = (self.options.get(name) for name in expression.options)
        return any(trail[-1].problem is not None for merged in read if merged for trail in merged.live.values())

    def fill(self, text: str, at: str) -> str:
        """A text with its `${CEL}` figures filled in.

        A figure nobody knows shows as a question mark; one that reads a secret is not shown.
        """
        try:
            parts = template(text)
        except ExpressionError as error:
            self.problems.append(Problem(f"not a figure: {error}", at, code="expression"))
            return text
        return "".join(part if isinstance(part, str) else self._figure(part) for part in parts)

    def _figure(self, expression: Expression) -> str:
        outcome = self.outcome(expression)
        if any(map(secret_name, re.findall(r"[\w-]+", expression.text))):
            return REDACTED
        return "?" if isinstance(outcome, Unknown | Failure) else _shown(outcome)

    def rows(self, expression: Expression) -> tuple[tuple[str, Any, str], ...]:
        """The options and variables that an expression reads: name, value, and where it was written."""
        pairs = [(name, self.options.get(name)) for name in expression.options]
        pairs += [(name, self.environment.get(name)) for name in expression.variables]
        return tuple((name, merged.value if merged else None, _where(merged)) for name, merged in pairs)

    def inputs(self, expression: Expression) -> dict[str, Any]:
        """The same as a mapping of name to value, for the record of a derivation."""
        return {name: self.o.get(name) for name in expression.options} | {
            name: self.e.get(name) for name in expression.variables
        }


def _kind(value: Any) -> str:
    """The CEL type of a value."""
    kinds = {int: "int", float: "double", str: "string", list: "list", dict: "map"}
    return kinds.get(type(value), "null")


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    return "nothing" if value is None else str(value)


def _where(merged: Merged | None) -> str:
    trails = list((merged.live or merged.displaced).values()) if merged else []
    if not trails:
        return "not set"
    last = trails[-1][-1]
    return last.at or last.origin if last.value is not REMOVED else f"removed by {last.at or last.origin}"
