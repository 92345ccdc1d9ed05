"""Errors that every trial of a model would meet: after some in a row no further one is started."""

from harness.types.errors import MANY_IN_A_ROW, TargetError


class Breaker:
    """Counts how many trials of one model in a row have ended in an error of that kind.

    `tripped` says in one line why no further trial is to be started; it is empty until then.
    `places` is how many trials are in flight, all of which one short outage may end.
    """

    def __init__(self, model: str, places: int) -> None:
        self._model = model
        self._many = max(MANY_IN_A_ROW, 2 * places)
        self._code = ""
        self._in_a_row = 0
        self.tripped = ""

    def ended(self, error: TargetError | None) -> bool:
        """Take how a trial ended; say whether that has tripped the breaker just now.

        An agent that failed by itself was driven. What says nothing of the others, such as a
        server's failure, neither counts nor ends the row.
        """
        if error is None or error.policy.counted == "failure":
            self._in_a_row = 0
            return False
        bound = error.policy.stops_after
        bound = self._many if bound == MANY_IN_A_ROW else bound
        if not bound or self.tripped:
            return False
        self._in_a_row = self._in_a_row + 1 if error.code == self._code else 1
        self._code = error.code
        if self._in_a_row < bound:
            return False
        self.tripped = self._reason(error)
        return True

    def _reason(self, error: TargetError) -> str:
        hint = f"; {error.hint}" if error.hint else ""
        return (
            f"no further trial on {self._model} was started, for {self._in_a_row} in a row ended "
            f"in {error.code}: {error}{hint}, then resume with --retry-errors"
        )
