"""SHA-256 without OpenSSL: loading that library costs more than reading all shipped documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import sha256
else:
    try:
        from _sha2 import sha256  # Python 3.12 and newer
    except ImportError:
        try:
            from _sha256 import sha256  # Python 3.11
        except ImportError:
            from hashlib import sha256  # an interpreter that is built without its own

__all__ = ["sha256"]
