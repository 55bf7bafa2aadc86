"""Proof of ownership: a commitment made before anything was shared, opened for one data set only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tarnkappe.errors import VerificationError
from tarnkappe.fingerprint.keys import DatasetKey, Key
from tarnkappe.fingerprint.scheme import Scheme


def prove(scheme: Scheme, key: Key) -> dict[str, str]:
    """What opens the commitment of a scheme: the key of this data set and a nonce. Other data sets stay secret.

    Whoever has it can compute every mark of this data set, so it is for a court, not for publication.
    """
    own = scheme.key(key)
    return {
        "dataset": scheme.dataset,
        "plan": scheme.digest,
        "nonce": scheme.nonce,
        "commitment": scheme.commitment,
        "key of this data set": own.raw.hex(),
    }


def check_proof(proof: Mapping[str, Any], commitment: str) -> DatasetKey:
    """The key that a proof reveals, if it opens a commitment that was published before; otherwise an exception.

    With this key, the scheme and the register a third party traces a leak and gets the same figures. The commitment
    binds the plan, too: the key of a proof opens no scheme that was changed after it was published.
    """
    try:
        key = DatasetKey(str(proof["dataset"]), bytes.fromhex(str(proof["key of this data set"])))
        opened = key.commitment(str(proof["nonce"]), str(proof["plan"]))
    except (KeyError, ValueError, TypeError):
        opened = ""
    if not opened or opened != commitment:
        raise VerificationError(
            "E504",
            "the proof does not open this commitment",
            hint="Compare the commitment with the one that was published when the copies were planned.",
        )
    return key
