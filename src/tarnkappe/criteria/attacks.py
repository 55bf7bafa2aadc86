"""Attack models, and which of them a criterion stops: the table of the literature, from what criteria declare."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from tarnkappe.criteria.base import Criterion
from tarnkappe.publish.form import Secret

Attack = Literal["record linkage", "attribute linkage", "table linkage", "probabilistic attack"]
ATTACKS: tuple[Attack, ...] = get_args(Attack)

#: What an attacker finds out by each of them.
QUESTIONS: dict[Attack, str] = {
    "record linkage": "Which record is this person's?",
    "attribute linkage": "What is sensitive about this person?",
    "table linkage": "Is this person in the data at all?",
    "probabilistic attack": "Does the release change what is believed about this person, and by how much?",
}

#: What is given away by the attacks that link something.
_LINKING: dict[Secret, Attack] = {
    "identity": "record linkage",
    "secret": "attribute linkage",
    "presence": "table linkage",
}


def attacks_stopped(criterion: type[Criterion]) -> Iterator[Attack]:
    """The attacks that a criterion limits, in the order of `ATTACKS`.

    Linking follows from what it protects. Beliefs are limited where groups are compared with the whole table, and by a
    mechanism, which looks the same whoever is in the data.

    >>> from tarnkappe.criteria.t_closeness import TCloseness
    >>> list(attacks_stopped(TCloseness))
    ['attribute linkage', 'probabilistic attack']
    """
    linking = {_LINKING[secret] for secret in criterion.protects}
    for attack in ATTACKS:
        believed = attack == "probabilistic attack" and (
            criterion.compares_with_table or criterion.scope == "mechanism"
        )
        if attack in linking or believed:
            yield attack
