"""What an authority gets beside a release: a signature of its manifest, and a checker that needs nothing but Python.

The manifest names every table with its checksum, so a signature of the manifest vouches for all of them. Keys are
Ed25519 in PEM files, made and checked by the library `cryptography`; OpenSSL reads them too.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shlex
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tarnkappe.appeared import is_to_take
from tarnkappe.audit import audit
from tarnkappe.audited import open_audited
from tarnkappe.bundles import audit_bundle
from tarnkappe.errors import DataError, JobError, RefusedError
from tarnkappe.io.folders import MANIFEST, PUBLIC, ReleaseFolder, dialect_told, lies_beside, read_manifest
from tarnkappe.small_files import read_small

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

#: The signature of the manifest beside it, and the checker.
SIGNATURE, CHECKER = "manifest.sig", "check_release.py"

#: Where the passphrase of a private key is taken from; never from the command line, which others can see.
PASSPHRASE = "TARNKAPPE_PASSPHRASE"

Signed = Literal["valid", "not valid", "absent", "of other tables"]


def make_keys(name: str | Path) -> tuple[Path, Path]:
    """Make a key pair: ``NAME.key`` to keep, which only its owner can read, and ``NAME.pub`` to give away.

    If the environment has a passphrase (`PASSPHRASE`), the private key is encrypted with it.
    """
    _require_library()
    from cryptography.hazmat.primitives import serialization as pem
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private, public = Path(f"{name}.key"), Path(f"{name}.pub")
    for path in (private, public):
        if path.exists():
            raise RefusedError("E601", f"'{path}' exists; a key is never overwritten", hint="Choose another name.")
    key, phrase = Ed25519PrivateKey.generate(), _passphrase()
    locked = pem.BestAvailableEncryption(phrase) if phrase else pem.NoEncryption()
    secret = key.private_bytes(pem.Encoding.PEM, pem.PrivateFormat.PKCS8, locked)
    try:
        with os.fdopen(os.open(private, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secret)
        public.write_bytes(_public_pem(key.public_key()))
    except OSError as error:
        raise JobError("E108", f"'{error.filename}' cannot be written: {error.strerror}", where=str(name)) from error
    return private, public


def sign(folder: str | Path, key: str | Path) -> Path:
    """Sign the manifest of a release, after the release has been checked as it lies there; returns the signature.

    A release that does not keep its promise, or of which something cannot be checked, is not signed.
    """
    manifest = _manifest(Path(folder))
    signer = _private_key(Path(key))
    if not _keeps_its_promise(manifest):
        raise RefusedError(
            "E607",
            "only a release that keeps its promise is signed, and this one does not, or cannot be checked",
            where=str(folder),
            hint=f"tarnkappe verify {shlex.quote(str(folder))}   says what is wrong.",
        )
    return _placed(manifest.with_name(SIGNATURE), signer.sign(read_small(manifest)))


def signature_of(file: str | Path, key: str | Path) -> Signed:
    """Whether the manifest of a release folder, or beside a released table, was signed by the owner of a public key.

    A signature is about the tables that the manifest names, with their checksums; it says nothing about any other.
    """
    from cryptography.exceptions import InvalidSignature

    path = Path(file)
    manifest = _manifest(path) if path.is_dir() else path.with_name(MANIFEST)
    signer = _public_key(Path(key))
    signature = manifest.with_name(SIGNATURE)
    if not signature.is_file() or not manifest.is_file():
        return "absent"
    try:
        signer.verify(read_small(signature), read_small(manifest))
    except InvalidSignature:
        return "not valid"
    return "valid" if _describes(manifest, None if path.is_dir() else path.name) else "of other tables"


def fingerprint(key: str | Path) -> str:
    """The SHA-256 of a public key file, to be compared over the telephone."""
    return hashlib.sha256(_public_pem(_public_key(Path(key)))).hexdigest()


def add_checker(folder: str | Path) -> Path:
    """Put the checker that needs no Tarnkappe beside the tables of a release; returns where it lies."""
    manifest = _manifest(Path(folder))
    if "database" in (read_manifest(manifest) or {}):
        raise JobError(
            "E108",
            "the table of this release is in a database, and the checker that needs no Tarnkappe reads files only",
            where=str(folder),
            hint=f"tarnkappe verify {shlex.quote(str(folder))}",
        )
    return _placed(manifest.with_name(CHECKER), files("tarnkappe").joinpath(CHECKER).read_bytes())


def _placed(path: Path, content: bytes) -> Path:
    """Write a small file whole or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(content)
        is_to_take(draft, path)
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise JobError("E108", f"'{path}' cannot be written: {error.strerror}", where=str(path)) from error
    return path


