"""The bundle of one verdict: a zip of plain files that any tool can open and check.

``evidence.json`` is the record, the other parts are the texts that it names, ``sha256sums.txt`` lists all of them in
the form of ``sha256sum``, and ``sha256sums.txt.sig``, where there is one, is ssh-keygen's signature of that list.
Whoever wrote a bundle that is read is a stranger: nothing in it is unpacked to a place that it names.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import ValidationError

from whet.core.errors import Exit, UsageError, WhetError
from whet.core.evidence import SCHEMA, Evidence
from whet.core.plain import from_plain, to_plain
from whet.core.task import MIB

RECORD = "evidence.json"
MANIFEST = "sha256sums.txt"
SIGNATURE = "sha256sums.txt.sig"
MOST_BYTES = 256 * MIB
"""Bytes of a bundle that is read: all of it is held in memory, uncompressed, and a stranger may have written it. It
holds a package of 128 MiB (`whet.evaluators.package.MOST_BYTES`); a smaller limit refuses evidence of large
packages."""
MOST_PARTS = 5000
"""Parts of a bundle that is read: a package has up to 4,000 files (`whet.evaluators.package.MOST_FILES`). A larger
limit lets a stranger's file cost more checks of names and hashes; a smaller one refuses evidence of large packages."""
LONGEST_NAME, LONGEST_PART = 500, 255
"""Characters of the path of a part, and bytes of one name in it: file systems of Linux take 255. Longer names could not
be unpacked; a shorter path refuses files in deep folders."""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first time that a zip can hold: the same evidence gives the same bytes."""


class Contradiction(WhetError):
    """A bundle that contradicts itself."""

    exit_code = Exit.NO_IMPROVEMENT


@dataclass(frozen=True, slots=True)
class Bundle:
    """A record with the texts that it names.

    Attributes:
        record: the evidence of one verdict.
        texts: path in the bundle -> exact bytes.
        signature: of the manifest, as ssh-keygen armours it; None where it is not signed.
    """

    record: Evidence
    texts: Mapping[str, bytes]
    signature: bytes | None = None

    @property
    def parts(self) -> dict[str, bytes]:
        """The record and the texts, as they stand in the bundle."""
        document = json.dumps(to_plain(self.record), indent=1, allow_nan=False)
        return {RECORD: f"{document}\n".encode(), **self.texts}

    @property
    def manifest(self) -> bytes:
        """The SHA-256 of every part."""
        return listed(self.parts)


def listed(parts: Mapping[str, bytes]) -> bytes:
    """Returns a list of hashes as ``sha256sum`` writes and checks it."""
    rows = (f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(parts.items()))
    return "".join(rows).encode()


def write_bundle(bundle: Bundle, path: Path) -> None:
    """Writes a bundle; the same bundle gives the same bytes.

    Raises:
        UsageError: the file cannot be written, a part has a name that no archive should hold, or it would be too large
            to be read.
    """
    parts = {MANIFEST: bundle.manifest, **bundle.parts}
    if bundle.signature is not None:
        parts[SIGNATURE] = bundle.signature
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, data in sorted(parts.items()):
            if not safe(name):
                raise UsageError(f"a file named {name!r} cannot be a part of a bundle; rename it")
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    if len(parts) > MOST_PARTS or len(archived := buffer.getvalue()) > MOST_BYTES:
        raise UsageError(
            f"the evidence comes to more than {MOST_PARTS} parts or {MOST_BYTES // MIB} MiB, which no whet would read"
        )
    try:
        path.write_bytes(archived)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None


def safe(name: str) -> bool:
    """Whether a name is a relative path that stays where it is, and is fit for a list of hashes."""
    path = PurePosixPath(name)
    return (
        0 < len(name) <= LONGEST_NAME
        and name.isprintable()
        and "\\" not in name
        and path.as_posix() == name
        and not path.is_absolute()
        and ".." not in path.parts
        and name != "."
        and all(len(part.encode()) <= LONGEST_PART for part in path.parts)
    )


def clashing(names: Iterable[str]) -> bool:
    """Whether one of several names is a folder that another lies in."""
    known = set(names)
    return any(parent.as_posix() in known for name in known for parent in PurePosixPath(name).parents)


def read_bundle(path: Path) -> Bundle:
    """Reads a bundle and checks the hash of every part.

    Raises:
        UsageError: it is no bundle, or no honest program wrote it.
        Contradiction: a part is not what the manifest says.
    """
    parts = dict(_entries(path))
    if RECORD not in parts or MANIFEST not in parts:
        raise UsageError(f"{path} is no evidence of whet: it holds no {RECORD if RECORD not in parts else MANIFEST}")
    signature, manifest = parts.pop(SIGNATURE, None), parts.pop(MANIFEST)
    _expect_listed(path, manifest, parts)
    record = _record(path, parts.pop(RECORD))
    bundle = Bundle(record, parts, signature)
    if bundle.manifest != manifest:
        raise Contradiction(f"{path} contradicts itself: {RECORD} is not written as whet writes it")
    return bundle


def _entries(path: Path) -> Iterator[tuple[str, bytes]]:
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise UsageError(f"{path} is no evidence of whet: it is larger than {MOST_BYTES // MIB} MiB")
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            _expect_plain(path, entries, size)
            for entry in entries:
                yield entry.filename, archive.read(entry)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError, UnicodeError) as error:
        raise UsageError(f"{path} is no evidence of whet: {error}") from None


def _expect_plain(path: Path, entries: list[zipfile.ZipInfo], size: int) -> None:
    names = [entry.filename for entry in entries]
    if len(names) > MOST_PARTS:
        why = f"it holds more than {MOST_PARTS} parts"
    elif len(set(names)) != len(names):
        why = "two of its parts have one name"
    elif clashing(names):
        why = "one of its parts lies in another"
    elif any(not safe(name) or entry.orig_filename != name for name, entry in zip(names, entries, strict=True)):
        why = "a part's name leads elsewhere"
    elif any(entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1 for entry in entries):
        # What is stored as it is cannot be larger than the file.
        why = "a part is compressed or encrypted"
    elif any(entry.file_size != entry.compress_size for entry in entries) or sum(e.file_size for e in entries) > size:
        why = "its parts claim to be larger than the file"
    else:
        return
    raise UsageError(f"{path} is no evidence of whet: {why}")


def _expect_listed(path: Path, manifest: bytes, parts: Mapping[str, bytes]) -> None:
    """Raises Contradiction, naming the parts, where the manifest does not list exactly what is there."""
    theirs = set(manifest.splitlines())
    ours = {name: listed({name: data}).rstrip(b"\n") for name, data in parts.items()}
    wrong = sorted(name for name, row in ours.items() if row not in theirs)
    missing = theirs - set(ours.values())
    if wrong:
        raise Contradiction(f"{path} contradicts itself: {MANIFEST} has another hash for {', '.join(wrong[:5])}")
    if missing or listed(parts) != manifest:
        raise Contradiction(f"{path} contradicts itself: {MANIFEST} lists parts that are not there")


def _record(path: Path, data: bytes) -> Evidence:
    try:
        document = json.loads(data.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no evidence of whet: {RECORD} is not JSON: {error}") from None
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SCHEMA:
        raise UsageError(f"{path} holds evidence of the schema {str(schema)[:60]!r}; this whet reads {SCHEMA!r}")
    try:
        record = from_plain(Evidence, document)
    except (ValidationError, RecursionError) as error:
        where = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": "nested without end"}
        name = ".".join(str(part) for part in where["loc"])
        raise UsageError(f"{path}: {RECORD}: {name}: {where['msg']}") from None
    return record


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has one key twice")
    return found


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number")
