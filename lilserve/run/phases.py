"""The engine's log in, the phase of its start that a line begins out. What is read here is written elsewhere."""

from __future__ import annotations

from typing import NamedTuple

_LONGEST = 16384  # bytes of a line that are looked at; a config dump is longer and begins no phase


class Mark(NamedTuple):
    """A piece of a log line of vLLM's, and what it says to a person."""

    piece: bytes
    says: str


MARKS = (
    Mark(b"Starting to load model", "loads weights"),
    Mark(b"Model loading took", "has its weights"),
    Mark(b"for vLLM's torch.compile", "compiles"),
    Mark(b"Dynamo bytecode transform time", "compiles"),
    Mark(b"Available KV cache memory", "knows what memory is left for its KV cache"),
    Mark(b"Capturing CUDA graphs", "captures CUDA graphs"),
    Mark(b"Graph capturing finished", "has its CUDA graphs"),
    Mark(b"init engine (profile", "has warmed up"),
)


class Phases:
    """Reads a log in whatever pieces it comes, and tells each phase once."""

    def __init__(self) -> None:
        self._rest = b""
        self._left: tuple[Mark, ...] = MARKS

    def read(self, part: bytes) -> list[str]:
        """The phases that begin in this part, in the order of MARKS."""
        lines = self._rest + part
        self._rest = lines[lines.rfind(b"\n") + 1 :][-_LONGEST:]
        begun = [mark for mark in self._left if mark.piece in lines]
        said = list(dict.fromkeys(mark.says for mark in begun))
        self._left = tuple(mark for mark in self._left if mark.says not in said)
        return said
