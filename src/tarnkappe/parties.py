"""Top-down specialisation of two parties in two places, which tell each other what the protocol allows and no more.

They talk over any pair of streams of bytes: the two ends of a pipe, a socket, a tunnel between two computers. Every
sentence is one line of JSON. There are three kinds:

* ``{"people": 4000, "least": 5, "most_left_out": 0, "granularity": "sibling", "classes": "9f86…"}`` in the beginning,
  from both: how many people there are, what is asked for, and a digest of the class of everybody, which both know;
* ``{"score": 0.7, "detail": 0.5}`` in every round, from both: the best that a party has to offer, or ``{}``;
* ``{"groups": […], "cell": […], "piece": […], "ok": […]}`` from the party whose offer was better: which people of which
  groups come apart.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.recoding import Cut
from tarnkappe.algorithms.subtree.party import Message, Offer, Party
from tarnkappe.algorithms.subtree.specialisation import by_size
from tarnkappe.algorithms.subtree.two_party import Holding, require_sizes
from tarnkappe.arrays import Codes, Counts
from tarnkappe.errors import DataError
from tarnkappe.goal import Goal

#: A line is not longer than this for every person, and so many bytes beside.
_BYTES_PER_PERSON, _BYTES_BESIDE = 64, 4096


def specialise_with_other(
    holding: Holding,
    classes: tuple[Codes, int],
    count: Counts,
    goal: Goal,
    *,
    hear: IO[bytes],
    tell: IO[bytes],
    first: bool,
    granularity: str = "sibling",
) -> list[Cut]:
    """How one of two parties recodes its columns; the other one does the same at the other end of the streams.

    Rows with the same position are the same person at both ends. Both give the same classes, counts, goal and
    granularity, and one of them is `first`: of equal offers its own is taken. Cuts are those of `specialise_together`.
    """
    require_sizes(goal, int(count.sum()))
    line = _Line(hear, tell, len(count))
    said = _terms(holding, classes, count, goal, granularity)
    line.say(said)
    if line.heard() != said:
        raise _misunderstood("it is about other people, another goal or other classes")
    asked: dict[str, Any] = {
        "min_size": goal.min_size,
        "budget": goal.budget(int(count.sum())),
        "granularity": granularity,
    }
    party = Party(holding.codes, holding.domains, count, classes, **asked)
    while True:
        mine = party.best()
        line.say({} if mine is None else asdict(mine[0]))
        theirs = _offer(line.heard())
        if mine is None and theirs is None:
            return party.cuts()
        if mine is not None and (theirs is None or mine[0] > theirs or (first and mine[0] == theirs)):
            step = party.step(mine[1])
            line.say(_plain(party.carry_out(step, by_size(party, step))))
        else:
            party.follow(_message(line.heard(), party))


class _Line:
    """One line of JSON after another, in both directions."""

    def __init__(self, hear: IO[bytes], tell: IO[bytes], people: int) -> None:
        self._hear, self._tell = hear, tell
        self._longest = _BYTES_BESIDE + _BYTES_PER_PERSON * people

    def say(self, sentence: Mapping[str, Any]) -> None:
        try:
            self._tell.write(json.dumps(sentence, separators=(",", ":")).encode("ascii") + b"\n")
            self._tell.flush()
        except (OSError, ValueError):
            raise _misunderstood("it has gone") from None

    def heard(self) -> dict[str, Any]:
        try:
            text = self._hear.readline(self._longest)
        except (OSError, ValueError):
            raise _misunderstood("it has gone") from None
        if not text.endswith(b"\n"):
            raise _misunderstood("it has gone, or talks without end")
        try:
            sentence = json.loads(text)
        except (ValueError, RecursionError):
            raise _misunderstood("what it says is no JSON") from None
        if not isinstance(sentence, dict):
            raise _misunderstood("what it says is no sentence")
        return sentence


def _terms(holding: Holding, classes: tuple[Codes, int], count: Counts, goal: Goal, granularity: str) -> dict[str, Any]:
    """What both must agree about, of which nothing is about the columns of one of them."""
    if len(holding.codes) != len(count) or len(classes[0]) != len(count):
        raise ValueError("codes, classes and counts have a row for every person")
    known = hashlib.sha256(np.ascontiguousarray(classes[0], "<i4").tobytes())
    known.update(np.ascontiguousarray(count, "<i8").tobytes() + classes[1].to_bytes(8, "little"))
    return {
        "people": len(count),
        "least": goal.min_size,
        "most_left_out": goal.budget(int(count.sum())),
        "granularity": granularity,
        "classes": known.hexdigest(),
    }


def _offer(sentence: Mapping[str, Any]) -> Offer | None:
    if not sentence:
        return None
    if set(sentence) != {"score", "detail"} or not all(_is_number(value) for value in sentence.values()):
        raise _misunderstood("what it says is no offer")
    return Offer(float(sentence["score"]), float(sentence["detail"]))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _plain(message: Message) -> dict[str, Any]:
    return {name: values.tolist() for name, values in vars(message).items()}


def _message(sentence: Mapping[str, Any], party: Party) -> Message:
    """What comes apart; numbers that mean nobody are refused before anything is done with them."""
    if set(sentence) != {"groups", "cell", "piece", "ok"}:
        raise _misunderstood("what it says is no specialisation")
    groups, cell, piece = (_numbers(sentence[name]) for name in ("groups", "cell", "piece"))
    ok = sentence["ok"]
    flags = isinstance(ok, list) and all(isinstance(flag, bool) for flag in ok)
    known = flags and _within(groups, len(party.groups.alive)) and _within(piece, max(len(ok), 1))
    if not known or len(cell) != len(piece) or not np.array_equal(np.sort(cell), _members(groups, party)):
        raise _misunderstood("what it divides are not the people of these groups")
    return Message(groups, cell.astype(np.int32), piece.astype(np.int32), np.array(ok, np.bool_))


def _members(groups: NDArray[np.int64], party: Party) -> NDArray[np.int64]:
    """The people of living groups, sorted; of a group that is none, there are none."""
    held = party.groups
    living = groups[held.alive[groups]]
    size = held.stop[living] - held.start[living]
    within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    return np.sort(held.order[np.repeat(held.start[living], size) + within]).astype(np.int64)


def _numbers(values: Any) -> NDArray[np.int64]:
    if not isinstance(values, list) or not all(isinstance(v, int) and not isinstance(v, bool) for v in values):
        raise _misunderstood("what it says is no specialisation")
    try:
        return np.array(values, np.int64)
    except OverflowError:
        raise _misunderstood("what it says is no specialisation") from None


def _within(values: NDArray[np.int64], n: int) -> bool:
    return bool(((values >= 0) & (values < n)).all())


def _misunderstood(why: str) -> DataError:
    return DataError(
        "E454",
        f"the other party cannot be understood: {why}",
        hint="Both give the same people in the same order, classes, goal and granularity; one of them is first.",
    )