def _manifest(path: Path) -> Path:
    """The public manifest of a release folder, or of its part that is shared, or beside a table."""
    places = [ReleaseFolder(path).manifest, path / MANIFEST, path.with_name(MANIFEST)]
    found = next((place for place in places if read_manifest(place) is not None), None)
    if found is None:
        raise JobError(
            "E108",
            f"'{path}' is no release: there is no {PUBLIC}/{MANIFEST} that Tarnkappe wrote",
            hint="Give the folder of a release, such as  census-release",
        )
    return found


def _describes(manifest: Path, file: str | None) -> bool:
    """Whether the tables beside a manifest are those that it names, with a file among them if one is asked about."""
    told = read_manifest(manifest) or {}
    try:
        named = {str(t["file"]): str(t["sha256"]) for t in told.get("tables") or [told]}
        if not all(map(lies_beside, named)) or (file is not None and file not in named):
            return False
        for name, digest in named.items():
            with open_audited(manifest.with_name(name), *dialect_told(told)) as source:
                if source.sha256 != digest:
                    return False
    except (DataError, KeyError, TypeError):
        return False
    return True


def _keeps_its_promise(manifest: Path) -> bool:
    """Whether all that a release promises was checked just now, and holds."""
    around = manifest.parent.parent if manifest.parent.name == PUBLIC else manifest.parent
    together = audit_bundle(around)
    if together is not None:
        return together.ok
    file = (read_manifest(manifest) or {}).get("file")
    return lies_beside(file) and audit(manifest.with_name(str(file))).ok


def _require_library() -> None:
    if importlib.util.find_spec("cryptography") is None:
        raise JobError("E108", "signatures need a library that is not installed", hint="pip install 'tarnkappe[sign]'")


def _passphrase() -> bytes | None:
    return os.environ.get(PASSPHRASE, "").encode() or None


def _public_pem(key: Ed25519PublicKey) -> bytes:
    from cryptography.hazmat.primitives import serialization as pem

    return key.public_bytes(pem.Encoding.PEM, pem.PublicFormat.SubjectPublicKeyInfo)


def _private_key(path: Path) -> Ed25519PrivateKey:
    _require_library()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    content, phrase = _read_key(path), _passphrase()
    try:
        key = load_pem_private_key(content, phrase if b"ENCRYPTED" in content else None)
    except (ValueError, TypeError) as error:
        locked = "is locked by a passphrase" if b"ENCRYPTED" in content else "is no private key"
        raise JobError(
            "E108", f"'{path}' {locked}", hint=f"export {PASSPHRASE}=…   or  tarnkappe sign --new-key steward"
        ) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise JobError("E108", f"'{path}' is not an Ed25519 key", hint="tarnkappe sign --new-key steward")
    return key


def _public_key(path: Path) -> Ed25519PublicKey:
    _require_library()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(_read_key(path))
    except (ValueError, TypeError) as error:
        raise JobError("E108", f"'{path}' is no public key", hint="Give the .pub file of the publisher.") from error
    if not isinstance(key, Ed25519PublicKey):
        raise JobError("E108", f"'{path}' is not an Ed25519 key", hint="Give the .pub file of the publisher.")
    return key


def _read_key(path: Path) -> bytes:
    try:
        return read_small(path)
    except OSError as error:
        raise JobError("E108", f"'{path}' cannot be read: {error.strerror}", hint="Give the file of a key.") from error
