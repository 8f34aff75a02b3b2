"""Our mark on an index of pieces: that it says what `split` wrote, and where.

Whoever can write into a folder, an agent or a stranger whose repository was cloned, can put an
index there that leads to any file of the user's. Only one that carries this mark is followed.
"""

import hmac
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from orchestrator.errors import PieceError
from splitters import whole
from splitters.index import Index, encode

KEY = "pieces.key"
_BYTES = 32


@dataclass(frozen=True, slots=True)
class Seal:
    """The key of this user; `home` is the folder where it is kept."""

    home: Path

    def put(self, index: Index) -> Index:
        """The index, sealed; makes the key when there is none. Raises PieceError."""
        return replace(index, seal=_mark(self._key() or self._made(), index))

    def holds(self, index: Index) -> bool:
        """Whether an index is as it was sealed."""
        key = self._key()
        return key is not None and hmac.compare_digest(
            _mark(key, index).encode(), index.seal.encode()
        )

    @property
    def _path(self) -> Path:
        return self.home / KEY

    def _key(self) -> bytes | None:
        try:
            key = self._path.read_bytes()
        except FileNotFoundError:
            return None
        return key if len(key) == _BYTES else None

    def _made(self) -> bytes:
        self.home.mkdir(parents=True, exist_ok=True)
        temporary = self.home / f".pieces.key-{secrets.token_hex(8)}"
        whole.write(temporary, secrets.token_bytes(_BYTES))
        try:
            with suppress(FileExistsError):  # another process was faster: its key is the key
                os.link(temporary, self._path)
        finally:
            temporary.unlink()
        whole.sync(self.home)
        key = self._key()
        if key is None:
            raise PieceError(f"The key {self._path} is damaged: delete it and split again.")
        return key


def _mark(key: bytes, index: Index) -> str:
    # The paths in it are absolute, so an index that is copied elsewhere is another one.
    return hmac.new(key, encode(replace(index, seal="")), sha256).hexdigest()
