"""The questions to one side in turn, and the event that their answers make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lilserve.run.events import Answered
from lilserve.run.probe import Ask

if TYPE_CHECKING:
    from lilserve.run.events import Event
    from lilserve.run.probe import Answer
    from lilserve.run.readiness import Question


@dataclass(slots=True)
class Inquiry:
    """When to begin, what is left to ask, and the question under way."""

    due: float
    timeout: float
    left: list[Question]
    ask: Ask | None = None

    def wake(self) -> float:
        """When to look at it again even if nothing came."""
        return self.ask.deadline if self.ask else self.due

    def turn(self, now: float, *, ready: bool) -> Event | None:
        """Go on as far as possible at once; the event is the end of the inquiry."""
        answer: Answer | None = None
        if self.ask is None:
            if now >= self.due:
                self.ask = Ask(self.left[0].url, now, self.timeout)
            return None
        if ready:
            answer = self.ask.advance()
        if answer is None and now >= self.ask.deadline:
            answer = self.ask.give_up()
        return None if answer is None else self._judge(answer)

    def _judge(self, answer: Answer) -> Event | None:
        verdict = self.left.pop(0).judge(answer)
        self.ask = None
        return None if isinstance(verdict, Answered) and self.left else verdict

    def close(self) -> None:
        if self.ask:
            self.ask.give_up()
